//! `start`: starts a loop on a task, in a keeper process that outlives the server.

use std::sync::Arc;

use loopkeeper_core::journal::EarlierTask;
use loopkeeper_core::settings::{OverrideSource, SettingOverride};
use loopkeeper_text::message::Message;
use loopkeeper_text::words;
use loopkeeper_text::{tr, tr_later};

use super::{CommandOutcome, CommandRefusal, run_blocking, target, trust};
use crate::ext::{CommandResult, StartArgs, StartLimits};
use crate::questions::{self, ClientQuestion};
use crate::session::ServerState;
use loopkeeper_operations::agents::AgentSelection;
use loopkeeper_operations::continuation::Continuation;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::start::{Interactivity, StartRequest};
use loopkeeper_operations::suitability::SuitabilityQuestion;
use loopkeeper_operations::{self as operations, keeper, start as loop_start};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_workspace::snapshot::TaskSnapshot;

pub(crate) async fn start(shared: &Arc<ServerState>, args: StartArgs) -> CommandOutcome {
    trust::refuse_without_editor(shared, &args.task)?;
    let task = target::task(shared, &args.task).await?;
    target::refuse_unsaved(&task, shared)?;
    if !confirm_suitability(shared, &task, &args).await? {
        return Ok(CommandResult::default());
    }
    let request = args.clone();
    let started = run_blocking(move || start_loop(&task, &args)).await?;
    match started {
        LoopStart::Runs { loop_id, warnings } => {
            for warning in warnings {
                questions::warn(shared, &words::capitalised(&warning)).await;
            }
            Ok(CommandResult { loop_id: Some(loop_id), ..CommandResult::default() })
        }
        LoopStart::Untrusted(page) => Err(trust::ask(shared, page, trust::AfterTrust::Start(request))),
    }
}

const START: &str = tr_later!("Start anyway");

/// Asks about a task for which a loop may be the wrong tool, where the client can be asked. No answer counts as no.
async fn confirm_suitability(
    shared: &Arc<ServerState>,
    task: &Arc<TaskSnapshot>,
    args: &StartArgs,
) -> Result<bool, CommandRefusal> {
    if args.anyway || args.continues.is_some() || !questions::can_ask(shared) {
        return Ok(true);
    }
    let path = task.path.clone();
    let question = run_blocking(move || {
        // The start itself reports what is wrong with the task.
        let Ok(work) = ResolvedTask::find(path.to_str(), &[]) else { return Ok(None) };
        let state = StateDir::open().map_err(Failure::from)?;
        Ok(SuitabilityQuestion::of(&state, &work)?)
    })
    .await?;
    let Some(question) = question else { return Ok(true) };
    let Some(pending) = shared.open_questions.try_open(format!("suitability {}", task.uri)) else {
        return Ok(false);
    };
    let client_question = ClientQuestion {
        message: question.text(),
        answers: vec![START, questions::NOT_NOW],
        page: None,
        expiry: questions::EXPIRY,
    };
    let answer = questions::ask_client(shared, &client_question).await;
    drop(pending);
    run_blocking(move || Ok(question.record()?)).await?;
    Ok(answer.as_deref() == Some(START))
}

enum LoopStart {
    Runs { loop_id: String, warnings: Vec<String> },
    Untrusted(trust::TrustRequest),
}

