//! Executes commands, with one file per kind of command. Each returns a result, or an error with the reason in
//! `data.code`. Blocking work runs on blocking threads.

mod cancel_checks;
mod check;
mod diff;
mod export;
mod feedback;
mod foreign_loop;
mod loop_commands;
mod loop_page;
pub(crate) mod loop_questions;
mod new_task;
mod output;
mod plan;
mod receipt;
mod refusal;
mod report;
mod rollback;
mod start;
pub(crate) mod start_preview;
mod target;
pub(crate) mod trust;

use std::sync::Arc;

use lsp_types::ExecuteCommandParams;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tracing::{Instrument as _, debug, debug_span};

pub(crate) use self::refusal::CommandRefusal;
pub(crate) use self::start::start;
pub(crate) use self::target::find_loop as loop_named;
use super::ext::{self, CommandResult};
use super::session::ServerState;
use loopkeeper_text::tr;
use loopkeeper_workspace::{Invalidation, WorkspaceSnapshot};

/// The result of a command.
pub(crate) type CommandOutcome = Result<CommandResult, CommandRefusal>;

/// Executes a command of the client; returns its result and a snapshot that includes its changes.
pub(crate) async fn execute(
    shared: &Arc<ServerState>,
    params: ExecuteCommandParams,
) -> Result<(CommandResult, Arc<WorkspaceSnapshot>), CommandRefusal> {
    let touched = invalidation_for(&params.command);
    let span = debug_span!("command", command = params.command);
    let done = run(shared, params).instrument(span.clone()).await;
    span.in_scope(|| debug!(is_refused = done.is_err(), "executed"));
    let done = done?;
    Ok((done, shared.index().refresh(touched).await))
}

/// The parts of the snapshot that a command may have changed.
fn invalidation_for(command: &str) -> Invalidation {
    match command {
        ext::ROLLBACK | ext::UNDO_ROLLBACK | ext::SKIP | ext::PRIORITIZE | ext::IMPORT => Invalidation::ALL,
        // Stopping a loop of another tool removes a file.
        ext::STOP => Invalidation { files: true, ..Invalidation::STATE },
        ext::DIFF | ext::OUTPUT | ext::EXPORT => Invalidation::TEXTS,
        _ => Invalidation::STATE,
    }
}

async fn run(shared: &Arc<ServerState>, params: ExecuteCommandParams) -> CommandOutcome {
    let arguments = params.arguments;
    match params.command.as_str() {
        ext::START => start::start(shared, parse_arguments(arguments)?).await,
        ext::CHECK => check::check(shared, parse_arguments(arguments)?).await,
        ext::CANCEL_CHECKS => cancel_checks::cancel(shared, parse_arguments(arguments)?).await,
        ext::STOP => loop_commands::stop(shared, parse_arguments(arguments)?).await,
        ext::IMPORT => foreign_loop::import(shared, parse_arguments(arguments)?).await,
        ext::NEW_TASK => new_task::propose(shared, parse_arguments(arguments)?).await,
        ext::PAUSE => loop_commands::pause(shared, parse_arguments(arguments)?).await,
        ext::RESUME => loop_commands::resume(shared, parse_arguments(arguments)?).await,
        ext::RESET_BREAKER => loop_commands::reset_breaker(shared, parse_arguments(arguments)?).await,
        ext::RESET_SESSION => loop_commands::reset_session(shared, parse_arguments(arguments)?).await,
        ext::ANSWER => loop_questions::answer(shared, parse_arguments(arguments)?).await,
        ext::ACCEPT_WEAKENING => loop_commands::accept_weakening(shared, parse_arguments(arguments)?).await,
        ext::STEER => loop_commands::steer(shared, parse_arguments(arguments)?).await,
        ext::OUTPUT => output::output(shared, parse_arguments(arguments)?).await,
        ext::ROLLBACK => rollback::rollback(shared, parse_arguments(arguments)?).await,
        ext::UNDO_ROLLBACK => rollback::undo(shared, parse_arguments(arguments)?).await,
        ext::DIFF => diff::diff(shared, parse_arguments(arguments)?).await,
        ext::REPORT => report::report_page(shared, parse_arguments(arguments)?).await,
        ext::FEEDBACK => feedback::feedback(shared, parse_arguments(arguments)?).await,
        ext::RECEIPT => receipt::receipt(shared, parse_arguments(arguments)?).await,
        ext::SKIP => plan::skip(shared, parse_arguments(arguments)?).await,
        ext::PRIORITIZE => plan::prioritize(shared, parse_arguments(arguments)?).await,
        ext::EXPORT => export::export(shared, parse_arguments(arguments)?).await,
        ext::TRUST => trust::trust(shared, parse_arguments(arguments)?).await,
        ext::UNTRUST => trust::untrust(shared, parse_arguments(arguments)?).await,
        other => Err(CommandRefusal::unknown_command(other)),
    }
}

/// Every command takes exactly one object.
fn parse_arguments<T: DeserializeOwned>(arguments: Vec<Value>) -> Result<T, CommandRefusal> {
    let mut arguments = arguments.into_iter();
    let (Some(argument), None) = (arguments.next(), arguments.next()) else {
        return Err(CommandRefusal::bad_argument(tr!("a command takes one object as its argument")));
    };
    if argument.get("task").is_some_and(|it| !it.is_string()) {
        return Err(CommandRefusal::bad_argument(tr!("`task` takes a file URI or a task id")));
    }
    serde_json::from_value(argument).map_err(|error| {
        CommandRefusal::bad_argument(tr!("the command has an invalid argument: {error}", error))
    })
}

/// Runs blocking work on a blocking thread.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandRefusal> + Send + 'static,
) -> Result<T, CommandRefusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(CommandRefusal::internal_error(tr!("the command failed: {error}", error))),
    }
}
