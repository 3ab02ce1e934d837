//! `start`: a loop on a task, kept by a process that outlives this one.

use std::sync::Arc;

use loopkeeper_core::settings::Argument;
use loopkeeper_core::view::words;

use super::{Done, Refusal, blocking, target, trust};
use crate::adapters::state_dir::StateDir;
use crate::front::crew::Crew;
use crate::front::start::{Attended, Start};
use crate::front::work::Work;
use crate::front::{self, keeper, start as beginnings};
use crate::lookout::picture::TaskSeen;
use crate::lsp::ext::{CommandResult, StartArgs, StartLimits};
use crate::lsp::questions;
use crate::lsp::shared::Shared;

pub(crate) async fn start(shared: &Arc<Shared>, args: StartArgs) -> Done {
    trust::refuse_without_editor(shared, &args.task)?;
    let task = target::task(shared, &args.task).await?;
    target::refuse_unsaved(&task, shared)?;
    let asked = args.clone();
    let begun = blocking(move || begin(&task, &args)).await?;
    match begun {
        Begun::Runs { loop_id, warnings } => {
            for warning in warnings {
                questions::warn(shared, &words::capitalised(&warning)).await;
            }
            Ok(CommandResult { loop_id: Some(loop_id), ..CommandResult::default() })
        }
        Begun::Untrusted(page) => Err(trust::ask(shared, page, trust::Then::Start(asked))),
    }
}

enum Begun {
    Runs { loop_id: String, warnings: Vec<String> },
    Untrusted(trust::Needed),
}

fn begin(task: &TaskSeen, args: &StartArgs) -> Result<Begun, Refusal> {
    let arguments = arguments(task, args)?;
    let refused = |failure| Refusal::of_task(&task.root, failure);
    let work = Work::find(task.path.to_str(), &arguments).map_err(refused)?;
    work.refuse_unready().map_err(refused)?;
    let crew = Crew::of(&work).map_err(refused)?;
    let items = front::trust::items(&work, &crew)?;
    let store = StateDir::open().map_err(crate::front::failure::Failure::from)?;
    beginnings::refuse_busy(&store, &work)?;
    if let Some(needed) = trust::needed(&store, &work, &items, &arguments)? {
        return Ok(Begun::Untrusted(needed));
    }
    let warnings = crew.warnings();
    let start = Start { work: &work, crew, anyway: args.anyway, own_promise: false, attended: Attended::Yes };
    let dir = beginnings::prepare(&store, &start)?;
    if let Err(failure) = keeper::start_detached(&store, &dir, None) {
        beginnings::discard(&dir);
        // Of two that start at once, one comes too late.
        beginnings::refuse_busy(&store, &work)?;
        return Err(failure.into());
    }
    Ok(Begun::Runs { loop_id: dir.id().to_owned(), warnings })
}

/// What was asked for besides the configuration, as `run` would take it.
fn arguments(task: &TaskSeen, args: &StartArgs) -> Result<Vec<Argument>, Refusal> {
    let StartLimits { iterations, duration, cost_usd } = &args.limits;
    if args.agent.as_ref().is_some_and(|it| it.contains('/') && !it.starts_with('/')) {
        let root = task.root.display();
        return Err(Refusal::bad_argument(format_args!(
            "name the agent's program by its whole path, as {root}/agent.sh"
        )));
    }
    let given = [
        ("agent", "agent", args.agent.clone()),
        ("limits.iterations", "limits.iterations", iterations.map(|it| it.to_string())),
        ("limits.duration", "limits.duration", duration.clone()),
        ("limits.costUsd", "limits.cost_usd", cost_usd.map(|it| it.to_string())),
    ];
    let argument = |(option, key, value): (&str, &str, Option<String>)| {
        Some(Argument { option: option.to_owned(), key: key.to_owned(), value: value? })
    };
    Ok(given.into_iter().filter_map(argument).collect())
}
