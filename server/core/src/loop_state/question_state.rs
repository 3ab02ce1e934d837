//! Questions to the user: the open one, the last answer, and what was asked before.

use std::collections::BTreeSet;

use crate::journal::QuestionKind;
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

/// The answer that allows a permission request for the whole loop.
pub(crate) const ALWAYS: &str = "always";

/// Questions of the loop, derived from its records.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QuestionState {
    /// The unanswered question.
    pub open: Option<PendingQuestion>,
    /// The result of the last one, for the next prompt.
    pub settled: Option<AnsweredQuestion>,
    /// The one in the last prompt.
    delivered: Option<AnsweredQuestion>,
    /// The last iteration after which the user was asked about its message or its denials.
    pub(crate) asked_after: u32,
    /// Denials that were already reported: repeated ones are not asked about again.
    pub(crate) denied: BTreeSet<String>,
    /// Requests that the user allowed for the whole loop, exactly as they were asked.
    pub(crate) allowed: BTreeSet<String>,
    pub(crate) permissions: PermissionPrompts,
}

/// Permission requests of the current iteration.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct PermissionPrompts {
    pub(crate) count: u32,
    /// When the open question was asked.
    pub(crate) since: Moment,
    /// A question was left unanswered.
    pub(crate) unheard: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingQuestion {
    pub id: String,
    pub kind: QuestionKind,
    pub text: String,
    /// `None`: it has no deadline.
    pub until: Option<Moment>,
}

/// A question of the agent's, with the user's answer where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweredQuestion {
    pub kind: QuestionKind,
    pub question: String,
    pub answer: Option<String>,
}

impl QuestionState {
    /// The question that blocks the loop.
    pub fn blocking_question(&self) -> Option<&PendingQuestion> {
        let blocks = |kind| matches!(kind, QuestionKind::Agent | QuestionKind::Denied);
        self.open.as_ref().filter(|it| blocks(it.kind) && it.until.is_some())
    }

    /// The permission request that the running agent waits for.
    pub fn permission(&self) -> Option<&PendingQuestion> {
        self.open.as_ref().filter(|it| it.kind == QuestionKind::Permission)
    }

    pub(crate) fn record_question(&mut self, at: Moment, question: PendingQuestion, iteration: u32) {
        match question.kind {
            QuestionKind::UsageLimit => {}
            QuestionKind::Permission => {
                self.permissions.count = self.permissions.count.saturating_add(1);
                self.permissions.since = at;
            }
            QuestionKind::Agent => self.asked_after = iteration,
            QuestionKind::Denied => {
                self.asked_after = iteration;
                self.denied.insert(question.text.clone());
            }
        }
        self.open = Some(question);
    }

    /// Returns whether it was the open one.
    pub(crate) fn record_answer(&mut self, id: &str, text: Option<&str>) -> bool {
        let Some(open) = self.open.take_if(|it| it.id == id) else { return false };
        match open.kind {
            QuestionKind::UsageLimit => {}
            QuestionKind::Permission if text == Some(ALWAYS) => {
                self.allowed.insert(open.text);
            }
            QuestionKind::Permission => {}
            QuestionKind::Agent | QuestionKind::Denied => {
                let answer = text.map(str::to_owned);
                self.settled = Some(AnsweredQuestion { kind: open.kind, question: open.text, answer });
            }
        }
        true
    }

    /// How long the agent has been waiting for this answer, in milliseconds.
    pub(crate) fn record_wait(&mut self, at: Moment, id: &str, text: Option<&str>) -> Option<u64> {
        let open = self.permission().filter(|it| it.id == id)?;
        let is_late = open.until.is_some_and(|it| it.awake <= at.awake);
        self.permissions.unheard |= text.is_none() && is_late;
        Some(at.ms_since(self.permissions.since))
    }

    /// The agent that waited for it has exited.
    pub(crate) fn discard_permission(&mut self) {
        self.open.take_if(|it| it.kind == QuestionKind::Permission);
    }

    /// An iteration begins: its prompt contains the pending answer.
    pub(crate) fn deliver(&mut self) {
        self.open = None;
        self.delivered = self.settled.take();
        self.permissions = PermissionPrompts::default();
    }

    /// The agent did not work with the last prompt.
    pub(crate) fn deliver_again(&mut self) {
        if self.settled.is_none() {
            self.settled = self.delivered.take();
        }
    }
}
