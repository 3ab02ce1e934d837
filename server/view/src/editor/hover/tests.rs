use super::{Hover, HoverBlock};
use crate::editor::fixture::{World, working_loop};
use crate::editor::hover;
use loopkeeper_core::check::Status;
use loopkeeper_core::decide::sim::Turn;
use loopkeeper_text::DocumentRange;

fn at(world: &World, file: &str, needle: &str) -> Hover {
    let document = world.documents.iter().find(|it| it.path == file).expect("a document");
    let offset = document.text.find(needle).expect("in the text");
    world.with_view(|view| hover(view, (file, offset))).expect("a hover")
}

#[test]
fn a_criterion_shows_its_check_and_its_last_result() {
    let mut world = working_loop(World::prompt(), "ff", vec![Turn::new("ff"), Turn::new("pf")]);
    world = World { results: Vec::new(), ..world }.with_results(&[('f', "1 of 2 fail")]);
    world.results[0].0.head = "running 2 tests\n```\n[x](command:evil)\n".to_owned();
    assert_eq!(
        at(&world, "PROMPT.md", "cargo test").markdown(&[]),
        "**tests**\n\n✗ 1 of 2 fail · 12 s\n\nBy iteration: ✗✗✓\n\n```\n$ cargo test\n```\n\nRun with \\`sh -c\\` in \
         the project root, without stdin. It must exit 0.\n\nIts output:\n\n````\nrunning 2 \
         tests\n```\n[x](command:evil)\n````"
    );
}

#[test]
fn a_failure_shows_its_places_before_its_output() {
    let located = |world: World| {
        world.with_results(&[('f', "1 of 2 fail")]).with_locations(&[("a.rs", 3, "left: 4, right: 5")])
    };
    let shown = at(&located(World::prompt()), "PROMPT.md", "cargo test").plain();
    assert!(shown.contains("\n\nWhere it fails:\n\na.rs:3: left: 4, right: 5"), "{shown}");
    let mut passing = located(World::prompt());
    passing.results[0].0.status = Status::Pass;
    assert!(!at(&passing, "PROMPT.md", "cargo test").plain().contains("Where it fails"));
    let mut long = located(World::prompt());
    long.results[0].0.head = "warning: old\n".repeat(300);
    long.results[0].0.tail = format!("{}1 of 2 fail\n", "warning: old\n".repeat(600));
    let shown = at(&long, "PROMPT.md", "cargo test").plain();
    let (_, output) = shown.split_once("Its output:\n\n").expect("the output");
    assert!(output.starts_with("[… part of the output omitted here …]\nwarning"), "{output}");
    assert!(output.ends_with("warning: old\n1 of 2 fail") && output.len() < 1_500, "{output}");
}

#[test]
fn the_first_line_shows_the_grid() {
    let world = working_loop(World::prompt(), "pf", vec![Turn::idle("pf"), Turn::new("ff")]);
    let shown = at(&world, "PROMPT.md", "# Pay").plain();
    let expect = "\
Pay

Working · 2/25 · 0 of 2 criteria pass

         1
tests   ✓✓✗  fails, broke in 2
lint    ✗✗✗  fails
breaker  ▃─  no progress 0 of 3
files     ▂

Details: loopkeeper status 20261120-abcdef";
    assert_eq!(shown, expect);
}

#[test]
fn details_are_links_where_the_client_offers_them() {
    let world = working_loop(World::prompt(), "pf", vec![Turn::idle("pf")]);
    let shown = at(&world, "PROMPT.md", "# Pay");
    let last = |commands: &[&str]| {
        let commands: Vec<String> = commands.iter().map(|it| (*it).to_owned()).collect();
        let text = shown.markdown(&commands);
        text.split("\n\n").last().unwrap_or_default().to_owned()
    };
    let argument = "%5B%7B%22loopId%22%3A%2220261120-abcdef%22%7D%5D";
    let details = format!("[Details](command:loopkeeper.showDashboard?{argument})");
    let output = format!("[Output](command:loopkeeper.showOutput?{argument})");
    assert_eq!(last(&["loopkeeper.showDashboard"]), details);
    assert_eq!(last(&["loopkeeper.showOutput", "loopkeeper.showDashboard"]), format!("{details} · {output}"));
    let written = "Details: `loopkeeper status 20261120-abcdef`";
    assert_eq!(last(&[]), written);
    assert_eq!(last(&["workbench.action.terminal.new"]), written);
    let odd = Hover {
        place: DocumentRange::default(),
        blocks: vec![HoverBlock::Details("x) [y](command:z)`".to_owned())],
    };
    let commands = ["loopkeeper.showDashboard".to_owned()];
    assert_eq!(odd.markdown(&commands), "Details: `loopkeeper status x) [y](command:z)`");
}

#[test]
fn weakened_and_flaky_criteria_are_shown() {
    let weakens = Turn { weakens: Some(vec!["tests/a.py"]), ..Turn::new("pf") };
    let world = working_loop(World::prompt(), "ff", vec![weakens, Turn::idle("ff")]);
    let shown = at(&world, "PROMPT.md", "# Pay").plain();
    assert!(shown.contains("Weakened in iteration 1: tests/a.py lost 1 test."), "{shown}");
    let shown = at(&world, "PROMPT.md", "cargo test").plain();
    let expect = "It passes and fails on the same files: it must pass 3 rounds in a row.";
    assert!(shown.contains(expect) && !shown.contains("Weakened"), "{shown}");
    assert!(!at(&world, "PROMPT.md", "cargo clippy").plain().contains("same files"));
    let world = World::prompt().played("5f", vec![Turn::new("3p"), Turn::idle("3p")]);
    let shown = at(&world, "PROMPT.md", "cargo test").plain();
    assert!(shown.contains("Weakened in iteration 1: tests runs 3 tests, 5 at the start."), "{shown}");
}

#[test]
fn a_plan_item_shows_its_criteria() {
    let text = "{\"userStories\": [{\"id\": \"A\", \"title\": \"Log in\", \"passes\": true, \
                \"acceptanceCriteria\": [\"one: `$ a`\", \"two\"]}]}";
    let world = World::of(&[("prd.json", text)]).with_results(&[('p', "")]);
    assert_eq!(
        at(&world, "prd.json", "Log in").plain(),
        "Log in\n\nMarked done: the agent's own claim.\n\n✓ one\n· two"
    );
}

#[test]
fn text_from_outside_is_never_markup() {
    let check = |text: &str, expect: &str| {
        let hover =
            Hover { place: DocumentRange::default(), blocks: vec![HoverBlock::Text(text.to_owned())] };
        assert_eq!(hover.markdown(&[]), expect);
    };
    check("[click](command:workbench.action)", "\\[click\\](command:workbench.action)");
    check("<img src=x onerror=y>", "\\<img src=x onerror=y\\>");
    check("**bold** `code` a_b", "\\*\\*bold\\*\\* \\`code\\` a\\_b");
    check("# no heading", "\\# no heading");
    check("- no list", "\\- no list");
    check("1. no list", "1\\. no list");
    check(
        "see https://evil.example and www.evil.example",
        "see https\\://evil.example and www\\.evil.example",
    );
    check("12. 1.5", "12\\. 1.5");
    check("a\n\n---\n\nb", "a --- b");
    check("&lt; \u{202e}evil\u{1b}[31m", "\\&lt; evil");
    let fence =
        Hover { place: DocumentRange::default(), blocks: vec![HoverBlock::Code("`````\n# out".to_owned())] };
    assert_eq!(fence.markdown(&[]), "``````\n`````\n# out\n``````");
}
