use crate::editor::fixture::World;
use crate::editor::{DeclaredCommand, DiagnosticCode, EditorAction, ProjectCommands, QuickFix, actions};
use loopkeeper_lint::LintCode;

fn declared() -> Vec<DeclaredCommand> {
    let one = |(command, criterion): (&str, &str)| DeclaredCommand {
        command: command.to_owned(),
        file: "Makefile".to_owned(),
        criterion: criterion.to_owned(),
    };
    [
        ("make test", "All tests pass"),
        ("echo `id`", "It runs nothing here"),
        ("make lint", "The linter has no complaints"),
        ("cargo test", "All tests pass"),
        ("make types", "The types check"),
        ("make fmt", "The code is formatted"),
    ]
    .map(one)
    .to_vec()
}

fn offered(world: &World, needle: &str) -> Vec<EditorAction> {
    let document = &world.documents[0];
    let start = document.text.find(needle).expect("in the text");
    let declared = declared();
    let project = ProjectCommands { declared: &declared, ..ProjectCommands::default() };
    let all =
        world.with_view(|view| actions(view, project, (&document.path, &(start..start + needle.len()))));
    all.into_iter().filter(|it| it.title.starts_with("Add criterion")).collect()
}

/// Checks the text after the first action at `needle`, and the diagnostic that it fixes.
#[track_caller]
fn check(text: &str, needle: &str, expect: &str, fixes: Option<DiagnosticCode>) {
    let world = World::of(&[("PROMPT.md", text)]);
    let all = offered(&world, needle);
    let Some(first) = all.first() else { panic!("nothing is offered: {text}") };
    let QuickFix::Edits(edits) = &first.fix else { panic!("an edit") };
    let mut after = text.to_owned();
    after.replace_range(edits[0].place.range.clone(), &edits[0].text);
    assert_eq!(after, expect);
    assert_eq!(first.fixes.as_ref().map(|it| it.1), fixes);
    assert!(all.len() <= 3, "{all:?}");
}

const LINE: &str = "All tests pass: `$ make test`";

#[test]
fn a_criterion_is_added_where_it_is_missing() {
    let (none, unverified) = (Some(DiagnosticCode::NoCriteria), Some(DiagnosticCode::Unverified));
    let section = "# Pay\n\n## Done when\n\nIt works.\n";
    let expect = format!("# Pay\n\n## Done when\n\n- {LINE}\n\nIt works.\n");
    check(section, "## Done", &expect, none);
    check("# Pay\n\nIt works.", "# Pay", &format!("# Pay\n\nIt works.\n\n## Done when\n\n- {LINE}\n"), none);
    let list = "# Pay\r\n\r\nDone when:\r\n\r\n1. é sort\r\n   more\r\n2. b: `$ x`\r\n";
    let expect =
        format!("# Pay\r\n\r\nDone when:\r\n\r\n1. é sort\r\n   more\r\n2. {LINE}\r\n2. b: `$ x`\r\n");
    check(list, "sort", &expect, unverified);
    let vague = "# Pay\n\nDone when:\n\n* [x] It works well";
    check(vague, "well", &format!("{vague}\n* [ ] {LINE}"), Some(DiagnosticCode::Lint(LintCode::Vague)));
    let heading = "# Pay\n\nDone when:\n\n- a: `$ x`\n- b: `$ y`\n\nThat is all.\n";
    let expect = format!("# Pay\n\nDone when:\n\n- a: `$ x`\n- b: `$ y`\n- {LINE}\n\nThat is all.\n");
    check(heading, "# Pay", &expect, None);
    let block = "# Pay\r\n\r\nDone when:\r\n\r\n- a: `$ x`\r\n  ```\r\n  b\r\n  ```\r\n\r\nThat is all.\r\n";
    let expect = block.replace("  ```\r\n\r\n", &format!("  ```\r\n- {LINE}\r\n\r\n"));
    check(block, "# Pay", &expect, None);
    let front = "---\ncriteria:\n  - 'a: `$ x`'\n---\n# Pay\n";
    check(front, "# Pay", &format!("{front}\n## Done when\n\n- {LINE}\n"), None);
}

#[test]
fn only_commands_that_the_task_lacks_are_offered() {
    let titles = |world: &World, needle: &str| -> Vec<String> {
        offered(world, needle).into_iter().map(|it| it.title).collect()
    };
    let world = World::prompt();
    let all =
        ["Add criterion: `$ make test`", "Add criterion: `$ make lint`", "Add criterion: `$ make types`"];
    assert_eq!(titles(&world, "# Pay"), all);
    assert_eq!(titles(&world, "cargo clippy"), [""; 0], "a criterion with a check");
    let stories = "{\"userStories\": [{\"id\": \"A\", \"title\": \"b\", \"acceptanceCriteria\": [\"c\"]}]}";
    assert_eq!(titles(&World::of(&[("prd.json", stories)]), "\"c\""), [""; 0]);
}

#[test]
fn a_trusted_workspace_shows_the_output_of_the_command() {
    // Results of a criterion stay known after its line was removed.
    let earlier =
        World::of(&[("PROMPT.md", "# Pay\n\nDone when:\n\n- a: `$ make test`\n- b: `$ make lint`\n")]);
    let earlier = earlier.with_results(&[('f', "3 of 12 fail"), ('p', "")]);
    let world = |unknown| World {
        results: earlier.results.clone(),
        unknown,
        ..World::of(&[("PROMPT.md", "# Pay\n\nDone when:\n\n- c\n")])
    };
    let titles = |world: &World| offered(world, "# Pay").into_iter().map(|it| it.title).collect::<Vec<_>>();
    let told = ["Add criterion: `$ make test` (3 of 12 fail)", "Add criterion: `$ make lint` (pass)"];
    assert_eq!(titles(&world(0))[..2], told);
    assert_eq!(titles(&world(1))[0], "Add criterion: `$ make test`");
    assert_eq!(titles(&world(0).stale())[0], "Add criterion: `$ make test`");
}
