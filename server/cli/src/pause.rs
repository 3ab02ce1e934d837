//! `pause`: pauses a loop after its current iteration.

use loopkeeper_text::tr;
use loopkeeper_view::{DeferredCommand, effect};
use serde_json::json;

use super::exit::Exit;
use super::failure::ExitResult;
use super::out::Ui;
use super::select::LoopArg;

pub(crate) fn run(which: &LoopArg, out: &mut Ui) -> ExitResult {
    let found = which.find()?;
    found.send_request(json!({"do": "pause"}))?;
    out.line(effect(
        &found.loop_view.state,
        DeferredCommand::Pause,
        &tr!("Loop {name}", name = found.display_name()),
    ));
    Ok(Exit::Done)
}
