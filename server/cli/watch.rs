//! `watch`: follows a loop until it ends.

use super::select::LoopArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// Print JSON for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
