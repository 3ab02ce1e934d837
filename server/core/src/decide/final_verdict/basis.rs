//! The basis of a final verdict, as the end of the loop's sentence.

use super::{MAX_NAMED, TestOrder, UnrecordedInputs, cannot_run_old};
use crate::decide::LoopState;
use crate::journal::{CleanRoomCopy, Round};
use crate::tamper::judge_files::ChangedJudge;
use loopkeeper_source::test_inventory::is_test_path;
use loopkeeper_text::clauses::{list, list_within};
use loopkeeper_text::tr;
use loopkeeper_text::words::counted;

/// `2 test files changed, the checks pass with the old ones too`
pub(super) fn describe_basis(
    state: &LoopState,
    pinned: Option<&Round>,
    judges: &[ChangedJudge],
) -> Option<String> {
    let pinned = pinned?;
    let only_tests = judges.iter().all(|it| is_test_path(&it.path));
    let count = judges.len() as u64;
    let files =
        if only_tests { counted(count, "test file") } else { counted(count, "test or configuration file") };
    if judges.iter().all(|it| it.is_new) {
        return Some(tr!("{files} added", files));
    }
    Some(match (cannot_run_old(state, Some(pinned), judges), count) {
        (true, 1) => tr!("{files} changed, and the checks cannot run with the old one: review it", files),
        (true, _) => tr!("{files} changed, and the checks cannot run with the old ones: review them", files),
        (false, 1) => tr!("{files} changed, the checks pass with the old one too", files),
        (false, _) => tr!("{files} changed, the checks pass with the old ones too", files),
    })
}

/// `needs dist/app.js, which git ignores, as the agent left it`
pub(super) fn describe_unrecorded(inputs: &UnrecordedInputs) -> Vec<String> {
    let mut parts = Vec::new();
    if !inputs.needed.is_empty() {
        let files = list_within(&inputs.needed, MAX_NAMED);
        parts.push(tr!("the checks need {files}, which git ignores, as the agent left them", files));
    }
    if !inputs.unlisted.is_empty() {
        let files = list_within(&inputs.unlisted, MAX_NAMED);
        parts.push(tr!(
            "the checks need {files}, which the tree does not hold: ignored since the start, or listed in no manifest",
            files
        ));
    }
    if inputs.needs_home {
        parts.push(tr!("the checks need files of the home folder").to_owned());
    }
    if !inputs.programs.is_empty() {
        let programs = list_within(&inputs.programs, MAX_NAMED);
        parts.push(tr!("changed during the loop: {programs}", programs));
    }
    if !inputs.hidden_from_clean.is_empty() {
        let files = list_within(&inputs.hidden_from_clean, MAX_NAMED);
        parts.push(tr!("`clean` did not see {files}, which git ignores by rules outside the tree", files));
    }
    if !inputs.of_judge.is_empty() {
        let programs = list_within(&inputs.of_judge, MAX_NAMED);
        parts.push(tr!("the agent that answered `judge` is new since the start: {programs}", programs));
    }
    if !inputs.unstored.is_empty() {
        let files = list_within(&inputs.unstored, MAX_NAMED);
        parts.push(tr!(
            "could not be judged, because it changed and is too large to be stored: {files}",
            files
        ));
    }
    if !inputs.left_outside.is_empty() {
        let files = list_within(&inputs.left_outside, MAX_NAMED);
        parts.push(tr!(
            "the checks need files created outside the work tree since the start, one of: {files}",
            files
        ));
    }
    if inputs.outside.is_partial {
        parts.push(
            tr!("could not be judged, because too much is new outside the work tree to hide it").to_owned(),
        );
    }
    if inputs.is_partial {
        parts.push(
            tr!("could not be judged, because too many ignored files changed to compare all of them")
                .to_owned(),
        );
    }
    parts
}

/// `"Tests" depends on the order of tests or sets: it fails with PYTHONHASHSEED=7`
pub(super) fn describe_order(order: &TestOrder) -> Vec<String> {
    let seeds = match order.seeds.as_slice() {
        [seeds @ .., last] if !seeds.is_empty() => {
            tr!("{list} and {last}", list = list(seeds), last)
        }
        one => one.concat(),
    };
    let one = |name: &String| {
        tr!("\"{name}\" depends on the order of tests or sets: it fails with {seeds}", name, seeds)
    };
    order.dependent.iter().take(MAX_NAMED).map(one).collect()
}

/// `judged in a copy at another path`
pub(super) fn describe_copy(copied: &CleanRoomCopy) -> String {
    if copied.is_writable && !copied.linked.is_empty() {
        let files = list_within(&copied.linked, MAX_NAMED);
        tr!("judged in a copy at another path, where checks could write to {files} of the work tree", files)
    } else {
        tr!("judged in a copy at another path").to_owned()
    }
}
