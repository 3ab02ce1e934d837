//! Changes the order of tests, or of the collections that they iterate over, for runners that take a seed from an
//! environment variable: the command stays as the user wrote it. Checks in a clean room run in another order than in
//! the work tree.
//!
//! libtest's `RUST_TEST_SHUFFLE` needs a nightly toolchain, and fewer threads would make a run longer without changing
//! the order; jest, vitest, mocha, node and pytest itself take a seed by arguments or plugins only.

use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::pattern::ConstantPattern;

/// The variables that change the order for the runners which these criteria name. `current` looks up the value of a
/// variable; a variable that the user has set is kept.
pub fn variables(
    criteria: &[Criterion],
    seed: u32,
    current: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    static PYTHON: ConstantPattern =
        ConstantPattern::new(r"(?:^|[\s/;&|(])(?:python[\d.]*|pytest|py\.test|tox|nox)(?:\s|$)");
    static GO: ConstantPattern =
        ConstantPattern::new(r"(?:^|[\s/;&|(])(?:go\s+(?:-C\s*\S+\s+)?test|gotestsum)(?:\s|$)");
    // 0 turns the randomisation of hashes off.
    let seed = seed.max(1);
    let mut found = Vec::new();
    if names(criteria, &PYTHON, "PYTHONHASHSEED") && current("PYTHONHASHSEED").is_none() {
        found.push(("PYTHONHASHSEED", seed.to_string()));
    }
    let flags = current("GOFLAGS").unwrap_or_default();
    if names(criteria, &GO, "GOFLAGS") && !flags.contains("-shuffle") {
        found.push(("GOFLAGS", format!("{flags} -shuffle={seed}").trim_start().to_owned()));
    }
    found
}

/// Whether a command names the runner, and none sets its variable.
fn names(criteria: &[Criterion], runner: &ConstantPattern, variable: &str) -> bool {
    let mut commands = criteria.iter().filter_map(|it| match &it.check {
        Some(Check::Command { command, .. }) => Some(command.as_str()),
        _ => None,
    });
    commands.clone().any(|it| runner.is_match(it)) && !commands.any(|it| it.contains(variable))
}

#[cfg(test)]
mod tests {
    use loopkeeper_task::criterion::{Check, Criterion};

    use super::variables;

    fn criterion(command: &str) -> Criterion {
        let check = Check::Command { command: command.to_owned(), expect: Vec::new() };
        Criterion::new("a".to_owned(), "a", Some(check))
    }

    #[test]
    fn runners_that_take_a_seed_from_a_variable() {
        let check = |command: &str, set: &[(&str, &str)], expect: &[(&'static str, &str)]| {
            let current = |name: &str| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            let expect: Vec<_> = expect.iter().map(|it| (it.0, it.1.to_owned())).collect();
            assert_eq!(variables(&[criterion(command)], 7, current), expect, "{command}");
        };
        let python = [("PYTHONHASHSEED", "7")];
        let go = [("GOFLAGS", "-shuffle=7")];
        check("python3 -m unittest", &[], &python);
        check(".venv/bin/pytest -q tests", &[], &python);
        check("cd a && go test ./...", &[], &go);
        check("go test ./... && pytest", &[], &[python[0], go[0]]);
        check("go test ./...", &[("GOFLAGS", "-mod=vendor")], &[("GOFLAGS", "-mod=vendor -shuffle=7")]);
        for (command, set) in [
            ("cargo test", &[][..]),
            ("go build ./...", &[]),
            ("make test", &[]),
            ("PYTHONHASHSEED=0 pytest", &[]),
            ("pytest", &[("PYTHONHASHSEED", "0")]),
            ("go test ./...", &[("GOFLAGS", "-shuffle=off")]),
            ("pythonista", &[]),
        ] {
            check(command, set, &[]);
        }
    }

    #[test]
    fn the_seed_is_never_zero() {
        assert_eq!(variables(&[criterion("pytest")], 0, |_| None), [("PYTHONHASHSEED", "1".to_owned())]);
    }
}
