//! `trust`, `untrust`, the page that shows what would run, and the question that comes with an untrusted start.
//! A yes counts for exactly the page that was shown.

mod consent;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::settings::Argument;
use loopkeeper_core::trust::{Item, Page};

pub(super) use self::consent::{Then, ask};
use super::{Done, Refusal, blocking, target};
use crate::adapters::state_dir::StateDir;
use crate::adapters::trust::TrustStore;
use crate::front;
use crate::front::failure::Failure;
use crate::front::work::Work;
use crate::lookout::Nudge;
use crate::lookout::picture::TaskSeen;
use crate::lsp::ext::{CommandResult, RefusalCode, TrustArgs, TrustCommand, TrustPageResult, UntrustArgs};
use crate::lsp::pages::{self, Pages};
use crate::lsp::shared::Shared;

/// What keeps a start from starting.
pub(super) struct Needed {
    task: String,
    title: String,
    root: PathBuf,
    hash: String,
    /// Of the page's commands, those that are not trusted yet.
    count: usize,
    text: String,
    /// What was asked for besides the configuration: the page is that of a start with it.
    arguments: Vec<Argument>,
}

/// The editor's own trust is necessary, whatever is stored.
pub(super) fn refuse_without_editor(shared: &Shared, task: &str) -> Result<(), Refusal> {
    if shared.session().trusted {
        return Ok(());
    }
    let mut refusal = Refusal::new(
        RefusalCode::Untrusted,
        "Ralph runs nothing in a folder that the editor does not trust. Trust this folder, then try again",
    );
    refusal.data.task = Some(task.to_owned());
    refusal.data.asked = Some(false);
    Err(refusal)
}

/// `None` where the user trusts all of it.
pub(super) fn needed(
    store: &StateDir,
    work: &Work,
    items: &[Item],
    arguments: &[Argument],
) -> Result<Option<Needed>, Failure> {
    let mut trust = TrustStore::open(store);
    let (typed, unknown): (Vec<_>, Vec<_>) =
        trust.unknown(&work.root, items).into_iter().partition(|it| front::trust::is_typed(work, it));
    if !typed.is_empty() {
        trust.grant(&work.root, Some(&work.id), &typed)?;
    }
    if unknown.is_empty() { Ok(None) } else { Ok(Some(Needed::of(work, &trust, arguments)?)) }
}

impl Needed {
    fn of(work: &Work, trust: &TrustStore, arguments: &[Argument]) -> Result<Self, Failure> {
        let page = whole_page(work, trust)?;
        Ok(Self {
            task: loopkeeper_core::view::file_uri(&work.root.join(&work.id.0).to_string_lossy()),
            title: work.title(),
            root: work.root.clone(),
            count: page.unknown(),
            text: page.text(&work.title()),
            hash: page.hash,
            arguments: arguments.to_vec(),
        })
    }

    /// The page as a file.
    fn write(root: &Path, text: &str) -> Result<PathBuf, Failure> {
        Pages::of(root)?.put("commands.txt", text.as_bytes())
    }
}

/// With the hash of a page: grants what that shows; without one, shows the page and asks.
pub(super) async fn trust(shared: &Arc<Shared>, args: TrustArgs) -> Done {
    match args.hash {
        Some(hash) => grant(shared, &args.task, hash, Vec::new()).await,
        None => offer(shared, &args.task).await,
    }
}

async fn grant(shared: &Arc<Shared>, task: &str, hash: String, arguments: Vec<Argument>) -> Done {
    refuse_without_editor(shared, task)?;
    let task = target::task(shared, task).await?;
    let uri = task.uri.clone();
    let done = blocking(move || {
        let work = Work::find(task.path.to_str(), &arguments)?;
        let items = items(&work)?;
        if front::trust::page(&work.root, &items, &[]).hash != hash {
            return Err(Refusal::broken(
                "the commands changed since the page was shown, so nothing is trusted: look at them again",
            ));
        }
        let mut store = TrustStore::open(&StateDir::open().map_err(Failure::from)?);
        let unknown = store.unknown(&work.root, &items);
        store.grant(&work.root, Some(&work.id), &unknown).map_err(Failure::from)?;
        Ok(CommandResult::default())
    })
    .await;
    shared.trust_pages.forget(&uri);
    done
}

/// Shows the page, and asks where anything of it is not trusted yet.
async fn offer(shared: &Arc<Shared>, task: &str) -> Done {
    refuse_without_editor(shared, task)?;
    let task: Arc<TaskSeen> = target::task(shared, task).await?;
    let (needed, page) = blocking(move || {
        let work = Work::find(task.path.to_str(), &[])?;
        let trust = TrustStore::open(&StateDir::open().map_err(Failure::from)?);
        let needed = Needed::of(&work, &trust, &[])?;
        let page = Needed::write(&needed.root, &needed.text)?;
        Ok((needed, page))
    })
    .await?;
    let uri = Some(pages::uri(&page));
    consent::offer(shared, needed, &page);
    Ok(CommandResult { uri, ..CommandResult::default() })
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
        let page = front::trust::page(&work.root, &items, &unknown);
        let command = |it: &loopkeeper_core::trust::Shown| TrustCommand {
            kind: it.kind.to_owned(),
            title: it.title.clone(),
            lines: it.lines.clone(),
            trusted: it.trusted,
        };
        Ok(TrustPageResult {
            trusted: page.unknown() == 0,
            commands: page.commands.iter().map(command).collect(),
            text: page.text(&work.title()),
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

fn whole_page(work: &Work, trust: &TrustStore) -> Result<Page, Failure> {
    let items = items(work)?;
    Ok(front::trust::page(&work.root, &items, &trust.unknown(&work.root, &items)))
}
