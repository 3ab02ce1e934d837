//! Grades a whole task, and lists what is missing for a better grade.

use loopkeeper_task::change_kind::ChangeKind;
use loopkeeper_task::criterion::{Check, Criterion, Expect};
use loopkeeper_task::work_product::WorkProduct;
use loopkeeper_task::{Task, TaskDocument, parse_inline_task};
use loopkeeper_text::tr;
use serde::Serialize;

use crate::gate::{self, Gate};
use crate::{Lint, LintCode, MAX_CRITERIA};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GradeLevel {
    /// Nothing that a check decides, or less than half of it.
    Vague,
    /// Checks decide the end, but a loop could end green without the work.
    Incomplete,
    /// Behaviour, tests and quality are checked.
    Comprehensive,
}

/// What a task can have a criterion for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskAspect {
    Behaviour,
    Tests,
    Types,
    Lint,
    Docs,
    /// Debug output, TODOs, files that should not stay.
    Leftovers,
    /// What must not change.
    Scope,
    /// A number, or a judge, for a task whose heading asks for speed.
    Measurement,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Grade {
    pub level: GradeLevel,
    /// Number of required criteria with a check that can fail.
    pub measurable: usize,
    /// Number of required criteria.
    pub required: usize,
    pub missing: Vec<TaskAspect>,
}

impl GradeLevel {
    pub fn words(self) -> &'static str {
        match self {
            Self::Vague => tr!("vague"),
            Self::Incomplete => tr!("measurable but incomplete"),
            Self::Comprehensive => tr!("comprehensive"),
        }
    }

    fn brief(self) -> &'static str {
        match self {
            Self::Vague | Self::Comprehensive => self.words(),
            Self::Incomplete => tr!("incomplete"),
        }
    }
}

impl TaskAspect {
    /// What every task can have a criterion for.
    const COMMON: [Self; 7] =
        [Self::Behaviour, Self::Tests, Self::Types, Self::Lint, Self::Docs, Self::Leftovers, Self::Scope];

    pub fn words(self) -> &'static str {
        match self {
            Self::Behaviour => tr!("behaviour"),
            Self::Tests => tr!("tests"),
            Self::Types => tr!("types"),
            Self::Lint => tr!("lint"),
            Self::Docs => tr!("docs"),
            Self::Leftovers => tr!("leftovers"),
            Self::Scope => tr!("limits of scope"),
            Self::Measurement => tr!("a measurement"),
        }
    }
}

impl Grade {
    /// `incomplete: no tests, types, docs and 2 more`, for a line of a list.
    pub fn brief(&self) -> String {
        const MAX: usize = 3;
        let (level, measurable, required) = (self.level.brief(), self.measurable, self.required);
        if measurable == 0 {
            return tr!("{level}: no criterion has a check that can fail", level);
        }
        if measurable < required {
            return tr!(
                "{level}: {measurable} of {required} criteria have a check that can fail",
                level,
                measurable,
                required
            );
        }
        if self.missing.is_empty() {
            return level.to_owned();
        }
        if self.level == GradeLevel::Comprehensive {
            return self.brief_of_comprehensive();
        }
        let missing: Vec<&str> = self.missing.iter().take(MAX).map(|it| it.words()).collect();
        let missing = missing.join(tr!(", "));
        match self.missing.len().saturating_sub(MAX) {
            0 => tr!("{level}: no {missing}", level, missing),
            more => tr!("{level}: no {missing} and {more} more", level, missing, more),
        }
    }

    /// `comprehensive (not checked: types)`: a missing aspect is no fault at this level.
    fn brief_of_comprehensive(&self) -> String {
        const MAX: usize = 2;
        let level = self.level.brief();
        let missing: Vec<&str> = self.missing.iter().take(MAX).map(|it| it.words()).collect();
        let missing = missing.join(tr!(", "));
        if self.missing.len() > MAX {
            tr!("{level} (not checked: {missing}, …)", level, missing)
        } else {
            tr!("{level} (not checked: {missing})", level, missing)
        }
    }

    /// `measurable but incomplete: 3 of 4 criteria have a check that can fail; missing: types, docs`
    pub fn sentence(&self) -> String {
        let (level, measurable, required) = (self.level.words(), self.measurable, self.required);
        let graded = if required == 0 {
            tr!("{level}: no required criterion", level)
        } else if required == 1 {
            tr!("{level}: {measurable} of 1 criterion has a check that can fail", level, measurable)
        } else {
            tr!(
                "{level}: {measurable} of {required} criteria have a check that can fail",
                level,
                measurable,
                required
            )
        };
        if self.missing.is_empty() {
            return graded;
        }
        let missing: Vec<&str> = self.missing.iter().map(|it| it.words()).collect();
        tr!("{graded}; missing: {missing}", graded, missing = missing.join(tr!(", ")))
    }
}

