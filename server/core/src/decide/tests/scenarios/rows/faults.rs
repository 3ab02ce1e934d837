//! Agents, providers and checks that fail, hang, or leave processes behind. None of that counts as a pass.

use super::Do::{Babble, Crash, Drop, Hang, Leave, Make, Meets, Say, Write};
use super::Provider::{Answers, Denies, LoginFailed, Overloaded, Quota};
use super::{Do, End, ROW, Row, breaker, failed, limit, verified};

const DONE: &[&str] = &["It is there: `exists done`"];
const QUOTED: &str = "The log says: You've hit your limit, resets 5pm. Error 429 rate_limit_error, usage limit reached, overloaded_error, 401 Invalid API key.";

const fn done(name: &'static str, settings: &'static str, turns: &'static [&'static [Do]], ends: End) -> Row {
    Row { name, criteria: DONE, settings, turns, ends, ..ROW }
}

const fn by(by: &'static [&'static str], row: &Row) -> Row {
    Row { by, ..*row }
}

#[rustfmt::skip]
pub(crate) const FAULTS: &[Row] = &[
    done("crashes once", "", &[&[Crash("out of memory")], &[Make("done")]], verified(2, "after 2 iterations")),
    done("crashes after its work", "", &[&[Make("done"), Crash("out of memory")]], verified(1, "")),
    done("crashes, but gets on", "", &[&[Make("a"), Crash("x")], &[Make("b"), Crash("x")], &[Make("c"), Crash("x")], &[Make("done"), Crash("x")]], verified(4, "")),
    done("fails again and again with the same error, and writes", "", &[&[Make("a.$n"), Crash("error: cannot open the file")]],
        breaker(5, "5 iterations with the same error: error: cannot open the file")),
    done("fails with another error each time, and gets on", "", &[&[Make("a"), Crash("error: one")], &[Make("b"), Crash("error: two words")],
        &[Make("c"), Crash("error: no file")], &[Make("d"), Crash("error: is a folder")], &[Make("e"), Crash("error: too long")], &[Make("done")]], verified(6, "")),
    done("is not logged in", "", &[&[Meets(LoginFailed)]], failed(1, "the agent `mine` is not logged in: ")),
    done("a quota, then work", "", &[&[Meets(Quota)], &[Make("done"), Meets(Answers)]], verified(2, "")),
    done("a quota in the middle of the work", "", &[&[Make("a"), Meets(Quota)], &[Make("done"), Meets(Answers)]], verified(2, "")),
    done("a quota where the user wants no wait", "usage_limit.unanswered = \"stop\"", &[&[Meets(Quota)], &[Make("done"), Meets(Answers)]],
        limit(1, "the provider's usage limit")),
    by(&["mine", "other"], &done("a quota, and another agent works at once", "", &[&[Meets(Quota)], &[Make("done"), Meets(Answers)]], verified(2, ""))),
    by(&["mine", "other"], &done("a quota, another agent, and no wait wanted", "usage_limit.unanswered = \"stop\"", &[&[Meets(Quota)], &[Make("done"), Meets(Answers)]],
        verified(2, ""))),
    by(&["mine", "other"], &done("not logged in, and another agent is", "", &[&[Meets(LoginFailed)], &[Make("done"), Meets(Answers)]], verified(2, ""))),
    by(&["mine", "other"], &done("nobody is logged in", "", &[&[Meets(LoginFailed)]], failed(2, "the agent `other` is not logged in: "))),
    by(&["mine", "mine"], &done("another agent is not asked for a moment's overload", "", &[&[Meets(Overloaded)], &[Make("done"), Meets(Answers)]], verified(2, ""))),
    done("an overloaded provider", "", &[&[Meets(Overloaded)], &[Make("done"), Meets(Answers)]], verified(2, "")),
    done("limits that are only quoted", "", &[&[Make("a"), Say(QUOTED)], &[Make("done"), Say(QUOTED)]], verified(2, "")),
    done("limits that are only quoted, by an agent of a known kind", "",
        &[&[Make("a"), Say(QUOTED), Meets(Answers)], &[Make("done"), Say(QUOTED), Meets(Answers)]], verified(2, "")),
    done("a tool denied once", "", &[&[Meets(Denies)], &[Make("done"), Meets(Answers)]], verified(2, "")),
    done("a tool denied again, with work", "", &[&[Make("a"), Meets(Denies)], &[Make("b"), Meets(Denies)], &[Make("c"), Meets(Denies)], &[Make("done"), Meets(Answers)]],
        verified(4, "")),
    done("a tool denied again, and nothing done", "", &[&[Meets(Denies)]], breaker(2, "2 iterations with denied tools and without a file change")),
    done("asks, and nobody is there", "", &[&[Say("Which database do you want?")], &[Make("done")]], verified(2, "")),
    done("asks, and the loop must not go on alone", "questions.unanswered = \"pause\"", &[&[Say("Which database do you want?")], &[Make("done")]],
        failed(1, "unanswered question: Which database do you want?")),
    done("hangs once", "limits.iteration_time = \"2s\"", &[&[Make("a"), Hang], &[Make("done")]], verified(2, "")),
    done("hangs after its work", "limits.iteration_time = \"2s\"", &[&[Make("done"), Hang]], verified(1, "")),
    done("hangs without a sign of life", "limits.idle_time = \"2s\"", &[&[Hang], &[Make("done")]], verified(2, "")),
    done("hangs and never stops talking", "limits.iteration_time = \"2s\"", &[&[Babble], &[Make("done")]], verified(2, "")),
    done("the agent raises its own limit", "limits.iterations = 2", &[&[Make("a.$n"), Write("loopkeeper.toml", "limits.iterations = 99\n")]],
        limit(2, "limit reached: 2 iterations")),
    done("leaves a process and crashes", "", &[&[Leave, Crash("gone")], &[Leave, Make("done")]], verified(2, "")),
    done("the time of the loop is over", "limits.duration = \"2s\"", &[&[Make("a"), Hang]], limit(1, "limit reached: 2.0 s of work, after 1 iteration")),
    Row { name: "a check that hangs", criteria: &["Hangs (timeout 200ms): `$ sleep 600`"], settings: "limits.iterations = 2",
        turns: &[&[Make("a.$n"), Say("<promise>COMPLETE</promise>")]], ends: limit(2, ""), ..ROW },
    Row { name: "zero tests", criteria: &["Tests: `$ echo 'running 0 tests'; echo 'test result: ok. 0 passed; 0 failed; 0 ignored'`"],
        settings: "limits.iterations = 2", turns: &[&[Make("a.$n"), Say("<promise>COMPLETE</promise>")]], ends: limit(2, ""), ..ROW },
    Row { name: "a check whose program is not there", criteria: &["Lint: `$ no-such-linter --all`"], settings: "limits.iterations = 2",
        turns: &[&[Make("a.$n"), Say("<promise>COMPLETE</promise>")]], ends: failed(0, ""), ..ROW },
    Row { name: "a check whose script comes later", criteria: &["Tests: `$ sh check.sh`"],
        turns: &[&[Write("check.sh", "exit 3\n")], &[Write("check.sh", "exit 0\n"), Make("a")]], ends: verified(2, ""), ..ROW },
    Row { name: "the agent adds a criterion of its own", criteria: DONE,
        turns: &[&[Write("PROMPT.md", "# Make it so\n\n## Done when\n\n- It is there: `exists done`\n- And that: `exists that`\n")], &[Make("done")]],
        ends: verified(2, "the one required criterion passes"), ..ROW },
    Row { name: "the agent alters a criterion, and nothing else", criteria: DONE, settings: "limits.iterations = 3",
        turns: &[&[Write("PROMPT.md", "# Make it so\n\n## Done when\n\n- It is there: `exists PROMPT.md`\n")], &[Make("a.$n"), Say("<promise>COMPLETE</promise>")]],
        ends: limit(3, "limit reached: 3 iterations"), ..ROW },
    Row { name: "the agent removes a criterion, and nothing else", criteria: &["One: `exists one`", "Two: `exists two`"], settings: "limits.iterations = 3",
        turns: &[&[Make("one"), Write("PROMPT.md", "# Make it so\n\n## Done when\n\n- One: `exists one`\n")], &[Make("a.$n"), Say("<promise>COMPLETE</promise>")]],
        ends: limit(3, "limit reached: 3 iterations"), ..ROW },
    Row { name: "the agent deletes the task", criteria: DONE, settings: "limits.iterations = 3",
        turns: &[&[Drop("PROMPT.md"), Say("<promise>COMPLETE</promise>")], &[Make("a.$n"), Say("<promise>COMPLETE</promise>")]],
        ends: limit(3, "limit reached: 3 iterations"), ..ROW },
];
