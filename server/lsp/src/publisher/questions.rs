//! Asks the questions of loops. Whether to wait or stop at a provider's usage limit is asked in every client that
//! supports questions; the agent's own questions and permission requests only in clients without support for our
//! protocol. The others get an alert and show an input box. Each question is asked once, and its loop continues
//! automatically without an answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopkeeper_core::journal::QuestionKind;
use loopkeeper_view::QuestionStatus;

use crate::commands::loop_questions;
use crate::questions;
use crate::session::ServerState;
use loopkeeper_workspace::WorkspaceSnapshot;

#[derive(Default)]
pub(super) struct QuestionPublisher {
    /// The id of the question that was asked, by loop.
    asked: BTreeMap<String, String>,
}

impl QuestionPublisher {
    /// Does not wait for the answer.
    pub(super) fn publish(&mut self, shared: &Arc<ServerState>, snapshot: &WorkspaceSnapshot) {
        let mut now = BTreeMap::new();
        for seen in &snapshot.loops {
            let status = &seen.status;
            let Some(question) = status.question.as_ref().filter(|it| is_ours(shared, it)) else { continue };
            let is_new = self.asked.get(&status.id) != Some(&question.id);
            if is_new && status.keeper.alive && questions::can_ask(shared) {
                tokio::spawn(loop_questions::ask_user(
                    Arc::clone(shared),
                    Box::new(status.clone()),
                    question.clone(),
                ));
            }
            now.insert(status.id.clone(), question.id.clone());
        }
        self.asked = now;
    }
}

/// A client with support for our protocol shows the agent's questions itself.
fn is_ours(shared: &ServerState, question: &QuestionStatus) -> bool {
    question.kind == QuestionKind::UsageLimit || !shared.session().has_extensions()
}
