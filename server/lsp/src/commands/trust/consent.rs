//! Asks the user whether the commands of a task may run. The page is shown before the user can agree, and consent
//! applies to exactly that page.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_text::{sanitize, words};
use loopkeeper_text::{tr, tr_later};
use loopkeeper_view::sentences;
use lsp_types::{ExecuteCommandParams, MessageType};
use serde_json::json;

use super::{CommandRefusal, TrustRequest, grant, run_blocking};
use crate::ext::{self, CheckArgs, RefusalCode, StartArgs};
use crate::questions::{self, ClientQuestion, NOT_NOW, QuestionSupport};
use crate::session::ServerState;
use crate::transport::spawn_after_response;
use crate::virtual_documents;
use loopkeeper_workspace::Invalidation;

const SHOW: &str = tr_later!("Show commands");

/// What to do once the user agreed.
pub(in crate::commands) enum AfterTrust {
    Nothing,
    Start(StartArgs),
    Check(CheckArgs),
}

impl AfterTrust {
    fn confirm_label(&self) -> &'static str {
        match self {
            Self::Nothing => tr_later!("Trust"),
            Self::Start(_) => tr_later!("Trust and start"),
            Self::Check(_) => tr_later!("Trust and check"),
        }
    }
}

/// The refusal; also starts the question if the client can be asked.
pub(in crate::commands) fn ask(
    shared: &Arc<ServerState>,
    needed: TrustRequest,
    then: AfterTrust,
) -> CommandRefusal {
    let message = refusal_message(&needed, &then);
    let asking = QuestionSupport::of(shared);
    let mut refusal = CommandRefusal::new(RefusalCode::Untrusted, message);
    refusal.data.task = Some(needed.task.clone());
    refusal.data.hash = Some(needed.hash.clone());
    refusal.data.count = Some(needed.count);
    refusal.data.asked = Some(asking != QuestionSupport::Never);
    let shared = Arc::clone(shared);
    spawn_after_response(async move {
        match asking {
            QuestionSupport::Announced => ask_for_consent(&shared, &needed, &then).await,
            QuestionSupport::Unannounced | QuestionSupport::Never => {
                show_page_and_ask(&shared, &needed, &then).await;
            }
        }
    });
    refusal
}

/// `Not started: 2 commands of "Pay" need your trust`
fn refusal_message(needed: &TrustRequest, then: &AfterTrust) -> String {
    let (commands, title) = (counted(needed), title(needed));
    let need = if needed.count == 1 {
        tr!("{commands} of {title} needs your trust", commands, title)
    } else {
        tr!("{commands} of {title} need your trust", commands, title)
    };
    match then {
        AfterTrust::Nothing => tr!("Not trusted: {reason}", reason = need),
        AfterTrust::Start(_) => tr!("Not started: {reason}", reason = need),
        AfterTrust::Check(_) => tr!("Not checked: {reason}", reason = need),
    }
}

/// The user requested the page, so it is shown even if nothing is left to trust.
pub(super) fn show_consent_page(shared: &Arc<ServerState>, needed: TrustRequest, page: &Path) {
    let (shared, page) = (Arc::clone(shared), page.to_owned());
    spawn_after_response(async move {
        if needed.count == 0 {
            virtual_documents::open_page_and_wait(&shared, &virtual_documents::uri(&page)).await;
            let message = tr!("Every command of {title} is trusted.", title = title(&needed));
            return shared.client.show_message(MessageType::INFO, message).await;
        }
        match QuestionSupport::of(&shared) {
            QuestionSupport::Announced if !shared.session().has_extensions() => {
                remember_page(&shared, &needed, &page);
                virtual_documents::open_page_and_wait(&shared, &virtual_documents::uri(&page)).await;
                ask_for_consent(&shared, &needed, &AfterTrust::Nothing).await;
            }
            _ => show_page_and_ask(&shared, &needed, &AfterTrust::Nothing).await,
        }
    });
}

/// Asks whether to show the page, and again with the page in view. Does nothing if the same question is open.
async fn ask_for_consent(shared: &Arc<ServerState>, needed: &TrustRequest, then: &AfterTrust) {
    let Some(open_question) = shared.open_questions.try_open(key(needed, then)) else { return };
    let answers = vec![SHOW, then.confirm_label(), NOT_NOW];
    let question =
        ClientQuestion { message: message(needed), answers, page: None, expiry: questions::EXPIRY };
    while let Some(answer) =
        questions::ask_client_until(shared, &question, trusted_elsewhere(shared, needed)).await
    {
        if answer == then.confirm_label() {
            // The question is answered; the next step may ask another one.
            drop(open_question);
            return grant_and_continue(shared, needed, then).await;
        }
        if answer != SHOW {
            return;
        }
        if shared.session().has_extensions() {
            drop(open_question);
            return show_page_and_ask(shared, needed, then).await;
        }
        if let Some(page) = write_page(shared, needed).await {
            virtual_documents::open_page_and_wait(shared, &virtual_documents::uri(&page)).await;
        }
    }
}

