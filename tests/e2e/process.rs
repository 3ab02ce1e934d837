//! A job's output, end, time and memory as seen by the keeper, with real programs.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use loopkeeper_agent::LINE_BYTES;
use loopkeeper_core::check::{CommandExit, GAP};
use loopkeeper_system::process::{
    Job, JobOutcome, OutputEvent, ProcessError, StdinSource, Stream, TerminateMode, WardenPool, run_to_end,
    start,
};
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::kill_domain::rig::{
    alive, assert_none_alive, domains, job, plain, remaining, token, until_alive, until_ready,
};

const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str) -> Job {
    job(&["sh", "-c", script])
}

/// Runs a job to its end and returns all lines of both streams.
async fn all(job: &Job) -> (Vec<OutputEvent>, JobOutcome) {
    let mut running = start(job, &plain()).unwrap();
    let mut events = Vec::new();
    while let Some(event) = running.next().await {
        events.push(event);
    }
    (events, running.wait().await)
}

fn out(text: &str) -> OutputEvent {
    OutputEvent::Line { stream: Stream::Stdout, bytes: text.as_bytes().to_vec() }
}

#[tokio::test]
async fn endings_are_distinguished() {
    for domain in domains() {
        let check = async |job: Job, exit: Option<i32>, signal: Option<i32>, not_started: bool| {
            let ended = start(&job, &domain).unwrap().wait().await;
            assert_eq!((ended.exit, ended.signal), (exit, signal), "{:?}", job.argv);
            assert_eq!(ended.not_started.is_some(), not_started);
            assert_eq!((ended.survivors.len(), ended.unkillable.len()), (0, 0), "{:?} {ended:?}", job.argv);
        };
        check(job(&["true"]), Some(0), None, false).await;
        check(shell("exit 42"), Some(42), None, false).await;
        check(shell("kill -SEGV $$"), None, Some(11), false).await;
        check(shell("kill -KILL $$"), None, Some(9), false).await;
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        fs::write(&script, "#!/no/such/interpreter\n").unwrap();
        fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        check(job(&[script.to_str().unwrap()]), None, None, true).await;
    }
}

#[tokio::test]
async fn an_unstartable_program_is_an_error_before_the_start() {
    let refused = |job: &Job| start(job, &plain()).unwrap_err();
    assert!(matches!(refused(&job::<&str>(&[])), ProcessError::Empty));
    assert!(matches!(refused(&job(&["no-such-program"])), ProcessError::NotFound { .. }));
    assert!(matches!(refused(&job(&["./no-such-program"])), ProcessError::NotFound { .. }));
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    assert!(matches!(refused(&Job { cwd: gone, ..job(&["true"]) }), ProcessError::NoFolder { .. }));
    // A program of the same name in the current folder is not found by its bare name.
    let own = folder.path().join("own-tool");
    fs::write(&own, "#!/bin/sh\necho found\n").unwrap();
    fs::set_permissions(&own, PermissionsExt::from_mode(0o755)).unwrap();
    let here = |argv: &str| Job { cwd: folder.path().into(), ..job(&[argv]) };
    assert!(matches!(refused(&here("own-tool")), ProcessError::NotFound { .. }));
    assert_eq!(all(&here("./own-tool")).await.0, [out("found")]);
}

