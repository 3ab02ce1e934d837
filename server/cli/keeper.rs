//! `keeper`: the process that owns one loop. Started by `run` and `resume`, not by people.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Start it in a session of its own, print its pid and return
    #[arg(long)]
    pub(crate) detach: bool,
    /// The loop's folder
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}