/// Shows the page first, then asks about it; a client that cannot be asked gets a message that names where to answer.
async fn show_page_and_ask(shared: &Arc<ServerState>, needed: &TrustRequest, then: &AfterTrust) {
    let asking = QuestionSupport::of(shared);
    let open_question = shared.open_questions.try_open(key(needed, then));
    // An unanswered prompt is not answered later either.
    if open_question.is_none() && asking == QuestionSupport::Announced {
        return;
    }
    let Some(page) = write_page(shared, needed).await else { return };
    let uri = virtual_documents::uri(&page);
    let shows_itself = asking == QuestionSupport::Announced && shared.session().has_extensions();
    let is_shown = shows_itself || virtual_documents::open_page_and_wait(shared, &uri).await;
    // Last, because a line may be truncated.
    let hint = (!is_shown).then(|| tr!("They are in {path}", path = page.display()));
    if asking == QuestionSupport::Never {
        let refusal = sentences::sentence(&refusal_message(needed, then));
        // First, because the message line of an editor such as Helix truncates the rest.
        let action = tr!("Read the commands, then choose the code action \"Trust the commands shown\".");
        let text = sentences::paragraph([Some(action.to_owned()), Some(refusal), hint].into_iter().flatten());
        return questions::warn(shared, &text).await;
    }
    let message = sentences::paragraph(std::iter::once(message(needed)).chain(hint));
    let answers = vec![then.confirm_label(), NOT_NOW];
    let question =
        ClientQuestion { message, answers, page: shows_itself.then_some(uri), expiry: questions::EXPIRY };
    let answer = questions::ask_client_until(shared, &question, trusted_elsewhere(shared, needed)).await;
    drop(open_question);
    if answer.as_deref() == Some(then.confirm_label()) {
        grant_and_continue(shared, needed, then).await;
    }
}

/// Resolves when nothing on the page is left to trust: the user may trust it in a terminal or in another editor.
async fn trusted_elsewhere(shared: &Arc<ServerState>, needed: &TrustRequest) {
    let mut snapshots = shared.index().subscribe_snapshots();
    // The index knows the configuration, and not what this start replaces in it.
    while needed.arguments.is_empty() && snapshots.changed().await.is_ok() {
        let task = snapshots.borrow_and_update().tasks.iter().find(|it| it.uri == needed.task).cloned();
        let Some(task) = task.filter(|it| it.untrusted.count == 0) else { continue };
        // The snapshot may be older than the question.
        if run_blocking(move || Ok(super::is_trusted(&task)?)).await.unwrap_or(false) {
            return;
        }
    }
    std::future::pending::<()>().await;
}

async fn write_page(shared: &Arc<ServerState>, needed: &TrustRequest) -> Option<PathBuf> {
    let (root, text) = (needed.root.clone(), needed.text.clone());
    match run_blocking(move || Ok(super::write_page_file(&root, &text)?)).await {
        Ok(page) => {
            remember_page(shared, needed, &page);
            Some(page)
        }
        Err(refusal) => {
            refusal.show(shared).await;
            None
        }
    }
}

/// Consent without a question applies to the page of the current configuration.
fn remember_page(shared: &ServerState, needed: &TrustRequest, page: &Path) {
    if needed.arguments.is_empty() {
        shared.trust_pages.record_page(page, &needed.task, &needed.hash);
    }
}

fn key(needed: &TrustRequest, then: &AfterTrust) -> String {
    format!("{} {} {}", then.confirm_label(), needed.hash, needed.task)
}

/// `"Pay" runs 2 commands you have not trusted yet.`
fn message(needed: &TrustRequest) -> String {
    tr!(
        "{title} runs {commands} you have not trusted yet.",
        title = title(needed),
        commands = counted(needed)
    )
}

fn title(needed: &TrustRequest) -> String {
    tr!("\"{title}\"", title = sanitize::line(&needed.title))
}

fn counted(needed: &TrustRequest) -> String {
    words::counted(needed.count as u64, "command")
}

async fn grant_and_continue(shared: &Arc<ServerState>, needed: &TrustRequest, then: &AfterTrust) {
    let granted = grant(shared, &needed.task, needed.hash.clone(), needed.arguments.clone()).await;
    if let Err(refusal) = granted {
        return refusal.show(shared).await;
    }
    let (command, argument) = match then {
        AfterTrust::Nothing => {
            shared.index().invalidate(Invalidation::STATE);
            let message =
                tr!("{commands} of {title} trusted.", commands = counted(needed), title = title(needed));
            return shared.client.show_message(MessageType::INFO, message).await;
        }
        AfterTrust::Start(args) => (ext::START, json!(args)),
        AfterTrust::Check(args) => (ext::CHECK, json!(args)),
    };
    let params = ExecuteCommandParams {
        command: command.to_owned(),
        arguments: vec![argument],
        work_done_progress_params: lsp_types::WorkDoneProgressParams::default(),
    };
    if let Err(error) = Box::pin(crate::commands::execute(shared, params)).await {
        error.show(shared).await;
    }
}
