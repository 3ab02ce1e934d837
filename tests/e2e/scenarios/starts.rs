//! Refused starts: nothing runs, nothing is written, and the reason is reported.

use std::fs;

use serde_json::Value;

use crate::cli::Ran;
use crate::support::scenario::Scenario;
use crate::support::world::World;

/// An agent and a check that leave a trace wherever they run.
fn canary() -> World {
    Scenario {
        criteria: &["Trace: `$ touch $HOME/checked; test -f done`"],
        acts: &["touch done"],
        ..Scenario::default()
    }
    .world()
}

fn assert_nothing_ran(world: &World) {
    assert_eq!(world.starts(), 0, "the agent was started");
    assert!(!world.terminal.folder().join("home/checked").exists(), "a check was run");
    assert_eq!(world.loops(), [""; 0].map(std::path::PathBuf::from), "a loop was begun");
    world.assert_no_process_left();
}

fn refused(world: &World, args: &[&str], code: i32, words: &[&str]) -> Ran {
    let ran = world.run(args);
    ran.expect(code).err("error: ").err("Hint: ");
    for it in words {
        ran.err(it);
    }
    assert_eq!(ran.stdout, "");
    assert_nothing_ran(world);
    ran
}

#[test]
fn untrusted_commands_start_nothing() {
    let world = canary();
    refused(&world, &["run", "--json"], 5, &["2 commands of PROMPT.md are not trusted: nothing was started"]);
    refused(&world, &["run", "--detach"], 5, &["not trusted"]);
    refused(&world, &["check"], 5, &["1 command of PROMPT.md is not trusted"]);
    // There is no user to grant trust.
    let page = world.run(&["trust"]);
    page.expect(5).out("touch $HOME/checked").out("tests/rigs/agent.sh");
    assert_nothing_ran(&world);
    world.run(&["run", "--dry-run"]).expect(0).out("2 commands not trusted yet. Nothing was started.");
    assert_nothing_ran(&world);
    // `--trust` is remembered: the next start does not need it.
    world.run(&["run", "--trust", "--max-iterations", "1"]).expect(0);
    world.shell("rm done");
    world.run(&["run"]).expect(0);
    assert_eq!(world.starts(), 2);
    // A different check needs trust again.
    world.shell("sed -i 's/checked/checked2/' PROMPT.md; rm done");
    world.run(&["run"]).expect(5).err("1 command of PROMPT.md is not trusted");
    assert_eq!(world.starts(), 2);
}

#[test]
fn trust_that_is_revoked_while_a_loop_works_charges_no_iteration() {
    let world = Scenario {
        settings: "sandbox.kind = \"off\"\nlimits.iterations = 5",
        criteria: &["It is there: `$ test -f done`"],
        acts: &["echo x >> log; rm -rf ../state/trust"],
        ..Scenario::default()
    }
    .world();
    let ran = world.run(&["run", "--trust"]);
    ran.expect(5).out("Not trusted yet: the command of the agent `mine` and 1 more");
    assert_eq!(world.starts(), 1);
}

#[test]
fn two_tasks_without_a_name_are_refused() {
    let world = canary();
    world.terminal.file("RALPH.md", "# Other\n");
    let ran = refused(&world, &["run", "--json", "--trust"], 2, &["several tasks", "PROMPT.md", "RALPH.md"]);
    assert!(ran.stderr.contains("Name one of them"));
    world.run(&["run", "--trust", "PROMPT.md"]).expect(0);
}

#[test]
fn a_folder_without_a_task_is_refused() {
    let world = World::new();
    world.settings("", "");
    refused(&world, &["run", "--json", "--trust"], 2, &["there is no task in", "loopkeeper init"]);
}

#[test]
fn an_invalid_check_is_refused() {
    let world = Scenario {
        criteria: &["Fine: `$ true`", "Broken: `$ `", "Both: `$ a` `$ b`"],
        ..Scenario::default()
    }
    .world();
    refused(&world, &["run", "--json", "--trust"], 2, &["PROMPT.md:6: ", "PROMPT.md:7: "]);
    refused(&world, &["check"], 2, &["PROMPT.md:6: "]);
}

