//! The workspace: its tasks, its configuration and their trust.

use super::{DoctorFinding, DoctorLevel, DoctorProblem, DoctorTopic};
use crate::sentences;
use loopkeeper_core::settings::SettingFinding;
use loopkeeper_text::tr;
use loopkeeper_text::words;

#[derive(Debug)]
pub struct WorkspaceFacts {
    pub root: String,
    pub is_repository: bool,
    /// Other work trees of the same repository below the root.
    pub work_trees: Vec<String>,
    pub config: Vec<SettingFinding>,
    /// `None`: not searched, because the configuration is unreadable.
    pub tasks: Option<Result<TasksFacts, DoctorProblem>>,
}

/// The tasks of the root.
#[derive(Debug, Default)]
pub struct TasksFacts {
    pub examined: Vec<TaskFacts>,
    /// Number of tasks that were not examined because there are too many.
    pub further: u64,
}

#[derive(Debug)]
pub struct TaskFacts {
    pub id: String,
    /// Number of untrusted commands.
    pub untrusted: u64,
    /// Why it cannot start as written.
    pub broken: Option<DoctorProblem>,
}

pub(super) fn examine_workspace(facts: &WorkspaceFacts) -> Vec<DoctorFinding> {
    let mut all = vec![repository_finding(facts)];
    all.extend(sentences::other_work_trees(&facts.work_trees).map(|it| finding(DoctorLevel::Good, it)));
    all.extend(facts.config.iter().map(|it| {
        let level = if it.is_blocking() { DoctorLevel::Bad } else { DoctorLevel::Note };
        finding(level, tr!("{name}: {fact}", name = it.origin, fact = it.message)).with_hint(it.hint.clone())
    }));
    match &facts.tasks {
        None => {}
        Some(Err(problem)) => all.push(DoctorFinding::from_problem(DoctorTopic::Workspace, problem)),
        Some(Ok(tasks)) if tasks.examined.is_empty() => {
            all.push(
                finding(DoctorLevel::Note, tr!("there is no task here"))
                    .with_hint(tr!("`loopkeeper init` writes a first one")),
            );
        }
        Some(Ok(tasks)) => {
            all.extend(tasks.examined.iter().map(task_finding));
            if tasks.further > 0 {
                let what =
                    tr!("{tasks} not looked at", tasks = words::counted(tasks.further, "further task"));
                all.push(
                    finding(DoctorLevel::Note, what)
                        .with_hint(tr!("`loopkeeper run TASK --dry-run` shows whether one can start")),
                );
            }
        }
    }
    all
}

fn finding(level: DoctorLevel, what: impl Into<String>) -> DoctorFinding {
    DoctorFinding::new(DoctorTopic::Workspace, level, what)
}

fn repository_finding(facts: &WorkspaceFacts) -> DoctorFinding {
    let root = &facts.root;
    if facts.is_repository {
        return finding(DoctorLevel::Good, tr!("{root} is a git repository", root));
    }
    finding(DoctorLevel::Note, tr!("{root} is not a git repository", root)).with_hint(tr!(
        "`git init`: loops can be rolled back without it, but not committed, and `clean` checks need it"
    ))
}

fn task_finding(task: &TaskFacts) -> DoctorFinding {
    let id = &task.id;
    if let Some(broken) = &task.broken {
        return DoctorFinding::from_problem(DoctorTopic::Workspace, broken);
    }
    if task.untrusted == 0 {
        return finding(DoctorLevel::Good, tr!("{id} can start: everything it runs is trusted", id));
    }
    let commands = words::counted(task.untrusted, "command");
    let what = if task.untrusted == 1 {
        tr!("{commands} of {id} is not trusted", commands, id)
    } else {
        tr!("{commands} of {id} are not trusted", commands, id)
    };
    finding(DoctorLevel::Note, what).with_hint(tr!("read and trust them: `loopkeeper trust {id}`", id))
}

#[cfg(test)]
mod tests {
    use super::{TaskFacts, TasksFacts, WorkspaceFacts, examine_workspace};
    use crate::doctor::{DoctorLevel, DoctorProblem, can_start};
    use loopkeeper_core::settings::{Layer, LayerKind, resolve};

    fn task(untrusted: u64, broken: Option<DoctorProblem>) -> TaskFacts {
        TaskFacts { id: "PROMPT.md".into(), untrusted, broken }
    }

    fn check(config: &str, tasks: Option<Result<TasksFacts, DoctorProblem>>, expect: &[(DoctorLevel, &str)]) {
        let layer = Layer { kind: LayerKind::Workspace, file: "loopkeeper.toml".into(), text: config.into() };
        let config = resolve(&[layer], &[]).findings().to_vec();
        let found = examine_workspace(&WorkspaceFacts {
            root: "/w".into(),
            is_repository: true,
            work_trees: Vec::new(),
            config,
            tasks,
        });
        assert_eq!(found.len(), expect.len() + 1, "{found:?}");
        for (finding, (level, what)) in found.iter().skip(1).zip(expect) {
            assert!(finding.level == *level && finding.what.contains(what), "{finding:?}");
            assert_eq!(finding.hint.is_some(), *level != DoctorLevel::Good, "{finding:?}");
        }
        assert_eq!(can_start(&found), expect.iter().all(|it| it.0 != DoctorLevel::Bad));
    }

    #[test]
    fn tasks_and_configuration_say_whether_a_loop_could_start() {
        let tasks = |examined: Vec<TaskFacts>| Some(Ok(TasksFacts { examined, further: 0 }));
        let problem = || DoctorProblem { what: "PROMPT.md:3: bad".into(), hint: "Correct it.".into() };
        check("", tasks(vec![]), &[(DoctorLevel::Note, "no task")]);
        check("", tasks(vec![task(0, None)]), &[(DoctorLevel::Good, "PROMPT.md can start")]);
        check("", tasks(vec![task(1, None)]), &[(DoctorLevel::Note, "1 command of PROMPT.md is not")]);
        check("", tasks(vec![task(3, None)]), &[(DoctorLevel::Note, "3 commands of PROMPT.md are not")]);
        check("", tasks(vec![task(3, Some(problem()))]), &[(DoctorLevel::Bad, "PROMPT.md:3: bad")]);
        let many = TasksFacts { examined: vec![task(0, None)], further: 3 };
        let facts = [
            (DoctorLevel::Good, "PROMPT.md can start"),
            (DoctorLevel::Note, "3 further tasks not looked at"),
        ];
        check("", Some(Ok(many)), &facts);
        check("", Some(Err(problem())), &[(DoctorLevel::Bad, "bad")]);
        check("limits.iteration = 3\n", None, &[(DoctorLevel::Bad, "loopkeeper.toml:1")]);
    }

    #[test]
    fn other_work_trees_are_named_once() {
        let check = |work_trees: &[&str], expect: &[&str]| {
            let work_trees = work_trees.iter().map(ToString::to_string).collect();
            let root = "/w".into();
            let facts =
                WorkspaceFacts { root, is_repository: true, work_trees, config: Vec::new(), tasks: None };
            let found: Vec<String> =
                examine_workspace(&facts).into_iter().skip(1).map(|it| it.what).collect();
            assert_eq!(found, expect);
        };
        check(&[], &[]);
        check(&["x"], &["another work tree of this repository is not part of this one: x"]);
        check(
            &["a", "b", "c", "d", "e", "f"],
            &["6 other work trees of this repository are not part of this one: a, b, c, d, e and 1 more"],
        );
    }
}
