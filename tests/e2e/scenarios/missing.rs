//! Checks that cannot run: what the machine lacks needs the user and costs no call of the agent; what the project lacks
//! is a goal like any other.

use super::detached::{detached, end};
use crate::support::scenario::Ends::{Failed, Limit, Verified};
use crate::support::scenario::Scenario;

/// Nothing is started before the user has provided the missing program.
#[track_caller]
fn stops_the_start(criterion: &str, fact: &str, remedy: &str) {
    let played = Scenario {
        criteria: &["Work: `exists work`", criterion],
        acts: &["touch work"],
        ends: Failed(0, &format!("cannot run: {fact}. Hint: {remedy}, then start again")),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.world.starts(), 0);
    assert_eq!(played.last()["outcome"]["cause"], "missing");
    let result = &played.record("baseline", 0)["round"]["results"][1];
    assert_eq!((&result["status"], &result["fact"]), (&"could-not-run".into(), &fact.into()));
    assert_eq!(result["missing"]["owner"], "machine");
}

#[test]
fn missing_programs_stop_the_start() {
    let install = "install no-such-linter, or change the check";
    let absent = "program \"no-such-linter\" is not installed";
    for command in ["no-such-linter --all", "no-such-linter | tail -1 | grep -q ok", "true && no-such-linter"]
    {
        stops_the_start(&format!("Lint: `$ {command}`"), absent, install);
    }
    let python = "echo \"/usr/bin/python3: No module named pytest\" >&2; exit 1";
    stops_the_start(
        &format!("Tests: `$ {python}`"),
        "Python module \"pytest\" is not installed",
        "`python3 -m pip install pytest`",
    );
    let outside = "/nowhere/at/all/tool";
    stops_the_start(
        &format!("Tool: `$ {outside}`"),
        &format!("program \"{outside}\" is not installed"),
        &format!("install {outside}, or change the check"),
    );
}

#[test]
fn missing_packages_interpreters_and_servers_stop_the_start() {
    let played = Scenario {
        files: &[("package.json", r#"{"devDependencies": {"left-pad": "1"}}"#)],
        criteria: &["Tests: `$ echo \"Error: Cannot find module 'left-pad'\" >&2; exit 1`"],
        ends: Failed(
            0,
            "\"Tests\" cannot run: node_modules is missing. Hint: `npm install`, then start again",
        ),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.world.starts(), 0);
    Scenario {
        files: &[("run.sh", "#!/nowhere/at/all\n")],
        before: "chmod +x run.sh",
        criteria: &["Runs: `$ ./run.sh`"],
        ends: Failed(0, "\"Runs\" cannot run: interpreter \"/nowhere/at/all\" is not installed"),
        ..Scenario::default()
    }
    .play();
    let settings =
        "[[serve]]\ncommand = [\"no-such-server\"]\nready = \"http://localhost:9/\"\ntimeout = \"5s\"\n";
    Scenario {
        settings,
        criteria: &["Health: `GET http://localhost:9/`"],
        ends: Failed(0, "\"Health\" cannot run: program \"no-such-server\" is not installed"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn missing_parts_of_the_project_are_goals() {
    let played = Scenario {
        criteria: &["Covered: `$ ./coverage.sh`"],
        acts: &["touch notes", "printf '#!/bin/sh\\n' > coverage.sh", "touch more", "chmod +x coverage.sh"],
        ends: Verified(4, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("baseline", 0)["round"]["results"][0]["missing"]["owner"], "project");
    // A module that its test imports and that does not exist yet, of an existing package and of a missing one.
    for (files, module) in [(&[("mypkg/__init__.py", "")][..], "mypkg.parser"), (&[], "wordcount")] {
        let path = format!("{}.py", module.replace('.', "/"));
        Scenario {
            files,
            criteria: &[&format!("Imports: `$ python3 -c 'import {module}'`")],
            settings: "breaker.same_error = 9",
            acts: &["touch a", "touch b", "touch c", &format!("mkdir -p mypkg; touch {path}")],
            ends: Verified(4, ""),
            ..Scenario::default()
        }
        .play();
    }
}

#[test]
fn a_check_that_cannot_run_any_more_costs_two_calls() {
    let acts = ["touch work.$n"];
    let played = Scenario {
        criteria: &["Tool: `$ ls work.* && ../agent/tool && exists done`"],
        acts: &acts,
        ends: Failed(2, "\"Tool\" cannot run: program \"../agent/tool\" is not installed"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.world.starts(), 2);
}

#[test]
fn anyway_starts_without_the_program() {
    Scenario {
        criteria: &["Lint: `$ no-such-linter`"],
        settings: "limits.iterations = 3",
        args: &["--anyway"],
        acts: &["touch work.$n"],
        ends: Limit(3, "limit reached: 3 iterations"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_loop_that_waits_for_a_program_continues_once_it_exists() {
    let (world, id) = detached(&Scenario {
        criteria: &["Tool: `$ ../agent/tool`"],
        acts: &["touch done"],
        ..Scenario::default()
    });
    let is_paused = |it: &serde_json::Value| it["type"] == "paused";
    let paused = world.until("pause", is_paused);
    assert_eq!(paused["reason"], "missing");
    let message = paused["message"].as_str().unwrap();
    assert!(message.contains("Hint: install ../agent/tool, or change the check, then resume"), "{message}");
    let status = world.status();
    assert_eq!((&status["state"], &status["phase"]), (&"needsYou".into(), &"paused".into()));
    world.run(&["status"]).expect(0).out("checks again").out("--anyway");
    // Nothing has changed: the check finds it missing again, and no agent is started.
    world.run(&["resume", &id]).expect(0);
    let is_second = |it: &serde_json::Value| is_paused(it) && it["seq"].as_u64() > paused["seq"].as_u64();
    world.until("second pause", is_second);
    assert_eq!(world.starts(), 0);
    std::fs::write(world.shared("tool"), "#!/bin/sh\ntest -e done\n").unwrap();
    world.shell("chmod +x ../agent/tool");
    world.run(&["resume", &id]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
}

#[test]
fn resume_anyway_waives_the_check() {
    let (world, id) = detached(&Scenario {
        criteria: &["Tool: `$ ../agent/tool`"],
        acts: &["printf '#!/bin/sh\\n' > ../agent/tool; chmod +x ../agent/tool; touch done"],
        ..Scenario::default()
    });
    world.until("pause", |it| it["type"] == "paused");
    world.run(&["resume", &id, "--anyway"]).expect(0);
    assert_eq!(end(&world), ("completed".to_owned(), true, 1));
    assert!(world.journal().iter().any(|it| it["type"] == "checks-waived"));
    world.run(&["log", &id]).expect(0).out("continues without the checks that cannot run");
}

#[test]
fn check_prints_the_remedy() {
    let world = Scenario { criteria: &["Lint: `$ no-such-linter`"], ..Scenario::default() }.world();
    world.run(&["run", "--trust", "--json"]).expect(1);
    let checked = world.run(&["check"]);
    checked.expect(1).out("not run     Lint: program \"no-such-linter\" is not installed");
    checked.expect(1).out("Hint: Install no-such-linter, or change the check.");
}