#[tokio::test]
async fn a_job_has_only_the_given_environment_input_and_folder() {
    let folder = tempfile::tempdir().unwrap();
    let prompt = folder.path().join("prompt");
    fs::write(&prompt, "line one\nline two").unwrap();
    let mut job =
        shell("cat; echo; pwd; env -u PWD -u SHLVL -u _ -u OLDPWD | sort; ls /proc/self/fd | wc -l");
    job.env.push(("LOOPKEEPER_LOOP".into(), "x:y".into()));
    let path = format!("PATH={}", job.env[0].1.to_str().unwrap());
    job.stdin = StdinSource::File(prompt);
    job.cwd = folder.path().canonicalize().unwrap();
    let count = ["-c", "ls /proc/self/fd | wc -l"];
    let plain = std::process::Command::new("sh").args(count).output().unwrap().stdout;
    let inherited = String::from_utf8(plain).unwrap();
    for domain in domains() {
        let run = run_to_end(&job, LONG, &domain).await;
        let text = String::from_utf8(run.stdout).unwrap();
        let cwd = job.cwd.to_str().unwrap();
        let expect = ["line one", "line two", cwd, "LOOPKEEPER_LOOP=x:y", &path, inherited.trim()];
        assert_eq!(text.lines().map(str::trim).collect::<Vec<_>>(), expect);
        assert_eq!(run.stderr, b"");
    }
}

#[tokio::test]
async fn lines_come_as_written_and_too_long_ones_are_counted() {
    let (events, ended) = all(&shell("echo a; echo b >&2; printf 'c\\n\\nd'")).await;
    let stdout: Vec<_> = events
        .iter()
        .filter(|event| matches!(event, OutputEvent::Line { stream: Stream::Stdout, .. }))
        .collect();
    assert_eq!(stdout, [&out("a"), &out("c"), &out(""), &out("d")]);
    assert!(events.contains(&OutputEvent::Line { stream: Stream::Stderr, bytes: b"b".to_vec() }));
    assert_eq!(ended.exit, Some(0));
    let (events, _) = all(&shell("head -c 3000000 /dev/zero; echo; echo next")).await;
    assert_eq!(events, [OutputEvent::Oversize { stream: Stream::Stdout, bytes: 3_000_000 }, out("next")]);
    const { assert!(3_000_000 > LINE_BYTES) }
}

#[tokio::test]
async fn ordered_output_of_both_streams_keeps_its_order() {
    let script = "i=0; while [ $i -lt 40 ]; do echo $((i += 1)); echo $((i += 1)) >&2; done; exit 3";
    for domain in domains() {
        let mut running = WardenPool::new(&domain).start_alone(&shell(script)).unwrap();
        let mut heard = Vec::new();
        while let Some(event) = running.next().await {
            heard.push(event);
        }
        assert_eq!(heard, (1..=40).map(|it| out(&it.to_string())).collect::<Vec<_>>());
        assert_eq!(running.wait().await.exit, Some(3));
    }
}

/// A pipe that a process keeps open does not delay the end, and one that is closed early does not cause it.
#[tokio::test]
async fn the_end_does_not_wait_for_pipes() {
    for domain in domains() {
        let begin = Instant::now();
        let token = token("pipe");
        // Stays alive in a separate session, with the check's stderr.
        let stays = format!("setsid bash -c 'echo up; exec -a {token} sleep 600'");
        let script = format!("echo out; read -r up < <({stays}); echo last");
        let run = run_to_end(&job(&["bash", "-c", &script]), LONG, &domain).await;
        assert_eq!(run.ending, CommandExit::Exited(0));
        assert_eq!(run.stdout, b"out\nlast\n");
        assert_eq!(run.survivors.len(), 1);
        assert!(run.survivors[0].ends_with(" sleep"), "{:?}", run.survivors);
        assert_none_alive(&token, "after a check that left a process with its pipe");
        assert!(begin.elapsed() < LONG);
        let closes = run_to_end(&shell("exec >&- 2>&-; sleep 0.2; exit 3"), LONG, &domain).await;
        assert_eq!(closes.ending, CommandExit::Exited(3));
    }
}

