//! The basis of a final verdict, as the end of the loop's sentence.

use super::{MAX_NAMED, TestOrder, UnrecordedInputs, cannot_run_old};
use crate::check::test_inventory::is_test_path;
use crate::decide::LoopState;
use crate::journal::{CopiedTree, Round};
use crate::tamper::judge_files::ChangedJudge;
use loopkeeper_text::words::counted;

/// `2 test files changed, the checks pass with the old ones too`
pub(super) fn describe_basis(state: &LoopState, pinned: Option<&Round>, judges: &[ChangedJudge]) -> String {
    let Some(pinned) = pinned else { return String::new() };
    let only_tests = judges.iter().all(|it| is_test_path(&it.path));
    let noun = if only_tests { "test file" } else { "test or configuration file" };
    let files = counted(judges.len() as u64, noun);
    if judges.iter().all(|it| it.is_new) {
        return format!("{files} added");
    }
    let (old, them) = if judges.len() == 1 { ("old one", "it") } else { ("old ones", "them") };
    if cannot_run_old(state, Some(pinned), judges) {
        format!("{files} changed, and the checks cannot run with the {old}: review {them}")
    } else {
        format!("{files} changed, the checks pass with the {old} too")
    }
}

/// `needs dist/app.js, which git ignores, as the agent left it`
pub(super) fn describe_unrecorded(inputs: &UnrecordedInputs) -> String {
    let mut parts = Vec::new();
    if !inputs.needed.is_empty() {
        let files = list_some(&inputs.needed);
        parts.push(format!("the checks need {files}, which git ignores, as the agent left them"));
    }
    if inputs.needs_home {
        parts.push("the checks need files of the home folder".to_owned());
    }
    if !inputs.programs.is_empty() {
        parts.push(format!("changed during the loop: {}", list_some(&inputs.programs)));
    }
    if !inputs.unstored.is_empty() {
        let files = list_some(&inputs.unstored);
        parts.push(format!("could not be judged, because it changed and is too large to be stored: {files}"));
    }
    if inputs.is_partial {
        parts.push(
            "could not be judged, because too many ignored files changed to compare all of them".to_owned(),
        );
    }
    parts.join("; ")
}

/// `"Tests" depends on the order of tests or sets: it fails with PYTHONHASHSEED=7`
pub(super) fn describe_order(order: &TestOrder) -> String {
    let seeds = order.seeds.join(" and ");
    let one =
        |name: &String| format!("\"{name}\" depends on the order of tests or sets: it fails with {seeds}");
    order.dependent.iter().take(MAX_NAMED).map(one).collect::<Vec<_>>().join("; ")
}

/// `judged in a copy at another path`
pub(super) fn describe_copy(copied: &CopiedTree) -> String {
    let open = if copied.is_writable && !copied.linked.is_empty() {
        format!(", where checks could write to {} of the work tree", list_some(&copied.linked))
    } else {
        String::new()
    };
    format!("judged in a copy at another path{open}")
}

fn list_some(paths: &[String]) -> String {
    let shown = paths.get(..MAX_NAMED).unwrap_or(paths).join(", ");
    match paths.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
