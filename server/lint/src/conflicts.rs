//! Finds pairs of criteria that repeat each other or cannot both hold.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, NumberRule};
use loopkeeper_text::fold::folded;
use loopkeeper_text::tr;

use crate::shell;
use crate::{BetterLine, Lint, LintCode, LintContext, MAX_CRITERIA};

pub(crate) fn lints(context: &LintContext<'_>) -> Vec<Lint> {
    let criteria = context.task.criteria.get(..MAX_CRITERIA).unwrap_or(&context.task.criteria);
    let mut all = duplicates(criteria);
    all.extend(contradictions(criteria));
    all
}

/// Stories repeat the gates of the project, so only criteria of one story, or of none, are compared.
fn duplicates(criteria: &[Criterion]) -> Vec<Lint> {
    let mut first: HashMap<(Option<&str>, String), usize> = HashMap::new();
    let mut all = Vec::new();
    for (index, criterion) in criteria.iter().enumerate() {
        let key = (criterion.plan_item.as_deref(), comparison_key(criterion));
        if let Some(earlier) = first.get(&key).and_then(|it| criteria.get(*it)) {
            let name = shorten_name(&earlier.name);
            let fact = if criterion.check.is_some() {
                tr!("the same check as \"{name}\"", name)
            } else {
                tr!("the same text as \"{name}\"", name)
            };
            all.push(Lint {
                code: LintCode::Duplicate,
                criterion: index,
                place: criterion.place.clone(),
                fact,
                remedy: tr!("Remove one of them"),
                better: BetterLine::Nothing,
            });
        } else {
            first.insert(key, index);
        }
    }
    all
}

/// The text by which criteria are equal: the check, or the words if there is none.
fn comparison_key(criterion: &Criterion) -> String {
    match &criterion.check {
        Some(Check::Judge { .. }) | None => ["? ", &folded(&criterion.name).to_lowercase()].concat(),
        Some(check) => format!("{check:?} {:?}", criterion.number_rules),
    }
}

fn contradictions(criteria: &[Criterion]) -> Vec<Lint> {
    let mut all = Vec::new();
    let mut claims: HashMap<String, Vec<(Requirement, usize)>> = HashMap::new();
    let clean = criteria.iter().position(|it| matches!(it.check, Some(Check::Clean)));
    for (index, criterion) in criteria.iter().enumerate().filter(|(_, it)| it.required) {
        let mut opposed = clean.filter(|it| *it != index && leaves_files(criterion));
        for (subject, claim) in claims_of(criterion) {
            let known = claims.entry(subject).or_default();
            opposed = opposed.or_else(|| known.iter().find(|(it, _)| it.excludes(&claim)).map(|(_, at)| *at));
            known.push((claim, index));
        }
        all.extend(opposed_rule(criterion).map(|(rule, limit)| Lint {
            code: LintCode::Contradictory,
            criterion: index,
            place: criterion.place.clone(),
            fact: tr!("`{rule}` contradicts `{limit}`", rule, limit),
            remedy: tr!("Compare with `<= baseline` where fewer is better"),
            better: BetterLine::Unknown,
        }));
        if let Some(other) = opposed.and_then(|it| criteria.get(it)) {
            all.push(Lint {
                code: LintCode::Contradictory,
                criterion: index,
                place: criterion.place.clone(),
                fact: tr!("contradicts \"{name}\"", name = shorten_name(&other.name)),
                remedy: tr!("Keep one of them"),
                better: BetterLine::Nothing,
            });
        }
    }
    all
}

/// The rule that a number may not fall, and the limit below which the same number must stay.
fn opposed_rule(criterion: &Criterion) -> Option<(String, String)> {
    let rule = criterion.number_rules.iter().find(|it| it.is_attribute())?;
    let Some(Check::Command { expect, .. }) = &criterion.check else { return None };
    let is_below = |it: &Compare| matches!(it, Compare::AtMost | Compare::Below);
    let of_expectations = expect.iter().find_map(|it| match it {
        Expect::Number { compare, value } if is_below(compare) => Some(format!("{} {value}", compare.sign())),
        _ => None,
    });
    let of_baseline = || {
        let opposes = |it: &&NumberRule| matches!(it, NumberRule::Baseline { compare } if is_below(compare));
        criterion.number_rules.iter().find(opposes).map(|it| it.written())
    };
    Some((rule.written(), of_expectations.or_else(of_baseline)?))
}

fn shorten_name(name: &str) -> String {
    loopkeeper_text::truncate::shortened(name, 30).into_owned()
}

/// What a check requires of its subject.
#[derive(Debug, Clone, PartialEq)]
enum Requirement {
    Present,
    Absent,
    Exit(i32),
    Number(Compare, f64),
    /// The HTTP status is in this range.
    Status(RangeInclusive<u16>),
}

impl Requirement {
    fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Present, Self::Absent) | (Self::Absent, Self::Present) => true,
            (Self::Exit(left), Self::Exit(right)) => left != right,
            (Self::Number(left, a), Self::Number(right, b)) => are_disjoint((*left, *a), (*right, *b)),
            (Self::Status(left), Self::Status(right)) => {
                left.end() < right.start() || right.end() < left.start()
            }
            _ => false,
        }
    }
}

