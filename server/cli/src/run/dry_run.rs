//! `run --dry-run`: prints what would run, and why. Starts nothing.

mod json;

use loopkeeper_core::prompt;
use loopkeeper_core::settings::preset::{self, PresetSelection};
use loopkeeper_core::settings::{EffectiveSetting, SettingOrigin, Settings};
use loopkeeper_core::trust::TrustItem;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view as view;
use serde::Serialize;

use crate::out::Ui;
use crate::render::{BOLD, DIM, Glyphs, padded, table};
use loopkeeper_lint::TaskLints;
use loopkeeper_operations::agents::AgentSelection;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::{self as operations, start};
use loopkeeper_system::git::branch::BranchStep;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::trust::TrustStore;

const NAME_CELLS: usize = 10;

pub(super) struct DryRun<'a> {
    pub(super) work: &'a ResolvedTask,
    pub(super) roster: &'a AgentSelection,
    pub(super) items: &'a [TrustItem],
    pub(super) state: &'a StateDir,
}

/// Results of the plan: the settings with the preset's numbers, and the commands that are not trusted yet.
struct DryRunPreview {
    settings: Settings,
    preset: PresetSelection,
    rows: Vec<SettingRow>,
    unknown: Vec<TrustItem>,
}

/// An effective setting and its origin.
#[derive(Debug, Serialize)]
struct SettingRow {
    key: String,
    value: String,
    origin: String,
    #[serde(skip)]
    is_default: bool,
}

impl DryRunPreview {
    fn of(plan: &DryRun<'_>) -> Self {
        let DryRun { work, items, state, .. } = plan;
        let mut settings = Settings::clone(&work.settings);
        let workspace = state.known_workspace(&work.root);
        let project = operations::project_profile::project_facts(workspace.as_ref(), work);
        let preset = preset::apply_preset(&mut settings, &project);
        let row = |row: &EffectiveSetting| {
            let by_preset = preset::value(&settings, &row.key);
            let origin = preset::origin(&settings, &project, &row.key);
            SettingRow {
                key: row.key.clone(),
                value: by_preset.map_or_else(|| sanitize::line(&row.value), |it| it.to_string()),
                is_default: origin.is_none() && row.origin == SettingOrigin::Default,
                origin: sanitize::line(&origin.unwrap_or_else(|| row.origin.to_string())),
            }
        };
        let rows = work.resolved.effective().iter().map(row).collect();
        let unknown = TrustStore::open(state).untrusted_items(&work.root, items);
        let (_, unknown) = operations::trust::split_typed(work, unknown);
        Self { settings, preset, rows, unknown }
    }
}

/// The branch that the loop would work on; `None`: the current one.
fn branch(work: &ResolvedTask) -> Option<String> {
    let (name, step) = match start::planned_branch(work) {
        Ok(found) => found?,
        Err(failure) => return Some(failure.to_string()),
    };
    Some(match step {
        BranchStep::Nothing => tr!("{name}: not made, as there is no git repository", name),
        BranchStep::CheckedOut => tr!("{name}, checked out", name),
        BranchStep::Make => tr!("{name}, will be made from HEAD", name),
        BranchStep::CheckOut => tr!("{name}, will be checked out", name),
    })
}

/// The progress of the plan, and its next items.
fn stories(work: &ResolvedTask, fact: &impl Fn(&mut Ui, &str, &str), out: &mut Ui) {
    const MAX: usize = 5;
    let plan = &work.task.plan;
    if plan.is_empty() {
        return;
    }
    let open = prompt::open_items(plan);
    fact(
        out,
        tr!("Plan"),
        &tr!("{done} of {total} done", done = plan.len() - open.len(), total = plan.len()),
    );
    for item in open.iter().take(MAX) {
        let optional = if item.blocking { "" } else { tr!(" (optional)") };
        out.line(format_args!(
            "  {}",
            tr!("open: {item}{optional}", item = sanitize::line(&prompt::plan_item(item)), optional)
        ));
    }
    if open.len() > MAX {
        out.line("  ".to_owned() + &tr!("and {more} more", more = open.len() - MAX));
    }
}

pub(super) fn show(plan: &DryRun<'_>, as_json: bool, out: &mut Ui) {
    let preview = DryRunPreview::of(plan);
    if as_json {
        json::show(plan, &preview, out);
    } else {
        show_text(plan, &preview, out);
    }
}

/// The settings with their places; defaults have none.
fn show_settings(heading: &str, rows: &[&SettingRow], out: &mut Ui) {
    if rows.is_empty() {
        return;
    }
    out.line("");
    out.line(format_args!("{BOLD}{heading}{BOLD:#}"));
    let width = rows.iter().map(|it| it.key.len() + it.value.chars().count()).max().unwrap_or(0).min(60);
    for row in rows {
        let text = format!("{} = {}", row.key, row.value);
        if row.is_default {
            out.line(format_args!("  {text}"));
        } else {
            out.line(format_args!("  {text:<width$}  {DIM}{}{DIM:#}", row.origin, width = width + 3));
        }
    }
}

fn show_text(plan: &DryRun<'_>, preview: &DryRunPreview, out: &mut Ui) {
    let DryRun { work, roster, items, .. } = plan;
    let AgentSelection { agent, fallbacks, judge, .. } = roster;
    let fact = |out: &mut Ui, name: &str, value: &str| {
        out.line(format_args!("{BOLD}{}{BOLD:#}{value}", padded(name, NAME_CELLS)));
    };
    fact(out, tr!("Task"), &sanitize::line(&work.id.0));
    fact(out, tr!("Root"), &sanitize::line(&work.root.to_string_lossy()));
    fact(out, tr!("Agent"), &sanitize::line(&agent.name));
    for other in fallbacks {
        fact(out, tr!("Then"), &sanitize::line(&other.name));
    }
    if let Some(judge) = judge {
        fact(out, tr!("Judge"), &sanitize::line(&judge.name));
    }
    for lack in roster.missing_capabilities(work.settings.mode) {
        fact(out, tr!("Note"), &sanitize::line(&lack));
    }
    fact(out, tr!("Breaker"), &tr!("preset {because}", because = sanitize::line(&preview.preset.because)));
    if let Some(branch) = branch(work) {
        fact(out, tr!("Branch"), &sanitize::line(&branch));
    }
    stories(work, &fact, out);
    let criteria = view::criteria_without_loop(&work.task.criteria, &[]);
    fact(out, tr!("Criteria"), &criteria.total.to_string());
    out.write(&table::criteria(&criteria, Glyphs::of_environment()));
    if !work.task.criteria.is_empty() {
        fact(out, tr!("Grade"), &TaskLints::of(&work.task, &work.documents).grade.sentence());
    }
    let (defaults, given): (Vec<_>, Vec<_>) = preview.rows.iter().partition(|it| it.is_default);
    show_settings(tr!("Settings"), &given, out);
    show_settings(tr!("Defaults"), &defaults, out);
    let unknown = &preview.unknown;
    out.line("");
    out.line(format_args!("{BOLD}{}{BOLD:#}", tr!("Commands")));
    out.write(&operations::trust::page(&work.root, items, unknown).text(&work.title()));
    match unknown.len() as u64 {
        0 => out.line(tr!("Everything is trusted. Nothing was started.")),
        count => out.line(tr!(
            "{commands} not trusted yet. Nothing was started.",
            commands = words::counted(count, "command")
        )),
    }
}
