//! `run` on a terminal: displayed live, interrupted by Ctrl-C, outlived by its loop.

use std::path::PathBuf;

use crate::cli::Terminal;
use crate::cli_run::{TASK, project};
use crate::support::pty::{CTRL_C, PtyProcess};

/// A project whose agent prints and ends at the test's command.
struct TypedAgent {
    terminal: Terminal,
    word: PathBuf,
    end: PathBuf,
}

impl TypedAgent {
    fn new() -> Self {
        let terminal = project(TASK, "");
        let pipe = |name: &str| {
            let path = terminal.state().with_file_name(name);
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
            path
        };
        let (word, end) = (pipe("word"), pipe("end"));
        let agent = format!("date +%s%N > changed; cat {}; sh < {}\n", word.display(), end.display());
        terminal.file("agent.sh", &agent);
        Self { terminal, word, end }
    }

    /// A loop on a terminal, up to the point where its agent has printed.
    fn at_work(&self, variables: &[(&str, &str)]) -> Option<PtyProcess> {
        let mut shown = PtyProcess::start(&self.terminal, "run --trust", variables)?;
        shown.until("checks before iteration 1: ");
        std::fs::write(&self.word, "at the gate\n").unwrap();
        Some(shown)
    }

    /// Makes the iteration run this script and end.
    fn end(&self, script: &str) {
        std::fs::write(&self.end, script).unwrap();
    }
}

impl Drop for TypedAgent {
    /// Leaves nothing behind if a test fails.
    fn drop(&mut self) {
        self.terminal.run(&["stop", "--now"]);
    }
}

#[test]
fn a_loop_is_redrawn_in_place_and_ends_with_its_outcome() {
    let gated = TypedAgent::new();
    let Some(mut shown) = gated.at_work(&[]) else { return };
    shown.until("Working: iteration 1/25");
    shown.until("at the gate");
    gated.end("touch done");
    let seen = shown.exits(0);
    assert!(seen.contains("Completed, verified"), "{seen}");
    // Moves up by the block's own height and never hides the cursor, so nothing has to be restored however it ends.
    assert!(seen.contains("\u{1b}[2A") && !seen.contains("\u{1b}[?25l"), "{seen:?}");
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let gated = TypedAgent::new();
    let Some(shown) = gated.at_work(&[("TERM", "dumb"), ("NO_COLOR", "1")]) else { return };
    gated.end("touch done");
    let seen = shown.exits(0);
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
}

#[test]
fn init_on_a_terminal_runs_the_found_commands_only_after_a_yes() {
    for (answer, tried) in [(b"n\r", false), (b"y\r", true)] {
        let terminal = Terminal::new();
        terminal.file("Makefile", "test:\n\t@touch tried\n");
        let Some(mut shown) = PtyProcess::start(&terminal, "init", &[]) else { return };
        shown.until("make test");
        shown.until("Trust this command? [y/N]");
        assert!(!terminal.root().join("tried").exists());
        shown.press(answer);
        let screen = shown.exits(0);
        assert_eq!(terminal.root().join("tried").exists(), tried, "{screen}");
        let expect = if tried {
            "  make test  pass · "
        } else {
            "  All tests pass: `$ make test` (found in Makefile)"
        };
        assert!(screen.contains(expect), "{screen}");
        assert_eq!(terminal.read("PROMPT.md").contains("<!-- tried: pass"), tried);
    }
}

#[test]
fn a_rollback_on_a_terminal_names_what_the_user_changed_and_asks() {
    let terminal = project(TASK, "echo made > made; touch done");
    terminal.run(&["run", "--trust"]).expect(0);
    terminal.file("made", "mine\n");
    let answer = |keys: &[u8], words: &str| {
        let mut shown = PtyProcess::start(&terminal, "rollback latest 0", &[])?;
        shown.until("Roll back? [y/N]");
        let folder = terminal.root().canonicalize().unwrap();
        for part in [
            "Rolling back loop 2",
            &format!(" in {} to the start removes 2 files.", folder.display()),
            "These changed since the loop's last snapshot:",
            "  made is removed",
            "--undo` restores them.",
        ] {
            assert!(shown.screen.contains(part), "no {part:?} on\n{}", shown.screen);
        }
        shown.press(keys);
        shown.until(words);
        Some(terminal.root().join("made").exists())
    };
    let Some(kept) = answer(b"n\n", "Nothing was changed.") else { return };
    assert!(kept);
    assert_eq!(answer(b"y\n", "2 files removed."), Some(false));
    terminal.run(&["rollback", "--undo"]).expect(0).out("2 files written");
    assert_eq!(terminal.read("made"), "mine\n");
}

#[test]
fn a_task_that_suits_no_loop_is_asked_about_once() {
    let task = "# Fix a typo in the readme\n\n## Done when\n\n- It is fixed: `$ test -f done`\n";
    let terminal = project(task, "");
    let Some(mut shown) = PtyProcess::start(&terminal, "run --trust", &[]) else { return };
    shown.until("a one-line change needs no loop. Ask the agent once. Start it anyway? [y/N]");
    shown.press(b"n\n");
    let seen = shown.exits(1);
    assert!(seen.contains("Nothing was started."), "{seen}");
    let Some(mut again) = PtyProcess::start(&terminal, "run --trust", &[]) else { return };
    again.until("iteration 1");
    assert!(!again.screen.contains("[y/N]"), "{}", again.screen);
    again.press(CTRL_C);
    again.exits(1);
}
