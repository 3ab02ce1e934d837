//! Finds checks that cannot fail, or that pass before any work is done.

use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, NumberRule, TextPattern, compiled};

use loopkeeper_text::language::{fill, translate};
use loopkeeper_text::{tr, tr_later};

use crate::shell::{self, ControlOperator, SimpleCommand};
use crate::{BetterLine, Lint, LintCode, LintContext};

/// Programs that copy or shape text, and succeed whatever they read.
const FILTERS: &[&str] = &[
    "tee", "cat", "head", "tail", "less", "more", "sort", "uniq", "sed", "tr", "cut", "wc", "column", "nl",
    "fold", "fmt", "rev", "ts", "awk", "cowsay",
];
/// Programs that only print or wait.
const PRINTERS: &[&str] =
    &["true", ":", "echo", "printf", "sleep", "pwd", "date", "whoami", "uname", "env", "clear"];
/// Programs that succeed whether or not they find something.
const LISTERS: &[&str] = &["find", "fd", "tree", "du", "df", "ps", "awk", "history", "jobs"];
/// Flags that turn a failure, or nothing at all, into a success, with a template that is translated where it is shown.
const LENIENT_FLAGS: &[(&str, &str)] = &[
    ("--passWithNoTests", tr_later!("`{flag}` passes where no tests exist")),
    ("--pass-with-no-tests", tr_later!("`{flag}` passes where no tests exist")),
    ("--passWithNoTests=true", tr_later!("`{flag}` passes where no tests exist")),
    ("--if-present", tr_later!("`{flag}` passes where the script is missing")),
    ("--exit-zero", tr_later!("`{flag}` always exits with 0")),
    ("--exit-zero-even-if-changed", tr_later!("`{flag}` always exits with 0")),
    ("--no-fail", tr_later!("`{flag}` always exits with 0")),
    ("--no-error-on-unmatched-pattern", tr_later!("`{flag}` passes where no file matches")),
    ("--collect-only", tr_later!("`{flag}` collects tests without running them")),
    ("--list-tests", tr_later!("`{flag}` lists tests without running them")),
    ("--listTests", tr_later!("`{flag}` lists tests without running them")),
    ("--ignore-errors", tr_later!("`{flag}` ignores errors")),
];

struct CommandWeakness {
    fact: String,
    /// The command without the weakness.
    better: Option<String>,
}

impl CommandWeakness {
    fn new(fact: impl Into<String>) -> Self {
        Self { fact: fact.into(), better: None }
    }

    fn with_better(fact: impl Into<String>, better: &str) -> Self {
        let better = better.trim();
        Self { fact: fact.into(), better: (!better.is_empty()).then(|| better.to_owned()) }
    }
}

/// An optional check decides nothing, and some exist only for their output.
pub(crate) fn lint(context: &LintContext<'_>, index: usize) -> Option<Lint> {
    let criterion = context.criterion(index).filter(|it| it.required)?;
    let check = criterion.check.as_ref()?;
    let weakness = weakness_of_check(criterion, check)?;
    let command = crate::command_of(criterion);
    let (better, remedy) = match weakness.better {
        Some(better) => (BetterLine::Command(better), tr!("Let the check fail")),
        None => (BetterLine::Check, tr!("Check something that fails until the work is done")),
    };
    let place = command.map_or(criterion.place.clone(), |it| context.place_of(criterion, it));
    Some(Lint { code: LintCode::Weak, criterion: index, place, fact: weakness.fact, remedy, better })
}

fn weakness_of_check(criterion: &Criterion, check: &Check) -> Option<CommandWeakness> {
    match check {
        Check::Command { command, expect } => weakness_of_command(command, expect, &criterion.number_rules),
        Check::Exists { globs } => {
            let all = ["", ".", "./", "*", "**", "**/*", "./*", "./**", ".git", "/"];
            let found = globs.iter().all(|it| all.contains(&it.as_str()));
            found.then(|| {
                CommandWeakness::new(tr!("`exists {globs}` holds in every project", globs = globs.join(" ")))
            })
        }
        Check::Has { pattern, .. } if matches_anything(pattern) => {
            Some(CommandWeakness::new(tr!("the pattern matches every text")))
        }
        Check::Get { expect, .. } => weakness_of_expectations(expect),
        Check::Missing { .. }
        | Check::Has { .. }
        | Check::Lacks { .. }
        | Check::Clean
        | Check::Judge { .. } => None,
    }
}

fn matches_anything(pattern: &TextPattern) -> bool {
    // Neither text has anything in common with what a check could look for.
    compiled(pattern).is_some_and(|it| it.is_match("") || it.is_match("§") && it.is_match("1"))
}

