//! Who works on a task and who judges it, as they would be started. Starts nothing.

use std::collections::VecDeque;

use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{AgentSettings, Mode, Permissions};

use super::failure::Failure;
use super::work::Work;
use crate::adapters::agents;

/// The agents of a loop.
#[derive(Debug)]
pub(crate) struct Crew {
    pub(crate) agent: AgentPlan,
    /// Who takes over from it, in this order.
    pub(crate) others: Vec<AgentPlan>,
    /// Why somebody of the list is not among them.
    pub(crate) left_out: Vec<Failure>,
    /// Only where a criterion asks for one.
    pub(crate) judge: Option<AgentPlan>,
}

impl Crew {
    pub(crate) fn of(work: &Work) -> Result<Self, Failure> {
        let settings = &work.settings;
        if settings.mode == Mode::Hook && !settings.fallbacks.is_empty() {
            return Err(Failure::usage(
                "`mode = \"hook\"` holds one session of one agent: `agent` is a list",
            )
            .hint("Name one agent, or remove the line `mode`."));
        }
        let names = std::iter::once(&settings.agent).chain(&settings.fallbacks);
        let (mut plans, mut left_out) = (VecDeque::new(), Vec::new());
        for name in names {
            match planned(work, name, &settings.agents) {
                Ok(plan) => plans.push_back(plan),
                Err(missing) => left_out.push(missing),
            }
        }
        match plans.pop_front() {
            Some(agent) => Ok(Self { agent, others: plans.into(), left_out, judge: judge(work)? }),
            None => Err(left_out.swap_remove(0)),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &AgentPlan> {
        std::iter::once(&self.agent).chain(&self.others).chain(&self.judge)
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
    if let Some(judge) = &settings.judge {
        return planned(work, judge, &readers).map(Some);
    }
    let names = std::iter::once(&settings.agent).chain(&settings.fallbacks);
    let mut found = names.map(|name| planned(work, name, &readers));
    let first = found.next().transpose();
    match first {
        Err(missing) => found.find_map(Result::ok).map(Some).ok_or(missing),
        found => found,
    }
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
