//! Facts about a check as text for users. A fact is a function of the result, never of the clock.

use std::fmt::Display;

use loopkeeper_text::tr;

/// `SIGSEGV`, or `signal 77` for one without a name here.
pub(super) fn signal(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 if cfg!(target_os = "linux") => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 if cfg!(target_os = "linux") => "SIGSYS",
        _ => return tr!("signal {number}", number),
    };
    name.to_owned()
}

/// An exit code; a shell reports the signal that ended its command as 128 and more.
pub(super) fn exit(code: i32) -> String {
    match code - 128 {
        died @ (4 | 6 | 7 | 8 | 9 | 11 | 15) => {
            tr!("exit {code}, killed by {signal}", code, signal = signal(died))
        }
        _ => tr!("exit {code}", code),
    }
}

/// `76.4, needs >= 80`: what a comparison found and what it needed. [`split_needs`] reads it.
pub(super) fn needs(found: impl Display, wanted: impl Display) -> String {
    tr!("{found}, needs {wanted}", found, wanted)
}

/// `exit 1, needs exit 0`
pub(super) fn needs_exit(found: impl Display, wanted: i32) -> String {
    tr!("{found}, needs exit {wanted}", found, wanted)
}

/// The two sides of [`needs`]. A fact has the language of the process that recorded it.
pub(super) fn split_needs(fact: &str) -> Option<(&str, &str)> {
    let (found, wanted) = [", needs ", "，应为"].into_iter().find_map(|it| fact.split_once(it))?;
    Some((found, wanted.trim_start()))
}

/// `no result after 600 s`; milliseconds only below one second, where they are what was asked for.
pub fn no_result(ms: u64) -> String {
    if ms < 1000 {
        tr!("no result after {ms} ms", ms)
    } else {
        tr!("no result after {seconds} s", seconds = ms / 1000)
    }
}
