//! The phase of a loop, with the facts that exist in that phase only.

use crate::journal::{Outcome, WaitReason};
use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    /// The start's snapshot is being taken.
    Starting,
    /// Checks before the first iteration.
    Baseline,
    /// Between iterations.
    Boundary {
        wait: Option<Wait>,
    },
    /// The snapshot before the next iteration was taken, and its task is being read. `wait`: the wait before it, which is
    /// over.
    Preparing {
        wait: Option<Wait>,
    },
    Iterating(RunningAgent),
    /// The agent has ended, and the snapshot after it is being taken.
    Closing,
    Checking,
    Ended(Outcome),
}

/// The agent of the present iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningAgent {
    /// The start of its time limit: its own start, later by the time that it waited for answers of the user.
    pub since: Moment,
    /// `None`: its process has not started yet.
    pub pid: Option<u32>,
}

/// A wait before the next iteration. Kept after it ends until the iteration starts, so that the loop does not wait
/// again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    pub reason: WaitReason,
    pub until: Moment,
    /// The other loop that met the usage limit that is waited for.
    pub met_by: Option<String>,
}

impl Phase {
    /// No agent runs, and no round after one.
    pub fn is_between_iterations(&self) -> bool {
        matches!(self, Self::Boundary { .. } | Self::Preparing { .. })
    }

    pub fn wait(&self) -> Option<&Wait> {
        match self {
            Self::Boundary { wait } | Self::Preparing { wait } => wait.as_ref(),
            Self::Starting
            | Self::Baseline
            | Self::Iterating(_)
            | Self::Closing
            | Self::Checking
            | Self::Ended(_) => None,
        }
    }

    /// The place of the wait; `None` in phases that cannot have one.
    pub(crate) fn wait_mut(&mut self) -> Option<&mut Option<Wait>> {
        match self {
            Self::Boundary { wait } | Self::Preparing { wait } => Some(wait),
            Self::Starting
            | Self::Baseline
            | Self::Iterating(_)
            | Self::Closing
            | Self::Checking
            | Self::Ended(_) => None,
        }
    }

    pub fn running_agent(&self) -> Option<&RunningAgent> {
        match self {
            Self::Iterating(agent) => Some(agent),
            Self::Starting
            | Self::Baseline
            | Self::Boundary { .. }
            | Self::Preparing { .. }
            | Self::Closing
            | Self::Checking
            | Self::Ended(_) => None,
        }
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Ended(outcome) => Some(outcome),
            Self::Starting
            | Self::Baseline
            | Self::Boundary { .. }
            | Self::Preparing { .. }
            | Self::Iterating(_)
            | Self::Closing
            | Self::Checking => None,
        }
    }
}
