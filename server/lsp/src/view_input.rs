//! Converts a task of the workspace snapshot to the input of the core's editor views.

use std::collections::BTreeMap;

use loopkeeper_operations::restore::present_strays;
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_view::editor::{LatestResult, TaskView, TrustState};

use loopkeeper_workspace::WorkspaceSnapshot;
use loopkeeper_workspace::snapshot::TaskSnapshot;

/// Calls `view` with the view input of `task`. `shown`: the hash of the page of commands that was shown to the user.
pub(crate) fn with_task_view<T>(
    snapshot: &WorkspaceSnapshot,
    task: &TaskSnapshot,
    shown: Option<&str>,
    view: impl FnOnce(&TaskView<'_>) -> T,
) -> T {
    let results: BTreeMap<CriterionId, LatestResult<'_>> = task
        .results
        .iter()
        .map(|(id, held)| {
            let output = held.output.as_deref();
            (id.clone(), LatestResult { result: &held.result, stale: held.stale, output })
        })
        .collect();
    let loop_view = task.last_loop.as_deref();
    let strays = strays(task);
    view(&TaskView {
        reference: &task.uri,
        task: &task.task,
        documents: &task.documents,
        status: loop_view.map(|it| &it.status),
        state: loop_view.filter(|it| it.damage.is_none()).map(|it| &*it.state),
        results: &results,
        checking: task.checking,
        trust: TrustState {
            editor: snapshot.trusted,
            unknown: task.untrusted.count,
            criteria: &task.untrusted.criteria,
            shown,
        },
        live: task.live,
        strays: &strays,
        leftovers: &task.leftovers,
        lints: &task.lints,
    })
}

/// Those of the last loop that were not removed since.
fn strays(task: &TaskSnapshot) -> Vec<String> {
    let last = task.last_loop.as_deref().filter(|it| it.damage.is_none());
    last.map_or_else(Vec::new, |it| present_strays(&it.dir, &it.state))
}
