//! The binary: arguments to subcommand, nothing else.

fn main() {}
