//! `loopkeeper init` in a real folder.

use std::fs;

use crate::cli::Terminal;

#[test]
fn a_project_gets_its_first_task_file_once() {
    let terminal = Terminal::new();
    terminal.file("go.mod", "module example.org/a\n");
    let file = terminal.root().canonicalize().unwrap().join("PROMPT.md");
    let first = terminal.run(&["init"]);
    first.expect(0).out(&format!("Wrote {}", file.display()));
    first.out("  All tests pass: `$ go test ./...` (found in go.mod)");
    let written = terminal.read("PROMPT.md");
    let second = terminal.run(&["init"]);
    second.expect(2).err("there is a task document already: PROMPT.md");
    second.err("Hint: `loopkeeper run PROMPT.md` starts a loop on it.");
    assert_eq!(terminal.read("PROMPT.md"), written);
}

#[test]
fn the_task_file_belongs_to_the_root() {
    let terminal = Terminal::new();
    terminal.file("loopkeeper.toml", "").file("src/deep/x.c", "");
    let mut command = terminal.command(&["init"]);
    let output = command.current_dir(terminal.root().join("src/deep")).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("No checks were found"));
    assert!(terminal.root().join("PROMPT.md").is_file());
    assert_eq!(fs::read_dir(terminal.root().join("src/deep")).unwrap().count(), 1);
}
