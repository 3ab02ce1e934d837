//! `status` without loops: the tasks of the work tree. `log` of a long loop.

use loopkeeper_core::journal::Record;
use loopkeeper_system::journal_file::JournalFile;
use loopkeeper_text::moment::Moment;

use crate::cli::{Ran, Terminal};
use crate::support::scenario::Scenario;

#[test]
fn tasks_that_cannot_be_read_are_listed_with_the_reason() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", &"- a line of text\n".repeat(300_000)).file(".git/HEAD", "");
    std::os::unix::fs::symlink("/dev/zero", terminal.root().join("RALPH.md")).unwrap();
    terminal
        .run(&["status"])
        .expect(0)
        .out("Tasks here\n  PROMPT.md  ")
        .out("PROMPT.md is larger than 4 MiB\n")
        .out("RALPH.md is a link that leaves the root\n");
    terminal.run(&["status", "--json"]).expect(0).out("\"trouble\":\"");
}

/// As in a container whose home folder is read-only. In `/proc` root cannot make a folder either.
#[test]
fn there_is_a_status_where_no_state_can_be_kept() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "Do it.\n").file(".git/HEAD", "");
    let status = |args: &[&str]| {
        Ran::of(&terminal.command(args).env("LOOPKEEPER_STATE_DIR", "/proc/loopkeeper").output().unwrap())
    };
    status(&["status"]).expect(0).out("No loops.").out("PROMPT.md");
    status(&["status", "--json"]).expect(0).out("\"loops\":[]");
    status(&["status", "abc"]).expect(2).err("there is no loop yet");
}

#[test]
fn tasks_of_packages_are_listed_without_git() {
    let terminal = Terminal::new();
    terminal.file("packages/web/.ralph/PROMPT.md", "# Web\n").file("apps/api/PROMPT.md", "# API\n");
    terminal
        .run(&["status"])
        .expect(0)
        .out("Tasks here\n")
        .out("apps/api/PROMPT.md  API")
        .out(".ralph/PROMPT.md  Web");
}

/// The records of very many iterations take long to print.
#[test]
fn the_log_of_a_long_loop_shows_its_end() {
    let world =
        Scenario { criteria: &["It is there: `exists done`"], acts: &["touch done"], ..Scenario::default() }
            .world();
    world.run(&["run", "--trust"]).expect(0);
    world.run(&["log"]).expect(0).out("agent started");
    let steered = |number: usize| Record::Steered { text: format!("text {number}") };
    let mut journal = JournalFile::open(&world.loops()[0].join("journal.jsonl")).unwrap().journal;
    journal.append(Moment::default(), (0..1_100).map(steered).collect()).unwrap();
    drop(journal);
    let short = world.run(&["log"]).expect(0).stdout.clone();
    let earlier = short.lines().next().unwrap();
    assert!(earlier.contains("earlier records: `loopkeeper log ") && earlier.contains("--all"), "{earlier}");
    assert!(!short.contains("agent started") && !short.contains("text 99\n"), "{short}");
    assert!(short.contains("text 100") && short.contains("text 1099"), "{short}");
    let whole = world.run(&["log", "--all"]).expect(0).stdout.clone();
    assert!(whole.contains("agent started") && whole.contains("text 0") && whole.contains("text 1099"));
}
