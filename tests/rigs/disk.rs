//! Disks that can be filled, and whose power can be cut. Needs root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Without ext4's own protection of files that are replaced by renaming: other file systems have none.
const LOOP: &str = "loop,noauto_da_alloc";

/// `EXT4_IOC_SHUTDOWN` without flushing the log: from then on the file system writes nothing.
const SHUT_DOWN: &str = r#"
open(my $disk, "<", $ARGV[0]) or die "$!\n";
ioctl($disk, 0x8004587d, my $flags = pack("L", 2)) or die "$!\n";
"#;

/// A separate mounted disk; unmounted when dropped.
pub(crate) struct Disk {
    folder: TempDir,
}

impl Disk {
    /// An ext4 disk in a file. `Err` is the reason why this machine cannot provide one.
    pub(crate) fn ext4() -> Result<Self, String> {
        let disk = Self::new()?;
        let image = disk.image();
        let made = fs::File::create(&image).and_then(|it| it.set_len(96 * 1024 * 1024));
        made.map_err(|error| error.to_string())?;
        run("mkfs.ext4", &["-q", "-F", text(&image)])?;
        disk.mount(&["-o", LOOP, text(&image)])
    }

    /// A disk in memory with `options` of tmpfs.
    pub(crate) fn memory(options: &str) -> Result<Self, String> {
        Self::new()?.mount(&["-t", "tmpfs", "-o", options, "tmpfs"])
    }

    /// From now on nothing can be written. No file may be open for writing.
    pub(crate) fn make_read_only(&self) {
        run("mount", &["-o", "remount,ro", text(&self.path())]).unwrap();
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// Cuts the power immediately and returns the disk as it is when the power returns, without data that was not
    /// written through. A process that reports its writes has to [`stop_and_wait`] first: a sync in progress at the cut
    /// may still succeed.
    pub(crate) fn cut_power(&self) -> Result<Self, String> {
        // First the cut, then the copy: a copy of a disk that is being written mixes several moments, and the system
        // writes even if no test does.
        run("perl", &["-e", SHUT_DOWN, text(&self.path())])?;
        let copy = Self::new()?;
        let image = copy.image();
        run("cp", &["--sparse=always", text(&self.image()), text(&image)])?;
        copy.mount(&["-o", LOOP, text(&image)])
    }

    fn new() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("needs root".to_owned());
        }
        let disk = Self { folder: tempfile::tempdir().map_err(|error| error.to_string())? };
        fs::create_dir(disk.path()).map_err(|error| error.to_string())?;
        Ok(disk)
    }

    fn mount(self, arguments: &[&str]) -> Result<Self, String> {
        run("mount", &[arguments, &[text(&self.path())]].concat())?;
        Ok(self)
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }
}

/// Stops a process. When this returns none of its threads runs any more: the signal alone only requests that, and on a
/// busy machine they continue for a while.
pub(crate) fn stop_and_wait(pid: Pid) {
    kill_process(pid, Signal::STOP).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !threads(pid).iter().all(|it| ["T", "t", "Z", "X"].contains(&it.as_str())) {
        assert!(Instant::now() < until, "does not stop: {:?}", threads(pid));
        std::thread::yield_now();
    }
}

/// The state of each thread, as in `/proc`.
fn threads(pid: Pid) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).unwrap();
    let stats = tasks.flatten().filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    // The name before it may contain anything.
    stats.filter_map(|it| Some(it.rsplit_once(") ")?.1.split(' ').next()?.to_owned())).collect()
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a process that is being ended may still hold a file.
        let _ = run("umount", &["--lazy", text(&self.path())]);
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
