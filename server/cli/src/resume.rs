//! `resume`: continues a paused or interrupted loop; with `--more` the task of an ended one, in a new loop.

use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::select::{LoopArg, SelectedLoop};
use super::trust::{self, TrustConsent};
use loopkeeper_operations::agents::AgentSelection;
use loopkeeper_operations::continuation::Continuation;
use loopkeeper_operations::start::{self, Interactivity, StartRequest};
use loopkeeper_operations::{self as operations, control_client, keeper};
use loopkeeper_text::tr;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    which: LoopArg,
    /// Continue without the checks that cannot run on this machine
    #[arg(long)]
    anyway: bool,
    /// Continue the task of an ended loop with N more iterations, in a new loop with its agent and limits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "anyway")]
    more: Option<u32>,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let found = args.which.find()?;
    if let Some(more) = args.more {
        return continue_ended(&found, more, out);
    }
    let (id, name, loop_view) = (found.id(), found.display_name(), &found.loop_view);
    if loop_view.is_alive() {
        found.send_request(control_client::resume_request(args.anyway))?;
        out.line(tr!("Loop {name} continues.", name));
    } else if loop_view.is_open() {
        keeper::start_detached(
            &found.store,
            &loop_view.dir,
            control_client::then_resume(loop_view, args.anyway),
        )?;
        out.line(tr!("Loop {name} continues; `loopkeeper watch {id}` shows it.", name, id));
    } else {
        return Err(ended_error(&found));
    }
    Ok(Exit::Done)
}

fn ended_error(found: &SelectedLoop) -> Failure {
    if found.loop_view.damage.is_some() {
        return control_client::no_keeper_error(&found.loop_view);
    }
    let id = found.id();
    Failure::conflict(tr!("loop {id} has ended", id))
        .hint(tr!("`loopkeeper resume {id} --more 10` continues its task with 10 more iterations.", id))
}

fn continue_ended(found: &SelectedLoop, more: u32, out: &mut Ui) -> ExitResult {
    let Continuation { work, own_promise, earlier, .. } = Continuation::of(&found.loop_view, more)?;
    work.refuse_unready()?;
    for warning in work.bounded_limits() {
        failure::warn(warning);
    }
    let roster = AgentSelection::resolve(&work)?;
    let items = operations::trust::items(&work, &roster)?;
    start::ensure_tree_free(&found.store, &work, failure::note_wait)?;
    trust::ensure_trusted(&work, &items, &found.store, TrustConsent::Asked)?;
    let dir = start::prepare(
        &found.store,
        &StartRequest {
            work: &work,
            roster,
            anyway: false,
            own_promise,
            attended: Interactivity::Yes,
            earlier: vec![earlier],
        },
    )?;
    keeper::start_detached(&found.store, &dir, None).inspect_err(|_| start::discard(&dir))?;
    let (name, id) = (found.display_name(), dir.id());
    out.line(tr!("Loop {id} continues the task of {name} with {more} more iterations; `loopkeeper watch {id}` shows it.", id, name, more));
    Ok(Exit::Done)
}
