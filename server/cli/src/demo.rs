//! `demo`: runs the built-in agent in a small real project, one loop from failing checks to completion. Trusts only the
//! folder that it created itself.

use std::path::{Path, PathBuf};

use clap::ValueHint;

use super::exit::Exit;
use super::failure::{ExitResult, Failure};
use super::out::Ui;
use super::render::BOLD;
use super::run::foreground;
use super::show::{LoopFormat, LoopPrinter};
use super::trust::TrustConsent;
use super::{demo_project, trust};
use loopkeeper_keeper::launch;
use loopkeeper_operations as operations;
use loopkeeper_operations::agents::AgentSelection;
use loopkeeper_operations::failure::FailureKind;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_operations::resolved_task::ResolvedTask;
use loopkeeper_operations::restore::{self, RestoreSelection};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::tr;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Create the project in DIR and keep it, ready to be started again
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) keep: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    match &args.keep {
        Some(folder) => run_kept(folder, out),
        None => run_temporary(out),
    }
}

/// Removes the project and the state of its loop afterwards.
fn run_temporary(out: &mut Ui) -> ExitResult {
    let folder = TempDirGuard(std::env::temp_dir().join(format!("loopkeeper-demo-{}", uuid::Uuid::new_v4())));
    let project = folder.0.join("receipt");
    create_project(&project)?;
    let state = StateDir::at(&folder.0.join("state"))?;
    let (exit, _) = run_loop(&project, &state, out, false)?;
    out.line("");
    out.line(tr!("Everything was removed; `loopkeeper demo --keep DIR` keeps the project."));
    out.line(tr!("For your own project: `loopkeeper init`, then `loopkeeper run`."));
    Ok(exit)
}

/// Keeps the project and resets it to the start of the loop, so that the loop can be started from anywhere.
fn run_kept(project: &Path, out: &mut Ui) -> ExitResult {
    // First, because a project without its loop would be in the way of the next attempt.
    let state = StateDir::open()?;
    create_project(project)?;
    let (exit, dir) = run_loop(project, &state, out, true)?;
    // Recorded: editors would show what passed in the loop as regressed otherwise.
    if let Some(loop_view) = LoopView::read(&state, dir)? {
        let start = RestoreSelection::Iteration { number: 0, paths: Vec::new() };
        restore::restore(&state, &loop_view, &start)?;
    }
    out.line("");
    out.line(tr!("{project} is as it was before the loop.", project = project.display()));
    out.line(tr!(
        "`loopkeeper run` in there starts it again; `loopkeeper diff latest 1` shows what the agent did, and \
         `loopkeeper rollback latest --undo` restores it."
    ));
    Ok(exit)
}

/// Runs one loop to its end. `is_kept`: whether its state is kept.
fn run_loop(
    project: &Path,
    state: &StateDir,
    out: &mut Ui,
    is_kept: bool,
) -> Result<(Exit, LoopDir), Failure> {
    let work = ResolvedTask::find(Some(&project.to_string_lossy()), &[])?;
    let roster = AgentSelection::resolve(&work)?;
    trust::ensure_trusted(&work, &operations::trust::items(&work, &roster)?, state, TrustConsent::Given)?;
    out.line(tr!(
        "{task}: a small project in {folder}, half done.",
        task = format!("{BOLD}{}{BOLD:#}", work.title()),
        folder = project.display()
    ));
    out.line(tr!(
        "The built-in agent plays a short script; the checks are real. Nothing leaves this machine."
    ));
    out.line("");
    let workspace = state.workspace(&work.root)?;
    let dir =
        launch::create_loop_dir(state, &workspace, work.spec(roster.agent, roster.judge), &work.task.prompt)?;
    let printer = LoopPrinter::new(LoopFormat::Text, out);
    let printer = if is_kept { printer } else { printer.for_temporary_loop() };
    let (exit, _) = foreground::run_to_end(&dir, printer)?;
    Ok((exit, dir))
}

fn create_project(project: &Path) -> Result<(), Failure> {
    demo_project::create(project)
        .map_err(|error| Failure::from_message(FailureKind::Usage, error.to_message()))
}

/// Removes the folder on drop.
struct TempDirGuard(PathBuf);

impl Drop for TempDirGuard {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
