//! Hands a job to a pooled warden: a message on its channel with the file descriptors of that job
//! (the description, the job's own channel to the keeper, stdout and stderr).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

use loopkeeper_text::tr;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::RecvFlags;

use crate::descriptor_passing::{receive_descriptors, send_descriptors};

/// The byte that carries the descriptors.
const MESSAGE: u8 = b'o';

/// One command with everything specific to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRequest {
    pub cwd: PathBuf,
    /// The complete environment.
    pub env: Vec<(OsString, OsString)>,
    /// The file that the command reads on stdin; empty input if absent.
    pub stdin: Option<PathBuf>,
    /// Time between TERM and KILL.
    pub grace: Duration,
    pub program: OsString,
    pub args: Vec<OsString>,
}

/// A received request.
#[derive(Debug)]
pub struct ReceivedJob {
    pub request: JobRequest,
    pub control: OwnedFd,
    pub out: OwnedFd,
    pub err: OwnedFd,
}

/// Never blocks: the message is a file descriptor, whatever the length of the request.
pub(crate) fn send(channel: impl AsFd, request: &JobRequest, stdio: [BorrowedFd<'_>; 3]) -> io::Result<()> {
    let mut file = File::from(memfd_create("request", MemfdFlags::CLOEXEC)?);
    file.write_all(&encode(request)?)?;
    let [control, out, err] = stdio;
    send_descriptors(channel, MESSAGE, &[file.as_fd(), control, out, err])
}

/// The next request; `None` when there will be none.
pub fn receive(channel: impl AsFd) -> io::Result<Option<ReceivedJob>> {
    let Some(descriptors) = receive_descriptors(channel, RecvFlags::empty())? else { return Ok(None) };
    let Ok([request, control, out, err]) = <[OwnedFd; 4]>::try_from(descriptors) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let (mut file, mut bytes) = (File::from(request), Vec::new());
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let request = decode(&bytes).ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some(ReceivedJob { request, control, out, err }))
}

/// Strings, each terminated by a zero byte, which none of them can contain: the folder, the file for stdin or nothing,
/// the grace time in milliseconds, the number of variables, their names and values, the program, its arguments.
fn encode(request: &JobRequest) -> io::Result<Vec<u8>> {
    let stdin = request.stdin.as_ref().map_or(OsStr::new(""), |path| path.as_os_str());
    let numbers = [request.grace.as_millis().to_string(), request.env.len().to_string()];
    let head = [request.cwd.as_os_str(), stdin].into_iter().chain(numbers.iter().map(OsStr::new));
    let env = request.env.iter().flat_map(|(name, value)| [name.as_os_str(), value.as_os_str()]);
    let line =
        std::iter::once(request.program.as_os_str()).chain(request.args.iter().map(OsString::as_os_str));
    let mut bytes = Vec::new();
    for word in head.chain(env).chain(line) {
        if word.as_bytes().contains(&0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                tr!("a NUL byte in an argument of a command"),
            ));
        }
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(0);
    }
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Option<JobRequest> {
    let mut words =
        bytes.strip_suffix(&[0])?.split(|byte| *byte == 0).map(|it| OsString::from_vec(it.to_vec()));
    let cwd = words.next()?.into();
    let stdin = words.next().map(PathBuf::from).filter(|path| !path.as_os_str().is_empty());
    let grace = Duration::from_millis(words.next()?.to_str()?.parse().ok()?);
    let count: usize = words.next()?.to_str()?.parse().ok()?;
    let env = (0..count).map(|_| Some((words.next()?, words.next()?))).collect::<Option<Vec<_>>>()?;
    let program = words.next()?;
    Some(JobRequest { cwd, env, stdin, grace, program, args: words.collect() })
}

#[cfg(test)]
mod tests {
    use std::io::PipeReader;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn request() -> JobRequest {
        JobRequest {
            cwd: "/a b".into(),
            env: vec![
                ("A".into(), String::new().into()),
                ("B=".into(), OsString::from_vec(vec![0xff, b'\n'])),
            ],
            stdin: None,
            grace: Duration::from_millis(250),
            program: "/bin/x".into(),
            args: vec!["".into(), "--".into(), "ä".into()],
        }
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let bare = JobRequest { env: Vec::new(), args: Vec::new(), stdin: Some("/p".into()), ..request() };
        let long = JobRequest { args: vec!["y".repeat(100_000).into(); 30], ..request() };
        for expect in [request(), bare, long] {
            let (keeper, warden) = UnixStream::pair().unwrap();
            let (control, theirs) = UnixStream::pair().unwrap();
            let (out, out_end) = io::pipe().unwrap();
            let (err, err_end) = io::pipe().unwrap();
            send(&keeper, &expect, [theirs.as_fd(), out_end.as_fd(), err_end.as_fd()]).unwrap();
            drop((theirs, out_end, err_end));
            let received = receive(&warden).unwrap().unwrap();
            assert_eq!(received.request, expect);
            let read_all = |pipe: PipeReader| io::read_to_string(pipe).unwrap();
            File::from(received.control).write_all(b"c").unwrap();
            File::from(received.out).write_all(b"o").unwrap();
            File::from(received.err).write_all(b"e").unwrap();
            assert_eq!(io::read_to_string(control).unwrap(), "c");
            assert_eq!((read_all(out), read_all(err)), ("o".to_owned(), "e".to_owned()));
        }
    }

    #[test]
    fn invalid_requests_are_refused() {
        let (keeper, warden) = UnixStream::pair().unwrap();
        (&keeper).write_all(&[MESSAGE]).unwrap();
        assert_eq!(receive(&warden).unwrap_err().kind(), io::ErrorKind::InvalidData);
        drop(keeper);
        assert!(receive(&warden).unwrap().is_none());
        let zero = JobRequest { program: OsString::from_vec(vec![b'x', 0]), ..request() };
        assert_eq!(encode(&zero).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        for broken in ["", "/ ", "/  x ", "/  1 9 A B ", "/  1 0 ", "/  1 0 x"] {
            assert_eq!(decode(broken.replace(' ', "\0").as_bytes()), None, "{broken}");
        }
    }
}
