//! Weakenings that a final verdict finds: judges without whose change a check fails, and patched packages.

use crate::check::{CheckResult, Location, Status};
use crate::decide::weakening::decreased_test_count;
use crate::journal::{PinnedCriterion, Role, Round, Weakening};
use crate::loop_state::LoopState;
use crate::tamper::judge_files::ChangedJudge;
use loopkeeper_text::tr;
use loopkeeper_text::words::counted;

use super::{MAX_NAMED, UnrecordedInputs, all_required_pass, ran_tests_at_start};

/// The weakenings after the verdict: the judges without whose change a check fails, and those that the verdict does not
/// cover.
pub(super) fn weakened_by(
    state: &LoopState,
    pinned: Option<&Round>,
    judges: &[ChangedJudge],
) -> Vec<Weakening> {
    let mut all: Vec<Weakening> = Vec::new();
    for result in pinned.into_iter().flat_map(|it| &it.results) {
        let Some(failure) = failure_with_pinned(state, result, judges) else { continue };
        for judge in involved_judges(result, judges) {
            if all.iter().all(|it| it.path != judge.path) {
                all.push(weakened_judge(state, judge, result, &failure));
            }
        }
    }
    // The rules for text say nothing about a judge without whose change everything passes.
    let all_pass = pinned.is_some_and(|it| !it.results.is_empty() && all_required_pass(state, it));
    let is_covered =
        |it: &Weakening| all_pass && (it.path.is_empty() || judges.iter().any(|judge| judge.path == it.path));
    let is_repeated = |it: &Weakening, judged: &Weakening| {
        judged.path == it.path || (it.path.is_empty() && judged.criterion == it.criterion)
    };
    let rest = state.weakening.weakened.iter().filter(|it| !it.by_verdict && !is_covered(it));
    let rest: Vec<_> = rest.filter(|it| !all.iter().any(|judged| is_repeated(it, judged))).cloned().collect();
    all.extend(rest);
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

fn weakened_judge(state: &LoopState, judge: &ChangedJudge, result: &CheckResult, failure: &str) -> Weakening {
    let old = state.weakening.weakened.iter().find(|it| it.path == judge.path);
    // The rules for text describe a change that they found more precisely.
    let change = old.filter(|it| !it.by_verdict).map_or_else(|| describe_change(judge), |it| it.what.clone());
    let what = if judge.is_new {
        tr!("{change}, and without it {failure}", change, failure)
    } else {
        tr!("{change}, and with its version of the start {failure}", change, failure)
    };
    Weakening {
        path: judge.path.clone(),
        what,
        criterion: Some(result.criterion.clone()),
        since: old.map_or(state.iteration, |it| it.since),
        by_verdict: true,
    }
}

fn describe_change(judge: &ChangedJudge) -> String {
    let path = &judge.path;
    if judge.is_new { tr!("{path} is new", path) } else { tr!("{path} changed", path) }
}

/// The failure of a check with the judges of the start, as a clause; `None` if it is no evidence.
fn failure_with_pinned(state: &LoopState, result: &CheckResult, judges: &[ChangedJudge]) -> Option<String> {
    let name = state.criteria.pinned.iter().find(|it| it.criterion.id == result.criterion);
    let name = name.map_or(tr!("a check"), |it| it.criterion.name.as_str());
    if let Some((ran, before)) = decreased_test_count(state, result) {
        let tests = counted(ran, "test");
        return Some(tr!("\"{name}\" runs {tests}, {before} at the start", name, tests, before));
    }
    let is_required = state.required().any(|it| it.criterion.id == result.criterion);
    let has_failed = !matches!(result.status, Status::Pass | Status::Unverified);
    if !is_required || !has_failed || has_only_new_judges(state, result, judges) {
        return None;
    }
    // The work may have renamed names that the tests use. Then the rules for text decide.
    let is_suspect =
        state.weakening.weakened.iter().any(|it| judges.iter().any(|judge| judge.path == it.path));
    if is_unable_to_run(result) && !is_suspect {
        return None;
    }
    Some(tr!("\"{name}\" fails: {fact}", name, fact = result.fact))
}

/// A goal that ran no test at the start, and judges that were only added: nothing of the start judges it.
fn has_only_new_judges(state: &LoopState, result: &CheckResult, judges: &[ChangedJudge]) -> bool {
    let is_goal = |it: &PinnedCriterion| it.criterion.id == result.criterion && it.role == Role::Goal;
    !ran_tests_at_start(state, &result.criterion)
        && judges.iter().all(|it| it.is_new && !it.replaces_other)
        && state.criteria.pinned.iter().any(is_goal)
}

/// The tests do not compile or import any more, which is no failed assertion.
fn is_unable_to_run(result: &CheckResult) -> bool {
    const LOAD_ERRORS: [&str; 9] = [
        "ImportError",
        "ModuleNotFoundError",
        "AttributeError",
        "error[E0",
        "cannot find module",
        "Cannot find module",
        "is not a function",
        "undefined: ",
        "is not exported",
    ];
    let excerpts = [&result.head, &result.tail];
    LOAD_ERRORS.iter().any(|sign| excerpts.iter().any(|it| it.contains(sign)))
        || result.locations.iter().any(|it| LOAD_ERRORS.iter().any(|sign| it.message.contains(sign)))
}

/// The judges that the failure names, otherwise the first ones.
fn involved_judges<'a>(result: &CheckResult, judges: &'a [ChangedJudge]) -> Vec<&'a ChangedJudge> {
    let named = |it: &&ChangedJudge| {
        let is_at = |place: &Location| names_path(&place.file, &it.path);
        let is_in = |text: &str| names_path(text, &it.path);
        result.locations.iter().any(is_at) || is_in(&result.head) || is_in(&result.tail)
    };
    let found: Vec<_> = judges.iter().filter(named).take(MAX_NAMED).collect();
    if found.is_empty() { judges.iter().take(MAX_NAMED).collect() } else { found }
}

