//! No process outlives an agent or a check: a process tree that tries everything to survive, against both domains.

pub(crate) mod rig;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use loopkeeper_system::process::{TerminateMode, orphans, start};
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::warden_channel;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use self::rig::{alive, assert_none_alive, domains, hostile, remaining, token, until_ready};

use crate::support::world::TIMEOUT;

const HELPER: &str = "KILL_DOMAIN_HELPER";

#[tokio::test]
async fn survivors_of_an_agent_that_exits_are_named_and_ended() {
    for domain in domains() {
        let token = token("exit");
        let ended = start(&hostile(&token, "exit"), &domain).unwrap().wait().await;
        assert_none_alive(&token, "after the end");
        assert_eq!((ended.exit, ended.signal), (Some(7), None), "{domain:?}");
        assert!(ended.survivors.len() > 40, "{:?}", ended.survivors);
        assert!(ended.survivors.iter().any(|name| name.ends_with(" sleep")), "{:?}", ended.survivors);
        assert_eq!(ended.unkillable, [""; 0]);
        assert!(ended.cpu_ms > 0);
    }
}

#[tokio::test]
async fn stop_now_and_stop_after_grace_leave_no_process() {
    for domain in domains() {
        for (how, limit) in [(TerminateMode::Grace, 300), (TerminateMode::Now, 0)] {
            let token = token("stop");
            let mut running = start(&hostile(&token, "stay"), &domain).unwrap();
            until_ready(&mut running).await;
            assert!(alive(&token).len() > 100);
            let begin = Instant::now();
            running.terminate(how);
            let ended = running.wait().await;
            let took = begin.elapsed();
            assert_none_alive(&token, "after the stop");
            assert_eq!((ended.exit, ended.signal), (None, Some(9)), "{domain:?} {how:?}");
            assert!(took >= Duration::from_millis(limit), "{took:?}");
        }
    }
}

/// Forks the next process and exits, in a new session each time, faster than any scan.
#[tokio::test]
async fn a_process_that_keeps_forking_is_ended() {
    for domain in domains() {
        let token = token("mover");
        let script =
            "$| = 1; if (!fork) { print qq(ready\\n); while (1) { syscall(112); exit 0 if fork } } sleep 600";
        let mut running = start(&rig::job(&["perl", "-e", script, &token]), &domain).unwrap();
        until_ready(&mut running).await;
        running.terminate(TerminateMode::Now);
        let ended = running.wait().await;
        assert_none_alive(&token, "after the mover was stopped");
        assert_eq!((ended.signal, ended.unkillable), (Some(9), Vec::new()), "{domain:?}");
    }
}

#[tokio::test]
async fn dropping_a_job_ends_it() {
    for domain in domains() {
        let token = token("drop");
        let mut running = start(&hostile(&token, "stay"), &domain).unwrap();
        until_ready(&mut running).await;
        drop(running);
        // The warden receives its command from a task that needs a turn of the runtime.
        let gone = tokio::task::spawn_blocking(move || remaining(&token, TIMEOUT));
        assert_eq!(gone.await.unwrap(), [""; 0]);
    }
}

#[test]
fn a_killed_keeper_leaves_no_process() {
    for domain in domains() {
        let token = token("keeper");
        let mut keeper = held(&token, &domain);
        keeper.kill().unwrap();
        keeper.wait().unwrap();
        assert_eq!(remaining(&token, TIMEOUT), [""; 0], "{domain:?}");
    }
}

#[test]
fn dropped_jobs_can_be_waited_for() {
    for domain in domains() {
        let token = token("dropped");
        let mut keeper = helper("drop", &token, &domain);
        let mut lines = BufReader::new(keeper.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().any(|line| line.unwrap().contains("0 alive")), "{domain:?}");
        assert!(keeper.wait().unwrap().success());
    }
}

#[test]
fn a_killed_warden_leaves_no_process() {
    for domain in domains() {
        let token = token("warden");
        let mut keeper = helper("kill-warden", &token, &domain);
        let mut lines = BufReader::new(keeper.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().any(|line| line.unwrap().contains("ended signal=9")));
        assert_none_alive(&token, "after the end without a warden");
        assert!(keeper.wait().unwrap().success());
    }
}

/// At each moment of its start: bubblewrap, killed between its fork and the request to die with its parent, leaves a
/// process behind that becomes the warden and starts the job.
#[test]
fn a_warden_killed_while_it_starts_leaves_no_process() {
    for domain in domains() {
        let token = token("starting");
        let mut keeper = helper("kill-starting", &token, &domain);
        let mut lines = BufReader::new(keeper.stdout.take().unwrap()).lines();
        let counted = lines.by_ref().map(Result::unwrap).find(|it| it.ends_with(" left")).unwrap();
        assert!(counted.ends_with(" 0 left"), "{counted}: {domain:?}");
        assert!(keeper.wait().unwrap().success());
    }
}

