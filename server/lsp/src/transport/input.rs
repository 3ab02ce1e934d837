//! Reads the client's bytes until its process or the other half of the transport ends, even if the pipe stays open. An
//! idle client causes no wake-ups.

use std::io::{self, ErrorKind, PipeReader, Read};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::parent_process::ParentProcess;

pub(super) struct ClientInput<R> {
    source: R,
    /// Readable when the runtime's thread or the writer's has ended.
    thread_ends: PipeReader,
    editor: ParentProcess,
    is_over: bool,
}

/// The state of the client after a wait.
pub(super) enum ClientState {
    Connected,
    /// The client closed its end; buffered bytes are still to be read.
    HungUp,
    Over,
}

enum InputReadiness {
    Bytes,
    Nothing,
    /// The client closed its end, though there may be bytes left.
    HungUp,
    Over,
}

impl<R: Read + AsFd> ClientInput<R> {
    pub(super) fn new(source: R, thread_ends: PipeReader) -> Self {
        Self { source, thread_ends, editor: ParentProcess::Unknown, is_over: false }
    }

    pub(super) fn watch_editor(&mut self, pid: i64) {
        self.editor = ParentProcess::of(pid);
    }

    /// Waits without reading.
    pub(super) fn wait_readable(&mut self, time: Duration) -> ClientState {
        match self.poll_input(PollFlags::empty(), Some(time)) {
            InputReadiness::Bytes | InputReadiness::Nothing => ClientState::Connected,
            InputReadiness::HungUp => {
                // The poll above returned immediately.
                thread::sleep(time);
                ClientState::HungUp
            }
            InputReadiness::Over => {
                self.is_over = true;
                ClientState::Over
            }
        }
    }

    fn poll_input(&self, what: PollFlags, time: Option<Duration>) -> InputReadiness {
        let time = time.map(|it| Timespec { tv_sec: it.as_secs() as i64, tv_nsec: it.subsec_nanos().into() });
        let mut watched =
            vec![PollFd::new(&self.source, what), PollFd::new(&self.thread_ends, PollFlags::IN)];
        let editor = self.editor.descriptor();
        watched.extend(editor.as_ref().map(|it| PollFd::new(it, PollFlags::IN)));
        match poll(&mut watched, time.as_ref()) {
            Err(Errno::INTR) => return InputReadiness::Nothing,
            Err(_) => return InputReadiness::Over,
            Ok(_) => {}
        }
        let mut seen = watched.iter().map(PollFd::revents);
        let client = seen.next().unwrap_or(PollFlags::empty());
        if seen.any(|it| !it.is_empty()) || self.editor.is_gone() {
            return InputReadiness::Over;
        }
        if client.intersects(PollFlags::IN) {
            InputReadiness::Bytes
        } else if client.is_empty() {
            InputReadiness::Nothing
        } else {
            InputReadiness::HungUp
        }
    }
}

impl<R: Read + AsFd> Read for ClientInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.is_over {
            match self.poll_input(PollFlags::IN, self.editor.poll_interval()) {
                InputReadiness::Nothing => {}
                InputReadiness::Over => self.is_over = true,
                // Buffered bytes are read before the end is reported.
                InputReadiness::Bytes | InputReadiness::HungUp => match self.source.read(buffer) {
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                    Ok(0) | Err(_) => self.is_over = true,
                    read => return read,
                },
            }
        }
        Ok(0)
    }
}
