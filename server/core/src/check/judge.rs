//! Evaluates the run of a command. Only the expected exit code with every expectation met is a pass; timeouts,
//! signals, commands that could not start, runs without tests and unreadable outputs never are.

#[cfg(test)]
mod tests;
mod tool;

use std::cmp::Ordering;
use std::path::Path;

use super::excerpt::Excerpt;
use super::output::DecodedOutput;
use super::{
    CheckResult, CommandExit, CommandRun, Location, Status, TestCounts, counts, locations, number, words,
};
use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, TextPattern, compiled};
use loopkeeper_text::clauses::join_with_commas;
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, tr};

/// Judges the run of a criterion whose check is a command. Every text of the result is sanitised and redacted.
/// Locations of failures are relative to `root`.
pub fn judge(criterion: &Criterion, run: &CommandRun, root: &Path, redactor: &Redactor) -> CheckResult {
    let output = DecodedOutput::of(run);
    let tests = counts::read(&output.both);
    let verdict = verdict(criterion, run, &output, tests);
    let Excerpt { head, tail, left_out } = Excerpt::of(run, redactor);
    let (exit, signal) = match run.ending {
        CommandExit::Exited(code) => (Some(code), None),
        CommandExit::Signalled(number) => (None, Some(number)),
        CommandExit::TimedOut | CommandExit::NotStarted(_) => (None, None),
    };
    CheckResult {
        criterion: criterion.id.clone(),
        status: verdict.status,
        fact: clean(&verdict.fact, redactor),
        duration_ms: run.duration_ms,
        exit,
        signal,
        tests,
        number: compared_number(criterion, run, &output),
        reported: None,
        head,
        tail,
        left_out,
        locations: clean_locations(&output.both, root, redactor),
        survivors: run.survivors.iter().map(|it| clean(it, redactor)).collect(),
        missing: None,
        fingerprint: None,
    }
}

/// Whether the criterion's expectations read stdout alone, or each stream separately. All other checks write both
/// streams to one pipe, because only that keeps the order in which they were written.
pub fn needs_streams_apart(criterion: &Criterion) -> bool {
    let Some(Check::Command { expect, .. }) = &criterion.check else { return false };
    !criterion.number_rules.is_empty()
        || expect.iter().any(|it| match it {
            Expect::Number { .. } | Expect::Matches { .. } | Expect::MatchesNot { .. } => true,
            Expect::Exit { .. } | Expect::Status { .. } => false,
        })
}

pub(super) fn clean(text: &str, redactor: &Redactor) -> String {
    redactor.redact(&sanitize::line(text))
}

fn clean_locations(output: &str, root: &Path, redactor: &Redactor) -> Vec<Location> {
    let clean = |it: Location| Location {
        file: redactor.redact(&it.file),
        message: redactor.redact(&it.message),
        ..it
    };
    locations::read(output, root).into_iter().map(clean).collect()
}

/// A status with its fact.
pub(super) struct CheckVerdict {
    pub(super) status: Status,
    pub(super) fact: String,
}

pub(super) fn make_verdict(status: Status, fact: impl Into<String>) -> CheckVerdict {
    CheckVerdict { status, fact: fact.into() }
}

fn verdict(
    criterion: &Criterion,
    run: &CommandRun,
    output: &DecodedOutput,
    tests: Option<TestCounts>,
) -> CheckVerdict {
    let Some(Check::Command { expect, .. }) = &criterion.check else {
        return make_verdict(Status::CouldNotRun, tr!("not a command"));
    };
    let code = match &run.ending {
        CommandExit::Exited(code) => *code,
        CommandExit::Signalled(number) => {
            return make_verdict(
                Status::CouldNotRun,
                tr!("killed by {signal}", signal = words::signal(*number)),
            );
        }
        CommandExit::TimedOut => {
            let limit = criterion.timeout_ms.unwrap_or(run.duration_ms);
            return make_verdict(Status::TimedOut, words::no_result(limit));
        }
        CommandExit::NotStarted(reason) if reason.is_empty() => {
            return make_verdict(Status::CouldNotRun, tr!("could not start"));
        }
        CommandExit::NotStarted(reason) => return make_verdict(Status::CouldNotRun, reason),
    };
    let verdict = judge_exit(code, expect, output, tests);
    if verdict.status != Status::Pass || criterion.number_rules.is_empty() {
        return verdict;
    }
    match number::last_number(output.stdout_end()) {
        Some(value) => make_verdict(Status::Pass, value.to_string()),
        None => no_number(output),
    }
}

