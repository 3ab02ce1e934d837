//! Runs the detected commands once before they are written, to find criteria that cannot run or already hold. The
//! commands run like the checks of the new task, and only after they are trusted.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_task::criterion::Check;
use loopkeeper_task::{TaskDocument, TaskId, parse_task};
use loopkeeper_text::{sanitize, tr, words};

use super::template::{self, TemplateLocation};
use crate::ask;
use crate::check::run_checks;
use crate::failure::{self, Failure};
use crate::render::table;
use crate::trust::TrustConsent;
use loopkeeper_operations::failure::FailureKind;
use loopkeeper_operations::project_checks::{FoundCheck, MissingTool, ProposedChecks};
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_system::task_files::{self, LoadedTask};

const FACT_CHARS: usize = 80;

/// The result of a tried command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckTrial {
    pub(super) command: String,
    status: Status,
    /// `pass · 12 tests · 3.1 s`
    pub(super) sentence: String,
}

impl CheckTrial {
    fn new(command: &str, result: &CheckResult) -> Self {
        let passes = result.status == Status::Pass;
        let word = table::status_word(result.status);
        let tests = result.tests.map(|it| words::counted(it.ran(), "test")).filter(|_| passes);
        let fact =
            Some(sanitize::line_within(&result.fact, FACT_CHARS)).filter(|it| !passes && !it.is_empty());
        let duration = words::duration(result.duration_ms);
        let parts = [Some(word.to_owned()), tests.or(fact), Some(duration)];
        let sentence = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        Self { command: command.to_owned(), status: result.status, sentence }
    }

    /// The text as it appears in a comment of the document, which it cannot end.
    pub(super) fn comment(&self) -> String {
        format!(
            "<!-- tried: {} -->",
            self.sentence.replace('`', "'").replace(['<', '>'], " ").replace("--", "––")
        )
    }
}

/// Tries the commands where a user is present, unless the user declines.
pub(super) fn offer((root, file): (&Path, &Path), checks: &ProposedChecks) -> Option<TriedChecks> {
    if !ask::is_interactive() || checks.found.iter().all(|it| it.lack.is_some()) {
        return None;
    }
    failure::note(tr!(
        "The commands that were found are run once if you trust them; otherwise they are written untried."
    ));
    match try_checks((root, file), checks, TrustConsent::Asked) {
        Ok(tried) => Some(tried),
        Err(declined) if declined.kind == FailureKind::NotTrusted => None,
        // A loop at work in this tree, for example, is no reason to write no task.
        Err(problem) => {
            failure::warn(tr!("the commands were not tried: {problem}", problem));
            None
        }
    }
}

/// Checks that were tried, and their results.
pub(super) struct TriedChecks {
    pub(super) checks: ProposedChecks,
    pub(super) trials: Vec<CheckTrial>,
}

/// Runs the commands that have their tools, once they are trusted. Passing ones come first; those that cannot run are
/// among those that are left out.
pub(super) fn try_checks(
    (root, file): (&Path, &Path),
    checks: &ProposedChecks,
    consent: TrustConsent,
) -> Result<TriedChecks, Failure> {
    let (runnable, lacking): (Vec<_>, Vec<_>) =
        checks.found.iter().cloned().partition(|it| it.lack.is_none());
    let left_out = checks.left_out.iter().cloned().chain(lacking).collect();
    let mut tried =
        TriedChecks { checks: ProposedChecks { found: Vec::new(), left_out }, trials: Vec::new() };
    if runnable.is_empty() {
        return Ok(tried);
    }
    let work = draft(root, file, &runnable)?;
    let results = run_checks(&work, consent).map_err(|failure| refusal(failure, runnable.len()))?;
    for mut check in runnable {
        let Some(result) = result_of(&work, &results, &check.command) else { continue };
        if result.status == Status::CouldNotRun {
            let what = sanitize::line_within(&result.fact, FACT_CHARS);
            let remedy = result.missing.as_ref().map_or(String::new(), |it| it.remedy.clone());
            check.lack = Some(MissingTool { what, remedy });
            tried.checks.left_out.push(check);
        } else {
            tried.trials.push(CheckTrial::new(&check.command, result));
            tried.checks.found.push(check);
        }
    }
    tried.trials.sort_by_key(|it| it.status != Status::Pass);
    let place = |it: &FoundCheck| tried.trials.iter().position(|trial| trial.command == it.command);
    tried.checks.found.sort_by_key(place);
    Ok(tried)
}

