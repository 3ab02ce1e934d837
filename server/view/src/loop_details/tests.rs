use super::loop_details;
use crate::GroupState;
use crate::editor::fixture::{World, working_loop};
use loopkeeper_core::decide::sim::Turn;
use loopkeeper_core::settings::Preset;
use loopkeeper_core::settings::preset::PresetSelection;

fn details(world: &World) -> Vec<String> {
    world.with_view(|view| {
        let state = view.state.expect("a loop");
        loop_details(view.status.expect("a loop"), Some(state), state.time.last_at)
    })
}

#[test]
fn a_loop_at_work_has_counters_and_an_activity() {
    let mut world = working_loop(World::prompt(), "pf", vec![Turn::idle("pf"), Turn::new("ff")]);
    let preset = PresetSelection { name: Preset::Small, because: "small (as configured)".to_owned() };
    world.status.iter_mut().for_each(|it| it.breaker.preset = Some(preset.clone()));
    let expect = [
        "breaker closed: 0 of 3 iterations without a file change",
        "breaker preset: small (as configured)",
        "2 of 25 iterations · 2 min 3 s of 8 h, 7 h 57 min left · $0.02 of $25.00 · 2 of 100 calls this hour",
        "last seen: editing src/pay.rs",
    ];
    assert_eq!(details(&world), expect);
}

#[test]
fn an_ended_loop_has_what_it_reached_and_no_forecast() {
    let world = World::prompt().played("ff", vec![Turn::new("pf"), Turn::new("pp")]);
    let expect = [
        "reached: iteration 1, now passes: tests; iteration 2, now passes: lint",
        "2 of 25 iterations · 2 min 3 s of 8 h · $0.02 of $25.00",
    ];
    assert_eq!(details(&world), expect);
}

#[test]
fn claims_and_an_open_breaker_are_shown() {
    let says = Turn::new("pf").says("All tasks are complete. <promise>COMPLETE</promise>");
    let claimed = details(&working_loop(World::prompt(), "ff", vec![says]));
    assert!(claimed.iter().any(|it| it.starts_with("The agent says it is done")), "{claimed:?}");
    assert!(claimed.iter().all(|it| !it.ends_with('.')), "{claimed:?}");
    let tripped = details(&World::prompt().tripped());
    assert!(tripped.contains(&"breaker open: 3 iterations without a file change".to_owned()), "{tripped:?}");
}

#[test]
fn groups_of_criteria_are_counted() {
    let prompt = "# Pay\n\nDone when:\n\n- a: `$ a` (group core)\n- b: `$ b` (group core)\n- c: `$ c` (group docs)\n- d: `$ d`\n";
    let world =
        World::of(&[("PROMPT.md", prompt)]).played("ffff", vec![Turn::new("pfpf"), Turn::idle("pfpf")]);
    let status = world.status.as_ref().unwrap();
    let groups: Vec<_> =
        status.groups.iter().map(|it| (it.name.as_str(), it.state, it.passed, it.total)).collect();
    assert_eq!(groups, [("core", GroupState::Open, 1, 2), ("docs", GroupState::Holds, 1, 1)]);
    assert_eq!(status.groups_summary().as_deref(), Some("core 1 of 2, docs holds"));
    assert_eq!(status.breaker.preset, None);
}
