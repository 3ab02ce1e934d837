//! The real agents against a scripted model on loopback, for behaviour that captured transcripts cannot show.
//!
//! Their paths come from `LOOPKEEPER_TEST_CLAUDE`, `LOOPKEEPER_TEST_CODEX` and so on (`tests/tools/claude.sh` and
//! `agents.sh` print them). Every test here is named `claude_…`, `codex_…` and so on, so that `tests/run` can report
//! that they were not run if the CLI is unavailable.

mod acp;
mod agent_params;
mod committing;
mod direct;
mod held;
mod hooked;
mod interactive;
mod journal;
mod judging;
mod limited;
mod looping;
mod model;
mod others;
mod probing;
mod sandboxed;
mod spawning;
mod stopping;

use std::path::PathBuf;

/// Path of the CLI.
fn program() -> PathBuf {
    let told = std::env::var_os("LOOPKEEPER_TEST_CLAUDE");
    PathBuf::from(told.expect("LOOPKEEPER_TEST_CLAUDE names the program: `tests/tools/claude.sh` prints it"))
}
