//! The warden's arguments, read by hand: it stands before every agent and check and must start at once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What a warden is started for.
#[derive(Debug, PartialEq)]
pub(super) struct Order {
    /// Mount the namespace's own `/proc` first.
    pub(super) own_proc: bool,
    /// Without one: say whether this is the first process of a namespace, and end.
    pub(super) run: Option<Run>,
}

/// One command to be watched over.
#[derive(Debug, PartialEq)]
pub(super) struct Run {
    /// What the command reads; nothing when absent.
    pub(super) stdin: Option<PathBuf>,
    pub(super) grace: Duration,
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
}

impl Order {
    pub(super) fn read(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let (mut own_proc, mut stdin, mut grace) = (false, None, Duration::ZERO);
        loop {
            let word = args.next()?;
            match word.to_str()? {
                "--own-proc" => own_proc = true,
                "--probe" => return Some(Self { own_proc, run: None }),
                "--stdin" => stdin = Some(PathBuf::from(args.next()?)),
                "--grace-ms" => grace = Duration::from_millis(args.next()?.to_str()?.parse().ok()?),
                "--" => break,
                _ => return None,
            }
        }
        let program = args.next()?;
        Some(Self { own_proc, run: Some(Run { stdin, grace, program, args: args.collect() }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let check = |line: &str, expect: Option<Order>| {
            assert_eq!(Order::read(line.split_ascii_whitespace().map(OsString::from)), expect, "{line}");
        };
        let run = |stdin: Option<&str>, grace, args: &[&str]| {
            let run = Run {
                stdin: stdin.map(PathBuf::from),
                grace: Duration::from_millis(grace),
                program: "/bin/x".into(),
                args: args.iter().map(OsString::from).collect(),
            };
            Some(Order { own_proc: false, run: Some(run) })
        };
        check("--probe", Some(Order { own_proc: false, run: None }));
        check("--own-proc --probe", Some(Order { own_proc: true, run: None }));
        check("--grace-ms 50 -- /bin/x -- --stdin", run(None, 50, &["--", "--stdin"]));
        check("--stdin p --grace-ms 1 -- /bin/x", run(Some("p"), 1, &[]));
        for wrong in ["", "--", "--grace-ms x -- /bin/x", "--grace-ms", "/bin/x", "--what -- /bin/x"] {
            check(wrong, None);
        }
    }
}
