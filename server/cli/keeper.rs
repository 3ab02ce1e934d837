//! `keeper`: the process that owns one loop. Started by `run`, `resume` and `stop`, not by people.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::exit::Exit;
use super::failure::Failure;
use crate::adapters::state_dir::StateDir;
use crate::adapters::state_dir::workspace::LoopDir;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Start it in a session of its own, print its pid and return
    #[arg(long)]
    pub(crate) detach: bool,
    /// An order to follow first
    #[arg(long, value_name = "ORDER")]
    pub(crate) then: Option<String>,
    /// The loop's folder
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// Starts the loop's keeper apart from this terminal and returns its pid once it has begun.
pub(crate) fn start_detached(store: &StateDir, dir: &LoopDir, then: Option<&str>) -> Result<u32, Failure> {
    let program = store.install_binary(env!("CARGO_PKG_VERSION"))?;
    let mut command = Command::new(&program);
    command.args(["keeper", "--detach"]).args(then.map(|it| format!("--then={it}"))).arg(dir.path());
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().map_err(|error| {
        Failure::ended(format_args!("cannot start {}: {error}", program.display()))
            .hint("The state folder must lie where programs may run.")
    })?;
    let words = String::from_utf8_lossy(&output.stdout);
    match words.trim().parse() {
        Ok(pid) if output.status.success() => Ok(pid),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let what = errors.trim().trim_start_matches("error: ");
            let exit = output.status.code().map_or(Exit::Ended, Exit::of_keeper);
            Err(Failure::new(exit, if what.is_empty() { "the keeper did not start" } else { what }))
        }
    }
}
