//! A terminal to run the real binary in, with its own home, state folder and work tree, removed afterwards.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Where a test runs the binary. `root` is the work tree.
pub(crate) struct Terminal {
    folder: TempDir,
}

/// Result of one run of the binary.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "work", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("an empty folder");
        }
        Self { folder }
    }

    /// The folder that contains everything of this terminal.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Writes a file below the root, creating its parents.
    pub(crate) fn file(&self, path: &str, text: &str) -> &Self {
        write(&self.root().join(path), text);
        self
    }

    /// Writes the user's own configuration.
    pub(crate) fn user_file(&self, text: &str) -> &Self {
        write(&self.folder.path().join("home/.config/loopkeeper/config.toml"), text);
        self
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).expect("a readable file")
    }

    /// The binary, ready to run in the root, without the tester's own environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_loopkeeper")), args)
    }

    /// Like [`Self::command`] for another copy of the binary.
    pub(crate) fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"))
            .env("LOOPKEEPER_STATE_DIR", self.state())
            // A loop that a test leaves unfinished keeps its temporary files.
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env("TZ", "UTC")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// Like [`Self::command`], started by another program such as `prlimit`.
    pub(crate) fn command_within(&self, wrapper: &[&str], args: &[&str]) -> Command {
        let plain = self.command(args);
        let mut command = self.command_of(Path::new(wrapper[0]), &wrapper[1..]);
        command.arg(plain.get_program()).args(plain.get_args());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().expect("the binary starts"))
    }

    /// The folders of the loops, oldest first.
    pub(crate) fn loops(&self) -> Vec<PathBuf> {
        let workspaces = folders(&self.state().join("workspaces"));
        let mut loops: Vec<_> = workspaces.iter().flat_map(|it| folders(&it.join("loops"))).collect();
        loops.sort_by_key(|it| fs::metadata(it.join("start.json")).and_then(|it| it.modified()).ok());
        loops
    }

    /// Runs git in the root, with an identity.
    #[track_caller]
    pub(crate) fn git(&self, line: &str) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]).args(line.split(' '));
        let output = git.current_dir(self.root()).output().expect("git starts");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Checks the exit code; prints all output if it differs.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn out(&self, text: &str) -> &Self {
        assert!(
            self.stdout.contains(text),
            "no {text:?} in stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn err(&self, text: &str) -> &Self {
        assert!(
            self.stderr.contains(text),
            "no {text:?} in stderr:\n{}\nstdout:\n{}",
            self.stderr,
            self.stdout
        );
        self
    }
}

/// Writes an executable shell script.
pub(crate) fn script(path: &Path, text: &str) {
    write(path, &format!("#!/bin/sh\n{text}"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("an executable");
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|it| it.is_dir()).collect()
}

fn write(path: &Path, text: &str) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("a folder");
    }
    fs::write(path, text).expect("a written file");
}
