//! Copies bytes between a job and a server in both directions until both have ended or nothing moves any more.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

/// A connection on which nothing moves for longer is closed. Models think for minutes.
pub(super) const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Buffer size of one direction.
const BUFFER: usize = 8 * 1024;

pub(super) async fn relay(mut client: TcpStream, mut server: TcpStream) -> io::Result<()> {
    let clock = IdleClock { began: Instant::now(), moved_ms: AtomicU64::new(0) };
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let both = async {
        tokio::try_join!(copy(from_client, to_server, &clock), copy(from_server, to_client, &clock)).map(drop)
    };
    tokio::select! {
        done = both => done,
        () = clock.expired() => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Passes the end of `from` on.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    clock: &IdleClock,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = from.read(&mut buffer).await?;
        clock.note_bytes();
        let Some(bytes) = buffer.get(..read).filter(|it| !it.is_empty()) else {
            return to.shutdown().await;
        };
        to.write_all(bytes).await?;
        clock.note_bytes();
    }
}

/// When bytes moved last, in either direction.
struct IdleClock {
    began: Instant,
    moved_ms: AtomicU64,
}

impl IdleClock {
    fn note_bytes(&self) {
        self.moved_ms.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    async fn expired(&self) {
        loop {
            let moved = Duration::from_millis(self.moved_ms.load(Ordering::Relaxed));
            let until = self.began + moved + IDLE_TIMEOUT;
            if Instant::now() >= until {
                return;
            }
            sleep_until(until).await;
        }
    }
}
