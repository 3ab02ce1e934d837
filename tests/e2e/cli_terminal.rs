//! `run` on a terminal: displayed live, interrupted by Ctrl-C, outlived by its loop.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

use crate::cli::Terminal;
use crate::cli_run::project;
use crate::not_run;

const TASK: &str = "# Make it\n\n## Done when\n\n- It is there: `$ test -f done`\n";
const CTRL_C: &[u8] = b"\x03";

/// A `run` on a separate pseudo terminal; text written to `keys` is typed.
struct Shown {
    child: Child,
    keys: ChildStdin,
    seen: String,
}

impl Shown {
    /// `None` if there is no `script` program to create a terminal.
    fn start(terminal: &Terminal, args: &str, variables: &[(&str, &str)]) -> Option<Self> {
        // A shell in between would handle Ctrl-C in its own way.
        let line = format!("exec {} {args}", env!("CARGO_BIN_EXE_loopkeeper"));
        let plain = terminal.command(&[]);
        let mut command = Command::new("script");
        command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(terminal.root()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "xterm").env("SHELL", "/bin/sh").envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        match command.spawn() {
            Ok(mut child) => {
                let keys = child.stdin.take().unwrap();
                Some(Self { child, keys, seen: String::new() })
            }
            Err(error) => {
                not_run("run on a terminal", &format!("script: {error}"));
                None
            }
        }
    }

    /// Reads the screen until it has shown this text.
    fn until(&mut self, words: &str) {
        let mut buffer = [0; 4096];
        while !self.seen.contains(words) {
            let count = self.child.stdout.as_mut().unwrap().read(&mut buffer).unwrap();
            assert!(count > 0, "no {words:?} on\n{}", self.seen);
            self.seen += &String::from_utf8_lossy(&buffer[..count]);
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
        self.keys.flush().unwrap();
    }

    /// The exit code, after all output was read.
    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        self.child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
        self.seen += &String::from_utf8_lossy(&rest);
        (self.child.wait().unwrap().code(), self.seen)
    }
}

/// A project whose agent prints and ends at the test's command.
struct Gated {
    terminal: Terminal,
    word: PathBuf,
    end: PathBuf,
}

impl Gated {
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
    fn at_work(&self, variables: &[(&str, &str)]) -> Option<Shown> {
        let mut shown = Shown::start(&self.terminal, "run --trust", variables)?;
        shown.until("checks before iteration 1: ");
        std::fs::write(&self.word, "at the gate\n").unwrap();
        Some(shown)
    }

    /// Makes the iteration run this script and end.
    fn end(&self, script: &str) {
        std::fs::write(&self.end, script).unwrap();
    }
}

impl Drop for Gated {
    /// Leaves nothing behind if a test fails.
    fn drop(&mut self) {
        self.terminal.run(&["stop", "--now"]);
    }
}

#[test]
fn a_loop_is_redrawn_in_place_and_ends_with_its_outcome() {
    let gated = Gated::new();
    let Some(mut shown) = gated.at_work(&[]) else { return };
    shown.until("Working: iteration 1/25");
    shown.until("at the gate");
    gated.end("touch done");
    let (code, seen) = shown.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("Completed, verified"), "{seen}");
    // Moves up by the block's own height and never hides the cursor, so nothing has to be restored however it ends.
    assert!(seen.contains("\u{1b}[2A") && !seen.contains("\u{1b}[?25l"), "{seen:?}");
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let gated = Gated::new();
    let Some(shown) = gated.at_work(&[("TERM", "dumb"), ("NO_COLOR", "1")]) else { return };
    gated.end("touch done");
    let (code, seen) = shown.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains('\u{1b}'), "{seen:?}");
}

#[test]
fn the_first_ctrl_c_stops_after_the_iteration() {
    let gated = Gated::new();
    let Some(mut shown) = gated.at_work(&[]) else { return };
    shown.press(CTRL_C);
    shown.until("Stopping after this iteration");
    gated.end("true");
    let (code, seen) = shown.end();
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("Stopped"), "{seen}");
}

#[test]
fn the_second_ctrl_c_stops_at_once() {
    let gated = Gated::new();
    let Some(mut shown) = gated.at_work(&[]) else { return };
    shown.press(CTRL_C);
    shown.until("Ctrl-C again stops now");
    shown.press(CTRL_C);
    let (code, seen) = shown.end();
    assert_eq!(code, Some(130), "{seen}");
}

#[test]
fn closing_the_terminal_leaves_the_loop_running() {
    let gated = Gated::new();
    let Some(mut shown) = gated.at_work(&[]) else { return };
    shown.child.kill().unwrap();
    shown.child.wait().unwrap();
    let ran = gated.terminal.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
    assert_eq!(status["loops"][0]["state"], "working");
    gated.end("touch done");
    gated.terminal.run(&["watch"]).expect(0).out("Completed, verified");
}

#[test]
fn trust_is_asked_for_on_a_terminal() {
    let terminal = project(TASK, "touch done");
    let check = |answer: &[u8], code: i32| {
        let Some(mut shown) = Shown::start(&terminal, "run", &[]) else { return };
        shown.until("Trust these 2 commands? [y/N]");
        assert!(shown.seen.contains("test -f done") && shown.seen.contains("agent.sh"), "{}", shown.seen);
        shown.press(answer);
        let (found, seen) = shown.end();
        assert_eq!(found, Some(code), "{seen}");
    };
    check(b"n\n", 5);
    check(b"\n", 5);
    check(b"y\n", 0);
}

#[test]
fn init_on_a_terminal_runs_the_found_commands_only_after_a_yes() {
    for (answer, tried) in [(b"n\r", false), (b"y\r", true)] {
        let terminal = Terminal::new();
        terminal.file("Makefile", "test:\n\t@touch tried\n");
        let Some(mut shown) = Shown::start(&terminal, "init", &[]) else { return };
        shown.until("make test");
        shown.until("Trust this command? [y/N]");
        assert!(!terminal.root().join("tried").exists());
        shown.press(answer);
        let (code, screen) = shown.end();
        assert_eq!(code, Some(0), "{screen}");
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
        let mut shown = Shown::start(&terminal, "rollback latest 0", &[])?;
        shown.until("Roll back? [y/N]");
        let folder = terminal.root().canonicalize().unwrap();
        for part in [
            "Rolling back loop 2",
            &format!(" in {} to the start removes 2 files.", folder.display()),
            "These changed since the loop's last snapshot:",
            "  made is removed",
            "--undo` restores them.",
        ] {
            assert!(shown.seen.contains(part), "no {part:?} on\n{}", shown.seen);
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
    let Some(mut shown) = Shown::start(&terminal, "run --trust", &[]) else { return };
    shown.until("a one-line change needs no loop. Ask the agent once. Start it anyway? [y/N]");
    shown.press(b"n\n");
    let (code, seen) = shown.end();
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("Nothing was started."), "{seen}");
    let Some(mut again) = Shown::start(&terminal, "run --trust", &[]) else { return };
    again.until("iteration 1");
    assert!(!again.seen.contains("[y/N]"), "{}", again.seen);
    again.press(CTRL_C);
    again.press(CTRL_C);
    again.end();
}
