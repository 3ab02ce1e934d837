//! `status`: lists loops and their state, and the tasks of the work tree.

mod tasks;

use loopkeeper_core::plugin_loop::{NAME, PluginLoop};
use loopkeeper_text::clauses;
use loopkeeper_text::message::Message;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::{self as view, DisplayState, LoopStatus, headline, sentences};
use serde::Serialize;

use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::render::{BOLD, DIM, Glyphs, progress, remedy, table};
use super::select::LoopArg;
use loopkeeper_operations::current_tree::CurrentTree;
use loopkeeper_operations::foreign::{self, PluginLoopFile};
use loopkeeper_operations::local_time::LocalZone;
use loopkeeper_operations::loops::{self, LoopListing, LoopView};
use loopkeeper_operations::tasks::TaskSummary;
use loopkeeper_system::clock;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::find::FindError;
use loopkeeper_system::work_trees::OtherWorkTrees;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// Print JSON for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct StatusReport {
    loops: Vec<LoopStatus>,
    /// The loop that Claude Code's plugin runs here.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign: Option<PluginLoop>,
    /// The tasks of this work tree; empty if one loop was requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<TaskSummary>,
    /// Loops of other folders, each named by its id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elsewhere: Vec<OtherLoop>,
}

#[derive(Debug, Serialize)]
struct OtherLoop {
    id: String,
    folder: String,
    state: DisplayState,
    sentence: String,
}

/// The loops of the work tree, or the one of this name, and those of other folders.
fn read_loops(
    name: Option<&str>,
    tree: Option<&CurrentTree>,
) -> Result<(Vec<LoopView>, Vec<OtherLoop>), Failure> {
    match (StateDir::open_existing()?, name) {
        (None, None) => Ok((Vec::new(), Vec::new())),
        (None, Some(_)) => Err(FindError::NoLoops.into()),
        (Some(store), Some(query)) => {
            Ok((vec![loops::find(&store, Some(query), failure::warn)?], Vec::new()))
        }
        (Some(store), None) => {
            let (mut here, mut others) = (LoopListing::default(), LoopListing::default());
            loops::for_each_newest_first(&store, failure::warn, |loop_view| {
                if loop_view.works_in(tree) {
                    here.add(loop_view, |it| it);
                } else {
                    others.add(loop_view, |it| other_loop(&it));
                }
            })?;
            Ok((here.in_order(), others.in_order()))
        }
    }
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let tree = CurrentTree::find();
    let (loop_views, elsewhere) = read_loops(args.which.name.as_deref(), tree.as_ref())?;
    let shown: Vec<_> = loop_views.iter().map(LoopView::status).collect();
    let foreign = args.which.name.is_none().then(foreign::find_current).flatten();
    let tasks = if args.which.name.is_none() { tasks::list_here() } else { Vec::new() };
    if args.json {
        out.json(&StatusReport { loops: shown, foreign: foreign.map(|it| it.state), tasks, elsewhere });
        return Ok(Exit::Done);
    }
    if let Some(foreign) = &foreign {
        print_plugin_loop(foreign, out);
    } else if shown.is_empty() && elsewhere.is_empty() {
        out.line(tr!("No loops. `loopkeeper run` starts one, `loopkeeper demo` shows one."));
    } else if shown.is_empty() {
        out.line(tr!("No loop in this work tree. `loopkeeper run` starts one."));
    }
    let (zone, glyphs, now) = (LocalZone::local(), Glyphs::of_environment(), clock::now().wall);
    for (index, (status, loop_view)) in shown.iter().zip(&loop_views).enumerate() {
        let whole = index == 0 || status.state != DisplayState::Done;
        let elsewhere = (!loop_view.works_in(tree.as_ref())).then(|| loop_view.folder());
        print_loop(status, elsewhere.as_deref(), (&zone, now), glyphs, out);
        if whole {
            out.write(&table::criteria(&status.criteria, glyphs));
            if let Some(groups) = status.groups_summary() {
                out.line("  ".to_owned() + &tr!("groups: {groups}", groups));
            }
        }
        for line in status.spawns.tree().filter(|_| whole) {
            out.line(format_args!("  {line}"));
        }
        if args.which.name.is_some() {
            for it in view::loop_details(status, Some(&loop_view.state), clock::now()) {
                out.line(format_args!("  {it}"));
            }
        } else {
            print_budget(status, loop_view, out);
        }
        print_problem(status, loop_view, out);
    }
    print_tree(args, &tasks, out);
    print_other_loops(&elsewhere, out);
    Ok(Exit::Done)
}

/// The most important details of a loop of several.
fn print_budget(status: &LoopStatus, loop_view: &LoopView, out: &mut Ui) {
    if let Some(preset) = status.breaker.preset.as_ref().filter(|_| status.state != DisplayState::Done) {
        out.line("  ".to_owned() + &tr!("breaker preset: {because}", because = preset.because));
    }
    if status.state != DisplayState::Done {
        out.line(format_args!(
            "  {DIM}{}{DIM:#}",
            view::budget(status, Some(&loop_view.state), clock::now())
        ));
    }
    // Warnings are printed below the headline of every loop.
    if let Some(forecast) = status.forecast.as_ref().filter(|_| status.warnings.is_empty()) {
        out.line(format_args!("  {forecast}"));
    }
}

