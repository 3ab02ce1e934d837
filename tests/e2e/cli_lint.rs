//! `check --lint` and the formats of `check`.

use std::fs;
use std::path::Path;

use loopkeeper_text::yaml;
use serde_json::Value;

use crate::cli::{Ran, Terminal};

const GOOD: &str =
    "# T\n\nDone when:\n\n- It exists: `exists a.txt`\n- It is short: `$ wc -l < a.txt` `< 10`\n";
const MIXED: &str =
    "# T\n\nDone when:\n\n- Errors are handled properly\n- It builds: `$ sh build.sh || true`\n";
const BROKEN: &str = "# T\n\nDone when:\n\n- It exists: `exist a.txt`\n";

#[test]
fn the_exit_code_distinguishes_findings_from_errors() {
    for (prompt, code) in [(GOOD, 0), (MIXED, 1), (BROKEN, 2)] {
        let terminal = Terminal::new();
        terminal.file("PROMPT.md", prompt);
        let ran = terminal.run(&["check", "--lint"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
    }
}

#[test]
fn lint_runs_nothing_and_needs_no_trust() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", MIXED).file("build.sh", "touch ran\n");
    let ran = terminal.run(&["check", "--lint"]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "PROMPT.md:5:22: vague: Errors are handled properly: \"properly\" cannot be measured. Name the input and the expected result.",
            "PROMPT.md:6:17: weak: It builds: `|| true` hides every failure. Let the check fail.",
            "T: vague: 0 of 2 criteria have a check that can fail; missing: behaviour, tests, types, lint, docs, leftovers, limits of scope",
        ]
    );
    assert!(!terminal.root().join("ran").exists());
}

#[test]
fn leftovers_of_abandoned_attempts_are_named() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", GOOD).file("package-lock.json", "{}");
    terminal.file("web/yarn.lock", "").file("web/package.json", "{}");
    terminal.run(&["check", "--lint"]).expect(0);
    terminal.file("pnpm-lock.yaml", "");
    let line = "pnpm-lock.yaml:1:1: leftover: lock files of two package managers: package-lock.json and pnpm-lock.yaml. \
                Remove the one that is not used.";
    terminal.run(&["check", "--lint"]).expect(1).out(line);
    terminal.run(&["check", "--lint", "--format", "json"]).expect(1).out("\"leftover\"");
}

#[test]
fn every_format_is_what_its_reader_expects() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", MIXED);
    let of = |format: &str| terminal.run(&["check", "--lint", "--format", format]).stdout;
    let json: Value = serde_json::from_str(&of("json")).unwrap();
    assert_eq!(json["grade"]["level"], "vague");
    assert_eq!(json["remarks"][1]["line"], 6);
    let sarif: Value = serde_json::from_str(&of("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][1]["ruleId"], "weak");
    assert!(of("github").contains("::warning file=PROMPT.md,line=6,col=17,title=weak::"));
    assert!(of("junit").contains(
        "<testsuite name=\"T\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\" file=\"PROMPT.md\">"
    ));
}

#[test]
fn results_have_the_same_formats() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", GOOD).file("a.txt", &"x\n".repeat(20));
    let of = |format: &str| terminal.run(&["check", "--trust", "--format", format]);
    let ran = of("github");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.stdout, "::error file=PROMPT.md,line=6,col=3,title=fail::It is short: 20, needs < 10\n");
    let xml = of("junit").stdout;
    assert!(xml.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{xml}");
    let sarif: Value = serde_json::from_str(&of("sarif").stdout).unwrap();
    let kinds: Vec<&Value> =
        sarif["runs"][0]["results"].as_array().unwrap().iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["pass", "fail"]);
}

/// The program's folder before the others on `PATH`.
fn path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_loopkeeper")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn value_of(file: &str, key: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let found = yaml::scalars(&text).into_iter().find(|it| it.path == key);
    found.unwrap_or_else(|| panic!("{key} in {file}")).value
}

#[test]
fn the_action_annotates_and_fails() {
    let script = value_of(".github/actions/check/action.yml", "runs.steps.1.run");
    let ran = |prompt: &str, task: &str, mode: &str| {
        let terminal = Terminal::new();
        terminal.file("PROMPT.md", prompt).file("build.sh", "touch ran\n");
        let mut bash = terminal.command_of(Path::new("bash"), &["-e", "-c", &script]);
        bash.env("PATH", path()).env("TASK", task).env("MODE", mode);
        (Ran::of(&bash.output().unwrap()), terminal.root().join("ran").exists())
    };
    let (linted, has_run) = ran(MIXED, "", "lint");
    linted.expect(1).out("::warning file=PROMPT.md,line=6,");
    assert!(!has_run);
    ran(GOOD, "PROMPT.md", "lint").0.expect(0);
    let (checked, has_run) = ran(MIXED, "PROMPT.md", "check");
    checked.expect(1).out("::notice file=PROMPT.md,line=5,");
    assert!(has_run);
}

#[test]
fn the_hook_of_pre_commit_lints() {
    let entry = value_of(".pre-commit-hooks.yaml", "0.entry");
    let mut words = entry.split(' ');
    assert_eq!(words.next(), Some("loopkeeper"));
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", MIXED);
    terminal.run(&words.collect::<Vec<_>>()).expect(1).out("PROMPT.md:6:17: weak");
    let files = regex::Regex::new(&value_of(".pre-commit-hooks.yaml", "0.files")).unwrap();
    for path in ["PROMPT.md", "specs/001-shop/tasks.md", ".kiro/specs/shop/tasks.md", "web/loopkeeper.toml"] {
        assert!(files.is_match(path), "{path}");
    }
    for path in ["README.md", "tasks/prd-shop.md", "specs/001-shop/spec.md"] {
        assert!(!files.is_match(path), "{path}");
    }
}
