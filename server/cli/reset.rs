//! `reset`: closes a loop's breaker, or gives it a fresh agent session.

use super::select::LoopArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to reset
    #[arg(value_enum)]
    pub(crate) what: What,
    #[command(flatten)]
    pub(crate) which: LoopArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    /// Try again after the breaker opened
    Breaker,
    /// Forget the agent's session: the next iteration starts with a fresh mind
    Session,
}
