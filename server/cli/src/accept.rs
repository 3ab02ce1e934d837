//! `accept`: accepts the files that the agent weakened (tests, protected files, the scripts of checks).

use loopkeeper_text::tr;
use serde_json::json;

use super::exit::Exit;
use super::failure::ExitResult;
use super::out::Ui;
use super::select::LoopArg;
use loopkeeper_operations::authority::user_name;

pub(crate) fn run(which: &LoopArg, out: &mut Ui) -> ExitResult {
    let found = which.find()?;
    let by = tr!("{user} in a terminal", user = user_name());
    found.send_request(json!({"do": "accept", "what": by}))?;
    out.line(tr!("The weakenings by the agent in loop {name} are accepted.", name = found.display_name()));
    Ok(Exit::Done)
}
