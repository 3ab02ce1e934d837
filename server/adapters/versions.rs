//! What programs say of their own version. Only asks: far from any workspace, with nothing on stdin, for a moment.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);
const MOST_BYTES: u64 = 200;

/// The first line of `PROGRAM --version`.
pub fn of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    command.arg("--version").current_dir("/");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let mut line = Vec::new();
        if let Some(stdout) = stdout {
            let _ = BufReader::new(stdout.take(MOST_BYTES)).read_until(b'\n', &mut line);
        }
        let _ = sender.send(line);
    });
    let line = receiver.recv_timeout(PATIENCE).ok();
    // Whoever has said it has nothing left to do.
    let _ = child.kill();
    let _ = child.wait();
    let line = String::from_utf8_lossy(&line?).trim().to_owned();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::of;

    #[test]
    fn a_program_says_its_version() {
        assert!(of(Path::new("git")).is_some_and(|it| it.starts_with("git version ")));
        assert_eq!(of(Path::new("no-such-program")), None);
    }
}
