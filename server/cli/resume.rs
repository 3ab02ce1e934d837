//! `resume`: goes on with a paused or interrupted loop.

use serde_json::json;

use super::exit::Exit;
use super::failure::Answer;
use super::out::Out;
use super::select::LoopArg;
use crate::front::{keeper, order};

pub(crate) fn run(which: &LoopArg, out: &mut Out) -> Answer {
    let found = which.find()?;
    let (id, name, seen) = (found.id(), found.named(), &found.seen);
    if seen.is_alive() {
        found.order(json!({"do": "resume"}))?;
        out.line(format_args!("Loop {name} goes on."));
    } else if seen.is_open() {
        // Whoever resumes a loop that also was paused wants it to work.
        let then = seen.state.pause.is_some().then_some("resume");
        keeper::start_detached(&found.store, &seen.dir, then)?;
        out.line(format_args!("Loop {name} goes on; `loopkeeper watch {id}` shows it."));
    } else {
        return Err(order::nobody_there(seen));
    }
    Ok(Exit::Done)
}
