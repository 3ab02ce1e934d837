//! Selects the events of a loop that cause a notification: its end, a need for the user, an open breaker, and early
//! warnings. Each is reported once for its cause; nothing is reported per iteration.

use std::collections::{BTreeMap, BTreeSet};

use loopkeeper_core::decide::early_warning::{EarlyWarning, WarningCause, early_warnings};
use loopkeeper_core::decide::{LoopState, Phase};
use loopkeeper_core::journal::OutcomeKind;

use crate::{DisplayPhase, DisplayState, LoopStatus};

/// A loop that ends within this time after the user ordered it needs no notification.
const JUST_ORDERED_MS: u64 = 30_000;

/// Records the alerts reported for each loop.
#[derive(Debug, Default)]
pub struct AlertTracker {
    loops: BTreeMap<String, ReportedLoop>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopAlert {
    Ended,
    NeedsYou,
    /// The breaker is open and retries automatically.
    BreakerOpen,
    Warnings(Vec<EarlyWarning>),
}

#[derive(Debug)]
struct ReportedLoop {
    state: AlertState,
    /// Causes of warnings that were reported, or were known before.
    warnings: BTreeSet<WarningCause>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AlertState {
    Open,
    NeedsYou(DisplayPhase, String),
    /// The breaker is open and retries automatically; contains the number of openings.
    Tripped(u32),
    Ended,
}

/// Whether the root of a loop was observed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootHistory {
    /// A loop that is new to the tracker has begun since.
    Observed,
    /// The present state of its loops is not reported.
    New,
}

impl AlertTracker {
    /// What to report about a loop.
    pub fn observe(
        &mut self,
        status: &LoopStatus,
        state: &LoopState,
        root: RootHistory,
    ) -> Option<LoopAlert> {
        let present = alert_state(status);
        let current = warnings(status, state);
        let Some(reported) = self.loops.get_mut(&status.id) else {
            let causes = current.iter().map(|it| it.cause).collect();
            let alert = (root == RootHistory::Observed)
                .then(|| alert_for(&present, status, state, current))
                .flatten();
            self.loops.insert(status.id.clone(), ReportedLoop { state: present, warnings: causes });
            return alert;
        };
        let new = current.into_iter().filter(|it| reported.warnings.insert(it.cause)).collect();
        let is_changed = reported.state != present;
        let alert = (is_changed || present == AlertState::Open)
            .then(|| alert_for(&present, status, state, new))
            .flatten();
        reported.state = present;
        alert
    }

    /// Forgets all loops but these.
    pub fn retain(&mut self, is_known: impl Fn(&str) -> bool) {
        self.loops.retain(|id, _| is_known(id));
    }
}

/// Whether the loop needs its user now.
pub fn needs_user(status: &LoopStatus) -> bool {
    matches!(alert_state(status), AlertState::NeedsYou(..))
}

fn alert_for(
    present: &AlertState,
    status: &LoopStatus,
    state: &LoopState,
    warnings: Vec<EarlyWarning>,
) -> Option<LoopAlert> {
    match present {
        AlertState::Ended => (!is_just_stopped(status, state)).then_some(LoopAlert::Ended),
        AlertState::NeedsYou(..) => Some(LoopAlert::NeedsYou),
        AlertState::Tripped(_) => Some(LoopAlert::BreakerOpen),
        AlertState::Open => (!warnings.is_empty()).then_some(LoopAlert::Warnings(warnings)),
    }
}

fn alert_state(status: &LoopStatus) -> AlertState {
    match status.state {
        DisplayState::Done => AlertState::Ended,
        DisplayState::NeedsYou => {
            let asked = status.question.as_ref().map(|it| it.id.clone());
            let why =
                asked.or_else(|| status.pause.as_ref().map(|it| it.message.to_string())).unwrap_or_default();
            AlertState::NeedsYou(status.phase, why)
        }
        DisplayState::Working if status.is_cooling() => AlertState::Tripped(status.breaker.trips),
        DisplayState::Working | DisplayState::Paused | DisplayState::Idle => AlertState::Open,
    }
}

/// Warns only about a loop whose next iteration has begun: between two iterations it may still end.
fn warnings(status: &LoopStatus, state: &LoopState) -> Vec<EarlyWarning> {
    let is_at_work = status.state == DisplayState::Working && matches!(state.phase, Phase::Iterating(_));
    if is_at_work { early_warnings(state) } else { Vec::new() }
}

/// The user ordered the end a moment ago.
fn is_just_stopped(status: &LoopStatus, state: &LoopState) -> bool {
    let is_stopped = status.outcome.as_ref().is_some_and(|it| it.kind == OutcomeKind::Stopped);
    let ordered = state.stop_ordered_at.filter(|_| is_stopped);
    ordered.is_some_and(|it| state.time.last_at.ms_since(it) <= JUST_ORDERED_MS)
}

#[cfg(test)]
mod tests;
