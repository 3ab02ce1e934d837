//! Commands that only the user may give, and the processes from which one was refused. Values of a newer version are
//! read as `Other` or `Unknown`.

use serde::{Deserialize, Serialize};

/// A command that changes a verdict or a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestrictedCommand {
    Accept,
    Skip,
    Prioritize,
    Trust,
    Answer,
    Steer,
    Reset,
    Resume,
    Stop,
    Pause,
    /// A document of the task was reported as saved by the user.
    Saved,
    Rollback,
    Gc,
    Feedback,
    #[serde(other)]
    Other,
}

/// The origin of a refused command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandSender {
    Agent,
    /// Another command that the loop runs: a check, a server, a command of `[on]`.
    Job,
    /// The kill domain of another loop, or of checks without a loop.
    OtherLoop,
    /// The sender ended before it could be identified.
    #[serde(other)]
    Unknown,
}

impl RestrictedCommand {
    const ALL: [(&str, Self); 14] = [
        ("accept", Self::Accept),
        ("skip", Self::Skip),
        ("prioritize", Self::Prioritize),
        ("trust", Self::Trust),
        ("answer", Self::Answer),
        ("steer", Self::Steer),
        ("reset", Self::Reset),
        ("resume", Self::Resume),
        ("stop", Self::Stop),
        ("pause", Self::Pause),
        ("saved", Self::Saved),
        ("rollback", Self::Rollback),
        ("gc", Self::Gc),
        ("feedback", Self::Feedback),
    ];

    /// Looks up the command by its verb in the control protocol; `None`: not restricted, or unknown.
    pub fn of_verb(verb: &str) -> Option<Self> {
        let verb = if verb == "undo-rollback" { "rollback" } else { verb };
        Self::ALL.iter().find(|(name, _)| *name == verb).map(|(_, command)| *command)
    }

    /// Its verb in the control protocol.
    pub fn verb(self) -> &'static str {
        Self::ALL.iter().find(|(_, command)| *command == self).map_or("other", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::RestrictedCommand;

    #[test]
    fn verbs_are_those_of_the_journal() {
        for (name, command) in RestrictedCommand::ALL {
            assert_eq!((command.verb(), RestrictedCommand::of_verb(name)), (name, Some(command)));
            assert_eq!(serde_json::to_string(&command).unwrap(), format!("\"{name}\""));
        }
        assert_eq!(RestrictedCommand::of_verb("undo-rollback"), Some(RestrictedCommand::Rollback));
        for open in ["check", "watch", "hook", "authorize", "other", ""] {
            assert_eq!(RestrictedCommand::of_verb(open), None, "{open}");
        }
        let newer: RestrictedCommand = serde_json::from_str("\"newer\"").unwrap();
        assert_eq!(newer, RestrictedCommand::Other);
    }
}
