//! Reloads the task's documents. Read-only; a missing document is replaced by the copy taken at the start of the loop,
//! so that no loop runs without its task.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::{LoopState, Phase, TaskDocuments};
use loopkeeper_core::exit_condition;
use loopkeeper_core::journal::LoopSpec;
use loopkeeper_core::trust::{TrustItem, TrustSubject};
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_task::{CHECK_ARGUMENT, Task, TaskDocument, parse_task};
use loopkeeper_text::{sanitize, tr};

use super::checks::files;
use super::loop_context::LoopContext;
use super::parsed_task::DocumentHashes;
use super::{memory_files, template};
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_system::task_files::{self, DiscoveredTask};
use loopkeeper_system::trust::TrustStore;
use loopkeeper_system::trust::agent_files::find_agent_files;

pub(super) fn read(context: &LoopContext, state: &LoopState) -> TaskDocuments {
    let spec = &state.spec;
    let found = discover(spec);
    let ReadTask { task, sums, unreadable } = read_current(context, spec, found.as_ref());
    if state.phase == Phase::Checking {
        return TaskDocuments {
            // What it mentions is compared with what the agent changed.
            prompt: task.prompt,
            unreadable,
            context: task.context.into_iter().map(|it| it.text).collect(),
            criteria: task.criteria,
            plan: task.plan,
            sums,
            matching: matching_globs(spec),
            ..TaskDocuments::default()
        };
    }
    // Read right before the agent starts: they define its prompt and whether it may start.
    let trust = TrustStore::open(&context.state);
    let typed = spec.inline_prompt.is_some();
    TaskDocuments {
        untrusted: if typed { Vec::new() } else { untrusted_criteria(&trust, spec, &task) },
        without_trust: [revoked_commands(context, &trust, state), untrusted_agent_files(&trust, spec)]
            .concat(),
        prompt: task.prompt,
        unreadable,
        context: task.context.into_iter().map(|it| it.text).collect(),
        criteria: task.criteria,
        plan: task.plan,
        sums,
        matching: Vec::new(),
        notes: memory_files::read(spec, found.as_ref()),
        template: template::read(context, state),
    }
}

/// The globs in `exit.when` that match files of the tree.
fn matching_globs(spec: &LoopSpec) -> Vec<String> {
    let condition = spec.settings.exit.when.as_deref().and_then(|it| exit_condition::parse(it).ok());
    let Some(condition) = condition else { return Vec::new() };
    let root = Path::new(&spec.root);
    condition.globs().into_iter().filter(|glob| files::any_match(root, glob)).map(str::to_owned).collect()
}

/// Criteria with commands that are not trusted. Commands of the start were confirmed then.
fn untrusted_criteria(trust: &TrustStore, spec: &LoopSpec, task: &Task) -> Vec<CriterionId> {
    // A task may have ten thousand criteria.
    let known: HashSet<&CriterionId> = spec.criteria.iter().map(|it| &it.id).collect();
    let needs_trust = |it: &Criterion| {
        let items = TrustItem::from_checks(std::slice::from_ref(it), |_| None);
        !trust.untrusted_items(Path::new(&spec.root), &items).is_empty()
    };
    task.criteria
        .iter()
        .filter(|it| !known.contains(&it.id) && needs_trust(it))
        .map(|it| it.id.clone())
        .collect()
}

/// Commands of the start whose trust was revoked since: an iteration without them would be charged for nothing.
fn revoked_commands(context: &LoopContext, trust: &TrustStore, state: &LoopState) -> Vec<String> {
    let spec = &state.spec;
    let root = Path::new(&spec.root);
    let is_own_session = spec.settings.mode == LoopMode::Attach;
    let agent = (!is_own_session).then(|| context.runtime.agent(&spec.agent.name));
    let agent = agent.map(|it| TrustItem::from_agent(&it));
    let checks = match spec.inline_prompt {
        Some(_) => Vec::new(),
        None => TrustItem::from_checks(&state.pinned_criteria(), |_| None),
    };
    trust
        .untrusted_items(root, &agent.into_iter().chain(checks).collect::<Vec<_>>())
        .iter()
        .map(name)
        .collect()
}

/// Files that make the agent run programs, changed since the user trusted them.
fn untrusted_agent_files(trust: &TrustStore, spec: &LoopSpec) -> Vec<String> {
    let root = Path::new(&spec.root);
    if spec.settings.mode == LoopMode::Attach && spec.judge.is_none() {
        // The session belongs to the user and asks for trust itself.
        return Vec::new();
    }
    match find_agent_files(root) {
        Ok(found) => trust.untrusted_items(root, &found).iter().map(name).collect(),
        // A file that cannot be read in full cannot be trusted.
        Err(error) => vec![sanitize::line(&error.to_string())],
    }
}

