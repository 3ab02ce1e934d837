//! `check`: a task's checks once, or one of them. By the keeper of a loop that works on the task; else by a process
//! of their own, which outlives this one.

use std::sync::Arc;

use loopkeeper_core::view::{self, LateOrder};
use serde_json::json;

use super::orders::THE_LOOP;
use super::{Done, Refusal, blocking, target, trust};
use crate::adapters::state_dir::StateDir;
use crate::adapters::state_dir::lock::LockError;
use crate::front::failure::Failure;
use crate::front::loops::Seen;
use crate::front::work::Work;
use crate::front::{self, crew, keeper, order};
use crate::lookout::picture::TaskSeen;
use crate::lsp::ext::{CheckArgs, CommandResult};
use crate::lsp::shared::Shared;

pub(super) async fn check(shared: &Arc<Shared>, args: CheckArgs) -> Done {
    trust::refuse_without_editor(shared, &args.task)?;
    let task = target::task(shared, &args.task).await?;
    target::refuse_unsaved(&task, shared)?;
    let asked = args.clone();
    match blocking(move || begin(&task, args.criterion.as_deref())).await? {
        Begun::Runs => Ok(CommandResult::default()),
        Begun::Queued(effect) => Ok(CommandResult { effect: Some(effect), ..CommandResult::default() }),
        Begun::Untrusted(needed) => Err(trust::ask(shared, needed, trust::Then::Check(asked))),
    }
}

enum Begun {
    Runs,
    /// By the keeper of a loop; when.
    Queued(String),
    Untrusted(trust::Needed),
}

fn begin(task: &TaskSeen, criterion: Option<&str>) -> Result<Begun, Refusal> {
    let refused = |failure| Refusal::of_task(&task.root, failure);
    let work = Work::find(task.path.to_str(), &[]).map_err(refused)?;
    work.refuse_broken().map_err(refused)?;
    if criterion.is_some_and(|id| work.task.criteria.iter().all(|it| it.id.0 != id)) {
        return Err(Refusal::bad_argument("the task has no such criterion any more"));
    }
    let store = StateDir::open().map_err(Failure::from)?;
    let items = front::trust::of_checks(&work, &crew::judge(&work)?)?;
    if let Some(needed) = trust::needed(&store, &work, &items, &[])? {
        return Ok(Begun::Untrusted(needed));
    }
    match store.tree_holder(&work.root).map_err(Failure::from)? {
        None => keeper::start_checks(&store, &task.path, criterion)?,
        Some((holder, path)) => {
            let working = store.find(&holder).ok().and_then(|dir| Seen::read(&store, dir).ok().flatten());
            match working.filter(|it| it.is_alive() && it.works_on(&work)) {
                // Queued: it answers once the round is over, which may be long after the agent's.
                Some(seen) => {
                    let effect = view::effect(&seen.state, LateOrder::Check, THE_LOOP);
                    order_checks(store, seen.dir.id().to_owned());
                    return Ok(Begun::Queued(effect));
                }
                None => return Err(Failure::from(LockError::TreeBusy { holder, path }).into()),
            }
        }
    }
    Ok(Begun::Runs)
}

/// Not waited for: the results come by the journal.
fn order_checks(store: StateDir, loop_id: String) {
    std::thread::spawn(move || drop(order::send(&store, &loop_id, json!({"do": "check"}))));
}
