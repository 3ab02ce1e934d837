//! Client of the control protocol's `watch` stream: live activity and output that are not in the journal.

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::UnixStream;

use loopkeeper_system::state_dir::StateDir;

pub struct WatchStream {
    lines: Lines<BufReader<UnixStream>>,
}

#[derive(Deserialize)]
pub struct WatchMessage {
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub text: String,
    /// The iteration of the output; 0 if the keeper does not report it.
    #[serde(default)]
    pub iteration: u32,
}

impl WatchStream {
    /// `None` if the loop has no keeper, or it does not listen yet.
    pub async fn connect(store: &StateDir, loop_id: &str) -> Option<Self> {
        let address = store.socket(loop_id).ok()?;
        let mut stream = UnixStream::connect(address.path()).await.ok()?;
        stream.write_all(b"{\"id\":\"watch\",\"do\":\"watch\"}\n").await.ok()?;
        Some(Self { lines: BufReader::new(stream).lines() })
    }

    /// The next message that can be parsed; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<WatchMessage> {
        while let Ok(Some(line)) = self.lines.next_line().await {
            if let Ok(message) = serde_json::from_str(&line) {
                return Some(message);
            }
        }
        None
    }
}
