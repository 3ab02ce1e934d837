//! One warden for successive jobs: each job is isolated, and nothing of one is left when the next begins.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use loopkeeper_core::check::CommandExit;
use loopkeeper_system::process::{
    Job, JobHandle, JobOutcome, OutputEvent, StdinSource, StreamLayout, TerminateMode, WardenPool, start,
};
use loopkeeper_system::sandbox::Isolation;
use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::kill_domain::rig::{
    assert_none_alive, domains, hostile, job, remaining, token, until_alive, until_ready,
};

const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str) -> Job {
    job(&["sh", "-c", script])
}

/// Runs a job; returns the pid of its warden, its output and its outcome.
async fn ran(wardens: &WardenPool, job: &Job) -> (u32, String, JobOutcome) {
    let running = wardens.start(job).unwrap();
    let pid = running.pid();
    let (text, ended) = text_of(running).await;
    (pid, text, ended)
}

async fn text_of(mut running: JobHandle) -> (String, JobOutcome) {
    let mut text = String::new();
    while let Some(event) = running.next().await {
        if let OutputEvent::Line { bytes, .. } = event {
            text += &(String::from_utf8(bytes).unwrap() + "\n");
        }
    }
    (text, running.wait().await)
}

/// A process that is not reaped remains as a zombie in the table.
async fn until_dead(pid: u32) {
    let end = Instant::now() + LONG;
    let state = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    while !state().is_empty() && !state().contains(") Z ") {
        assert!(Instant::now() < end, "{}", state());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    list.split_ascii_whitespace().map(|it| it.parse().unwrap()).collect()
}

/// Mounts inside a namespace stay inside, so only a namespace's warden has something to reset.
fn mounts_are_its_own(domain: &Isolation) -> bool {
    matches!(domain, Isolation::PidNamespace { .. }) && geteuid().is_root()
}

#[tokio::test]
async fn jobs_that_leave_nothing_behind_share_a_warden_and_nothing_else() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in"), "read me\n").unwrap();
        let (first, printed, ended) = ran(&wardens, &shell("A=1; export A; cd /; echo one; exit 3")).await;
        assert_eq!((printed.as_str(), ended.exit), ("one\n", Some(3)));
        let own = Job {
            cwd: folder.path().into(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("B".into(), "2".into())],
            stdin: StdinSource::File(folder.path().join("in")),
            ..shell("pwd; cat; echo ${A-none} $B; ls /proc/self/fd | wc -l; echo oh >&2")
        };
        let (second, printed, ended) = ran(&wardens, &own).await;
        let lines: Vec<&str> = printed.lines().collect();
        let place = folder.path().to_str().unwrap();
        // No more files are open than for a job under a separate warden.
        let alone = start(&shell("ls /proc/self/fd | wc -l"), &domain).unwrap();
        let open = text_of(alone).await.0;
        for expect in [place, "read me", "none 2", open.trim(), "oh"] {
            assert!(lines.contains(&expect), "{expect}: {printed}");
        }
        assert_eq!((second, ended.exit, ended.survivors.len()), (first, Some(0), 0), "{domain:?}");
        let (third, _, ended) = ran(&wardens, &shell("kill -SEGV $$")).await;
        assert_eq!((third, ended.exit, ended.signal), (first, None, Some(11)));
        let script = folder.path().join("script");
        fs::write(&script, "no program").unwrap();
        assert!(wardens.start(&job(&[script.to_str().unwrap()])).is_err());
        assert!(wardens.start(&Job { cwd: "/nowhere".into(), ..shell("true") }).is_err());
        wardens.shutdown().await;
        let (other, _, _) = ran(&wardens, &shell("true")).await;
        assert_ne!(other, first);
    }
}

