//! `trust`: every command a task would run, verbatim, and the word that they may.

use super::select::TaskArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) task: TaskArg,
}
