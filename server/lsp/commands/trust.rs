//! `trust`, `untrust`, the page that shows what would run, and the question that comes with an untrusted start.
//! A yes counts for exactly the page that was shown.

use std::sync::Arc;

use loopkeeper_core::trust::{Item, Page};
use loopkeeper_core::view::words;
use lsp_types::ExecuteCommandParams;
use serde_json::json;

use super::{Done, Refusal, blocking, target};
use crate::adapters::state_dir::StateDir;
use crate::adapters::trust::TrustStore;
use crate::front;
use crate::front::failure::Failure;
use crate::front::work::Work;
use crate::lookout::Nudge;
use crate::lookout::picture::TaskSeen;
use crate::lsp::ext::{
    self, CheckArgs, CommandResult, RefusalCode, StartArgs, TrustArgs, TrustCommand, TrustPageResult,
    UntrustArgs,
};
use crate::lsp::pages::{self, Pages};
use crate::lsp::questions::{self, Place, Question};
use crate::lsp::shared::Shared;

/// What keeps a start from starting.
pub(super) struct Needed {
    task: String,
    title: String,
    root: std::path::PathBuf,
    hash: String,
    count: usize,
    text: String,
}

/// What the user wanted, to be done once they said yes.
pub(super) enum Then {
    Nothing,
    Start(StartArgs),
    Check(CheckArgs),
}

impl Then {
    fn yes(&self) -> &'static str {
        match self {
            Self::Nothing => "Trust",
            Self::Start(_) => "Trust and start",
            Self::Check(_) => "Trust and check",
        }
    }
}

/// The editor's own trust is necessary, whatever is stored.
pub(super) fn refuse_without_editor(shared: &Shared, task: &str) -> Result<(), Refusal> {
    if shared.session().trusted {
        return Ok(());
    }
    let mut refusal = Refusal::new(
        RefusalCode::Untrusted,
        "the editor does not trust this folder: trust it there first, then start again",
    );
    refusal.data.task = Some(task.to_owned());
    refusal.data.asked = Some(false);
    Err(refusal)
}

/// `None` where the user trusts all of it.
pub(super) fn needed(store: &StateDir, work: &Work, items: &[Item]) -> Result<Option<Needed>, Failure> {
    let mut trust = TrustStore::open(store);
    let (typed, unknown): (Vec<_>, Vec<_>) =
        trust.unknown(&work.root, items).into_iter().partition(|it| front::trust::is_typed(work, it));
    if !typed.is_empty() {
        trust.grant(&work.root, Some(&work.id), &typed)?;
    }
    if unknown.is_empty() {
        return Ok(None);
    }
    let page = whole_page(work)?;
    Ok(Some(Needed {
        task: loopkeeper_core::view::file_uri(&work.root.join(&work.id.0).to_string_lossy()),
        title: work.title(),
        root: work.root.clone(),
        hash: page.hash.clone(),
        count: unknown.len(),
        text: page.text(),
    }))
}

/// The refusal, with the question under way where the client can be asked.
pub(super) fn ask(shared: &Arc<Shared>, needed: Needed, then: Then) -> Refusal {
    let count = words::counted(needed.count as u64, "command");
    let (is, it) = if needed.count == 1 { ("is", "it") } else { ("are", "them") };
    let message = format!(
        "{count} of {} {is} not trusted: nothing was started. Look at {it}, then trust {it}.",
        needed.title
    );
    let mut refusal = Refusal::new(RefusalCode::Untrusted, message);
    refusal.data.task = Some(needed.task.clone());
    refusal.data.hash = Some(needed.hash.clone());
    refusal.data.count = Some(needed.count);
    refusal.data.asked = Some(questions::can_ask(shared));
    if questions::can_ask(shared) {
        question(shared, needed, then);
    } else {
        let (shared, message) = (Arc::clone(shared), refusal.message.clone());
        tokio::spawn(async move { questions::warn(&shared, &message).await });
    }
    refusal
}

/// Never waits, and never asks what is being asked already.
fn question(shared: &Arc<Shared>, needed: Needed, then: Then) {
    let key = format!("{} {} {}", then.yes(), needed.hash, needed.task);
    if let Some(place) = shared.pending.enter(key) {
        let shared = Arc::clone(shared);
        tokio::spawn(async move { questioned(&shared, needed, then, place).await });
    }
}

async fn questioned(shared: &Arc<Shared>, needed: Needed, then: Then, place: Place) {
    const SHOW: &str = "Show commands";
    const NO: &str = "Not now";
    let yes = then.yes();
    let count = words::counted(needed.count as u64, "command");
    let message = format!("Ralph wants to run {count} of {} that you have not trusted yet.", needed.title);
    let question = Question { message, answers: vec![SHOW, yes, NO], expiry: questions::EXPIRY };
    while let Some(answer) = questions::ask(shared, &question).await {
        if answer == yes {
            // It is answered: what is done now may lead to another one.
            drop(place);
            trusted(shared, &needed, &then).await;
            return;
        }
        if answer != SHOW {
            return;
        }
        let (root, text) = (needed.root.clone(), needed.text.clone());
        let page = blocking(move || Ok(Pages::of(&root)?.put("commands.txt", text.as_bytes())?)).await;
        if let Ok(page) = page {
            pages::show(shared, &pages::uri(&page));
        }
    }
}

