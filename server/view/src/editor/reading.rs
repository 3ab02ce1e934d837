//! Describes the meaning of a check as text, so that its author can verify it.

use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, NumberRule, PatternKind, TextPattern};
use loopkeeper_text::clauses;
use loopkeeper_text::tr;
use loopkeeper_text::words;

/// One sentence per condition.
pub fn describe_check(check: &Check) -> Vec<String> {
    match check {
        Check::Command { expect, .. } => describe_command(expect),
        Check::Exists { globs } => {
            vec![tr!("Every pattern must match a file: {patterns}.", patterns = clauses::list(globs))]
        }
        Check::Missing { globs } => {
            vec![tr!("No pattern may match a file: {patterns}.", patterns = clauses::list(globs))]
        }
        Check::Has { pattern, globs } => {
            vec![tr!(
                "A file that matches {patterns} must contain {text}.",
                patterns = clauses::list(globs),
                text = pattern_words(pattern)
            )]
        }
        Check::Lacks { pattern, globs } => {
            vec![tr!(
                "No file that matches {patterns} may contain {text}.",
                patterns = clauses::list(globs),
                text = pattern_words(pattern)
            )]
        }
        Check::Clean => vec![tr!("No new untracked files may be left behind.").to_owned()],
        Check::Get { expect, .. } => describe_request(expect),
        Check::Judge { of, .. } => describe_judge(of.unwrap_or((1, 1))),
    }
}

fn describe_judge((needed, asked): (u32, u32)) -> Vec<String> {
    let who = match asked {
        1 => tr!("An agent that looks for a reason against it must find none.").to_owned(),
        _ => {
            tr!("{needed} of {asked} agents that look for a reason against it must find none.", needed, asked)
        }
    };
    vec![who, tr!("It is asked once all other required checks pass; its calls and cost count.").to_owned()]
}

fn describe_command(expect: &[Expect]) -> Vec<String> {
    let mut all = vec![tr!("Run with `sh -c` in the project root, without stdin.").to_owned()];
    if !expect.iter().any(|it| matches!(it, Expect::Exit { .. })) {
        all.push(tr!("It must exit 0.").to_owned());
    }
    all.extend(expect.iter().map(|it| describe_expectation(it, ExpectationSource::Command)));
    all
}

/// Without an expected status, any success will do.
fn describe_request(expect: &[Expect]) -> Vec<String> {
    let mut all = vec![tr!("A GET request from this machine must be answered.").to_owned()];
    if !expect.iter().any(|it| matches!(it, Expect::Status { .. })) {
        all.push(tr!("The answer's status must be from 200 to 299.").to_owned());
    }
    all.extend(expect.iter().map(|it| describe_expectation(it, ExpectationSource::Request)));
    all
}

/// The source of the value that an expectation reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectationSource {
    Command,
    Request,
}

fn describe_expectation(expect: &Expect, source: ExpectationSource) -> String {
    let is_command = source == ExpectationSource::Command;
    match expect {
        Expect::Number { compare, value } => {
            let comparison = comparison_words(*compare);
            if is_command {
                tr!("The last number it prints must be {comparison} {value}.", comparison, value)
            } else {
                tr!("The last number in the answer's body must be {comparison} {value}.", comparison, value)
            }
        }
        Expect::Matches { pattern } if is_command => {
            tr!("Its output must contain {pattern}.", pattern = pattern_words(pattern))
        }
        Expect::Matches { pattern } => {
            tr!("The answer's body must contain {pattern}.", pattern = pattern_words(pattern))
        }
        Expect::MatchesNot { pattern } if is_command => {
            tr!("Its output must not contain {pattern}.", pattern = pattern_words(pattern))
        }
        Expect::MatchesNot { pattern } => {
            tr!("The answer's body must not contain {pattern}.", pattern = pattern_words(pattern))
        }
        Expect::Exit { code } => tr!("It must exit {code}.", code),
        Expect::Status { code } => tr!("The answer's status must be {code}.", code),
    }
}

