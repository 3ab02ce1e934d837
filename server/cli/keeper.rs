//! `keeper`: the process that owns one loop. Started by `run`, `resume` and `stop`, not by people.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use loopkeeper_core::decide::Order;
use tokio::task::LocalSet;

use super::exit::Exit;
use super::failure::{Answer, Failure};
use super::out::Out;
use crate::adapters::state_dir::StateDir;
use crate::adapters::state_dir::workspace::LoopDir;
use crate::keeper::launch;

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

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let (_, _, dir) = StateDir::of_loop(&args.dir)?;
    if args.detach {
        out.line(launch::detach(&dir, args.then.as_deref())?);
        return Ok(Exit::Done);
    }
    let order = match args.then.as_deref() {
        None => None,
        Some("stop") => Some(Order::StopNow),
        Some("resume") => Some(Order::Resume),
        Some(other) => return Err(Failure::usage(format_args!("`{other}` is no order for a keeper"))),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, launch::keep(&dir, Box::new(|_| {}), order))?;
    Ok(Exit::Done)
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
