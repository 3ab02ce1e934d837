//! Provides the question before the first loop on a task for which a loop may be the wrong tool. It is asked once per
//! task and reason, and blocks nothing.

use loopkeeper_lint as lint;
use loopkeeper_text::tr;

use super::failure::Failure;
use super::resolved_task::{ResolvedTask, TaskKind};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::Workspace;

pub struct SuitabilityQuestion {
    workspace: Workspace,
    task: loopkeeper_task::TaskId,
    reason: lint::Unsuitability,
}

impl SuitabilityQuestion {
    /// `None`: the task suits a loop, or the user was asked already.
    pub fn of(state: &StateDir, work: &ResolvedTask) -> Result<Option<Self>, Failure> {
        // One that cannot start is refused anyway.
        let is_open = work.kind != TaskKind::Typed && work.refuse_unready().is_ok();
        let Some(reason) = lint::unsuitable(&work.task).filter(|_| is_open) else { return Ok(None) };
        let workspace = state.workspace(&work.root)?;
        let is_new = workspace.asked_before_start(&work.id) != reason.word();
        Ok(is_new.then(|| Self { workspace, task: work.id.clone(), reason }))
    }

    pub fn text(&self) -> String {
        let (fact, remedy) = self.reason.sentences();
        tr!("A loop may be the wrong tool: {fact}. {remedy}.", fact, remedy)
    }

    /// Records that the user was asked, regardless of the answer.
    pub fn record(&self) -> Result<(), Failure> {
        Ok(self.workspace.record_asked(&self.task, self.reason.word())?)
    }
}
