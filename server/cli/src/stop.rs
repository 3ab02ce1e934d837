//! `stop`: ends a loop.

use loopkeeper_text::tr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use loopkeeper_core::plugin_loop::{FILES, NAME};
use loopkeeper_view::{DeferredCommand, effect};
use serde_json::json;

use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use super::select::LoopArg;
use loopkeeper_operations::follow::LoopTailer;
use loopkeeper_operations::{control_client, foreign, keeper};
use loopkeeper_system::state_dir::workspace::LoopDir;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// Stop at once, even during an iteration
    #[arg(long)]
    pub(crate) now: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let name = args.which.name.as_deref();
    if name == Some(NAME) {
        return cancel_plugin_loop(out);
    }
    let found = args.which.find();
    // If none of our loops is running, the plugin's loop here is stopped.
    if name.is_none()
        && !found.as_ref().is_ok_and(|it| it.loop_view.is_open())
        && foreign::find_current().is_some()
    {
        return cancel_plugin_loop(out);
    }
    let found = found?;
    let (name, loop_view) = (found.display_name(), &found.loop_view);
    if loop_view.is_alive() {
        found.send_request(json!({"do": "stop", "now": args.now}))?;
        let command = if args.now { DeferredCommand::StopNow } else { DeferredCommand::Stop };
        out.line(effect(&loop_view.state, command, &tr!("Loop {name}", name)));
    } else if loop_view.is_open() {
        // A keeper is started only to record the end of the loop.
        keeper::start_detached(&found.store, &loop_view.dir, Some("stop"))?;
        wait_for_end(&loop_view.dir)?;
        out.line(tr!("Loop {name} was interrupted; now it has ended.", name));
    } else {
        return Err(control_client::no_keeper_error(loop_view));
    }
    Ok(Exit::Done)
}

/// Cancels the loop of Claude Code's plugin.
fn cancel_plugin_loop(out: &mut Ui) -> ExitResult {
    let found = foreign::find_current().ok_or_else(|| {
        Failure::usage(tr!("no loop of Claude Code's plugin runs here"))
            .hint(tr!("It would be in {file} of this folder or of the root.", file = FILES[0]))
    })?;
    found.cancel()?;
    out.line(tr!("Cancelled the loop of Claude Code's plugin (was at iteration {iteration}): its session can end after this turn.", iteration = found.state.iteration));
    Ok(Exit::Done)
}

/// Waits while the keeper writes its one record.
fn wait_for_end(dir: &LoopDir) -> Result<(), Failure> {
    const TIMEOUT: Duration = Duration::from_secs(30);
    const POLL_INTERVAL: Duration = Duration::from_millis(10);
    let begun = Instant::now();
    let mut tailer = LoopTailer::from_saved_state(&dir.journal());
    while begun.elapsed() < TIMEOUT {
        tailer.advance()?;
        if tailer.state().is_some_and(|it| it.outcome().is_some()) {
            return Ok(());
        }
        sleep(POLL_INTERVAL);
    }
    Err(Failure::ended(tr!("loop {id} did not end", id = dir.id()))
        .hint(tr!("`loopkeeper status` shows what it does.")))
}
