//! The strace log of one command, parsed line by line.

use std::path::{Path, PathBuf};

/// The relevant calls as strace prints them.
pub(super) struct Trace {
    lines: Vec<String>,
    root: PathBuf,
    state: PathBuf,
}

impl Trace {
    pub(super) fn read(log: &Path, root: &Path, state: &Path) -> Self {
        let text = std::fs::read(log).unwrap();
        let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        Self { lines, root: root.canonicalize().unwrap(), state: state.to_owned() }
    }

    /// Programs that were started, outgoing connections, files created in the tree.
    pub(super) fn faults(&self) -> Vec<String> {
        assert!(self.lines.iter().any(|it| it.contains("execve(")), "nothing was traced: {:?}", self.lines);
        // The first is the command itself.
        let programs = self.calls(&["execve(", "execveat("]).skip(1).filter(|it| !self.is_own(it));
        let sockets = self.calls(&["connect("]).filter(|it| !it.contains("AF_UNIX") || !self.is_in_state(it));
        let made = self.calls(&["openat(", "open(", "creat(", "mkdir(", "rename", "unlink", "symlink"]);
        let made = made.filter(|it| !it.contains("open") || it.contains("O_CREAT"));
        let made = made.filter(|it| it.contains(self.root.to_str().unwrap()) && !it.contains("PROMPT.md"));
        programs.chain(sockets).chain(made).cloned().collect()
    }

    fn calls<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a String> {
        // Unlike `<... execve resumed>`, a line with the name and its bracket is one call.
        self.lines.iter().filter(move |it| names.iter().any(|name| it.contains(name)))
    }

    /// Our own program, by its own path or from the state folder.
    fn is_own(&self, line: &str) -> bool {
        let program = line.split('"').nth(1).unwrap_or_default();
        program == env!("CARGO_BIN_EXE_loopkeeper") || Path::new(program).starts_with(&self.state)
    }

    fn is_in_state(&self, line: &str) -> bool {
        line.contains(self.state.to_str().unwrap())
    }
}
