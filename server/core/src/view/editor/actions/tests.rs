use super::{Action, Cure};
use crate::decide::tests::sim::Act;
use crate::view::editor::actions;
use crate::view::editor::fixture::{World, at_work};

fn at(world: &World, needle: &str) -> Vec<Action> {
    let text = &world.documents[0].text;
    let start = text.find(needle).expect("in the text");
    world.look(|known| actions(known, "PROMPT.md", &(start..start + needle.len())))
}

fn titles(actions: &[Action]) -> Vec<String> {
    actions.iter().map(|it| format!("{}: {}", it.kind, it.title)).collect()
}

#[test]
fn everything_a_lens_offers_is_an_action() {
    let world = World::prompt().found(&[('f', "exit 1"), ('p', "")]).with_output("file:///s/1.out");
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
    let working = at_work(World::prompt(), "ff", vec![Act::new("pf")]);
    assert_eq!(
        titles(&at(&working, "# Pay")),
        [
            "source.loopkeeper.pause: Pause loop \"Pay\" after this iteration",
            "source.loopkeeper.stop: Stop loop \"Pay\" after this iteration",
            "source.loopkeeper.check: Run all checks of \"Pay\"",
            "source.loopkeeper.stop: Stop loop \"Pay\" now",
            "source.loopkeeper.diff: Show changes of iteration 1",
            "source.loopkeeper.output: Show agent output of iteration 1",
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
fn cures_of_the_parser_are_quick_fixes() {
    let check = |text: &str, needle: &str, title: &str, expect: &str| {
        let world = World::of(&[("PROMPT.md", text)]);
        let all = at(&world, needle);
        let fix = all.iter().find(|it| it.kind == "quickfix").expect("a quick fix");
        assert_eq!(fix.title, title);
        let Cure::Edits(edits) = &fix.cure else { panic!("edits") };
        let mut cured = text.to_owned();
        cured.replace_range(edits[0].place.range.clone(), &edits[0].text);
        assert_eq!(cured, expect);
        let (place, code) = fix.fixes.clone().expect("what it cures");
        let found = world.look(crate::view::editor::diagnostics);
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
