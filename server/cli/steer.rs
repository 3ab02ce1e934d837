//! `steer`: a hint for the next iteration.

use serde_json::json;

use super::exit::Exit;
use super::failure::{self, Answer, Failure};
use super::out::Out;
use crate::adapters::state_dir::StateDir;
use crate::front::{loops, order};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's id, a unique prefix of it, or `latest`
    #[arg(value_name = "LOOP")]
    pub(crate) which: String,
    /// What the agent is told at the start of its next iteration
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    if args.text.trim().is_empty() {
        return Err(
            Failure::usage("the hint is empty").hint("`loopkeeper steer latest 'look at src/auth.rs'`")
        );
    }
    let store = StateDir::open()?;
    let seen = loops::find(&store, Some(&args.which), failure::warn)?;
    if !seen.is_alive() {
        return Err(order::nobody_there(&seen));
    }
    order::send(&store, seen.dir.id(), json!({"do": "steer", "text": args.text}))?;
    out.line(format_args!("The next iteration of loop {} is told.", seen.dir.id()));
    Ok(Exit::Done)
}
