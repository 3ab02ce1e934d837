//! `trust`, `untrust`, the page that shows what would run, and the question that an untrusted start asks. Consent
//! applies to exactly the page that was shown.

mod consent;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::journal::RestrictedCommand;
use loopkeeper_core::settings::SettingOverride;
use loopkeeper_core::trust::{TrustItem, TrustPage};
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;

pub(super) use self::consent::{AfterTrust, ask};
use super::{CommandOutcome, CommandRefusal, run_blocking, target};
use crate::ext::{CommandResult, RefusalCode, TrustArgs, TrustCommand, TrustPageResult, UntrustArgs};
use crate::session::ServerState;
use crate::virtual_documents::{self, VirtualDocuments};
use loopkeeper_operations as operations;
use loopkeeper_operations::authority;
use loopkeeper_operations::failure::Failure;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::trust::TrustStore;
use loopkeeper_workspace::Invalidation;
use loopkeeper_workspace::snapshot::TaskSnapshot;

/// The trust that is missing for a start.
pub(super) struct TrustRequest {
    task: String,
    title: String,
    root: PathBuf,
    hash: String,
    /// Number of commands on the page that are not trusted yet.
    count: usize,
    text: String,
    /// Settings of the request that override the configuration; the page shows a start with them.
    arguments: Vec<SettingOverride>,
}

/// Requires the editor's own trust, regardless of stored trust.
pub(super) fn refuse_without_editor(shared: &ServerState, task: &str) -> Result<(), CommandRefusal> {
    if shared.session().trusted {
        return Ok(());
    }
    let mut refusal = CommandRefusal::new(
        RefusalCode::Untrusted,
        Message::new(tr!("Ralph runs nothing in a folder that the editor does not trust"))
            .with_hint(tr!("trust this folder, then try again")),
    );
    refusal.data.task = Some(task.to_owned());
    refusal.data.asked = Some(false);
    Err(refusal)
}

/// `None` if the user trusts all of it.
pub(super) fn required_trust(
    store: &StateDir,
    work: &ResolvedTask,
    items: &[TrustItem],
    arguments: &[SettingOverride],
) -> Result<Option<TrustRequest>, Failure> {
    let mut trust = TrustStore::open(store);
    let (typed, unknown) = operations::trust::split_typed(work, trust.untrusted_items(&work.root, items));
    if !typed.is_empty() {
        authority::ensure_user(store, RestrictedCommand::Trust)?;
        trust.grant(&work.root, Some(&work.id), &typed)?;
    }
    if unknown.is_empty() { Ok(None) } else { Ok(Some(TrustRequest::of(work, &trust, arguments)?)) }
}

impl TrustRequest {
    fn of(work: &ResolvedTask, trust: &TrustStore, arguments: &[SettingOverride]) -> Result<Self, Failure> {
        let page = whole_page(work, trust)?;
        Ok(Self {
            task: loopkeeper_view::file_uri(&work.root.join(&work.id.0).to_string_lossy()),
            title: work.title(),
            root: work.root.clone(),
            count: page.untrusted_count(),
            text: page.text(&work.title()) + &operations::trust::written_settings(work),
            hash: page.hash,
            arguments: arguments.to_vec(),
        })
    }
}

/// Writes the page to a file.
fn write_page_file(root: &Path, text: &str) -> Result<PathBuf, Failure> {
    VirtualDocuments::of(root)?.write_page("commands.txt", text.as_bytes())
}

/// Trusts the page with this hash; without a hash, shows the page and asks.
pub(super) async fn trust(shared: &Arc<ServerState>, args: TrustArgs) -> CommandOutcome {
    match args.hash {
        Some(hash) => grant(shared, &args.task, hash, Vec::new()).await,
        None => show_trust_page(shared, &args.task).await,
    }
}

