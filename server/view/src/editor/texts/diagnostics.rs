//! Diagnostics of results, of a loop, and of missing requirements.

use expect_test::expect_file;
use loopkeeper_agent::ProviderClass;
use loopkeeper_core::decide::UserCommand;
use loopkeeper_core::decide::sim::{Sim, Turn, spec};
use loopkeeper_core::strays::DuplicateConfiguration;

use super::{Transcript, shown};
use crate::editor::fixture::{PROMPT, World, working_loop};
use crate::editor::source_failures;

#[test]
fn results_of_checks() {
    let mut file = Transcript::default();
    let prompt = World::prompt;
    let mut add = |title: &str, world: &World| file.section(title, shown(world));
    add("never checked", &prompt());
    add("one fails", &prompt().with_results(&[('f', "3 of 214 fail"), ('p', "exit 0")]));
    add(
        "checks that could not run",
        &prompt()
            .with_results(&[('m', "program \"cargo-clippy\" is not installed"), ('c', "killed by SIGKILL")]),
    );
    add(
        "a file of the project is missing",
        &prompt().with_results(&[('g', "\"./coverage.sh\" not found"), ('p', "")]),
    );
    add("no result", &prompt().with_results(&[('t', "no result after 600 s"), ('z', "0 tests ran")]));
    add(
        "no fact",
        &prompt().with_results(&[('u', "passed, but src/a.rs changed while the checks ran"), ('f', "")]),
    );
    add("files changed since", &prompt().with_results(&[('f', "exit 1"), ('p', "")]).stale());
    let places = [("src/auth.rs", 88, "login_rejects_expired"), ("src/pay.rs", 3, "")];
    let located = prompt()
        .with_results(&[('f', "2 of 9 fail"), ('p', "")])
        .with_locations(&places)
        .with_output("file:///o");
    add("places in the output", &located);
    let copies: Vec<String> = located
        .with_view(source_failures)
        .iter()
        .map(|it| format!("{}:{} {:?}: {}\n", it.file, it.line, it.severity, it.message))
        .collect();
    file.section("the same in the sources", copies.concat());
    expect_file!["../../../../../tests/e2e/texts/diagnostics-results.txt"].assert_eq(&file.0);
}

#[test]
fn a_loop_at_work() {
    let mut file = Transcript::default();
    let mut add = |title: &str, world: &World| file.section(title, shown(world));
    add("a guard", &working_loop(World::prompt(), "pf", vec![Turn::new("pf")]));
    add("a regression", &working_loop(World::prompt(), "pf", vec![Turn::new("ff")]));
    add("a flaky check", &working_loop(World::prompt(), "ff", vec![Turn::idle("pf")]));
    let long = vec![Turn { takes_ms: 1_000, ..Turn::new("ff") }];
    let mut expensive = working_loop(World::prompt(), "ff", long);
    expensive.results.iter_mut().for_each(|it| it.0.duration_ms = 100_000);
    add("checks that take longer than an iteration", &expensive);
    add("criteria that the agent changed", &proposed());
    let weakens = |paths: &[&'static str]| {
        let weakens = Turn { weakens: Some(paths.to_vec()), ..Turn::new("pp") };
        World::prompt().played("ff", vec![weakens, Turn::idle("pp")])
    };
    add("a weakened test", &weakens(&["tests/a.py"]));
    add("fewer tests", &World::prompt().played("5f", vec![Turn::new("3p"), Turn::idle("3p")]));
    expect_file!["../../../../../tests/e2e/texts/diagnostics-at-work.txt"].assert_eq(&file.0);
}

/// The agent removed one criterion, altered none and added one.
fn proposed() -> World {
    let text = format!("{PROMPT}- docs: `$ make docs`\n");
    let edited = World::of(&[("PROMPT.md", text.as_str())]);
    let leaves = Some(edited.task.criteria[1..].to_vec());
    let mut sim =
        Sim::new(spec(World::prompt().task.criteria), "ff", vec![Turn { leaves, ..Turn::new("pf") }]);
    while sim.state.criteria.proposed.is_empty() {
        assert!(sim.step());
    }
    edited.after(sim)
}

#[test]
fn a_loop_that_needs_its_user_or_has_ended() {
    let mut file = Transcript::default();
    let mut add = |title: &str, world: &World| file.section(title, shown(world));
    let mut untrusted = World::prompt();
    untrusted.unknown = 3;
    untrusted.untrusted = [untrusted.task.criteria[0].id.clone()].into();
    add("commands that are not trusted", &untrusted);
    add("one command that is not trusted", &World { unknown: 1, ..World::prompt() });
    add("an editor that does not trust the folder", &World { editor_trusted: false, ..World::prompt() });
    add("breaker open, for a while", &World::prompt().cooling());
    add("breaker open", &World::prompt().tripped());
    add("interrupted", &World::prompt().tripped().without_keeper());
    add("damaged", &World::prompt().tripped().damaged());
    add("login", &World::prompt().played("ff", vec![Turn::fails(ProviderClass::Login, "ff")]));
    let idle = || vec![Turn::idle("ff"), Turn::idle("ff"), Turn::idle("ff")];
    let mut alone = spec(World::prompt().task.criteria);
    alone.attended = false;
    add("ended by the breaker", &World::prompt().after(Sim::new(alone, "ff", idle()).run()));
    let mut short = spec(World::prompt().task.criteria);
    short.settings.limits.iterations = 1;
    add("limit: iterations", &World::prompt().after(Sim::new(short, "ff", vec![Turn::new("pf")]).run()));
    let mut poor = spec(World::prompt().task.criteria);
    poor.settings.limits.cost_micros = 10_000;
    add("limit: cost", &World::prompt().after(Sim::new(poor, "ff", vec![Turn::new("pf")]).run()));
    let mut late = spec(World::prompt().task.criteria);
    late.settings.limits.duration_ms = 60_000;
    add("limit: duration", &World::prompt().after(Sim::new(late, "ff", vec![Turn::new("pf")]).run()));
    add("completed", &World::prompt().played("ff", vec![Turn::new("pp")]));
    add(
        "completed, with a file that nothing needs",
        &World::prompt().with_strays(&["src/payments/legacy/pay_old.rs"]),
    );
    add("completed, with two", &World::prompt().with_strays(&["src/a.py", "src/b.py"]));
    let runners = DuplicateConfiguration {
        what: "two test runners",
        earlier: Vec::new(),
        added: vec!["jest.config.js".to_owned(), "vitest.config.ts".to_owned()],
    };
    add("two test runners", &World { leftovers: vec![runners], ..World::prompt() });
    let mut stopped = Sim::new(spec(World::prompt().task.criteria), "ff", vec![Turn::new("pf")]);
    stopped.command(UserCommand::Stop);
    stopped.play();
    add("stopped", &World::prompt().after(stopped));
    let asks = Turn::new("ff").says("Shall I use SQLite or Postgres? Please tell me how to proceed.");
    add("the agent asks", &World::prompt().played("ff", vec![asks]));
    expect_file!["../../../../../tests/e2e/texts/diagnostics-loops.txt"].assert_eq(&file.0);
}
