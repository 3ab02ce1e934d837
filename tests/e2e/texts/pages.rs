//! Pages and reports of one loop from its start to its verified end.

use std::fs;

use expect_test::expect_file;
use serde_json::{Value, json};

use super::Transcript;
use super::normalized::normalized;
use crate::cli::Terminal;
use crate::lsp::editor_fixture::EditorFixture;
use crate::support::scenario::Scenario;

const TASK: &str = "# Greet the world\n\nCONTEXT: count.sh\n\n## Done when\n\n- The greeting is there: `has \"hello\" hello.txt`\n\
                    - It is long enough: `$ sh count.sh` `>= 3`\n- No leftovers: `missing *.tmp`\n- A joke (optional): `exists joke.txt`\n";

/// A loop of two iterations, the first with a false claim.
fn scenario() -> Scenario<'static> {
    Scenario {
        files: &[
            ("PROMPT.md", TASK),
            (
                "count.sh",
                "test -f hello.txt || { echo 'count.sh:1: no greeting yet'; exit 1; }\nwc -l < hello.txt\n",
            ),
        ],
        settings: "[limits]\niterations = 5\n[sandbox]\nkind = \"off\"\n",
        acts: &[
            "echo hello > hello.txt; touch x.tmp; echo 'All done. <promise>COMPLETE</promise>'",
            "printf 'hello\\nworld\\n!\\n' > hello.txt; rm x.tmp; echo 'Three lines now.'",
        ],
        ..Scenario::default()
    }
}

/// Runs a command that shows a page in the editor, and returns the page.
fn page(fixture: &mut EditorFixture, command: &str, argument: &Value) -> String {
    let shown = fixture.done(command, argument);
    let uri = shown["uri"].as_str().unwrap_or_else(|| panic!("no page: {shown}"));
    let path = lsp_types::Url::parse(uri).unwrap().to_file_path().unwrap();
    normalized(&fs::read_to_string(path).unwrap(), &fixture.world.terminal)
}

/// The page before its part for programs.
fn without_json(terminal: &Terminal, args: &[&str]) -> String {
    let printed = terminal.run(args).stdout;
    normalized(printed.split("```json").next().unwrap_or_default(), terminal)
}

#[test]
fn pages_of_a_loop_are_as_recorded() {
    let mut fixture = EditorFixture::open(&scenario());
    let task = fixture.uri("PROMPT.md");
    let mut file = Transcript::default();
    file.section("Show What Would Run", page(&mut fixture, "trust", &json!({"task": task})));
    let terminal = &fixture.world.terminal;
    file.run(terminal, &["status"]);
    file.run(terminal, &["check", "--lint"]);
    file.run(terminal, &["run", "--trust"]);
    for args in [&["status"][..], &["log"], &["check"], &["rollback", "latest", "--list"]] {
        file.run(terminal, args);
    }
    file.section("receipt", without_json(terminal, &["receipt"]));
    file.section("report", without_json(terminal, &["report", "--format", "markdown"]));
    file.run(terminal, &["rollback", "latest", "1"]);
    file.run(terminal, &["status"]);
    file.run(terminal, &["check"]);
    file.run(terminal, &["rollback", "latest", "--undo"]);
    file.run(terminal, &["run", "--trust"]);
    expect_file!["pages.txt"].assert_eq(&file.0);
}

#[test]
fn output_in_the_editor_is_as_recorded() {
    let mut fixture = EditorFixture::open(&scenario());
    let task = fixture.uri("PROMPT.md");
    fixture.world.run(&["run", "--trust"]).expect(0);
    let status = fixture.status(|it| it["loops"][0]["state"] == "done");
    let mut file = Transcript::default();
    for (title, argument) in [
        ("Show Output, of the agent", json!({"task": task})),
        ("Show Output, of its first iteration", json!({"task": task, "iteration": 1})),
    ] {
        file.section(title, page(&mut fixture, "output", &argument));
    }
    fs::remove_file(fixture.world.root().join("hello.txt")).unwrap();
    fixture.world.run(&["check"]).expect(1);
    fixture
        .remarks("PROMPT.md", |all| all.iter().any(|it| it["message"].as_str().unwrap().contains("exit 1")));
    let criterion = &status["tasks"][0]["criteria"]["items"][1]["id"];
    let argument = json!({"task": task, "criterion": criterion});
    file.section("Show Output, of a failing check", page(&mut fixture, "output", &argument));
    expect_file!["output.txt"].assert_eq(&file.0);
}
