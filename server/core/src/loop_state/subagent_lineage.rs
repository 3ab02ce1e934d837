//! The tree of subagents: which agent started which, and how many there were.

use crate::journal::Record;
use serde::{Deserialize, Serialize};

/// Maximum number of subagents per iteration; more are neither kept nor allowed.
const MAX_KEPT: usize = 256;

/// The recorded state of all subagents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SubagentLineage {
    /// Allowed, or started without a question, so far in all iterations.
    pub used: u32,
    pub refused: u32,
    /// The greatest depth so far.
    pub depth: u32,
    /// The part of `used` in this iteration.
    pub in_iteration: u32,
    /// The subagents of this iteration, in the order in which they were allowed.
    pub agents: Vec<SubagentRecord>,
    /// The part of `refused` in this iteration.
    refusals: u32,
}

/// A subagent that was allowed or seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentRecord {
    /// Its parent; `None`: the agent itself.
    pub by: Option<String>,
    /// The id of the tool call that started it, if known.
    pub call: Option<String>,
    /// `None`: it was allowed and has not begun.
    pub id: Option<String>,
    pub what: String,
    /// 1: a subagent of the agent itself.
    pub depth: u32,
    pub over: bool,
}

impl SubagentRecord {
    fn of(by: Option<&String>, call: Option<&String>, what: &str) -> Self {
        let (by, call, what) = (by.cloned(), call.cloned(), what.to_owned());
        Self { by, call, id: None, what, depth: 0, over: false }
    }
}

impl SubagentLineage {
    /// No subagent of the last iteration is left, unless the same process continues.
    pub(crate) fn next_iteration(&mut self, same_process: bool) {
        (self.in_iteration, self.refusals) = (0, 0);
        self.agents.retain(|it| same_process && it.id.is_some() && !it.over);
    }

    pub(crate) fn apply_record(&mut self, record: &Record) {
        if let Record::SubagentAsked { by, call, what, refused, .. } = record {
            if refused.is_some() {
                self.record_refusal();
            } else {
                self.add(SubagentRecord::of(by.as_ref(), call.as_ref(), what));
            }
        } else if let Record::SubagentStarted { by, call, id, what, .. } = record {
            self.record_start(SubagentRecord {
                id: Some(id.clone()),
                ..SubagentRecord::of(by.as_ref(), call.as_ref(), what)
            });
        } else if let Record::SubagentEnded { id, .. } = record {
            self.record_end(id);
        }
    }

    fn record_refusal(&mut self) {
        self.refused = self.refused.saturating_add(1);
        self.refusals = self.refusals.saturating_add(1);
    }

    /// A start without a request counts as well. A known subagent may continue, or was mistaken for another.
    fn record_start(&mut self, begun: SubagentRecord) {
        let known = self.agents.iter().position(|it| it.id == begun.id && begun.id.as_deref() != Some(""));
        let asked = self.agents.iter().position(|it| match &begun.call {
            Some(_) => it.call == begun.call,
            None => it.id.is_none() && it.by == begun.by,
        });
        match (known, asked) {
            (Some(known), Some(asked)) if known != asked && begun.call.is_some() => {
                self.swap_identities(known, asked);
            }
            (Some(known), _) => self.change(known, |it| it.over = false),
            (None, Some(asked)) => self.change(asked, |it| (it.id, it.over) = (begun.id, false)),
            (None, None) => self.add(begun),
        }
    }

    fn record_end(&mut self, id: &str) {
        self.agents.iter_mut().filter(|it| it.id.as_deref() == Some(id)).for_each(|it| it.over = true);
    }

    /// The agent's process and all its descendants have ended.
    pub(crate) fn end_all(&mut self) {
        self.agents.iter_mut().for_each(|it| it.over = true);
    }

    /// Each was mistaken for the other.
    fn swap_identities(&mut self, one: usize, other: usize) {
        if let Ok([one, other]) = self.agents.get_disjoint_mut([one, other]) {
            std::mem::swap(&mut one.id, &mut other.id);
            std::mem::swap(&mut one.over, &mut other.over);
        }
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut SubagentRecord)) {
        if let Some(it) = self.agents.get_mut(at) {
            change(it);
        }
    }

    fn add(&mut self, mut agent: SubagentRecord) {
        self.used = self.used.saturating_add(1);
        self.in_iteration = self.in_iteration.saturating_add(1);
        agent.depth = self.depth_below(agent.by.as_ref());
        self.depth = self.depth.max(agent.depth);
        if !self.is_full() {
            self.agents.push(agent);
        }
    }

    pub(crate) fn depth_below(&self, by: Option<&String>) -> u32 {
        // A subagent whose start was not reported was started by the agent itself.
        by.map_or(0, |it| self.find_by_id(it).map_or(1, |it| it.depth)).saturating_add(1)
    }

    pub(crate) fn children(&self, by: Option<&String>) -> usize {
        self.agents.iter().filter(|it| it.by.as_ref() == by).count()
    }

    pub(crate) fn at_work(&self) -> usize {
        self.agents.iter().filter(|it| !it.over).count()
    }

    pub(crate) fn is_at_work(&self, id: &str) -> bool {
        self.find_by_id(id).is_some_and(|it| !it.over)
    }

    pub(crate) fn find_by_id(&self, id: &str) -> Option<&SubagentRecord> {
        self.agents.iter().find(|it| it.id.as_deref() == Some(id))
    }

    pub(crate) fn find_by_call(&self, call: &str) -> Option<&SubagentRecord> {
        self.agents.iter().find(|it| it.call.as_deref() == Some(call))
    }

    /// The oldest that was allowed and has not begun.
    pub(crate) fn oldest_unstarted(&self) -> Option<&SubagentRecord> {
        self.agents.iter().find(|it| it.id.is_none())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.agents.len() >= MAX_KEPT
    }

    pub(crate) fn refusals(&self) -> u32 {
        self.refusals
    }
}