async fn trusted(shared: &Arc<Shared>, needed: &Needed, then: &Then) {
    if let Err(refusal) = grant(shared, &needed.task, needed.hash.clone()).await {
        return questions::warn(shared, &refusal.message).await;
    }
    let (command, argument) = match then {
        Then::Nothing => return shared.lookout().nudge(Nudge::STATE),
        Then::Start(args) => (ext::START, json!(args)),
        Then::Check(args) => (ext::CHECK, json!(args)),
    };
    let params = ExecuteCommandParams {
        command: command.to_owned(),
        arguments: vec![argument],
        work_done_progress_params: lsp_types::WorkDoneProgressParams::default(),
    };
    if let Err(error) = Box::pin(super::execute(shared, params)).await {
        questions::warn(shared, &error.message).await;
    }
}

/// With the hash of a page: grants what that shows; without one, shows the page and asks.
pub(super) async fn trust(shared: &Arc<Shared>, args: TrustArgs) -> Done {
    match args.hash {
        Some(hash) => grant(shared, &args.task, hash).await,
        None => offer(shared, &args.task).await,
    }
}

async fn grant(shared: &Arc<Shared>, task: &str, hash: String) -> Done {
    refuse_without_editor(shared, task)?;
    let task = target::task(shared, task).await?;
    blocking(move || {
        let work = Work::find(task.path.to_str(), &[])?;
        let items = items(&work)?;
        if front::trust::page(&work.root, &items).hash != hash {
            return Err(Refusal::broken("the commands changed since the page was shown: look at them again"));
        }
        let mut store = TrustStore::open(&StateDir::open().map_err(Failure::from)?);
        let unknown = store.unknown(&work.root, &items);
        store.grant(&work.root, Some(&work.id), &unknown).map_err(Failure::from)?;
        Ok(CommandResult::default())
    })
    .await
}

/// A client that cannot be asked has read the page, and a terminal to say yes in.
async fn offer(shared: &Arc<Shared>, task: &str) -> Done {
    refuse_without_editor(shared, task)?;
    let task: Arc<TaskSeen> = target::task(shared, task).await?;
    let found = blocking(move || {
        let work = Work::find(task.path.to_str(), &[])?;
        let store = StateDir::open().map_err(Failure::from)?;
        let Some(needed) = needed(&store, &work, &items(&work)?)? else { return Ok(None) };
        let page = Pages::of(&needed.root)?.put("commands.txt", needed.text.as_bytes())?;
        Ok(Some((needed, page)))
    });
    let Some((needed, page)) = found.await? else { return Ok(CommandResult::default()) };
    let uri = pages::uri(&page);
    pages::show(shared, &uri);
    put(shared, needed, &page);
    Ok(CommandResult { uri: Some(uri), ..CommandResult::default() })
}

fn put(shared: &Arc<Shared>, needed: Needed, page: &std::path::Path) {
    let shared = Arc::clone(shared);
    if questions::can_ask(&shared) {
        return question(&shared, needed, Then::Nothing);
    }
    let page = page.display();
    let message = format!("Read {page}, then trust it with `loopkeeper trust` in a terminal.");
    tokio::spawn(async move { questions::warn(&shared, &message).await });
}

/// Takes back everything that was said for the task.
pub(super) async fn untrust(shared: &Arc<Shared>, args: UntrustArgs) -> Done {
    let task = target::task(shared, &args.task).await?;
    blocking(move || {
        let mut store = TrustStore::open(&StateDir::open().map_err(Failure::from)?);
        store.revoke(&task.root, Some(&task.id)).map_err(Failure::from)?;
        Ok(CommandResult::default())
    })
    .await
}

/// `loopkeeper/trustPage`.
pub(crate) async fn page(shared: &Arc<Shared>, task: &str) -> Result<TrustPageResult, Refusal> {
    let task: Arc<TaskSeen> = target::task(shared, task).await?;
    let page = blocking(move || {
        let work = Work::find(task.path.to_str(), &[])?;
        let items = items(&work)?;
        let store = TrustStore::open(&StateDir::open().map_err(Failure::from)?);
        let unknown = store.unknown(&work.root, &items);
        let page = front::trust::page(&work.root, &items);
        let unknown = front::trust::page(&work.root, &unknown);
        let command = |it: &loopkeeper_core::trust::Shown| TrustCommand {
            kind: it.kind.to_owned(),
            title: it.title.clone(),
            lines: it.lines.clone(),
            trusted: !unknown.commands.contains(it),
        };
        Ok(TrustPageResult {
            trusted: unknown.commands.is_empty(),
            commands: page.commands.iter().map(command).collect(),
            text: page.text(),
            hash: page.hash,
        })
    });
    let page = page.await;
    if page.is_ok() {
        shared.lookout().nudge(Nudge::STATE);
    }
    page
}

/// Everything that would run, the agent too where there is one.
fn items(work: &Work) -> Result<Vec<Item>, Failure> {
    front::trust::known_items(work, |_| ())
}

fn whole_page(work: &Work) -> Result<Page, Failure> {
    Ok(front::trust::page(&work.root, &items(work)?))
}
