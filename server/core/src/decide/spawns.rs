//! Subagents: all agents of a loop draw on one budget, however deep they nest, so that a child spends the budget of its
//! parent. Limits on depth, on children of one agent and on concurrent children are a second line of defence. Computed
//! from the journal alone, so that a replay gives the same counts.

use crate::journal::Record;
use crate::loop_state::LoopState;
use crate::settings::SpawnSettings;
use loopkeeper_text::language::Language;
use loopkeeper_text::words;

use super::{Decision, Effect, RefusalReason};

/// Maximum number of recorded refusals per iteration; further requests are still answered.
const MAX_RECORDED_REFUSALS: u32 = 100;

/// A report of the agent's hook, or of its output, about a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubagentEvent {
    /// A request to start one. `by`: the subagent that requests it; `None`: the agent itself. `call`: the id of its tool
    /// call.
    Asked {
        by: Option<String>,
        call: Option<String>,
        what: String,
    },
    Began {
        id: String,
        what: String,
    },
    /// Reported by its output: permission was not requested. `by` as above, `id`: of the call.
    Seen {
        by: Option<String>,
        id: String,
        what: String,
    },
    /// Its output maps the call to the subagent.
    Linked {
        call: String,
        id: String,
        what: String,
    },
    Ended {
        id: String,
    },
}

pub(super) fn handle_subagent(state: &LoopState, event: SubagentEvent) -> Vec<Decision> {
    let iteration = state.iteration;
    let spawns = &state.spawns;
    let started = |by, call, id, what| {
        let record = Record::SubagentStarted { iteration, by, call, id, what };
        if spawns.is_full() { Vec::new() } else { vec![Decision::Record(record)] }
    };
    match event {
        SubagentEvent::Asked { by, call, what } => handle_spawn_request(state, by, call, what),
        SubagentEvent::Began { id, .. } if spawns.is_at_work(&id) => Vec::new(),
        // The start does not name the parent: subagents start in the order in which they were allowed.
        SubagentEvent::Began { id, what } => {
            match spawns.find_by_id(&id).or_else(|| spawns.oldest_unstarted()) {
                Some(it) => started(it.by.clone(), it.call.clone(), id, what),
                None => started(None, None, id, what),
            }
        }
        SubagentEvent::Seen { by, id, what } => started(by, None, id, what),
        SubagentEvent::Linked { call, id, what } => {
            match (spawns.find_by_call(&call), spawns.find_by_id(&id)) {
                (Some(asked), _) if asked.id.as_ref() == Some(&id) => Vec::new(),
                (Some(asked), _) => started(asked.by.clone(), Some(call), id, what),
                (None, Some(_)) => Vec::new(),
                (None, None) => started(None, Some(call), id, what),
            }
        }
        SubagentEvent::Ended { id } if spawns.is_at_work(&id) => {
            vec![Decision::Record(Record::SubagentEnded { iteration, id })]
        }
        SubagentEvent::Ended { .. } => Vec::new(),
    }
}

fn handle_spawn_request(
    state: &LoopState,
    by: Option<String>,
    call: Option<String>,
    what: String,
) -> Vec<Decision> {
    let refused = refusal_reason(state, by.as_ref());
    let refuse = refused
        .clone()
        .map(|message| Effect::Refuse { code: RefusalReason::Conflict, message: message.into() });
    let is_recorded = refused.is_none() || state.spawns.refusals() < MAX_RECORDED_REFUSALS;
    let record = Record::SubagentAsked { iteration: state.iteration, by, call, what, refused };
    let recorded = is_recorded.then_some(Decision::Record(record));
    recorded.into_iter().chain(refuse.map(Decision::Effect)).collect()
}

/// Why another one may not start, in English words for the agent.
fn refusal_reason(state: &LoopState, by: Option<&String>) -> Option<String> {
    let SpawnSettings { budget, per_agent, depth, children } = state.spec.settings.spawns;
    let spawns = &state.spawns;
    let why = if state.stop.is_some() {
        "the loop is stopping".to_owned()
    } else if spawns.used >= budget {
        format!("the loop's budget, {}, is used up", counted(budget))
    } else if spawns.depth_below(by) > depth {
        format!("subagents may nest {depth} deep at most")
    } else if spawns.children(by) >= per_agent as usize {
        format!("one agent may start {} at most", counted(per_agent))
    } else if spawns.at_work() >= children as usize {
        format!("{} at most may be at work at the same time", counted(children))
    } else if spawns.is_full() {
        "there were too many in this iteration".to_owned()
    } else {
        return None;
    };
    Some(format!("not started: {why}. Do this part of the work yourself, without a subagent."))
}

fn counted(count: u32) -> String {
    Language::English.during(|| words::counted(u64::from(count), "subagent"))
}
