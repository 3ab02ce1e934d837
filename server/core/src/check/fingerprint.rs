//! Fingerprint of a check's failure: equal for two runs that fail in the same way, whatever differs by chance (times,
//! addresses, temporary paths, line numbers, seeds, the order of tests). Counts and values are significant: another
//! number of failing tests or another assertion is another failure.

mod normalize;
#[cfg(test)]
mod tests;

use super::{CheckResult, Status};
use loopkeeper_agent::errors::{self, Fingerprint};
use normalize::{LineClass, classify_line, normalize_text};

/// The fingerprint of a result that is not a pass.
pub(crate) fn fingerprint(result: &CheckResult) -> Fingerprint {
    result.fingerprint.clone().unwrap_or_else(|| compute(result))
}

/// Stores the fingerprints of the failures among results that are about to be recorded.
pub(crate) fn store_fingerprints(results: &mut [CheckResult]) {
    for result in results.iter_mut().filter(|it| !matches!(it.status, Status::Pass | Status::Unverified)) {
        result.fingerprint = Some(compute(result));
    }
}

fn compute(result: &CheckResult) -> Fingerprint {
    let mut parts = vec![format!("{:?} {}", result.status, normalize_text(&result.fact))];
    parts.extend(result.exit.map(|it| format!("exit {it}")));
    parts.extend(result.tests.map(|it| format!("{} failed, {} passed", it.failed, it.passed)));
    let (mut failures, mut rest) = (Vec::new(), Vec::new());
    for raw in result.head.lines().chain(result.tail.lines()) {
        match classify_line(raw) {
            LineClass::Failure(text) => failures.push(text),
            LineClass::Other(text) => rest.push(text),
            LineClass::Noise => {}
        }
    }
    // The number of reported failures counts, the number of progress messages does not.
    failures.sort_unstable();
    rest.sort_unstable();
    rest.dedup();
    parts.extend(failures);
    parts.extend(rest);
    errors::digest(&parts.join("\n"))
}

/// The fingerprint of several failures together, by the ids of their criteria.
pub(crate) fn combined<'a>(failing: impl Iterator<Item = &'a CheckResult>) -> Option<Fingerprint> {
    let mut each: Vec<String> =
        failing.map(|it| format!("{}:{}", it.criterion.0, fingerprint(it).0)).collect();
    each.sort_unstable();
    (!each.is_empty()).then(|| errors::digest(&each.join("\n")))
}
