//! `run --dry-run`: what would run, and why it would be like that. Starts nothing.

use loopkeeper_core::prompt;
use loopkeeper_core::sanitize;
use loopkeeper_core::settings::preset;
use loopkeeper_core::trust::Item;
use loopkeeper_core::view::{self, words};

use crate::adapters::git::branch::Step;
use crate::adapters::state_dir::StateDir;
use crate::adapters::trust::TrustStore;
use crate::cli::out::Out;
use crate::cli::render::{Glyphs, LOUD, QUIET, table};
use crate::front;
use crate::front::crew::Crew;
use crate::front::start;
use crate::front::work::Work;

pub(super) struct Plan<'a> {
    pub(super) work: &'a Work,
    pub(super) crew: &'a Crew,
    pub(super) items: &'a [Item],
    pub(super) state: &'a StateDir,
}

/// The branch that the loop would work on; `None`: the one that is checked out.
fn branch(work: &Work) -> Option<String> {
    let (name, step) = match start::branch(work) {
        Ok(found) => found?,
        Err(failure) => return Some(failure.to_string()),
    };
    Some(match step {
        Step::Nothing => format!("{name}: not made, as there is no git repository"),
        Step::CheckedOut => format!("{name}, checked out"),
        Step::Make => format!("{name}, will be made from HEAD"),
        Step::CheckOut => format!("{name}, will be checked out"),
    })
}

/// How far the plan is, and what of it comes next.
fn stories(work: &Work, fact: &impl Fn(&mut Out, &str, &str), out: &mut Out) {
    const MOST: usize = 5;
    let plan = &work.task.plan;
    if plan.is_empty() {
        return;
    }
    let open = prompt::open_items(plan);
    fact(out, "Plan", &format!("{} of {} done", plan.len() - open.len(), plan.len()));
    for item in open.iter().take(MOST) {
        let optional = if item.blocking { "" } else { " (optional)" };
        out.line(format_args!("  open: {}{optional}", sanitize::line(&prompt::plan_item(item))));
    }
    if open.len() > MOST {
        out.line(format_args!("  and {} more", open.len() - MOST));
    }
}

pub(super) fn show(plan: &Plan<'_>, out: &mut Out) {
    let Plan { work, crew, items, state } = plan;
    let Crew { agent, others, judge, .. } = crew;
    let fact =
        |out: &mut Out, name: &str, value: &str| out.line(format_args!("{LOUD}{name:<10}{LOUD:#}{value}"));
    fact(out, "Task", &sanitize::line(&work.id.0));
    fact(out, "Root", &sanitize::line(&work.root.to_string_lossy()));
    fact(out, "Agent", &sanitize::line(&agent.name));
    for other in others {
        fact(out, "Then", &sanitize::line(&other.name));
    }
    if let Some(judge) = judge {
        fact(out, "Judge", &sanitize::line(&judge.name));
    }
    for lack in crew.lacks(work.settings.mode) {
        fact(out, "Note", &sanitize::line(&lack));
    }
    let mut settings = work.settings.clone();
    let workspace = state.known_workspace(&work.root);
    let project = front::patience::project(workspace.as_ref(), work);
    let chosen = preset::choose(&mut settings, &project);
    fact(out, "Patience", &sanitize::line(&chosen.because));
    if let Some(branch) = branch(work) {
        fact(out, "Branch", &sanitize::line(&branch));
    }
    stories(work, &fact, out);
    let criteria = view::unjudged(&work.task.criteria, &[]);
    fact(out, "Criteria", &criteria.total.to_string());
    out.write(&table::criteria(&criteria, Glyphs::of_environment()));
    out.line("");
    out.line(format_args!("{LOUD}Settings{LOUD:#}"));
    let rows = work.resolved.effective();
    let width = rows.iter().map(|it| it.key.len() + it.value.chars().count()).max().unwrap_or(0).min(60);
    for row in rows {
        let by_preset = preset::value(&settings, &row.key);
        let value = by_preset.map_or_else(|| sanitize::line(&row.value), |it| it.to_string());
        let text = format!("{} = {value}", row.key);
        let origin = preset::origin(&settings, &project, &row.key);
        let origin = origin.map_or_else(|| row.origin.to_string(), |it| sanitize::line(&it));
        out.line(format_args!("  {text:<width$}  {QUIET}{origin}{QUIET:#}", width = width + 3));
    }
    let unknown = TrustStore::open(state).unknown(&work.root, items);
    let unknown: Vec<_> = unknown.into_iter().filter(|it| !front::trust::is_typed(work, it)).collect();
    out.line("");
    out.line(format_args!("{LOUD}Commands{LOUD:#}"));
    out.write(&front::trust::page(&work.root, items, &unknown).text(&work.title()));
    match unknown.len() as u64 {
        0 => out.line("All of it is trusted. Nothing was started."),
        count => out
            .line(format_args!("{} not trusted yet. Nothing was started.", words::counted(count, "command"))),
    }
}
