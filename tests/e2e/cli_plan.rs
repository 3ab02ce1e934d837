//! `skip` and `prioritize`: the user's changes of a plan, in the files alone.

use std::os::unix::fs::PermissionsExt;

use crate::cli::Terminal;
use crate::scenarios::detached::{WAITS, detached, end, go};
use crate::support::scenario::Scenario;

const PLAN: &str = "# Plan\r\n\r\n- [ ] parse\r\n- [x] read\r\n- [ ] print: `$ make print`\r\n";

fn terminal() -> Terminal {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# Tool\n").file("fix_plan.md", PLAN);
    terminal
}

#[test]
fn an_item_is_skipped_and_taken_up_again() {
    let terminal = terminal();
    let path = terminal.root().join("fix_plan.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let said = "fix_plan.md: \"print\" is skipped; loops no longer wait for it.\n";
    terminal.run(&["skip", "PROMPT.md", "print"]).expect(0).out(said);
    let skipped = PLAN.replace("print`\r\n", "print` (optional)\r\n");
    assert_eq!(terminal.read("fix_plan.md"), skipped);
    terminal.run(&["skip", "fix_plan.md", "PRINT"]).expect(0).out("\"print\" is no longer skipped.");
    assert_eq!(terminal.read("fix_plan.md"), PLAN);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640, "its mode stays");
    let left: Vec<_> =
        std::fs::read_dir(terminal.root()).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left beside: {left:?}");
}

#[test]
fn an_item_is_moved() {
    let terminal = terminal();
    terminal.run(&["prioritize", "PROMPT.md", "parse", "-1"]).expect(0).out("\"parse\" moved 1 place later.");
    let moved = "# Plan\r\n\r\n- [ ] print: `$ make print`\r\n- [x] read\r\n- [ ] parse\r\n";
    assert_eq!(terminal.read("fix_plan.md"), moved);
    let ran = terminal.run(&["prioritize", "PROMPT.md", "print", "2"]);
    ran.expect(1).err("error: \"print\" is the first open item of its list already");
    assert_eq!(terminal.read("fix_plan.md"), moved);
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let terminal = terminal();
    let ran = terminal.run(&["skip", "PROMPT.md", "nothing"]);
    ran.expect(2)
        .err("error: the plan has no item \"nothing\"\n  ")
        .err("  parse\n")
        .err("Hint: Name one of these");
    terminal.file("fix_plan.md", "# Plan\n");
    terminal.run(&["skip", "PROMPT.md", "x"]).expect(2).err("Hint: The plan of this task has no open item.");
    std::fs::write(terminal.root().join("fix_plan.md"), b"- [ ] caf\xe9\n- [ ] b\n").unwrap();
    let ran = terminal.run(&["skip", "PROMPT.md", "b"]);
    ran.expect(2).err("was changed by somebody else meanwhile, or is not UTF-8 text");
    assert_eq!(std::fs::read(terminal.root().join("fix_plan.md")).unwrap(), b"- [ ] caf\xe9\n- [ ] b\n");
}

#[test]
fn a_loop_at_work_takes_up_what_its_user_skips() {
    let (world, _) = detached(&Scenario {
        files: &[
            ("PROMPT.md", "# Tool\n"),
            ("fix_plan.md", "- [ ] one: `exists one`\n- [ ] two: `exists two`\n"),
        ],
        acts: &[WAITS, "sed -i 's/\\[ \\] one/[x] one/' fix_plan.md; touch one"],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    for arguments in [&["prioritize", "PROMPT.md", "two", "1"][..], &["skip", "PROMPT.md", "two"]] {
        world.run(arguments).expect(0).out("reads this change after its current iteration");
    }
    go(&world, 1);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let ended = world.journal().into_iter().find(|it| it["type"] == "iteration-ended").unwrap();
    assert_eq!(ended["proposed"], serde_json::Value::Null, "nobody takes it for the agent's: {ended:#}");
}
