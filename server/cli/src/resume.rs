//! `resume`: continues a paused or interrupted loop.

use super::exit::Exit;
use super::failure::ExitResult;
use super::out::Ui;
use super::select::LoopArg;
use loopkeeper_operations::{control_client, keeper};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: LoopArg,
    /// Continue without the checks that cannot run on this machine
    #[arg(long)]
    anyway: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let found = args.which.find()?;
    let (id, name, loop_view) = (found.id(), found.display_name(), &found.loop_view);
    if loop_view.is_alive() {
        found.send_request(control_client::resume_request(args.anyway))?;
        out.line(format_args!("Loop {name} continues."));
    } else if loop_view.is_open() {
        keeper::start_detached(
            &found.store,
            &loop_view.dir,
            control_client::then_resume(loop_view, args.anyway),
        )?;
        out.line(format_args!("Loop {name} continues; `loopkeeper watch {id}` shows it."));
    } else {
        return Err(control_client::no_keeper_error(loop_view));
    }
    Ok(Exit::Done)
}