/// The number that later rounds are compared with. A command that failed prints errors, whose numbers mean nothing.
fn compared_number(criterion: &Criterion, run: &CommandRun, output: &DecodedOutput) -> Option<f64> {
    let Some(Check::Command { expect, .. }) = &criterion.check else { return None };
    let CommandExit::Exited(code) = run.ending else { return None };
    let compares = !criterion.number_rules.is_empty() && wrong_code(code, expect).is_none();
    compares.then(|| number::last_number(output.stdout_end())).flatten()
}

fn judge_exit(
    code: i32,
    expect: &[Expect],
    output: &DecodedOutput,
    tests: Option<TestCounts>,
) -> CheckVerdict {
    if let Some(fact) = tool::missing_program(code, output.error_output()) {
        return make_verdict(Status::CouldNotRun, fact);
    }
    if let Some(WrongCode { wanted }) = wrong_code(code, expect) {
        return make_verdict(Status::Fail, wrong_code_fact(code, wanted, output, tests));
    }
    if tests.is_some_and(|it| it.ran() == 0) {
        return make_verdict(Status::NoTestsRan, tr!("0 tests ran"));
    }
    // A pipeline can lose the exit code of a runner. Expectations of the user take precedence.
    if let Some(failed) = tests.filter(|it| it.failed > 0 && expect.is_empty()) {
        return make_verdict(Status::Fail, join_with_commas([describe_failing(failed), words::exit(code)]));
    }
    for it in expect {
        match judge_expectation(it, output) {
            CheckVerdict { status: Status::Pass, .. } => {}
            not_met => return not_met,
        }
    }
    make_verdict(Status::Pass, pass_fact(code, expect, output, tests))
}

struct WrongCode {
    /// The code that the criterion states, if it states any.
    wanted: Option<i32>,
}

fn wrong_code(code: i32, expect: &[Expect]) -> Option<WrongCode> {
    let stated =
        expect.iter().filter_map(|it| if let Expect::Exit { code } = it { Some(*code) } else { None });
    let mut stated = stated.peekable();
    if stated.peek().is_none() {
        return (code != 0).then_some(WrongCode { wanted: None });
    }
    stated.find(|it| *it != code).map(|unmet| WrongCode { wanted: Some(unmet) })
}

/// The most telling reason first: failed tests, no tests, errors, else the code.
fn wrong_code_fact(
    code: i32,
    wanted: Option<i32>,
    output: &DecodedOutput,
    tests: Option<TestCounts>,
) -> String {
    if let Some(wanted) = wanted {
        return words::needs_exit(words::exit(code), wanted);
    }
    match tests {
        Some(it) if it.failed > 0 => describe_failing(it),
        Some(it) if it.ran() == 0 => tr!("0 tests ran, {exit}", exit = words::exit(code)),
        _ => match tool::count_errors(&output.both) {
            Some(1) => tr!("1 error").to_owned(),
            Some(count) => tr!("{count} errors", count),
            None => words::exit(code),
        },
    }
}

fn describe_failing(tests: TestCounts) -> String {
    tr!("{failed} of {total} fail", failed = tests.failed, total = tests.ran())
}

