//! `stop`: ends a loop.

use super::select::LoopArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// At once, also in the middle of an iteration
    #[arg(long)]
    pub(crate) now: bool,
}
