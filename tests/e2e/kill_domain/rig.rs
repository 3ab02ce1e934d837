//! Domains to try, and who of a token's processes is still alive.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loopkeeper::adapters::process::{Job, OutputEvent, Running, Stdin};
use loopkeeper::adapters::sandbox::Domain;
use loopkeeper::adapters::trust::permit::Approved;
use loopkeeper_core::settings::Sandbox;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_loopkeeper");

/// Without a namespace.
pub(crate) fn plain() -> Domain {
    Domain::detect(Sandbox::Off, Path::new(BINARY)).unwrap()
}

/// In a PID namespace; `None` where bubblewrap does not work, which is then said.
pub(crate) fn namespace() -> Option<Domain> {
    let domain = Domain::detect(Sandbox::Required, Path::new(BINARY));
    if let Err(error) = &domain {
        crate::not_run("kill domain in a PID namespace", &error.to_string());
    }
    domain.ok()
}

pub(crate) fn domains() -> Vec<Domain> {
    [Some(plain()), namespace()].into_iter().flatten().collect()
}

pub(crate) fn rig() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rigs/hostile_tree.sh")
}

/// A word that no other process has among its arguments.
pub(crate) fn token(name: &str) -> String {
    format!("lk-{name}-{}", uuid::Uuid::new_v4().simple())
}

pub(crate) fn job<S: AsRef<str>>(argv: &[S]) -> Job {
    Job {
        argv: Approved::typed(argv.iter().map(|word| OsString::from(word.as_ref())).collect()),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
        stdin: Stdin::Null,
        grace: Duration::from_millis(300),
        output: None,
    }
}

pub(crate) fn hostile(token: &str, mode: &str) -> Job {
    job(&[rig().to_str().unwrap(), token, mode])
}

pub(crate) async fn until_ready(running: &mut Running) {
    while let Some(event) = running.next().await {
        if matches!(&event, OutputEvent::Line { bytes, .. } if bytes == b"ready") {
            return;
        }
    }
    panic!("the rig ended before it was ready");
}

/// A process that is alive, held so that its number cannot become another's.
pub(crate) struct Alive {
    pub(crate) pid: i32,
    pub(crate) arguments: String,
    handle: OwnedFd,
}

impl Alive {
    pub(crate) fn kill(&self) {
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }

    pub(crate) fn stop(&self) {
        let _ = pidfd_send_signal(&self.handle, Signal::STOP);
    }

    fn gone(&self, within: Duration) -> bool {
        let time = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
        poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], Some(&time)).unwrap() > 0
    }
}

/// Everybody with the token among the arguments; zombies have none.
pub(crate) fn alive(token: &str) -> Vec<Alive> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let arguments = String::from_utf8_lossy(&line).replace('\0', " ");
        arguments.contains(token).then_some(Alive { pid, arguments, handle })
    })
    .collect()
}

/// Waits for the end of everybody with the token, at most `within`. Returns who stayed.
pub(crate) fn stayed(token: &str, within: Duration) -> Vec<String> {
    let until = Instant::now() + within;
    loop {
        let alive = alive(token);
        let left = until.saturating_duration_since(Instant::now());
        if alive.is_empty() || left.is_zero() {
            return alive.into_iter().map(|process| process.arguments).collect();
        }
        alive.iter().all(|process| process.gone(left));
    }
}

/// Asserts that nobody with the token is alive at this moment.
pub(crate) fn assert_nobody(token: &str, when: &str) {
    // One look may miss who forks and exits while it lasts.
    for _ in 0..5 {
        let alive: Vec<String> = alive(token).into_iter().map(|process| process.arguments).collect();
        assert!(alive.is_empty(), "{when}: {} still alive: {alive:?}", alive.len());
    }
}
