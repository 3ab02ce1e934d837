//! Presets: thresholds of the breaker and the exit rules, by the size of the work. An explicit number always overrides
//! them; the choice and its reason are reported in one sentence.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::{Preset, Settings};
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::clauses;
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later, words};

/// Facts about a project before its loop begins. Facts that are expensive to determine are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProjectProfile {
    pub files: Option<u64>,
    /// Share of tests in the tracked files, in percent.
    pub tests: Option<u64>,
    /// The usual length of an iteration in earlier loops.
    pub iteration_ms: Option<u64>,
    /// A criterion requires a coverage.
    pub coverage: bool,
    /// Half of its criteria or more, or its title, mention refactoring.
    pub refactoring: bool,
}

/// The preset of a loop, and the reason for its numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PresetSelection {
    pub name: Preset,
    pub because: String,
}

/// The numbers of one size: tests in a row, claims in a row, share of tests; then those of the breaker.
struct PresetSize {
    word: &'static str,
    exit: [u32; 3],
    breaker: [u32; 3],
}

const SMALL: PresetSize = PresetSize { word: tr_later!("small"), exit: [3, 2, 25], breaker: [3, 5, 70] };
const MEDIUM: PresetSize = PresetSize { word: tr_later!("medium"), exit: [4, 2, 30], breaker: [4, 6, 75] };
const LARGE: PresetSize = PresetSize { word: tr_later!("large"), exit: [5, 3, 35], breaker: [5, 8, 80] };

/// One iteration without a file change can be exploration.
const MIN_NO_PROGRESS: u32 = 2;

impl ProjectProfile {
    /// Facts from title and criteria.
    #[must_use]
    pub fn with_task(self, title: &str, criteria: &[Criterion]) -> Self {
        let mentions = |text: &str, words: &[&str]| {
            let text = text.to_lowercase();
            words.iter().any(|it| text.contains(it))
        };
        let refactors = |text: &str| mentions(text, &["refactor", "restructur", "clean up", "重构"]);
        let refactoring_count = criteria.iter().filter(|it| refactors(&it.name)).count();
        let covers = |it: &Criterion| {
            let command = match &it.check {
                Some(Check::Command { command, .. }) => command.as_str(),
                _ => "",
            };
            mentions(&it.name, &["coverage", "覆盖率"])
                || mentions(command, &["coverage", "llvm-cov", "--cov"])
        };
        Self {
            coverage: criteria.iter().any(covers),
            refactoring: refactors(title)
                || (refactoring_count > 0 && refactoring_count * 2 >= criteria.len()),
            ..self
        }
    }
}

/// Applies the preset's numbers to keys that are not set.
pub fn apply_preset(settings: &mut Settings, project: &ProjectProfile) -> PresetSelection {
    let (size, why) = select_size(settings, project);
    let because = match why {
        None => tr!("{size} (as configured)", size = translate(size.word)),
        Some(why) => tr!("{size} ({reason})", size = translate(size.word), reason = why),
    };
    apply_size(settings, &size);
    PresetSelection { name: settings.breaker.preset, because }
}

/// The origin of a number that a preset set.
pub fn origin(settings: &Settings, project: &ProjectProfile, key: &str) -> Option<String> {
    value(settings, key).filter(|_| !is_written(&settings.written, key))?;
    let (size, why) = select_size(settings, project);
    Some(match why {
        None => tr!("preset {size} (as configured)", size = translate(size.word)),
        Some(why) => {
            tr!("preset {size} (chosen by adaptive: {reason})", size = translate(size.word), reason = why)
        }
    })
}

/// The size, with the reason if it was not chosen explicitly.
fn select_size(settings: &Settings, project: &ProjectProfile) -> (PresetSize, Option<String>) {
    match settings.breaker.preset {
        Preset::Small => (SMALL, None),
        Preset::Large => (LARGE, None),
        Preset::Adaptive => {
            let (size, why) = adaptive_size(project, settings.limits.iterations);
            (size, Some(why))
        }
    }
}

fn is_written(written: &[String], key: &str) -> bool {
    written.iter().any(|it| it == key)
}

/// The number that a preset may have set for a key.
pub fn value(settings: &Settings, key: &str) -> Option<u32> {
    let (exit, breaker) = (&settings.exit, &settings.breaker);
    match key {
        "exit.test_loops" => Some(exit.test_loops),
        "exit.done_signals" => Some(exit.done_signals),
        "exit.test_percentage" => Some(exit.test_percentage),
        "breaker.no_progress" => Some(breaker.no_progress),
        "breaker.same_error" => Some(breaker.same_error),
        "breaker.output_decline" => Some(breaker.output_decline),
        _ => None,
    }
}

fn apply_size(settings: &mut Settings, size: &PresetSize) {
    let [test_loops, done_signals, test_percentage] = size.exit;
    let [no_progress, same_error, output_decline] = size.breaker;
    let (exit, breaker) = (&mut settings.exit, &mut settings.breaker);
    let numbers = [
        ("exit.test_loops", &mut exit.test_loops, test_loops),
        ("exit.done_signals", &mut exit.done_signals, done_signals),
        ("exit.test_percentage", &mut exit.test_percentage, test_percentage),
        ("breaker.no_progress", &mut breaker.no_progress, no_progress),
        ("breaker.same_error", &mut breaker.same_error, same_error),
        ("breaker.output_decline", &mut breaker.output_decline, output_decline),
    ];
    for (key, place, number) in numbers {
        if !is_written(&settings.written, key) {
            *place = number;
        }
    }
}

/// Every sign of large work is a point, many files are two; a short loop needs an early breaker.
fn adaptive_size(project: &ProjectProfile, iterations: u32) -> (PresetSize, String) {
    let mut points = 0;
    let mut why = Vec::new();
    let mut sign = |worth: i32, text: String| {
        points += worth;
        why.push(text);
    };
    if let Some(files) = project.files {
        let worth = i32::from(files >= 100) + i32::from(files >= 500);
        sign(worth, words::counted(files, "tracked file"));
    }
    if let Some(share) = project.tests.filter(|it| *it >= 30) {
        sign(1, tr!("{share} % of them tests", share));
    }
    if project.coverage {
        sign(1, tr!("a coverage to reach").to_owned());
    }
    if let Some(ms) = project.iteration_ms.filter(|it| *it >= 10 * 60_000) {
        sign(1, tr!("iterations of {duration}", duration = words::duration(ms)));
    }
    match iterations {
        0..=10 => {
            let count = words::counted(u64::from(iterations), "iteration");
            sign(-1, tr!("{count} at most", count));
        }
        50.. => sign(1, tr!("up to {iterations} iterations", iterations)),
        _ => {}
    }
    let mut size = match points {
        ..=1 => SMALL,
        2 => MEDIUM,
        _ => LARGE,
    };
    if project.refactoring {
        // Its tests pass from the start, so that only changed files show progress.
        let [no_progress, ..] = &mut size.breaker;
        *no_progress = no_progress.saturating_sub(1).max(MIN_NO_PROGRESS);
        why.push(tr!("refactoring: only {count} iterations without progress", count = *no_progress));
    }
    let why = match why.len() {
        0 => tr!("no sign of a larger project").to_owned(),
        _ => clauses::join_with_commas(why),
    };
    (size, why)
}
