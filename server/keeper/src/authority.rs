//! Determines the sender of a request: the user, or a process that a loop started. The kernel reports the peer of a
//! connection and its ancestors identify it; claims of the peer are ignored.

use loopkeeper_core::decide::UserCommand;
use loopkeeper_core::decide::attempts::AttemptOrigin;
use loopkeeper_core::journal::RestrictedCommand;
use tokio::net::UnixStream;

use loopkeeper_system::process::origin::{ProcessOrigin, origin_of};

/// The request by which a program checks whether its caller may give a command that needs no keeper.
pub(super) const AUTHORIZE: &str = "authorize";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestSender {
    User,
    Foreign(AttemptOrigin),
}

impl RequestSender {
    /// Called when the connection is accepted, so that the result still holds if the peer exits later.
    pub(super) fn of(stream: &UnixStream) -> Self {
        let Ok(peer) = stream.peer_cred() else { return Self::Foreign(AttemptOrigin::Unknown) };
        match origin_of(peer.pid().unwrap_or(0)) {
            ProcessOrigin::User => Self::User,
            ProcessOrigin::Below { child } => {
                Self::Foreign(AttemptOrigin::Job { warden: child.unsigned_abs() })
            }
            ProcessOrigin::OtherDomain => Self::Foreign(AttemptOrigin::OtherLoop),
            ProcessOrigin::Gone => Self::Foreign(AttemptOrigin::Unknown),
        }
    }

    /// Whether a job of this loop sent it.
    pub(super) fn is_job(self) -> bool {
        matches!(self, Self::Foreign(AttemptOrigin::Job { .. }))
    }

    /// The event that replaces the request `verb` (with its argument `what`); `None`: the request is permitted.
    pub(super) fn refused_command(self, verb: &str, what: Option<&str>) -> Option<UserCommand> {
        let Self::Foreign(from) = self else { return None };
        let command = if verb == AUTHORIZE {
            RestrictedCommand::of_verb(what.unwrap_or_default()).unwrap_or(RestrictedCommand::Other)
        } else {
            RestrictedCommand::of_verb(verb)?
        };
        Some(UserCommand::Attempt { command, from })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_job_are_refused_and_questions_are_not() {
        let job = RequestSender::Foreign(AttemptOrigin::Job { warden: 7 });
        let check = |verb: &str, what: Option<&str>, expect: Option<RestrictedCommand>| {
            let command = job.refused_command(verb, what).map(|it| match it {
                UserCommand::Attempt { command, .. } => command,
                other => panic!("{other:?}"),
            });
            assert_eq!(command, expect, "{verb}");
            assert_eq!(RequestSender::User.refused_command(verb, what), None, "{verb}");
        };
        check("accept", None, Some(RestrictedCommand::Accept));
        check("saved", Some("PROMPT.md"), Some(RestrictedCommand::Saved));
        check("undo-rollback", None, Some(RestrictedCommand::Rollback));
        check(AUTHORIZE, Some("trust"), Some(RestrictedCommand::Trust));
        check(AUTHORIZE, Some("dance"), Some(RestrictedCommand::Other));
        check("check", None, None);
        check("hook", None, None);
        check("watch", None, None);
    }
}
