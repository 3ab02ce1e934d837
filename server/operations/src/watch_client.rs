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
    /// That output came from; 0 where the keeper does not say.
    #[serde(default)]
    pub iteration: u32,
}

impl WatchStream {
    /// `None` where nobody keeps the loop, or does not listen yet.
    pub async fn connect(store: &StateDir, loop_id: &str) -> Option<Self> {
        let address = store.socket(loop_id).ok()?;
        let mut stream = UnixStream::connect(address.path()).await.ok()?;
        stream.write_all(b"{\"id\":\"watch\",\"do\":\"watch\"}\n").await.ok()?;
        Some(Self { lines: BufReader::new(stream).lines() })
    }

    /// The next that can be read; `None` when there is no more.
    pub async fn next(&mut self) -> Option<WatchMessage> {
        while let Ok(Some(line)) = self.lines.next_line().await {
            if let Ok(news) = serde_json::from_str(&line) {
                return Some(news);
            }
        }
        None
    }
}
