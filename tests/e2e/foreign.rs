//! A loop of Claude Code's plugin: displayed, cancelled and imported from the terminal.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::cli::{Ran, Terminal};

pub(crate) const FILE: &str = ".claude/ralph-loop.local.md";
pub(crate) const STATE: &str = "---\nactive: true\niteration: 3\nsession_id: abc\nmax_iterations: 20\n\
    completion_promise: \"ALL DONE\"\nstarted_at: \"2026-01-01T00:00:00Z\"\n---\n\nBuild a REST API.\n";

#[test]
fn a_loop_of_the_plugin_is_shown_and_stopped() {
    let terminal = Terminal::new();
    terminal.run(&["stop", "ralph-loop"]).expect(2).err("no loop of Claude Code's plugin runs here");
    terminal.file(FILE, STATE);
    let shown = terminal.run(&["status"]);
    shown
        .expect(0)
        .out("a loop of Claude Code's plugin, iteration 3 of 20")
        .out("<promise>ALL DONE</promise>");
    shown.out("Build a REST API.").out("`loopkeeper stop ralph-loop` cancels it");
    let told: Value = serde_json::from_str(&terminal.run(&["status", "--json"]).stdout).expect("JSON");
    assert_eq!(told["foreign"]["maxIterations"], 20, "{told}");
    terminal.run(&["stop"]).expect(0).out("(was at iteration 3)");
    assert!(!terminal.root().join(FILE).exists());
    let older = ".claude/.ralph-loop.local.md";
    terminal.file(older, STATE).run(&["status"]).expect(0).out(&format!("`loopkeeper import {older}`"));
    terminal.run(&["stop"]).expect(0);
    terminal.run(&["status"]).expect(0).out("No loops.");
}

#[test]
fn a_loop_of_the_plugin_becomes_a_task() {
    let terminal = Terminal::new();
    terminal.file(FILE, STATE).file("loopkeeper.toml", "agent = \"demo\"\n");
    terminal.run(&["init"]).expect(2).err(&format!("`loopkeeper import {FILE}`"));
    terminal.run(&["run", "--dry-run"]).expect(2).err(&format!("`loopkeeper import {FILE}` makes one"));
    terminal.run(&["import", FILE, "--dry-run"]).expect(0).out("Output <promise>ALL DONE</promise>");
    assert_eq!(terminal.read(FILE), STATE);
    let ran = terminal.run(&["import", FILE]);
    ran.expect(0)
        .out("# Build a REST API.\n\nBuild a REST API.\n")
        .out("ralph-loop.ralph.md: the loop's prompt")
        .out("The loop is cancelled (was at iteration 3)");
    ran.out("start: loopkeeper run ralph-loop.ralph.md --max-iterations 17");
    assert!(!terminal.root().join(FILE).exists());
    terminal.run(&["run", "ralph-loop.ralph.md", "--dry-run"]).expect(0).out("ralph-loop.ralph.md");
    terminal.run(&["import", FILE]).expect(2).err("is not a running loop of Claude Code's plugin");
    terminal.file(FILE, "---\nmax_iterations: 5\niteration: 1\u{1b}[2J\n---\n\u{1b}]0;x\u{7}");
    let ran = terminal.run(&["import", FILE]);
    ran.expect(2).err("its `iteration` is not a number");
    assert!(!ran.stderr.contains('\u{1b}'));
    terminal.run(&["import", "prd.json"]).expect(2).err("prd.json cannot be imported").err(FILE);
}

#[test]
fn a_text_becomes_a_task_that_is_shown_before_it_is_written() {
    let terminal = Terminal::new();
    let text = "# Shop\n\n- [ ] Sell things\n- [x] Open\n";
    terminal.file("docs/PRD.md", text).file("loopkeeper.toml", "agent = \"demo\"\n");
    let shown = terminal.run(&["import", "docs/PRD.md", "--dry-run"]);
    shown.expect(0).out("## Done when\n\n- Sell things\n");
    assert!(!terminal.root().join("docs/prd.ralph.md").exists());
    let ran = terminal.run(&["import", "docs/PRD.md"]);
    ran.expect(0).out("# Shop\n").out("prd.ralph.md");
    ran.out("Add a check to each item of `## Done when`, then start: loopkeeper run prd.ralph.md");
    assert_eq!(
        (terminal.read("docs/PRD.md"), terminal.read("docs/prd.ralph.md")),
        (text.to_owned(), format!("{text}\n## Done when\n\n- Sell things\n"))
    );
    terminal.run(&["run", "docs/prd.ralph.md", "--dry-run"]).expect(0).out("Sell things");
    terminal
        .run(&["import", "docs/prd.ralph.md"])
        .expect(2)
        .err("is already a task")
        .err("loopkeeper run docs/prd.ralph.md");
    terminal.run(&["import", "none.md"]).expect(2).err("is empty, or does not exist");
    terminal.run(&["import", "loopkeeper.toml"]).expect(2).err("cannot be imported");
}

