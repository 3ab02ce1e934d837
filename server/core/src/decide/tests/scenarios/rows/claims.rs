//! True and false claims of agents, with checks and without.

use super::Do::{Crash, Drop, Make, Say, Write};
use super::{Do, End, ROW, Row, breaker, claimed, limit, verified};

const STATUS: &str =
    "---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_STATUS: PASSING\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---";
const PROMISE: &str = "<promise>COMPLETE</promise>";
const POEM: &[(&str, &str)] = &[("PROMPT.md", "# Write a poem\n\nMake it rhyme.\n")];

/// A claim while a check fails, twice, and then the work itself.
const fn beside(name: &'static str, turns: &'static [&'static [Do]]) -> Row {
    Row {
        name,
        criteria: &["It is there: `exists done`"],
        turns,
        ends: verified(3, "after 3 iterations"),
        ..ROW
    }
}

#[rustfmt::skip]
pub(crate) const BESIDE_CHECKS: &[Row] = &[
    beside("a false promise", &[&[Make("a"), Say(PROMISE)], &[Make("a"), Say(PROMISE)], &[Make("done")]]),
    beside("a false exit signal", &[&[Make("a"), Say("EXIT_SIGNAL: true")], &[Make("a"), Say("EXIT_SIGNAL: true")], &[Make("done")]]),
    beside("a false status block", &[&[Make("a"), Say(STATUS)], &[Make("a"), Say(STATUS)], &[Make("done")]]),
    beside("a false block in JSON", &[
        &[Make("a"), Say("{\"RALPH_STATUS\": {\"STATUS\": \"COMPLETE\", \"EXIT_SIGNAL\": true}}")],
        &[Make("a"), Say("```json\n{\"ralph_status\": {\"status\": \"complete\", \"exit_signal\": \"true\"}}\n```")], &[Make("done")]]),
    beside("false words", &[
        &[Make("a"), Say("All features are implemented, all tests pass, coverage reached. The project is complete.")],
        &[Make("a"), Say("Done. Finished. Ready. No errors.")], &[Make("done")]]),
    beside("false words in Chinese", &[
        &[Make("a"), Say("所有功能已实现，所有测试全部通过。")], &[Make("a"), Say("全部完成。EXIT_SIGNAL: true")], &[Make("done")]]),
    beside("a claim at 80 %", &[&[Make("a"), Say("I am 80% done.\n<promise>COMPLETE</promise>")], &[Make("a"), Say("Progress: 80%\n<promise>COMPLETE</promise>")], &[Make("done")]]),
    beside("ticked boxes", &[
        &[Write("PROMPT.md", "# Make it so\n\n## Done when\n\n- [x] It is there: `exists done`\n"), Say(PROMISE)], &[Make("a")], &[Make("done")]]),
    beside("everything at once", &[
        &[Make("a"), Say("100% complete! 全部完成\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n<promise>COMPLETE</promise>")],
        &[Make("b"), Say(STATUS)], &[Make("done"), Say("Not done yet.")]]),
    Row { name: "passes: true",
        files: &[("prd.json", "{\"userStories\": [{\"id\": \"US-1\", \"title\": \"One\", \"acceptanceCriteria\": [\"It is there: `exists done`\"], \"passes\": false}]}\n")],
        turns: &[&[Write("prd.json", "{\"userStories\": [{\"id\": \"US-1\", \"title\": \"One\", \"acceptanceCriteria\": [\"It is there: `exists done`\"], \"passes\": true}]}\n")],
            &[Make("a")], &[Make("done")]],
        ends: verified(3, "the one required criterion passes"), ..ROW },
    Row { name: "a false claim for ever, with nothing done", criteria: &["It is there: `exists done`"], turns: &[&[Say(STATUS)]],
        ends: breaker(2, "without a file change"), ..ROW },
    Row { name: "a false claim for ever, with some work", criteria: &["It is there: `exists done`"], settings: "limits.iterations = 4",
        turns: &[&[Make("a.$n"), Say(STATUS)]], ends: limit(4, "limit reached: 4 iterations"), ..ROW },
    Row { name: "a check and prose: the claim comes before the check holds", criteria: &["It is there: `exists done`", "It reads well"],
        turns: &[&[Make("a"), Say(PROMISE)], &[Make("done")], &[Make("done"), Say(PROMISE)]],
        ends: claimed(3, "the one criterion with a check passes, 1 without one only claimed"), ..ROW },
    Row { name: "a check that holds already, and prose", files: &[("done", "")], criteria: &["It is there: `exists done`", "It reads well"],
        turns: &[&[Make("a")], &[Make("a"), Say(PROMISE)]], ends: claimed(2, "1 without one only claimed"), ..ROW },
    Row { name: "a guard that breaks with the claim", files: &[("done", "")], criteria: &["It is there: `exists done`", "It reads well"],
        turns: &[&[Drop("done"), Say(PROMISE)], &[Make("done")], &[Make("a"), Say(PROMISE)]], ends: claimed(3, "the one criterion with a check passes"), ..ROW },
    Row { name: "nothing is required", criteria: &["Nice (optional): `exists nice`"], settings: "limits.iterations = 3",
        turns: &[&[Make("nice")], &[Make("a"), Say(STATUS)]], ends: claimed(2, WEIGHED), ..ROW },
];

/// A prompt document and nothing else.
const fn poem(name: &'static str, turns: &'static [&'static [Do]], ends: End) -> Row {
    Row { name, files: POEM, settings: "limits.iterations = 4", turns, ends, ..ROW }
}

const SAYS_SO: &str = "completed, claimed, not verified: the agent says so";
const WEIGHED: &str = "completed, claimed, not verified: EXIT_SIGNAL: true and 2 indications of completion";
const LIMIT: End = limit(4, "limit reached: 4 iterations");

#[rustfmt::skip]
pub(crate) const WITHOUT_CHECKS: &[Row] = &[
    poem("the status block that is asked for", &[
        &[Make("poem"), Say("---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nTESTS_STATUS: NOT_RUN\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---")],
        &[Make("poem"), Say(STATUS)]], claimed(2, WEIGHED)),
    poem("an exit signal with words that agree", &[&[Make("poem"), Say("All tasks are complete. All tests pass.\nEXIT_SIGNAL: true")]],
        claimed(1, "EXIT_SIGNAL: true and 2 indications of completion after 1 iteration")),
    poem("an exit signal with words that agree, in Chinese", &[&[Make("poem"), Say("所有任务已完成。所有测试全部通过。\nEXIT_SIGNAL: true")]], claimed(1, WEIGHED)),
    poem("an exit signal alone, once", &[&[Make("poem"), Say("EXIT_SIGNAL: true")], &[Make("poem"), Say("I changed a rhyme.")],
        &[Make("poem"), Say("EXIT_SIGNAL: true")], &[Make("poem"), Say("I changed a rhyme.")]], LIMIT),
    poem("an exit signal alone, twice in a row", &[&[Make("poem"), Say("EXIT_SIGNAL: true")]], claimed(2, SAYS_SO)),
    poem("words without an exit signal", &[&[Make("poem"), Say("All tasks are complete. All tests pass.")]], LIMIT),
    poem("no claim at all", &[&[Make("poem"), Say("I changed a rhyme.")]], LIMIT),
    poem("a veto beside words", &[&[Make("poem"), Say("All tasks are complete. All tests pass.\nEXIT_SIGNAL: false")]], LIMIT),
    poem("a veto beside a promise", &[&[Make("poem"), Say("EXIT_SIGNAL: false\n<promise>COMPLETE</promise>")]], LIMIT),
    poem("the last complete block wins", &[&[Make("poem"), Say(
        "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n\nOne rhyme is missing.\n\n---RALPH_STATUS---\nstatus: in_progress\nexit_signal: FALSE\n---END_RALPH_STATUS---")]], LIMIT),
    poem("a promise twice", &[&[Make("poem"), Say(PROMISE)]], claimed(2, SAYS_SO)),
    poem("a promise, then more work, then twice", &[&[Make("poem"), Say(PROMISE)], &[Make("poem"), Say("Found a flaw.")], &[Make("poem"), Say(PROMISE)]],
        claimed(4, SAYS_SO)),
    poem("a promise that is only talked about", &[&[Make("poem"), Say("When it is done I print `<promise>COMPLETE</promise>`.\n\n> <promise>COMPLETE</promise>\n\n```\n<promise>COMPLETE</promise>\n```")]], LIMIT),
    poem("the instruction read back", &[&[Make("poem"), Say("When that is so, and only then, end your last message with this line alone:\n\n<promise>COMPLETE</promise>")]], LIMIT),
    Row { name: "boxes of criteria in words, ticked one by one", files: &[("PROMPT.md", "# Write a poem\n\n## Done when\n\n- [ ] It rhymes\n- [ ] It is short\n")],
        turns: &[&[Make("poem"), Write("PROMPT.md", "# Write a poem\n\n## Done when\n\n- [x] It rhymes\n- [ ] It is short\n")],
            &[Make("poem"), Write("PROMPT.md", "# Write a poem\n\n## Done when\n\n- [x] It rhymes\n- [x] It is short\n")], &[Say("I read it again.")]],
        ends: claimed(3, SAYS_SO), ..ROW },
    Row { name: "a ticked box stands in where there is no check", files: &[("PROMPT.md", "# Make it so\n\n## Done when\n\n- [ ] There: `exists done`\n- [ ] It reads well\n")],
        turns: &[&[Make("done")], &[Make("a"), Write("PROMPT.md", "# Make it so\n\n## Done when\n\n- [x] There: `exists done`\n- [x] It reads well\n")]],
        ends: claimed(2, "the one criterion with a check passes"), ..ROW },
    poem("another promise than the one asked for", &[&[Make("poem"), Say("<promise>COMPLETED</promise>")]], LIMIT),
    poem("words that deny", &[&[Make("poem"), Say("It is not done, and not all tests pass. Moving on to the next verse.\nEXIT_SIGNAL: true")],
        &[Make("poem"), Say("Now working on the second verse.")]], LIMIT),
    poem("a promise at 80 %", &[&[Make("poem"), Say("I am about 80% done.\n<promise>COMPLETE</promise>")]], LIMIT),
    poem("the claim of an agent that failed", &[&[Make("poem"), Say(PROMISE), Crash("out of memory")]], LIMIT),
    poem("no work, no claim", &[&[Say("Hello.")]], breaker(2, "without a file change")),
    Row { name: "the promise that the document names",
        files: &[("PROMPT.md", "# Write a poem\n\nOutput <promise>SHIPPED</promise> when it rhymes.\n")],
        turns: &[&[Make("poem"), Say(PROMISE)], &[Make("poem"), Say("<promise>SHIPPED</promise>")]], ends: claimed(3, SAYS_SO), ..ROW },
    Row { name: "one claim is enough where the user says so", settings: "exit.done_signals = 1",
        ..poem("", &[&[Make("poem"), Say(PROMISE)]], claimed(1, SAYS_SO)) },
    Row { name: "words of the user's own", settings: "exit.words = { \"ship it\" = 0.9, \"over and out\" = 0.8 }",
        ..poem("", &[&[Make("poem"), Say("Ship it! Over and out.\nEXIT_SIGNAL: true")]], claimed(1, WEIGHED)) },
    Row { name: "a condition of the user's own", settings: "exit.when = \"promise and iterations>=3\"",
        ..poem("", &[&[Make("poem"), Say(PROMISE)]], claimed(3, "")) },
];
