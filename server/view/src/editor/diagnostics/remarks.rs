//! Remarks on the wording and the checks of criteria, while their document is open.

use std::collections::HashSet;

use crate::editor::TaskView;
use crate::editor::diagnostic::{Diagnostic, DiagnosticCode, Severity};
use loopkeeper_lint::{self as lint, LintCode};
use loopkeeper_task::criterion::{Criterion, FIRST_STAGE};
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;

/// A shorter check never justifies a separate stage.
const EXPENSIVE_MS: u64 = 20_000;

/// The remarks on a task.
#[derive(Default)]
pub(super) struct Remarks<'a> {
    pub(super) diagnostics: Vec<Diagnostic>,
    /// File and start of the criteria with a remark on their wording, which is more specific than `unverified`.
    worded: HashSet<(&'a str, usize)>,
}

impl<'a> Remarks<'a> {
    /// Remarks are for the author: there are none unless a document of the task is open.
    pub(super) fn of(view: &TaskView<'a>) -> Self {
        let mut remarks = Self::default();
        if !view.live {
            return remarks;
        }
        for lint in &view.task_lints().lints {
            let Some(criterion) = view.task.criteria.get(lint.criterion) else { continue };
            if matches!(lint.code, LintCode::Vague | LintCode::Subjective) {
                remarks.worded.insert((&criterion.place.file, criterion.place.range.start));
            }
            let (name, remedy) = (&criterion.name, translate(lint.remedy));
            remarks.diagnostics.push(Diagnostic::of(
                &lint.place,
                severity_and_code(lint.code),
                name,
                &lint.fact,
                remedy,
            ));
        }
        remarks.diagnostics.extend(slow_checks(view));
        remarks.diagnostics.extend(not_suited(view));
        remarks
    }

    /// Whether a remark on the same criterion is more specific than the missing check.
    pub(super) fn replace(&self, criterion: &Criterion) -> bool {
        let place = &criterion.place;
        criterion.check.is_none() && self.worded.contains(&(place.file.as_str(), place.range.start))
    }
}

/// A weak or contradictory check ends a loop wrongly; wording only makes it worth less.
pub(in crate::editor) fn severity_and_code(code: LintCode) -> (Severity, DiagnosticCode) {
    let severity = match code {
        LintCode::Vague | LintCode::Subjective | LintCode::Duplicate => Severity::Hint,
        LintCode::Weak | LintCode::Contradictory | LintCode::Unsafe => Severity::Warning,
    };
    (severity, DiagnosticCode::Lint(code))
}

/// A check of the first stage that takes longer than an iteration holds up all others.
fn slow_checks(view: &TaskView<'_>) -> Vec<Diagnostic> {
    let Some(usual) = usual_iteration(view) else { return Vec::new() };
    let criteria = view.task.criteria.iter().filter(|it| it.stage_or_first() == FIRST_STAGE);
    let takes_longer = criteria.filter(|it| {
        let duration = view.latest_result(&it.id).map_or(0, |latest| latest.result.duration_ms);
        duration >= EXPENSIVE_MS && duration > usual
    });
    let kind = (Severity::Hint, DiagnosticCode::Expensive);
    let fact = tr!("takes longer than an iteration");
    let remedy = tr!("Run it later with `(stage 2)`");
    takes_longer.map(|it| Diagnostic::of(&it.place, kind, &it.name, fact, remedy)).collect()
}

/// The median duration of the loop's iterations.
fn usual_iteration(view: &TaskView<'_>) -> Option<u64> {
    let mut lengths: Vec<u64> =
        view.state?.history.kept_outlines().map(|it| it.figures.duration_ms).collect();
    lengths.sort_unstable();
    lengths.get(lengths.len() / 2).copied()
}

/// Before the first start only: afterwards the loop itself shows whether it was worth it.
fn not_suited(view: &TaskView<'_>) -> Option<Diagnostic> {
    let (place, reason) = (view.heading()?, lint::unsuitable(view.task)?);
    let is_reported_already = reason == lint::Unsuitability::NothingVerifiable;
    if view.status.is_some() || is_reported_already {
        return None;
    }
    let (fact, remedy) = reason.sentences();
    let (fact, remedy) = (translate(fact), translate(remedy));
    let kind = (Severity::Hint, DiagnosticCode::NotSuited);
    Some(Diagnostic::of(&place, kind, tr!("loop"), fact, remedy))
}

#[cfg(test)]
mod tests {
    use crate::editor::diagnostics;
    use crate::editor::fixture::World;

    fn codes(world: &World) -> Vec<&'static str> {
        world.with_view(diagnostics).iter().map(|it| it.code.word()).collect()
    }

    #[test]
    fn a_lint_finding_replaces_the_missing_check_hint() {
        let world = World::of(&[("PROMPT.md", "# Pay\n\nDone when:\n\n- It works well\n- Dates parse\n")]);
        assert_eq!(codes(&world), ["summary", "vague", "unverified"]);
        let closed = World { live: false, ..world };
        assert!(!codes(&closed).contains(&"vague"));
    }

    #[test]
    fn an_unsuitable_task_is_reported_before_its_first_loop() {
        let of = |title: &str| {
            codes(&World::of(&[("PROMPT.md", &format!("# {title}\n\nDone when:\n\n- We know\n"))]))
        };
        assert!(of("Explore caching").contains(&"not-suited"));
        assert!(!of("Add caching").contains(&"not-suited"));
    }
}
