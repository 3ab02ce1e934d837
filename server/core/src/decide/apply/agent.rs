//! Applies records of the agent's process: start, end of a turn, hold, exit and cost.

use crate::journal::PauseReason;
use crate::loop_state::{AgentHold, LoopState, Phase, SessionIdOwner};
use loopkeeper_agent::errors::{FingerprintedError, fingerprint};
use loopkeeper_agent::{AgentEnding, AgentExited, AgentRun};
use loopkeeper_text::moment::Moment;

pub(super) fn apply_agent_start(state: &mut LoopState, started: u32, holds: Option<u32>) {
    state.reported.attempts.agent = Some(started);
    state.agents.hold.holds_left = holds;
    if let Phase::Iterating(agent) = &mut state.phase {
        agent.pid = Some(started);
    }
}

pub(super) fn apply_agent_run(state: &mut LoopState, at: Moment, iteration: u32, run: &AgentRun) {
    state.enter(Phase::Closing);
    state.questions.discard_permission();
    state.agents.hold.is_held = run.ending == AgentEnding::Held;
    if !state.agents.hold.is_held {
        state.spawns.end_all();
    }
    add_reported(&mut state.spent.cost_micros, run.cost_micros);
    add_reported(&mut state.spent.tokens, run.tokens);
    state.models.record(iteration, run.model.as_deref());
    if let Some(row) = state.history.last_mut() {
        row.duration_ms = at.ms_since(row.started_at);
        row.cost_micros = run.cost_micros;
        row.tokens = run.tokens;
        row.ending = Some(run.ending);
        row.error.clone_from(&run.error);
        row.denials = run.denials;
        row.denied.clone_from(&run.denied);
        row.closed_paths.clone_from(&run.closed_paths);
        row.read_only_paths.clone_from(&run.read_only_paths);
        row.closed_hosts.clone_from(&run.closed_hosts);
        row.program_missing = run.program_missing;
        row.session_lost = row.resumed && run.session_lost;
        state.session.record_run(at, (&row.session, SessionIdOwner::of(&state.spec.agent)), run);
        row.final_text.clone_from(&run.final_text);
        row.tools.clone_from(&run.tools);
        row.commands.clone_from(&run.commands);
        row.errors.clone_from(&run.errors);
        // A failure without an error in the output is compared by its message.
        if let Some(error) = row.error.clone().filter(|_| row.errors.is_empty() && row.failed_by_itself()) {
            row.errors
                .push(FingerprintedError { fingerprint: fingerprint(&error.message), text: error.message });
        }
        row.output_bytes = run.output_bytes;
    }
}

/// The cost is reported at exit only, for all iterations of the process together.
pub(super) fn apply_agent_exit(state: &mut LoopState, left: &AgentExited) {
    state.agents.hold.is_held = false;
    state.spawns.end_all();
    add_reported(&mut state.spent.cost_micros, left.cost_micros);
    add_reported(&mut state.spent.tokens, left.tokens);
    if let Some(row) = state.history.last_mut() {
        add_reported(&mut row.cost_micros, left.cost_micros);
        add_reported(&mut row.tokens, left.tokens);
    }
}

pub(super) fn apply_session_join(
    state: &mut LoopState,
    at: Moment,
    (session, holds, tokens): (&str, u32, Option<u64>),
) {
    state.agents.hold = AgentHold { is_held: true, holds_left: Some(holds) };
    state.session.record_join(session, tokens, at);
    state.pause.take_if(|it| it.reason == PauseReason::Session);
}

/// Whether the agent could still change files. An attached session cannot be ended, so the end of its turn is sufficient.
pub(super) fn can_change_files(state: &LoopState) -> bool {
    state.agents.hold.is_held && !state.is_attached()
}

fn add_reported(sum: &mut Option<u64>, reported: Option<u64>) {
    if let Some(reported) = reported {
        *sum = Some(sum.unwrap_or(0).saturating_add(reported));
    }
}
