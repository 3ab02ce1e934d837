//! `accept`: takes what the agent weakened (tests, protected files, the scripts of checks) as it is.

use serde_json::json;

use super::exit::Exit;
use super::failure::Answer;
use super::out::Out;
use super::select::LoopArg;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let found = args.which.find()?;
    found.order(json!({"do": "accept"}))?;
    out.line(format_args!("What the agent weakened in loop {} is accepted as it is.", found.id()));
    Ok(Exit::Done)
}