fn weakness_of_expectations(expect: &[Expect]) -> Option<CommandWeakness> {
    expect.iter().find_map(|it| match it {
        Expect::Number { compare, value } => {
            let always = match compare {
                Compare::AtLeast => *value <= 0.0,
                Compare::Above | Compare::NotEqual => *value < 0.0,
                Compare::Equal | Compare::AtMost | Compare::Below => false,
            };
            let shown = format!("{} {value}", compare.sign());
            always.then(|| CommandWeakness::new(tr!("`{shown}` holds for every count", shown)))
        }
        Expect::Matches { pattern } if matches_anything(pattern) => {
            Some(CommandWeakness::new(tr!("`{pattern}` matches every output", pattern = pattern.written())))
        }
        Expect::Matches { .. } | Expect::MatchesNot { .. } | Expect::Exit { .. } | Expect::Status { .. } => {
            None
        }
    })
}

fn weakness_of_command(command: &str, expect: &[Expect], rules: &[NumberRule]) -> Option<CommandWeakness> {
    let is_output = |it: &Expect| {
        matches!(it, Expect::Number { .. } | Expect::Matches { .. } | Expect::MatchesNot { .. })
    };
    let reads_output = !rules.is_empty() || expect.iter().any(is_output);
    let segments = shell::segments(command);
    if segments.is_empty() {
        return None;
    }
    weakness_of_constants(command, &segments)
        .or_else(|| weakness_of_expectations(expect))
        .or_else(|| weakness_of_flags(command, &segments))
        .or_else(|| if reads_output { None } else { weakness_of_exit(command, &segments, expect) })
}

/// Commands of which nothing depends on the project.
fn weakness_of_constants(command: &str, segments: &[SimpleCommand<'_>]) -> Option<CommandWeakness> {
    let is_fixed = |it: &SimpleCommand<'_>| {
        let is_literal = it.words.iter().all(|word| !word.contains(['$', '`']));
        let program = it.program().unwrap_or_default();
        is_literal
            && (PRINTERS.contains(&program) || program == "false" || program == "exit" || is_version(it))
            || is_constant_test(it)
    };
    segments
        .iter()
        .all(is_fixed)
        .then(|| CommandWeakness::new(tr!("`{command}` tests nothing in the project", command)))
}

/// `node --version`
fn is_version(segment: &SimpleCommand<'_>) -> bool {
    let arguments = segment.arguments();
    let is_tool = segment.program().is_some_and(|it| {
        [
            "node", "npm", "python", "python3", "cargo", "rustc", "go", "git", "java", "docker", "make",
            "pnpm", "yarn", "bun", "deno", "tsc",
        ]
        .contains(&it)
    });
    let asks = |it: &String| ["--version", "-v", "-V", "version", "--help"].contains(&it.as_str());
    is_tool && arguments.len() == 1 && arguments.first().is_some_and(asks)
}

/// `test 1 -eq 1`, `[ "a" = "a" ]`
fn is_constant_test(segment: &SimpleCommand<'_>) -> bool {
    let words: Vec<&str> =
        segment.words.iter().map(String::as_str).filter(|it| !["]", "]]"].contains(it)).collect();
    match words.as_slice() {
        ["test" | "[" | "[[", left, "=" | "==" | "-eq" | "-le" | "-ge", right] => {
            left == right && !left.contains('$')
        }
        ["test" | "[" | "[[", only] => !only.starts_with(['-', '$']) && !only.contains('$'),
        ["test" | "[" | "[[", "-d" | "-e", "." | "./" | "/" | ".."] => true,
        _ => false,
    }
}