#[test]
fn a_keeper_and_its_warden_killed_together_leave_no_process() {
    for domain in domains() {
        let token = token("both");
        let mut keeper = held(&token, &domain);
        kill_with_keeper(&mut keeper, &[warden(&token)]);
        assert_eq!(remaining(&token, TIMEOUT), [""; 0], "{domain:?}");
    }
}

/// Control: without the guard, processes of the job stay, among them some that no mark identifies.
#[test]
fn control_the_guard_ends_what_a_killed_warden_and_keeper_leave() {
    let token = token("three");
    let mut keeper = held(&token, &rig::plain());
    kill_with_keeper(&mut keeper, &[guard(&token), warden(&token)]);
    let left = alive(&token);
    for process in left.iter().chain(&alive(&token)) {
        process.kill();
    }
    assert_eq!(remaining(&token, TIMEOUT), [""; 0]);
    assert!(left.len() > 5, "only {} left", left.len());
}

/// A keeper whose job runs.
fn held(token: &str, domain: &Isolation) -> std::process::Child {
    let mut keeper = helper("hold", token, domain);
    let mut lines = BufReader::new(keeper.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("holding")));
    assert!(alive(token).len() > 100);
    keeper
}

/// A stopped keeper does not notice that others are killed before it.
fn kill_with_keeper(keeper: &mut std::process::Child, others: &[i32]) {
    let signal = |pid, signal| kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    signal(keeper.id() as i32, Signal::STOP);
    for pid in others {
        signal(*pid, Signal::KILL);
    }
    keeper.kill().unwrap();
    keeper.wait().unwrap();
}

/// Control: the method of most tools leaves processes behind, so the rig is effective.
#[test]
fn control_killing_the_process_group_is_not_enough() {
    for signal in [Signal::TERM, Signal::KILL] {
        let token = token("control");
        let mut child = Command::new(rig::rig())
            .args([&token, "calm"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().any(|line| line.unwrap() == "ready"));
        kill_process_group(Pid::from_child(&child), signal).unwrap();
        let left = alive(&token).into_iter().filter(|process| process.pid != child.id() as i32).count();
        while !alive(&token).is_empty() {
            for process in alive(&token) {
                process.kill();
            }
        }
        child.wait().unwrap();
        assert!(left >= 5, "only {left} left behind after {signal:?}");
    }
}

/// Runs this test binary again as a keeper: a subreaper in a separate process.
fn helper(mode: &str, token: &str, domain: &Isolation) -> std::process::Child {
    let kind = if matches!(domain, Isolation::PidNamespace { .. }) { "namespace" } else { "plain" };
    Command::new(std::env::current_exe().unwrap())
        .args(["kill_domain::helper_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(HELPER, format!("{mode} {token} {kind}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not an independent test: the process that [`helper`] starts.
#[tokio::test]
async fn helper_process() {
    let Ok(order) = std::env::var(HELPER) else { return };
    let words: Vec<&str> = order.split(' ').collect();
    let domain = if words[2] == "plain" { rig::plain() } else { rig::namespace().unwrap() };
    orphans::become_subreaper().unwrap();
    if words[0] == "kill-starting" {
        return say(&format!("{} left", kill_while_starting(words[1], &domain).await));
    }
    let mut running = start(&hostile(words[1], "stay"), &domain).unwrap();
    until_ready(&mut running).await;
    if words[0] == "hold" {
        say("holding");
        std::future::pending::<()>().await;
    }
    if words[0] == "drop" {
        drop(running);
        orphans::wait_until_all_ended().await;
        assert_none_alive(words[1], "after all are gone");
        return say("0 alive");
    }
    kill_process(Pid::from_raw(warden(words[1])).unwrap(), Signal::KILL).unwrap();
    let ended = running.wait().await;
    say(&format!("ended signal={} survivors={:?}", ended.signal.unwrap_or(0), ended.survivors));
}

/// Returns how many children were left after the end of a job whose outermost process was killed.
async fn kill_while_starting(token: &str, domain: &Isolation) -> usize {
    let mut left = 0;
    for step in 0..60 {
        let running = start(&hostile(token, "stay"), domain).unwrap();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_micros(70 * step) {
            std::hint::spin_loop();
        }
        kill_process(Pid::from_raw(running.pid() as i32).unwrap(), Signal::KILL).unwrap();
        running.wait().await;
        left += own_children();
    }
    left
}

fn own_children() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = threads.filter_map(|it| std::fs::read_to_string(it.path().join("children")).ok());
    lists.map(|it| it.split_ascii_whitespace().count()).sum()
}

fn warden(token: &str) -> i32 {
    with_arguments(token, |it| !it.starts_with(warden_channel::GUARD))
}

fn guard(token: &str) -> i32 {
    with_arguments(token, |it| it.starts_with(warden_channel::GUARD))
}

fn with_arguments(token: &str, is_it: impl Fn(&str) -> bool) -> i32 {
    let start = format!("{} {} ", rig::BINARY, warden_channel::SUBCOMMAND);
    let find = |process: &rig::LiveProcess| process.arguments.strip_prefix(&start).is_some_and(&is_it);
    alive(token).into_iter().find(find).unwrap().pid
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}