#[tokio::test]
async fn a_grace_time_lets_the_main_process_clean_up_and_now_cuts_it_short() {
    for domain in domains() {
        let token = token("grace");
        let script = format!(
            "trap 'echo cleaned; exit 5' TERM; bash -c 'trap \"\" TERM; exec -a {token} sleep 600' & echo ready; \
             while :; do sleep 0.05; done"
        );
        let tidy = Job { grace: LONG, ..job(&["bash", "-c", &script]) };
        let mut running = start(&tidy, &domain).unwrap();
        until_ready(&mut running).await;
        running.terminate(TerminateMode::Grace);
        running.terminate(TerminateMode::Grace);
        let mut last = None;
        while let Some(event) = running.next().await {
            last = Some(event);
        }
        let ended = running.wait().await;
        assert_eq!((last, ended.exit, ended.signal), (Some(out("cleaned")), Some(5), None));
        assert_none_alive(&token, "after the grace time");
        let deaf = Job { grace: LONG, ..shell("trap '' TERM; echo ready; while :; do sleep 1; done") };
        let mut running = start(&deaf, &domain).unwrap();
        until_ready(&mut running).await;
        running.terminate(TerminateMode::Grace);
        running.terminate(TerminateMode::Now);
        let begin = Instant::now();
        let ended = running.wait().await;
        assert_eq!((ended.exit, ended.signal), (None, Some(9)));
        assert!(begin.elapsed() < LONG / 2);
    }
}

#[tokio::test]
async fn a_stopped_agent_and_a_stopped_warden_end_too() {
    for domain in domains() {
        let token = token("stopped");
        let mut running = start(&job(&["bash", "-c", "echo ready; kill -STOP $$", &token]), &domain).unwrap();
        until_ready(&mut running).await;
        running.terminate(TerminateMode::Grace);
        assert_eq!(running.wait().await.signal, Some(15), "TERM reaches a stopped process");
        let mut running = start(&job(&["bash", "-c", "echo ready; sleep 600", &token]), &domain).unwrap();
        until_ready(&mut running).await;
        for process in alive(&token).iter().filter(|process| process.arguments.contains(" domain ")) {
            process.stop();
        }
        running.terminate(TerminateMode::Now);
        assert_eq!(running.wait().await.signal, Some(9));
        assert_eq!(remaining(&token, LONG), [""; 0]);
    }
}

#[tokio::test]
async fn a_timeout_is_its_own_ending_and_output_until_then_is_kept() {
    for domain in domains() {
        let job = Job { grace: Duration::ZERO, ..shell("echo before; echo oh >&2; sleep 600") };
        let run = run_to_end(&job, Duration::from_secs(3), &domain).await;
        assert_eq!(run.ending, CommandExit::TimedOut);
        assert_eq!((run.stdout.as_slice(), run.stderr.as_slice()), (&b"before\n"[..], &b"oh\n"[..]));
        assert!(run.duration_ms >= 3000);
    }
    let missing = run_to_end(&job(&["no-such-program"]), LONG, &plain()).await;
    assert!(matches!(missing.ending, CommandExit::NotStarted(reason) if reason.contains("no-such-program")));
}

#[tokio::test]
async fn dropping_a_run_ends_the_command() {
    for domain in domains() {
        let token = token("cancelled");
        let command = job(&["bash", "-c", "sleep 600; true", &token]);
        tokio::select! {
            run = run_to_end(&command, LONG, &domain) => panic!("ended by itself: {:?}", run.ending),
            () = until_alive("bash", &token) => {}
        }
        let gone = tokio::task::spawn_blocking(move || remaining(&token, LONG));
        assert_eq!(gone.await.unwrap(), [""; 0]);
    }
}

#[tokio::test]
async fn long_output_keeps_its_beginning_and_its_end() {
    let script = "echo first; yes xxxxxxxxx | head -n 200000; echo last";
    let run = run_to_end(&shell(script), LONG, &plain()).await;
    assert_eq!(run.ending, CommandExit::Exited(0));
    assert!(run.stdout.starts_with(b"first\nxxx") && run.stdout.ends_with(b"xxx\nlast\n"));
    let gap = GAP.len() + 1;
    assert_eq!((run.stdout.len() - gap) as u64 + run.dropped, 2_000_011);
    assert!(run.stdout.len() <= 512 * 1024 + gap);
}

