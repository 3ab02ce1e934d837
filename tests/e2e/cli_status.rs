//! `status` without loops: the tasks of the work tree.

use crate::cli::Terminal;

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
