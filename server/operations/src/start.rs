//! From a task to a loop's folder that a keeper can take. Starts nothing.

use std::thread::sleep;
use std::time::{Duration, Instant};

use loopkeeper_agent::LoopMode;
use loopkeeper_core::settings::preset;
use loopkeeper_text::branch;

use super::agents::AgentRoster;
use super::failure::Failure;
use super::installed;
use super::loops::LoopView;
use super::project_profile;
use super::resolved_task::ResolvedTask;
use loopkeeper_keeper::launch;
use loopkeeper_system::git;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::lock::LockError;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Everything that was decided before the loop begins.
pub struct StartRequest<'a> {
    pub work: &'a ResolvedTask,
    pub crew: AgentRoster,
    /// Go on although everything already holds.
    pub anyway: bool,
    /// The promise was given as an argument, which wins over the document.
    pub own_promise: bool,
    pub attended: Interactivity,
}

/// Whether somebody can answer a loop that rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interactivity {
    Yes,
    No,
}

/// Before anybody is asked anything; the keeper's lock decides.
pub fn ensure_tree_free(state: &StateDir, work: &ResolvedTask) -> Result<(), Failure> {
    /// A keeper whose loop is over has its last answers to give.
    const LAST_WORDS: Duration = Duration::from_secs(5);
    const LOOK: Duration = Duration::from_millis(10);
    let begun = Instant::now();
    while let Some((holder, path)) = state.tree_holder(&work.root)? {
        if begun.elapsed() > LAST_WORDS || !is_over(state, &holder) {
            return Err(LockError::TreeBusy { holder, path }.into());
        }
        sleep(LOOK);
    }
    Ok(())
}

/// Its end is on record: whoever sees that may start the next.
fn is_over(state: &StateDir, holder: &str) -> bool {
    let seen = state.find(holder).ok().and_then(|dir| LoopView::read(state, dir).ok().flatten());
    seen.is_some_and(|it| !it.is_open())
}

/// Makes the loop's folder.
pub fn prepare(state: &StateDir, start: &StartRequest<'_>) -> Result<LoopDir, Failure> {
    let StartRequest { work, .. } = start;
    if work.settings.mode == LoopMode::Attach {
        installed::ensure_installed(&work.root)?;
    }
    let workspace = state.workspace(&work.root)?;
    let mut spec = work.spec(start.crew.agent.clone(), start.crew.judge.clone());
    spec.others.clone_from(&start.crew.others);
    if start.own_promise {
        // It is part of the settings by now.
        spec.promise.clone_from(&work.settings.exit.promise);
    }
    spec.preset =
        Some(preset::apply_preset(&mut spec.settings, &project_profile::project(Some(&workspace), work)));
    spec.anyway = start.anyway;
    spec.attended = start.attended == Interactivity::Yes;
    spec.branch = branch(work)?.map(|(name, _)| name);
    Ok(launch::create_loop_dir(state, &workspace, spec, &work.task.prompt)?)
}

/// The branch that the loop works on. Whether it can be taken is known before anything is started; its keeper takes it.
pub fn branch(work: &ResolvedTask) -> Result<Option<(String, git::branch::BranchStep)>, Failure> {
    let given = work.task.branch.as_deref();
    let Some(name) = branch::named(work.settings.git.branch.as_deref(), given, &work.id.0) else {
        return Ok(None);
    };
    let from = if given.is_some() { "`branchName` of the plan" } else { "`git.branch`" };
    let step = git::branch::preview_switch(&work.root, &name).map_err(|error| {
        Failure::ended(error).hint(format_args!("{from} asks for it; nothing was changed or started."))
    })?;
    Ok(Some((name, step)))
}

/// A loop that never began leaves nothing behind.
pub fn discard(dir: &LoopDir) {
    if !dir.journal().exists() {
        let _ = std::fs::remove_dir_all(dir.path());
    }
}
