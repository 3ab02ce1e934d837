//! Disks that can be filled, and whose power can be cut. Needs root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Without ext4's own care for files that are replaced by renaming: other file systems have none.
const LOOP: &str = "loop,noauto_da_alloc";

/// A mounted disk of its own; unmounted when dropped.
pub(crate) struct Disk {
    folder: TempDir,
}

impl Disk {
    /// An ext4 disk in a file. `Err` says why there is none on this machine.
    pub(crate) fn ext4() -> Result<Self, String> {
        let disk = Self::new()?;
        let image = disk.image();
        let made = std::fs::File::create(&image).and_then(|it| it.set_len(96 * 1024 * 1024));
        made.map_err(|error| error.to_string())?;
        run("mkfs.ext4", &["-q", "-F", text(&image)])?;
        disk.mount(&["-o", LOOP, text(&image)])
    }

    /// A disk in memory with `options` of tmpfs.
    pub(crate) fn memory(options: &str) -> Result<Self, String> {
        Self::new()?.mount(&["-t", "tmpfs", "-o", options, "tmpfs"])
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// The disk as it would be after a power cut right now: what was not written through is gone. Whoever
    /// writes has to be stopped before and may go on after.
    pub(crate) fn after_power_cut(&self) -> Self {
        let copy = Self::new().unwrap();
        run("cp", &["--sparse=always", text(&self.image()), text(&copy.image())]).unwrap();
        let image = copy.image();
        copy.mount(&["-o", LOOP, text(&image)]).unwrap()
    }

    fn new() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("needs root".to_owned());
        }
        let disk = Self { folder: tempfile::tempdir().map_err(|error| error.to_string())? };
        std::fs::create_dir(disk.path()).map_err(|error| error.to_string())?;
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
