//! Facts about a check as text for users. A fact is a function of the result, never of the clock.

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
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

/// An exit code; a shell reports the signal that ended its command as 128 and more.
pub(super) fn exit(code: i32) -> String {
    match code - 128 {
        died @ (4 | 6 | 7 | 8 | 9 | 11 | 15) => format!("exit {code}, killed by {}", signal(died)),
        _ => format!("exit {code}"),
    }
}

/// `no result after 600 s`; milliseconds only below one second, where they are what was asked for.
pub fn no_result(ms: u64) -> String {
    if ms < 1000 { format!("no result after {ms} ms") } else { format!("no result after {} s", ms / 1000) }
}