async fn grant(
    shared: &Arc<ServerState>,
    task: &str,
    hash: String,
    arguments: Vec<SettingOverride>,
) -> CommandOutcome {
    refuse_without_editor(shared, task)?;
    let task = target::task(shared, task).await?;
    let uri = task.uri.clone();
    let done = run_blocking(move || {
        let work = ResolvedTask::find(task.path.to_str(), &arguments)?;
        let items = items(&work)?;
        if operations::trust::page(&work.root, &items, &[]).hash != hash {
            let fact = tr!("the commands changed after the page was shown, and nothing was trusted");
            return Err(CommandRefusal::internal_error(
                Message::new(fact).with_hint(tr!("open the page again")),
            ));
        }
        let state = StateDir::open().map_err(Failure::from)?;
        authority::ensure_user(&state, RestrictedCommand::Trust)?;
        let mut store = TrustStore::open(&state);
        let unknown = store.untrusted_items(&work.root, &items);
        store.grant(&work.root, Some(&work.id), &unknown).map_err(Failure::from)?;
        Ok(CommandResult::default())
    })
    .await;
    shared.trust_pages.forget(&uri);
    done
}

/// Shows the page, and asks if something on it is not trusted yet.
async fn show_trust_page(shared: &Arc<ServerState>, task: &str) -> CommandOutcome {
    refuse_without_editor(shared, task)?;
    let task: Arc<TaskSnapshot> = target::task(shared, task).await?;
    let (needed, page) = run_blocking(move || {
        let work = ResolvedTask::find(task.path.to_str(), &[])?;
        let trust = TrustStore::open(&StateDir::open().map_err(Failure::from)?);
        let needed = TrustRequest::of(&work, &trust, &[])?;
        let page = write_page_file(&needed.root, &needed.text)?;
        Ok((needed, page))
    })
    .await?;
    let uri = Some(virtual_documents::uri(&page));
    consent::show_consent_page(shared, needed, &page);
    Ok(CommandResult { uri, ..CommandResult::default() })
}

/// Revokes all trust of the task.
pub(super) async fn untrust(shared: &Arc<ServerState>, args: UntrustArgs) -> CommandOutcome {
    let task = target::task(shared, &args.task).await?;
    run_blocking(move || {
        let state = StateDir::open().map_err(Failure::from)?;
        authority::ensure_user(&state, RestrictedCommand::Trust)?;
        let mut store = TrustStore::open(&state);
        store.revoke(&task.root, Some(&task.id)).map_err(Failure::from)?;
        Ok(CommandResult::default())
    })
    .await
}

/// `loopkeeper/trustPage`.
pub(crate) async fn page(shared: &Arc<ServerState>, task: &str) -> Result<TrustPageResult, CommandRefusal> {
    let task: Arc<TaskSnapshot> = target::task(shared, task).await?;
    let page = run_blocking(move || {
        let work = ResolvedTask::find(task.path.to_str(), &[])?;
        let items = items(&work)?;
        let store = TrustStore::open(&StateDir::open().map_err(Failure::from)?);
        let unknown = store.untrusted_items(&work.root, &items);
        let page = operations::trust::page(&work.root, &items, &unknown);
        let command = |it: &loopkeeper_core::trust::TrustPageItem| TrustCommand {
            kind: it.kind.to_owned(),
            title: it.title.clone(),
            lines: it.lines.clone(),
            trusted: it.trusted,
        };
        Ok(TrustPageResult {
            trusted: page.untrusted_count() == 0,
            commands: page.commands.iter().map(command).collect(),
            text: page.text(&work.title()) + &operations::trust::written_settings(&work),
            hash: page.hash,
        })
    });
    let page = page.await;
    if page.is_ok() {
        shared.index().invalidate(Invalidation::STATE);
    }
    page
}

/// Everything that would run, including the agent if there is one.
fn items(work: &ResolvedTask) -> Result<Vec<TrustItem>, Failure> {
    operations::trust::known_items(work, |_| ())
}

/// Whether the user trusts everything that would run with the current configuration.
fn is_trusted(task: &TaskSnapshot) -> Result<bool, Failure> {
    let work = ResolvedTask::find(task.path.to_str(), &[])?;
    let trust = TrustStore::open(&StateDir::open()?);
    Ok(whole_page(&work, &trust)?.untrusted_count() == 0)
}

fn whole_page(work: &ResolvedTask, trust: &TrustStore) -> Result<TrustPage, Failure> {
    let items = items(work)?;
    Ok(operations::trust::page(&work.root, &items, &trust.untrusted_items(&work.root, &items)))
}
