//! `trust`: shows every command a task would run, verbatim, and asks whether they may run. Also the gate before
//! anything of a workspace runs: untrusted commands are asked about or rejected.

use std::io::Write;

use loopkeeper_core::journal::RestrictedCommand;
use loopkeeper_core::trust::TrustItem;
use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::{tr, words};

use super::ask;
use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::select::TaskArg;
use loopkeeper_operations::authority;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::trust::{known_items, not_trusted_error, page, split_typed};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::trust::TrustStore;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) task: TaskArg,
}

/// How missing trust is obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustConsent {
    /// `--trust` was passed with the command.
    Given,
    /// Asked for, if a user is present.
    Asked,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let work = ResolvedTask::find(args.task.path.as_deref(), &[])?;
    let items = known_items(&work, |missing| failure::warn(missing))?;
    let state = StateDir::open()?;
    let mut store = open(&state);
    let unknown = store.untrusted_items(&work.root, &items);
    out.write(&page(&work.root, &items, &unknown).text(&work.title()));
    if unknown.is_empty() {
        out.line(tr!("Everything is trusted."));
        return Ok(Exit::Done);
    }
    authority::ensure_user(&state, RestrictedCommand::Trust)?;
    let count = words::counted(unknown.len() as u64, "command");
    let question = match unknown.len() {
        1 => tr!("1 of these commands is not trusted yet. Trust it?").to_owned(),
        count => tr!("{count} of these commands are not trusted yet. Trust them?", count),
    };
    if !ask::confirm(&question)? {
        return Err(not_trusted_error(&work, &unknown));
    }
    store.grant(&work.root, Some(&work.id), &unknown)?;
    out.line(tr!("Trusted {count}.", count));
    Ok(Exit::Done)
}

/// Passes if all commands are trusted; asks, grants or rejects the rest.
pub(crate) fn ensure_trusted(
    work: &ResolvedTask,
    items: &[TrustItem],
    state: &StateDir,
    consent: TrustConsent,
) -> Result<(), Failure> {
    let mut store = open(state);
    let (typed, unknown) = split_typed(work, store.untrusted_items(&work.root, items));
    if !typed.is_empty() {
        authority::ensure_user(state, RestrictedCommand::Trust)?;
        store.grant(&work.root, Some(&work.id), &typed)?;
    }
    if unknown.is_empty() {
        return Ok(());
    }
    if consent == TrustConsent::Asked {
        if !ask::is_interactive() {
            return Err(not_trusted_error(work, &unknown));
        }
        let mut stderr = anstream::stderr();
        write!(stderr, "{}", page(&work.root, &unknown, &unknown).text(&work.title()))?;
        let question = match unknown.len() {
            1 => tr!("Trust this command?").to_owned(),
            count => tr!("Trust these {count} commands?", count),
        };
        if !ask::confirm(&question)? {
            return Err(not_trusted_error(work, &unknown));
        }
    }
    authority::ensure_user(state, RestrictedCommand::Trust)?;
    Ok(store.grant(&work.root, Some(&work.id), &unknown)?)
}

fn open(state: &StateDir) -> TrustStore {
    let store = TrustStore::open(state);
    if let Some(problem) = store.load_error() {
        failure::warn(problem.to_message().sentences());
    }
    store
}
