//! `skip`: marks an item of the plan as skipped, or removes the mark.

use loopkeeper_core::task::edit::Wish;

use super::exit::Exit;
use super::failure::Answer;
use super::out::Out;
use super::prioritize::{self, ItemArg};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) item: ItemArg,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    prioritize::change(&args.item, Wish::Skip, out)?;
    Ok(Exit::Done)
}
