//! The numbers of presets, and the reasons for the choice.

use super::{ProjectProfile, apply_preset, origin};
use crate::decide::sim::criterion;
use crate::settings::{Preset, Settings};
use loopkeeper_text::language::Language;

/// The six numbers, and why.
fn chosen(mut settings: Settings, project: &ProjectProfile) -> ([u32; 6], String) {
    let finding = apply_preset(&mut settings, project);
    let (exit, breaker) = (&settings.exit, &settings.breaker);
    let numbers = [
        exit.test_loops,
        exit.done_signals,
        exit.test_percentage,
        breaker.no_progress,
        breaker.same_error,
        breaker.output_decline,
    ];
    (numbers, finding.because)
}

fn with(preset: Preset) -> Settings {
    let mut settings = Settings::default();
    settings.breaker.preset = preset;
    settings
}

const SMALL: [u32; 6] = [3, 2, 25, 3, 5, 70];
const LARGE: [u32; 6] = [5, 3, 35, 5, 8, 80];

#[test]
fn named_presets_set_their_numbers() {
    assert_eq!(chosen(with(Preset::Small), &ProjectProfile::default()).0, SMALL);
    assert_eq!(chosen(with(Preset::Large), &ProjectProfile::default()).0, LARGE);
}

#[test]
fn a_written_number_wins() {
    let mut settings = with(Preset::Large);
    settings.breaker.no_progress = 2;
    settings.exit.done_signals = 7;
    settings.written = vec!["breaker.no_progress".to_owned(), "exit.done_signals".to_owned()];
    assert_eq!(chosen(settings, &ProjectProfile::default()).0, [5, 7, 35, 2, 8, 80]);
}

#[test]
fn a_number_names_the_preset_that_set_it() {
    let check = |preset: Preset, key: &str, expect: Option<&str>| {
        let settings = Settings { written: vec!["breaker.same_error".to_owned()], ..with(preset) };
        let project = ProjectProfile { files: Some(812), ..ProjectProfile::default() };
        assert_eq!(origin(&settings, &project, key).as_deref(), expect, "{key}");
    };
    let adapted = "preset medium (chosen by adaptive: 812 tracked files)";
    check(Preset::Adaptive, "exit.test_loops", Some(adapted));
    check(Preset::Large, "breaker.no_progress", Some("preset large (as configured)"));
    check(Preset::Adaptive, "breaker.same_error", None);
    check(Preset::Adaptive, "limits.iterations", None);
}

#[test]
fn the_adaptive_preset_names_its_reasons() {
    let check = |project: ProjectProfile, iterations: u32, size: [u32; 6], because: &str| {
        let mut settings = with(Preset::Adaptive);
        settings.limits.iterations = iterations;
        assert_eq!(chosen(settings, &project), (size, because.to_owned()));
    };
    let files = |files| ProjectProfile { files: Some(files), ..ProjectProfile::default() };
    check(ProjectProfile::default(), 25, SMALL, "small (no sign of a larger project)");
    check(files(12), 25, SMALL, "small (12 tracked files)");
    check(files(812), 25, [4, 2, 30, 4, 6, 75], "medium (812 tracked files)");
    let tested = ProjectProfile { tests: Some(40), coverage: true, ..files(120) };
    check(tested, 25, LARGE, "large (120 tracked files, 40 % of them tests, a coverage to reach)");
    check(
        ProjectProfile { iteration_ms: Some(12 * 60_000), ..files(900) },
        80,
        LARGE,
        "large (900 tracked files, iterations of 12 min, up to 80 iterations)",
    );
}

#[test]
fn refactoring_is_stricter_about_no_progress() {
    let of = |files: u64, refactoring: bool| {
        let (numbers, why) = chosen(
            with(Preset::Adaptive),
            &ProjectProfile { files: Some(files), refactoring, coverage: true, ..ProjectProfile::default() },
        );
        (numbers[3], why)
    };
    for (files, usual, strict) in [(12, 3, 2), (120, 4, 3), (812, 5, 4)] {
        assert_eq!(of(files, false).0, usual, "{files}");
        let (found, why) = of(files, true);
        assert_eq!(found, strict, "{files}");
        assert!(why.ends_with(&format!("refactoring: only {strict} iterations without progress)")), "{why}");
    }
    // Refactoring is not a sign of large work, and changes no other number.
    let refactoring = ProjectProfile { refactoring: true, ..ProjectProfile::default() };
    assert_eq!(chosen(with(Preset::Adaptive), &refactoring).0, [3, 2, 25, 2, 5, 70]);
    assert_eq!(chosen(with(Preset::Large), &refactoring).0, LARGE);
    let mut written = with(Preset::Adaptive);
    written.breaker.no_progress = 6;
    written.written = vec!["breaker.no_progress".to_owned()];
    assert_eq!(chosen(written, &refactoring).0, [3, 2, 25, 6, 5, 70]);
}

#[test]
fn coverage_and_refactoring_presets_are_detected() {
    let of = |title: &str, names: &[(&str, &str)]| {
        let criteria: Vec<_> = names.iter().map(|(name, check)| criterion(name, check)).collect();
        let found = ProjectProfile::default().with_task(title, &criteria);
        (found.coverage, found.refactoring)
    };
    assert_eq!(of("Pay", &[("tests pass", "make test")]), (false, false));
    assert_eq!(of("Pay", &[("Coverage holds", "make cover")]), (true, false));
    assert_eq!(of("Pay", &[("tests", "pytest --cov=x")]), (true, false));
    assert_eq!(of("Refactor the parser", &[("tests", "make")]), (false, true));
    assert_eq!(of("Parser", &[("Refactored", "a"), ("b", "b")]), (false, true));
    assert_eq!(of("Parser", &[("Refactored", "a"), ("b", "b"), ("c", "c")]), (false, false));
}

#[test]
fn the_reason_is_in_the_language_of_the_process() {
    let facts = ProjectProfile { files: Some(620), tests: Some(35), ..ProjectProfile::default() };
    let mut settings = Settings::default();
    settings.limits.iterations = 60;
    let chinese = Language::SimplifiedChinese
        .during(|| (chosen(settings.clone(), &facts).1, origin(&settings, &facts, "breaker.no_progress")));
    let reason = "620 个受跟踪的文件，其中 35 % 是测试，多达 60 次迭代";
    assert_eq!(chinese.0, format!("大型（{reason}）"));
    assert_eq!(chinese.1, Some(format!("大型预设（由 adaptive 选择：{reason}）")));
}
