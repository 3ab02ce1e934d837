//! `pause`: pauses a loop after its current iteration.

use serde_json::json;

use super::exit::Exit;
use super::failure::Answer;
use super::out::Out;
use super::select::LoopArg;
use super::{loops, order};
use crate::adapters::state_dir::StateDir;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let store = StateDir::open()?;
    let seen = loops::find(&store, args.which.name.as_deref())?;
    if !seen.is_alive() {
        return Err(order::nobody_there(&seen));
    }
    order::send(&store, seen.dir.id(), json!({"do": "pause"}))?;
    out.line(format_args!("Loop {} pauses after its current iteration.", seen.dir.id()));
    Ok(Exit::Done)
}
