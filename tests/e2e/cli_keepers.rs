//! Keepers that are stopped, or killed together with everything that could clean up after them.

use std::fs;
use std::os::unix::net::UnixListener;

use rustix::process::{Pid, Signal, kill_process};

use crate::cli::Ran;
use crate::cli_loops::GatedLoop;
use crate::cli_refusals::run_limited;
use crate::cli_run::{TASK, project};
use crate::support::processes::{alive, around, remaining_around};
use crate::support::world::{TIMEOUT, wait_until};

fn stopped() -> GatedLoop {
    let gated = GatedLoop::start_in(project(TASK, ""));
    gated.wait_for("agent-started", 0);
    kill_process(gated.pid(), Signal::STOP).unwrap();
    wait_until(|| gated.status()["keeper"]["stopped"] == true, || gated.status().to_string());
    gated
}

#[test]
fn a_stopped_keeper_is_named_and_a_stop_ends_its_loop() {
    let gated = stopped();
    assert_eq!(gated.state(), ("needsYou".into(), "interrupted".into()));
    let terminal = &gated.terminal;
    terminal.run(&["status"]).expect(0).out("the loop's process is stopped");
    for order in [&["pause"][..], &["steer", "latest", "x"]] {
        terminal.run(order).expect(1).err("is stopped").err("`loopkeeper stop --now ");
    }
    terminal.run(&["stop", "--now"]).expect(0);
    assert_eq!(gated.watched_end(), 1);
    terminal.run(&["status"]).expect(0).out("Stopped");
}

#[test]
fn a_stopped_keeper_is_continued_by_resume() {
    let gated = stopped();
    gated.terminal.run(&["resume"]).expect(0).out("continues");
    gated.iteration("touch done");
    assert_eq!(gated.watched_end(), 0);
}

/// A loop that waits for hours shares the machine with what its user does.
#[test]
fn a_paused_keeper_returns_the_memory_of_its_program() {
    let gated = GatedLoop::start_in(project(TASK, ""));
    gated.wait_for("agent-started", 0);
    let keeper = gated.pid();
    let mapped = || {
        let status = fs::read_to_string(format!("/proc/{}/status", keeper.as_raw_nonzero())).unwrap();
        let line = status.lines().find_map(|it| it.strip_prefix("RssFile:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let working = mapped();
    gated.terminal.run(&["pause"]).expect(0);
    gated.iteration("true");
    let is_paused = || gated.state() == ("paused".into(), "paused".into());
    wait_until(|| is_paused() && mapped() <= working / 2, || format!("{} of {working} kB", mapped()));
    gated.terminal.run(&["resume"]).expect(0);
    gated.iteration("touch done");
    assert_eq!(gated.watched_end(), 0);
}

/// Without a namespace, with keeper, guard and warden killed at once, the agent is alive.
#[test]
fn the_agent_of_a_killed_keeper_is_ended_by_the_next_command() {
    let terminal = project(TASK, "");
    let settings = terminal.read("loopkeeper.toml");
    terminal.file("loopkeeper.toml", &format!("{settings}[sandbox]\nkind = \"off\"\n"));
    let gated = GatedLoop::start_in(terminal);
    gated.wait_for("agent-started", 0);
    let (keeper, id) = (gated.pid(), gated.status()["id"].as_str().unwrap().to_owned());
    kill_process(keeper, Signal::STOP).unwrap();
    // All of them stop first: the guard ends what a killed warden leaves.
    let wardens = alive(&format!(" --loop {id}"));
    for process in &wardens {
        process.stop();
    }
    for process in &wardens {
        process.kill();
    }
    kill_process(keeper, Signal::KILL).unwrap();
    let root = gated.terminal.root();
    let agents = || around(&root).into_iter().filter(|it| it.arguments.contains("agent.sh"));
    // The control: nothing else ends it.
    assert_eq!(agents().count(), 1);
    let is_dead = |pid: Pid| !std::path::Path::new(&format!("/proc/{}/exe", pid.as_raw_pid())).exists();
    wait_until(|| is_dead(keeper), || "the keeper stays".to_owned());
    gated.terminal.run(&["status"]).expect(0).out("interrupted in iteration 1");
    assert_eq!(remaining_around(&root, TIMEOUT), [""; 0]);
}

#[test]
fn a_loop_that_cannot_open_enough_files_stays_interrupted() {
    let gated = GatedLoop::start_in(project(TASK, ""));
    gated.wait_for("agent-started", 0);
    gated.kill_keeper();
    run_limited(&gated.terminal, "--nofile=23", &["resume"]).expect(1).err("Only 23 files").err("ulimit -n");
    gated.terminal.run(&["status"]).expect(0).out("interrupted in iteration 1");
    let seq = gated.status()["seq"].as_u64().unwrap();
    gated.terminal.run(&["resume"]).expect(0).out("continues");
    gated.wait_for("agent-started", seq);
    gated.iteration("touch done");
    assert_eq!(gated.watched_end(), 0);
}

/// With the file of its lock deleted, a keeper still has the lock of its journal.
#[test]
fn a_keeper_without_the_file_of_its_lock_stays_the_only_one() {
    let gated = GatedLoop::start_in(project(TASK, ""));
    gated.wait_for("agent-started", 0);
    let keeper = gated.pid();
    let terminal = &gated.terminal;
    let folder = terminal.loops().remove(0);
    // Stopped, because a keeper ends when it notices that its lock is missing.
    kill_process(keeper, Signal::STOP).unwrap();
    fs::remove_file(folder.join("lock")).unwrap();
    for lock in fs::read_dir(terminal.state().join("trees")).unwrap().map(|it| it.unwrap().path()) {
        if lock.extension().is_some() {
            fs::remove_file(lock).unwrap();
        }
    }
    let journal = || fs::read(folder.join("journal.jsonl")).unwrap();
    let before = journal();
    assert_eq!(gated.status()["keeper"]["alive"], true, "and its agent is not ended as one without a keeper");
    let mut second = terminal.command(&["keeper", folder.to_str().unwrap()]);
    let second = Ran::of(&second.output().unwrap());
    let after = journal();
    kill_process(keeper, Signal::KILL).unwrap();
    second.expect(1).err("already has a keeper");
    assert_eq!(after, before);
    // The control: without the first keeper a second one takes the loop over.
    wait_until(|| gated.status()["keeper"]["alive"] != true, || gated.status().to_string());
    let seq = gated.status()["seq"].as_u64().unwrap();
    terminal.run(&["resume"]).expect(0).out("continues");
    gated.wait_for("agent-started", seq);
    gated.iteration("touch done");
    assert_eq!(gated.watched_end(), 0);
}

/// A keeper that holds its lock and closes every connection, as one does after the record of its loop's end.
#[test]
fn a_request_to_a_keeper_that_exits_says_that_the_loop_has_ended() {
    let gated = GatedLoop::start_in(project(TASK, ""));
    gated.wait_for("agent-started", 0);
    let id = gated.status()["id"].as_str().unwrap().to_owned();
    let folder = gated.terminal.loops().remove(0);
    gated.terminal.run(&["stop", "--now"]).expect(0);
    assert_eq!(gated.watched_end(), 1);
    let lock = fs::File::options().read(true).write(true).open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let socket = gated.terminal.state().join("run").join(format!("{id}.sock"));
    let listener = UnixListener::bind(socket).unwrap();
    let keeper = std::thread::spawn(move || drop(listener.accept().unwrap()));
    gated.terminal.run(&["pause"]).expect(1).err(&format!("loop {id} has ended")).err("Hint: ");
    keeper.join().unwrap();
}