/// Grades a task. `lints` are the remarks on it.
pub fn grade(task: &Task, documents: &[TaskDocument], lints: &[Lint]) -> Grade {
    let is_faulty = |index: usize| {
        let faults = [LintCode::Weak, LintCode::Contradictory];
        lints.iter().any(|it| it.criterion == index && faults.contains(&it.code))
    };
    let required = task.criteria.iter().enumerate().take(MAX_CRITERIA).filter(|(_, it)| it.required);
    let (mut measurable, mut total) = (Vec::new(), 0);
    for (index, criterion) in required {
        total += 1;
        if criterion.check.is_some() && !is_faulty(index) {
            measurable.push(criterion);
        }
    }
    let mut present = aspects(&measurable);
    if names_limits(documents) || task.settings.iter().any(|it| it.key == "criteria.protected") {
        present.push(TaskAspect::Scope);
    }
    let mut missing: Vec<TaskAspect> =
        TaskAspect::COMMON.into_iter().filter(|it| !present.contains(it)).collect();
    let has = |aspect| present.contains(&aspect);
    let is_measured =
        ChangeKind::of_sentence(&task.title) != ChangeKind::Speed || measurable.iter().any(|it| measures(it));
    let level = if measurable.is_empty() || measurable.len() * 2 < total {
        GradeLevel::Vague
    } else if measurable.len() == total
        && has(TaskAspect::Behaviour)
        && is_measured
        && (has(TaskAspect::Tests) || is_writing(&measurable))
        && missing.len() <= 4
    {
        GradeLevel::Comprehensive
    } else {
        GradeLevel::Incomplete
    };
    // A compiler checks types in passing, but that alone makes no task comprehensive.
    if measurable.iter().any(|it| compiles(it)) {
        missing.retain(|it| *it != TaskAspect::Types);
    }
    if is_writing(&measurable) || WorkProduct::of_sentence(&task.title) != WorkProduct::Code {
        missing.retain(|it| ![TaskAspect::Tests, TaskAspect::Types, TaskAspect::Lint].contains(it));
    }
    if !is_measured {
        missing.insert(0, TaskAspect::Measurement);
    }
    Grade { level, measurable: measurable.len(), required: total, missing }
}

/// What the criteria check. Tests that were selected for the work are its behaviour, but no other criterion would
/// notice that something else broke.
fn aspects(measurable: &[&Criterion]) -> Vec<TaskAspect> {
    let each: Vec<Vec<TaskAspect>> = measurable.iter().map(|it| aspects_of(it)).collect();
    let is_proof =
        |it: &&Vec<TaskAspect>| it.contains(&TaskAspect::Behaviour) || it.contains(&TaskAspect::Tests);
    let is_alone = each.iter().filter(is_proof).count() == 1;
    let is_both =
        |it: &&Vec<TaskAspect>| it.contains(&TaskAspect::Behaviour) && it.contains(&TaskAspect::Tests);
    let is_selection = is_alone && each.iter().any(|it| is_both(&it));
    each.into_iter().flatten().filter(|it| !is_selection || *it != TaskAspect::Tests).collect()
}

/// Whether the check compares a number, runs a benchmark, or asks a judge.
fn measures(criterion: &Criterion) -> bool {
    const BENCHMARKS: [&str; 7] = ["bench", "hyperfine", "lighthouse", "perf", "k6 ", "wrk ", "time "];
    match &criterion.check {
        Some(Check::Command { command, expect }) => {
            let is_number = |it: &Expect| matches!(it, Expect::Number { .. });
            let compares = !criterion.number_rules.is_empty() || expect.iter().any(is_number);
            compares && gate::gates_of_command(command).is_empty()
                || BENCHMARKS.iter().any(|it| command.contains(it))
        }
        Some(Check::Judge { .. }) => true,
        Some(
            Check::Exists { .. }
            | Check::Missing { .. }
            | Check::Has { .. }
            | Check::Lacks { .. }
            | Check::Clean
            | Check::Get { .. },
        )
        | None => false,
    }
}

/// What one more criterion would add to a grade.
pub fn line_aspects(line: &str) -> Vec<TaskAspect> {
    let read = parse_inline_task("", &[line.to_owned()]);
    let Some(criterion) = read.criteria.first() else { return Vec::new() };
    let mut all = aspects_of(criterion);
    all.extend(measures(criterion).then_some(TaskAspect::Measurement));
    all
}

fn compiles(criterion: &Criterion) -> bool {
    matches!(&criterion.check, Some(Check::Command { command, .. }) if gate::compiles(command))
}

