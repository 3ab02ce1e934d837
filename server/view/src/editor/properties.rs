//! Properties for arbitrary texts, results and loops: no panic, short and clean messages, ranges inside their
//! documents, at most three lenses per line, deterministic results.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, proptest};

use super::fixture::{World, working_loop};
use super::{
    DeclaredCommand, ProjectCommands, actions, diagnostics, hover, lenses, source_failures, symbols,
};
use loopkeeper_core::decide::sim::{Sim, Turn, spec};
use loopkeeper_text::DocumentRange;

const FRAGMENTS: &[&str] = &[
    "\n",
    "\n\n",
    "\r\n",
    "- ",
    "  - ",
    "- [ ] ",
    "- [x] ",
    "# ",
    "## Done when\n\n",
    "Done when:\n\n",
    "Done when: - ",
    " - ",
    "`$ cargo test`",
    "`cargo test`",
    "`has x`",
    "`exists \u{202e}a`",
    "`",
    "`clean`",
    "GET http://x",
    "(optional)",
    "---\n",
    "title: x\n---\n",
    "\u{feff}",
    "\u{202e}evil",
    "\u{1b}[31m",
    "\0",
    "<<promise>>X<</promise>>",
    "[a](command:b)",
    "<b>",
    "é界🚀",
    "a long name of many words that goes on and on and on until nobody reads it any more",
    "{\"userStories\": [{\"id\": \"A\", \"title\": \"t\", \"passes\": true, \"acceptanceCriteria\": [\"a: `$ x`\"]}]}",
    "{",
    "\"",
];

fn documents() -> impl Strategy<Value = (String, String)> {
    let text = || vec(select(FRAGMENTS), 0..40).prop_map(|it| it.concat());
    (text(), text())
}

/// Results, the state of a loop, trust and all other inputs, chosen by the numbers.
fn world(documents: &(String, String), dice: &[u8]) -> World {
    let roll = |index: usize| dice.get(index).copied().unwrap_or_default();
    let plan = if roll(0) % 2 == 0 { "prd.json" } else { "fix_plan.md" };
    let mut world = World::of(&[("PROMPT.md", &documents.0), (plan, &documents.1)]);
    let letters = ['p', 'f', 't', 'z', 'c', 'u', '-'];
    let facts = ["", "3 of 214 fail", "\u{202e}\u{1b}]0;x\u{7}", "界".repeat(200).leak() as &str];
    let some = |index: usize| {
        (letters[usize::from(roll(index)) % letters.len()], facts[usize::from(roll(index + 1)) % facts.len()])
    };
    let found: Vec<_> = (0..world.task.criteria.len()).map(|at| some(1 + at % 8)).collect();
    world = world.with_results(&found);
    if roll(2) % 3 == 0 {
        world = world.stale();
    }
    let places = [("src/a.rs", 3, "x"), ("\u{202e}b", u32::MAX, "\u{1b}[31m"), ("", 0, "")];
    world = world.with_locations(&places).with_output("file:///o");
    world.live = roll(3) % 4 != 0;
    world.checking = roll(4) % 4 == 0;
    world.editor_trusted = roll(5) % 4 != 0;
    world.unknown = usize::from(roll(6) % 3);
    if roll(7) % 3 == 0 {
        world.untrusted = world.task.criteria.iter().take(2).map(|it| it.id.clone()).collect();
    }
    in_a_loop(world, roll(8))
}

fn in_a_loop(world: World, roll: u8) -> World {
    match roll % 7 {
        0 => world,
        1 => world.played("pf", vec![Turn::idle("pf"), Turn::idle("ff"), Turn::idle("fp")]),
        2 => world.played("ff", vec![Turn::new("pppppppppp")]),
        3 => world.played("ff", vec![Turn::idle("f"), Turn::idle("f"), Turn::idle("f")]).without_keeper(),
        4 => world.played("f", vec![Turn::idle("f"), Turn::idle("f"), Turn::idle("f")]).damaged(),
        5 => {
            let sim = Sim::new(spec(world.task.criteria.clone()), "p", vec![]);
            world.after(sim)
        }
        _ => working_loop(World::prompt(), "pf", vec![Turn::new("fp")]),
    }
}

