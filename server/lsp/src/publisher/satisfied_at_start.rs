//! Handles a loop that ended because every criterion held before its first iteration: asks the user whether to start
//! anyway, or to add a criterion for the new work.

use std::sync::Arc;

use loopkeeper_text::{tr, tr_later};
use loopkeeper_view::sentences;
use loopkeeper_view::{LoopStatus, notice};

use crate::ext::{StartArgs, StartLimits};
use crate::questions::{self, ClientQuestion};
use crate::session::ServerState;
use crate::{commands, virtual_documents};

/// The command-line option that a hint names last; the question offers the same as a button.
const ANYWAY_OPTION: &str = "`--anyway`";
const ANYWAY: &str = tr_later!("Start anyway");
const EDIT: &str = tr_later!("Edit task");

pub(super) async fn ask_user(shared: Arc<ServerState>, status: Box<LoopStatus>) {
    let task = status.task.uri.clone();
    let has_file = task.starts_with("file:");
    let answers = if has_file { vec![ANYWAY, EDIT] } else { vec![ANYWAY] };
    let Some(open_question) = shared.open_questions.try_open(format!("held {}", status.id)) else { return };
    let question =
        ClientQuestion { message: message(&status), answers, page: None, expiry: questions::EXPIRY };
    let answer = questions::ask_client(&shared, &question).await;
    drop(open_question);
    match answer.as_deref() {
        Some(EDIT) => drop(virtual_documents::open_for_editing(&shared, &task).await),
        Some(ANYWAY) => {
            let args = StartArgs {
                task,
                agent: None,
                limits: StartLimits::default(),
                anyway: true,
                continues: None,
            };
            let done = commands::start(&shared, args).await;
            // A trust question shows its own message.
            if let Some(refusal) = done.err().filter(|it| it.data.asked != Some(true)) {
                refusal.show(&shared).await;
            }
        }
        _ => {}
    }
}

/// Leaves out the last remedies of the hint, because the buttons offer them.
fn message(status: &LoopStatus) -> String {
    let notice_text = notice(status);
    let hint = notice_text
        .hint()
        .map(|it| it.rsplit_once(ANYWAY_OPTION).map_or(it, |(it, _)| it.trim_end_matches([';', '；', ' '])))
        .map(sentences::sentence);
    let fact = tr!("{sentence}.", sentence = notice_text.fact());
    sentences::paragraph(std::iter::once(fact).chain(hint))
}
