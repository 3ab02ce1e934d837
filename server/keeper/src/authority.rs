//! Determines the sender of a request: the user, or a process that a loop started. The kernel reports the peer of a
//! connection and its ancestors identify it; claims of the peer are ignored.

use loopkeeper_core::decide::UserCommand;
use loopkeeper_core::decide::attempts::AttemptOrigin;
use loopkeeper_core::journal::GuardedOrder;
use tokio::net::UnixStream;

use loopkeeper_system::process::origin::{ProcessOrigin, origin_of};

/// The request by which a program checks whether its caller may give an order that needs no keeper.
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
    pub(super) fn refused_order(self, verb: &str, what: Option<&str>) -> Option<UserCommand> {
        let Self::Foreign(from) = self else { return None };
        let order = if verb == AUTHORIZE {
            GuardedOrder::of_verb(what.unwrap_or_default()).unwrap_or(GuardedOrder::Other)
        } else {
            GuardedOrder::of_verb(verb)?
        };
        Some(UserCommand::Attempt { order, from })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_a_job_are_refused_and_questions_are_not() {
        let job = RequestSender::Foreign(AttemptOrigin::Job { warden: 7 });
        let check = |verb: &str, what: Option<&str>, expect: Option<GuardedOrder>| {
            let order = job.refused_order(verb, what).map(|it| match it {
                UserCommand::Attempt { order, .. } => order,
                other => panic!("{other:?}"),
            });
            assert_eq!(order, expect, "{verb}");
            assert_eq!(RequestSender::User.refused_order(verb, what), None);
        };
        check("accept", None, Some(GuardedOrder::Accept));
        check("saved", Some("PROMPT.md"), Some(GuardedOrder::Saved));
        check("undo-rollback", None, Some(GuardedOrder::Rollback));
        check(AUTHORIZE, Some("trust"), Some(GuardedOrder::Trust));
        check(AUTHORIZE, Some("dance"), Some(GuardedOrder::Other));
        check("check", None, None);
        check("hook", None, None);
        check("watch", None, None);
    }
}
