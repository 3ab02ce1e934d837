//! A loop that is stopped while a tool of its agent runs: no process of it may survive, however far it moved from its
//! parent.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use serde_json::{Value, json};

use super::journal::Journal;
use crate::cli::{Ran, Terminal};

/// Its agent writes a file `go`, and runs the check.
pub(super) const TASK: &str = "# Work\n\n## Done when\n\n- It works: `$ sh work.sh`\n";

/// The check returns early until the agent has created the file, or the baseline would hang.
const WORK: &str = "[ -e go ] || exit 1\n\
    exec 9>\"$(cat pipe-name)\"\n\
    (trap '' TERM; setsid sleep 1000) &\n\
    setsid sh -c '(sleep 1000 & echo started >&9; exec sleep 1000)'\n";

/// Every process of the tool holds the pipe open: its other end shows when the last of them is gone.
pub(super) fn while_a_tool_runs(
    terminal: &Terminal,
    sandbox: &str,
    command: impl Fn(&[&str]) -> Command,
) -> Journal {
    of_a_later(0, terminal, sandbox, command)
}

/// Like [`while_a_tool_runs`], after this many other iterations.
pub(super) fn of_a_later(
    before: usize,
    terminal: &Terminal,
    sandbox: &str,
    command: impl Fn(&[&str]) -> Command,
) -> Journal {
    let settings = terminal.read("loopkeeper.toml") + &format!("[sandbox]\nkind = \"{sandbox}\"\n");
    let pipe = terminal.folder().join("home/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
    terminal
        .file("loopkeeper.toml", &settings)
        .file("work.sh", WORK)
        .file("pipe-name", &pipe.to_string_lossy());

    let run = command(&["run", "--trust", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let run = run.expect("the binary starts");
    // Opens once the tool writes to it.
    let mut reader = File::open(&pipe).expect("the pipe's end");
    let mut word = [0; 8];
    reader.read_exact(&mut word).expect("the tool's word");
    assert_eq!(&word, b"started\n");
    // Control: while they live there is no end of file, only nothing to read yet.
    rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK).expect("a flag");
    let early = reader.read(&mut word).expect_err("the processes are alive");
    assert_eq!(early.kind(), std::io::ErrorKind::WouldBlock);

    Ran::of(&command(&["stop", "--now"]).output().expect("the binary starts")).expect(0);
    let journal = Journal::of(&Ran::of(&run.wait_with_output().expect("the loop ends")));
    journal.ended(1, "stopped");
    assert_eq!(reader.read(&mut word).expect("no process holds the pipe any more"), 0);
    let run = &journal.all("agent-ended")[before]["run"];
    assert_eq!((&run["ending"], &run["error"]), (&json!("stopped"), &Value::Null), "{run}");
    journal
}
