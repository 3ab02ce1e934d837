//! Turns a task into a loop's folder that a keeper can take over. Starts nothing.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use loopkeeper_agent::LoopMode;
use loopkeeper_core::journal::{BreakerState, EarlierTask, PauseReason};
use loopkeeper_core::settings::preset;
use loopkeeper_text::message::Message;
use loopkeeper_text::{branch, tr};
use loopkeeper_view::{DisplayPhase, DisplayState, LoopStatus};

use super::agents::AgentSelection;
use super::failure::Failure;
use super::installed;
use super::loops::LoopView;
use super::project_profile;
use super::resolved_task::ResolvedTask;
use super::unaccepted_changes::find_unaccepted;
use loopkeeper_keeper::launch;
use loopkeeper_system::git;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::lock::{LockError, TreeHolder};
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Everything that is decided before the loop begins.
pub struct StartRequest<'a> {
    pub work: &'a ResolvedTask,
    pub roster: AgentSelection,
    /// Start although every criterion already holds.
    pub anyway: bool,
    /// The promise was given as an argument, which wins over the document.
    pub own_promise: bool,
    pub attended: Interactivity,
    /// The tasks before it in a queue.
    pub earlier: Vec<EarlierTask>,
}

/// Whether a user can answer a paused loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interactivity {
    Yes,
    No,
}

/// Refuses a work tree in which a loop runs, before any question. The keeper's lock decides.
pub fn ensure_tree_free(
    state: &StateDir,
    work: &ResolvedTask,
    on_wait: impl FnOnce(&TreeHolder),
) -> Result<(), Failure> {
    match settled_holder(state, &work.root, on_wait)? {
        Some((holder, path)) => Err(busy_error(state, holder, path)),
        None => Ok(()),
    }
}

/// Why nothing can start in a tree that `holder` holds. A loop that waits for the user is not called *running*: the
/// remedy is what it waits for.
pub fn busy_error(state: &StateDir, holder: TreeHolder, path: PathBuf) -> Failure {
    let loop_dir = holder.loop_id().and_then(|id| state.find(id).ok());
    let loop_view = loop_dir.and_then(|dir| LoopView::read(state, dir).ok().flatten());
    let failure = Failure::from(LockError::TreeBusy { holder, path });
    let Some((what, remedy)) = loop_view.and_then(|it| user_action(&it.status())) else { return failure };
    Failure { message: Message::new(what).with_hint(remedy), ..failure }
}

/// What a loop needs from the user, and how to provide it. `None` for one that continues without the user.
fn user_action(status: &LoopStatus) -> Option<(String, String)> {
    let LoopStatus { id, phase, .. } = status;
    match (phase, status.state) {
        (DisplayPhase::NeedsAnswer, _) => {
            let asked = status.question.as_ref().map_or("", |it| it.text.as_str());
            let hint =
                tr!("`loopkeeper answer {id} TEXT` lets it continue, `loopkeeper stop {id}` ends it.", id);
            Some((tr!("loop {id} waits here for your answer: {asked}", id, asked), hint))
        }
        (DisplayPhase::Paused, DisplayState::NeedsYou | DisplayState::Paused) => {
            let is_open = status.breaker.state == BreakerState::Open;
            let command = if is_open { "reset breaker" } else { "resume" };
            let hint = tr!(
                "`loopkeeper {command} {id}` lets it continue, `loopkeeper stop {id}` ends it.",
                command,
                id
            );
            let why = status.pause.as_ref().filter(|it| it.reason != PauseReason::User);
            let fact = match why.map(|it| it.message.fact()) {
                Some(why) => tr!("loop {id} is paused here: {why}", id, why),
                None => tr!("loop {id} is paused here", id),
            };
            Some((fact, hint))
        }
        _ => None,
    }
}

/// The holder of the tree at `root`, after waiting for holders that end without a command. `on_wait` is called once,
/// before a check round is awaited.
pub fn settled_holder(
    state: &StateDir,
    root: &Path,
    on_wait: impl FnOnce(&TreeHolder),
) -> Result<Option<(TreeHolder, PathBuf)>, Failure> {
    const POLL_INTERVAL: Duration = Duration::from_millis(10);
    let begun = Instant::now();
    let mut on_wait = Some(on_wait);
    loop {
        let holder = state.tree_holder(root)?;
        let Some((found, _)) = &holder else { return Ok(None) };
        if begun.elapsed() > release_timeout(state, found) {
            return Ok(holder);
        }
        if let TreeHolder::Checks { .. } = found
            && let Some(notify) = on_wait.take()
        {
            notify(found);
        }
        sleep(POLL_INTERVAL);
    }
}

/// Time in which the holder may release the tree without a command.
fn release_timeout(state: &StateDir, holder: &TreeHolder) -> Duration {
    /// The keeper of an ended loop still answers its clients.
    const ENDED_LOOP: Duration = Duration::from_secs(5);
    const CHECK_ROUND: Duration = Duration::from_secs(60);
    match holder {
        TreeHolder::Loop { id } if has_ended(state, id) => ENDED_LOOP,
        TreeHolder::Checks { .. } => CHECK_ROUND,
        TreeHolder::Loop { .. } | TreeHolder::Unknown => Duration::ZERO,
    }
}

/// Its end is recorded: a client that sees it may start the next loop.
fn has_ended(state: &StateDir, holder: &str) -> bool {
    let loop_view = state.find(holder).ok().and_then(|dir| LoopView::read(state, dir).ok().flatten());
    loop_view.is_some_and(|it| !it.is_open())
}

/// Creates the loop's folder.
pub fn prepare(state: &StateDir, start: &StartRequest<'_>) -> Result<LoopDir, Failure> {
    let StartRequest { work, .. } = start;
    if work.settings.mode == LoopMode::Attach {
        installed::ensure_installed(&work.root)?;
    }
    let workspace = state.workspace(&work.root)?;
    let mut spec = work.spec(start.roster.agent.clone(), start.roster.judge.clone());
    spec.fallbacks.clone_from(&start.roster.fallbacks);
    if start.own_promise {
        // The promise is already part of the settings.
        spec.promise.clone_from(&work.settings.exit.promise);
    }
    spec.preset = Some(preset::apply_preset(
        &mut spec.settings,
        &project_profile::project_facts(Some(&workspace), work),
    ));
    spec.anyway = start.anyway;
    spec.attended = start.attended == Interactivity::Yes;
    spec.unaccepted = find_unaccepted(&workspace, &work.id)?;
    spec.earlier.clone_from(&start.earlier);
    spec.branch = planned_branch(work)?.map(|(name, _)| name);
    Ok(launch::create_loop_dir(state, &workspace, spec, &work.task.prompt)?)
}

/// The branch that the loop works on. Whether it can be used is checked before anything is started; the keeper switches
/// to it.
pub fn planned_branch(work: &ResolvedTask) -> Result<Option<(String, git::branch::BranchStep)>, Failure> {
    let given = work.task.branch.as_deref();
    let Some(name) = branch::named(work.settings.git.branch.as_deref(), given, &work.id.0) else {
        return Ok(None);
    };
    let hint = if given.is_some() {
        tr!("`branchName` of the plan asks for it; nothing was changed or started.")
    } else {
        tr!("`git.branch` asks for it; nothing was changed or started.")
    };
    let step =
        git::branch::preview_switch(&work.root, &name).map_err(|error| Failure::ended(error).hint(hint))?;
    Ok(Some((name, step)))
}

/// Removes the folder of a loop that never began.
pub fn discard(dir: &LoopDir) {
    if !dir.journal().exists() {
        let _ = std::fs::remove_dir_all(dir.path());
    }
}
