//! The real agents against a scripted model on loopback: what the captured transcripts cannot show.
//!
//! Their paths come from `LOOPKEEPER_TEST_CLAUDE`, `LOOPKEEPER_TEST_CODEX` and so on (`tests/tools/claude.sh` and
//! `agents.sh` print them). Every test here is named `claude_…`, `codex_…` and so on, so that `tests/run` can say
//! that they were not run where the CLI cannot be had.

mod acp;
mod committing;
mod direct;
mod hands;
mod held;
mod hooked;
mod interactive;
mod journal;
mod judging;
mod looping;
mod model;
mod others;
mod probing;
mod spawning;
mod stopping;

use std::path::PathBuf;

/// The CLI's program.
fn program() -> PathBuf {
    let told = std::env::var_os("LOOPKEEPER_TEST_CLAUDE");
    PathBuf::from(told.expect("LOOPKEEPER_TEST_CLAUDE names the program: `tests/tools/claude.sh` prints it"))
}
