//! `loopkeeper init` in a real folder.

use std::fs;

use crate::cli::{Ran, Terminal};

#[test]
fn a_project_gets_its_first_task_file_once() {
    let terminal = Terminal::new();
    terminal.file("go.mod", "module example.org/a\n");
    let file = terminal.root().canonicalize().unwrap().join("PROMPT.md");
    let first = terminal.run(&["init"]);
    first.expect(0).out(&format!("Wrote {}", file.display()));
    first.out("  All tests pass: `$ go test ./...` (found in go.mod)");
    first.out("Next: describe the work in PROMPT.md, then `loopkeeper run`.");
    let written = terminal.read("PROMPT.md");
    let second = terminal.run(&["init"]);
    second.expect(2).err("a task document already exists: PROMPT.md");
    second.err("Hint: `loopkeeper run PROMPT.md` starts a loop on it.");
    assert_eq!(terminal.read("PROMPT.md"), written);
}

#[test]
fn the_task_file_is_written_where_it_is_asked_for_and_the_nearest_one_is_taken() {
    let terminal = Terminal::new();
    terminal
        .file("loopkeeper.toml", "")
        .file("PROMPT.md", "# Whole\n\nDo it.\n")
        .file("a/go.mod", "module a\n");
    let folder = terminal.root().join("a");
    let ran = Ran::of(&terminal.command(&["init"]).current_dir(&folder).output().unwrap());
    ran.expect(0).out(&format!("Wrote {}", folder.canonicalize().unwrap().join("PROMPT.md").display()));
    ran.out("  All tests pass: `$ cd a && go test ./...` (found in a/go.mod)");
    ran.out(
        "In this folder `loopkeeper run` now starts the new task; `loopkeeper run PROMPT.md` starts the previous one",
    );
    ran.out("Next: describe the work in PROMPT.md, then `loopkeeper run`.");
    let plan = |folder: &str| {
        let mut command = terminal.command(&["run", "--agent", "demo", "--dry-run"]);
        Ran::of(&command.current_dir(terminal.root().join(folder)).output().unwrap())
    };
    plan("a").expect(2).err("a/PROMPT.md still contains the template's text, line 1");
    let whole = plan(".");
    whole.expect(0);
    assert!(!whole.stdout.contains("a/PROMPT.md"), "{}", whole.stdout);
}

#[test]
fn an_unedited_template_is_not_started() {
    let terminal = Terminal::new();
    terminal.run(&["init"]).expect(0);
    let agent = ["--agent", "demo", "--trust"];
    let ran = terminal.run(&[&["run"], &agent[..]].concat());
    ran.expect(2).err("PROMPT.md still contains the template's text, line 1");
    ran.err("Hint: Edit PROMPT.md: describe what should be done, then start again.");
    terminal.run(&[&["run", "--dry-run"], &agent[..]].concat()).expect(2);
    let edited = terminal.read("PROMPT.md").replace("Say in one line what should be done", "Greet");
    terminal.file("PROMPT.md", &edited);
    terminal
        .run(&[&["run"], &agent[..]].concat())
        .expect(2)
        .err("PROMPT.md still contains the template's text, line 3");
    let described = edited.replace("Describe here what should be different", "A greeting");
    let described = described.replace("it is. The agent is given this whole file", "That is all: this file");
    terminal.file("PROMPT.md", &described);
    terminal.run(&[&["run", "--dry-run"], &agent[..]].concat()).expect(0);
}

#[test]
fn commands_are_tried_only_with_consent_and_those_that_pass_come_first() {
    let terminal = Terminal::new();
    let rules = "test:\n\t@exit 3\ncheck:\n\t@touch tried; echo '2 passed in 0.1s'\ntypecheck:\n\t@no-such-checker .\n";
    terminal.file("Makefile", rules);
    let refused = terminal.run(&["init", "--try"]);
    refused.expect(5).err("3 commands of the project may not run: nothing was written");
    refused.err("Hint: `loopkeeper init --try --trust` trusts and tries them");
    assert!(!terminal.root().join("PROMPT.md").exists() && !terminal.root().join("tried").exists());
    terminal.run(&["init", "--trust"]).expect(2);
    let ran = terminal.run(&["init", "--try", "--trust"]);
    ran.expect(0).out("  make check  pass · ").out("  make test   fail · exit 2 · ");
    ran.out("  Left out: `make typecheck` (Makefile): program \"no-such-checker\" is not installed");
    let text = terminal.read("PROMPT.md");
    let items: Vec<&str> = text.lines().filter(|it| it.contains("<!-- tried")).collect();
    let [first, second] = items[..] else { panic!("{text}") };
    assert!(
        first.starts_with("- The code passes its own checks: `$ make check` <!-- tried: pass · "),
        "{text}"
    );
    assert!(second.starts_with("- All tests pass: `$ make test` <!-- tried: fail · exit 2 · "), "{text}");
    // They are trusted now, and the comments are not part of the criteria.
    let checked = terminal.run(&["check"]);
    checked
        .expect(1)
        .out("pass        The code passes its own checks")
        .out("fail        All tests pass: exit 2");
    assert!(!checked.stdout.contains("tried"), "{}", checked.stdout);
}

