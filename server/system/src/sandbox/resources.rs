//! Limits the memory and the number of processes of a job. A warden limits itself before its first job, and its jobs
//! inherit the limits, so that none runs without them. The limits confine mistakes; they are not a security boundary,
//! because a job of root can lift them.

use std::ffi::OsString;
use std::{fs, io};

use rustix::process::{Resource, Rlimit, geteuid, getpid, getrlimit, setrlimit};
use rustix::system::uname;

/// Options of the warden.
const MEMORY: &str = "--memory";
const PROCESSES: &str = "--processes";
/// The first kernel that limits process numbers for each PID namespace; before it, the limit is that of the machine.
const NAMESPACED_PID_LIMIT: (u32, u32) = (6, 14);
/// Numbers that the kernel does not use again.
const RESERVED_PIDS: u64 = 300;
const PID_MAX: &str = "/proc/sys/kernel/pid_max";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResourceLimits {
    /// Bytes of data of each process. Address space is not limited: runtimes reserve far more of it than they use.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
}

impl ResourceLimits {
    /// The options of the warden that [`Self::read_option`] reads.
    pub(super) fn arguments(self) -> impl Iterator<Item = OsString> {
        let limits = [(MEMORY, self.memory), (PROCESSES, self.processes.map(u64::from))];
        let set =
            limits.into_iter().filter_map(|(option, limit)| Some([option.into(), limit?.to_string().into()]));
        set.flatten()
    }

    /// Reads one option of the warden's command line. False if it is none of these or lacks its number.
    pub fn read_option(&mut self, word: &str, rest: &mut impl Iterator<Item = OsString>) -> bool {
        let mut number = || rest.next()?.to_str()?.parse::<u64>().ok();
        match word {
            MEMORY => {
                self.memory = number();
                self.memory.is_some()
            }
            PROCESSES => {
                self.processes = number().and_then(|it| it.try_into().ok());
                self.processes.is_some()
            }
            _ => false,
        }
    }

    /// Limits this process and all that it starts. Only in a PID namespace with its own `/proc` can root be limited.
    pub fn apply(self, has_own_proc: bool) -> io::Result<()> {
        if let Some(memory) = self.memory {
            lower_limit(Resource::Data, memory)?;
        }
        let Some(processes) = self.processes.map(u64::from) else { return Ok(()) };
        if !geteuid().is_root() {
            return lower_limit(Resource::Nproc, processes + other_processes());
        }
        let release = uname().release().to_string_lossy().into_owned();
        if has_own_proc && kernel_version(&release) >= Some(NAMESPACED_PID_LIMIT) {
            // Fails where a namespace around this one has a lower limit.
            let _ = fs::write(PID_MAX, (RESERVED_PIDS + processes).to_string());
        }
        Ok(())
    }
}

fn lower_limit(resource: Resource, to: u64) -> io::Result<()> {
    let to = Some(getrlimit(resource).maximum.map_or(to, |it| it.min(to)));
    Ok(setrlimit(resource, Rlimit { current: to, maximum: to })?)
}

/// Processes that the kernel counts as this user's besides the job's: none in a user namespace that was made for this
/// warden, else at most all of the machine.
fn other_processes() -> u64 {
    let is_initial = |map: String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    if getpid().is_init() && !fs::read_to_string("/proc/self/uid_map").is_ok_and(is_initial) {
        return 1;
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    all_tasks(&load).unwrap_or_default()
}

/// `1/234` in the fourth column.
fn all_tasks(load: &str) -> Option<u64> {
    load.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

fn kernel_version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|it: char| !it.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_they_were_written() {
        for limits in [
            ResourceLimits::default(),
            ResourceLimits { memory: Some(8 << 30), processes: Some(1000) },
            ResourceLimits { memory: None, processes: Some(1) },
        ] {
            let (mut read, mut words) = (ResourceLimits::default(), limits.arguments());
            while let Some(word) = words.next() {
                assert!(read.read_option(word.to_str().unwrap(), &mut words));
            }
            assert_eq!(read, limits);
        }
        let mut read = ResourceLimits::default();
        for (word, number) in
            [("--memory", "x"), ("--processes", "-1"), ("--processes", "5000000000"), ("--x", "1")]
        {
            assert!(!read.read_option(word, &mut std::iter::once(number.into())), "{word} {number}");
        }
        assert!(!read.read_option("--memory", &mut std::iter::empty()));
    }

    #[test]
    fn kernel_counters_are_parsed() {
        assert_eq!(all_tasks("0.10 0.20 0.30 2/345 6789\n"), Some(345));
        assert_eq!(all_tasks(""), None);
        for (release, expect) in [
            ("6.18.44-fc-v595", Some((6, 18))),
            ("6.14", Some((6, 14))),
            ("5.10.0-39", Some((5, 10))),
            ("x", None),
        ] {
            assert_eq!(kernel_version(release), expect, "{release}");
        }
    }
}