#[tokio::test]
async fn output_goes_to_a_private_file_and_a_full_disk_does_not_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("0007");
    let (_, ended) =
        all(&Job { output: Some(base.clone()), ..shell("echo one; echo two >&2; printf three") }).await;
    assert_eq!((ended.dropped, ended.output_error), (0, None));
    let path = base.with_extension("out");
    let text = fs::read_to_string(&path).unwrap();
    for word in ["one\n", "two\n", "three"] {
        assert!(text.contains(word), "{text:?}");
    }
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let full = folder.path().join("0008");
    std::os::unix::fs::symlink("/dev/full", full.with_extension("out")).unwrap();
    let (events, ended) = all(&Job { output: Some(full), ..shell("echo one; exit 4") }).await;
    assert_eq!((events.as_slice(), ended.exit, ended.dropped), (&[out("one")][..], Some(4), 4));
    assert!(ended.output_error.unwrap().contains("0008.out"));
}

#[tokio::test]
async fn work_shows_in_the_cpu_time_and_idling_does_not() {
    for domain in domains() {
        let script = "echo ready; read line; (while :; do :; done) & wait";
        let folder = tempfile::tempdir().unwrap();
        let gate = folder.path().join("gate");
        mkfifoat(CWD, &gate, Mode::RWXU).unwrap();
        let mut open = fs::File::options().read(true).write(true).open(&gate).unwrap();
        let busy = Job { stdin: StdinSource::File(gate), ..job(&["bash", "-c", script]) };
        let mut running = start(&busy, &domain).unwrap();
        until_ready(&mut running).await;
        let idle = running.cpu_ms().unwrap();
        open.write_all(b"go\n").unwrap();
        let until = Instant::now() + LONG;
        // The sums of a live and of an ended process differ by a few clock ticks.
        while running.cpu_ms().unwrap() < idle + 200 {
            assert!(Instant::now() < until, "no CPU time shown");
            tokio::task::yield_now().await;
        }
        running.terminate(TerminateMode::Now);
        assert!(running.wait().await.cpu_ms >= idle + 100);
    }
}

/// A gigabyte without a line end, and millions of lines: neither fills memory nor disk.
#[test]
fn memory_and_disk_stay_small_whatever_is_printed() {
    let check = |script: &str, expect: &str| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["process::helper_that_reads", "--exact", "--nocapture", "--test-threads=1"])
            .env(HELPER, script)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expect), "{text}");
        let words: Vec<&str> = text.lines().find(|line| line.contains("peak")).unwrap().split(' ').collect();
        let number =
            |word: &str| words[words.iter().position(|w| *w == word).unwrap() + 1].parse::<u64>().unwrap();
        assert!(number("peak") < 64 * 1024, "{text}");
        assert!(number("disk") <= 17 * 1024 * 1024, "{text}");
    };
    check("head -c 1073741824 /dev/zero", "oversize 1073741824 lines 0");
    check("yes a line of output | head -n 1000000", "oversize 0 lines 1000000");
}

const HELPER: &str = "PROCESS_HELPER";

/// Not an independent test: a reader whose peak memory is measured.
#[tokio::test]
async fn helper_that_reads() {
    let Ok(script) = std::env::var(HELPER) else { return };
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("0001");
    let job = Job { output: Some(base.clone()), ..shell(&script) };
    let mut running = start(&job, &plain()).unwrap();
    let (mut lines, mut oversize) = (0, 0);
    while let Some(event) = running.next().await {
        match event {
            OutputEvent::Line { .. } => lines += 1,
            OutputEvent::Oversize { bytes, .. } => oversize += bytes,
        }
    }
    let dropped = running.wait().await.dropped;
    let size = |extension| fs::metadata(base.with_extension(extension)).map_or(0, |file| file.len());
    let disk = size("out") + size("tail");
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = peak.trim().trim_end_matches(" kB");
    let line = format!("oversize {oversize} lines {lines} peak {peak} disk {disk} dropped {dropped}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}
