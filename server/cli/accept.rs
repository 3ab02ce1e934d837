//! `accept`: takes what the agent weakened (tests, protected files, the scripts of checks) as it is.

use serde_json::json;

use super::exit::Exit;
use super::failure::{self, Answer};
use super::out::Out;
use super::select::LoopArg;
use crate::adapters::state_dir::StateDir;
use crate::front::{loops, order};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let store = StateDir::open()?;
    let seen = loops::find(&store, args.which.name.as_deref(), failure::warn)?;
    if !seen.is_alive() {
        return Err(order::nobody_there(&seen));
    }
    order::send(&store, seen.dir.id(), json!({"do": "accept"}))?;
    out.line(format_args!("What the agent weakened in loop {} is accepted as it is.", seen.dir.id()));
    Ok(Exit::Done)
}