/// The task does not exist yet, so `trust` cannot show its commands.
fn refusal(failure: Failure, count: usize) -> Failure {
    if failure.kind != FailureKind::NotTrusted {
        return failure;
    }
    let commands = words::counted(count as u64, "command");
    Failure::new(
        FailureKind::NotTrusted,
        tr!("{commands} of the project may not run: nothing was written", commands),
    )
    .hint(tr!(
        "`loopkeeper init --try --trust` trusts and tries them; `loopkeeper init` writes them untried."
    ))
}

/// The task that would be written, so that its checks run with its settings and its results are those of the task.
fn draft(root: &Path, file: &Path, checks: &[FoundCheck]) -> Result<ResolvedTask, Failure> {
    let id = TaskId(file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned());
    let text = template::task(checks, &BTreeMap::new(), TemplateLocation::Root);
    let documents = vec![TaskDocument { path: id.0.clone(), text }];
    let task = Arc::new(parse_task(&documents));
    let loaded = LoadedTask { task, documents: Arc::new(documents) };
    ResolvedTask::with_documents(root, &task_files::task_at(root, &id.0), loaded)
}

fn result_of<'a>(work: &ResolvedTask, results: &'a [CheckResult], command: &str) -> Option<&'a CheckResult> {
    let runs = |it: &Check| matches!(it, Check::Command { command: own, .. } if own == command);
    let criterion = work.task.criteria.iter().find(|it| it.check.as_ref().is_some_and(runs))?;
    results.iter().find(|it| it.criterion == criterion.id)
}

/// One row for each command, with the results in one column.
pub(super) fn table(trials: &[CheckTrial]) -> String {
    let shown: Vec<String> = trials.iter().map(|it| sanitize::visible(&it.command)).collect();
    let width = shown.iter().map(|it| words::width(it)).max().unwrap_or_default();
    let row = |(command, trial): (&String, &CheckTrial)| {
        let padding = " ".repeat(width - words::width(command));
        format!("  {command}{padding}  {}\n", trial.sentence)
    };
    shown.iter().zip(trials).map(row).collect()
}

#[cfg(test)]
mod tests {
    use loopkeeper_core::check::{CheckResult, Status, TestCounts};
    use loopkeeper_task::criterion::CriterionId;

    use super::{CheckTrial, table};

    fn trial(command: &str, status: Status, fact: &str, tests: Option<u64>) -> CheckTrial {
        let counts = |passed| TestCounts { passed, failed: 0, skipped: 1 };
        let result = CheckResult::new(CriterionId("a".to_owned()), status, fact);
        let result = CheckResult { duration_ms: 3_120, tests: tests.map(counts), ..result };
        CheckTrial::new(command, &result)
    }

    #[test]
    fn results_are_a_table() {
        let rows = [
            trial("cargo test", Status::Pass, "", Some(12)),
            trial("make lint", Status::Fail, "exit 2", None),
            trial("测 é", Status::TimedOut, "no result after 600 s", Some(1)),
        ];
        let expect = "  cargo test  pass · 12 tests · 3.1 s\n  make lint   fail · exit 2 · 3.1 s\n  \
                      测 é        timed-out · no result after 600 s · 3.1 s\n";
        assert_eq!(table(&rows), expect);
    }

    #[test]
    fn no_output_ends_the_comment() {
        let hostile = trial("x", Status::Fail, "--> `$ rm` <b>\n- a: `$ y` \u{202e}", None).comment();
        assert!(hostile.starts_with("<!-- tried: fail · ") && hostile.ends_with(" -->"), "{hostile}");
        let inside = hostile.trim_start_matches("<!--").trim_end_matches("-->");
        assert!(!inside.contains(['`', '\n', '<', '>', '\u{202e}']) && !inside.contains("--"), "{hostile}");
    }
}
