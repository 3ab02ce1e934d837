//! The warden's arguments, read by hand: it stands before every agent and check and must start at once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What a warden is started for.
#[derive(Debug, PartialEq)]
pub(super) enum Order {
    /// Say whether this is the first process of a namespace, and end.
    Probe,
    Run(Run),
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
        let (mut stdin, mut grace) = (None, Duration::ZERO);
        loop {
            let word = args.next()?;
            match word.to_str()? {
                "--probe" => return Some(Self::Probe),
                "--stdin" => stdin = Some(PathBuf::from(args.next()?)),
                "--grace-ms" => grace = Duration::from_millis(args.next()?.to_str()?.parse().ok()?),
                "--" => break,
                _ => return None,
            }
        }
        let program = args.next()?;
        Some(Self::Run(Run { stdin, grace, program, args: args.collect() }))
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
            Some(Order::Run(Run {
                stdin: stdin.map(PathBuf::from),
                grace: Duration::from_millis(grace),
                program: "/bin/x".into(),
                args: args.iter().map(OsString::from).collect(),
            }))
        };
        check("--probe", Some(Order::Probe));
        check("--grace-ms 50 -- /bin/x -- --stdin", run(None, 50, &["--", "--stdin"]));
        check("--stdin p --grace-ms 1 -- /bin/x", run(Some("p"), 1, &[]));
        for wrong in ["", "--", "--grace-ms x -- /bin/x", "--grace-ms", "/bin/x", "--what -- /bin/x"] {
            check(wrong, None);
        }
    }
}
