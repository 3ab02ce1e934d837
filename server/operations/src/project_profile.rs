//! Collects the facts of the project that select a breaker preset: size and typical iteration time. Facts that are
//! expensive to obtain are left out.

use std::fs;

use loopkeeper_core::settings::preset::ProjectProfile;

use super::follow::LoopTailer;
use super::resolved_task::ResolvedTask;
use loopkeeper_system::git;
use loopkeeper_system::state_dir::workspace::Workspace;

/// A longer journal is not read for this.
const MAX_JOURNAL_BYTES: u64 = 1024 * 1024;

/// The facts about the project that are available without waiting.
pub fn project_facts(workspace: Option<&Workspace>, work: &ResolvedTask) -> ProjectProfile {
    let tracked = git::count_tracked(&work.root);
    let share = |tests: u64, files: u64| (tests * 100).checked_div(files);
    let project = ProjectProfile {
        files: tracked.map(|it| it.files),
        tests: tracked.and_then(|it| share(it.tests, it.files)),
        iteration_ms: workspace.and_then(median_iteration_ms),
        ..ProjectProfile::default()
    };
    project.with_task(&work.task.title, &work.task.criteria)
}

/// The median over the iterations of the loop that was at work last.
fn median_iteration_ms(workspace: &Workspace) -> Option<u64> {
    let journals = workspace.loops().ok()?.into_iter().map(|it| it.journal());
    let last = journals.max_by_key(|it| fs::metadata(it).and_then(|it| it.modified()).ok())?;
    fs::metadata(&last).ok().filter(|it| it.len() <= MAX_JOURNAL_BYTES)?;
    let mut tailer = LoopTailer::new(&last);
    tailer.advance().ok()?;
    let mut durations: Vec<u64> =
        tailer.state()?.history.outlines().map(|it| it.figures.duration_ms).collect();
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use loopkeeper_system::clock;
    use loopkeeper_system::state_dir::StateDir;

    use super::median_iteration_ms;

    const JOURNAL: &str = include_str!("../../../tests/fixtures/journals/stopped-and-rolled-back.jsonl");

    /// Folders are listed in any order.
    #[test]
    fn the_usual_length_is_that_of_the_last_loop() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir(&root).unwrap();
        let store = StateDir::at(&folder.path().join("state")).unwrap();
        let workspace = store.workspace(&root).unwrap();
        assert_eq!(median_iteration_ms(&workspace), None);
        let without_iterations: String = JOURNAL.split_inclusive('\n').take(1).collect();
        let journals: Vec<_> = [JOURNAL, &without_iterations, &without_iterations]
            .into_iter()
            .map(|text| {
                let journal = workspace.new_loop(&store, clock::now()).unwrap().journal();
                fs::write(&journal, text).unwrap();
                journal
            })
            .collect();
        for (newest, journal) in journals.iter().enumerate() {
            let later = SystemTime::now() + Duration::from_secs(newest as u64 + 1);
            File::options().append(true).open(journal).unwrap().set_modified(later).unwrap();
            assert_eq!(median_iteration_ms(&workspace).is_some(), newest == 0, "{newest}");
        }
    }
}
