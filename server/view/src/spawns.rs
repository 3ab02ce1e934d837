//! Subagents: their number and nesting.

use serde::{Deserialize, Serialize};

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::loop_state::SubagentRecord;
use loopkeeper_text::clauses;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// Maximum number shown; all of them are in the journal.
const MAX_SHOWN: usize = 20;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnStatus {
    /// Number over all iterations.
    pub used: u32,
    pub budget: u32,
    /// Nesting depth.
    pub depth: u32,
    /// Those of `used` in the last iteration.
    #[serde(default)]
    pub in_iteration: u32,
    /// Refusals over all iterations.
    #[serde(default)]
    pub refused: u32,
    /// Subagents of the last iteration, each listed directly after its parent; empty when the loop has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<SubagentStatus>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentStatus {
    /// The id assigned by the agent; absent before it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The subagent that started it; absent: started by the agent itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The tool call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    pub what: String,
    /// 1 if started by the agent itself.
    pub depth: u32,
    pub state: SubagentState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SubagentState {
    /// Requested and not yet started.
    Asked,
    Started,
    Ended,
}

pub(super) fn spawns(state: &LoopState) -> SpawnStatus {
    let spawns = &state.spawns;
    SpawnStatus {
        used: spawns.used,
        budget: state.spec.settings.spawns.budget,
        depth: spawns.depth,
        in_iteration: spawns.in_iteration,
        refused: spawns.refused,
        agents: if state.outcome().is_some() { Vec::new() } else { agents_after_parents(&spawns.agents) },
    }
}

impl SpawnStatus {
    /// `3 of 12 subagents, 2 deep, 1 refused`; `None` if there were none.
    pub fn summary(&self) -> Option<String> {
        let mut parts = vec![tr!("{used} of {budget} subagents", used = self.used, budget = self.budget)];
        parts.extend((self.depth > 1).then(|| tr!("{depth} deep", depth = self.depth)));
        parts.extend((self.refused > 0).then(|| tr!("{count} refused", count = self.refused)));
        (self.used > 0 || self.refused > 0).then(|| clauses::join_with_commas(&parts))
    }

    /// One line per subagent, indented by depth.
    pub fn tree(&self) -> impl Iterator<Item = String> + '_ {
        self.agents.iter().map(SubagentStatus::describe)
    }
}

impl SubagentStatus {
    /// `  look around (a25dfefa, ended)`
    fn describe(&self) -> String {
        let indent = "  ".repeat(self.depth.saturating_sub(1).min(8) as usize);
        let state = match self.state {
            SubagentState::Asked => tr!("about to start"),
            SubagentState::Started => tr!("started"),
            SubagentState::Ended => tr!("ended"),
        };
        let described = match &self.id {
            Some(id) => tr!("{name} ({id}, {state})", name = self.what, id, state),
            None => tr!("{name} ({state})", name = self.what, state),
        };
        indent + &described
    }
}

/// Lists each subagent directly after its parent; those of the agent itself in order of their start.
fn agents_after_parents(agents: &[SubagentRecord]) -> Vec<SubagentStatus> {
    let is_known = |it: &SubagentRecord| {
        it.by.as_ref().is_some_and(|by| agents.iter().any(|it| it.id.as_ref() == Some(by)))
    };
    let mut shown = Vec::new();
    let mut open: Vec<&SubagentRecord> = agents.iter().rev().filter(|it| !is_known(it)).collect();
    while let Some(agent) = open.pop().filter(|_| shown.len() < MAX_SHOWN) {
        shown.push(subagent_status(agent));
        let below = agents.iter().rev().filter(|it| it.by.is_some() && it.by == agent.id);
        open.extend(below);
    }
    shown
}

fn subagent_status(agent: &SubagentRecord) -> SubagentStatus {
    let clean = |it: &Option<String>| it.as_deref().filter(|it| !it.is_empty()).map(sanitize::line);
    SubagentStatus {
        id: clean(&agent.id),
        by: clean(&agent.by),
        call: clean(&agent.call),
        what: sanitize::line(&agent.what),
        depth: agent.depth,
        state: match (agent.over, &agent.id) {
            (true, _) => SubagentState::Ended,
            (false, Some(_)) => SubagentState::Started,
            (false, None) => SubagentState::Asked,
        },
    }
}