#[test]
fn an_invalid_configuration_is_refused() {
    let check = |text: &str, words: &[&str]| {
        let world = canary();
        world.terminal.file("loopkeeper.toml", text);
        refused(&world, &["run", "--json", "--trust"], 2, words);
    };
    check("agent = \n", &["loopkeeper.toml:1"]);
    check("\nagnet = \"mine\"\n", &["loopkeeper.toml:2: ", "Did you mean `agent`?"]);
    check("limits.iterations = 0\n", &["loopkeeper.toml:1: ", "unlimited"]);
    check("agent = \"nobody\"\n", &["nobody"]);
}

#[test]
fn a_missing_agent_is_refused() {
    let world = canary();
    world.settings("", "command = [\"./no-such-agent\"]");
    refused(&world, &["run", "--json", "--trust"], 2, &["no-such-agent"]);
}

#[test]
fn a_busy_tree_is_refused() {
    let world = Scenario {
        criteria: &["Far: `exists nowhere`"],
        acts: &["touch $folder/up; sleep 600"],
        ..Scenario::default()
    }
    .world();
    world.run(&["run", "--trust", "--detach"]).expect(0);
    world.until_shared("up");
    let id = world.status()["id"].as_str().unwrap().to_owned();
    for args in
        [&["run", "--trust"][..], &["run", "--trust", "--detach"], &["run", "--trust", "--prompt", "Other"]]
    {
        world.run(args).expect(1).err(&id).err("Hint: ");
    }
    // A root inside it is the same tree.
    world
        .terminal
        .file("inner/loopkeeper.toml", "")
        .file("inner/PROMPT.md", "# Inner\n\n## Done when\n\n- A: `$ true`\n");
    world.run(&["run", "--trust", "inner/PROMPT.md", "--agent", "demo"]).expect(1).err(&id);
    assert_eq!((world.starts(), world.loops().len()), (1, 1));
    world.run(&["stop", "--now"]).expect(0);
    world.until("end", |it| it["type"] == "ended");
    world.assert_no_process_left();
}

#[test]
fn a_tree_around_a_busy_one_is_refused() {
    let world = World::new();
    world
        .terminal
        .file("PROMPT.md", "# Outer\n\n## Done when\n\n- A: `exists nowhere`\n")
        .file("loopkeeper.toml", "agent = \"demo\"\n");
    world.terminal.file("inner/PROMPT.md", "# Inner\n\n## Done when\n\n- A: `exists nowhere`\n");
    let folder = world.shared("");
    let agent = format!(
        "agent = \"mine\"\nagents.mine.command = [\"sh\", \"-c\", \"touch {}/up; sleep 600\"]\n",
        folder.display()
    );
    world.terminal.file("inner/loopkeeper.toml", &agent);
    world.run(&["run", "--trust", "--detach", "inner/PROMPT.md"]).expect(0);
    world.until_shared("up");
    world.run(&["run", "--trust", "PROMPT.md"]).expect(1).err("inner");
    world.run(&["stop", "--now"]).expect(0);
    world.until("end", |it| it["type"] == "ended");
}

#[test]
fn a_dry_run_shows_and_starts_nothing() {
    let world = canary();
    let ran = world.run(&["run", "--dry-run", "--max-iterations", "3"]);
    ran.expect(0).out("limits.iterations = 3").out("--max-iterations").out("touch $HOME/checked");
    let small = "preset small (chosen by adaptive: 3 iterations at most)";
    assert_eq!(ran.stdout.lines().filter(|it| it.ends_with(small)).count(), 6, "{}", ran.stdout);
    assert_nothing_ran(&world);
    assert!(!world.terminal.state().join("trust/granted.jsonl").exists());
}

#[test]
fn a_check_round_reports_results_and_starts_no_agent() {
    let world = canary();
    world.run(&["run", "--trust", "--max-iterations", "1"]).expect(0);
    world.run(&["check"]).expect(0).out("Trace");
    world.shell("rm done");
    let ran = world.run(&["check", "--json"]);
    let report: Value = serde_json::from_str(&ran.expect(1).stdout).unwrap();
    assert_eq!((&report["holds"], &report["results"][0]["status"]), (&false.into(), &"fail".into()));
    assert_eq!(world.starts(), 1);
    world.assert_no_process_left();
}

#[test]
fn nothing_is_written_into_the_tree() {
    let world = canary();
    world.run(&["run", "--trust"]).expect(0);
    let mut names: Vec<_> = fs::read_dir(world.root())
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["PROMPT.md", "done", "loopkeeper.toml"]);
}
