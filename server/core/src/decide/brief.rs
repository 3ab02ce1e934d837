//! What the loop tells the agent before an iteration, and people after it.

use crate::agent::AgentEnding;
use crate::check::Status;
use crate::journal::{Changes, Round};
use crate::moment::Moment;
use crate::prompt::{self, Budget, Last, PromptInput};
use crate::task::CriterionId;

use super::Reading;
use super::state::Loop;

/// The next iteration's prompt.
pub(super) fn prompt(state: &Loop, reading: &Reading, now: Moment) -> String {
    let limits = &state.spec.settings.limits;
    let iteration = state.iteration + 1;
    let budget = Budget {
        iterations: limits.iterations.saturating_sub(iteration),
        duration_ms: limits.duration_ms.saturating_sub(state.elapsed_ms(now)),
        cost_micros: state.spent.cost_micros.map(|spent| limits.cost_micros.saturating_sub(spent)),
    };
    let last = state.last_iteration().map(|row| Last {
        changes: &row.changes,
        claim: row.claim,
        cut_short: row.interrupted || row.ending.is_some_and(|it| it != AgentEnding::Exited),
    });
    let passed = |(id, status): &(CriterionId, Status)| (*status == Status::Pass).then(|| id.clone());
    prompt::build(&PromptInput {
        task: &reading.prompt,
        iteration,
        budget,
        pinned: &state.pinned,
        results: &state.results,
        passed_before: &state.history.iter().flat_map(|it| &it.row).filter_map(passed).collect(),
        last,
        plan: &reading.plan,
        steering: &state.steering,
        context: &reading.context,
        proposed: &state.proposed,
        promise: &state.spec.promise,
        claim_wanted: state.spec.anyway,
    })
}

/// One sentence on the iteration that just ended.
pub(super) fn sentence(state: &Loop, changes: &Changes, round: Option<&Round>) -> String {
    let work = match (changes.count, changes.committed) {
        (0, false) => "nothing changed".to_owned(),
        (0, true) => "committed".to_owned(),
        (1, _) => "1 file changed".to_owned(),
        (n, _) => format!("{n} files changed"),
    };
    let row = state.last_iteration();
    let end = if row.is_some_and(|it| it.interrupted) {
        "interrupted, ".to_owned()
    } else if let Some(error) = row.and_then(|it| it.error.as_ref()) {
        format!("agent failed ({}), ", error.message)
    } else {
        String::new()
    };
    let Some(round) = round else { return format!("{end}{work}, checks not needed") };
    let checked = || round.results.iter().filter(|it| it.status != Status::Unverified);
    let passed = checked().filter(|it| it.status == Status::Pass).count();
    match checked().count() {
        0 => format!("{end}{work}"),
        total => format!("{end}{work}, {passed} of {total} pass"),
    }
}
