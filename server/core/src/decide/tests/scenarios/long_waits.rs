//! Rows with very long waits: on a fake clock only.

use super::rows::Do::{Crash, Hang, Make, Meets};
use super::rows::Provider::{Answers, Overloaded, Quota};
use super::rows::{Do, End, ROW, Row, failed, limit, verified};

const fn done(name: &'static str, turns: &'static [&'static [Do]], ends: End) -> Row {
    Row { name, criteria: &["It is there: `exists done`"], turns, ends, ..ROW }
}

#[rustfmt::skip]
pub(crate) const LONG_WAITS: &[Row] = &[
    done("crashes twice", &[&[Crash("x")], &[Crash("x")], &[Make("done")]], verified(3, "")),
    done("crashes for ever", &[&[Crash("no such model")]], failed(3, "failed 3 times in a row: no such model")),
    done("crashes, works, crashes, works", &[&[Crash("x")], &[Crash("x")], &[Make("a")], &[Crash("x")], &[Crash("x")], &[Make("done")]], verified(6, "")),
    done("hangs for ever", &[&[Hang]], failed(3, "failed 3 times in a row")),
    Row { by: &["mine", "mine", "mine", "other"],
        ..done("crashes for ever, and another agent works", &[&[Crash("x")], &[Crash("x")], &[Crash("x")], &[Make("done")]], verified(4, "")) },
    Row { by: &["mine", "mine", "mine", "other", "other", "other"],
        ..done("everybody crashes for ever", &[&[Crash("no such model")]], failed(6, "the agent `other` failed 3 times in a row: no such model")) },
    done("an overloaded provider for half an hour", &[&[Meets(Overloaded)], &[Meets(Overloaded)], &[Meets(Overloaded)], &[Meets(Overloaded)],
        &[Meets(Overloaded)], &[Make("done"), Meets(Answers)]], verified(6, "")),
    done("an overloaded provider for ever", &[&[Meets(Overloaded)]], failed(12, "the provider of `mine` failed 12 times in a row")),
    done("a quota three times", &[&[Meets(Quota)], &[Meets(Quota)], &[Meets(Quota)], &[Make("done"), Meets(Answers)]], verified(4, "")),
    done("a quota for ever", &[&[Meets(Quota)]], limit(8, "lasts longer than the 8 h of this loop")),
    done("a failure of any kind is no lack of progress", &[&[Crash("x")], &[Meets(Overloaded)], &[Hang], &[Meets(Quota)], &[Make("a"), Meets(Answers)],
        &[Meets(Overloaded)], &[Crash("x")], &[Make("done"), Meets(Answers)]], verified(8, "")),
];