/// Whether the text contains the path, from the root or as the end of a longer path.
fn names_path(text: &str, path: &str) -> bool {
    let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    text.match_indices(path).any(|(at, _)| {
        let (before, after) =
            (text.get(..at).unwrap_or_default(), text.get(at + path.len()..).unwrap_or_default());
        let continues = after.strip_prefix('.').unwrap_or(after).starts_with(is_of_name);
        !before.ends_with(|it| is_of_name(it) || it == '.') && !continues
    })
}

/// Files of installed packages that changed, unless the user accepted them.
pub(super) fn patched_files<'a>(
    state: &'a LoopState,
    inputs: &'a UnrecordedInputs,
) -> impl Iterator<Item = Weakening> + 'a {
    let weakening = |path: &String| {
        let old = state.weakening.weakened.iter().find(|it| it.path == *path);
        Weakening {
            path: path.clone(),
            what: tr!("{path} was changed, and its package was not installed again", path),
            criterion: None,
            since: old.map_or(state.iteration, |it| it.since),
            by_verdict: true,
        }
    };
    let is_open = |it: &&String| !state.weakening.pins.contains_key(*it);
    inputs.patched.iter().filter(is_open).take(MAX_NAMED).map(weakening)
}

#[cfg(test)]
mod tests {
    use super::names_path;

    #[test]
    fn a_path_is_named_by_whole_components() {
        let check = |text: &str, expect: bool| {
            assert_eq!(names_path(text, "tests/a.py"), expect, "{text}");
        };
        check("tests/a.py", true);
        check("FAILED ./tests/a.py::test_sum", true);
        check("File \"/work/room/tests/a.py\", line 3", true);
        check("see tests/a.py.", true);
        check("tests/a.py:3", true);
        check("mytests/a.py", false);
        check("api-tests/a.py:3", false);
        check("tests/a.pyc", false);
        check("tests/a.py.bak", false);
        check("tests/a.py-old tests/a.py", true);
    }
}
