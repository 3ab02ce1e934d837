//! The loop's branch, an agent that leaves it, and the commits that loopkeeper makes.

use crate::decide::branch_tracking;
use crate::decide::sim::{Sim, Turn, criterion, item, spec};
use crate::journal::{LoopSpec, OutcomeKind, Record, SnapshotWhen};
use crate::settings::{CommitPolicy, OnRegression};
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Check;

fn committing() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test"), criterion("lint is clean", "make lint")]);
    spec.settings.git.commit = CommitPolicy::Server;
    spec
}

fn on(branch: &'static str, spec: LoopSpec, start: &'static str, turns: Vec<Turn>) -> Sim {
    let mut sim = Sim::new(spec, start, turns);
    sim.branch = Some(branch);
    sim
}

fn subjects(sim: &Sim) -> Vec<&str> {
    sim.commits.iter().map(|it| it.subject.as_str()).collect()
}

/// For each commit, the pairs of trees that enclose its changes.
fn spans(sim: &Sim) -> Vec<Vec<(&str, &str)>> {
    let plans = sim.commits.iter();
    plans.map(|it| it.spans.iter().map(|it| (it.from.as_str(), it.to.as_str())).collect()).collect()
}

#[test]
fn each_iteration_that_changed_something_is_one_commit() {
    let sim = on(
        "main",
        committing(),
        "ff",
        vec![Turn::new("ff"), Turn::idle("ff"), Turn::new("pf"), Turn::new("pp")],
    )
    .run();
    assert_eq!(
        subjects(&sim),
        ["ralph: iteration 1 of PROMPT.md", "feat: tests pass", "feat: lint is clean"]
    );
    let iterations: Vec<u32> = sim.commits.iter().map(|it| it.iteration).collect();
    assert_eq!(iterations, [1, 3, 4]);
    assert!(sim.commits.iter().all(|it| it.spans.len() == 1 && it.branch.as_deref() == Some("main")));
    assert!(sim.commits[0].mark.ends_with("/1"), "{}", sim.commits[0].mark);
    assert_eq!(sim.state.outcome().map(|it| it.kind), Some(OutcomeKind::Completed));
    assert_eq!(sim.state.history[3].commits, ["feat: lint is clean"]);
    let committed = sim.entries.iter().rposition(|it| matches!(it.record, Record::Committed { .. }));
    let ended = sim.entries.iter().rposition(|it| matches!(it.record, Record::Ended { .. }));
    assert!(committed < ended, "the last iteration is committed before the loop ends");
}

#[test]
fn a_commit_is_named_after_the_story_that_was_done() {
    let story = |id: &str, done: bool| {
        let mut item = PlanItem { id: id.to_owned(), title: format!("Title {id}"), done, ..item(id) };
        item.place.file = "prd.json".to_owned();
        item
    };
    let mut spec = committing();
    spec.plan = vec![story("US-1", false), story("US-2", false), item("box")];
    let plan = |first: bool, rest: bool| {
        vec![story("US-1", first), story("US-2", rest), PlanItem { done: rest, ..item("box") }]
    };
    let turns = vec![
        Turn { plan: Some(plan(true, false)), ..Turn::new("ff") },
        Turn { plan: Some(plan(true, true)), ..Turn::new("pp") },
    ];
    let sim = on("main", spec, "ff", turns).run();
    assert_eq!(subjects(&sim), ["feat: US-1 - Title US-1", "feat: US-2 - Title US-2 and 1 more"]);
}

#[test]
fn uncommitted_changes_join_the_next_commit() {
    let mut sim = on("main", committing(), "ff", vec![Turn::new("ff"), Turn::new("ff"), Turn::new("pp")]);
    sim.no_commit = Some("another git process holds index.lock");
    while sim.prompts.len() < 2 {
        sim.step();
    }
    sim.no_commit = None;
    sim.play();
    let spans = spans(&sim);
    assert_eq!(sim.commits.len(), 3);
    assert_eq!(spans[1].first().map(|it| it.0), spans[0].first().map(|it| it.0), "{spans:?}");
    assert_eq!(spans[2].len(), 1);
    assert_eq!(spans[2][0].0, spans[1].last().unwrap().1, "what is committed is not committed again");
}

#[test]
fn user_changes_between_iterations_are_not_committed() {
    let mut sim = on("main", committing(), "ff", vec![Turn::new("ff"), Turn::new("pp")]);
    sim.no_commit = Some("no author");
    sim.play_iterations(1);
    sim.edited("ff");
    sim.play();
    let spans = spans(&sim);
    assert_eq!(spans[1].len(), 2, "{spans:?}");
    assert_ne!(spans[1][0].1, spans[1][1].0);
}

#[test]
fn reverted_changes_are_never_committed() {
    let mut spec = committing();
    spec.settings.git.on_regression = OnRegression::Rollback;
    let sim = on("main", spec, "pf", vec![Turn::new("fp"), Turn::new("pp")]).run();
    let iterations: Vec<u32> = sim.commits.iter().map(|it| it.iteration).collect();
    assert_eq!(iterations, [2]);
    assert_eq!(spans(&sim)[0].len(), 1);
}

