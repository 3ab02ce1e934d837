//! Plans: the agent's own account of its progress, with and without checks.

use crate::support::scenario::Ends::{Claimed, Limit, Verified};
use crate::support::scenario::Scenario;

const PROMPT: (&str, &str) =
    ("PROMPT.md", "# Work the plan off\n\nTake the first open item of fix_plan.md.\n");
const TICK: &str = "sed -i '0,/\\[ \\]/s//[x]/' fix_plan.md";

#[test]
fn a_plan_alone_is_done_when_every_box_is_ticked() {
    let played = Scenario {
        files: &[PROMPT, ("fix_plan.md", "# Plan\n\n- [ ] one\n- [ ] two\n- [ ] three\n")],
        acts: &[TICK],
        ends: Claimed(3, "completed, claimed, not verified: every plan item is ticked after 3 iterations"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, "The plan: 1 of 3 done\n\nIts boxes are in `fix_plan.md`");
    played.prompt_has(2, "\n\n- open: two\n- open: three");
}

#[test]
fn boxes_under_an_optional_heading_do_not_block() {
    let plan = "# Plan\n\n- [ ] one\n\n## Optional\n\n- [ ] later\n";
    let played = Scenario {
        files: &[PROMPT, ("fix_plan.md", plan)],
        acts: &[TICK],
        ends: Claimed(1, "every plan item is ticked"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "- open: later (optional)");
}

#[test]
fn stories_alone_are_claimed_by_passes() {
    let prd = r#"{"userStories": [
        {"id": "US-1", "title": "One", "passes": true},
        {"id": "US-2", "title": "Two", "passes": false}
    ]}"#;
    Scenario {
        files: &[("prd.json", prd)],
        acts: &["sed -i 's/false/true/' prd.json"],
        ends: Claimed(1, "every plan item is ticked after 1 iteration"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn completion_criteria_of_stories_are_commands() {
    let prd = r#"{"userStories": [
        {"id": "US-1", "title": "One", "completionCriteria": ["test -f one"], "passes": false}
    ]}"#;
    Scenario {
        files: &[("prd.json", prd)],
        acts: &["touch one", "sed -i 's/false/true/' prd.json"],
        ends: Verified(2, "the one required criterion passes"),
        ..Scenario::default()
    }
    .play()
    .first_result(0, "fail", "exit 1");
}

#[test]
fn an_unreadable_plan_is_not_complete() {
    let prd = r#"{"userStories": [{"id": "US-1", "title": "One", "passes": false}]}"#;
    Scenario {
        files: &[("prd.json", prd)],
        settings: "limits.iterations = 2",
        acts: &["echo '{ \"userStories\": [' > prd.json", "rm prd.json"],
        ends: Limit(2, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn an_open_item_keeps_the_loop_from_holding_already() {
    Scenario {
        files: &[("fix_plan.md", "- [ ] one\n")],
        criteria: &["Builds: `$ true`"],
        acts: &["touch work", TICK],
        ends: Verified(2, "the one required criterion passes"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn open_items_are_named_at_the_end() {
    Scenario {
        files: &[("fix_plan.md", "- [ ] polish\n- [ ] celebrate\n")],
        criteria: &["It is there: `exists done`"],
        acts: &["touch done", "echo more > done", "echo 'Nothing left to do.'"],
        ends: Verified(3, "; still open in the plan: polish, celebrate"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn an_empty_plan_is_not_complete() {
    Scenario {
        files: &[PROMPT, ("fix_plan.md", "# Plan\n\nNothing yet.\n")],
        settings: "limits.iterations = 2",
        acts: &["echo $n >> work"],
        ends: Limit(2, ""),
        ..Scenario::default()
    }
    .play();
}
