//! Loops on a separate branch, agents that leave it, and commits by loopkeeper.

use super::detached::{detached, end};
use super::recovery::kill;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::Scenario;

pub(super) const START: &str = "git init -q -b main; git config user.email a@b.c; git config user.name A; git add -A; git commit -qm start";
const DONE: &[&str] = &["It is there: `exists done`"];

#[test]
fn a_new_branch_keeps_the_users_changes() {
    let played = Scenario {
        files: &[("mine", "1\n")],
        before: &format!("{START}; echo 2 > mine"),
        settings: "git.branch = \"ralph/{task}\"",
        criteria: DONE,
        acts: &["git symbolic-ref --short HEAD > ../branch; touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    played.file("mine", "2\n").file("../branch", "ralph/prompt\n");
    let taken = played.all("branch-taken");
    assert_eq!(
        (taken.len(), &taken[0]["branch"], &taken[0]["from"]),
        (1, &"ralph/prompt".into(), &"main".into())
    );
    played.world.run(&["log"]).expect(0).out("works on the new branch ralph/prompt (before: main)");
    played.world.run(&["status"]).expect(0).out("on ralph/prompt");
}

#[test]
fn the_plans_branch_is_used_and_missing_git_is_reported() {
    let plan = r#"{"branchName": "ralph/shop", "userStories": [{"id": "US-1", "title": "Sell", "acceptanceCriteria": ["There: `exists done`"], "passes": false}]}"#;
    let ticks = "touch done; sed -i 's/false/true/' prd.json";
    let shop = |before: &str| {
        Scenario {
            files: &[("PROMPT.md", "# Shop\n\nMake it.\n"), ("prd.json", plan)],
            before,
            acts: &[ticks],
            ends: Verified(1, ""),
            ..Scenario::default()
        }
        .play()
    };
    assert_eq!(shop(START).all("branch-taken")[0]["branch"], "ralph/shop");
    let without = shop("");
    assert!(!without.world.has(".git"));
    without.world.run(&["log"]).expect(0).out("works on no separate branch: there is no git repository here");
}

#[test]
fn a_branch_that_would_cost_changes_is_refused_before_anything_runs() {
    let world = Scenario {
        files: &[("mine", "1\n")],
        before: &format!(
            "{START}; git checkout -q -b there; echo there > mine; git commit -qam there; git checkout -q main; echo mine > mine"
        ),
        settings: "git.branch = \"there\"",
        criteria: DONE,
        acts: &["touch done"],
        ..Scenario::default()
    }
    .world();
    world
        .run(&["run", "--trust"])
        .expect(1)
        .err("would be overwritten")
        .err("nothing was changed or started");
    world.run(&["status"]).expect(0).out("No loops");
    world.shell("test $(git symbolic-ref --short HEAD) = main; test $(cat mine) = mine");
}

#[test]
fn the_prompt_names_the_branch_that_the_agent_left() {
    let played = Scenario {
        before: START,
        criteria: DONE,
        acts: &[
            "touch a; git checkout -q -b other",
            "touch b; git checkout -q --detach",
            "git checkout -q main; touch done",
        ],
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, "HEAD is on `other`; the work of this loop belongs on the branch `main`");
    played.prompt_has(3, "HEAD is on no branch (detached)").prompt_lacks(1, "Not on its branch");
    let sentence = |n| played.record("iteration-ended", n)["sentence"].as_str().unwrap();
    assert!(sentence(1).ends_with("; it left the branch `main`: HEAD is on `other`"), "{}", sentence(1));
    assert!(!sentence(3).contains("left the branch"));
}

#[test]
fn each_iteration_commits_what_it_changed() {
    let played = Scenario {
        files: &[("mine", "1\n"), ("both", "1\n"), (".gitignore", "ignored\n")],
        before: &format!("{START}; echo 2 > mine; echo 2 > both; echo x > untracked; echo s > staged; git add staged; printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"),
        settings: "git.commit = \"server\"",
        criteria: &["A: `exists a`", "B: `exists b`"],
        acts: &["touch a ignored; echo 3 >> both", "touch b"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "- Do not commit: loopkeeper commits");
    played.world.shell(
        "git log --format=%s > ../subjects; git show --name-only --format= HEAD~1 > ../first; \
         git show --name-only --format= HEAD > ../second; git status --porcelain > ../status",
    );
    played.file("../subjects", "feat: B\nfeat: A\nstart\n");
    played.file("../first", "a\nboth\n").file("../second", "b\n");
    let status = std::fs::read_to_string(played.world.terminal.folder().join("status")).unwrap();
    for line in [" M mine\n", "A  staged\n", "?? untracked\n"] {
        assert!(status.contains(line), "{status}");
    }
    let commits = played.all("committed");
    assert_eq!((commits.len(), &commits[0]["subject"]), (2, &"feat: A".into()));
    played.world.run(&["log"]).expect(0).out(" feat: B");
    played
        .world
        .run(&["rollback", "--list"])
        .expect(0)
        .out("0  the start")
        .out("1 of 2 pass; now passes: A; commit ");
    played.prompt_has(2, "committed `feat: A`");
}

#[test]
fn a_failed_commit_is_reported_and_joins_the_next() {
    let played = Scenario {
        before: START,
        settings: "git.commit = \"server\"",
        criteria: &["A: `exists a`", "B: `exists b`"],
        acts: &["touch a .git/index.lock", "touch b; rm .git/index.lock"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("committed")[0]["note"], "another git process holds index.lock");
    played.world.run(&["log"]).expect(0).out("not committed: another git process holds index.lock");
    played.world.shell("git show --name-only --format= HEAD > ../files");
    played.file("../files", "a\nb\n");
}

#[test]
fn clean_holds_once_the_work_is_committed() {
    let played = Scenario {
        before: START,
        settings: "git.commit = \"server\"",
        criteria: &["It is there: `exists done`", "Tidy: `clean`"],
        acts: &["touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("committed").len(), 1);
}

#[test]
fn a_keeper_killed_before_its_commit_commits_once() {
    // Killed between the end of an agent and the record of its commit.
    for seen in ["agent-ended", "checks-done", "iteration-ended"] {
        let (world, id) = detached(&Scenario {
            before: START,
            settings: "git.commit = \"server\"\nlimits.between = \"1h\"",
            criteria: &["A: `exists a`", "B: `exists b`"],
            acts: &["touch a", "touch b"],
            ..Scenario::default()
        });
        world.until(seen, |it| it["type"] == seen && it["iteration"] == 1);
        kill(&world, "loopkeeper keeper ");
        world.run(&["resume", &id]).expect(0);
        world.until("the commit", |it| it["type"] == "committed");
        world.run(&["stop", &id]).expect(0);
        assert_eq!(end(&world).0, "stopped");
        world.shell(
            "test $(git log --format=%s | grep -c '^feat: A') = 1; test -z \"$(git status --porcelain)\"",
        );
    }
}

#[test]
fn pipes_in_place_of_git_files_do_not_block_a_loop() {
    for pipe in [".git/config", ".git/shallow", ".git/objects/info/alternates", ".git/HEAD", "included"] {
        let include = "git config include.path ../included;";
        Scenario {
            before: &format!("{START}; {include} mkdir -p .git/objects/info; rm -f {pipe}; mkfifo {pipe}"),
            criteria: DONE,
            acts: &["touch done"],
            ends: Verified(1, ""),
            ..Scenario::default()
        }
        .play();
    }
}
