//! Copies of failures for the source lines that a check's output names.

use std::collections::BTreeSet;

use super::criteria::{CriteriaHistory, classify_failure};
use crate::editor::diagnostic::{Severity, SourceFailure};
use crate::editor::task_predicates::is_failure;
use crate::editor::{LatestResult, TaskView, message};
use loopkeeper_core::check::Location;
use loopkeeper_text::sanitize;

/// Failures without duplicate places, in the order of criteria and their outputs.
pub fn source_failures(view: &TaskView<'_>) -> Vec<SourceFailure> {
    let history = CriteriaHistory::of(view);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for criterion in view.task.criteria.iter().filter(|it| it.check.is_some()) {
        let Some(latest) = view.latest_result(&criterion.id).filter(|it| is_failure(it.result.status)) else {
            continue;
        };
        let (severity, _) = classify_failure(view, history.held_before(&criterion.id), latest.result.status);
        for place in latest.result.failures() {
            if seen.insert((place.file.as_str(), place.line, place.column)) {
                found.push(source_failure(place, latest, severity, &criterion.name));
            }
        }
    }
    found
}

fn source_failure(
    place: &Location,
    latest: LatestResult<'_>,
    severity: Severity,
    name: &str,
) -> SourceFailure {
    let message = match (place.message.is_empty(), latest.stale) {
        (true, true) => message::stale(name, &latest.result.fact),
        (true, false) => message::message(name, &latest.result.fact, ""),
        (false, true) => message::stale_sentence(&place.message),
        (false, false) => message::sentence(&place.message),
    };
    SourceFailure {
        file: sanitize::line(&place.file),
        line: place.line,
        column: place.column,
        message,
        severity: if latest.stale { Severity::Hint } else { severity },
        stale: latest.stale,
    }
}
