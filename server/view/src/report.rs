//! The report of a loop: criteria over iterations, budget, time, changes and decisions, as data for JSON and for the
//! pages in HTML and Markdown. All texts are sanitised here.

mod chart;
mod html;
mod markdown;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashMap;

use loopkeeper_agent::errors::Fingerprint;
use loopkeeper_core::check::Status;
use loopkeeper_core::decide::{self, Iteration, LoopState, mutants};
use loopkeeper_core::journal::{BreakerState, HollowTest, Outcome, PinnedCriterion, SurvivingMutant};
use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};
use serde::Serialize;

pub use self::html::html;
pub use self::markdown::markdown;
use crate::budget::budget;
use crate::editor::without_progress;
use crate::{DisplayPhase, LoopStatus, headline};

/// Limit of the criteria times the iterations, so that a page stays below a megabyte. Older iterations are left out.
const MAX_CELLS: usize = 20_000;
const MAX_ERRORS: usize = 20;
const TEXT_CHARS: usize = 300;

/// Shapes: durations in milliseconds, costs in millionths of a dollar.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopReport {
    pub loop_id: String,
    pub task: String,
    pub title: String,
    pub agent: String,
    pub started_at: String,
    /// Its outcome, or its current state.
    pub sentence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The used part of its limits, in one sentence.
    pub budget: String,
    pub limits: Vec<LimitShare>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<String>,
    pub time: TimeSplit,
    pub breaker: BreakerReport,
    pub criteria: Vec<CriterionHistory>,
    /// Number of the oldest iterations that the grid and the table leave out.
    pub omitted: usize,
    pub iterations: Vec<IterationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanProgress>,
    /// The errors of agents and their tools, the most frequent first.
    pub errors: Vec<ErrorCount>,
    pub decisions: Vec<String>,
    /// Faults in changed lines that no check notices, and added tests that notice none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_gaps: Vec<String>,
    pub warnings: Vec<String>,
    /// The user's judgement of the moment at which it ended, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitShare {
    pub name: &'static str,
    /// Percent, at most 100.
    pub percent: u64,
    pub text: String,
}

