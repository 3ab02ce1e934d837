use crate::editor::fixture::World;
use crate::editor::{DeclaredCommand, EditorAction, ProjectCommands, QuickFix, actions};
use loopkeeper_lint::{Gate, GradeLevel, ProjectCommand, grade, lints};
use loopkeeper_task::{TaskDocument, parse_task};

fn offered(world: &World, gates: &[(Gate, &str)]) -> Option<EditorAction> {
    let declared: Vec<DeclaredCommand> = gates
        .iter()
        .map(|(gate, command)| DeclaredCommand {
            command: (*command).to_owned(),
            file: "Makefile".to_owned(),
            criterion: format!("{gate:?} hold"),
        })
        .collect();
    let gates: Vec<ProjectCommand> =
        gates.iter().map(|(gate, it)| ProjectCommand { gate: *gate, command: (*it).to_owned() }).collect();
    let project = ProjectCommands { gates: &gates, declared: &declared, proposed: &[] };
    let all = world.with_view(|view| actions(view, project, ("PROMPT.md", &(0..3))));
    all.into_iter().find(|it| it.title.starts_with("Add what"))
}

const GATES: [(Gate, &str); 4] = [
    (Gate::Lint, "make lint"),
    (Gate::Tests, "make test"),
    (Gate::Coverage, "make cov"),
    (Gate::Types, "make types"),
];

fn applied(text: &str, action: &EditorAction) -> String {
    let QuickFix::Edits(edits) = &action.fix else { panic!("an edit") };
    let mut after = text.to_owned();
    for edit in edits.iter().rev() {
        after.replace_range(edit.place.range.clone(), &edit.text);
    }
    after
}

#[track_caller]
fn check(text: &str, gates: &[(Gate, &str)], title: &str, expect: &str) {
    let world = World::of(&[("PROMPT.md", text)]);
    let action = offered(&world, gates).expect("an action");
    assert_eq!((action.title.as_str(), applied(text, &action).as_str()), (title, expect));
}

#[test]
fn missing_aspects_are_added_in_one_action() {
    let limits = "## Limits\n\n- Change only what this task requires.\n- No test is removed or weakened.\n";
    let lines = "- Tests hold: `$ make test`\n- Types hold: `$ make types`\n- Lint hold: `$ make lint`\n";
    let title = "Add what is missing: tests, types, lint, limits of scope";
    let text = "# Pay\n\n## Done when\n\n- It pays: `has \"pay\" src/a.py`\n";
    check(text, &GATES, title, &format!("{text}{lines}\n{limits}"));
    let before = "# Pay\n\nDone when:\n\n- It pays: `has \"pay\" src/a.py`\n\nEnd";
    let expect = format!("{}\n{lines}\nEnd\n\n{limits}", before.trim_end_matches("\n\nEnd"));
    check(before, &GATES, title, &expect);
    let returns = text.replace('\n', "\r\n");
    check(&returns, &GATES, title, &format!("{text}{lines}\n{limits}").replace('\n', "\r\n"));
    check("# Pay", &GATES, title, &format!("# Pay\n\n## Done when\n\n{lines}\n{limits}"));
    check("# Pay\n", &[], "Add what is missing: limits of scope", &format!("# Pay\n\n{limits}"));
    let ends = "# Pay\n\n## Done when\n\n- It pays: `exists a`";
    check(ends, &[], "Add what is missing: limits of scope", &format!("{ends}\n\n{limits}"));
}

#[test]
fn two_fixes_make_a_task_comprehensive() {
    let text = "# Pay\n\n## Done when\n\n- It pays: `has \"func TestPay\" **/*_test.go`\n";
    let world = World::of(&[("PROMPT.md", text)]);
    let action = offered(&world, &[(Gate::Tests, "go test ./...")]).expect("an action");
    let documents = vec![TaskDocument { path: "PROMPT.md".to_owned(), text: applied(text, &action) }];
    let task = parse_task(&documents);
    assert_eq!(grade(&task, &documents, &lints(&task, &documents)).level, GradeLevel::Comprehensive);
    let after = World::of(&[("PROMPT.md", &documents[0].text)]);
    assert_eq!(offered(&after, &GATES), None, "nothing more is offered");
}

#[test]
fn a_chinese_document_stays_chinese() {
    let text = "# 付款\n\n## 完成标准\n\n- 可以付款：`exists 付款.md`\n";
    let added = "- Tests hold：`$ make test`\n\n## 限制\n\n- 只修改本任务所要求的内容。\n- 不删除也不弱化任何测试。\n";
    check(text, &GATES[1..2], "Add what is missing: tests, limits of scope", &format!("{text}{added}"));
}

#[test]
fn limits_never_become_criteria() {
    // The section of the criteria would contain a heading of the second level.
    let text = "# Done when\n\n- It pays: `exists a`\n";
    let world = World::of(&[("PROMPT.md", text)]);
    let action = offered(&world, &GATES).expect("an action");
    assert_eq!(action.title, "Add what is missing: tests, types, lint");
}

const PROPOSED: [&str; 5] = [
    "It has tests: `$ go test -run TestPay ./...`",
    "All tests pass: `$ go test ./...`",
    "The documentation describes it: `has /pay/i README.md`",
    "It pays, \"Pay\": `judge`",
    "No other files are left behind: `clean`",
];

fn offered_with(world: &World, at: &str, title: &str) -> EditorAction {
    let proposed = PROPOSED.map(str::to_owned);
    let project = ProjectCommands { proposed: &proposed, ..ProjectCommands::default() };
    let start = world.documents[0].text.find(at).expect("in the text");
    let all = world.with_view(|view| actions(view, project, ("PROMPT.md", &(start..start + 1))));
    let titles: Vec<String> = all.iter().map(|it| it.title.clone()).collect();
    all.into_iter().find(|it| it.title.starts_with(title)).unwrap_or_else(|| panic!("{title}: {titles:?}"))
}

fn level(text: &str) -> GradeLevel {
    let documents = vec![TaskDocument { path: "PROMPT.md".to_owned(), text: text.to_owned() }];
    let task = parse_task(&documents);
    grade(&task, &documents, &lints(&task, &documents)).level
}

#[test]
fn a_vague_task_becomes_comprehensive_by_two_fixes() {
    for text in ["# Pay\n\nIt pays.\n", "It pays", "# Pay\r\n\r\n## Done when\r\n\r\nIt pays.\r\n"] {
        let at = if text.contains("Done") { "Done" } else { text };
        let after = applied(text, &offered_with(&World::of(&[("PROMPT.md", text)]), at, "Write criteria"));
        assert_eq!(level(&after), GradeLevel::Comprehensive, "{after}");
        assert!(
            !after.replace("\r\n", "").contains(if text.contains('\r') { '\n' } else { '\r' }),
            "{after:?}"
        );
    }
    let vague =
        "# Pay\n\n## Done when\n\n- It works well\n- Paying twice fails (optional)\n- Paying is 快 🎉.\n";
    let after = applied(vague, &offered_with(&World::of(&[("PROMPT.md", vague)]), "# Pay", "Add what"));
    assert!(after.contains("- It works well: `judge`\n- Paying twice fails (optional)\n"), "{after}");
    assert!(after.contains("快 🎉: `judge`\n- "), "{after}");
    assert_eq!(level(&after), GradeLevel::Comprehensive, "{after}");
    let end = "# 付款\n\n## 完成标准\n\n- 支付正常";
    let after = applied(end, &offered_with(&World::of(&[("PROMPT.md", end)]), "# 付", "Add what"));
    assert!(after.contains("- 支付正常：`judge`\n- "), "{after}");
}
