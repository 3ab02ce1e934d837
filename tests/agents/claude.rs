//! The real Claude Code CLI against a scripted model on loopback: what the captured transcripts cannot show.
//!
//! Its path comes from `LOOPKEEPER_TEST_CLAUDE` (`tests/tools/claude.sh` prints it). Every test here is named
//! `claude_…`, so that `tests/run` can say that they were not run where the CLI cannot be had.

mod direct;
mod looping;
mod model;

use std::path::PathBuf;

/// The CLI's program.
fn program() -> PathBuf {
    let told = std::env::var_os("LOOPKEEPER_TEST_CLAUDE");
    PathBuf::from(told.expect("LOOPKEEPER_TEST_CLAUDE names the program: `tests/tools/claude.sh` prints it"))
}
