//! A loop of Claude Code's plugin: displayed, cancelled and imported from the terminal.

use serde_json::Value;

use crate::cli::Terminal;

pub(crate) const FILE: &str = ".claude/ralph-loop.local.md";
pub(crate) const STATE: &str = "---\nactive: true\niteration: 3\nsession_id: abc\nmax_iterations: 20\n\
    completion_promise: \"ALL DONE\"\nstarted_at: \"2026-01-01T00:00:00Z\"\n---\n\nBuild a REST API.\n";

#[test]
fn a_loop_of_the_plugin_is_shown_and_stopped() {
    let terminal = Terminal::new();
    terminal.run(&["stop", "ralph-loop"]).expect(2).err("runs no loop here");
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
    ran.expect(0).out("# Shop\n").out("prd.ralph.md").out("loopkeeper run prd.ralph.md");
    assert_eq!(
        (terminal.read("docs/PRD.md"), terminal.read("docs/prd.ralph.md")),
        (text.to_owned(), format!("{text}\n## Done when\n\n- Sell things\n"))
    );
    terminal.run(&["run", "docs/prd.ralph.md", "--dry-run"]).expect(0).out("Sell things");
    terminal
        .run(&["import", "docs/prd.ralph.md"])
        .expect(2)
        .err("is a task as it is")
        .err("loopkeeper run docs/prd.ralph.md");
    terminal.run(&["import", "none.md"]).expect(2).err("is empty, or does not exist");
    terminal.run(&["import", "loopkeeper.toml"]).expect(2).err("cannot be imported");
}