fn comparison_words(compare: Compare) -> &'static str {
    match compare {
        Compare::Equal => tr!("exactly"),
        Compare::NotEqual => tr!("other than"),
        Compare::AtLeast => tr!("at least"),
        Compare::AtMost => tr!("at most"),
        Compare::Above => tr!("above"),
        Compare::Below => tr!("below"),
    }
}

fn pattern_words(pattern: &TextPattern) -> String {
    let text = pattern.written();
    match pattern.kind {
        PatternKind::Literal => text,
        PatternKind::Regex => tr!("a match of {text}", text),
        PatternKind::RegexIgnoreCase => tr!("a match of {text}, ignoring case", text),
    }
}

/// Describes a comparison with earlier rounds.
fn describe_rule(rule: NumberRule) -> String {
    match rule {
        NumberRule::Rising => {
            tr!("The number must rise above the baseline's, and not fall below the best one reached.")
                .to_owned()
        }
        NumberRule::NotFalling => {
            tr!("The number must not fall below the best one reached, the baseline's included.").to_owned()
        }
        NumberRule::Baseline { compare } => {
            tr!("The number must be {comparison} the baseline's.", comparison = comparison_words(compare))
        }
    }
}

/// Describes attributes like `(timeout 10m)`, and comparisons with earlier rounds.
pub(super) fn attributes(criterion: &Criterion) -> Vec<String> {
    let mut all: Vec<String> = criterion.number_rules.iter().copied().map(describe_rule).collect();
    if !criterion.required {
        all.push(tr!("Optional: the loop can complete without it.").to_owned());
    }
    all.extend(criterion.timeout_ms.map(|ms| tr!("Timeout: {duration}.", duration = words::duration(ms))));
    all.extend(criterion.group.as_ref().map(|it| tr!("Group {name}.", name = it)));
    all.extend(criterion.stage.map(|it| tr!("Stage {number}.", number = it)));
    all
}

#[cfg(test)]
mod tests {
    use super::{attributes, describe_check};
    use loopkeeper_task::parse_inline_task;

    #[test]
    fn every_form_reads_as_sentences() {
        let check = |item: &str, expect: &str| {
            let task = parse_inline_task("", &[item.to_owned()]);
            let description = describe_check(task.criteria[0].check.as_ref().expect("a check"));
            assert_eq!(description.join(" "), expect);
        };
        check("a: `$ cargo test`", "Run with `sh -c` in the project root, without stdin. It must exit 0.");
        check(
            "a: `$ cov` `>= 80` `exit 3` `!/warn/i`",
            "Run with `sh -c` in the project root, without stdin. The last number it prints must be at least 80. It \
             must exit 3. Its output must not contain a match of /warn/i, ignoring case.",
        );
        check("a: `exists a.md docs/*.md`", "Every pattern must match a file: a.md, docs/*.md.");
        check("a: `missing tmp/*`", "No pattern may match a file: tmp/*.");
        check("a: `has \"fn main\" src/*.rs`", "A file that matches src/*.rs must contain \"fn main\".");
        check(
            "a: `lacks /TODO|FIXME/ src/**`",
            "No file that matches src/** may contain a match of /TODO|FIXME/.",
        );
        check(
            "a: `GET http://localhost/`",
            "A GET request from this machine must be answered. The answer's status must be from 200 to 299.",
        );
        check(
            "a: `GET http://localhost/` `404` `/gone/`",
            "A GET request from this machine must be answered. The answer's status must be 404. \
             The answer's body must contain a match of /gone/.",
        );
        check("a: `clean`", "No new untracked files may be left behind.");
    }

    #[test]
    fn comparisons_with_earlier_rounds_read_as_sentences() {
        let check = |item: &str, expect: &str| {
            let task = parse_inline_task("", &[item.to_owned()]);
            assert_eq!(attributes(&task.criteria[0]).join(" "), expect);
        };
        check("a: `$ cov`", "");
        check(
            "a: `$ cov` (rising)",
            "The number must rise above the baseline's, and not fall below the best one reached.",
        );
        check(
            "a: `$ cov` `<= baseline` (optional)",
            "The number must be at most the baseline's. Optional: the loop can complete without it.",
        );
        check(
            "a: `$ cov` (not falling)",
            "The number must not fall below the best one reached, the baseline's included.",
        );
    }
}
