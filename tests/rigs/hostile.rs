//! Malicious work trees, opened without trust: no program runs, no connection is made, nothing is written into them,
//! and everything displayed is harmless. Verified by strace, not by the program.

mod corpus;
mod editor;
mod trace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use self::corpus::{CORPUS, Trap};
use self::trace::Trace;
use super::{strace, unavailable};
use crate::cli::{Ran, Terminal};

/// Every command that a user might try on a folder just downloaded.
const TRIED: [&[&str]; 8] = [
    &["status"],
    &["run"],
    &["run", "--dry-run"],
    &["run", "--detach"],
    &["trust"],
    &["check"],
    &["log"],
    &["init"],
];

/// A hostile work tree, and the user in it.
struct Visit {
    terminal: Terminal,
}

impl Visit {
    fn to(trap: &Trap) -> Self {
        let terminal = Terminal::new();
        (trap.lay)(&terminal.root());
        Self { terminal }
    }

    /// One command under strace. The user's own PATH begins with the current folder.
    fn tries(&self, program: &mut Command) -> (Ran, Trace) {
        let ran = Ran::of(&self.traced(program).stdin(Stdio::null()).output().unwrap());
        (ran, self.trace())
    }

    fn trace(&self) -> Trace {
        Trace::read(&self.log(), &self.terminal.root(), &self.terminal.state())
    }

    fn log(&self) -> PathBuf {
        self.terminal.state().with_file_name("trace")
    }

    /// The program under strace.
    fn traced(&self, program: &Command) -> Command {
        let log = self.log();
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-s", "4096", "-o"]).arg(&log);
        traced.args([
            "-e",
            "trace=execve,execveat,connect,bind,openat,open,creat,mkdir,rename,renameat,unlink,symlink",
        ]);
        traced.args(["-e", "signal=none"]).arg(program.get_program()).args(program.get_args()).env_clear();
        traced.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let path = std::env::var("PATH").unwrap();
        // As on a terminal: otherwise escape sequences are removed from all output.
        traced
            .env("CLICOLOR_FORCE", "1")
            .env("PATH", format!(".:{}/bin:{path}", self.terminal.root().display()));
        traced.current_dir(self.terminal.root());
        // Found in the tester's PATH, not in the trap's.
        let found = Command::new("sh").args(["-c", "command -v strace"]).output().unwrap();
        let strace = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        let mut whole = Command::new(strace);
        whole.args(traced.get_args()).env_clear().current_dir(self.terminal.root());
        whole.envs(traced.get_envs().filter_map(|(name, value)| Some((name, value?))));
        whole
    }

    /// Every path with its type and contents, so that any change shows.
    fn contents(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        list(&self.terminal.root(), &mut found);
        found
    }
}

fn list(folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let contents = if kind.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let sum = crc32c::crc32c(&contents);
        found.insert(format!("{path:?}"), format!("{kind:?} {} {sum:08x}", contents.len()));
        if kind.is_dir() {
            list(&path, found);
        }
    }
}

