//! Checks, before a loop starts, that a configured path can be executed: shebang, architecture, permissions. Programs
//! found on `PATH` are not checked here.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use loopkeeper_text::tr;

/// The kernel reads fewer bytes of the first line.
const FIRST_LINE_BYTES: u64 = 512;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreflightError {
    #[error("{}", tr!("does not exist"))]
    Missing,
    #[error("{}", tr!("is not a file"))]
    NotAFile,
    #[error("{}", tr!("is not executable"))]
    NotExecutable,
    #[error("{}", tr!("names no interpreter"))]
    NoInterpreter,
    #[error("{}", tr!("begins with `#!{interpreter}`, which does not exist", interpreter = _0))]
    MissingInterpreter(String),
    #[error("{}", tr!("has Windows line ends, so that its first line names no program"))]
    WindowsLines,
}

impl PreflightError {
    /// `agent` is the agent's name.
    pub(super) fn hint(&self, agent: &str, path: &Path) -> String {
        match self {
            Self::Missing | Self::NotAFile => {
                tr!(
                    "correct the path: `command` under `[agents.{agent}]`, or the path given as the agent.",
                    agent
                )
            }
            Self::NotExecutable => tr!("run `chmod +x {path}`.", path = path.display()),
            Self::NoInterpreter => tr!("begin it with a line such as `#!/bin/sh`.").to_owned(),
            Self::MissingInterpreter(_) => tr!("correct its first line, or install that program.").to_owned(),
            Self::WindowsLines => tr!("save it with Unix line ends.").to_owned(),
        }
    }
}

/// Whether the path is an executable file at all.
pub(super) fn check_executable(path: &Path) -> Result<(), PreflightError> {
    let found = std::fs::metadata(path).map_err(|_| PreflightError::Missing)?;
    if !found.is_file() {
        return Err(PreflightError::NotAFile);
    }
    if found.permissions().mode() & 0o111 == 0 { Err(PreflightError::NotExecutable) } else { Ok(()) }
}

/// Like [`check_executable`], and also checks the shebang of a script. An unreadable file may still be executable.
pub(super) fn check_program(path: &Path) -> Result<(), PreflightError> {
    check_executable(path)?;
    let mut first = Vec::new();
    let read = File::open(path).and_then(|it| it.take(FIRST_LINE_BYTES).read_to_end(&mut first));
    if read.is_err() { Ok(()) } else { check_first_line(&first) }
}

fn check_first_line(bytes: &[u8]) -> Result<(), PreflightError> {
    let Some(rest) = bytes.strip_prefix(b"#!") else {
        // Every binary format has a zero among its first bytes; no text has.
        return if bytes.contains(&0) { Ok(()) } else { Err(PreflightError::NoInterpreter) };
    };
    let line = rest.split(|it| *it == b'\n').next().unwrap_or_default();
    if line.ends_with(b"\r") {
        return Err(PreflightError::WindowsLines);
    }
    let line = String::from_utf8_lossy(line);
    match line.split_whitespace().next() {
        None => Err(PreflightError::NoInterpreter),
        Some(name) if name.starts_with('/') && !Path::new(name).exists() => {
            Err(PreflightError::MissingInterpreter(name.to_owned()))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{PreflightError, check_first_line};

    #[test]
    fn a_script_must_begin_with_an_existing_interpreter() {
        let check = |text: &[u8], expect: Result<(), PreflightError>| {
            assert_eq!(check_first_line(text), expect, "{}", text.escape_ascii());
        };
        check(b"#!/bin/sh\ncat\n", Ok(()));
        check(b"#! /usr/bin/env python3\n", Ok(()));
        check(b"#!/bin/sh", Ok(()));
        // Relative to the working directory at start: left to the kernel.
        check(b"#!tool\n", Ok(()));
        check(b"\x7fELF\x02\x01\x01\x00\x00", Ok(()));
        check(b"cat > prompt\n", Err(PreflightError::NoInterpreter));
        check(b"", Err(PreflightError::NoInterpreter));
        check(b"#!\n", Err(PreflightError::NoInterpreter));
        check(b"\xef\xbb\xbf#!/bin/sh\n", Err(PreflightError::NoInterpreter));
        check(b"#!/no/such/tool -x\n", Err(PreflightError::MissingInterpreter("/no/such/tool".into())));
        check(b"#!/bin/sh\r\ncat\r\n", Err(PreflightError::WindowsLines));
    }
}
