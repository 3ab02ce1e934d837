//! Task runners: finds the targets of a Makefile and the recipes of a justfile.

use super::package::PackageFolder;
use super::{COVERAGE, FORMAT, LINT, ManifestError, OWN_CHECKS, ProposedChecks, TESTS, TYPES};

const RUNNERS: [(&str, &str); 6] = [
    ("make", "GNUmakefile"),
    ("make", "makefile"),
    ("make", "Makefile"),
    ("just", "justfile"),
    ("just", "Justfile"),
    ("just", ".justfile"),
];
const TARGETS: [(&str, &str); 8] = [
    (TESTS, "test"),
    (OWN_CHECKS, "check"),
    (LINT, "lint"),
    (TYPES, "typecheck"),
    (FORMAT, "format-check"),
    (FORMAT, "fmt-check"),
    (COVERAGE, "coverage"),
    (COVERAGE, "cov"),
];

/// A task runner usually calls the tools that were found already, so running it as well would prove nothing more: only
/// what no tool decides is added.
pub(super) fn checks(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    let known: Vec<&str> = checks.found.iter().chain(&checks.left_out).map(|it| it.name).collect();
    let is_decided = |name: &str| known.contains(&name) || name == OWN_CHECKS && known.contains(&TESTS);
    let targets: Vec<(&str, &str)> = TARGETS.into_iter().filter(|it| !is_decided(it.0)).collect();
    for (runner, file) in RUNNERS {
        let Some(text) = package.text(file)? else { continue };
        let begins = if runner == "make" { is_rule } else { is_recipe };
        for (name, target) in targets.iter().copied() {
            let check = package.check((name, file), &format!("{runner} {target}"), runner);
            let there = text.lines().any(|line| begins(line, target));
            // A case-insensitive disk shows the same file under two names.
            let mut known = checks.found.iter().chain(&checks.left_out);
            if there && !known.any(|it| it.command == check.command) {
                checks.add(check);
            }
        }
    }
    Ok(())
}

/// Whether a line begins a rule that makes `target`: `test:`, `test check: build`.
fn is_rule(line: &str, target: &str) -> bool {
    let Some((names, rest)) = line.split_once(':') else { return false };
    let assignment = rest.starts_with('=') || rest.starts_with(":=") || names.contains('=');
    !assignment && !line.starts_with([' ', '\t', '#']) && names.split_whitespace().any(|it| it == target)
}

/// Whether a line begins a recipe that needs no arguments: `test:`, `@test filter="" *rest: build`.
fn is_recipe(line: &str, target: &str) -> bool {
    let Some((words, rest)) = line.split_once(':') else { return false };
    let mut words = words.strip_prefix('@').unwrap_or(words).split(' ').filter(|it| !it.is_empty());
    let named = words.next() == Some(target) && !line.starts_with(' ');
    named && !rest.starts_with('=') && words.all(|it| it.contains('=') || it.starts_with('*'))
}
