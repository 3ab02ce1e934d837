//! What the loop tells the agent before an iteration, and people after it.

use crate::check::Status;
use crate::journal::{Changes, Round};
use crate::moment::Moment;

use super::Reading;
use super::state::Loop;

/// The next iteration's prompt.
pub(super) fn prompt(state: &Loop, reading: &Reading, _now: Moment) -> String {
    format!("{}\n\n{}", reading.prompt, state.iteration + 1)
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
