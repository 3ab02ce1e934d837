//! `check`: a task's checks once, without a loop.

use super::select::TaskArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) task: TaskArg,
    /// Print JSON for scripts
    #[arg(long)]
    pub(crate) json: bool,
}
