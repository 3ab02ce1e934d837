//! Agents that damage files that they should not touch: the task, its criteria, the repository, everything.

use serde_json::Value;

use super::git::START;
use crate::cli::Ran;
use crate::support::scenario::Ends::{Failed, Limit, Verified};
use crate::support::scenario::{Scenario, task};

#[test]
fn a_deleted_prompt_document_changes_no_criterion() {
    let played = Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["rm PROMPT.md", "touch done"],
        ends: Verified(2, "the one required criterion passes"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, "# Make it so").prompt_has(2, "done does not exist");
    assert!(!played.world.has("PROMPT.md"));
}

#[test]
fn a_weakened_check_in_the_document_is_only_proposed() {
    let played = Scenario {
        criteria: &["Tests pass: `$ test -f done`"],
        acts: &["sed -i 's/test -f done/true/' PROMPT.md; echo '<promise>COMPLETE</promise>'", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    played.first_result(1, "fail", "exit 1");
    let proposed = &played.record("iteration-ended", 1)["proposed"];
    assert_eq!(proposed, &serde_json::json!(["added: Tests pass", "removed: Tests pass"]));
    played.prompt_has(2, "The criteria of this loop are fixed.").prompt_has(2, "- removed: Tests pass");
    let log = played.world.run(&["log"]);
    log.expect(0).out("0 of 1 pass, although the agent says it is done; criteria edited and not taken up: added: Tests pass, removed");
}

#[test]
fn a_criterion_added_by_the_agent_is_not_run() {
    let played = Scenario {
        criteria: &["Tests pass: `$ test -f done`", "Lint: `$ true`"],
        acts: &[
            "sed -i '/Tests pass/d' PROMPT.md; echo '- Mine: `$ touch $HOME/canary`' >> PROMPT.md",
            "touch done",
        ],
        ends: Verified(2, "all 2 required criteria pass"),
        ..Scenario::default()
    }
    .play();
    let canary = played.world.terminal.folder().join("home/canary");
    assert!(!canary.exists(), "the agent's own check was run");
}

#[test]
fn a_criterion_made_optional_by_the_agent_is_still_required() {
    Scenario {
        criteria: &["Tests pass: `$ test -f done`"],
        settings: "limits.iterations = 2",
        acts: &["sed -i 's/Tests pass/Tests pass (optional)/' PROMPT.md", "true"],
        ends: Limit(2, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn limits_raised_by_the_agent_do_not_count() {
    Scenario {
        criteria: &["Far: `exists nowhere`"],
        settings: "limits.iterations = 2",
        acts: &["sed -i 's/iterations = 2/iterations = 99/' loopkeeper.toml; echo $n >> log"],
        ends: Limit(2, "limit reached: 2 iterations"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn deleted_tests_are_named_in_the_next_prompt() {
    let played = Scenario {
        files: &[("tests/run.sh", "test -f done\n")],
        criteria: &["Tests pass: `$ sh tests/run.sh`"],
        acts: &["rm -r tests", "mkdir tests; echo 'test -f done' > tests/run.sh; touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("iteration-ended", 1)["changes"]["files"], serde_json::json!(["tests/run.sh"]));
    played.first_result(1, "fail", "").prompt_has(2, "- `tests/run.sh`");
}

#[test]
fn a_loop_continues_without_its_repository() {
    Scenario {
        before: START,
        criteria: &["It is there: `exists done`"],
        acts: &["rm -rf .git", "echo $n > work", "touch done"],
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_rollback_restores_every_removed_file() {
    let played = Scenario {
        files: &[("src/a", "precious\n"), ("b", "too\n")],
        criteria: &["It is there: `exists done`"],
        acts: &["rm -rf ./* ./.[!.]*", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert!(!played.world.has("src"));
    played
        .world
        .run(&["rollback", "latest", "0"])
        .expect(0)
        .out("Restored the files as of the start of the loop");
    played
        .file("src/a", "precious\n")
        .file("b", "too\n")
        .file("PROMPT.md", &task(&["It is there: `exists done`"]));
    assert!(!played.world.has("done"));
}

#[test]
fn a_replaced_work_tree_fails_the_loop() {
    // The other folder may be a project that a later rollback would write to.
    Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["cd ..; mv work work.old; mkdir work; cp work.old/PROMPT.md work; touch work/done"],
        ends: Failed(1, "was moved, deleted or replaced"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn an_agent_that_kills_its_parent_is_started_again() {
    // Inside a PID namespace the warden handles this; outside, the killed process is the warden. In neither case may
    // the loop continue as if nothing had happened.
    Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["kill -9 $PPID; sleep 600", "touch done"],
        settings: "limits.iteration_time = \"4s\"",
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_hook_that_the_agent_adds_needs_trust() {
    // Changes that would make the agent run arbitrary programs need the user's trust, as in any other file.
    let scenario = Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["mkdir -p .claude; echo '{\"hooks\": {}}' > .claude/settings.json", "touch done"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let ran = world.run(&["run", "--json", "--trust"]);
    ran.expect(5);
    let played = crate::support::ended_loop::EndedLoop::new(world, ran);
    let sentence = played.last()["sentence"].as_str().unwrap();
    assert!(sentence.contains(".claude/settings.json"), "{sentence}");
    assert_eq!((played.world.starts(), &played.last()["outcome"]["cause"]), (1, &"trust".into()));
}

#[test]
fn a_removed_work_tree_can_be_restored() {
    let played = Scenario {
        files: &[("src/a", "precious\n")],
        criteria: &["It is there: `exists done`"],
        acts: &["rm -rf \"$PWD\""],
        ends: Failed(1, "the workspace cannot be snapshotted: "),
        ..Scenario::default()
    }
    .play();
    let world = &played.world;
    let elsewhere = |args: &[&str]| {
        let mut command = world.terminal.command(args);
        Ran::of(&command.current_dir(world.terminal.folder()).output().unwrap())
    };
    elsewhere(&["rollback", "latest", "0"]).expect(2).err("there is no loop in ").err(" by its id: ");
    let all: Value = serde_json::from_str(&elsewhere(&["status", "--json"]).expect(0).stdout).unwrap();
    let id = all["elsewhere"][0]["id"].as_str().unwrap();
    for args in [&["rollback", id, "0"][..], &["rollback", id, "0", "src/a"]] {
        elsewhere(args).expect(1).err("cannot find the work tree").err("Create the folder again");
    }
    std::fs::create_dir(world.root()).unwrap();
    elsewhere(&["rollback", id, "0"]).expect(0);
    played.file("src/a", "precious\n");
}
