//! Reads captured output of the real programs to the end. Shared by the tests of the dialects.

use super::provider::LocalClock;
use super::reader::{AgentOutputReader, ProcessEnd};
use super::{AgentRun, ProviderClass};
use crate::kind::Dialect;

/// The expected result of reading a transcript.
#[derive(Clone, Copy)]
pub(super) struct ExpectedRun {
    pub(super) exit: i32,
    pub(super) class: Option<ProviderClass>,
    /// Seconds from the capture.
    pub(super) resets_in: Option<u64>,
    pub(super) tokens: Option<u64>,
    pub(super) cost_micros: Option<u64>,
    pub(super) denials: u32,
    pub(super) final_text: &'static str,
}

pub(super) const OK: ExpectedRun = ExpectedRun {
    exit: 0,
    class: None,
    resets_in: None,
    tokens: None,
    cost_micros: None,
    denials: 0,
    final_text: "",
};

pub(super) fn failed(class: ProviderClass) -> ExpectedRun {
    ExpectedRun { exit: 1, class: Some(class), ..OK }
}

/// 2026-11-20T14:00:00Z, when they were captured.
pub(super) const NOW: u64 = 1_795_183_200_000;

pub(super) fn read(dialect: Dialect, stdout: &str, stderr: &str, exit: i32) -> AgentRun {
    let mut reader = AgentOutputReader::new(dialect);
    for line in stdout.lines() {
        reader.read_line(line);
    }
    for line in stderr.lines() {
        reader.stderr_line(line);
    }
    reader.finish(end(stderr, exit), &LocalClock::utc(NOW))
}

pub(super) fn end(stderr: &str, exit: i32) -> ProcessEnd {
    ProcessEnd {
        // Signals are reported as such.
        signal: (exit >= 128).then_some(exit - 128),
        stderr: stderr.to_owned(),
        ..ProcessEnd::exited((exit < 128).then_some(exit))
    }
}

pub(super) fn check(dialect: Dialect, name: &str, stdout: &str, expect: &ExpectedRun) {
    let run = read(dialect, stdout, "", expect.exit);
    let error = run.error.as_ref();
    assert_eq!(error.map(|it| it.class), expect.class, "{name}: {error:?}");
    assert!(error.is_none_or(|it| !it.message.is_empty()), "{name}");
    let resets_in = error.and_then(|it| it.resets_at).map(|at| (at - NOW) / 1000);
    assert_eq!(resets_in, expect.resets_in, "{name}: {error:?}");
    assert_eq!(run.tokens, expect.tokens, "{name}");
    assert_eq!(run.cost_micros, expect.cost_micros, "{name}");
    assert_eq!(run.denials, expect.denials, "{name}");
    assert_eq!(run.final_text, expect.final_text, "{name}");
    assert!(run.note.is_none() || run.error.is_none(), "{name}: {:?}", run.note);
}

/// The captured stdout, or with another extension another file of the same run.
macro_rules! captured {
    ($cli:literal, $name:literal) => {
        captured!($cli, $name, ".jsonl")
    };
    ($cli:literal, $name:literal, $end:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/agents/",
            $cli,
            "/",
            $name,
            $end
        ))
    };
}
/// Checks every transcript against its scenario.
macro_rules! table {
    ($dialect:expr, $cli:literal, $($name:literal => $expect:expr;)*) => {
        $($crate::transcripts::check($dialect, $name, captured!($cli, $name), &$expect);)*
    };
}
pub(super) use captured;
pub(super) use table;