fn name(item: &TrustItem) -> String {
    match &item.runs {
        TrustSubject::Check { command } => sanitize::visible(command),
        TrustSubject::Request { url } => sanitize::visible(url),
        TrustSubject::AgentFile { path, .. } => sanitize::visible(&String::from_utf8_lossy(path)),
        TrustSubject::Agent { name, .. } => {
            tr!("the command of the agent `{name}`", name = sanitize::line(name))
        }
        other @ (TrustSubject::Settings { .. }
        | TrustSubject::Limit { .. }
        | TrustSubject::Server { .. }
        | TrustSubject::Hook { .. }) => other.kind().to_owned(),
    }
}

/// The files of the task as they are now. `None`: the prompt was given on the command line.
fn discover(spec: &LoopSpec) -> Option<DiscoveredTask> {
    spec.inline_prompt.is_none().then(|| task_files::task_at(Path::new(&spec.root), &spec.task.0))
}

/// The task as it is now, or as it was at the start.
#[derive(Default)]
struct ReadTask {
    task: Task,
    /// The hash of each document; none of the copy.
    sums: DocumentHashes,
    /// Why there is no prompt.
    unreadable: Option<String>,
}

fn read_current(context: &LoopContext, spec: &LoopSpec, found: Option<&DiscoveredTask>) -> ReadTask {
    let Some(found) = found else {
        let prompt = spec.inline_prompt.clone().unwrap_or_default();
        let (criteria, plan) = (spec.criteria.clone(), spec.plan.clone());
        let task = Task { prompt, criteria, plan, ..Task::default() };
        return ReadTask { task, ..ReadTask::default() };
    };
    let reloaded = context.task.borrow_mut().reload(Path::new(&spec.root), found);
    match reloaded {
        Ok((task, sums)) => {
            let mut task = Arc::unwrap_or_clone(task);
            let known = |it: &Criterion| task.criteria.iter().any(|written| written.id == it.id);
            let typed = spec.criteria.iter().filter(|it| it.place.file == CHECK_ARGUMENT && !known(it));
            let typed: Vec<Criterion> = typed.cloned().collect();
            // Criteria given on the command line are in no document.
            task.criteria.extend(typed);
            ReadTask { task, sums, unreadable: None }
        }
        Err(error) => {
            tracing::warn!("{error}; the copy made at the start is used");
            read_original(&context.dir, spec, &error.to_string())
        }
    }
}

/// The prompt as it was at the start, with the criteria and the plan of that time. `why` the documents cannot be read.
fn read_original(dir: &LoopDir, spec: &LoopSpec, why: &str) -> ReadTask {
    let (criteria, plan) = (spec.criteria.clone(), spec.plan.clone());
    match std::fs::read_to_string(task_copy(dir)) {
        Ok(text) => {
            let task = parse_task(&[TaskDocument { path: spec.task.0.clone(), text }]);
            ReadTask { task: Task { criteria, plan, ..task }, ..ReadTask::default() }
        }
        Err(error) => {
            let why = sanitize::line(why);
            let fact = tr!("{why}, and the copy made at the start cannot be read: {error}", why, error);
            let task = Task { criteria, plan, ..Task::default() };
            ReadTask { task, unreadable: Some(fact), ..ReadTask::default() }
        }
    }
}

/// Path of the copy of the prompt document that is made at the start of the loop.
pub(super) fn task_copy(dir: &LoopDir) -> PathBuf {
    dir.path().join("task.md")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use loopkeeper_core::journal::Record;
    use loopkeeper_system::clock;
    use loopkeeper_system::journal_file;
    use loopkeeper_system::state_dir::StateDir;

    use super::{read_original, task_copy};

    const JOURNAL: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/journals/a-plan-one-box-at-a-time.jsonl");

    #[test]
    fn a_task_of_which_nothing_can_be_read_has_a_reason_instead_of_a_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        fs::create_dir(&root).unwrap();
        let store = StateDir::at(&folder.path().join("state")).unwrap();
        let dir = store.workspace(&root).unwrap().new_loop(&store, clock::now()).unwrap();
        let started = journal_file::read(Path::new(JOURNAL)).unwrap().entries.remove(0);
        let Record::LoopStarted { spec, .. } = started.record else { panic!("{started:?}") };

        fs::write(task_copy(&dir), "# Go\n").unwrap();
        let copy = read_original(&dir, &spec, "PROMPT.md is missing");
        assert_eq!((copy.task.prompt.trim(), copy.unreadable), ("# Go", None));

        fs::remove_file(task_copy(&dir)).unwrap();
        let nothing = read_original(&dir, &spec, "PROMPT.md is missing");
        assert_eq!((nothing.task.prompt.as_str(), &nothing.task.plan), ("", &spec.plan));
        let why = nothing.unreadable.unwrap();
        assert!(
            why.starts_with("PROMPT.md is missing, and the copy made at the start cannot be read: "),
            "{why}"
        );
    }
}
