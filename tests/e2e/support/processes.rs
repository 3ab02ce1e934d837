//! Finds living processes by a token among their arguments or by a folder. Acts only on processes found that way.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A living process, held so that its pid cannot be reused.
pub(crate) struct LiveProcess {
    pub(crate) pid: i32,
    pub(crate) arguments: String,
    handle: OwnedFd,
}

impl LiveProcess {
    pub(crate) fn kill(&self) {
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }

    pub(crate) fn stop(&self) {
        let _ = pidfd_send_signal(&self.handle, Signal::STOP);
    }

    /// Waits for its end, at most `within`.
    pub(crate) fn ends_within(&self, within: Duration) -> bool {
        let time = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
        poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], Some(&time)).unwrap() > 0
    }
}

/// Every process with the token among its arguments.
pub(crate) fn alive(token: &str) -> Vec<LiveProcess> {
    find(|_, arguments| arguments.contains(token))
}

/// Every process but this one that refers to the folder, by arguments, environment or working directory.
pub(crate) fn around(folder: &Path) -> Vec<LiveProcess> {
    let own = Path::new("/proc").join(std::process::id().to_string());
    find(|process, arguments| process != own && refers_to(process, arguments, folder))
}

/// Waits for the end of every process with the token, at most `within`. Returns the remaining ones.
pub(crate) fn remaining(token: &str, within: Duration) -> Vec<String> {
    wait_for_end(|| alive(token), within)
}

/// Like [`remaining`] for every process around a folder.
pub(crate) fn remaining_around(folder: &Path, within: Duration) -> Vec<String> {
    wait_for_end(|| around(folder), within)
}

/// Asserts that no process with the token is alive at this moment.
pub(crate) fn assert_none_alive(token: &str, when: &str) {
    // One scan may miss a process that forks and exits during it.
    for _ in 0..5 {
        let alive: Vec<String> = alive(token).into_iter().map(|process| process.arguments).collect();
        assert!(alive.is_empty(), "{when}: {} still alive: {alive:?}", alive.len());
    }
}

fn wait_for_end(look: impl Fn() -> Vec<LiveProcess>, within: Duration) -> Vec<String> {
    let until = Instant::now() + within;
    loop {
        let alive = look();
        let left = until.saturating_duration_since(Instant::now());
        if alive.is_empty() || left.is_zero() {
            return alive.into_iter().map(|process| process.arguments).collect();
        }
        alive.iter().all(|process| process.ends_within(left));
    }
}

/// Zombies have no arguments and do nothing.
fn find(is_it: impl Fn(&Path, &str) -> bool) -> Vec<LiveProcess> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| {
        let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        let process = Path::new("/proc").join(pid.to_string());
        let line = fs::read(process.join("cmdline")).ok().filter(|it| !it.is_empty())?;
        let arguments = String::from_utf8_lossy(&line).replace('\0', " ");
        is_it(&process, &arguments).then_some(LiveProcess { pid, arguments, handle })
    })
    .collect()
}

fn refers_to(process: &Path, arguments: &str, folder: &Path) -> bool {
    let name = folder.to_str().unwrap();
    arguments.contains(name)
        || fs::read(process.join("environ")).is_ok_and(|it| String::from_utf8_lossy(&it).contains(name))
        || fs::read_link(process.join("cwd")).is_ok_and(|it| it.starts_with(folder))
}
