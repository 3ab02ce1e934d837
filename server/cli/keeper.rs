//! `keeper`: the process that owns one loop. Started by `run`, `resume` and `stop`, not by people.

use std::path::PathBuf;

use loopkeeper_core::decide::Order;
use tokio::task::LocalSet;

use super::exit::Exit;
use super::failure::{Answer, Failure};
use super::out::Out;
use crate::adapters::state_dir::StateDir;
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
