use super::Lens;
use crate::editor::fixture::{World, working_loop};
use crate::editor::lenses;
use loopkeeper_agent::{LoopMode, ProviderClass};
use loopkeeper_core::decide::sim::{Sim, Turn, spec};
use loopkeeper_core::decide::{Phase, UserCommand};

/// The lenses over one line, separated as displayed.
fn over(world: &World, line: usize) -> String {
    let all = world.with_view(|view| lenses(view, "PROMPT.md"));
    let text = &world.documents[0].text;
    let at = |it: &&Lens| text[..it.place.range.start].matches('\n').count() + 1 == line;
    all.iter().filter(at).map(|it| it.title.clone()).collect::<Vec<_>>().join(" | ")
}

#[test]
fn the_first_line_has_a_lens_with_the_state_of_the_loop() {
    let check = |world: &World, expect: &str| assert_eq!(over(world, 1), expect);
    check(&World::prompt(), "▶ Start loop | Run checks");
    check(&World { checking: true, ..World::prompt() }, "Running checks | Cancel");
    check(&World { editor_trusted: false, ..World::prompt() }, "");
    let working = working_loop(World::prompt(), "pf", vec![Turn::new("pf")]);
    check(&working, "Working · 1/25 · 1 of 2 criteria pass | Pause | Stop");
    check(&working.without_keeper(), "Interrupted · 1/25 · 1 of 2 criteria pass | Resume | Stop");
    check(&World::prompt().cooling(), "Breaker open · 3/25 · 0 of 2 criteria pass | Reset and resume | Stop");
    check(&World::prompt().tripped(), "Breaker open · 3/25 · 0 of 2 criteria pass | Reset and resume | Stop");
    let refused = World::prompt().played("ff", vec![Turn::fails(ProviderClass::Login, "ff")]);
    check(&refused, "Needs you · 1/25 · 0 of 2 criteria pass | Resume | Stop");
    let done = World::prompt().played("ff", vec![Turn::new("pp")]);
    check(&done, "Completed, verified · 2 of 2 criteria pass | ▶ Start loop | Run checks");
    let edited = World::prompt().played("ff", vec![Turn::new("pp")]).stale();
    check(&edited, "Idle · files changed since | ▶ Start loop | Run checks");
    let broken = World::prompt().played("ff", vec![Turn::new("pp")]).with_results(&[('p', ""), ('f', "")]);
    check(&broken, "Idle · 1 of 2 criteria pass | ▶ Start loop | Run checks");
    check(&done.damaged(), "Damaged · 2 of 2 criteria pass | ▶ Start loop | Run checks");
}

#[test]
fn an_attached_session_is_told_what_to_do() {
    let mut made = spec(World::prompt().task.criteria);
    made.settings.mode = LoopMode::Attach;
    let shown = |holds: Option<u32>| {
        let mut sim = Sim::new(made.clone(), "ff", vec![Turn::new("pf"); 2]);
        sim.play();
        if let Some(holds) = holds {
            sim.attach("s1", holds);
            sim.play();
        }
        over(&World::prompt().after(sim), 1)
    };
    assert_eq!(shown(None), "Type your first message in Claude Code · 0 of 2 criteria pass | Stop");
    assert_eq!(shown(Some(1)), "Your turn in Claude Code · 2/25 · 1 of 2 criteria pass | Stop");
}

#[test]
fn commands_show_before_they_are_carried_out() {
    let shown = |command: UserCommand| {
        let mut sim =
            Sim::new(spec(World::prompt().task.criteria), "pf", vec![Turn::new("pf"), Turn::new("pp")]);
        while !matches!(sim.state.phase, Phase::Iterating(_)) {
            assert!(sim.step());
        }
        sim.command(command);
        over(&World::prompt().after(sim), 1)
    };
    assert_eq!(
        shown(UserCommand::Pause),
        "Pausing after this iteration · 1/25 · 1 of 2 criteria pass | Don't pause | Stop"
    );
    assert_eq!(shown(UserCommand::Stop), "Stopping · 1/25 · 1 of 2 criteria pass | Stop now");
    let mut sim = Sim::new(spec(World::prompt().task.criteria), "pf", vec![Turn::new("pf")]);
    sim.command(UserCommand::Pause);
    sim.play();
    assert_eq!(over(&World::prompt().after(sim), 1), "Paused · 1 of 2 criteria pass | Resume | Stop");
    let starting = Sim::new(spec(World::prompt().task.criteria), "pf", vec![]);
    assert_eq!(
        over(&World::prompt().after(starting), 1),
        "Working · checks before iteration 1 | Pause | Stop"
    );
}

