//! Who works on a task and who judges it, as they would be started. Starts nothing.

use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{AgentSettings, Permissions};

use super::failure::Failure;
use super::work::Work;
use crate::adapters::agents;

/// The agents of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crew {
    pub(crate) agent: AgentPlan,
    /// Only where a criterion asks for one.
    pub(crate) judge: Option<AgentPlan>,
}

impl Crew {
    pub(crate) fn of(work: &Work) -> Result<Self, Failure> {
        let settings = &work.settings;
        let agent = planned(work, &settings.agent, &settings.agents)?;
        Ok(Self { agent, judge: judge(work)? })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &AgentPlan> {
        std::iter::once(&self.agent).chain(&self.judge)
    }
}

/// Whoever judges may read and nothing else, where its flags are known.
pub(crate) fn judge(work: &Work) -> Result<Option<AgentPlan>, Failure> {
    if work.task.criteria.iter().all(|it| loopkeeper_core::jury::needed(it).is_none()) {
        return Ok(None);
    }
    let settings = &work.settings;
    let reading = |it: &AgentSettings| AgentSettings { permissions: Permissions::ReadOnly, ..it.clone() };
    let readers: Vec<AgentSettings> = settings.agents.iter().map(reading).collect();
    planned(work, settings.judge.as_ref().unwrap_or(&settings.agent), &readers).map(Some)
}

fn planned(work: &Work, agent: &str, agents: &[AgentSettings]) -> Result<AgentPlan, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(agents::plan(&agents::Wanted {
        agent,
        agents,
        root: &work.root,
        criteria: &work.task.criteria,
        path: &path,
        is_root: rustix::process::geteuid().is_root(),
        env_set: &work.settings.env_set,
    })?)
}