/// Whether no number satisfies both comparisons.
#[expect(clippy::float_cmp, reason = "thresholds are compared as they are written")]
fn are_disjoint(left: (Compare, f64), right: (Compare, f64)) -> bool {
    if left.0 == Compare::Equal || right.0 == Compare::Equal {
        let ((_, value), other) = if left.0 == Compare::Equal { (left, right) } else { (right, left) };
        return !holds(other, value);
    }
    let (left_low, left_open) = lower_bound(left);
    let (right_low, right_open) = lower_bound(right);
    let (left_high, left_shut) = upper_bound(left);
    let (right_high, right_shut) = upper_bound(right);
    let (low, high) = (left_low.max(right_low), left_high.min(right_high));
    low > high || low == high && (left_open || right_open || left_shut || right_shut)
}

#[expect(clippy::float_cmp, reason = "thresholds are compared as they are written")]
fn holds((compare, bound): (Compare, f64), value: f64) -> bool {
    match compare {
        Compare::Equal => value == bound,
        Compare::NotEqual => value != bound,
        Compare::AtLeast => value >= bound,
        Compare::AtMost => value <= bound,
        Compare::Above => value > bound,
        Compare::Below => value < bound,
    }
}

/// The lower bound, and whether it is excluded.
fn lower_bound((compare, value): (Compare, f64)) -> (f64, bool) {
    match compare {
        Compare::AtLeast => (value, false),
        Compare::Above => (value, true),
        Compare::Equal | Compare::NotEqual | Compare::AtMost | Compare::Below => (f64::NEG_INFINITY, false),
    }
}

/// The upper bound, and whether it is excluded.
fn upper_bound((compare, value): (Compare, f64)) -> (f64, bool) {
    match compare {
        Compare::AtMost => (value, false),
        Compare::Below => (value, true),
        Compare::Equal | Compare::NotEqual | Compare::AtLeast | Compare::Above => (f64::INFINITY, false),
    }
}

fn claims_of(criterion: &Criterion) -> Vec<(String, Requirement)> {
    let globs = |globs: &[String], claim: &Requirement| -> Vec<(String, Requirement)> {
        globs.iter().map(|it| (format!("glob {}", it.trim_start_matches("./")), claim.clone())).collect()
    };
    match &criterion.check {
        Some(Check::Exists { globs: all }) => globs(all, &Requirement::Present),
        Some(Check::Missing { globs: all }) => globs(all, &Requirement::Absent),
        Some(Check::Has { pattern, globs }) => {
            vec![(format!("{} in {globs:?}", pattern.written()), Requirement::Present)]
        }
        Some(Check::Lacks { pattern, globs }) => {
            vec![(format!("{} in {globs:?}", pattern.written()), Requirement::Absent)]
        }
        Some(Check::Command { command, expect }) => claims_of_command(command, expect),
        Some(Check::Get { url, expect }) => claims_of_request(url, expect),
        Some(Check::Clean | Check::Judge { .. }) | None => Vec::new(),
    }
}

fn claims_of_command(command: &str, expect: &[Expect]) -> Vec<(String, Requirement)> {
    let command = folded(command);
    let mut all = claims_of_output(&command, expect);
    let exit = expect.iter().find_map(|it| match it {
        Expect::Exit { code } => Some(*code),
        _ => None,
    });
    all.push((command.into_owned(), Requirement::Exit(exit.unwrap_or(0))));
    all
}

fn claims_of_request(url: &str, expect: &[Expect]) -> Vec<(String, Requirement)> {
    let request = format!("GET {url}");
    let mut all = claims_of_output(&request, expect);
    let status = expect.iter().find_map(|it| match it {
        Expect::Status { code } => Some(*code..=*code),
        _ => None,
    });
    all.push((request, Requirement::Status(status.unwrap_or(200..=299))));
    all
}

fn claims_of_output(source: &str, expect: &[Expect]) -> Vec<(String, Requirement)> {
    let claim = |it: &Expect| match it {
        Expect::Number { compare, value } => Some((source.to_owned(), Requirement::Number(*compare, *value))),
        Expect::Matches { pattern } => {
            Some((format!("{} of {source}", pattern.written()), Requirement::Present))
        }
        Expect::MatchesNot { pattern } => {
            Some((format!("{} of {source}", pattern.written()), Requirement::Absent))
        }
        Expect::Exit { .. } | Expect::Status { .. } => None,
    };
    expect.iter().filter_map(claim).collect()
}

/// Whether the command of a criterion writes a file into the work tree, which `clean` would then report.
fn leaves_files(criterion: &Criterion) -> bool {
    let Some(command) = crate::command_of(criterion) else { return false };
    let outside = |target: &str| target.starts_with(['/', '$', '&', '~']) || target.starts_with("\"$");
    let redirects = command.split('>').skip(1).any(|it| {
        let target = it.trim_start_matches(['|', ' ']);
        !target.is_empty() && !outside(target) && !target.starts_with('=') && !target.starts_with('(')
    });
    let is_quoted = command.contains("'>") || command.contains("\">");
    let tees = shell::segments(command).iter().any(|it| {
        it.program() == Some("tee") && it.arguments().iter().any(|it| !it.starts_with('-') && !outside(it))
    });
    redirects && !is_quoted || tees
}
