//! Agents that damage files that they should not touch: the task, its criteria, the repository, everything.

use serde_json::Value;

use crate::cli::Ran;
use crate::support::scenario::Ends::{Failed, Limit, Verified};
use crate::support::scenario::{Scenario, task};

#[test]
fn deletes_the_prompt_document() {
    let played = Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["rm PROMPT.md", "touch done"],
        ends: Verified(2, "the one required criterion passes"),
        ..Scenario::default()
    }
    .play();
    played.told(2, "# Make it so").told(2, "done does not exist");
    assert!(!played.world.has("PROMPT.md"));
}

#[test]
fn weakens_the_check_in_the_document() {
    let played = Scenario {
        criteria: &["Tests pass: `$ test -f done`"],
        acts: &["sed -i 's/test -f done/true/' PROMPT.md; echo '<promise>COMPLETE</promise>'", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    played.judged(1, "fail", "exit 1");
    let proposed = &played.record("iteration-ended", 1)["proposed"];
    assert_eq!(proposed, &serde_json::json!(["added: Tests pass", "removed: Tests pass"]));
    played.told(2, "The criteria of this loop are fixed.").told(2, "- removed: Tests pass");
    let log = played.world.run(&["log"]);
    log.expect(0).out("0 of 1 pass, although the agent says it is done; criteria edited and not taken up: added: Tests pass, removed");
}

#[test]
fn strikes_the_criterion_that_fails_and_adds_one_of_its_own() {
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
fn makes_a_criterion_optional() {
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
fn raises_its_own_limits() {
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
fn deletes_the_tests_that_a_check_runs() {
    let played = Scenario {
        files: &[("tests/run.sh", "test -f done\n")],
        criteria: &["Tests pass: `$ sh tests/run.sh`"],
        acts: &["rm -r tests", "mkdir tests; echo 'test -f done' > tests/run.sh; touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("iteration-ended", 1)["changes"]["files"], serde_json::json!(["tests/run.sh"]));
    played.judged(1, "fail", "").told(2, "- `tests/run.sh`");
}

#[test]
fn removes_the_repository() {
    Scenario {
        before: "git init -q; git config user.email a@b.c; git config user.name A; git add -A; git commit -qm start",
        criteria: &["It is there: `exists done`"],
        acts: &["rm -rf .git", "echo $n > work", "touch done"],
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn removes_every_file_and_a_rollback_brings_them_back() {
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
fn replaces_the_whole_tree_by_another_folder() {
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
fn kills_the_process_above_it() {
    // Inside a PID namespace the warden handles this; outside, the killed process is the warden. In neither case may
    // the loop continue as if nothing had happened.
    let played = Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["kill -9 $PPID; sleep 600", "touch done"],
        settings: "limits.iteration_time = \"4s\"",
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert!(played.last()["outcome"]["verified"].as_bool().unwrap());
}

#[test]
fn gives_itself_a_hook() {
    // Changes that would make the agent run arbitrary programs need the user's trust, as in any other file.
    let scenario = Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["mkdir -p .claude; echo '{\"hooks\": {}}' > .claude/settings.json", "touch done"],
        ..Scenario::default()
    };
    let world = scenario.world();
    let ran = world.run(&["run", "--json", "--trust"]);
    ran.expect(5);
    let played = crate::support::played::Played::new(world, ran);
    let sentence = played.last()["sentence"].as_str().unwrap();
    assert!(sentence.contains(".claude/settings.json"), "{sentence}");
    assert_eq!((played.world.starts(), &played.last()["outcome"]["cause"]), (1, &"trust".into()));
}

#[test]
fn removes_the_very_folder_it_works_in() {
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
