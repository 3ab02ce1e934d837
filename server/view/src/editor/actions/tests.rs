use serde_json::json;

use super::{EditorAction, QuickFix};
use crate::editor::fixture::{World, working_loop};
use crate::editor::{DiagnosticCode, ProjectCommands, actions};
use loopkeeper_core::decide::sim::Turn;

fn at(world: &World, needle: &str) -> Vec<EditorAction> {
    let text = &world.documents[0].text;
    let start = text.find(needle).expect("in the text");
    world.with_view(|view| {
        actions(view, ProjectCommands::default(), ("PROMPT.md", &(start..start + needle.len())))
    })
}

fn titles(actions: &[EditorAction]) -> Vec<String> {
    actions.iter().map(|it| format!("{}: {}", it.kind, it.title)).collect()
}

#[test]
fn everything_a_lens_offers_is_an_action() {
    let world = World::prompt().with_results(&[('f', "exit 1"), ('p', "")]).with_output("file:///s/1.out");
    assert_eq!(
        titles(&at(&world, "cargo test")),
        [
            "source.loopkeeper.check: Run check \"tests\"",
            "source.loopkeeper.output: Show output of \"tests\"",
            "source.loopkeeper.start: Start loop \"Pay\"",
            "source.loopkeeper.check: Run all checks of \"Pay\"",
            "source.loopkeeper.untrust: Withdraw trust in the commands of \"Pay\"",
        ]
    );
    let working = working_loop(World::prompt(), "ff", vec![Turn::new("pf")]);
    assert_eq!(
        titles(&at(&working, "# Pay")),
        [
            "source.loopkeeper.pause: Pause loop \"Pay\" after this iteration",
            "source.loopkeeper.stop: Stop loop \"Pay\" after this iteration",
            "source.loopkeeper.check: Run all checks of \"Pay\"",
            "source.loopkeeper.stop: Stop loop \"Pay\" now",
            "source.loopkeeper.diff: Show changes of iteration 1",
            "source.loopkeeper.output: Show agent output of iteration 1",
            "source.loopkeeper.export: Export loop of \"Pay\" without secrets",
        ]
    );
    let tripped = titles(&at(&World::prompt().tripped(), "# Pay"));
    assert_eq!(tripped[0], "source.loopkeeper.resetBreaker: Reset breaker of \"Pay\" and resume");
    let untrusted = World { unknown: 2, ..World::prompt() };
    let offered = titles(&at(&untrusted, "# Pay"));
    assert!(
        offered.contains(&"source.loopkeeper.trust: Read and trust the commands of \"Pay\"…".to_owned()),
        "{offered:?}"
    );
    let restricted = World { editor_trusted: false, ..World::prompt() };
    assert_eq!(
        titles(&at(&restricted, "cargo test")),
        ["source.loopkeeper.untrust: Withdraw trust in the commands of \"Pay\""]
    );
}

#[test]
fn the_commands_on_the_page_that_was_shown_are_trusted_by_an_action() {
    let offered = |shown, unknown| {
        let world = World { unknown, shown, ..World::prompt() };
        let of_trust = |it: &EditorAction| it.title.contains("rust");
        at(&world, "# Pay").into_iter().filter(of_trust).collect::<Vec<_>>()
    };
    let read = "source.loopkeeper.trust: Read and trust the commands of \"Pay\"…";
    assert_eq!(titles(&offered(None, 2)), [read]);
    let both = offered(Some("abc"), 2);
    assert_eq!(titles(&both), [read, "quickfix: Trust the commands shown"]);
    let needs_trust =
        |it: &EditorAction| it.fixes.as_ref().is_some_and(|(_, code)| *code == DiagnosticCode::NeedsTrust);
    assert!(both.iter().all(needs_trust), "{both:?}");
    let QuickFix::Command(command) = &both[1].fix else { panic!("a command") };
    assert_eq!(command.command, "loopkeeper.server.trust");
    assert_eq!(command.argument["hash"], "abc");
    assert_eq!(
        titles(&offered(Some("abc"), 0)),
        ["source.loopkeeper.untrust: Withdraw trust in the commands of \"Pay\""]
    );
}

#[test]
fn an_item_of_the_plan_has_actions_to_skip_and_move_it() {
    let world = World::of(&[("fix_plan.md", "# Plan\n\n- [ ] one: `$ x`\n- [x] two\n")]);
    let at = |needle: &str| {
        let start = world.documents[0].text.find(needle).unwrap();
        titles(&world.with_view(|view| {
            actions(view, ProjectCommands::default(), ("fix_plan.md", &(start..start + 3)))
        }))
    };
    assert_eq!(
        at("one")[..4],
        [
            "source.loopkeeper.check: Run check \"one\"",
            "source.loopkeeper.skip: Skip \"one\"",
            "source.loopkeeper.prioritize: Raise \"one\" in the plan",
            "source.loopkeeper.prioritize: Lower \"one\" in the plan",
        ]
    );
    assert!(at("two").iter().all(|it| !it.contains("skip")), "{:?}", at("two"));
}

