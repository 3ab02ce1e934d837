//! Questions to the user, by `window/showMessageRequest`: at most three short answers, never waited for by anything
//! else, always with an expiry. A client that cannot be asked is told, and finds the answers as code actions.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lsp_types::{MessageActionItem, MessageType};

use super::shared::Shared;

/// Whoever has not answered by then has other things to do.
pub(crate) const EXPIRY: Duration = Duration::from_secs(600);

pub(crate) struct Question {
    pub(crate) message: String,
    /// At most three.
    pub(crate) answers: Vec<&'static str>,
    /// How long the answer is of use.
    pub(crate) expiry: Duration,
}

/// The questions that nobody has answered yet: none is asked twice at a time.
#[derive(Clone, Default)]
pub(crate) struct Pending(Arc<Mutex<BTreeSet<String>>>);

/// One of them, until it is dropped.
pub(crate) struct Place {
    pending: Pending,
    key: String,
}

impl Pending {
    /// `None`: this very question is being asked.
    pub(crate) fn enter(&self, key: String) -> Option<Place> {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        is_new.then(|| Place { pending: self.clone(), key })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.pending.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

pub(crate) fn can_ask(shared: &Shared) -> bool {
    shared.session().client.window.as_ref().is_some_and(|it| it.show_message.is_some())
}

/// The answer; `None` when it was closed, refused or left alone.
pub(crate) async fn ask(shared: &Shared, question: &Question) -> Option<String> {
    let answers = question.answers.iter().take(3);
    let item = |it: &&str| MessageActionItem {
        title: (*it).to_owned(),
        properties: std::collections::HashMap::new(),
    };
    let asked = shared.client.show_message_request(
        MessageType::WARNING,
        question.message.clone(),
        Some(answers.map(item).collect()),
    );
    let answer = tokio::time::timeout(question.expiry, asked).await.ok()?;
    if let Ok(item) = answer {
        return item.map(|it| it.title);
    }
    // It said that it can, and cannot.
    warn(shared, &question.message).await;
    None
}

pub(crate) async fn warn(shared: &Shared, message: &str) {
    shared.client.show_message(MessageType::WARNING, message).await;
}
