//! `cancelChecks`: ends a round of checks without a loop that this server started. Its results stay unknown, earlier
//! ones are kept.

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use loopkeeper_system::process_table::Process;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::ext::{CancelChecksArgs, CommandResult, RefusalCode};
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;

/// Its wardens end the processes of the checks, which takes a moment.
const TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(super) async fn cancel(shared: &Arc<ServerState>, args: CancelChecksArgs) -> CommandOutcome {
    let task = target::task(shared, &args.task).await?;
    let ours = shared.check_processes.find(&task.uri);
    run_blocking(move || end_checks(&task.root, &task.id.0, ours.as_ref())).await?;
    let effect = Some(tr!("The checks are cancelled. Earlier results are kept.").to_owned());
    Ok(CommandResult { effect, ..CommandResult::default() })
}

fn end_checks(root: &Path, task: &str, ours: Option<&Process>) -> Result<(), CommandRefusal> {
    let store = StateDir::open().map_err(Failure::from)?;
    let running = || store.check_process(root, task).map_err(Failure::from);
    let Some(process) = running()? else {
        return Err(CommandRefusal::new(RefusalCode::Conflict, tr!("no checks of this task are running")));
    };
    if ours.is_none_or(|it| !it.is_same(&process)) {
        let fact = tr!("the running checks were not started from this editor");
        let message = Message::new(fact).with_hint(tr!("cancel them where they were started"));
        return Err(CommandRefusal::new(RefusalCode::Conflict, message));
    }
    terminate(&process);
    let begun = Instant::now();
    while running()?.is_some_and(|it| it.is_same(&process)) && begun.elapsed() < TIMEOUT {
        sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// A process that has just exited is as good as ended.
pub(super) fn terminate(process: &Process) {
    if let Err(error) = process.terminate() {
        tracing::debug!(%error, "the checks ended by themselves");
    }
}
