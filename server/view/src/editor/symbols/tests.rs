use super::Symbol;
use crate::editor::fixture::World;
use crate::editor::symbols;

fn shown(all: &[Symbol], depth: usize, out: &mut Vec<String>) {
    for it in all {
        out.push(format!("{}{:?} {} · {}", "  ".repeat(depth), it.kind, it.name, it.detail));
        shown(&it.children, depth + 1, out);
    }
}

fn outline(world: &World, file: &str) -> Vec<String> {
    let mut out = Vec::new();
    shown(&world.with_view(|view| symbols(view, file)), 0, &mut out);
    out
}

#[test]
fn the_outline_carries_the_state() {
    let stories = "{\"userStories\": [{\"id\": \"A\", \"title\": \"Log in\", \"passes\": true, \
                   \"acceptanceCriteria\": [\"one: `$ a`\"]}, {\"id\": \"B\", \"title\": \"Log out\"}]}";
    let prompt = "# Pay\n\nDone when:\n\n- tests: `$ cargo test`\n- docs\n";
    let world = World::of(&[("PROMPT.md", prompt), ("prd.json", stories)]).with_results(&[
        ('f', "3 of 214 fail"),
        ('-', ""),
        ('p', ""),
    ]);
    assert_eq!(
        outline(&world, "PROMPT.md"),
        [
            "Task Pay · 1 of 3 criteria pass, 1 without a check",
            "  Criterion tests · ✗ 3 of 214 fail · 12 s",
            "  Criterion docs · no check"
        ]
    );
    assert_eq!(
        outline(&world, "prd.json"),
        ["PlanItem Log in · done", "  Criterion one · ✓ pass · 12 s", "PlanItem Log out · open"]
    );
    assert_eq!(outline(&world, "other.md"), Vec::<String>::new());
}
