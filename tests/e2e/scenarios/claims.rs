//! Claims of agents are hints: every kind of false claim, and the value of a true one without a check.

use crate::support::scenario::Ends::{Claimed, Limit, Verified};
use crate::support::scenario::Scenario;

const TWO: &str = "limits.iterations = 2";

#[test]
fn no_claim_beats_a_failing_check() {
    let check = |says: &str| {
        let act = format!("echo $n >> log\ncat <<'END'\n{says}\nEND\n");
        let played = Scenario {
            criteria: &["Tests pass: `$ false`"],
            settings: TWO,
            acts: &[&act],
            ends: Limit(2, "limit reached: 2 iterations"),
            ..Scenario::default()
        }
        .play();
        assert_eq!(played.last()["finalText"], says);
        played
    };
    let played = check("All tests pass.\n<promise>COMPLETE</promise>");
    assert_eq!(played.record("iteration-ended", 1)["claim"], "promise");
    played.prompt_has(2, "It said that all was done. The checks above say otherwise.");
    check("EXIT_SIGNAL: true\nSTATUS: COMPLETE");
    check("---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---");
    check("All done! Everything is complete, finished and verified. 全部完成");
}

#[test]
fn text_that_resembles_a_promise_is_not_a_claim() {
    let check = |says: &str| {
        let act = format!("echo $n >> log\ncat <<'END'\n{says}\nEND\n");
        let played = Scenario {
            criteria: &["It reads well"],
            settings: "limits.iterations = 2\nexit.done_signals = 1",
            acts: &[&act],
            ends: Limit(2, "limit reached: 2 iterations"),
            ..Scenario::default()
        }
        .play();
        assert_eq!(played.record("iteration-ended", 1)["claim"], serde_json::Value::Null);
    };
    check("When it is done I print `<promise>COMPLETE</promise>`.");
    check("> <promise>COMPLETE</promise>");
    check("```\n<promise>COMPLETE</promise>\n```");
    check("<promise>COMPLETED</promise>");
    check("Once it reads well I print `EXIT_SIGNAL: true`.");
    check("> EXIT_SIGNAL: true");
}

#[test]
fn prose_alone_needs_two_claims_in_a_row() {
    let claim = "echo $n >> text; echo '<promise>COMPLETE</promise>'";
    let played = Scenario {
        criteria: &["It reads well"],
        acts: &[claim, "echo $n >> text", claim, claim],
        ends: Claimed(4, "completed, claimed, not verified: the agent says so after 4 iterations"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "What no check can see: yours to judge\n\n- It reads well");
    played.prompt_has(1, "end your last message with this line alone:\n\n<promise>COMPLETE</promise>");
    assert!(
        played.last()["sentence"].as_str().unwrap().ends_with(", the one required criterion has no check")
    );
}

#[test]
fn a_check_and_prose_need_one_claim_with_the_check_passing() {
    Scenario {
        criteria: &["It is there: `exists text`", "It reads well"],
        acts: &[
            "echo '<promise>COMPLETE</promise>'",
            "echo a > text",
            "echo b > text; echo '<promise>COMPLETE</promise>'",
        ],
        ends: Claimed(
            3,
            "the one criterion with a check passes, 1 without one only claimed, after 3 iterations",
        ),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_claim_of_a_failed_agent_does_not_count() {
    let played = Scenario {
        criteria: &["It reads well"],
        settings: "limits.iterations = 2\nexit.done_signals = 1",
        acts: &["echo $n >> text; echo '<promise>COMPLETE</promise>'; exit 1"],
        ends: Limit(2, ""),
        ..Scenario::default()
    }
    .play();
    played.iteration_sentence(1, "agent failed (exit 1), 1 file changed");
}

#[test]
fn ticked_boxes_prove_nothing() {
    let task = "# Make it so\n\n## Done when\n\n- [x] Tests pass: `$ test -f done`\n- [ ] Lint: `$ true`\n";
    let played = Scenario {
        files: &[("PROMPT.md", task)],
        acts: &["sed -i 's/\\[ \\]/[x]/' PROMPT.md", "touch done"],
        ends: Verified(2, "all 2 required criteria pass"),
        ..Scenario::default()
    }
    .play();
    played.first_result(0, "fail", "exit 1").first_result(1, "fail", "exit 1").prompt_has(2, "1 of 2 checks");
}

#[test]
fn passes_true_proves_nothing() {
    let prd = r#"{"userStories": [
        {"id": "US-1", "title": "One", "acceptanceCriteria": ["It is there: `exists one`"], "passes": false}
    ]}"#;
    let played = Scenario {
        files: &[("prd.json", prd)],
        acts: &["sed -i 's/false/true/' prd.json", "touch one"],
        ends: Verified(2, "the one required criterion passes"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("iteration-ended", 1)["claim"], "plan");
    played.prompt_has(2, "It ticked off the whole plan. The checks above say otherwise.");
}

#[test]
fn a_plain_prompt_explains_how_the_loop_ends() {
    let says = "cat <<'END'\n---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: PASSING\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\nEND\n";
    // An obedient agent: it prints the block if the prompt asks for one.
    let act = format!("echo $n >> poem; grep -q '^---RALPH_STATUS---' $folder/prompt.$n && {says}");
    let played = Scenario {
        files: &[("PROMPT.md", "Write a poem.\n")],
        acts: &["echo $n >> poem", &act],
        ends: Claimed(
            2,
            "claimed, not verified: EXIT_SIGNAL: true and 2 indications of completion after 2 iterations",
        ),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "EXIT_SIGNAL: false | true").prompt_has(1, "<promise>COMPLETE</promise>");
}
