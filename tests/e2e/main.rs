//! End to end: the real binary.

// So that helpers of tests count as tests for the lints.
#![cfg(test)]

#[path = "../agents/claude.rs"]
mod claude;
mod cli;
mod cli_args;
mod configuration;
mod init;