#[test]
fn one_sentence_becomes_a_complete_task() {
    let terminal = Terminal::new();
    terminal.file("go.mod", "module a\n").file("README.md", "# A\n");
    let ran = terminal.run(&["init", "--task", "Parse dates with a time zone"]);
    ran.expect(0).out("parse-dates-with-a-time-zone.ralph.md").out("- All tests pass: `$ go test ./...`");
    ran.out("Next: adjust its criteria to what you want, then `loopkeeper run parse-dates-with-a-time-zone.ralph.md`.");
    let lint = terminal.run(&["check", "parse-dates-with-a-time-zone.ralph.md", "--lint"]);
    lint.expect(0).out("comprehensive");
    let text = terminal.read("parse-dates-with-a-time-zone.ralph.md");
    terminal.run(&["init", "--task", "Parse dates with a time zone"]).expect(0);
    assert_eq!(terminal.read("parse-dates-with-a-time-zone.ralph.md"), text);
    terminal
        .run(&["init", "--task", "Tea", "--kind", "writing"])
        .expect(0)
        .out("`$ wc -w < tea.md` `>= 600`");
    terminal.run(&["init", "--task", "Tea", "--kind", "poem"]).expect(2);
    let post = terminal.run(&["init", "--task", "Write a blog post about tides"]);
    post.expect(0).out("wc -w").out("## Limits");
    assert!(!post.stdout.contains("go test"), "{}", post.stdout);
    terminal.run(&["init", "--task", "Compare three vector databases"]).expect(0).out("-sources.md");
    terminal.run(&["init", "--task", "写一篇关于潮汐的文章"]).expect(0).out("wc -m");
    let code = terminal.run(&["init", "--task", "Write a blog post about cells", "--kind", "code"]);
    code.expect(0).out("`$ go test ./...`");
    terminal.run(&["init", "--kind", "code"]).expect(2);
}

#[test]
fn a_task_from_a_sentence_leaves_out_what_cannot_run() {
    let terminal = Terminal::new();
    let scripts = r#"{"scripts":{"test":"vitest run","lint":"oxlint"},"devDependencies":{"vitest":"3"}}"#;
    terminal.file("package.json", scripts).file("node_modules/a/package.json", "{}");
    let ran = terminal.run(&["init", "--task", "Parse dates with a time zone"]);
    ran.expect(0).out("`npm test` cannot run yet: vitest is not installed. Run `npm install`.");
    ran.out("  Left out: `npm run lint` (package.json): oxlint is not installed");
    assert!(!terminal.read("parse-dates-with-a-time-zone.ralph.md").contains("npm run lint"));
}

#[test]
fn at_most_ten_tasks_are_named() {
    let terminal = Terminal::new();
    terminal.file("loopkeeper.toml", "");
    for number in 10..23 {
        terminal.file(&format!("p{number}/PROMPT.md"), "# T\n\nDo it.\n");
    }
    let ran = terminal.run(&["run", "--agent", "demo", "--dry-run"]);
    ran.expect(2)
        .err("there are several tasks in ")
        .err("p10/PROMPT.md")
        .err("p19/PROMPT.md")
        .err("and 3 more");
    assert!(!ran.stderr.contains("p20"), "{}", ran.stderr);
    let mut command = terminal.command(&["run", "--agent", "demo", "--dry-run"]);
    fs::create_dir(terminal.root().join("p20/src")).unwrap();
    let ran = Ran::of(&command.current_dir(terminal.root().join("p20/src")).output().unwrap());
    ran.expect(0).out("p20/PROMPT.md");
}

#[test]
fn a_typed_task_does_not_start_in_the_home_folder() {
    let terminal = Terminal::new();
    let home = terminal.folder().join("home");
    fs::create_dir(home.join("notes")).unwrap();
    let run = |folder: &std::path::Path, more: &[&str]| {
        let arguments = ["run", "--agent", "demo", "--dry-run", "--prompt", "Do it"];
        let mut command = terminal.command(&[&arguments, more].concat());
        Ran::of(&command.current_dir(folder).output().unwrap())
    };
    run(&home, &[])
        .expect(2)
        .err("is your home folder or contains it")
        .err("Hint: Change to the folder of a project");
    run(&home, &["--anyway"]).expect(0);
    run(terminal.folder(), &[]).expect(2);
    run(&home.join("notes"), &[]).expect(0);
    run(&terminal.root(), &[]).expect(0);
}

#[test]
fn a_plan_with_boxes_becomes_the_plan_of_the_new_task() {
    let terminal = Terminal::new();
    terminal
        .file("loopkeeper.toml", "")
        .file("PLAN.md", "# Plan\n\n- [x] Open the shop\n- [ ] Sell things\n");
    terminal.run(&["init"]).expect(0).out("PLAN.md is the plan of this task now.");
    terminal.file("PROMPT.md", "# Shop\n\nWork through PLAN.md.\n");
    let plan = terminal.run(&["run", "--dry-run", "--agent", "demo"]);
    plan.expect(0).out("Plan      1 of 2 done").out("open: Sell things");
    terminal.run(&["status"]).expect(0).out("1 of 2 items done");
    // Without a box it is any document.
    let other = Terminal::new();
    other.file("loopkeeper.toml", "").file("PLAN.md", "# Plan\n\nSell things.\n");
    other.run(&["run", "--dry-run", "--agent", "demo"]).expect(2).err("there is no task");
}

#[test]
fn a_folder_of_another_tool_belongs_to_the_root_around_it() {
    let terminal = Terminal::new();
    terminal.file(".ralph/PROMPT.md", "# Shop\n\nSell things.\n").file(".ralphrc", "MAX_CALLS_PER_HOUR=7\n");
    let mut command = terminal.command(&["run", "--dry-run", "--agent", "demo"]);
    let plan = Ran::of(&command.current_dir(terminal.root().join(".ralph")).output().unwrap());
    plan.expect(0).out("Task      .ralph/PROMPT.md").out("limits.calls_per_hour = 7");
}
