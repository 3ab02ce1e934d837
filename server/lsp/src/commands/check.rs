//! `check`: runs all checks of a task once, or one of them. If a loop works on the task, its keeper runs them;
//! otherwise a separate process does, which outlives the server. A request that is cancelled before its answer starts
//! nothing, or ends what it started.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loopkeeper_text::language::translate;
use loopkeeper_text::tr;
use loopkeeper_view::{self as view, DeferredCommand};
use serde_json::json;
use tokio::runtime::Handle;

use super::loop_commands::THE_LOOP;
use super::{CommandOutcome, CommandRefusal, cancel_checks, run_blocking, target, trust};
use crate::ext::{CheckArgs, CommandResult, RefusalCode};
use crate::session::ServerState;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::{self as operations, agents, control_client, keeper};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_workspace::snapshot::TaskSnapshot;

pub(super) async fn check(shared: &Arc<ServerState>, args: CheckArgs) -> CommandOutcome {
    trust::refuse_without_editor(shared, &args.task)?;
    let task = target::task(shared, &args.task).await?;
    target::refuse_unsaved(&task, shared)?;
    let request_args = args.clone();
    let request = CheckRequest::default();
    let (state, is_cancelled) = (Arc::clone(shared), Arc::clone(&request.is_cancelled));
    let started = run_blocking(move || {
        let started = start_check(&state, &task, args.criterion.as_deref(), &is_cancelled)?;
        if matches!(started, CheckStart::Runs) {
            record_process(&state, &task, &is_cancelled)?;
        }
        Ok(started)
    });
    let started = started.await;
    request.finish();
    match started? {
        CheckStart::Runs => Ok(CommandResult::default()),
        CheckStart::Queued(effect) => Ok(CommandResult { effect: Some(effect), ..CommandResult::default() }),
        CheckStart::Untrusted(needed) => {
            Err(trust::ask(shared, needed, trust::AfterTrust::Check(request_args)))
        }
    }
}

/// A request that was not answered yet. The transport drops its handler when the client cancels it.
#[derive(Default)]
struct CheckRequest {
    is_cancelled: Arc<AtomicBool>,
    is_finished: bool,
}

impl CheckRequest {
    fn finish(mut self) {
        self.is_finished = true;
    }
}

impl Drop for CheckRequest {
    fn drop(&mut self) {
        if !self.is_finished {
            self.is_cancelled.store(true, Ordering::SeqCst);
        }
    }
}

/// Remembers the process of the round, so that this server can cancel it; ends it if the request was cancelled.
fn record_process(
    shared: &ServerState,
    task: &TaskSnapshot,
    is_cancelled: &AtomicBool,
) -> Result<(), CommandRefusal> {
    let store = StateDir::open().map_err(Failure::from)?;
    let Some(process) = store.check_process(&task.root, &task.id.0).map_err(Failure::from)? else {
        return Ok(());
    };
    if is_cancelled.load(Ordering::SeqCst) {
        cancel_checks::terminate(&process);
    }
    shared.check_processes.record(&task.uri, process);
    Ok(())
}

enum CheckStart {
    Runs,
    /// The keeper of a loop runs them; contains the sentence about when.
    Queued(String),
    Untrusted(trust::TrustRequest),
}

fn start_check(
    shared: &Arc<ServerState>,
    task: &TaskSnapshot,
    criterion: Option<&str>,
    is_cancelled: &AtomicBool,
) -> Result<CheckStart, CommandRefusal> {
    let refused = |failure| CommandRefusal::of_task(&task.root, failure);
    let work = ResolvedTask::find(task.path.to_str(), &[]).map_err(refused)?;
    work.refuse_broken().map_err(refused)?;
    if criterion.is_some_and(|id| work.task.criteria.iter().all(|it| it.id.0 != id)) {
        return Err(CommandRefusal::bad_argument(tr!("the task no longer has this criterion")));
    }
    let store = StateDir::open().map_err(Failure::from)?;
    let items = operations::trust::of_checks(&work, &agents::judge_plan(&work)?)?;
    if let Some(needed) = trust::required_trust(&store, &work, &items, &[])? {
        return Ok(CheckStart::Untrusted(needed));
    }
    // Waits for another round of checks.
    let holder = operations::start::settled_holder(&store, &work.root, |_| {})?;
    if is_cancelled.load(Ordering::SeqCst) {
        return Err(CommandRefusal::new(RefusalCode::Conflict, tr!("the request was cancelled")));
    }
    let Some((holder, path)) = holder else {
        keeper::start_checks(&store, &task.path, criterion)?;
        return Ok(CheckStart::Runs);
    };
    let found = holder.loop_id().and_then(|id| store.find(id).ok());
    let working = found.and_then(|dir| LoopView::read(&store, dir).ok().flatten());
    let Some(loop_view) = working.filter(|it| it.is_alive() && it.works_on(&work)) else {
        return Err(operations::start::busy_error(&store, holder, path).into());
    };
    let effect = view::effect(&loop_view.state, DeferredCommand::Check, translate(THE_LOOP));
    request_checks(shared, store, loop_view.dir.id().to_owned()).map_err(Failure::from)?;
    Ok(CheckStart::Queued(effect))
}

/// Does not wait for the keeper, which replies once the round is over: that may be long after the agent's run. The
/// results arrive through the journal; a refusal is shown.
fn request_checks(shared: &Arc<ServerState>, store: StateDir, loop_id: String) -> std::io::Result<()> {
    let (shared, runtime) = (Arc::clone(shared), Handle::current());
    let send = move || {
        if let Err(failure) = control_client::send_and_wait(&store, &loop_id, json!({"do": "check"})) {
            runtime.spawn(async move { CommandRefusal::from(failure).show(&shared).await });
        }
    };
    std::thread::Builder::new().spawn(send).map(drop)
}