/// Where the time of the loop went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeSplit {
    pub agent_ms: u64,
    /// Checks, snapshots and everything else between two runs of the agent.
    pub checks_ms: u64,
    pub paused_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakerReport {
    pub state: BreakerState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub trips: u32,
    /// The iterations in a row without progress that open it.
    pub no_progress: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionHistory {
    pub name: String,
    pub required: bool,
    /// The status after each iteration of the report; `None`: not judged.
    pub cells: Vec<Option<Status>>,
    /// The last result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Status>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fact: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IterationReport {
    pub number: u32,
    pub agent: String,
    pub sentence: String,
    pub duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    pub files: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<String>,
    #[serde(rename = "takenBack")]
    pub rolled_back: bool,
    /// Iterations in a row without progress, up to this one.
    pub no_progress: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanProgress {
    pub done: usize,
    pub total: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorCount {
    pub text: String,
    pub count: usize,
}

/// The report of a loop with this state and status.
pub fn report(state: &LoopState, status: &LoopStatus) -> LoopReport {
    let columns = MAX_CELLS / state.criteria.pinned.len().max(1);
    let omitted = state.history.len().saturating_sub(columns.max(1));
    let title = if state.spec.title.is_empty() { &state.spec.task.0 } else { &state.spec.title };
    LoopReport {
        loop_id: state.spec.loop_id.clone(),
        task: sanitize::line(&state.spec.task.0),
        title: sanitize::line(title),
        agent: sanitize::line(&state.spec.agent.name),
        started_at: words::rfc3339(state.time.started_at.wall),
        sentence: sentence(state, status),
        outcome: state.outcome().cloned().map(|it| Outcome { sentence: it.sentence.map_parts(line), ..it }),
        budget: budget(status, Some(state), state.time.last_at),
        limits: limit_shares(state),
        forecast: status.forecast.clone().filter(|_| state.outcome().is_none()),
        time: time_split(state),
        breaker: BreakerReport {
            state: state.breaker.state,
            reason: state.breaker.reason.as_deref().map(line),
            trips: state.breaker.trips,
            no_progress: state.spec.settings.breaker.no_progress,
        },
        criteria: criteria(state, omitted),
        omitted,
        iterations: iterations(state, omitted),
        plan: (!state.plan.is_empty()).then(|| PlanProgress {
            done: state.plan.iter().filter(|it| it.done).count(),
            total: state.plan.len(),
        }),
        errors: errors(state),
        decisions: decide::decisions(state).into_iter().map(line).collect(),
        test_gaps: test_gaps(state),
        warnings: status.warnings.iter().map(|it| line(it)).collect(),
        feedback: state.feedback.as_ref().map(|it| line(&it.sentence())),
    }
}

fn test_gaps(state: &LoopState) -> Vec<String> {
    let Some(run) = mutants::current(state) else { return Vec::new() };
    let all = run.survivors.iter().map(SurvivingMutant::sentence);
    all.chain(run.hollow.iter().map(HollowTest::sentence)).map(|it| line(&it)).collect()
}

fn line(text: &str) -> String {
    sanitize::line_within(text, TEXT_CHARS)
}

fn sentence(state: &LoopState, status: &LoopStatus) -> String {
    if status.phase == DisplayPhase::Damaged {
        return tr!("The journal is damaged: what follows may be incomplete or changed").to_owned();
    }
    let text = match state.outcome() {
        Some(outcome) => outcome.sentence.to_string(),
        None => headline(status).fact().to_owned(),
    };
    words::capitalised(&line(&text))
}

/// `2026-11-20 14:03 UTC` of an RFC 3339 time: a page without a script cannot determine the reader's time zone.
fn minute(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(clock)) => format!("{day} {clock} UTC"),
        _ => time.to_owned(),
    }
}

fn limit_shares(state: &LoopState) -> Vec<LimitShare> {
    let limits = &state.spec.settings.limits;
    let elapsed = state.elapsed_ms(state.time.last_at);
    let (used, cost) = (u64::from(state.iteration), state.spent.cost_micros);
    let share = |name, used: u64, limit: u64, text: String| LimitShare {
        name,
        percent: used.saturating_mul(100).checked_div(limit).unwrap_or(100).min(100),
        text,
    };
    let iterations = u64::from(limits.iterations);
    let mut all = vec![
        share(tr!("Iterations"), used, iterations, tr!("{used} of {limit}", used, limit = iterations)),
        share(
            tr!("Time"),
            elapsed,
            limits.duration_ms,
            tr!(
                "{used} of {limit}",
                used = words::duration(elapsed),
                limit = words::duration(limits.duration_ms)
            ),
        ),
    ];
    all.extend(cost.map(|cost| {
        let text =
            tr!("{used} of {limit}", used = words::cost(cost), limit = words::cost(limits.cost_micros));
        share(tr!("Cost"), cost, limits.cost_micros, text)
    }));
    all.extend(state.spent.tokens.zip(limits.tokens).map(|(used, limit)| {
        share(
            tr!("Tokens"),
            used,
            limit,
            tr!("{used} of {limit}", used = words::amount(used), limit = words::amount(limit)),
        )
    }));
    all
}

fn time_split(state: &LoopState) -> TimeSplit {
    let agent_ms = state.history.outlines().map(|it| it.figures.duration_ms).fold(0, u64::saturating_add);
    TimeSplit {
        agent_ms,
        checks_ms: state.time.worked_ms.saturating_sub(agent_ms),
        paused_ms: state.time.paused_ms,
    }
}

fn criteria(state: &LoopState, omitted: usize) -> Vec<CriterionHistory> {
    let of = |pinned: &PinnedCriterion| {
        let id = &pinned.criterion.id;
        let last = state.criteria.results.get(id);
        let judged = state.history.outlines().skip(omitted).map(|it| it.status_of(id));
        let cells = judged.map(|it| it.filter(|it| *it != Status::Unverified)).collect();
        CriterionHistory {
            name: line(&pinned.criterion.name),
            required: pinned.criterion.required,
            cells,
            now: last.map(|it| it.status).filter(|_| pinned.criterion.check.is_some()),
            fact: last.filter(|it| it.status != Status::Pass).map(|it| line(&it.fact)).unwrap_or_default(),
        }
    };
    state.criteria.pinned.iter().map(of).collect()
}

fn iterations(state: &LoopState, omitted: usize) -> Vec<IterationReport> {
    let of = |(it, no_progress): (Cow<'_, Iteration>, u32)| IterationReport {
        number: it.number,
        agent: line(&it.agent),
        sentence: line(&it.sentence),
        duration_ms: it.duration_ms,
        cost_micros: it.cost_micros,
        tokens: it.tokens,
        files: it.changes.count,
        lines: it.changes.lines.map(|it| it.added.saturating_add(it.removed)),
        commits: it.commits.iter().map(|it| line(it)).collect(),
        milestones: it.milestones.iter().map(|it| line(it)).collect(),
        rolled_back: it.rolled_back,
        no_progress,
    };
    let counts = without_progress(state).into_iter().skip(omitted);
    state.history.rows_from(omitted).zip(counts).map(of).collect()
}

/// Counts errors by fingerprint, each with the text of its last occurrence.
fn errors(state: &LoopState) -> Vec<ErrorCount> {
    let mut counts: HashMap<Fingerprint, ErrorCount> = HashMap::new();
    for seen in state.history.recent().iter().flat_map(|it| &it.errors) {
        let count =
            counts.entry(seen.fingerprint.clone()).or_insert(ErrorCount { text: String::new(), count: 0 });
        count.count += 1;
        count.text = line(&seen.text);
    }
    let mut all: Vec<ErrorCount> = counts.into_values().collect();
    all.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.text.cmp(&right.text)));
    all.truncate(MAX_ERRORS);
    all
}
