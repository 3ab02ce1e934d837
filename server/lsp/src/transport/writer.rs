//! Writes messages to the client: one bounded queue, one thread. Senders wait while the client does not read; nothing
//! is dropped or sent twice.

use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Byte budget of the queue. One message above it is always accepted.
const BYTE_BUDGET: u32 = 1 << 20;
/// Maximum size of one write.
const BATCH: usize = 64 << 10;

/// The senders' half.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: UnboundedSender<OutboxItem>,
    room: Arc<Semaphore>,
    written: Arc<AtomicU64>,
}

/// The writer's half.
pub(super) struct OutboxReceiver(UnboundedReceiver<OutboxItem>, Arc<AtomicU64>);

enum OutboxItem {
    /// A complete frame, and its permit until it is written.
    Frame(Vec<u8>, Option<OwnedSemaphorePermit>),
    Last,
}

pub(super) fn outbox_channel() -> (Outbox, OutboxReceiver) {
    let (sender, receiver) = unbounded_channel();
    let written = Arc::new(AtomicU64::new(0));
    let room = Arc::new(Semaphore::new(BYTE_BUDGET as usize));
    (Outbox { queue: sender, room, written: Arc::clone(&written) }, OutboxReceiver(receiver, written))
}

impl Outbox {
    /// Waits for space in the queue without a timeout. The message is freed before: as values it takes ten times the
    /// memory of its frame.
    pub(super) async fn send(&self, message: impl Serialize) {
        let frame = encode_frame(&message);
        drop(message);
        let weight = u32::try_from(frame.len()).unwrap_or(BYTE_BUDGET).min(BYTE_BUDGET);
        let permit = Arc::clone(&self.room).acquire_many_owned(weight).await.ok();
        let _ = self.queue.send(OutboxItem::Frame(frame, permit));
    }

    /// For the reader, which must not wait here. It sends at most one message for each that it receives.
    pub(super) fn send_now(&self, message: &impl Serialize) {
        let frame = encode_frame(message);
        let weight = u32::try_from(frame.len()).unwrap_or(BYTE_BUDGET).min(BYTE_BUDGET);
        let permit = Arc::clone(&self.room).try_acquire_many_owned(weight).ok();
        let _ = self.queue.send(OutboxItem::Frame(frame, permit));
    }

    /// Waits until everything that waits for space now has it.
    pub(super) async fn wait_for_room(&self) {
        let _ = self.room.acquire().await;
    }

    pub(super) fn has_room(&self) -> bool {
        self.room.available_permits() > 0
    }

    /// Messages queued before this call are written, later ones are not.
    pub(super) fn close_queue(&self) {
        let _ = self.queue.send(OutboxItem::Last);
    }

    /// Bytes that the client's pipe has accepted.
    pub(super) fn bytes_written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

impl OutboxReceiver {
    /// Runs the writer until the queue is closed.
    pub(super) fn write_to(mut self, mut output: impl Write + AsFd) -> io::Result<()> {
        let mut batch = Vec::new();
        while let Some(OutboxItem::Frame(frame, permit)) = self.0.blocking_recv() {
            let (mut permits, mut is_last) = (vec![permit], false);
            batch.clear();
            batch.extend_from_slice(&frame);
            while batch.len() < BATCH {
                match self.0.try_recv() {
                    Ok(OutboxItem::Frame(frame, permit)) => {
                        batch.extend_from_slice(&frame);
                        permits.push(permit);
                    }
                    Ok(OutboxItem::Last) => {
                        is_last = true;
                        break;
                    }
                    Err(_) => break,
                }
            }
            write(&mut output, &batch)?;
            self.1.fetch_add(batch.len() as u64, Ordering::Relaxed);
            batch.shrink_to(2 * BATCH);
            if is_last {
                break;
            }
        }
        Ok(())
    }
}

/// An inherited descriptor may be non-blocking.
fn write(output: &mut (impl Write + AsFd), mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(output, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    output.flush()
}

fn encode_frame(message: &impl Serialize) -> Vec<u8> {
    // Messages of tower-lsp have only string keys, so this cannot fail.
    let body = serde_json::to_vec(message).unwrap_or_default();
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(&body);
    frame
}