fn pass_fact(code: i32, expect: &[Expect], output: &DecodedOutput, tests: Option<TestCounts>) -> String {
    let expects_number = expect.iter().any(|it| matches!(it, Expect::Number { .. }));
    match tests {
        _ if expects_number => {
            number::last_number(output.stdout_end()).map_or_else(String::new, |it| it.to_string())
        }
        Some(it) if it.failed > 0 => join_with_commas([describe_failing(it), words::exit(code)]),
        Some(it) => tr!("{passed} pass", passed = it.passed),
        None => words::exit(code),
    }
}

pub(super) fn judge_expectation(expect: &Expect, output: &DecodedOutput) -> CheckVerdict {
    match expect {
        Expect::Number { compare, value } => judge_comparison(*compare, *value, output),
        Expect::Matches { pattern } => judge_pattern(pattern, output, ExpectedMatch::Somewhere),
        Expect::MatchesNot { pattern } => judge_pattern(pattern, output, ExpectedMatch::Nowhere),
        Expect::Exit { .. } => make_verdict(Status::Pass, ""),
        Expect::Status { .. } => make_verdict(Status::CouldNotRun, tr!("a status is expected of GET only")),
    }
}

fn judge_comparison(compare: Compare, wanted: f64, output: &DecodedOutput) -> CheckVerdict {
    let Some(value) = number::last_number(output.stdout_end()) else {
        return no_number(output);
    };
    let status = if satisfies(value, compare, wanted) { Status::Pass } else { Status::Fail };
    make_verdict(status, words::needs(value, format!("{} {wanted}", compare.sign())))
}

fn no_number(output: &DecodedOutput) -> CheckVerdict {
    let is_cut = output.dropped > 0;
    let fact = if is_cut { tr!("no number at the end of the output") } else { tr!("no number") };
    make_verdict(Status::Fail, fact)
}

pub(super) fn satisfies(value: f64, compare: Compare, wanted: f64) -> bool {
    let order = value.partial_cmp(&wanted);
    match compare {
        Compare::Equal => order == Some(Ordering::Equal),
        Compare::NotEqual => matches!(order, Some(Ordering::Less | Ordering::Greater)),
        Compare::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Compare::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Compare::Above => order == Some(Ordering::Greater),
        Compare::Below => order == Some(Ordering::Less),
    }
}

#[derive(Clone, Copy)]
enum ExpectedMatch {
    Somewhere,
    Nowhere,
}

fn judge_pattern(pattern: &TextPattern, output: &DecodedOutput, wanted: ExpectedMatch) -> CheckVerdict {
    let name = pattern.written();
    let Some(regex) = compiled(pattern) else {
        return make_verdict(Status::CouldNotRun, tr!("{name} is not a pattern", name));
    };
    let is_found = regex.is_match(&output.stdout) || regex.is_match(&output.stderr);
    match (wanted, is_found) {
        (ExpectedMatch::Somewhere, true) => make_verdict(Status::Pass, ""),
        (ExpectedMatch::Somewhere, false) if output.dropped > 0 => make_verdict(
            Status::Fail,
            tr!("{name} not found, {size} of output not kept", name, size = size(output.dropped)),
        ),
        (ExpectedMatch::Somewhere, false) => make_verdict(Status::Fail, tr!("{name} not found", name)),
        (ExpectedMatch::Nowhere, true) => make_verdict(Status::Fail, tr!("{name} found", name)),
        // What was not kept was not searched.
        (ExpectedMatch::Nowhere, false) if output.dropped > 0 => make_verdict(
            Status::CouldNotRun,
            tr!("too much output to rule out {name}, {size} not kept", name, size = size(output.dropped)),
        ),
        (ExpectedMatch::Nowhere, false) => make_verdict(Status::Pass, ""),
    }
}

fn size(bytes: u64) -> String {
    const MIB: u64 = 1024 * 1024;
    if bytes < MIB { loopkeeper_text::words::counted(bytes, "byte") } else { format!("{} MiB", bytes / MIB) }
}
