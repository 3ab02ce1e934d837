//! `skip`: marks an item of the plan as skipped, or removes the mark.

use loopkeeper_task::edit::PlanEdit;

use super::exit::Exit;
use super::failure::ExitResult;
use super::out::Ui;
use super::prioritize::{self, ItemArg};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) item: ItemArg,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    prioritize::change(&args.item, PlanEdit::Skip, out)?;
    Ok(Exit::Done)
}
