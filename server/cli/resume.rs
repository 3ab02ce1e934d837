//! `resume`: goes on with a paused or interrupted loop.

use super::exit::Exit;
use super::failure::Answer;
use super::out::Out;
use super::select::LoopArg;
use crate::front::{keeper, order};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: LoopArg,
    /// Go on without the checks that cannot run on this machine
    #[arg(long)]
    anyway: bool,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let found = args.which.find()?;
    let (id, name, seen) = (found.id(), found.named(), &found.seen);
    if seen.is_alive() {
        found.order(order::resume(args.anyway))?;
        out.line(format_args!("Loop {name} goes on."));
    } else if seen.is_open() {
        keeper::start_detached(&found.store, &seen.dir, order::then_resume(seen, args.anyway))?;
        out.line(format_args!("Loop {name} goes on; `loopkeeper watch {id}` shows it."));
    } else {
        return Err(order::nobody_there(seen));
    }
    Ok(Exit::Done)
}
