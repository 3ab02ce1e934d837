//! Hovers over tasks, criteria, plan items and files of other tools.

use expect_test::expect_file;
use loopkeeper_core::decide::sim::Turn;
use loopkeeper_core::settings::LayerKind;

use super::Transcript;
use crate::editor::fixture::{World, working_loop};
use crate::editor::{hover, settings};

/// The hover over the first occurrence of `needle`, as plain text.
fn over(world: &World, file: &str, needle: &str) -> String {
    let document = world.documents.iter().find(|it| it.path == file).expect("a document");
    let offset = document.text.find(needle).expect("in the text");
    world.with_view(|view| hover(view, (file, offset))).expect("a hover").plain()
}

const CHECKS: &[&str] = &[
    "`$ cargo test`",
    "`$ cov` `>= 80` `exit 3` `!/warn/i` (timeout 10m)",
    "`exists a.md docs/*.md` (optional)",
    "`missing tmp/*` (group files)",
    "`has \"fn main\" src/*.rs` (stage 2)",
    "`lacks /TODO|FIXME/ src/**`",
    "`clean`",
    "`GET http://localhost:8080/health` `200`",
    "It reads well: `judge`",
    "It reads well: `judge 2 of 3`",
    "Dates parse",
];

#[test]
fn hovers_over_criteria() {
    let mut file = Transcript::default();
    let items = CHECKS.iter().map(|it| format!("- {it}\n")).collect::<Vec<_>>().concat();
    let world = World::of(&[("PROMPT.md", &format!("# Pay\n\nDone when:\n\n{items}"))]);
    for item in CHECKS {
        file.section(item, over(&world, "PROMPT.md", item));
    }
    let places = [("src/pay.rs", 3, "left: 4, right: 5")];
    let mut failing =
        World::prompt().with_results(&[('f', "1 of 2 fail"), ('m', "\"cargo-clippy\" not found")]);
    failing = failing.with_locations(&places);
    failing.results[0].0.head = "running 2 tests\n1 of 2 fail\n".to_owned();
    file.section("a failing criterion", over(&failing, "PROMPT.md", "cargo test"));
    file.section("a criterion that could not run", over(&failing, "PROMPT.md", "cargo clippy"));
    let weakens = Turn { weakens: Some(vec!["tests/a.py"]), ..Turn::new("pf") };
    let flaky = working_loop(World::prompt(), "ff", vec![weakens, Turn::idle("ff")]);
    file.section("a flaky criterion", over(&flaky, "PROMPT.md", "cargo test"));
    expect_file!["../../../../../tests/e2e/texts/hovers-criteria.txt"].assert_eq(&file.0);
}

#[test]
fn hovers_over_tasks() {
    let mut file = Transcript::default();
    let mut add = |title: &str, world: &World| file.section(title, over(world, "PROMPT.md", "# Pay"));
    add("never checked", &World::prompt());
    add("not trusted", &World { unknown: 3, ..World::prompt() });
    add("at work", &working_loop(World::prompt(), "pf", vec![Turn::idle("pf"), Turn::new("ff")]));
    add("breaker open, for a while", &World::prompt().cooling());
    add("breaker open", &World::prompt().tripped());
    let weakens = Turn { weakens: Some(vec!["tests/a.py"]), ..Turn::new("pp") };
    add("weakened", &World::prompt().played("ff", vec![weakens, Turn::idle("pp")]));
    add("completed", &World::prompt().played("ff", vec![Turn::new("pf"), Turn::new("pp")]));
    let claims = Turn::new("pf").says("All tasks are complete. <promise>COMPLETE</promise>");
    add("a false claim", &working_loop(World::prompt(), "ff", vec![claims]));
    let story = "{\"userStories\": [{\"id\": \"A\", \"title\": \"Log in\", \"passes\": true, \
                 \"acceptanceCriteria\": [\"one: `$ a`\", \"two\"]}]}";
    let done = World::of(&[("prd.json", story)]).with_results(&[('p', "")]);
    file.section("a story", over(&done, "prd.json", "Log in"));
    let boxes = World::of(&[("PROMPT.md", "# Pay\n"), ("fix_plan.md", "- [ ] one\n- [ ] two (optional)\n")]);
    file.section("an open box", over(&boxes, "fix_plan.md", "one"));
    file.section("an optional box", over(&boxes, "fix_plan.md", "two"));
    expect_file!["../../../../../tests/e2e/texts/hovers-tasks.txt"].assert_eq(&file.0);
}

#[test]
fn hovers_over_files_of_other_tools() {
    let mut file = Transcript::default();
    let text =
        "PROJECT_NAME=x\nMAX_CALLS_PER_HOUR=40\nCLAUDE_TIMEOUT_MINUTES=20\nCB_NO_PROGRESS_THRESHOLD=3\n";
    for line in text.lines() {
        let offset = text.find(line).expect("in the text");
        let hover = settings::explain_other_tool(LayerKind::Ralphrc, (".ralphrc", text), offset);
        file.section(&format!(".ralphrc: {line}"), hover.map_or("(none)".to_owned(), |it| it.plain()));
    }
    let found = settings::check_other_tool(LayerKind::Ralphrc, ".ralphrc", text);
    file.section(
        ".ralphrc: diagnostics",
        found.iter().map(|it| super::diagnostic(it, text)).collect::<String>(),
    );
    expect_file!["../../../../../tests/e2e/texts/hovers-other-tools.txt"].assert_eq(&file.0);
}
