//! Asks the user questions with `window/showMessageRequest`: at most three short answers, always with an expiry, and
//! nothing else waits for them. Everything except one of the answers counts as no: a timeout, a closed question, an
//! error, an empty answer. A client that does not support questions gets a message, and offers the answers as code
//! actions.

use std::collections::HashMap;
use std::time::Duration;

use lsp_types::notification::Cancel;
use lsp_types::request::{Request as _, ShowMessageRequest};
use lsp_types::{
    CancelParams, MessageActionItem, MessageActionItemProperty, MessageType, NumberOrString,
    ShowMessageRequestParams,
};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request};
use tower_service::Service as _;

use super::session::ServerState;
use loopkeeper_text::language::translate;
use loopkeeper_text::tr_later;

/// Questions expire after this time.
pub(crate) const EXPIRY: Duration = Duration::from_secs(600);

/// The answer without an effect.
pub(crate) const NOT_NOW: &str = tr_later!("Not now");

pub(crate) struct ClientQuestion {
    pub(crate) message: String,
    /// At most three, as written in the source; the client shows their translations.
    pub(crate) answers: Vec<&'static str>,
    /// URI of a document that the first answer refers to; a client with support for our protocol shows it next to the
    /// question.
    pub(crate) page: Option<String>,
    /// How long the answer is useful.
    pub(crate) expiry: Duration,
}

/// Whether and when a client can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionSupport {
    /// Announced by the client: it can be asked at any time.
    Announced,
    /// Not announced, but answered in a prompt that captures the user's keys and offers the first answer as the
    /// default. Such a client is asked only about the user's last command, and the first answer has no effect.
    Unannounced,
    Never,
}

/// `clientInfo` names of eglot and lsp-mode.
const UNANNOUNCED_CLIENTS: [&str; 2] = ["Eglot", "emacs"];

impl QuestionSupport {
    pub(crate) fn of(shared: &ServerState) -> Self {
        let session = shared.session();
        if session.client.window.as_ref().is_some_and(|it| it.show_message.is_some()) {
            return Self::Announced;
        }
        let is_known = session.client_name.as_deref().is_some_and(|it| UNANNOUNCED_CLIENTS.contains(&it));
        if is_known { Self::Unannounced } else { Self::Never }
    }
}

/// Whether the client can be asked at any time.
pub(crate) fn can_ask(shared: &ServerState) -> bool {
    QuestionSupport::of(shared) == QuestionSupport::Announced
}

/// The chosen answer; `None` if the question was closed, rejected or not answered.
pub(crate) async fn ask_client(shared: &ServerState, question: &ClientQuestion) -> Option<String> {
    ask_client_until(shared, question, std::future::pending()).await
}

/// The same, for a question that may become obsolete. An answer that no longer has an effect is reported to its client.
pub(crate) async fn ask_client_until(
    shared: &ServerState,
    question: &ClientQuestion,
    obsolete: impl Future<Output = ()>,
) -> Option<String> {
    let answers = order_answers(QuestionSupport::of(shared), &question.answers);
    let first = question.answers.first();
    let item = |it: &&'static str| {
        let page = question.page.as_ref().filter(|_| Some(it) == first);
        let property = |it: &String| ("page".to_owned(), MessageActionItemProperty::String(it.clone()));
        let properties: HashMap<_, _> = page.map(property).into_iter().collect();
        MessageActionItem { title: translate(it).to_owned(), properties }
    };
    let params = ShowMessageRequestParams {
        typ: MessageType::WARNING,
        message: question.message.clone(),
        actions: Some(answers.iter().map(item).collect()),
    };
    let id = shared.client.next_request_id();
    let params = serde_json::to_value(params).unwrap_or_default();
    let request = Request::build(ShowMessageRequest::METHOD).id(id.clone()).params(params).finish();
    let asked = shared.client.clone().call(request);
    let answer = tokio::select! {
        answer = asked => answer.ok().flatten()?.into_parts().1,
        () = tokio::time::sleep(question.expiry) => Err(Error::new(ErrorCode::RequestCancelled)),
        () = obsolete => Err(Error::new(ErrorCode::RequestCancelled)),
    };
    match answer {
        Ok(item) => {
            let item: Option<MessageActionItem> = serde_json::from_value(item).ok().flatten();
            return item.and_then(|it| answer_titled(&answers, &it.title)).map(str::to_owned);
        }
        Err(error) if error.code == ErrorCode::RequestCancelled => {
            shared.client.send_notification::<Cancel>(cancel_params(id)).await;
        }
        // The client announced support, and failed.
        Err(_) => warn(shared, &question.message).await,
    }
    None
}

fn cancel_params(id: Id) -> CancelParams {
    let id = match id {
        Id::Number(id) => NumberOrString::Number(i32::try_from(id).unwrap_or_default()),
        Id::String(id) => NumberOrString::String(id),
        Id::Null => NumberOrString::String(String::new()),
    };
    CancelParams { id }
}

/// Answers in display order: if the first one is the default, it must be the one without an effect.
fn order_answers(asking: QuestionSupport, answers: &[&'static str]) -> Vec<&'static str> {
    let answers = answers.iter().copied().take(3);
    match asking {
        QuestionSupport::Unannounced => {
            std::iter::once(NOT_NOW).chain(answers.filter(|it| *it != NOT_NOW)).collect()
        }
        QuestionSupport::Announced | QuestionSupport::Never => answers.collect(),
    }
}

/// The answer that a client shows with this title.
fn answer_titled(answers: &[&'static str], title: &str) -> Option<&'static str> {
    answers.iter().copied().find(|it| translate(it) == title)
}

pub(crate) async fn warn(shared: &ServerState, message: &str) {
    shared.client.show_message(MessageType::WARNING, message).await;
}

#[cfg(test)]
mod tests {
    use loopkeeper_text::language::Language;

    use super::{NOT_NOW, QuestionSupport, answer_titled, order_answers};

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

    #[test]
    fn an_answer_is_known_by_the_title_that_is_shown() {
        let answers = ["Trust and start", NOT_NOW];
        assert_eq!(answer_titled(&answers, "Not now"), Some(NOT_NOW));
        Language::SimplifiedChinese.during(|| {
            assert_eq!(answer_titled(&answers, "信任并启动"), Some("Trust and start"));
            assert_eq!(answer_titled(&answers, "暂不"), Some(NOT_NOW));
            assert_eq!(answer_titled(&answers, "Not now"), None);
        });
    }
}