#[tokio::test]
async fn the_time_of_a_job_is_its_own() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let (_, _, long) = ran(&wardens, &shell(busy)).await;
        let mut running = wardens.start(&shell("echo ready; read -r line < /dev/zero & sleep 600")).unwrap();
        until_ready(&mut running).await;
        running.terminate(TerminateMode::Now);
        running.wait().await;
        let mut running = wardens.start(&shell("echo ready; sleep 600")).unwrap();
        until_ready(&mut running).await;
        let so_far = running.cpu_ms().unwrap();
        running.terminate(TerminateMode::Now);
        running.wait().await;
        assert!(long.cpu_ms >= 50, "{long:?}");
        assert!(so_far < long.cpu_ms, "{so_far} {long:?}");
    }
}

#[tokio::test]
async fn survivors_of_a_job_are_named_and_ended_before_the_next() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        for _ in 0..3 {
            let token = token("again");
            let ended = wardens.start(&hostile(&token, "exit")).unwrap().wait().await;
            assert_none_alive(&token, "after the end");
            assert_eq!((ended.exit, ended.unkillable.len()), (Some(7), 0));
            assert!(ended.survivors.len() > 40, "{:?}", ended.survivors);
            let token = crate::kill_domain::rig::token("stop");
            let mut running = wardens.start(&hostile(&token, "stay")).unwrap();
            until_ready(&mut running).await;
            running.terminate(TerminateMode::Now);
            assert_eq!(running.wait().await.signal, Some(9));
            assert_none_alive(&token, "after the stop");
        }
    }
}

#[tokio::test]
async fn jobs_at_the_same_time_have_wardens_of_their_own() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let mut long = wardens.start(&shell("echo ready; sleep 600")).unwrap();
        until_ready(&mut long).await;
        let (short, ..) = ran(&wardens, &shell("true")).await;
        assert_ne!(short, long.pid());
        long.terminate(TerminateMode::Now);
        assert_eq!(long.wait().await.signal, Some(9));
    }
}

#[tokio::test]
async fn an_order_that_comes_late_does_not_reach_the_next_job() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let mut late = wardens.start(&shell("echo ready")).unwrap();
        let pid = late.pid();
        while late.next().await.is_some() {}
        let mut next = wardens.start(&shell("echo ready; sleep 0.3; exit 4")).unwrap();
        until_ready(&mut next).await;
        late.terminate(TerminateMode::Now);
        assert_eq!(next.pid(), pid);
        assert_eq!(next.wait().await.exit, Some(4), "{domain:?}");
        assert_eq!(late.wait().await.exit, Some(0));
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_or_over_its_time_ends_and_the_next_one_runs() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let token = token("dropped");
        let command = job(&["bash", "-c", "sleep 600; true", &token]);
        tokio::select! {
            run = wardens.run_to_end(&command, StreamLayout::Apart, LONG) => {
                panic!("ended by itself: {:?}", run.ending)
            }
            () = until_alive("bash", &token) => {}
        }
        let run =
            wardens.run_to_end(&shell("sleep 600"), StreamLayout::Apart, Duration::from_millis(300)).await;
        assert_eq!(run.ending, CommandExit::TimedOut);
        let run = wardens.run_to_end(&shell("echo fine"), StreamLayout::Apart, LONG).await;
        assert_eq!((run.ending, run.stdout), (CommandExit::Exited(0), b"fine\n".to_vec()));
        let gone = tokio::task::spawn_blocking(move || remaining(&token, LONG));
        assert_eq!(gone.await.unwrap(), [""; 0]);
    }
}

#[tokio::test]
async fn a_job_that_stops_its_warden_ends_all_the_same() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let (_, printed, _) = ran(&wardens, &shell("kill -STOP $PPID; echo done")).await;
        assert_eq!(printed, "done\n", "{domain:?}");
    }
}