#[test]
fn a_commit_without_a_record_is_requested_again_with_its_mark() {
    let mut sim = on("main", committing(), "ff", vec![Turn::new("ff"), Turn::new("pp")]);
    sim.play_iterations(1);
    sim.crash("boot-1");
    sim.play();
    let marks: Vec<&str> = sim.commits.iter().filter_map(|it| it.mark.rsplit('/').next()).collect();
    assert_eq!(marks, ["1", "2"], "the same mark, by which it is found");
}

#[test]
fn clean_is_judged_again_once_the_work_is_committed() {
    let mut spec = committing();
    spec.criteria[1].check = Some(Check::Clean);
    let rounds = |sim: &Sim| {
        sim.entries
            .iter()
            .filter(|it| matches!(it.record, Record::ChecksDone { iteration: None, .. }))
            .count()
    };
    let sim = on("main", spec.clone(), "fp", vec![Turn::new("pf"), Turn::new("pp")]).run();
    assert_eq!(rounds(&sim), 1);
    let sim = on("main", spec, "fp", vec![Turn::new("pp")]).run();
    assert_eq!(rounds(&sim), 0);
}

#[test]
fn commits_are_made_only_if_configured() {
    for commit in [CommitPolicy::Agent, CommitPolicy::Never] {
        let mut spec = committing();
        spec.settings.git.commit = commit;
        let sim = on("main", spec, "ff", vec![Turn::new("pp")]).run();
        assert!(sim.commits.is_empty());
        assert!(!sim.prompts[0].contains("loopkeeper commits what you changed"));
    }
    let sim = on("main", committing(), "ff", vec![Turn::new("pp")]).run();
    assert!(sim.prompts[0].contains("loopkeeper commits what you changed"), "{}", sim.prompts[0]);
}

#[test]
fn an_agent_that_leaves_the_branch_is_warned_until_it_returns() {
    let turns = vec![
        Turn { switches: Some("other"), ..Turn::new("ff") },
        Turn { switches: Some(""), ..Turn::new("ff") },
        Turn { switches: Some("main"), ..Turn::new("ff") },
        Turn::new("pp"),
    ];
    let sim = on("main", committing(), "ff", turns).run();
    let is_warned = |n: usize| sim.prompts[n].contains("## Not on its branch");
    assert_eq!((is_warned(0), is_warned(1), is_warned(2), is_warned(3)), (false, true, true, false));
    assert!(
        sim.prompts[1].contains("HEAD is on `other`; the work of this loop belongs on the branch `main`")
    );
    assert!(sim.prompts[2].contains("HEAD is on no branch (detached)"));
    let has_note: Vec<bool> =
        sim.state.history.iter().map(|it| it.sentence.contains("left the branch")).collect();
    assert_eq!(has_note, [true, false, false, false]);
    assert!(sim.state.history[0].sentence.ends_with("; it left the branch `main`: HEAD is on `other`"));
}

#[test]
fn a_removed_repository_is_not_reported_as_another_branch() {
    let mut sim = on(
        "main",
        spec(vec![criterion("tests pass", "make test")]),
        "f",
        vec![Turn::new("f"), Turn::new("f")],
    );
    sim.play_iterations(1);
    let mut state = sim.state.clone();
    branch_tracking::record_snapshot_head(&mut state, SnapshotWhen::After, None);
    let expect =
        "git finds no commit any more: `.git` was removed or damaged, or HEAD is on a branch without one";
    assert_eq!(branch_tracking::sentence(&state).as_deref(), Some(expect));
    assert_eq!(branch_tracking::summary_clause(&state).as_deref(), Some(expect));
}

#[test]
fn the_loop_follows_the_users_branch_switch() {
    let mut sim = on(
        "main",
        spec(vec![criterion("tests pass", "make test")]),
        "f",
        vec![Turn::new("f"), Turn::new("p")],
    );
    sim.play_iterations(1);
    sim.branch = Some("mine");
    sim.play();
    assert!(!sim.prompts[1].contains("Not on its branch"));
    assert_eq!(
        (sim.state.git.branch.home.as_deref(), branch_tracking::sentence(&sim.state)),
        (Some("mine"), None)
    );
}

#[test]
fn without_a_repository_or_branch_none_is_created() {
    let turns = || vec![Turn { switches: Some("new"), ..Turn::new("f") }, Turn::new("p")];
    let one = || spec(vec![criterion("tests pass", "make test")]);
    // A repository that the agent makes, and HEAD that was on no branch.
    for start in [None, Some("")] {
        let mut sim = Sim::new(one(), "f", turns());
        sim.branch = start;
        sim.play();
        assert!(!sim.prompts[1].contains("Not on its branch"), "{start:?}");
        assert_eq!(sim.state.git.branch.home.as_deref(), Some("new"));
    }
}

#[test]
fn the_branch_is_taken_before_anything_else_and_once() {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.branch = Some("ralph/x".to_owned());
    let mut sim = on("ralph/x", spec, "f", vec![Turn::new("p")]);
    sim.crash("boot-1");
    sim.play();
    let kinds: Vec<bool> =
        sim.entries.iter().map(|it| matches!(it.record, Record::BranchTaken { .. })).collect();
    assert_eq!(
        kinds.iter().position(|it| *it),
        Some(2),
        "after the start and the second keeper's first record"
    );
    assert_eq!(kinds.iter().filter(|it| **it).count(), 1);
    sim.crash("boot-2");
    assert_eq!(sim.state.git.branch.home.as_deref(), Some("ralph/x"));
}
