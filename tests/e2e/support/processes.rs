//! Who is alive and has to do with a folder: by arguments, environment or working directory. Acts only on processes
//! found that way.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process that is alive, held so that its number cannot become another's.
pub(crate) struct Near {
    pub(crate) pid: i32,
    pub(crate) arguments: String,
    handle: OwnedFd,
}

impl Near {
    pub(crate) fn kill(&self) {
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }

    /// Waits for its end, at most `within`.
    pub(crate) fn is_gone(&self, within: Duration) -> bool {
        let time = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
        poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], Some(&time)).unwrap() > 0
    }
}

/// Everybody but this process who has to do with the folder. Zombies have no arguments and do nothing.
pub(crate) fn around(folder: &Path) -> Vec<Near> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let others = pids.filter(|pid| u32::try_from(*pid) != Ok(std::process::id()));
    others
        .filter_map(|pid| {
            let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
            let process = Path::new("/proc").join(pid.to_string());
            let line = fs::read(process.join("cmdline")).ok().filter(|it| !it.is_empty())?;
            let arguments = String::from_utf8_lossy(&line).replace('\0', " ");
            is_near(&process, &arguments, folder).then_some(Near { pid, arguments, handle })
        })
        .collect()
}

/// Waits for the end of everybody around the folder, at most `within`. Returns who stayed.
pub(crate) fn stayed(folder: &Path, within: Duration) -> Vec<String> {
    let until = Instant::now() + within;
    loop {
        let near = around(folder);
        let left = until.saturating_duration_since(Instant::now());
        if near.is_empty() || left.is_zero() {
            return near
                .into_iter()
                .map(|process| format!("{} {}", process.pid, process.arguments))
                .collect();
        }
        near.iter().all(|process| process.is_gone(left));
    }
}

fn is_near(process: &Path, arguments: &str, folder: &Path) -> bool {
    let name = folder.to_str().unwrap();
    arguments.contains(name)
        || fs::read(process.join("environ")).is_ok_and(|it| String::from_utf8_lossy(&it).contains(name))
        || fs::read_link(process.join("cwd")).is_ok_and(|it| it.starts_with(folder))
}
