//! Everything a task would run, as trust sees it: what nobody said yes to yet, the page that shows it, the
//! refusal. Starts nothing, grants nothing.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::sanitize;
use loopkeeper_core::trust::{Item, Page, Runs};
use loopkeeper_core::view::words;

use super::failure::{Failure, Kind};
use super::work::{TaskKind, Work};
use crate::adapters::agents;
use crate::adapters::trust::surfaces::surfaces;

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
        is_root: rustix::process::geteuid().is_root(),
        env_set: &settings.env_set,
    })?)
}

/// Everything that would run, with what makes it run otherwise than it looks.
pub(crate) fn items(work: &Work, agent: Option<&AgentPlan>) -> Result<Vec<Item>, Failure> {
    let mut items = match work.kind {
        TaskKind::Documents => Item::checks(&work.task.criteria, |file| work.text_of(file)),
        // What is typed as an argument is trusted by being typed.
        TaskKind::Typed => Vec::new(),
    };
    items.extend(Item::servers(&work.settings.serve, &work.task.criteria));
    items.extend(Item::settings(work.resolved.to_trust()));
    if let Some(agent) = agent {
        items.push(Item::agent(agent));
        items.extend(Item::hooks(&work.settings.on));
        items.extend(surfaces(&work.root)?);
    }
    Ok(items)
}

/// A program that was typed is trusted as typed checks are, unless the configuration added arguments to it.
pub(crate) fn is_typed(work: &Work, item: &Item) -> bool {
    let Runs::Agent { argv, env, .. } = &item.runs else { return false };
    env.is_empty() && work.program.as_ref().is_some_and(|it| *argv == [it.as_str()])
}

/// What a person reads before saying yes.
pub(crate) fn page(root: &Path, items: &[Item]) -> Page {
    Page::new(root.as_os_str().as_bytes(), items)
}

/// What is said where nobody can be asked, or said no.
pub(crate) fn refused(work: &Work, unknown: &[Item]) -> Failure {
    let count = words::counted(unknown.len() as u64, "command");
    let task = sanitize::line(&work.id.0);
    let verb = is_or_are(unknown);
    let show = match work.kind {
        TaskKind::Documents => "`loopkeeper trust`",
        TaskKind::Typed => "`--dry-run`",
    };
    Failure::new(Kind::NotTrusted, format_args!("{count} of {task} {verb} not trusted: nothing was started"))
        .hint(format_args!("{show} shows every one of them; `run --trust` trusts them and starts."))
}

pub(crate) fn is_or_are(items: &[Item]) -> &'static str {
    if items.len() == 1 { "is" } else { "are" }
}
