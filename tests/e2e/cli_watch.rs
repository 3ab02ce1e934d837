//! `watch` on a terminal: all loops on one screen, read by `tmux`, which interprets what is written as a terminal does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::cli::Terminal;
use crate::cli_loops::GatedLoop;
use crate::cli_run::{TASK, project};
use crate::not_run;

/// Long enough for a loaded machine; a screen that never comes fails the test.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A shell on a terminal of its own, and the screen as a user sees it.
struct TmuxScreen {
    socket: PathBuf,
}

impl TmuxScreen {
    /// `None` if there is no `tmux`.
    fn start(terminal: &Terminal, size: (u32, u32), variables: &[(&str, &str)]) -> Option<Self> {
        let screen = Self { socket: terminal.state().with_file_name("tmux") };
        let mut command = terminal.command_of(Path::new("tmux"), &[]);
        command.arg("-S").arg(&screen.socket);
        command.env("LANG", "C.UTF-8").env("TERM", "xterm").env("PS1", "$ ").envs(variables.iter().copied());
        command.args(["-u", "-f", "/dev/null", "new-session", "-d"]);
        command.args(["-x", &size.0.to_string(), "-y", &size.1.to_string()]);
        command.args(["-c"]).arg(terminal.root()).args(["/bin/bash", "--norc", "--noprofile"]);
        match command.output() {
            Ok(output) if output.status.success() => Some(screen),
            other => {
                not_run("watch on a terminal", &format!("tmux: {other:?}"));
                None
            }
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket);
        command
    }

    fn tmux(&self, args: &[&str]) -> Output {
        self.command().args(args).output().unwrap()
    }

    fn type_line(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.press("Enter");
    }

    fn watch(&self, args: &str) {
        let line = format!("{} watch {args}; echo \"code=$?\"", env!("CARGO_BIN_EXE_loopkeeper"));
        self.type_line(&line);
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    fn text(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }

    /// Looks at the screen until it is as wanted.
    fn until(&self, what: &str, is_wanted: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text();
            if is_wanted(&text) {
                return text;
            }
            assert!(begun.elapsed() < TIMEOUT, "no {what:?} on\n{text}");
            std::thread::yield_now();
        }
    }

    fn shows(&self, words: &str) -> String {
        self.until(words, |it| it.contains(words))
    }

    /// The process group of the shell's only job.
    fn only_job(&self) -> Pid {
        self.type_line("clear; jobs -p; echo listed");
        let text = self.until("the list of jobs", |it| it.lines().any(|line| line == "listed"));
        let job = text.lines().find_map(|it| it.parse().ok());
        Pid::from_raw(job.unwrap_or_else(|| panic!("no job on\n{text}"))).unwrap()
    }

    /// The terminal has its own settings and shows the shell again.
    fn is_restored(&self) {
        self.type_line("stty -a | grep -o ' icanon'; tput lines >/dev/null; echo restored");
        let text = self.until("a restored terminal", |it| it.lines().any(|line| line == "restored"));
        assert!(text.lines().any(|it| it == " icanon"), "{text}");
        assert!(!text.contains("TASK") && !text.contains("q quit"), "{text}");
        let modes = self.tmux(&["display", "-p", "#{alternate_on}#{cursor_flag}#{wrap_flag}"]);
        assert_eq!(String::from_utf8_lossy(&modes.stdout).trim(), "011");
    }
}

impl Drop for TmuxScreen {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_loop_is_selected_paused_and_stopped_on_the_screen() {
    let gated = GatedLoop::start_in(project(TASK, ""));
    gated.wait_for("agent-started", 0);
    let Some(screen) = TmuxScreen::start(&gated.terminal, (100, 24), &[]) else { return };
    screen.watch("");
    let text = screen.shows("1 loop: 1 working");
    assert!(text.contains("▸ Working      Make it"), "{text}");
    screen.press("Enter");
    screen.shows("It is there");
    screen.press("o");
    screen.shows("Make it · output");
    screen.press("Escape");
    screen.shows("Esc back  o output");
    screen.press("p");
    screen.shows("Loop ");
    gated.iteration("echo one > made");
    screen.shows("Paused: iteration 1/25");
    screen.press("d");
    screen.shows("+one");
    screen.press("Escape");
    screen.press("Escape");
    screen.shows("1 loop: 1 paused");
    screen.press("s");
    screen.shows("Stop? y after the iteration");
    screen.press("n");
    screen.shows("q quit");
    screen.press("s");
    screen.press("y");
    screen.shows("1 loop: 1 done");
    screen.press("q");
    screen.shows("code=0");
    screen.is_restored();
}

#[test]
fn the_terminal_is_restored_after_a_signal_and_while_suspended() {
    let terminal = project(TASK, "touch done");
    terminal.run(&["run", "--trust"]).expect(0);
    let Some(screen) = TmuxScreen::start(&terminal, (100, 24), &[]) else { return };
    screen.watch("");
    screen.shows("1 loop: 1 done");
    screen.press("C-z");
    screen.shows("Stopped");
    screen.is_restored();
    screen.type_line("clear; fg");
    screen.shows("1 loop: 1 done");
    screen.tmux(&["resize-window", "-x", "40", "-y", "10"]);
    let text = screen.until("a narrow list", |it| it.contains("TASK") && !it.contains("CRITERIA"));
    assert_eq!(text.lines().count(), 10, "{text}");
    screen.press("C-z");
    screen.shows("Stopped");
    // The `kill` of the shell would also continue the program, in the background.
    kill_process(screen.only_job(), Signal::TERM).unwrap();
    screen.type_line("clear; fg; echo \"signalled=$?\"");
    screen.shows("signalled=130");
    screen.is_restored();
}

#[test]
fn a_named_loop_opens_with_its_details_and_gives_its_exit_code() {
    let terminal = project(TASK, "date +%s%N > changed");
    terminal.run(&["run", "--trust", "--max-iterations", "1"]).expect(4);
    let Some(screen) = TmuxScreen::start(&terminal, (80, 24), &[("NO_COLOR", "1")]) else { return };
    screen.watch("latest");
    screen.shows("Criteria by iteration");
    let styled = screen.tmux(&["capture-pane", "-p", "-e"]).stdout;
    let styled = String::from_utf8(styled).unwrap();
    assert!(!styled.contains("\u{1b}[31m") && styled.contains("\u{1b}[1m"), "{styled:?}");
    screen.press("q");
    screen.shows("code=4");
}

#[test]
fn plain_lines_are_printed_where_they_are_wanted_or_needed() {
    let terminal = project(TASK, "touch done");
    terminal.run(&["run", "--trust"]).expect(0);
    let Some(screen) = TmuxScreen::start(&terminal, (100, 24), &[]) else { return };
    screen.watch("--plain");
    let text = screen.shows("code=0");
    assert!(text.contains("Completed, verified") && !text.contains("q quit"), "{text}");
    screen.type_line("clear");
    let line = format!("TERM=dumb {} watch; echo \"dumb=$?\"", env!("CARGO_BIN_EXE_loopkeeper"));
    screen.type_line(&line);
    let text = screen.shows("dumb=0");
    assert!(text.contains("Completed, verified") && !text.contains("q quit"), "{text}");
}
