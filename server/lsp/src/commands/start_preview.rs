//! Previews a start: its agent, limits and maximum cost, for the client to show. Starts nothing.

use std::sync::Arc;

use loopkeeper_core::settings::Settings;
use loopkeeper_lint::TaskLints;
use loopkeeper_text::sanitize;
use loopkeeper_view::start_preview::{self, LoopDuration};

use super::{CommandRefusal, run_blocking, start, target};
use crate::ext::{StartArgs, StartPreviewParams, StartPreviewResult};
use crate::session::ServerState;
use loopkeeper_operations::agents::{self, AgentSelection};
use loopkeeper_operations::resolved_task::ResolvedTask;

pub(crate) async fn preview(
    shared: &Arc<ServerState>,
    params: StartPreviewParams,
) -> Result<StartPreviewResult, CommandRefusal> {
    let task = target::task(shared, &params.task).await?;
    let loops = shared.index().snapshot();
    let here = loops.loops.iter().filter(|it| it.dir.root() == task.root);
    let ended: Vec<LoopDuration> = here.filter_map(|it| LoopDuration::of(&it.state)).collect();
    run_blocking(move || {
        let StartPreviewParams { agent, limits, .. } = params;
        let args = StartArgs { task: task.uri.clone(), agent, limits, anyway: false, continues: None };
        let refused = |failure| CommandRefusal::of_task(&task.root, failure);
        let arguments = start::arguments(&task, &args)?;
        let work = ResolvedTask::find(task.path.to_str(), &arguments).map_err(refused)?;
        Ok(describe(&work, start_preview::history(&ended, &task.id)))
    })
    .await
}

fn describe(work: &ResolvedTask, history: Option<String>) -> StartPreviewResult {
    let settings: &Settings = &work.settings;
    let limits = &settings.limits;
    let (agent, reports_cost, problem) = match AgentSelection::resolve(work) {
        Ok(AgentSelection { agent, .. }) => {
            let reports = agent.kind().capabilities().in_mode(settings.mode).cost.is_yes();
            (agent.name, reports, None)
        }
        Err(failure) => (settings.agent.clone(), false, Some(sanitize::line(&failure.to_string()))),
    };
    let has_criteria = !work.task.criteria.is_empty();
    StartPreviewResult {
        agent: sanitize::line(&agent),
        agents: agents::startable_agents(work).iter().map(|it| sanitize::line(it)).collect(),
        iterations: limits.iterations,
        duration_ms: limits.duration_ms,
        cost_micros: limits.cost_micros,
        upper_bound: start_preview::upper_bound(limits, reports_cost),
        history,
        grade: has_criteria.then(|| TaskLints::of(&work.task, &work.documents).grade.brief()),
        problem,
    }
}
