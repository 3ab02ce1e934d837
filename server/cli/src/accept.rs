//! `accept`: accepts what the agent weakened (tests, protected files, the scripts of checks).

use serde_json::json;

use super::exit::Exit;
use super::failure::ExitResult;
use super::out::Ui;
use super::select::LoopArg;
use loopkeeper_operations::authority::user_name;

pub(crate) fn run(which: &LoopArg, out: &mut Ui) -> ExitResult {
    let found = which.find()?;
    let by = format!("{} in a terminal", user_name());
    found.send_request(json!({"do": "accept", "what": by}))?;
    out.line(format_args!("What the agent weakened in loop {} is accepted as it is.", found.display_name()));
    Ok(Exit::Done)
}