/// A task about documents needs no tests.
fn is_writing(measurable: &[&Criterion]) -> bool {
    const TEXTS: [&str; 5] = [".md", ".txt", ".rst", ".adoc", ".tex"];
    let is_text = |it: &&&Criterion| match &it.check {
        Some(
            Check::Exists { globs }
            | Check::Has { globs, .. }
            | Check::Lacks { globs, .. }
            | Check::Missing { globs },
        ) => globs.iter().any(|glob| TEXTS.iter().any(|end| glob.ends_with(end))),
        Some(Check::Command { command, .. }) => TEXTS.iter().any(|end| command.contains(end)),
        Some(Check::Judge { .. }) => true,
        Some(Check::Clean | Check::Get { .. }) | None => false,
    };
    measurable.len() >= 3 && measurable.iter().filter(is_text).count() * 3 >= measurable.len() * 2
}

fn aspects_of(criterion: &Criterion) -> Vec<TaskAspect> {
    let mut all = Vec::new();
    match &criterion.check {
        Some(Check::Command { command, expect }) => {
            let gates = gate::gates_of_command(command);
            all.extend(gates.iter().filter_map(|it| aspect_of(*it)));
            let reads = expect.iter().any(|it| !matches!(it, Expect::Exit { .. }));
            let is_selective = gates.contains(&Gate::Tests) && selects_tests(command);
            let is_limit = command.trim_start().starts_with("git diff") && !reads;
            if gates.is_empty() && !is_limit || is_selective || reads && !gates.contains(&Gate::Coverage) {
                all.push(TaskAspect::Behaviour);
            }
            if command.contains("git diff") {
                all.push(TaskAspect::Scope);
            }
            all.extend(aspect_of_files(&[command.as_str()]));
        }
        Some(Check::Get { .. } | Check::Judge { .. }) => all.push(TaskAspect::Behaviour),
        Some(Check::Clean) => all.push(TaskAspect::Leftovers),
        Some(Check::Lacks { .. } | Check::Missing { .. }) => all.push(TaskAspect::Leftovers),
        Some(Check::Exists { globs } | Check::Has { globs, .. }) => {
            let files: Vec<&str> = globs.iter().map(String::as_str).collect();
            let named = aspect_of_files(&files);
            all.push(TaskAspect::Behaviour);
            all.extend(named);
        }
        None => {}
    }
    all
}

fn aspect_of(gate: Gate) -> Option<TaskAspect> {
    match gate {
        Gate::Tests | Gate::Coverage => Some(TaskAspect::Tests),
        Gate::Types => Some(TaskAspect::Types),
        Gate::Lint | Gate::Format => Some(TaskAspect::Lint),
        Gate::Build => None,
    }
}

/// The aspect `Docs` if a text names a document.
fn aspect_of_files(texts: &[&str]) -> Option<TaskAspect> {
    let docs = ["README", "CHANGELOG", "docs/", ".md", ".rst", ".adoc"];
    texts.iter().any(|text| docs.iter().any(|it| text.contains(it))).then_some(TaskAspect::Docs)
}

/// Whether a test command names what it tests: a file, a filter.
fn selects_tests(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let names_file = words.iter().any(|it| {
        (it.contains("test") || it.contains("spec"))
            && (it.contains('/') || it.contains('.') || it.contains('_'))
    });
    let filters = ["-k", "-t", "--grep", "-run", "--test", "--filter", "--testPathPattern"];
    names_file
        || words.iter().any(|it| filters.iter().any(|flag| it.starts_with(flag)))
        || words.windows(3).any(|it| matches!(it, ["cargo", "test", name] if !name.starts_with('-')))
}

/// A heading or a sentence that limits the scope of changes.
fn names_limits(documents: &[TaskDocument]) -> bool {
    const HEADINGS: [&str; 16] = [
        "out of scope",
        "non-goals",
        "non goals",
        "constraints",
        "do not",
        "don't",
        "must not",
        "limits",
        "not in scope",
        "guardrails",
        "范围外",
        "不要",
        "约束",
        "限制",
        "禁止",
        "不在范围",
    ];
    const SENTENCES: [&str; 12] = [
        "只修改",
        "只改",
        "仅修改",
        "不改动",
        "不要改",
        "不得修改",
        "不修改其他",
        "leave all other",
        "do not touch",
        "don't touch",
        "do not change",
        "may change.",
    ];
    let Some(prompt) = documents.first() else { return false };
    prompt.text.lines().take(2000).any(|line| {
        let line = line.trim_start_matches(['#', ' ', '*', '-', '>']).to_lowercase();
        HEADINGS.iter().any(|it| line.starts_with(it)) || SENTENCES.iter().any(|it| line.contains(it))
    })
}
