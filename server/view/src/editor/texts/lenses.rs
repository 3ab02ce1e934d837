//! Lenses and actions.

use expect_test::expect_file;
use loopkeeper_agent::ProviderClass;
use loopkeeper_core::decide::sim::{Sim, Turn, spec};
use loopkeeper_core::decide::{Phase, UserCommand};

use super::Transcript;
use crate::editor::fixture::{World, working_loop};
use crate::editor::lenses;

/// The lenses over each line of the task's documents that has any.
fn shown(world: &World) -> String {
    let mut lines = Vec::new();
    for document in &world.documents {
        let all = world.with_view(|view| lenses(view, &document.path));
        for (index, text) in document.text.lines().enumerate() {
            let over = |at: usize| document.text[..at].matches('\n').count() == index;
            let titles: Vec<&str> =
                all.iter().filter(|it| over(it.place.range.start)).map(|it| it.title.as_str()).collect();
            if !titles.is_empty() {
                lines.push(format!("    {}\n{text}\n", titles.join(" | ")));
            }
        }
    }
    lines.concat()
}

/// A loop whose user gave a command during its first iteration.
fn ordered(command: UserCommand) -> World {
    let mut sim = Sim::new(spec(World::prompt().task.criteria), "pf", vec![Turn::new("pf"), Turn::new("pp")]);
    while !matches!(sim.state.phase, Phase::Iterating { .. }) {
        assert!(sim.step());
    }
    sim.command(command);
    World::prompt().after(sim)
}

#[test]
fn lenses_over_tasks() {
    let mut file = Transcript::default();
    let prompt = World::prompt;
    let mut add = |title: &str, world: &World| file.section(title, shown(world));
    add("never checked", &prompt());
    add("not trusted", &{
        let world = prompt();
        World { untrusted: world.task.criteria.iter().map(|it| it.id.clone()).collect(), unknown: 2, ..world }
    });
    add("checks run", &World { checking: true, ..prompt() });
    add("checked", &prompt().with_results(&[('f', "3 of 214 fail"), ('p', "")]).with_output("file:///o"));
    add(
        "could not run, no tests",
        &prompt().with_results(&[('c', "\"make\" not found"), ('z', "0 tests ran")]),
    );
    add(
        "no result",
        &prompt().with_results(&[('t', "no result after 600 s"), ('u', "passed, but a changed")]),
    );
    add("files changed since", &prompt().with_results(&[('p', ""), ('f', "exit 1")]).stale());
    add("at work", &working_loop(prompt(), "pf", vec![Turn::new("pf")]));
    add("interrupted", &working_loop(prompt(), "pf", vec![Turn::new("pf")]).without_keeper());
    add("pausing", &ordered(UserCommand::Pause));
    add("stopping", &ordered(UserCommand::Stop));
    add("breaker open", &prompt().tripped());
    add("needs its user", &prompt().played("ff", vec![Turn::fails(ProviderClass::Login, "ff")]));
    add("completed", &prompt().played("ff", vec![Turn::new("pp")]));
    add("damaged", &prompt().played("ff", vec![Turn::new("pp")]).damaged());
    let plan = "- [ ] one\n- [x] two\n- [ ] three (optional)\n- [ ] four: `$ x`\n";
    add("a plan", &World::of(&[("PROMPT.md", "# Pay\n"), ("fix_plan.md", plan)]));
    expect_file!["../../../../../tests/e2e/texts/lenses.txt"].assert_eq(&file.0);
}