/// A flag or a pipe end that turns failures into passes, whatever is expected of the output.
fn weakness_of_flags(command: &str, segments: &[SimpleCommand<'_>]) -> Option<CommandWeakness> {
    for segment in segments {
        let found = LENIENT_FLAGS.iter().find(|(flag, _)| segment.words.iter().any(|it| it == flag));
        if let Some((flag, why)) = found {
            // `npm test -- --passWithNoTests`: the dashes go with their only flag.
            let rest = command.replacen(&format!(" -- {flag}"), "", 1);
            let rest = if rest == command { command.replacen(&format!(" {flag}"), "", 1) } else { rest };
            return Some(CommandWeakness::with_better(fill(translate(why), &[("flag", flag)]), &rest));
        }
        let program = segment.program().unwrap_or_default();
        let has = |flag: &str| segment.arguments().iter().any(|it| it == flag);
        if ["make", "gmake"].contains(&program) && (has("-n") || has("--dry-run") || has("-i")) {
            return Some(CommandWeakness::new(tr!("`make` with this flag does not fail")));
        }
    }
    None
}

/// Commands that hide the exit status of their relevant part.
fn weakness_of_exit(
    command: &str,
    segments: &[SimpleCommand<'_>],
    expect: &[Expect],
) -> Option<CommandWeakness> {
    if expect.iter().any(|it| matches!(it, Expect::Exit { code } if *code != 0)) {
        return None;
    }
    if shell::ends_in_background(command) {
        return Some(CommandWeakness::with_better(
            tr!("`&` discards the exit status"),
            command.trim_end().trim_end_matches('&'),
        ));
    }
    let last = segments.last()?;
    let program = last.program().unwrap_or_default();
    let before = command.get(..last.range.start).unwrap_or_default();
    let is_quiet = PRINTERS.contains(&program)
        || program == "exit" && last.arguments().first().is_none_or(|it| it == "0");
    let shown = command.get(last.range.clone()).unwrap_or_default().trim();
    match last.operator {
        ControlOperator::Or if is_quiet => {
            Some(CommandWeakness::with_better(tr!("`{shown}` hides every failure", shown), before))
        }
        ControlOperator::Then if is_quiet && !stops_at_errors(segments) => {
            Some(CommandWeakness::with_better(tr!("`{shown}` hides an earlier exit status", shown), before))
        }
        // The file exists whether or not the command that wrote it failed.
        ControlOperator::Then
            if FILTERS.contains(&program) && before.contains('>') && !stops_at_errors(segments) =>
        {
            Some(CommandWeakness::with_better(tr!("`{shown}` hides an earlier exit status", shown), before))
        }
        ControlOperator::Pipe
            if FILTERS.contains(&program) && !command.contains("pipefail") && !sets_exit_status(last) =>
        {
            let better = before.trim_end().trim_end_matches("2>&1");
            Some(CommandWeakness::with_better(tr!("`{shown}` hides an earlier exit status", shown), better))
        }
        ControlOperator::First | ControlOperator::And | ControlOperator::Then
            if segments.iter().all(always_succeeds) =>
        {
            Some(CommandWeakness::new(tr!("`{program}` succeeds whatever it finds", program)))
        }
        ControlOperator::First | ControlOperator::And if segments.len() == 1 && is_lenient_request(last) => {
            let better = command.replacen("curl", "curl -f", 1);
            Some(CommandWeakness::with_better(tr!("`curl` without `-f` passes on error pages"), &better))
        }
        _ if command.trim_start().starts_with("if ") && !command.contains("else") => {
            Some(CommandWeakness::new(tr!("passes where the condition of `if` is false")))
        }
        _ => None,
    }
}

fn stops_at_errors(segments: &[SimpleCommand<'_>]) -> bool {
    let sets = |it: &SimpleCommand<'_>| {
        it.program() == Some("set") && it.arguments().iter().any(|it| it.starts_with('-') && it.contains('e'))
    };
    segments.iter().any(sets)
}

/// `awk '… exit 1'` and `sed '…q1'` set their own exit status.
fn sets_exit_status(segment: &SimpleCommand<'_>) -> bool {
    match segment.program() {
        Some("awk") => segment.text.contains("exit"),
        Some("sed") => segment.text.as_bytes().windows(2).any(|it| matches!(it, [b'q' | b'Q', b'1'..=b'9'])),
        _ => false,
    }
}

/// Commands whose exit status does not depend on their findings.
fn always_succeeds(segment: &SimpleCommand<'_>) -> bool {
    let arguments = segment.arguments();
    let has = |flags: &[&str]| arguments.iter().any(|it| flags.contains(&it.as_str()));
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    match segment.program().unwrap_or_default() {
        program if PRINTERS.contains(&program) || program == "cd" => true,
        "find" => !has(&["-exec", "-execdir", "-delete"]),
        "awk" => !sets_exit_status(segment),
        program if LISTERS.contains(&program) => true,
        "ls" => arguments.iter().all(|it| it.starts_with('-')),
        "git" => match first {
            "status" | "log" | "stash" => true,
            "branch" => !has(&["-d", "-D", "--delete", "-m", "-M"]),
            "diff" => !has(&["--exit-code", "--quiet", "--check"]),
            _ => false,
        },
        _ => false,
    }
}

fn is_lenient_request(segment: &SimpleCommand<'_>) -> bool {
    let fails = |it: &String| {
        it.starts_with("--fail") || it.starts_with('-') && !it.starts_with("--") && it.contains('f')
    };
    segment.program() == Some("curl") && !segment.arguments().iter().any(fails)
}

#[cfg(test)]
mod tests {
    use super::weakness_of_check;
    use loopkeeper_task::parse_inline_task;

    fn weakness(check: &str) -> Option<(String, Option<String>)> {
        let task = parse_inline_task("x", &[format!("It holds: {check}")]);
        let criterion = &task.criteria[0];
        weakness_of_check(criterion, criterion.check.as_ref().expect(check)).map(|it| (it.fact, it.better))
    }

    #[test]
    fn checks_that_cannot_fail_are_weak() {
        for check in [
            "`$ true`",
            "`$ :`",
            "`$ echo ok`",
            "`$ echo done` `/done/`",
            "`$ exit 0`",
            "`$ sleep 1 && echo ok`",
            "`$ test 1 -eq 1`",
            "`$ [ a = a ]`",
            "`$ test -d .`",
            "`$ node --version`",
            "`$ git status`",
            "`$ git diff --stat`",
            "`$ find . -name '*.rs'`",
            "`$ ls`",
            "`$ npm run build --if-present`",
            "`$ jest --passWithNoTests`",
            "`$ npm test -- --passWithNoTests`",
            "`$ ruff check --exit-zero .`",
            "`$ pytest --collect-only`",
            "`$ cargo test || true`",
            "`$ npm test || echo failed`",
            "`$ make lint || :`",
            "`$ pytest; true`",
            "`$ pytest; exit 0`",
            "`$ eslint . > lint.txt; cat lint.txt`",
            "`$ npm test > out.log 2>&1; tail -n 5 out.log`",
            "`$ pytest | tee log`",
            "`$ cargo test 2>&1 | tail -5`",
            "`$ npm test | head`",
            "`$ npm test | sed 's/exit/end/'`",
            "`$ npm start &`",
            "`$ curl http://localhost:3000/health`",
            "`$ curl -s http://localhost:3000`",
            "`$ make -n test`",
            "`$ if [ -f x ]; then ./x; fi`",
            "`$ wc -l src/*.rs` `>= 0`",
            "`$ ./run` `/.*/`",
            "`$ ./run` `/^/`",
            "`exists .`",
            "`exists *`",
            "`has /.*/ src/**`",
            "`has /./ README.md`",
            "`$ false` `exit 1`",
            "`$ printf x | cat`",
        ] {
            assert!(weakness(check).is_some(), "{check}");
        }
    }

    #[test]
    fn checks_that_can_fail_are_not() {
        for check in [
            "`$ cargo test`",
            "`$ npm test && npm run lint`",
            "`$ pytest -q`",
            "`$ grep -q TODO src/a.rs`",
            "`$ ! grep -r TODO src`",
            "`$ ./run.sh | grep -q ok`",
            "`$ wc -l < src/a.rs` `< 500`",
            "`$ find src -name '*.orig' | wc -l` `== 0`",
            "`$ git diff --exit-code`",
            "`$ git status --porcelain` `!/./`",
            "`$ curl -fsS http://localhost:3000`",
            "`$ curl -s http://localhost:3000/health` `/ok/`",
            "`$ set -o pipefail; npm test | tee log`",
            "`$ npm test | sed '/^FAIL/q1'`",
            "`$ npm test | awk '/^FAIL/ { exit 1 }'`",
            "`$ test -f a || exit 1`",
            "`$ cd api && npm test`",
            "`$ sh -c 'npm test'`",
            "`$ test -s out.txt`",
            "`$ [ \"$(./run)\" = ok ]`",
            "`$ echo \"$(./run)\"` `/ok/`",
            "`$ cargo test 2>&1 | tail -5` `/0 failed/`",
            "`exists src/lib.rs`",
            "`exists src/*.rs`",
            "`has \"fn main\" src/*.rs`",
            "`lacks /TODO/ src/**`",
            "`missing tmp/**`",
            "`clean`",
            "`judge`",
            "`$ diff <(./run) expected.txt`",
            "`$ ./run 3` `exit 2`",
            "`$ npx tsc --noEmit`",
            "`$ set -e; make; echo ok`",
            "`$ cat docs/a.md | wc -w` `>= 300`",
            "`$ if ./run; then exit 0; else exit 1; fi`",
            "`$ docker compose config -q`",
        ] {
            assert_eq!(weakness(check), None, "{check}");
        }
    }

    #[test]
    fn the_better_command_can_fail() {
        for (check, better) in [
            ("`$ cargo test || true`", "cargo test"),
            ("`$ a && b || echo no`", "a && b"),
            ("`$ pytest -q; true`", "pytest -q"),
            ("`$ cargo test 2>&1 | tail -5`", "cargo test"),
            ("`$ npm start &`", "npm start"),
            ("`$ npm test -- --passWithNoTests`", "npm test"),
            ("`$ npm run lint --if-present`", "npm run lint"),
            ("`$ curl http://localhost:3000`", "curl -f http://localhost:3000"),
        ] {
            assert_eq!(weakness(check).and_then(|it| it.1).as_deref(), Some(better), "{check}");
        }
    }
}
