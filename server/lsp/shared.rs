//! What all handlers share. Cheap to hand around as `Arc<Shared>`; every part does its own locking and none is
//! locked across an await.

use std::sync::OnceLock;

use tower_lsp::Client;

use super::capabilities::Session;
use super::documents::Documents;

pub struct Shared {
    /// What is awaited on it waits for the client to read; requests are answered or given up by the pump in the end.
    pub client: Client,
    pub documents: Documents,
    session: OnceLock<Session>,
}

impl Shared {
    pub fn new(client: Client) -> Self {
        Self { client, documents: Documents::default(), session: OnceLock::new() }
    }

    /// What was agreed in `initialize`; before that, what holds for a client that can do nothing.
    pub fn session(&self) -> &Session {
        static NOTHING: OnceLock<Session> = OnceLock::new();
        self.session.get().unwrap_or_else(|| NOTHING.get_or_init(Session::default))
    }

    /// Once, by `initialize`.
    pub fn begin(&self, session: Session) {
        let _ = self.session.set(session);
    }
}
