//! Runs the binary on a pseudo terminal, made by `script`.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::cli::Terminal;

pub(crate) const CTRL_C: &[u8] = b"\x03";

pub(crate) struct PtyProcess {
    child: Child,
    keys: ChildStdin,
    /// Its output so far.
    pub(crate) screen: String,
}

impl PtyProcess {
    /// `None` if `script` is not installed, which is reported.
    pub(crate) fn start(terminal: &Terminal, args: &str, variables: &[(&str, &str)]) -> Option<Self> {
        // A shell in between would handle Ctrl-C in its own way.
        let line = format!("exec {} {args}", env!("CARGO_BIN_EXE_loopkeeper"));
        let mut command = terminal.command_of(Path::new("script"), &["-q", "-e", "-c", &line, "/dev/null"]);
        command.env("TERM", "xterm").env("SHELL", "/bin/sh").envs(variables.iter().copied());
        match command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() {
            Ok(mut child) => {
                let keys = child.stdin.take().unwrap();
                Some(Self { child, keys, screen: String::new() })
            }
            Err(error) => {
                crate::not_run("commands on a terminal", &format!("script: {error}"));
                None
            }
        }
    }

    /// Reads until it has printed this text.
    #[track_caller]
    pub(crate) fn until(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.screen.contains(text) {
            let count = self.child.stdout.as_mut().unwrap().read(&mut buffer).unwrap();
            assert!(count > 0, "no {text:?} on\n{}", self.screen);
            self.screen += &String::from_utf8_lossy(&buffer[..count]);
        }
    }

    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
        self.keys.flush().unwrap();
    }

    /// Closes the terminal.
    pub(crate) fn close(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Checks the exit code; returns everything that was printed.
    #[track_caller]
    pub(crate) fn exits(mut self, code: i32) -> String {
        let mut rest = Vec::new();
        self.child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
        self.screen += &String::from_utf8_lossy(&rest);
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{}", self.screen);
        self.screen
    }
}
