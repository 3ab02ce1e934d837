//! Criteria that fail, could not be evaluated, or are weaker than their author may expect.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::limit::MessageBudget;
use super::remarks::Remarks;
use crate::DisplayState;
use crate::editor::diagnostic::{Diagnostic, DiagnosticCode, RelatedLocation, RelatedTarget, Severity};
use crate::editor::{LatestResult, TaskView, message};
use loopkeeper_core::check::{CheckResult, DependencyProvider, Status};
use loopkeeper_core::decide::flaky::is_flaky;
use loopkeeper_core::journal::{Edit, Role};
use loopkeeper_task::FindingCode;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::tr;

pub(super) fn criteria_diagnostics(view: &TaskView<'_>, remarks: &Remarks<'_>) -> Vec<Diagnostic> {
    let (broken, history) = (MalformedRanges::of(view), CriteriaHistory::of(view));
    let (mut all, mut budget) = (Vec::new(), MessageBudget::default());
    let mut criteria: Vec<&Criterion> = view.task.criteria.iter().collect();
    criteria.sort_by_key(|it| it.place.range.start);
    for criterion in criteria {
        all.extend(proposal_diagnostic(criterion, &history));
        all.extend(flaky(view, criterion));
        match view.latest_result(&criterion.id).filter(|_| criterion.check.is_some()) {
            Some(latest) if latest.result.status == Status::Pass => {
                all.extend(already_passing(view, criterion, &history));
            }
            Some(latest) if latest.result.status != Status::Unverified => {
                all.push(not_holding(view, criterion, latest, &history));
            }
            Some(_) | None if broken.holds(&criterion.place) || remarks.replace(criterion) => {}
            Some(_) | None => all.extend(no_result_diagnostic(view, criterion, &mut budget)),
        }
    }
    all
}

/// A criterion that was evaluated and fails.
fn not_holding(
    view: &TaskView<'_>,
    criterion: &Criterion,
    latest: LatestResult<'_>,
    history: &CriteriaHistory<'_>,
) -> Diagnostic {
    let (severity, code) = classify_failure(view, history.held_before(&criterion.id), latest.result.status);
    // The loop can add a dependency that is missing in the project.
    let is_work_of_loop =
        latest.result.missing.as_ref().is_some_and(|it| it.owner == DependencyProvider::Project);
    let severity = if is_work_of_loop {
        classify_failure(view, history.held_before(&criterion.id), Status::Fail).0
    } else {
        severity
    };
    let (fact, remedy) = fact(code, latest.result);
    let mut found = Diagnostic::of(&criterion.place, (severity, code), &criterion.name, &fact, remedy);
    found.related = related_locations(latest);
    if latest.stale {
        found.stale = true;
        found.severity = Severity::Hint;
        found.message = message::stale(&criterion.name, &fact);
    }
    found
}

/// Severity by who must act: the loop while it works; the user otherwise, and if something broke or cannot run.
pub(super) fn classify_failure(
    view: &TaskView<'_>,
    broke: bool,
    status: Status,
) -> (Severity, DiagnosticCode) {
    let severity = if view.is_working() && !broke { Severity::Information } else { Severity::Warning };
    match status {
        Status::CouldNotRun => (Severity::Error, DiagnosticCode::CouldNotRun),
        Status::TimedOut => (severity, DiagnosticCode::TimedOut),
        Status::NoTestsRan => (severity, DiagnosticCode::NoTestsRan),
        Status::Unstable => (severity, DiagnosticCode::Unstable),
        Status::Fail | Status::Pass | Status::Unverified if broke => (severity, DiagnosticCode::Regressed),
        Status::Fail | Status::Pass | Status::Unverified => (severity, DiagnosticCode::Failing),
    }
}

fn fact(code: DiagnosticCode, result: &CheckResult) -> (String, &'static str) {
    let fact = if result.fact.is_empty() { tr!("fails") } else { &result.fact };
    match code {
        DiagnosticCode::CouldNotRun => {
            let remedy = match result.missing.as_ref().map(|it| it.owner) {
                Some(DependencyProvider::Machine) => tr!("Install it"),
                Some(DependencyProvider::Project | DependencyProvider::Other) | None => "",
            };
            (tr!("could not run, {fact}", fact), remedy)
        }
        DiagnosticCode::TimedOut => (fact.to_owned(), tr!("Raise the limit with `(timeout …)`")),
        DiagnosticCode::NoTestsRan => (fact.to_owned(), tr!("Check which tests it selects")),
        DiagnosticCode::Regressed if result.fact.is_empty() => {
            (tr!("passed before, fails now").to_owned(), "")
        }
        DiagnosticCode::Regressed => (tr!("passed before, now {fact}", fact), ""),
        _ => (fact.to_owned(), ""),
    }
}

/// The source places named in the output, then the output itself.
fn related_locations(latest: LatestResult<'_>) -> Vec<RelatedLocation> {
    let failures = latest.result.failures();
    let places = failures.iter().map(|it| {
        let target = RelatedTarget::Source { file: it.file.clone(), line: it.line, column: it.column };
        let message = if it.message.is_empty() { tr!("named by the output") } else { &it.message };
        RelatedLocation { target, message: message::sentence(message) }
    });
    let output = latest.output.map(|uri| RelatedLocation {
        target: RelatedTarget::Output {
            uri: uri.to_owned(),
            naming: failures.first().map(|it| (it.file.clone(), it.line)),
        },
        message: tr!("the complete output").to_owned(),
    });
    places.chain(output).collect()
}

