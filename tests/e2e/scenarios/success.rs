//! Successful loops: honest, silent, immediate, or without a single start of the agent.

use crate::support::scenario::Ends::{Breaker, Verified};
use crate::support::scenario::Scenario;

const PROMISE: &str = "echo '<promise>COMPLETE</promise>'";

#[test]
fn one_iteration_completes() {
    let played = Scenario {
        criteria: &["It is there: `exists done.txt`"],
        acts: &["echo hi > done.txt; echo 'Made it.'; echo '<promise>COMPLETE</promise>'"],
        ends: Verified(1, "completed, verified: the one required criterion passes after 1 iteration"),
        ..Scenario::default()
    }
    .play();
    played.first_result(0, "fail", "done.txt does not exist").first_result(1, "pass", "exists");
    played.iteration_sentence(1, "1 file changed, 1 of 1 pass").prompt_has(1, "iteration 1 of at most 25");
    assert_eq!(played.last()["finalText"], "Made it.\n<promise>COMPLETE</promise>");
}

#[test]
fn the_prompt_names_what_still_fails_over_three_iterations() {
    let played = Scenario {
        files: &[("test.sh", "ls; for i in a b c; do [ -f $i ] || { echo missing $i; exit 1; }; done\n")],
        criteria: &["Tests pass: `$ sh test.sh`"],
        acts: &["echo x > a", "touch b", "touch c"],
        ends: Verified(3, "after 3 iterations"),
        ..Scenario::default()
    }
    .play();
    played
        .prompt_has(1, "missing a")
        .prompt_has(2, "missing b")
        .prompt_has(3, "missing c")
        .prompt_lacks(3, "missing b");
    played
        .prompt_has(2, "It changed 1 file (+1 -0 lines):\n\n- `a` +1 -0")
        .first_result(2, "fail", "exit 1")
        .iteration_sentence(3, "1 file changed, 1 of 1 pass");
}

#[test]
fn seven_iterations_complete() {
    Scenario {
        criteria: &["Long enough: `$ wc -l < log` `>= 7`"],
        before: "touch log",
        acts: &["echo $n >> log"],
        ends: Verified(7, "after 7 iterations"),
        ..Scenario::default()
    }
    .play()
    .first_result(6, "fail", "6, needs >= 7");
}

#[test]
fn a_silent_agent_completes() {
    let played = Scenario {
        criteria: &["One: `exists one`", "Two: `exists two`"],
        acts: &["touch one", "touch two"],
        ends: Verified(2, "all 2 required criteria pass"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.last()["finalText"], "");
    assert_eq!(played.ran.stderr, "");
}

#[test]
fn a_task_that_already_holds_starts_no_agent() {
    let played = Scenario {
        criteria: &["It is there: `exists PROMPT.md`", "Builds: `$ true`"],
        acts: &["touch never"],
        ends: Verified(0, "already holds, all 2 required criteria passed before the first iteration"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.world.starts(), 0);
}

#[test]
fn anyway_needs_a_claim_although_everything_passes() {
    let played = Scenario {
        criteria: &["Builds: `$ true`"],
        args: &["--anyway"],
        acts: &["touch better", &format!("touch best; {PROMISE}")],
        ends: Verified(2, "the one required criterion passes"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "<promise>COMPLETE</promise>").prompt_has(1, "Every check passes");
}

#[test]
fn anyway_without_a_claim_and_without_work_opens_the_breaker() {
    Scenario {
        criteria: &["Builds: `$ true`"],
        args: &["--anyway"],
        acts: &["echo 'Nothing to do.'"],
        ends: Breaker(2, "breaker open: 2 iterations under 10 s without a file change"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn optional_criteria_do_not_block() {
    Scenario {
        criteria: &["It is there: `exists done`", "Nice (optional): `$ false`"],
        acts: &["touch done"],
        ends: Verified(1, "the one required criterion passes"),
        ..Scenario::default()
    }
    .play()
    .prompt_has(1, "Optional.");
}

#[test]
fn a_prompt_on_the_command_line_completes() {
    let played = Scenario {
        args: &[
            "--prompt",
            "Make the file `a`.",
            "--criterion",
            "It is there: `exists a`",
            "--criterion",
            "B: `$ test -f b`",
        ],
        acts: &["touch a", "touch b"],
        ends: Verified(2, "all 2 required criteria pass"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, "Make the file `a`.").prompt_lacks(2, "It is there: `exists a`");
    assert!(played.records[0]["spec"]["task"].as_str().unwrap().starts_with("prompt:"));
}

#[test]
fn a_prompt_without_a_criterion_is_only_claimed() {
    let played = Scenario {
        args: &["--prompt", "Make the file a.", "--completion-promise", "ALL DONE"],
        acts: &["touch a; echo '<promise>COMPLETE</promise>'", "echo '<promise>ALL DONE</promise>'"],
        ends: crate::support::scenario::Ends::Claimed(3, "the agent says so after 3 iterations"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "<promise>ALL DONE</promise>");
}

#[test]
fn the_prompt_is_passed_as_an_argument_or_a_file() {
    let rig = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rigs/agent.sh");
    for (how, word) in [("argument", "{prompt}"), ("file", "@{prompt_file}")] {
        let scenario = Scenario {
            criteria: &["It is there: `exists done`"],
            acts: &["touch done"],
            ends: Verified(1, ""),
            ..Scenario::default()
        };
        let world = scenario.world();
        let folder = world.shared("");
        let command = format!("command = [\"sh\", \"{rig}\", \"{}\", \"{word}\"]\n", folder.display());
        world.settings("", &format!("{command}prompt = \"{how}\"\n"));
        let ran = world.run(&["run", "--json", "--trust"]);
        let played = crate::support::ended_loop::EndedLoop::new(world, ran);
        played.assert_end(&scenario.ends.expected());
        played.prompt_has(1, "# Make it so").prompt_has(1, "iteration 1 of at most 25");
    }
}

#[test]
fn the_promise_that_the_document_names_counts() {
    Scenario {
        files: &[("PROMPT.md", "# Write it\n\nOutput <promise>SHIPPED</promise> when it reads well.\n")],
        acts: &["echo $n >> text; echo '<promise>SHIPPED</promise>'"],
        ends: crate::support::scenario::Ends::Claimed(
            2,
            "completed, claimed, not verified: the agent says so",
        ),
        ..Scenario::default()
    }
    .play();
}
