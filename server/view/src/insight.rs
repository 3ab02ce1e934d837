//! Cost and results of loops: figures over the journals of many loops, as data for JSON, a table and a page. The cost
//! of failed loops is included; every figure comes with its denominators.

mod figures;
mod html;
mod loop_facts;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

pub use self::figures::{FeedbackFigures, IterationTotals, LoopFigures, ResultFigures};
pub use self::html::html;
pub use self::loop_facts::{IterationFacts, IterationResult, LoopFacts};
pub use self::table::table;

use self::figures::GroupCollector;

/// The group of the iterations whose model no agent reported.
const UNKNOWN_MODEL: &str = "unknown";
/// Groups of one kind that are listed separately; the others count in the totals only.
const MAX_GROUPS: usize = 200;
const MAX_LEFT_OUT: usize = 100;

/// Shapes: times in milliseconds, costs in millionths of a dollar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Insight {
    /// Loops that started earlier are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    pub total: LoopFigures,
    pub agents: Vec<LoopFigures>,
    pub models: Vec<LoopFigures>,
    pub projects: Vec<LoopFigures>,
    pub iterations: IterationTotals,
    /// The user's judgements of the moments at which loops ended.
    pub feedback: FeedbackFigures,
    /// Loops whose journals cannot be read: they are in no figure. The first 100.
    pub left_out: Vec<SkippedLoop>,
    pub left_out_count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedLoop {
    pub loop_id: String,
    pub why: String,
}

/// Adds up loops, one after the other.
#[derive(Debug, Default)]
pub struct InsightBuilder {
    total: GroupCollector,
    agents: BTreeMap<String, GroupCollector>,
    models: BTreeMap<String, GroupCollector>,
    projects: BTreeMap<String, GroupCollector>,
    iterations: IterationTotals,
    feedback: FeedbackFigures,
    left_out: Vec<SkippedLoop>,
    left_out_count: u64,
}

impl InsightBuilder {
    pub fn add(&mut self, facts: &LoopFacts) {
        self.total.add_loop(facts);
        if let Some(group) = group(&mut self.projects, &facts.project) {
            group.add_loop(facts);
        }
        for (groups, name) in [
            (&mut self.agents, (|it| it.agent.as_str()) as fn(&IterationFacts) -> &str),
            (&mut self.models, |it| it.model.as_deref().unwrap_or(UNKNOWN_MODEL)),
        ] {
            for part in figures::parts_of(facts, name) {
                if let Some(group) = group(groups, part.name) {
                    group.add_part(facts, &part);
                }
            }
        }
        self.iterations.add(facts);
        self.feedback.add(facts.feedback);
    }

    pub fn leave_out(&mut self, loop_id: &str, why: String) {
        self.left_out_count += 1;
        if self.left_out.len() < MAX_LEFT_OUT {
            self.left_out.push(SkippedLoop { loop_id: loop_id.to_owned(), why });
        }
    }

    /// `since`: in RFC 3339.
    pub fn finish(self, since: Option<String>) -> Insight {
        let named = |groups: BTreeMap<String, GroupCollector>| {
            let mut all: Vec<LoopFigures> =
                groups.into_iter().map(|(name, it)| it.finish(Some(name))).collect();
            all.sort_by_key(|it| std::cmp::Reverse((it.cost_micros, it.loops)));
            all
        };
        Insight {
            since,
            total: self.total.finish(None),
            agents: named(self.agents),
            models: named(self.models),
            projects: named(self.projects),
            iterations: self.iterations.with_shares(),
            feedback: self.feedback,
            left_out: self.left_out,
            left_out_count: self.left_out_count,
        }
    }
}

fn group<'a>(groups: &'a mut BTreeMap<String, GroupCollector>, name: &str) -> Option<&'a mut GroupCollector> {
    let is_known = groups.contains_key(name);
    (is_known || groups.len() < MAX_GROUPS).then(|| groups.entry(name.to_owned()).or_default())
}
