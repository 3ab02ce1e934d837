//! End to end: the real binary.

mod cli;
mod cli_args;
mod configuration;
mod init;