#[test]
fn strace_finds_no_started_program_in_a_hostile_work_tree() {
    if let Some(why) = strace::missing() {
        return unavailable("untrusted work trees", &why);
    }
    assert!(CORPUS.len() > 20);
    let mut faults = Vec::new();
    for trap in CORPUS {
        let visit = Visit::to(trap);
        for tried in TRIED {
            let before = visit.contents();
            let (ran, trace) = visit.tries(&mut visit.terminal.command(tried));
            let mut found = trace.faults();
            let after = visit.contents();
            if tried != ["init"] && before != after {
                found.push(format!("the tree changed: {before:#?} {after:#?}"));
            }
            if tried == ["init"] && after.len() > before.len() + 1 {
                found.push(format!("more than a task file: {after:#?}"));
            }
            found.extend(raw(&ran));
            if tried[0] == "run" && tried.len() == 1 && ![Some(5), Some(2), Some(1)].contains(&ran.code) {
                found.push(format!("it ran: {ran:?}"));
            }
            if trap.asks && tried == ["run"] && ran.code != Some(5) {
                found.push(format!("nobody was asked: {ran:?}"));
            }
            if ran.code.is_none() || ran.stderr.contains("panicked") {
                found.push(format!("it broke: {ran:?}"));
            }
            faults.extend(found.into_iter().map(|it| format!("{} {tried:?}: {it}", trap.name)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Interpreted by terminals, or moves or hides the text next to it.
fn is_dangerous(it: char) -> bool {
    (it.is_control() && it != '\n')
        || matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Characters that a terminal would interpret, or that would let a command look like another one.
fn raw(ran: &Ran) -> Vec<String> {
    // Our own colours, on a terminal; our text is never hidden.
    let colour = regex::Regex::new("\u{1b}\\[(0|1|2|3[0-7]|9[0-7])?m").unwrap();
    let texts = [("stdout", &ran.stdout), ("stderr", &ran.stderr)];
    let texts = texts.map(|(name, text)| (name, colour.replace_all(text, "").into_owned()));
    let found = texts
        .iter()
        .filter_map(|(name, text)| Some((name, text, text.chars().find(|it| is_dangerous(*it))?)));
    found.map(|(name, text, it)| format!("{it:?} on {name}: {text:?}")).collect()
}

/// Control: another text of the same length is a change.
#[test]
fn a_changed_file_of_a_work_tree_is_found() {
    let visit = Visit::to(CORPUS.iter().find(|it| it.name == "fsmonitor").unwrap());
    let before = visit.contents();
    let task = visit.terminal.read("PROMPT.md");
    assert_eq!(visit.contents(), before);
    visit.terminal.file("PROMPT.md", &task.replacen("Trap", "Part", 1));
    assert_ne!(visit.contents(), before);
}

/// Control: the same harness with a program that does use git.
#[test]
fn strace_finds_programs_that_git_starts_in_a_hostile_work_tree() {
    if let Some(why) = strace::missing() {
        return unavailable("what git starts in untrusted work trees", &why);
    }
    let trap = CORPUS.iter().find(|it| it.name == "fsmonitor").unwrap();
    let visit = Visit::to(trap);
    let mut git = visit.terminal.command(&[]);
    let envs: Vec<_> =
        git.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    git = Command::new("/usr/bin/git");
    git.args(["status"]).envs(envs);
    let (_, trace) = visit.tries(&mut git);
    assert!(trace.faults().iter().any(|it| it.contains("trap.sh")), "{:?}", trace.faults());
    // And a raw byte is detected.
    assert_eq!(raw(&Ran { code: None, stdout: "a\u{1b}[2Jb".to_owned(), stderr: String::new() }).len(), 1);
}

/// Commands that show a loop or its work tree.
const SHOWN: [&[&str]; 9] = [
    &["status"],
    &["run", "--dry-run"],
    &["trust"],
    &["run", "--trust"],
    &["check"],
    &["log"],
    &["diff", "latest", "1"],
    &["rollback", "latest", "0"],
    &["gc"],
];

#[test]
fn a_folder_of_a_hostile_name_is_shown_without_it() {
    let terminal = Terminal::new();
    let root = terminal.root().join("a\u{1b}[2Jb\nc\u{202e}d");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("PROMPT.md"), "# It\n\nDone when:\n\n- it is: `$ test -e made`\n").unwrap();
    let agent = "agent = \"mine\"\n[agents.mine]\ncommand = [\"touch\", \"made\"]\n";
    std::fs::write(root.join("loopkeeper.toml"), agent).unwrap();
    for shown in SHOWN {
        let mut command = terminal.command(shown);
        let ran = Ran::of(&command.env("CLICOLOR_FORCE", "1").current_dir(&root).output().unwrap());
        assert_eq!(raw(&ran), [""; 0], "{shown:?}");
        assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty(), "{shown:?}");
    }
    assert!(root.join("loopkeeper.toml").exists() && !root.join("made").exists(), "made, and rolled back");
}

#[test]
fn commands_that_hide_something_are_shown_with_it() {
    let trap = CORPUS.iter().find(|it| it.name == "commands that hide").unwrap();
    let visit = Visit::to(trap);
    let ran = visit.terminal.run(&["trust"]);
    ran.expect(5).out("\\u{202e}").out("^[[2J^[]52;c;eA==^G").out("\\u{9b}31m; ./trap.sh").out("\\u{2028}");
}
