//! The keeper's log about the loop: a span for each iteration, an event for each record. Texts of agents, prompts and
//! values of variables are not logged; the journal holds what may be stored of them.

use loopkeeper_agent::AgentRun;
use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::journal::{Entry, Record, Round};
use tracing::span::EnteredSpan;
use tracing::{Span, debug, info, warn_span};

/// The span of the current iteration.
pub(super) struct IterationSpan {
    number: u32,
    span: Span,
}

impl IterationSpan {
    pub(super) fn new(number: u32) -> Self {
        // At warning level, so that every warning names its iteration.
        Self { number, span: warn_span!("iteration", number) }
    }

    /// Enters the span of this iteration.
    pub(super) fn enter(&mut self, number: u32) -> EnteredSpan {
        if number != self.number {
            *self = Self::new(number);
        }
        self.span.clone().entered()
    }
}

/// Logs loop events at level `info`, all other records at `debug`.
pub(super) fn log_record(entry: &Entry) {
    let seq = entry.seq;
    match &entry.record {
        Record::IterationIntended { resumed, calls_this_hour, .. } => {
            info!(seq, resumed, calls_this_hour, "iteration started");
        }
        Record::IterationEnded { changes, .. } => info!(seq, files = changes.count, "iteration ended"),
        Record::AgentStarted { pid, agent_pid, domain, .. } => {
            info!(seq, pid, agent_pid, domain, "agent started");
        }
        Record::AgentEnded { run, .. } => log_agent_end(seq, run),
        Record::SnapshotTaken { when, tree, .. } => debug!(seq, ?when, tree, "snapshot taken"),
        Record::ChecksDone { round, .. } => log_round(seq, round),
        Record::Baseline { round: Some(round), .. } => log_round(seq, round),
        Record::BreakerChanged { state, cause, trips, cooldown_ms, .. } => {
            info!(seq, ?state, ?cause, trips, cooldown_ms, "breaker changed");
        }
        Record::Waiting { reason, .. } => info!(seq, ?reason, "waiting"),
        Record::Paused { reason, message } => info!(seq, ?reason, cause = message.to_string(), "paused"),
        Record::Resumed {} => info!(seq, "resumed"),
        Record::Stopping { now } => info!(seq, now, "stopping"),
        Record::Recovered { interrupted, .. } => info!(seq, interrupted, "taken over by this keeper"),
        Record::Ended { outcome } => {
            info!(seq, outcome = ?outcome.kind, verified = outcome.verified, "loop ended");
        }
        _ => debug!(seq, "recorded"),
    }
}

fn log_agent_end(seq: u64, run: &AgentRun) {
    let AgentRun { ending, exit, signal, duration_ms, tokens, cost_micros, .. } = run;
    let error = run.error.as_ref().map(|it| tracing::field::debug(it.class));
    info!(seq, ?ending, exit, signal, duration_ms, tokens, cost_micros, error, "agent ended");
}

fn log_round(seq: u64, round: &Round) {
    let results = round.results.len();
    let passed = round.results.iter().filter(|it| it.status == Status::Pass).count();
    info!(seq, results, passed, is_steady = round.tree_before == round.tree_after, "checks done");
}

/// Logs a result within the span of the check.
pub(super) fn log_check(result: &CheckResult) {
    let CheckResult { status, exit, signal, duration_ms, .. } = result;
    debug!(?status, exit, signal, duration_ms, "checked");
}