/// The problem of a loop, and the remedy.
fn print_problem(status: &LoopStatus, loop_view: &LoopView, out: &mut Ui) {
    if let Some(damage) = &loop_view.damage {
        out.line(format_args!("  {}", damage.fact()));
    }
    if let Some(away) = &status.away {
        out.line(format_args!("  {away}"));
    }
    match loop_view.damage.as_ref().and_then(Message::hint) {
        Some(hint) => out.line(format_args!("  {hint}")),
        None => remedy::remedy_lines(status).iter().for_each(|it| out.line(format_args!("  {it}"))),
    }
}

fn other_loop(loop_view: &LoopView) -> OtherLoop {
    let status = loop_view.status();
    let (sentence, folder) = (headline(&status), loop_view.folder());
    OtherLoop { id: status.id, folder, state: status.state, sentence: sentence.to_string() }
}

/// Loops of other folders, one per line.
fn print_other_loops(elsewhere: &[OtherLoop], out: &mut Ui) {
    if !elsewhere.is_empty() {
        out.line(tr!("In other folders (name a loop by its id, as in `loopkeeper status ID`):"));
    }
    for OtherLoop { id, folder, sentence, .. } in elsewhere {
        out.line(format_args!(
            "  {BOLD}{id}{BOLD:#}  {sentence}  {DIM}{}{DIM:#}",
            tr!("in {folder}", folder)
        ));
    }
}

/// The tasks of this work tree, and the work trees that do not belong to it.
fn print_tree(args: &Args, tasks: &[TaskSummary], out: &mut Ui) {
    tasks::list(tasks, out);
    if args.which.name.is_none()
        && let Some(others) = other_work_trees()
    {
        out.line(format_args!("{DIM}{others}{DIM:#}"));
    }
}

/// Work trees of the same repository below the root, which loops here do not touch.
fn other_work_trees() -> Option<String> {
    let tree = CurrentTree::find()?;
    let others = sentences::other_work_trees(&OtherWorkTrees::new(tree.root()).paths())?;
    Some(words::capitalised(&others))
}

/// Prints a loop of another tool, and how to cancel or import it.
fn print_plugin_loop(found: &PluginLoopFile, out: &mut Ui) {
    let foreign = &found.state;
    let here = std::env::current_dir().unwrap_or_default();
    let file = found.path.strip_prefix(&here).unwrap_or(&found.path).to_string_lossy();
    let file = sanitize::visible(&file);
    out.line(format_args!(
        "{BOLD}{NAME}{BOLD:#}  {}",
        tr!("a loop of Claude Code's plugin, {progress}", progress = foreign.progress())
    ));
    let promise = foreign.promise.as_ref().map(|it| tr!("until <promise>{promise}</promise>", promise = it));
    let since = foreign.started_at.as_ref().map(|it| tr!("since {began}", began = it));
    let facts: Vec<String> = [promise, since].into_iter().flatten().collect();
    if !facts.is_empty() {
        out.line(format_args!("  {DIM}{}{DIM:#}", clauses::join_with_commas(facts)));
    }
    out.line(format_args!("  {}", foreign.prompt));
    out.line(
        "  ".to_owned()
            + &tr!(
                "`loopkeeper stop {NAME}` cancels it, `loopkeeper import {file}` continues it here.",
                NAME,
                file
            ),
    );
}

fn print_loop(
    status: &LoopStatus,
    elsewhere: Option<&str>,
    (zone, now): (&LocalZone, u64),
    glyphs: Glyphs,
    out: &mut Ui,
) {
    let dot = if glyphs == Glyphs::Unicode { '·' } else { '-' };
    let began = LocalZone::parse_millis(&status.started_at).map_or(String::new(), |it| zone.short(it, now));
    let mut head = headline(status);
    if let Some(until) = status.wait.as_ref().and_then(|it| LocalZone::parse_millis(&it.resumes_at)) {
        let until = progress::until(status, &zone.short(until, now));
        head = head.map_fact(|it| tr!("{text}, {until}", text = it, until));
    }
    out.line(format_args!("{BOLD}{}{BOLD:#}  {head}", status.id));
    let mut facts = vec![status.task.title.clone(), progress::agent(status), tr!("since {began}", began)];
    facts.extend(elsewhere.map(|it| tr!("in {folder}", folder = it)));
    facts.extend(status.branch.as_ref().map(|it| tr!("on {branch}", branch = it)));
    facts.retain(|it| !it.is_empty());
    facts.extend(status.spent.cost_micros.map(words::cost).or_else(|| progress::no_cost(status)));
    facts.extend(status.spawns.summary());
    facts.extend(status.keeper.pid.map(|pid| tr!("process {pid}", pid)));
    out.line(format_args!("  {DIM}{}{DIM:#}", facts.join(&format!(" {dot} "))));
    if !status.warnings.is_empty() {
        out.line(format_args!(
            "  {DIM}{}{DIM:#}",
            tr!("note: {warnings}", warnings = clauses::join_with_commas(status.warnings.iter().cloned()))
        ));
    }
}
