//! `pause`: pauses a loop after its current iteration.

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
    let id = seen.dir.id();
    order::send(&store, id, json!({"do": "pause"}))?;
    if seen.state.is_paused_at_rest() {
        out.line(format_args!("Loop {id} rests already."));
    } else {
        out.line(format_args!("Loop {id} pauses {}.", seen.next_boundary()));
    }
    Ok(Exit::Done)
}