const REQUIREMENTS: &str = "# PRD: Priorities\n\n## User Stories\n\n### US-001: Add a priority\n**Description:** As a user, I sort.\n\n**Acceptance Criteria:**\n- [ ] The table has a priority\n- [ ] Typecheck passes\n\n## Functional Requirements\n\n- FR-1: Add a field\n\n## Non-Goals\n\n- No reminders\n";

#[test]
fn requirements_of_another_tool_are_imported_with_the_checks_of_the_project() {
    let terminal = Terminal::new();
    // The root whose checks are proposed.
    terminal.git("init -q");
    terminal.file("Makefile", "test:\n\ttest -f sold\n").file("tasks/prd-priorities.md", REQUIREMENTS);
    let path = "tasks/prd-priorities.md";
    // A source of a task, and none by itself: a commit that changes it has nothing to lint.
    terminal.run(&["check", "--lint"]).expect(2);
    terminal.run(&["check", path, "--lint"]).expect(1).out("tasks/prd-priorities.md:9:7: ");
    let ran = terminal.run(&["import", path]);
    ran.expect(0).out("# PRD: Priorities").out("prd-priorities.ralph.md");
    let document = terminal.read("tasks/prd-priorities.ralph.md");
    assert!(document.starts_with(REQUIREMENTS.trim_end()), "{document}");
    assert!(document.contains("`$ make test`"), "{document}");
    let lint = terminal.run(&["check", "tasks/prd-priorities.ralph.md", "--lint"]);
    lint.expect(1).out("1 of 3 criteria have a check");
}

#[test]
fn a_package_with_the_configuration_of_another_tool_has_its_own_settings() {
    let terminal = Terminal::new();
    terminal.git("init -q");
    terminal.file("package.json", "{}").file("packages/web/.ralphrc", "MAX_CALLS_PER_HOUR=7\n");
    terminal.file("packages/web/.ralph/PROMPT.md", "# Web\n\n## Done when\n\n- It sells: `exists sold`\n");
    let ran = terminal.run(&["run", "packages/web/.ralph/PROMPT.md", "--dry-run", "--agent", "demo"]);
    ran.expect(0).out("limits.calls_per_hour = 7").out("Task      .ralph/PROMPT.md\n");
    terminal.run(&["status"]).expect(0).out("packages/web/.ralph/PROMPT.md");
}

const LOG: &str = "build\tTest\t2026-01-01T10:00:01.1234567Z ##[group]Run test -f sold\nbuild\tTest\t2026-01-01T10:00:01.1234567Z shell: bash\nbuild\tTest\t2026-01-01T10:00:02.1234567Z \u{1b}[31mError: nothing sells\u{1b}[0m\nbuild\tTest\t2026-01-01T10:00:02.1234567Z ##[error]Process completed with exit code 1.\n";

#[test]
fn the_log_of_a_failed_run_becomes_a_task() {
    let terminal = Terminal::new();
    terminal.file("run.log", LOG).file("loopkeeper.toml", "agent = \"demo\"\n");
    let ends = "- The command that failed passes: `$ test -f sold`\n";
    terminal
        .run(&["import", "run.log", "--dry-run"])
        .expect(0)
        .out("# Fix the failing run: build / Test\n")
        .out("- Error: nothing sells\n")
        .out(ends);
    assert!(!terminal.root().join("run.ralph.md").exists());
    let piped = |text: &str| {
        let mut child = terminal
            .command(&["import", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("read");
        Ran::of(&child.wait_with_output().expect("ends"))
    };
    let imported = piped(LOG);
    imported.expect(0).out(ends).out("Wrote");
    imported.out("Start it: loopkeeper run fix-the-failing-run-build-test.ralph.md");
    terminal
        .run(&["run", "fix-the-failing-run-build-test.ralph.md", "--dry-run"])
        .expect(0)
        .out("test -f sold");
    let issue = "title:\tCart loses items\nstate:\tOPEN\n--\n### Expected behavior\n\nBoth items stay.\n";
    piped(issue)
        .expect(0)
        .out("# Cart loses items\n")
        .out("- Both items stay.\n")
        .out("cart-loses-items.ralph.md");
    piped(" \n").expect(2);
}

#[test]
fn a_long_log_without_a_frame_is_a_log_by_its_name() {
    let terminal = Terminal::new();
    let noise = "compiling something\n".repeat(100_000);
    terminal.file("go.mod", "module a\n");
    terminal.file("run.log", &format!("{noise}--- FAIL: TestCart (0.00s)\nFAIL\tshop/cart\t0.01s\n"));
    let ran = terminal.run(&["import", "run.log", "--dry-run"]);
    ran.expect(0).out("FAIL: TestCart").out("- All tests pass: `$ go test ./...`");
    assert!(ran.stdout.lines().count() < 80, "{}", ran.stdout.lines().count());
}
