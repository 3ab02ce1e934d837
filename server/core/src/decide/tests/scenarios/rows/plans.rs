//! Plans: the agent's own account of its work, with and without checks, and conditions of the user.

use super::Do::{Make, Say, Tick, Write};
use super::{ROW, Row, claimed, limit, stopped, verified};

const PROMPT: (&str, &str) =
    ("PROMPT.md", "# Work the plan off\n\nTake the first open item of fix_plan.md.\n");
const THREE: (&str, &str) = ("fix_plan.md", "# Plan\n\n- [ ] one\n- [ ] two\n- [ ] three\n");
const DONE: &[&str] = &["It is there: `exists done`"];
const PROMISE: &str = "<promise>COMPLETE</promise>";
const WORKED_OFF: &str = "completed, claimed, not verified: every plan item is ticked";

#[rustfmt::skip]
pub(crate) const PLANS: &[Row] = &[
    Row { name: "a plan, one box at a time", files: &[PROMPT, THREE], turns: &[&[Tick]], ends: claimed(3, WORKED_OFF), ..ROW },
    Row { name: "a promise beside open boxes", files: &[PROMPT, THREE], turns: &[&[Tick, Say(PROMISE)]], ends: claimed(3, WORKED_OFF), ..ROW },
    Row { name: "an optional section", files: &[PROMPT, ("fix_plan.md", "# Plan\n\n- [ ] one\n\n## Optional\n\n- [ ] later\n")],
        turns: &[&[Tick]], ends: claimed(1, WORKED_OFF), ..ROW },
    Row { name: "nothing but an optional section", files: &[PROMPT, ("fix_plan.md", "# Plan\n\n## Nice to have\n\n- [ ] later\n")],
        settings: "limits.iterations = 2", turns: &[&[Make("a.$n")]], ends: limit(2, ""), ..ROW },
    Row { name: "a plan that was done before", files: &[PROMPT, ("fix_plan.md", "# Plan\n\n- [x] one\n")], turns: &[&[Make("never")]],
        ends: claimed(0, "every plan item was ticked before the first iteration"), ..ROW },
    Row { name: "every box ticked, no check passing", files: &[THREE], criteria: DONE, settings: "limits.iterations = 4",
        turns: &[&[Tick, Say(PROMISE)], &[Tick], &[Tick], &[Make("a"), Say(PROMISE)]], ends: limit(4, ""), ..ROW },
    Row { name: "checks pass, boxes follow", files: &[THREE], criteria: DONE, turns: &[&[Make("done"), Tick], &[Tick], &[Tick]],
        ends: verified(3, "the one required criterion passes"), ..ROW },
    Row { name: "checks pass, the last box is forgotten", files: &[THREE], criteria: DONE,
        turns: &[&[Make("done"), Tick], &[Tick], &[Say("Nothing left to do.")]], ends: verified(3, "still open in the plan: three"), ..ROW },
    Row { name: "an open box beside checks that hold already", files: &[THREE, ("done", "")], criteria: DONE, turns: &[&[Tick]],
        ends: verified(3, ""), ..ROW },
    Row { name: "stories worked off", files: &[("prd.json", "{\"userStories\": [{\"id\": \"US-1\", \"title\": \"One\", \"passes\": false}]}\n")],
        turns: &[&[Make("a")], &[Write("prd.json", "{\"userStories\": [{\"id\": \"US-1\", \"title\": \"One\", \"passes\": true}]}\n")]],
        ends: claimed(2, WORKED_OFF), ..ROW },
    Row { name: "a plan that grows", files: &[PROMPT, ("fix_plan.md", "- [ ] one\n")],
        turns: &[&[Write("fix_plan.md", "- [x] one\n- [ ] two\n")], &[Tick]], ends: claimed(2, WORKED_OFF), ..ROW },
    Row { name: "open items struck out", files: &[PROMPT, ("fix_plan.md", "- [x] zero\n- [ ] one\n- [ ] two\n")], settings: "limits.iterations = 3",
        turns: &[&[Write("fix_plan.md", "- [x] zero\n")], &[Make("a.$n")]], ends: limit(3, ""), ..ROW },
    Row { name: "finished items cleared away", files: &[PROMPT, ("fix_plan.md", "- [ ] one\n- [ ] two\n")],
        turns: &[&[Write("fix_plan.md", "- [x] one\n- [ ] two\n")], &[Write("fix_plan.md", "- [x] two\n")]], ends: claimed(2, WORKED_OFF), ..ROW },
    Row { name: "checks pass, and the plan is thrown away", files: &[THREE], criteria: DONE,
        turns: &[&[Make("done"), Write("fix_plan.md", "# Plan\n")], &[Say("Nothing left to do.")]], ends: verified(2, "removed from the plan while open: one, two, three"), ..ROW },
    Row { name: "checks pass, and the plan is cleared with a claim", files: &[THREE], criteria: DONE,
        turns: &[&[Make("done"), Write("fix_plan.md", "# Plan\n"), Say(PROMISE)]], ends: verified(1, "removed from the plan while open: one, two, three"), ..ROW },
    Row { name: "checks pass, and what was ticked is cleared away", files: &[THREE], criteria: DONE,
        turns: &[&[Make("done"), Write("fix_plan.md", "# Plan\n\n- [x] one\n")]], ends: verified(1, "the one required criterion passes"), ..ROW },
    Row { name: "when: checks and plan", files: &[THREE], criteria: DONE, settings: "exit.when = \"criteria and plan\"",
        turns: &[&[Make("done"), Tick], &[Tick], &[Tick]], ends: verified(3, ""), ..ROW },
    Row { name: "when: a promise does not make a check pass", criteria: DONE, settings: "exit.when = \"promise\"",
        turns: &[&[Make("a"), Say(PROMISE)]], ends: stopped(1, "ended by exit.when, not completed: promise given, 1 of 1 required checks fail"), ..ROW },
    Row { name: "when: so many iterations", criteria: DONE, settings: "exit.when = \"criteria or iterations>=2\"",
        turns: &[&[Make("a.$n")]], ends: stopped(2, "ended by exit.when, not completed"), ..ROW },
];
