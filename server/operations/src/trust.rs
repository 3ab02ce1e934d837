//! Collects everything that a task would run, as trust items: the untrusted ones, the page that shows them, the
//! refusal. Starts nothing, grants nothing.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::SettingOrigin;
use loopkeeper_core::trust::{TrustItem, TrustPage, TrustSubject};
use loopkeeper_text::{sanitize, tr};

use super::agents::AgentSelection;
use super::failure::{Failure, FailureKind};
use super::resolved_task::{ResolvedTask, TaskKind};
use loopkeeper_system::trust::agent_files::find_agent_files;

/// Everything that would run, with the files that influence it.
pub fn items(work: &ResolvedTask, roster: &AgentSelection) -> Result<Vec<TrustItem>, Failure> {
    of_loop(work, roster.all())
}

/// Like [`items`] if agents cannot be found: the items known without them.
pub fn known_items(work: &ResolvedTask, missing: impl FnOnce(&Failure)) -> Result<Vec<TrustItem>, Failure> {
    match AgentSelection::resolve(work).inspect_err(missing) {
        Ok(roster) => items(work, &roster),
        Err(_) => of_loop(work, []),
    }
}

fn of_loop<'a>(
    work: &ResolvedTask,
    agents: impl IntoIterator<Item = &'a AgentPlan>,
) -> Result<Vec<TrustItem>, Failure> {
    let mut items = of_checks(work, agents)?;
    items.extend(TrustItem::from_hooks(&work.settings.on));
    items.extend(TrustItem::from_limits(work.resolved.raised_limits()));
    Ok(items)
}

/// Like [`items`] for a round of checks only, which may ask a judge; `agents`: the other agents that are started.
pub fn of_checks<'a>(
    work: &ResolvedTask,
    agents: impl IntoIterator<Item = &'a AgentPlan>,
) -> Result<Vec<TrustItem>, Failure> {
    let mut items = match work.kind {
        TaskKind::Documents => TrustItem::from_checks(&work.task.criteria, |file| work.text_of(file)),
        // An argument is trusted because the user typed it.
        TaskKind::Typed => Vec::new(),
    };
    items.extend(TrustItem::from_services(&work.settings.serve, &work.task.criteria));
    items.extend(TrustItem::from_settings(work.resolved.to_trust()));
    let mut agents = agents.into_iter().peekable();
    if agents.peek().is_some() {
        items.extend(find_agent_files(&work.root)?);
    }
    items.extend(agents.map(TrustItem::from_agent));
    Ok(items)
}

/// Written settings with their places, shown below the commands; empty if all are defaults.
pub fn written_settings(work: &ResolvedTask) -> String {
    let rows = work.resolved.effective();
    let written: Vec<_> = rows.iter().filter(|it| it.origin != SettingOrigin::Default).collect();
    if written.is_empty() {
        return String::new();
    }
    let lines = written.iter().map(|it| {
        let (value, place) = (sanitize::line(&it.value), sanitize::line(&it.origin.to_string()));
        format!("  {} = {value}  ({place})\n", it.key)
    });
    tr!("\nSettings; all others have their defaults\n{lines}", lines = lines.collect::<String>())
}

/// Splits items into those that the user typed, which are trusted, and the others.
pub fn split_typed(work: &ResolvedTask, items: Vec<TrustItem>) -> (Vec<TrustItem>, Vec<TrustItem>) {
    let checks = TrustItem::from_checks(work.typed_criteria(), |_| None);
    items.into_iter().partition(|it| is_typed(work, &checks, it))
}

/// A check or program that the user typed is trusted, a program only if the configuration adds no arguments to it.
fn is_typed(work: &ResolvedTask, checks: &[TrustItem], item: &TrustItem) -> bool {
    match &item.runs {
        TrustSubject::Agent { argv, env, .. } => {
            env.is_empty() && work.program.as_ref().is_some_and(|it| *argv == [it.as_str()])
        }
        TrustSubject::Check { .. } | TrustSubject::Request { .. } => {
            checks.iter().any(|it| it.runs == item.runs)
        }
        TrustSubject::Settings { .. }
        | TrustSubject::Limit { .. }
        | TrustSubject::Server { .. }
        | TrustSubject::Hook { .. }
        | TrustSubject::AgentFile { .. } => false,
    }
}

/// The page that the user reads before granting trust; `unknown`: the items that are not trusted yet.
pub fn page(root: &Path, items: &[TrustItem], unknown: &[TrustItem]) -> TrustPage {
    TrustPage::new(root.as_os_str().as_bytes(), items, unknown)
}

/// The error if the user cannot be asked or declined.
pub fn not_trusted_error(work: &ResolvedTask, unknown: &[TrustItem]) -> Failure {
    let task = sanitize::line(&work.id.0);
    let fact = match unknown.len() {
        1 => tr!("1 command of {task} is not trusted: nothing was started", task),
        count => tr!("{count} commands of {task} are not trusted: nothing was started", count, task),
    };
    let show = match work.kind {
        TaskKind::Documents => "loopkeeper trust",
        TaskKind::Typed => "--dry-run",
    };
    Failure::new(FailureKind::NotTrusted, fact)
        .hint(tr!("`{show}` shows every one of them; `run --trust` trusts them and starts.", show))
}