#[test]
fn a_criterion_has_a_lens_with_its_result() {
    let check = |result: (char, &'static str), expect: &str| {
        let world = World::prompt().with_results(&[result]).with_output("file:///s/0001.out");
        assert_eq!(over(&world, 5), expect);
    };
    check(('-', ""), "not checked yet | Run");
    check(('p', "214 pass"), "✓ pass · 12 s | Run");
    check(('f', "3 of 214 fail"), "✗ 3 of 214 fail · 12 s | Run | Output");
    check(('t', "no result after 600 s"), "✗ no result after 600 s · 12 s | Run | Output");
    check(('c', "\"make\" not found"), "✗ could not run, \"make\" not found · 12 s | Run | Output");
    check(('z', "0 tests ran"), "✗ 0 tests ran · 12 s | Run | Output");
    check(('u', "passed, but a changed"), "? passed, but a changed · 12 s | Run | Output");
    let stale = World::prompt().with_results(&[('p', "")]).stale();
    assert_eq!(over(&stale, 5), "✓ passed before the files changed | Run");
    let world = World { untrusted: [stale.task.criteria[1].id.clone()].into(), ..stale };
    assert_eq!(over(&world, 6), "needs trust | Review…");
}

#[test]
fn lens_commands_name_task_loop_and_criterion() {
    let world = working_loop(World::prompt(), "ff", vec![Turn::new("pf")]).with_output("file:///s/0001.out");
    let all = world.with_view(|view| lenses(view, "PROMPT.md"));
    let commands: Vec<String> = all
        .iter()
        .map(|it| it.command.as_ref().map_or("-".into(), |it| format!("{} {}", it.command, it.argument)))
        .collect();
    let (id, other) = (&world.task.criteria[0].id.0, &world.task.criteria[1].id.0);
    let output = |id: &str| {
        format!("loopkeeper.server.output {{\"criterion\":\"{id}\",\"task\":\"file:///w/PROMPT.md\"}}")
    };
    let run = |id: &str| output(id).replace(".output", ".check");
    assert_eq!(
        commands,
        [
            "loopkeeper.server.output {\"iteration\":1,\"task\":\"file:///w/PROMPT.md\"}".to_owned(),
            "loopkeeper.server.pause {\"loopId\":\"20261120-abcdef\"}".to_owned(),
            "loopkeeper.server.stop {\"loopId\":\"20261120-abcdef\"}".to_owned(),
            output(id),
            run(id),
            output(other),
            run(other),
            output(other),
        ]
    );
}

#[test]
fn an_open_item_has_lenses_to_skip_and_move_it() {
    let plan = "- [ ] one\n- [x] two\n- [ ] three (optional)\n- [ ] four: `$ x`\n";
    let world = World::of(&[("PROMPT.md", "# Pay\n"), ("fix_plan.md", plan)]);
    let all = world.with_view(|view| lenses(view, "fix_plan.md"));
    let titles: Vec<&str> = all.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["not checked yet", "Run", "Skip", "Raise", "Lower", "Take up"]);
    let lower = all[4].command.as_ref().unwrap();
    let id = &world.task.plan[0].id;
    let argument = format!("{{\"by\":-1,\"item\":\"{id}\",\"task\":\"file:///w/PROMPT.md\"}}");
    assert_eq!((lower.command, lower.argument.to_string()), ("loopkeeper.server.prioritize", argument));
}

#[test]
fn a_line_has_at_most_three_lenses() {
    let text = "Done when: - a: `$ x` - b: `$ y` - c: `$ z`\n";
    let world = World::of(&[("PROMPT.md", text)]).with_results(&[('f', ""), ('f', ""), ('f', "")]);
    assert_eq!(over(&world, 1), "▶ Start loop | Run checks");
}
