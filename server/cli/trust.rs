//! `trust`: every command a task would run, verbatim, and the word that they may. Also the gate before anything
//! of a workspace runs: what nobody trusted is asked about, or refused.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::sanitize;
use loopkeeper_core::trust::{Item, Page, Runs};
use loopkeeper_core::view::words;

use super::ask;
use super::exit::Exit;
use super::failure::{self, Answer, Failure};
use super::out::Out;
use super::select::TaskArg;
use super::work::{TaskKind, Work};
use crate::adapters::agents;
use crate::adapters::state_dir::StateDir;
use crate::adapters::trust::TrustStore;
use crate::adapters::trust::surfaces::surfaces;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) task: TaskArg,
}

/// How a missing word is got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// `--trust`: given with the command.
    Given,
    /// Asked for where somebody is there.
    Asked,
}

pub(crate) fn run(args: &Args, out: &mut Out) -> Answer {
    let work = Work::find(args.task.path.as_deref(), &[])?;
    let plan = agent(&work).inspect_err(|missing| failure::warn(missing)).ok();
    let items = items(&work, plan.as_ref())?;
    let mut store = open(&StateDir::open()?);
    let unknown = store.unknown(&work.root, &items);
    out.write(&page(&work.root, &items));
    if unknown.is_empty() {
        out.line("All of it is trusted.");
        return Ok(Exit::Done);
    }
    let count = words::counted(unknown.len() as u64, "command");
    if !ask::yes(&format!("{count} of these {} not trusted yet. Trust them?", is_or_are(&unknown)))? {
        return Err(refused(&work, &unknown));
    }
    store.grant(&work.root, Some(&work.id), &unknown)?;
    out.line(format_args!("Trusted {count}."));
    Ok(Exit::Done)
}

/// The agent as it would be started.
pub(crate) fn agent(work: &Work) -> Result<AgentPlan, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let settings = &work.settings;
    Ok(agents::plan(&agents::Wanted {
        agent: &settings.agent,
        agents: &settings.agents,
        root: &work.root,
        criteria: &work.task.criteria,
        path: &path,
    })?)
}

/// Everything that would run, with what makes it run otherwise than it looks.
pub(crate) fn items(work: &Work, agent: Option<&AgentPlan>) -> Result<Vec<Item>, Failure> {
    let mut items = match work.kind {
        TaskKind::Documents => Item::checks(&work.task.criteria, |file| work.text_of(file)),
        // What is typed as an argument is trusted by being typed.
        TaskKind::Typed => Vec::new(),
    };
    items.extend(Item::settings(work.resolved.to_trust()));
    if let Some(agent) = agent {
        items.push(Item::agent(agent));
        items.extend(surfaces(&work.root)?);
    }
    Ok(items)
}

/// Lets pass what the user trusts; asks, grants or refuses for the rest.
pub(crate) fn gate(work: &Work, items: &[Item], state: &StateDir, consent: Consent) -> Result<(), Failure> {
    let mut store = open(state);
    let (typed, unknown): (Vec<_>, Vec<_>) =
        store.unknown(&work.root, items).into_iter().partition(|it| is_typed(work, it));
    if !typed.is_empty() {
        store.grant(&work.root, Some(&work.id), &typed)?;
    }
    if unknown.is_empty() {
        return Ok(());
    }
    if consent == Consent::Asked {
        if !ask::somebody_is_there() {
            return Err(refused(work, &unknown));
        }
        let mut stderr = anstream::stderr();
        write!(stderr, "{}", page(&work.root, &unknown))?;
        let these = match unknown.len() {
            1 => "this command".to_owned(),
            count => format!("these {count} commands"),
        };
        if !ask::yes(&format!("Trust {these}?"))? {
            return Err(refused(work, &unknown));
        }
    }
    Ok(store.grant(&work.root, Some(&work.id), &unknown)?)
}

/// A program that was typed is trusted as typed checks are, unless the configuration added arguments to it.
pub(crate) fn is_typed(work: &Work, item: &Item) -> bool {
    let Runs::Agent { argv, .. } = &item.runs else { return false };
    work.program.as_ref().is_some_and(|it| *argv == [it.as_str()])
}

/// What a person reads before saying yes.
pub(crate) fn page(root: &Path, items: &[Item]) -> String {
    Page::new(root.as_os_str().as_bytes(), items).text()
}

fn open(state: &StateDir) -> TrustStore {
    let store = TrustStore::open(state);
    if let Some(trouble) = store.trouble() {
        failure::warn(format_args!("{trouble}. {}", trouble.hint()));
    }
    store
}

fn refused(work: &Work, unknown: &[Item]) -> Failure {
    let count = words::counted(unknown.len() as u64, "command");
    let task = sanitize::line(&work.id.0);
    let verb = is_or_are(unknown);
    let show = match work.kind {
        TaskKind::Documents => "`loopkeeper trust`",
        TaskKind::Typed => "`--dry-run`",
    };
    Failure::new(Exit::NotTrusted, format_args!("{count} of {task} {verb} not trusted: nothing was started"))
        .hint(format_args!("{show} shows every one of them; `run --trust` trusts them and starts."))
}

fn is_or_are(items: &[Item]) -> &'static str {
    if items.len() == 1 { "is" } else { "are" }
}
