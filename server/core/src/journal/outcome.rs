//! The outcome of a loop, and the kinds of claims of its agent.

use serde::{Deserialize, Serialize};

use super::PauseReason;
use loopkeeper_text::message::Message;

/// A signal by which the agent claims to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// `<promise>…</promise>`, exact, in the agent's own last message.
    Promise,
    /// `EXIT_SIGNAL: true`.
    ExitSignal,
    /// Every blocking plan item is ticked or passes.
    Plan,
    /// The number of indications of completion reached `exit.completion_indicators`.
    Words,
}

/// How a loop ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub kind: OutcomeKind,
    /// Every required criterion passed by loopkeeper's own run.
    pub verified: bool,
    pub sentence: Message,
    /// What it would have paused for, had a user been there to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<PauseReason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeKind {
    Completed,
    Stopped,
    Limit,
    Breaker,
    Failed,
}
