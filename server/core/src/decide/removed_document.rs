//! Names a task document that the agent removed.

use crate::loop_state::{LoopState, TaskDocuments};
use loopkeeper_text::{sanitize, tr};

/// For the summary of an iteration after which the task's document cannot be read: loops continue with its copy.
pub(super) fn removal_clause(
    state: &LoopState,
    changed: &[String],
    documents: &TaskDocuments,
) -> Option<String> {
    let task = &state.spec.task.0;
    let is_removed =
        state.spec.inline_prompt.is_none() && documents.sums.is_empty() && changed.contains(task);
    is_removed.then(|| tr!("{path} was removed: the copy of the start is used", path = sanitize::line(task)))
}

#[cfg(test)]
mod tests {
    use super::removal_clause;
    use crate::decide::sim::{Sim, criterion, spec};
    use crate::loop_state::TaskDocuments;

    #[test]
    fn a_removed_task_document_is_named() {
        let sim = Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", Vec::new());
        let task = sim.state.spec.task.0.clone();
        let changed = [task.clone(), "src/a.rs".to_owned()];
        let gone = TaskDocuments::default();
        let expect = format!("{task} was removed: the copy of the start is used");
        assert_eq!(removal_clause(&sim.state, &changed, &gone), Some(expect));
        assert_eq!(removal_clause(&sim.state, &changed[1..], &gone), None);
        let sums = [(task, "0".to_owned())].into();
        assert_eq!(removal_clause(&sim.state, &changed, &TaskDocuments { sums, ..gone }), None);
    }
}
