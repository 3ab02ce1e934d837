//! Loops that outlive the command that started them: displayed, steered, paused, killed, resumed and rolled back by
//! other commands.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli::{Ran, Terminal};
use crate::cli_run::{TASK, project, until};
use crate::support::world::wait_until;

/// A detached loop whose agent executes in each iteration the script that it reads from a pipe, so that the test
/// controls the pace.
pub(crate) struct GatedLoop {
    pub(crate) terminal: Terminal,
    gate: PathBuf,
}

impl GatedLoop {
    fn start() -> Self {
        Self::start_in(project(TASK, ""))
    }

    pub(crate) fn start_in(terminal: Terminal) -> Self {
        let gate = terminal.state().with_file_name("gate");
        rustix::fs::mknodat(rustix::fs::CWD, &gate, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let agent = format!("date +%s%N > changed; sh < {}\n", gate.display());
        terminal.file("agent.sh", &agent).file("precious", "first\n");
        let ran = terminal.run(&["run", "--trust", "--detach"]);
        ran.expect(0).out(" runs; `loopkeeper watch ");
        Self { terminal, gate }
    }

    /// Makes the waiting iteration run this script and end.
    pub(crate) fn iteration(&self, script: &str) {
        std::fs::write(&self.gate, script).unwrap();
    }

    pub(crate) fn status(&self) -> Value {
        let ran = self.terminal.run(&["status", "latest", "--json"]);
        let all: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
        all["loops"][0].clone()
    }

    pub(crate) fn state(&self) -> (String, String) {
        let status = self.status();
        let word = |name: &str| status[name].as_str().unwrap().to_owned();
        (word("state"), word("phase"))
    }

    pub(crate) fn pid(&self) -> Pid {
        let pid = self.status()["keeper"]["pid"].as_i64().unwrap();
        Pid::from_raw(pid as i32).unwrap()
    }

    /// Waits until the loop has a record of this type after `seq`.
    pub(crate) fn wait_for(&self, kind: &str, seq: u64) {
        let mut watch = self.watch();
        let wanted = format!("\"type\":\"{kind}\"");
        let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
        let found = lines.by_ref().map(Result::unwrap).any(|line| {
            let record: Value = serde_json::from_str(&line).unwrap();
            line.contains(&wanted) && record["seq"].as_u64().unwrap() > seq
        });
        assert!(found, "the loop ended without another record of type {kind}");
        drop(lines);
        watch.kill().unwrap();
        watch.wait().unwrap();
    }

    fn watch(&self) -> Child {
        let mut command = self.terminal.command(&["watch", "latest", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The exit code of a `watch` that saw the loop end.
    pub(crate) fn watched_end(&self) -> i32 {
        self.terminal.run(&["watch"]).code.unwrap()
    }

    pub(crate) fn kill_keeper(&self) {
        kill_process(self.pid(), Signal::KILL).unwrap();
        // A lock is released when its process exits, which takes a moment.
        wait_until(|| self.status()["keeper"]["alive"] != true, || self.status().to_string());
    }
}

impl Drop for GatedLoop {
    /// Leaves nothing running if a test fails.
    fn drop(&mut self) {
        self.terminal.run(&["stop", "--now", "latest"]);
    }
}

#[test]
fn a_detached_loop_is_seen_and_steered_from_other_commands() {
    let gated = GatedLoop::start();
    let GatedLoop { terminal, .. } = &gated;
    gated.wait_for("agent-started", 0);
    assert_eq!(gated.state(), ("working".into(), "iterating".into()));
    terminal.run(&["status"]).expect(0).out("Working: iteration 1/25").out("It is there");
    terminal.run(&["run", "--trust"]).expect(1).err("already running in ");
    terminal
        .run(&["rollback", "latest", "0"])
        .expect(1)
        .err("the loop is running")
        .err("Hint: `loopkeeper pause` ");
    terminal.run(&["resume"]).expect(1).err("not paused");
    terminal
        .run(&["steer", "latest", "look at the gate"])
        .expect(0)
        .out(" passes the text on in iteration 2.");
    terminal.run(&["steer", "latest", " "]).expect(2).err("the hint is empty");
    terminal.run(&["reset", "session"]).expect(0).out("nothing to reset");
    terminal.run(&["pause"]).expect(0).out(" pauses after this iteration (1).");
    gated.iteration("echo second > precious");
    gated.wait_for("iteration-ended", 0);
    assert_eq!(gated.state(), ("paused".into(), "paused".into()));
    terminal.run(&["check"]).expect(1).out("fail").err(" runs the checks now.");
    terminal.run(&["diff", "latest", "1"]).expect(0).out("-first").out("+second");
    terminal.run(&["diff", "latest"]).expect(0).out("-first").out("+second");
    terminal.run(&["diff", "latest", "2"]).expect(2).err("no iteration 2");
    terminal.run(&["rollback", "latest", "7"]).expect(2).err("has no snapshot after iteration 7");
    terminal
        .run(&["rollback", "latest", "0"])
        .expect(0)
        .out("Restored the files as of the start of the loop");
    assert_eq!(terminal.read("precious"), "first\n");
    let seq = gated.status()["seq"].as_u64().unwrap();
    terminal.run(&["resume"]).expect(0);
    gated.wait_for("agent-started", seq);
    gated.iteration("touch done");
    assert_eq!(gated.watched_end(), 0);
    let log = terminal.run(&["log"]);
    log.expect(0)
        .out("hint for the agent: look at the gate")
        .out("files restored to ")
        .out("completed, verified");
    for args in [&["stop"][..], &["pause"], &["resume"], &["reset", "breaker"], &["steer", "latest", "x"]] {
        terminal.run(args).expect(1).err("has ended");
    }
}

/// In its PID namespace the agent's pid differs from the one outside.
#[test]
fn the_process_that_the_log_names_is_the_agents() {
    let gated = GatedLoop::start();
    let number = |iteration: u32| {
        let line = format!("#{iteration}  agent started");
        let ran = gated.terminal.run(&["log", "latest"]);
        let started = ran.expect(0).stdout.lines().find(|it| it.contains(&line)).unwrap().to_owned();
        started.rsplit_once(", process ").unwrap_or_else(|| panic!("{started}")).1.to_owned()
    };
    let is_agent = |pid: &str| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words == b"/bin/sh\0agent.sh\0"
    };
    gated.wait_for("agent-started", 0);
    let first = number(1);
    assert!(is_agent(&first), "{first}");
    let seq = gated.status()["seq"].as_u64().unwrap();
    gated.iteration("touch changed-too");
    gated.wait_for("agent-started", seq);
    let second = number(2);
    assert!(is_agent(&second) && second != first, "{first} {second}");
    gated.terminal.run(&["stop", "latest", "--now"]).expect(0);
}

#[test]
fn a_stop_ends_a_loop_after_its_iteration_or_at_once() {
    let gated = GatedLoop::start();
    gated.wait_for("agent-started", 0);
    gated.terminal.run(&["stop"]).expect(0).out(" stops after this iteration (1).");
    gated.iteration("true");
    assert_eq!(gated.watched_end(), 1);
    let gated = GatedLoop::start();
    gated.wait_for("agent-started", 0);
    gated.terminal.run(&["stop", "--now"]).expect(0).out("stops now");
    assert_eq!(gated.watched_end(), 1);
    gated.terminal.run(&["status"]).expect(0).out("Stopped");
}

#[test]
fn a_killed_keeper_leaves_an_interrupted_loop_that_continues_with_the_next_number() {
    let gated = GatedLoop::start();
    let GatedLoop { terminal, .. } = &gated;
    gated.wait_for("agent-started", 0);
    let mut watch = gated.watch();
    drop(until(&mut watch, "agent-started"));
    gated.kill_keeper();
    assert_eq!(watch.wait().unwrap().code(), Some(1));
    assert_eq!(gated.state(), ("needsYou".into(), "interrupted".into()));
    assert!(gated.status()["keeper"].get("pid").is_none());
    terminal.run(&["status"]).expect(0).out("interrupted in iteration 1").out("`loopkeeper resume ");
    for args in [&["pause"][..], &["steer", "latest", "x"], &["reset", "breaker"]] {
        terminal.run(args).expect(1).err("is interrupted").err("`loopkeeper resume ");
    }
    let seq = gated.status()["seq"].as_u64().unwrap();
    terminal.run(&["resume"]).expect(0).out("continues");
    gated.wait_for("agent-started", seq);
    assert_eq!(gated.status()["iteration"], 2);
    gated.iteration("touch done");
    assert_eq!(gated.watched_end(), 0);
    terminal.run(&["log"]).expect(0).out("iteration 1 was interrupted");
}

#[test]
fn an_interrupted_loop_can_be_rolled_back_and_ended() {
    let gated = GatedLoop::start();
    let GatedLoop { terminal, .. } = &gated;
    gated.wait_for("agent-started", 0);
    terminal.file("precious", "changed\n");
    gated.kill_keeper();
    terminal
        .run(&["rollback", "latest", "0", "--anyway"])
        .expect(0)
        .out("Restored the files as of the start of the loop");
    assert_eq!(terminal.read("precious"), "first\n");
    terminal.run(&["stop"]).expect(0).out("now it has ended");
    assert_eq!(gated.state(), ("done".into(), "ended".into()));
    assert_eq!(gated.watched_end(), 1);
    // An ended loop can be rolled back as well, and its journal stays valid.
    terminal.file("precious", "changed\n").file("of the user", "kept\n");
    terminal.file(".gitattributes", "of* export-ignore\nprecious text eol=crlf\n");
    terminal
        .run(&["rollback", "latest", "0"])
        .expect(1)
        .err("precious")
        .err("changed since the last snapshot of loop ")
        .err("Hint: `--anyway` continues");
    let ran = terminal.run(&["rollback", "latest", "0", "--anyway"]);
    assert_eq!(terminal.read("precious"), "first\n");
    // The replaced files survive `gc` and are restored by the printed command.
    terminal.run(&["gc"]).expect(0);
    let way_back = ran.expect(0).stdout.lines().last().unwrap().to_owned();
    assert!(
        way_back.starts_with("To undo it: `loopkeeper rollback 2") && way_back.ends_with(" --undo`"),
        "{way_back}"
    );
    let ran = terminal.run(&["rollback", "latest", "--undo"]);
    ran.expect(0).out("Restored the files from before the rollback: ");
    assert_eq!(
        (terminal.read("precious"), terminal.read("of the user")),
        ("changed\n".into(), "kept\n".into())
    );
    assert_eq!(gated.state(), ("done".into(), "ended".into()));
    terminal.run(&["log"]).expect(0).out("files restored to ");
}

#[test]
fn gc_removes_what_the_settings_do_not_keep() {
    let terminal = project(TASK, "true");
    terminal.file("done", "");
    let settings = terminal.read("loopkeeper.toml");
    for _ in 0..3 {
        terminal.run(&["run", "--trust"]).expect(0);
    }
    let count = || {
        let ran = terminal.run(&["status", "--json"]);
        let all: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
        all["loops"].as_array().unwrap().len()
    };
    terminal.run(&["gc"]).expect(0);
    assert_eq!(count(), 3);
    terminal.file("loopkeeper.toml", &format!("{settings}[keep]\nloops = 1\n"));
    terminal.run(&["gc", "--dry-run"]).expect(0).out("Would remove loop");
    assert_eq!(count(), 3);
    terminal.run(&["gc"]).expect(0).out("Removed loop");
    assert_eq!(count(), 1);
    terminal.run(&["rollback", "latest", "0", "--anyway"]).expect(0);
}

/// Every command that takes a loop, with its argument or without one.
const LATEST: [&[&str]; 14] = [
    &["rollback", "latest", "0"],
    &["rollback", "latest", "--undo"],
    &["diff", "latest", "1"],
    &["log"],
    &["watch", "latest"],
    &["stop"],
    &["pause"],
    &["resume"],
    &["accept"],
    &["reset", "breaker"],
    &["steer", "latest", "x"],
    &["answer", "latest", "x"],
    &["export", "latest"],
    &["status", "latest"],
];

#[test]
fn latest_never_reaches_into_another_tree() {
    let terminal = Terminal::new();
    for folder in ["first", "second"] {
        terminal.file(&format!("{folder}/PROMPT.md"), TASK);
        terminal.file(&format!("{folder}/loopkeeper.toml"), "agent = \"demo\"\n");
        terminal.file(&format!("{folder}/done"), "");
        let run = ["run", "--trust"];
        Ran::of(&terminal.command(&run).current_dir(terminal.root().join(folder)).output().unwrap())
            .expect(0);
        terminal.file(&format!("{folder}/done"), "changed");
    }
    let from = |folder: &str, args: &[&str]| {
        Ran::of(&terminal.command(args).current_dir(terminal.root().join(folder)).output().unwrap())
    };
    from("first", &["rollback", "latest", "0", "--anyway"]).expect(0).out("1 file written");
    let read = || (terminal.read("first/done"), terminal.read("second/done"));
    assert_eq!(read(), (String::new(), "changed".into()));
    // `status` shows the loops of this tree, and names the others with their folders.
    let place = |folder: &str| terminal.root().canonicalize().unwrap().join(folder).display().to_string();
    let id = |folder: &str| -> String {
        let all: Value = serde_json::from_str(&from(folder, &["status", "--json"]).expect(0).stdout).unwrap();
        assert_eq!((all["loops"].as_array().unwrap().len(), &all["elsewhere"][1]), (1, &Value::Null));
        all["loops"][0]["id"].as_str().unwrap().to_owned()
    };
    for (folder, other) in [("first", "second"), ("second", "first")] {
        let shown = from(folder, &["status"]).expect(0).stdout.clone();
        assert_eq!(shown.lines().filter(|it| it.contains(" since ")).count(), 1, "{shown}");
        let last = shown.lines().last().unwrap();
        assert!(last.contains(&id(other)) && last.ends_with(&format!("in {}", place(other))), "{shown}");
    }
    // A subfolder belongs to the same tree; in a folder that is no project a loop must be named.
    terminal.file("second/below/file", "");
    let seq = || from("second", &["log", "--json"]).expect(0).stdout.lines().count();
    terminal.file("empty/file", "");
    let before = (read(), seq());
    for args in LATEST {
        from("empty", args).expect(2).err(&format!("there is no loop in {}", place("empty"))).err(&format!(
            "{} in {}, {} in {}",
            id("second"),
            place("second"),
            id("first"),
            place("first")
        ));
    }
    assert_eq!((read(), seq()), before);
    from("empty", &["status"]).expect(0).out("No loop in this work tree").out(&place("second"));
    from("second/below", &["log"]).expect(0);
    let ran = from("empty", &["rollback", &id("second"), "0", "--anyway"]);
    ran.expect(0).out(&format!("in {}", place("second")));
    assert_eq!(terminal.read("second/done"), "");
}

#[test]
fn a_rollback_is_undone_byte_for_byte_and_asks_before_it_overwrites_what_the_user_wrote() {
    let agent = "printf 'two\\0\\r\\n' > bytes; rm gone; printf 'echo\\n' > tool; chmod +x tool; ln -s bytes link\n\
                 mkdir -p deep/er; echo new > deep/er/new; touch done\n";
    let terminal = project(TASK, agent);
    terminal.file("bytes", "one\n").file("gone", "there\n").file("kept", "kept\n");
    let run = |args: &[&str]| terminal.run(args);
    run(&["rollback", "--undo"]).expect(2).err("there is no loop yet");
    run(&["run", "--trust"]).expect(0);
    run(&["rollback", "latest", "--undo"]).expect(1).err("there is no rollback of loop ").err("Hint: ");
    let made = tree(&terminal);
    run(&["rollback", "latest", "0"]).expect(0).out("2 files written, 4 files removed").out(" --undo`");
    let start = tree(&terminal);
    assert!(made != start && terminal.read("bytes") == "one\n", "{start:?}");
    let status: Value = serde_json::from_str(&run(&["status", "--json"]).expect(0).stdout).unwrap();
    assert_eq!(
        (&status["loops"][0]["stale"], &status["loops"][0]["criteria"]["items"][0]["stale"]),
        (&true.into(), &true.into())
    );
    run(&["status"]).expect(0).out("(files changed since)");
    run(&["gc"]).expect(0);
    run(&["rollback", "--undo"])
        .expect(0)
        .out("Restored the files from before the rollback: 5 files written, 1 file removed.");
    assert_eq!(tree(&terminal), made);
    // The results match the files again, until the files are rolled back once more.
    let outcome = run(&["status"]).expect(0).stdout.clone();
    assert!(outcome.contains("Completed, verified") && !outcome.contains("rolled back"), "{outcome}");
    run(&["rollback", "--undo"]).expect(0);
    assert_eq!(tree(&terminal), start, "done again");
    run(&["status"]).expect(0).out("(files changed since)");
    // A file that the user changed in between is overwritten only on request; other files of the user stay.
    terminal.file("bytes", "mine\n").file("mine", "mine\n");
    let seq = || run(&["log", "--json"]).expect(0).stdout.lines().count();
    let before = (tree(&terminal), seq());
    run(&["rollback", "--undo"]).expect(1).err("1 file in ").err(": bytes").err("Hint: `--anyway` continues");
    run(&["rollback", "latest", "0"]).expect(1).err("2 files in ").err(": bytes, mine");
    assert_eq!((tree(&terminal), seq()), before);
    run(&["rollback", "--undo", "--anyway"]).expect(0);
    assert_eq!(terminal.read("mine"), "mine\n");
    assert_eq!(std::fs::read(terminal.root().join("bytes")).unwrap(), b"two\0\r\n");
    run(&["rollback", "--undo"]).expect(0);
    assert_eq!(tree(&terminal), before.0, "the user's bytes are back");
    run(&["log"]).expect(0).out("rollback undone: files restored");
}

/// Every file and link with its bytes and executable bit, without our own state.
fn tree(terminal: &Terminal) -> Vec<(PathBuf, Vec<u8>, bool)> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let (mut open, mut found) = (vec![terminal.root()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            if about.is_dir() {
                open.push(path);
            } else if about.is_symlink() {
                let to = std::fs::read_link(&path).unwrap();
                found.push((path, to.as_os_str().as_bytes().to_vec(), false));
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.push((path, bytes, about.permissions().mode() & 0o100 != 0));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn paths_that_a_rollback_is_given_are_meant_from_the_root_and_must_name_something() {
    let terminal = project(TASK, "echo changed > src/a; rm src/gone; touch done");
    terminal.file("src/a", "first\n").file("src/gone", "there\n");
    terminal.run(&["run", "--trust"]).expect(0);
    let back = |path: &str| terminal.run(&["rollback", "latest", "0", path]);
    let whole = terminal.root().canonicalize().unwrap().join("src/a");
    for typed in ["src/a", "./src/a", "src//../src/a", &whole.to_string_lossy()] {
        terminal.file("src/a", "mine\n");
        back(typed).expect(1).err("src/a").err("--anyway");
        terminal
            .run(&["rollback", "latest", "0", typed, "--anyway"])
            .expect(0)
            .out("Restored src/a as of the start of the loop: 1 file written");
        assert_eq!(terminal.read("src/a"), "first\n");
    }
    back("src/gone").expect(0).out("1 file written");
    let seq = || terminal.run(&["log", "--json"]).expect(0).stdout.lines().count();
    let before = seq();
    back("src/nothing").expect(2).err("there is no src/nothing, now or in that snapshot").err("Hint: ");
    back("../other").expect(2).err("../other is outside the work tree").err("Hint: ");
    assert_eq!(seq(), before, "what was refused is on record");
    back(".").expect(0).out("Restored the files as of the start of the loop: 1 file removed");
}

/// An editor checks a fixed criterion after a save; the next start must not fail because of that.
#[test]
fn a_start_waits_for_a_check_round_that_runs_in_the_tree() {
    let terminal = project("# Make it\n\n## Done when\n\n- It is there: `$ sh check.sh`\n", "touch done\n");
    let gate = terminal.state().with_file_name("gate");
    rustix::fs::mknodat(rustix::fs::CWD, &gate, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let check = format!("if [ -e '{0}' ]; then cat '{0}'; fi\ntest -f done\n", gate.display());
    terminal.file("check.sh", &check);
    terminal.run(&["check", "--trust", "--detach"]).expect(0);

    let mut start = terminal.command(&["run", "--trust"]);
    let mut start = start.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(start.stderr.take().unwrap()).lines();
    let note = notes
        .find_map(|it| it.ok().filter(|it| it.contains("this command waits")))
        .expect("no note that it waits");
    assert_eq!(note, "Checks of PROMPT.md are running here; this command waits for them.");
    let release = std::fs::OpenOptions::new().write(true).open(&gate).unwrap();
    std::fs::remove_file(&gate).unwrap();
    drop(release);
    let rest: Vec<_> = notes.map(Result::unwrap).collect();
    assert_eq!(start.wait().unwrap().code(), Some(0), "{rest:?}");
}