fn first_word(it: &EditorAction) -> String {
    it.title.split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn a_weakening_has_actions_to_restore_and_accept_it() {
    let weakens = || Turn { weakens: Some(vec!["tests/a.py"]), ..Turn::new("pp") };
    let paused_loop = World::prompt().played("ff", vec![weakens(), Turn::idle("pp")]);
    let ways = |world: &World, at_line: &str| {
        let is =
            |it: &EditorAction| it.fixes.as_ref().is_some_and(|(_, code)| *code == DiagnosticCode::Weakened);
        at(world, at_line).into_iter().filter(is).collect::<Vec<_>>()
    };
    let offered = ways(&paused_loop, "# Pay");
    assert_eq!(
        titles(&offered),
        [
            "quickfix: Restore \"tests/a.py\" as it was at the start",
            "quickfix: Accept what the agent of \"Pay\" weakened",
            "quickfix: Let the next loop change \"tests/a.py\"",
        ]
    );
    let Some(QuickFix::Edits(edits)) = offered.last().map(|it| &it.fix) else { panic!("an edit") };
    assert!(edits[0].text.ends_with("\n## May change\n\n- tests/a.py\n"), "{edits:?}");
    let id = paused_loop.status.as_ref().unwrap().id.clone();
    let commands: Vec<_> = offered
        .iter()
        .filter_map(|it| match &it.fix {
            QuickFix::Command(command) => Some((command.command, command.argument.clone())),
            QuickFix::Edits(_) => None,
        })
        .collect();
    let rollback = json!({"loopId": id, "iteration": 0, "paths": ["tests/a.py"]});
    assert_eq!(
        commands,
        [
            ("loopkeeper.server.rollback", rollback),
            ("loopkeeper.server.acceptWeakening", json!({"loopId": id})),
        ]
    );
    let kinds =
        |world: &World, at_line: &str| ways(world, at_line).iter().map(first_word).collect::<Vec<_>>();
    let (accept, both, restore) = (["Accept"], ["Accept", "Let"], ["Restore", "Let"]);
    // A running loop cannot be rolled back, and an interrupted one cannot accept. Accepting resumes the agent.
    let working = Turn { weakens: Some(vec!["tests/a.py"]), ..Turn::new("pf") };
    assert_eq!(kinds(&working_loop(World::prompt(), "ff", vec![working]), "# Pay"), both);
    assert_eq!(kinds(&paused_loop.without_keeper(), "# Pay"), restore);
    let paused_loop = World::prompt().played("ff", vec![weakens(), Turn::idle("pp")]);
    assert_eq!(kinds(&World { editor_trusted: false, ..paused_loop }, "# Pay"), restore);
    // If a check runs fewer tests there is no file to restore.
    let fewer = World::prompt().played("5f", vec![Turn::new("3p"), Turn::idle("3p")]);
    assert_eq!(kinds(&fewer, "cargo test"), accept);
    // Commands of the task are on every line, those for a weakening only at its report.
    assert_eq!(kinds(&fewer, "cargo clippy"), [""; 0]);
}

#[test]
fn files_that_nothing_needs_are_removed_by_an_action() {
    let world = World::prompt().with_strays(&["src/a.py", "src/b.py"]);
    let all = at(&world, "# Pay");
    let removes = all.iter().find(|it| it.title.starts_with("Remove")).expect("an action");
    assert_eq!(removes.title, "Remove 2 added files that nothing refers to (can be undone)");
    let QuickFix::Command(command) = &removes.fix else { panic!("{removes:?}") };
    let id = &world.status.as_ref().unwrap().id;
    let expect = json!({ "loopId": id, "iteration": 0, "paths": ["src/a.py", "src/b.py"] });
    assert_eq!((command.command, &command.argument), ("loopkeeper.server.rollback", &expect));
    assert_eq!(removes.fixes.as_ref().map(|it| it.1), Some(DiagnosticCode::Stray));
    let removed = World { strays: Vec::new(), ..world };
    assert!(at(&removed, "# Pay").iter().all(|it| !it.title.starts_with("Remove")));
}

#[test]
fn suggestions_of_the_parser_are_quick_fixes() {
    let check = |text: &str, needle: &str, title: &str, expect: &str| {
        let world = World::of(&[("PROMPT.md", text)]);
        let all = at(&world, needle);
        let fix = all.iter().find(|it| it.kind == "quickfix").expect("a quick fix");
        assert_eq!(fix.title, title);
        let QuickFix::Edits(edits) = &fix.fix else { panic!("edits") };
        let mut cured = text.to_owned();
        cured.replace_range(edits[0].place.range.clone(), &edits[0].text);
        assert_eq!(cured, expect);
        let (place, code) = fix.fixes.clone().expect("the diagnostic that it fixes");
        let found = world.with_view(crate::editor::diagnostics);
        assert!(found.iter().any(|it| it.place == place && it.code == code), "{found:?}");
    };
    check(
        "Done when:\n\n- a: `cargo test`\n",
        "cargo test",
        "Make it a check: `$ cargo test`",
        "Done when:\n\n- a: `$ cargo test`\n",
    );
    check(
        "Done when:\n\n- a: `lacks TODO src/**`\n",
        "lacks",
        "Write `lacks \"TODO\" src/**`",
        "Done when:\n\n- a: `lacks \"TODO\" src/**`\n",
    );
    check(
        "Done when: - a: `clean` - b\n",
        "Done when",
        "Write the criteria as a list",
        "Done when:\n\n- a: `clean`\n- b\n",
    );
    check(
        "Output <<promise>>X<</promise>>\n\nDone when:\n\n- a: `clean`\n",
        "Output <<promise>>X",
        "Write <promise>X</promise>",
        "Output <promise>X</promise>\n\nDone when:\n\n- a: `clean`\n",
    );
}
