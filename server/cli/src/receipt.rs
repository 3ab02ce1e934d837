//! `receipt`: prints the facts that a loop verified, for a reviewer.

use super::exit::Exit;
use super::failure::{self, ExitResult};
use super::out::Ui;
use super::select::LoopArg;
use loopkeeper_operations::{loops, receipt};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_view::receipt::markdown;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// Print JSON for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let state_dir = StateDir::open()?;
    let loop_view = loops::find(&state_dir, args.which.name.as_deref(), failure::warn)?;
    let (_, workspace, _) = StateDir::of_loop(loop_view.dir.path())?;
    loop_view.refuse_damage()?;
    let receipt = receipt::of_state(&workspace, &loop_view.dir, &loop_view.state)?;
    if args.json {
        out.json(&receipt);
    } else {
        out.write(&markdown(&receipt));
    }
    Ok(Exit::Done)
}