fn is_clean(text: &str) -> bool {
    !text.contains(|it: char| it.is_control() || ('\u{202a}'..='\u{202e}').contains(&it))
}

fn is_inside(world: &World, place: &DocumentRange) -> bool {
    let text = world.documents.iter().find(|it| it.path == place.file).map(|it| it.text.as_str());
    text.is_some_and(|it| it.get(place.range.clone()).is_some())
}

proptest! {
    #[test]
    fn diagnostics_are_short_clean_and_in_place(documents in documents(), dice in vec(any::<u8>(), 12)) {
        let world = world(&documents, &dice);
        let all = world.with_view(diagnostics);
        for it in &all {
            prop_assert!(it.message.chars().count() <= 100, "{:?}", it);
            prop_assert!(is_clean(&it.message), "{:?}", it);
            prop_assert!(is_inside(&world, &it.place), "{:?}", it);
            prop_assert!(it.related.iter().all(|it| is_clean(&it.message)));
            prop_assert_eq!(it.stale, it.message.ends_with(", files changed since"));
        }
        for it in world.with_view(source_failures) {
            prop_assert!(it.message.chars().count() <= 100 && is_clean(&it.message) && is_clean(&it.file));
        }
        prop_assert_eq!(all, world.with_view(diagnostics));
    }

    #[test]
    fn lenses_are_few_and_in_place(documents in documents(), dice in vec(any::<u8>(), 12)) {
        let world = world(&documents, &dice);
        for document in &world.documents {
            let all = world.with_view(|view| lenses(view, &document.path));
            let mut lines: BTreeMap<usize, usize> = BTreeMap::new();
            for it in &all {
                prop_assert!(is_inside(&world, &it.place) && is_clean(&it.title), "{:?}", it);
                let line = document.text[..it.place.range.start].matches('\n').count();
                *lines.entry(line).or_default() += 1;
            }
            prop_assert!(lines.values().all(|it| *it <= 3), "{:?}", all);
            prop_assert_eq!(&all, &world.with_view(|view| lenses(view, &document.path)));
        }
    }

    #[test]
    fn actions_hovers_and_symbols_are_clean(documents in documents(), dice in vec(any::<u8>(), 12)) {
        let world = world(&documents, &dice);
        for document in &world.documents {
            let whole = 0..document.text.len();
            let declared = [DeclaredCommand { command: "make".into(), file: "Makefile".into(), criterion: "é".into() }];
            let project = ProjectCommands { gates: &[], declared: &declared, proposed: &[] };
            for it in world.with_view(|view| actions(view, project, (&document.path, &whole))) {
                prop_assert!(is_clean(&it.title), "{:?}", it);
                prop_assert!(it.fixes.is_none_or(|(place, _)| is_inside(&world, &place)));
            }
            for offset in (0..=document.text.len()).step_by(7) {
                if let Some(it) = world.with_view(|view| hover(view, (&document.path, offset))) {
                    prop_assert!(is_inside(&world, &it.place));
                    prop_assert!(it.markdown(&[]).lines().all(is_clean) && it.plain().lines().all(is_clean));
                }
            }
            let mut left = world.with_view(|view| symbols(view, &document.path));
            while let Some(it) = left.pop() {
                prop_assert!(is_inside(&world, &it.place) && is_inside(&world, &it.selection), "{:?}", it);
                let holds = |inner: &DocumentRange| {
                    it.place.range.start <= inner.range.start && inner.range.end <= it.place.range.end
                };
                prop_assert!(holds(&it.selection) && it.children.iter().all(|it| holds(&it.place)), "{:?}", it);
                prop_assert!(!it.name.is_empty() && is_clean(&it.name) && is_clean(&it.detail), "{:?}", it);
                left.extend(it.children);
            }
        }
    }
}