/// A criterion without a result: it has no check, or the check never ran.
fn no_result_diagnostic<'a>(
    view: &TaskView<'_>,
    criterion: &'a Criterion,
    budget: &mut MessageBudget<'a>,
) -> Option<Diagnostic> {
    if !view.live {
        return None;
    }
    let (code, fact, remedy) = if criterion.check.is_none() {
        let fact = tr!("no check, only the agent's claim counts");
        (DiagnosticCode::Unverified, fact, tr!("Add one, such as `$ npm test`"))
    } else if !view.is_trusted(criterion) {
        // The task's first line reports it once for all criteria.
        return None;
    } else {
        (DiagnosticCode::NeverRun, tr!("not checked yet"), "")
    };
    let has_room = budget.has_room(&criterion.place, Severity::Hint);
    let message = has_room.then(|| message::message(&criterion.name, fact, remedy));
    Some(Diagnostic::new(&criterion.place, Severity::Hint, code, message.unwrap_or_default()))
}

/// Ranges of parser errors. They have their own diagnostics and are not reported as unverified or never run.
struct MalformedRanges<'a>(BTreeMap<&'a str, Vec<Range<usize>>>);

impl<'a> MalformedRanges<'a> {
    fn of(view: &TaskView<'a>) -> Self {
        let wrong = |code| matches!(code, FindingCode::BadCheck | FindingCode::NotACheck);
        let mut ranges: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
        for finding in view.task.findings.iter().filter(|it| wrong(it.code)) {
            ranges.entry(&finding.place.file).or_default().push(finding.place.range.clone());
        }
        for of_file in ranges.values_mut() {
            of_file.sort_by_key(|it| it.start);
        }
        Self(ranges)
    }

    /// Whether an error starts in the range. Errors are parts of their criterion, and there may be many.
    fn holds(&self, place: &DocumentRange) -> bool {
        let ranges = self.0.get(place.file.as_str()).map_or(&[][..], Vec::as_slice);
        let next = ranges.partition_point(|it| it.start < place.range.start);
        ranges.get(next).is_some_and(|it| it.start <= place.range.end)
    }
}

/// It passed before the first iteration: a guard, not a measure of progress.
fn already_passing(
    view: &TaskView<'_>,
    criterion: &Criterion,
    history: &CriteriaHistory<'_>,
) -> Option<Diagnostic> {
    let guards = view.live && view.open_loop().is_some() && history.role(&criterion.id) == Some(Role::Guard);
    let fact = tr!("passed before the loop started");
    guards.then(|| {
        let kind = (Severity::Hint, DiagnosticCode::AlreadyPassing);
        Diagnostic::of(&criterion.place, kind, &criterion.name, fact, tr!("It guards against regressions"))
    })
}

/// It passed and failed on the same files, so a single pass proves nothing.
fn flaky(view: &TaskView<'_>, criterion: &Criterion) -> Option<Diagnostic> {
    view.state.filter(|it| view.open_loop().is_some() && is_flaky(it, &criterion.id))?;
    let kind = (Severity::Warning, DiagnosticCode::Flaky);
    let fact = tr!("passes and fails on the same files");
    Some(Diagnostic::of(&criterion.place, kind, &criterion.name, fact, tr!("Make its result deterministic")))
}

/// A criterion written by the agent: shown but not adopted.
fn proposal_diagnostic(criterion: &Criterion, history: &CriteriaHistory<'_>) -> Option<Diagnostic> {
    if history.proposed.is_empty() {
        return None;
    }
    let is = |edit| history.proposed.contains(&(edit, criterion.name.as_str()));
    let fact = if is(Edit::Added) && history.role(&criterion.id).is_none() {
        tr!("written by the agent, not judged by this loop")
    } else if is(Edit::Altered) {
        tr!("altered by the agent, judged as it was")
    } else {
        return None;
    };
    let kind = (Severity::Information, DiagnosticCode::Proposed);
    Some(Diagnostic::of(&criterion.place, kind, &criterion.name, fact, ""))
}

/// The loop's data about criteria, indexed by id once for all criteria.
pub(super) struct CriteriaHistory<'a> {
    roles: HashMap<&'a CriterionId, Role>,
    passed: HashSet<&'a CriterionId>,
    /// The agent's edits of criteria by name.
    proposed: HashSet<(Edit, &'a str)>,
}

impl<'a> CriteriaHistory<'a> {
    pub(super) fn of(view: &TaskView<'a>) -> Self {
        let pinned = view.state.into_iter().flat_map(|it| &it.criteria.pinned);
        // The first role counts if a criterion occurs twice.
        let roles = pinned.rev().map(|it| (&it.criterion.id, it.role)).collect();
        let passed = view.state.into_iter().flat_map(|it| it.history.passed());
        let is_open = view.status.is_some_and(|it| it.state != DisplayState::Done);
        let proposed = view.state.filter(|_| is_open).into_iter().flat_map(|it| &it.criteria.proposed);
        Self {
            roles,
            passed: passed.collect(),
            proposed: proposed.map(|it| (it.edit, it.name.as_str())).collect(),
        }
    }

    fn role(&self, id: &CriterionId) -> Option<Role> {
        self.roles.get(id).copied()
    }

    /// Whether it passed at the start of the loop or after one of its iterations.
    pub(super) fn held_before(&self, id: &CriterionId) -> bool {
        self.role(id) == Some(Role::Guard) || self.passed.contains(id)
    }
}
