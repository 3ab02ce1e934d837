//! Commands to the keeper of a loop: stop, pause, resume, reset, steer, answer, accept. They take nothing that could be
//! executed, so an editor that does not trust the folder may still stop a loop in it.

use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_text::language::translate;
use loopkeeper_text::message::Message;
use loopkeeper_text::{tr, tr_later};
use loopkeeper_view::{self as view, DeferredCommand};
use serde_json::{Value, json};

use super::{CommandOutcome, CommandRefusal, foreign_loop, run_blocking, start, target, trust};
use crate::ext::{AnswerArgs, CommandResult, LoopArgs, ResumeArgs, SteerArgs, StopArgs};
use crate::session::ServerState;
use loopkeeper_operations::authority::user_name;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_operations::{control_client, keeper};
use loopkeeper_system::state_dir::StateDir;

/// Subject of the sentence; clients show it next to the task's name.
pub(super) const THE_LOOP: &str = tr_later!("The loop");

pub(crate) async fn stop(shared: &Arc<ServerState>, args: StopArgs) -> CommandOutcome {
    if let Some(stopped) = foreign_loop::stop(shared, &args.loop_id).await {
        return stopped;
    }
    with_loop(shared, args.loop_id, move |store, loop_view| {
        if loop_view.is_alive() {
            control_client::send(store, loop_view.dir.id(), json!({"do": "stop", "now": args.now}))?;
            let command = if args.now { DeferredCommand::StopNow } else { DeferredCommand::Stop };
            Ok(Some(view::effect(&loop_view.state, command, translate(THE_LOOP))))
        } else if loop_view.is_open() {
            // A keeper is started only to record the end of the loop.
            keeper::start_detached(store, &loop_view.dir, Some("stop")).map(|_| None)
        } else {
            Err(control_client::no_keeper_error(loop_view))
        }
    })
    .await
}

pub(super) async fn pause(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    send_deferred(shared, args.loop_id, json!({"do": "pause"}), DeferredCommand::Pause).await
}

pub(crate) async fn resume(shared: &Arc<ServerState>, args: ResumeArgs) -> CommandOutcome {
    trust::refuse_without_editor(shared, &args.loop_id)?;
    if let Some(more) = args.more {
        return start::continue_ended(shared, &args.loop_id, more).await;
    }
    with_loop(shared, args.loop_id, move |store, loop_view| {
        if loop_view.is_alive() {
            control_client::send(store, loop_view.dir.id(), control_client::resume_request(args.anyway))
                .map(|()| None)
        } else if loop_view.is_open() {
            keeper::start_detached(store, &loop_view.dir, control_client::then_resume(loop_view, args.anyway))
                .map(|_| None)
        } else {
            Err(control_client::no_keeper_error(loop_view))
        }
    })
    .await
}

pub(super) async fn reset_breaker(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    trust::refuse_without_editor(shared, &args.loop_id)?;
    send_request(shared, args.loop_id, json!({"do": "reset", "what": "breaker"})).await
}

pub(super) async fn reset_session(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    send_request(shared, args.loop_id, json!({"do": "reset", "what": "session"})).await
}

/// Requires trust, because an answer lets the agent continue.
pub(crate) async fn answer(shared: &Arc<ServerState>, args: AnswerArgs) -> CommandOutcome {
    trust::refuse_without_editor(shared, &args.loop_id)?;
    let text = args.text.as_deref().unwrap_or_default();
    if text.trim().is_empty() {
        let fact = match args.text {
            Some(_) => tr!("the answer is empty"),
            // A code action, in a client without an input box.
            None => tr!("this editor cannot ask for a text"),
        };
        let id = &args.loop_id;
        let hint = tr!("`loopkeeper answer {id} '…'` answers in a terminal", id);
        return Err(CommandRefusal::bad_argument(Message::new(fact).with_hint(hint)));
    }
    send_request(shared, args.loop_id, json!({"do": "answer", "text": text, "what": args.question})).await
}

/// Requires trust, because a loop that is paused for it continues.
pub(super) async fn accept_weakening(shared: &Arc<ServerState>, args: LoopArgs) -> CommandOutcome {
    trust::refuse_without_editor(shared, &args.loop_id)?;
    let client = shared.session().client_name.clone().unwrap_or_else(|| tr!("an editor").to_owned());
    let by = tr!("{user} in {client}", user = user_name(), client);
    send_request(shared, args.loop_id, json!({"do": "accept", "what": by})).await
}

pub(super) async fn steer(shared: &Arc<ServerState>, args: SteerArgs) -> CommandOutcome {
    if args.text.trim().is_empty() {
        return Err(CommandRefusal::bad_argument(tr!("the message to the agent is empty")));
    }
    send_deferred(shared, args.loop_id, json!({"do": "steer", "text": args.text}), DeferredCommand::Steer)
        .await
}

async fn send_request(shared: &Arc<ServerState>, loop_id: String, request: Value) -> CommandOutcome {
    with_loop(shared, loop_id, move |store, loop_view| {
        send_to_keeper(store, loop_view, request).map(|()| None)
    })
    .await
}

/// The result contains the time at which the command takes effect.
async fn send_deferred(
    shared: &Arc<ServerState>,
    loop_id: String,
    request: Value,
    command: DeferredCommand,
) -> CommandOutcome {
    with_loop(shared, loop_id, move |store, loop_view| {
        send_to_keeper(store, loop_view, request)?;
        Ok(Some(view::effect(&loop_view.state, command, translate(THE_LOOP))))
    })
    .await
}

fn send_to_keeper(store: &StateDir, loop_view: &LoopView, request: Value) -> Result<(), Failure> {
    if loop_view.is_alive() {
        control_client::send(store, loop_view.dir.id(), request)
    } else {
        Err(control_client::no_keeper_error(loop_view))
    }
}

async fn with_loop(
    shared: &Arc<ServerState>,
    loop_id: String,
    act: impl FnOnce(&StateDir, &LoopView) -> Result<Option<String>, Failure> + Send + 'static,
) -> CommandOutcome {
    let roots: Vec<PathBuf> = shared.index().snapshot().roots.clone();
    run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        let loop_view = target::find_loop(&store, &roots, &loop_id)?;
        let effect = act(&store, &loop_view)?;
        let loop_id = Some(loop_view.dir.id().to_owned());
        Ok(CommandResult { loop_id, effect, ..CommandResult::default() })
    })
    .await
}
