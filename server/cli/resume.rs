//! `resume`: goes on with a paused or interrupted loop.

use super::select::LoopArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
}
