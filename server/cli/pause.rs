//! `pause`: pauses a loop after its current iteration.

use serde_json::json;

use super::exit::Exit;
use super::failure::Answer;
use super::out::Out;
use super::select::LoopArg;

pub(crate) fn run(which: &LoopArg, out: &mut Out) -> Answer {
    let found = which.find()?;
    let id = found.id();
    found.order(json!({"do": "pause"}))?;
    if found.seen.state.is_paused_at_rest() {
        out.line(format_args!("Loop {id} rests already."));
    } else {
        out.line(format_args!("Loop {id} pauses {}.", found.seen.next_boundary()));
    }
    Ok(Exit::Done)
}
