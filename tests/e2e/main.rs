//! End to end: the real binary.

// So that helpers of tests count as tests for the lints.
#![cfg(test)]

mod checks;
#[path = "../agents/claude.rs"]
mod claude;
mod cli;
mod cli_args;
mod cli_damage;
mod cli_ended;
mod cli_export;
mod cli_insight;
mod cli_keepers;
mod cli_lint;
mod cli_loops;
mod cli_plan;
mod cli_queue;
mod cli_refusals;
mod cli_report;
mod cli_run;
mod cli_status;
mod cli_terminal;
mod cli_watch;
mod configuration;
mod control;
mod demo;
mod doctor;
mod environment;
mod foreign;
mod hook_install;
mod init;
mod journals;
mod kill_domain;
mod languages;
#[path = "../agents/late.rs"]
mod late;
mod logging;
mod lsp;
mod no_bubblewrap;
mod pages;
mod probe;
mod process;
mod report_channel;
#[path = "../rigs/rigs.rs"]
mod rigs;
mod room_kinds;
mod sandbox;
mod scenarios;
mod snapshots;
mod strays;
mod structure;
mod support;
mod texts;
mod versions;
mod wardens;
mod workspaces;

/// Reports what this machine does not support. `tests/run` collects these lines from the file that it names.
fn not_run(what: &str, why: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "not run: {what}: {why}");
    if let Some(list) = std::env::var_os("LOOPKEEPER_NOT_RUN") {
        let mut list = std::fs::File::options().append(true).create(true).open(list).expect("opens");
        list.write_all(format!("{what} ({why})\n").as_bytes()).expect("writes");
    }
}
