//! `pause`: pauses a loop after its current iteration.

use super::select::LoopArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
}
