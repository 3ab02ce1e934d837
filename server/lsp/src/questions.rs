//! Questions to the user, by `window/showMessageRequest`: at most three short answers, never waited for by anything
//! else, always with an expiry. Everything but one of the answers is a no: silence, a closed question, an error, an
//! empty answer. A client that cannot be asked gets a message, and finds the answers as code actions.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lsp_types::{MessageActionItem, MessageActionItemProperty, MessageType};

use super::session::ServerState;

/// Questions expire after this time.
pub(crate) const EXPIRY: Duration = Duration::from_secs(600);

/// The answer that does nothing.
pub(crate) const NOT_NOW: &str = "Not now";

pub(crate) struct ClientQuestion {
    pub(crate) message: String,
    /// At most three.
    pub(crate) answers: Vec<&'static str>,
    /// URI of a text that the first answer is about: a client that knows us shows it beside the question.
    pub(crate) page: Option<String>,
    /// How long the answer is of use.
    pub(crate) expiry: Duration,
}

/// Whether and when a client can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionSupport {
    /// It announced that it shows questions: at any time.
    Announced,
    /// It answers without having announced it, in a prompt that takes the keys of its user and offers the first answer
    /// as the default: only about what the user has just ordered, and the first answer does nothing.
    Unannounced,
    Never,
}

/// By `clientInfo`: eglot and lsp-mode.
const UNANNOUNCED: [&str; 2] = ["Eglot", "emacs"];

impl QuestionSupport {
    pub(crate) fn of(shared: &ServerState) -> Self {
        let session = shared.session();
        if session.client.window.as_ref().is_some_and(|it| it.show_message.is_some()) {
            return Self::Announced;
        }
        let is_known = session.client_name.as_deref().is_some_and(|it| UNANNOUNCED.contains(&it));
        if is_known { Self::Unannounced } else { Self::Never }
    }
}

/// The questions that nobody has answered yet: none is asked twice at a time.
#[derive(Clone, Default)]
pub(crate) struct OpenQuestions(Arc<Mutex<BTreeSet<String>>>);

/// One of them, until it is dropped.
pub(crate) struct OpenQuestionGuard {
    pending: OpenQuestions,
    key: String,
}

impl OpenQuestions {
    /// `None`: this very question is being asked.
    pub(crate) fn try_open(&self, key: String) -> Option<OpenQuestionGuard> {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        is_new.then(|| OpenQuestionGuard { pending: self.clone(), key })
    }
}

impl Drop for OpenQuestionGuard {
    fn drop(&mut self) {
        self.pending.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// At any time.
pub(crate) fn can_ask(shared: &ServerState) -> bool {
    QuestionSupport::of(shared) == QuestionSupport::Announced
}

/// The answer, one of those of the question; `None` when it was closed, refused or left alone.
pub(crate) async fn ask_client(shared: &ServerState, question: &ClientQuestion) -> Option<String> {
    let answers = order_answers(QuestionSupport::of(shared), &question.answers);
    let first = question.answers.first();
    let item = |it: &&'static str| {
        let page = question.page.as_ref().filter(|_| Some(it) == first);
        let property = |it: &String| ("page".to_owned(), MessageActionItemProperty::String(it.clone()));
        let properties: HashMap<_, _> = page.map(property).into_iter().collect();
        MessageActionItem { title: (*it).to_owned(), properties }
    };
    let asked = shared.client.show_message_request(
        MessageType::WARNING,
        question.message.clone(),
        Some(answers.iter().map(item).collect()),
    );
    let answer = tokio::time::timeout(question.expiry, asked).await.ok()?;
    if let Ok(item) = answer {
        return item.map(|it| it.title).filter(|it| answers.contains(&it.as_str()));
    }
    // It said that it can, and cannot.
    warn(shared, &question.message).await;
    None
}

/// As they are offered: where the first one is the default, that is the one that does nothing.
fn order_answers(asking: QuestionSupport, answers: &[&'static str]) -> Vec<&'static str> {
    let answers = answers.iter().copied().take(3);
    match asking {
        QuestionSupport::Unannounced => {
            std::iter::once(NOT_NOW).chain(answers.filter(|it| *it != NOT_NOW)).collect()
        }
        QuestionSupport::Announced | QuestionSupport::Never => answers.collect(),
    }
}

pub(crate) async fn warn(shared: &ServerState, message: &str) {
    shared.client.show_message(MessageType::WARNING, message).await;
}

#[cfg(test)]
mod tests {
    use super::{NOT_NOW, QuestionSupport, order_answers};

    #[test]
    fn the_default_of_a_prompt_does_nothing() {
        let trust = ["Trust and start", NOT_NOW];
        assert_eq!(order_answers(QuestionSupport::Unannounced, &trust), [NOT_NOW, "Trust and start"]);
        assert_eq!(
            order_answers(QuestionSupport::Unannounced, &["Allow once", "Deny"]),
            [NOT_NOW, "Allow once", "Deny"]
        );
        assert_eq!(order_answers(QuestionSupport::Announced, &trust), trust);
    }
}