fn start_loop(task: &TaskSnapshot, args: &StartArgs) -> Result<LoopStart, CommandRefusal> {
    let refused = |failure| CommandRefusal::of_task(&task.root, failure);
    let ResolvedStart { work, arguments, own_promise, earlier } = resolve(task, args)?;
    work.refuse_unready().map_err(refused)?;
    let roster = AgentSelection::resolve(&work).map_err(refused)?;
    let items = operations::trust::items(&work, &roster)?;
    let store = StateDir::open().map_err(Failure::from)?;
    loop_start::ensure_tree_free(&store, &work, |_| {})?;
    if let Some(needed) = trust::required_trust(&store, &work, &items, &arguments)? {
        return Ok(LoopStart::Untrusted(needed));
    }
    let mut warnings = roster.warnings();
    warnings.extend(work.bounded_limits());
    let start = StartRequest {
        earlier,
        work: &work,
        roster,
        anyway: args.anyway,
        own_promise,
        attended: Interactivity::Yes,
    };
    let dir = loop_start::prepare(&store, &start)?;
    if let Err(failure) = keeper::start_detached(&store, &dir, None) {
        loop_start::discard(&dir);
        // Of two concurrent starts, the second is rejected.
        loop_start::ensure_tree_free(&store, &work, |_| {})?;
        return Err(failure.into());
    }
    Ok(LoopStart::Runs { loop_id: dir.id().to_owned(), warnings })
}

/// The task with the settings of the request, or of the loop that is continued.
struct ResolvedStart {
    work: ResolvedTask,
    arguments: Vec<SettingOverride>,
    own_promise: bool,
    earlier: Vec<EarlierTask>,
}

fn resolve(task: &TaskSnapshot, args: &StartArgs) -> Result<ResolvedStart, CommandRefusal> {
    let refused = |failure| CommandRefusal::of_task(&task.root, failure);
    let Some(ended) = &args.continues else {
        let arguments = arguments(task, args)?;
        let work = ResolvedTask::find(task.path.to_str(), &arguments).map_err(refused)?;
        return Ok(ResolvedStart { work, arguments, own_promise: false, earlier: Vec::new() });
    };
    let store = StateDir::open().map_err(Failure::from)?;
    let ended = target::find_loop(&store, std::slice::from_ref(&task.root), ended)?;
    let more = args.limits.iterations.unwrap_or(ended.state.spec.settings.limits.iterations);
    let Continuation { work, arguments, own_promise, earlier } =
        Continuation::of(&ended, more).map_err(refused)?;
    Ok(ResolvedStart { work, arguments, own_promise, earlier: vec![earlier] })
}

/// Starts a new loop on the task of an ended one.
pub(super) async fn continue_ended(shared: &Arc<ServerState>, loop_id: &str, more: u32) -> CommandOutcome {
    if more == 0 {
        return Err(CommandRefusal::bad_argument(tr!("`more` is a number of iterations: 1, 2, 3 …")));
    }
    let roots = shared.index().snapshot().roots.clone();
    let named = loop_id.to_owned();
    let ended = run_blocking(move || {
        let store = StateDir::open().map_err(Failure::from)?;
        target::find_loop(&store, &roots, &named)
    })
    .await?;
    let args = StartArgs {
        task: ended.status().task.uri,
        agent: None,
        limits: StartLimits { iterations: Some(more), ..StartLimits::default() },
        anyway: false,
        continues: Some(ended.dir.id().to_owned()),
    };
    start(shared, args).await
}

/// The settings of this request that override the configuration, parsed as `run` parses them.
pub(super) fn arguments(
    task: &TaskSnapshot,
    args: &StartArgs,
) -> Result<Vec<SettingOverride>, CommandRefusal> {
    let StartLimits { iterations, duration, cost_usd } = &args.limits;
    if args.agent.as_ref().is_some_and(|it| it.contains('/') && !it.starts_with('/')) {
        let root = task.root.display();
        let fact = tr!("the path of the agent's program is relative");
        let hint = tr!("write the absolute path, such as {root}/agent.sh", root);
        return Err(CommandRefusal::bad_argument(Message::new(fact).with_hint(hint)));
    }
    let given = [
        ("agent", args.agent.clone()),
        ("limits.iterations", iterations.map(|it| it.to_string())),
        ("limits.duration", duration.clone()),
        ("limits.cost_usd", cost_usd.map(|it| it.to_string())),
    ];
    let argument = |(key, value): (&str, Option<String>)| {
        Some(SettingOverride {
            option: tr!("this start").to_owned(),
            key: key.to_owned(),
            value: value?,
            source: OverrideSource::Argument,
        })
    };
    Ok(given.into_iter().filter_map(argument).collect())
}