/// Busy or idle, killed or stopped: the next job gets another warden.
#[tokio::test]
async fn a_warden_that_was_ended_gets_no_more_jobs() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let signal = |pid: u32, signal| kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
        let (idle, ..) = ran(&wardens, &shell("true")).await;
        // A namespace's warden is a child of bubblewrap, and ends with it.
        let inner = children(idle);
        signal(idle, Signal::KILL);
        for pid in inner.into_iter().chain([idle]) {
            until_dead(pid).await;
        }
        let (mut at_work, printed, _) = ran(&wardens, &shell("echo fine")).await;
        assert_eq!((printed.as_str(), at_work == idle), ("fine\n", false));
        for (kind, ends) in [(Signal::KILL, 9), (Signal::STOP, 9)] {
            let token = token("ended");
            let mut running = wardens.start(&job(&["bash", "-c", "echo ready; sleep 600", &token])).unwrap();
            until_ready(&mut running).await;
            assert_eq!(running.pid(), at_work);
            for pid in children(at_work).into_iter().chain([at_work]) {
                signal(pid, kind);
            }
            running.terminate(TerminateMode::Now);
            assert_eq!(running.wait().await.signal, Some(ends), "{domain:?} {kind:?}");
            let (other, printed, _) = ran(&wardens, &shell("echo fine")).await;
            assert_eq!((printed.as_str(), other == at_work), ("fine\n", false));
            at_work = other;
        }
    }
}

/// Control: in a mount namespace with all capabilities, the mount covers the file.
#[tokio::test]
async fn no_job_mounts_anything_over_what_the_next_one_runs() {
    const MOUNT: &str = "mount --bind false shown 2>/dev/null; cat shown";
    for domain in domains().into_iter().filter(mounts_are_its_own) {
        let wardens = WardenPool::new(&domain);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("shown"), "true\n").unwrap();
        fs::write(folder.path().join("false"), "false\n").unwrap();
        let here = |script: &str| Job { cwd: folder.path().into(), ..shell(script) };
        for script in [MOUNT, "cat shown"] {
            assert_eq!(ran(&wardens, &here(script)).await.1, "true\n", "{script}");
        }
        let control =
            Command::new("unshare").args(["-m", "sh", "-c", MOUNT]).current_dir(&folder).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&control.stdout), "false\n");
    }
}

/// A process may change the limits of its parent. Control: the job that does so sees it.
#[tokio::test]
async fn no_limit_that_a_job_sets_for_its_warden_is_the_next_ones() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let (first, before, _) = ran(&wardens, &shell("ulimit -n")).await;
        let lower = "prlimit --pid $PPID --nofile=64 && awk '/open files/ { print $4 }' /proc/$PPID/limits";
        let (second, printed, _) = ran(&wardens, &shell(lower)).await;
        assert_eq!((second, printed.as_str()), (first, "64\n"), "{domain:?}");
        let (third, printed, _) = ran(&wardens, &shell("ulimit -n")).await;
        assert_eq!((printed, third == second), (before, false), "{domain:?}");
    }
}

#[tokio::test]
async fn a_shutdown_waits_until_idle_wardens_have_exited() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let (pid, ..) = ran(&wardens, &shell("true")).await;
        let process = Path::new("/proc").join(pid.to_string());
        assert!(process.exists());
        let line = fs::read_to_string(process.join("cmdline")).unwrap();
        assert!(line.contains("--orders") && !line.contains("true"), "the line is of no job: {line}");
        assert_eq!(fs::read_link(process.join("cwd")).unwrap(), Path::new("/"));
        wardens.shutdown().await;
        assert!(!process.exists());
    }
}

#[tokio::test]
async fn an_idle_warden_notices_that_its_keeper_is_gone() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let (pid, ..) = ran(&wardens, &shell("true")).await;
        // Everything that its keeper holds of it; the process remains to be reaped.
        drop(wardens);
        until_dead(pid).await;
    }
}

/// The rig detects a warden that stays.
#[tokio::test]
async fn control_a_shutdown_of_the_pool_keeps_a_busy_warden() {
    for domain in domains() {
        let wardens = WardenPool::new(&domain);
        let mut running: JobHandle = wardens.start(&shell("echo ready; sleep 600")).unwrap();
        until_ready(&mut running).await;
        wardens.shutdown().await;
        assert!(Path::new("/proc").join(running.pid().to_string()).exists());
        running.terminate(TerminateMode::Now);
        running.wait().await;
    }
}
