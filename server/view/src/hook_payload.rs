//! Payloads of the user's commands (`[on]`): one JSON object per event, made from journal records. Field names are
//! contract (`CONFIGURATION.md`). Does not run the commands.

use std::collections::BTreeSet;

use serde::Serialize;

use super::status::needs_user;
use super::{CriteriaStatus, UsageStatus, criteria};
use crate::sentences;
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::early_warning::{EarlyWarning, WarningCause, early_warnings};
use loopkeeper_core::journal::{ChangeStats, Entry, LineStats, Outcome, PauseReason, Record};
use loopkeeper_core::settings::LoopEvent;

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookPayload {
    pub event: LoopEvent,
    pub loop_id: String,
    pub task: String,
    pub root: String,
    /// The last started iteration.
    pub iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    pub criteria: HookCriteriaCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<HookChangedFiles>,
    pub spent: UsageStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<PauseReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HookCriteriaCounts {
    pub passed: u64,
    pub failed: u64,
    pub unverified: u64,
    pub total: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookChangedFiles {
    pub count: u64,
    /// The first 20 changed files.
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineStats>,
}

/// Encodes the records of one loop, in order, as new events.
#[derive(Debug)]
pub struct HookEventEncoder {
    /// Whether the user was already notified that the loop needs them.
    needed: bool,
    /// Causes of warnings that were sent, or were known to the previous keeper.
    warned: BTreeSet<WarningCause>,
}

impl HookEventEncoder {
    /// Events that led to `state` were delivered by the previous keeper.
    pub fn new(state: &LoopState) -> Self {
        let warned = warnings(state).into_iter().map(|it| it.cause).collect();
        Self { needed: needs_user(state), warned }
    }

    /// The events of a record that has just been applied; each event is returned once.
    pub fn encode_events(&mut self, state: &LoopState, entry: &Entry) -> Vec<HookPayload> {
        let mut payloads = Vec::new();
        match &entry.record {
            Record::IterationIntended { .. } => {
                payloads.push(event_payload(state, LoopEvent::IterationStart));
                payloads.extend(self.new_warnings(state));
            }
            Record::IterationEnded { changes, sentence, .. } => {
                payloads.push(iteration_end(state, changes, sentence));
            }
            Record::Ended { outcome } => payloads.push(HookPayload {
                duration: Some(state.time.worked_ms),
                outcome: Some(outcome.clone()),
                ..event_payload(state, LoopEvent::Ended)
            }),
            _ => {}
        }
        let needed = needs_user(state);
        if needed && !self.needed {
            let (reason, text) = pause_reason(state);
            payloads.push(HookPayload { reason, text, ..event_payload(state, LoopEvent::NeedsYou) });
        }
        self.needed = needed;
        payloads
    }

    /// Sent when the next iteration begins: between two iterations the loop may still end.
    fn new_warnings(&mut self, state: &LoopState) -> Vec<HookPayload> {
        let new = warnings(state).into_iter().filter(|it| self.warned.insert(it.cause));
        let payload = |it: EarlyWarning| HookPayload {
            warning: Some(it.cause.word()),
            text: Some(it.sentence),
            ..event_payload(state, LoopEvent::Warning)
        };
        new.map(payload).collect()
    }
}

/// They cost a pass over the recent iterations, so they are computed only for a command that receives them.
fn warnings(state: &LoopState) -> Vec<EarlyWarning> {
    let has_command = state.spec.settings.on.for_event(LoopEvent::Warning).is_some();
    if has_command { early_warnings(state) } else { Vec::new() }
}

/// Why the loop is paused; the text of the question if it waits for an answer.
fn pause_reason(state: &LoopState) -> (Option<PauseReason>, Option<String>) {
    if let Some(question) = state.questions.blocking_question().filter(|_| state.pause.is_none()) {
        return (Some(PauseReason::Question), Some(question.text.clone()));
    }
    if let Some(question) = state.questions.permission() {
        return (Some(PauseReason::Question), Some(sentences::permission_request(&question.text)));
    }
    let pause = state.pause.as_ref();
    (pause.map(|it| it.reason), pause.map(|it| it.message.to_string()))
}

fn iteration_end(state: &LoopState, changes: &ChangeStats, sentence: &str) -> HookPayload {
    let took = state.last_iteration().map(|it| it.ended_at.ms_since(it.started_at));
    HookPayload {
        duration: took,
        changed: Some(HookChangedFiles {
            count: changes.count,
            files: changes.files.clone(),
            lines: changes.lines,
        }),
        sentence: Some(sentence.to_owned()),
        ..event_payload(state, LoopEvent::IterationEnd)
    }
}

fn event_payload(state: &LoopState, event: LoopEvent) -> HookPayload {
    let CriteriaStatus { passed, failed, unverified, total, .. } =
        criteria(&state.criteria.pinned, |id| state.criteria.results.get(id));
    HookPayload {
        event,
        loop_id: state.spec.loop_id.clone(),
        task: state.spec.task.0.clone(),
        root: state.spec.root.clone(),
        iteration: state.iteration,
        duration: None,
        criteria: HookCriteriaCounts { passed, failed, unverified, total },
        changed: None,
        spent: UsageStatus::of(&state.spent),
        sentence: None,
        reason: None,
        warning: None,
        text: None,
        outcome: None,
    }
}

#[cfg(test)]
mod tests;
