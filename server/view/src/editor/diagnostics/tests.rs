use crate::editor::diagnostic::{Diagnostic, DiagnosticCode, RelatedTarget, Severity};
use crate::editor::fixture::{PROMPT, World, working_loop};
use crate::editor::{diagnostics, source_failures};
use loopkeeper_core::decide::UserCommand;
use loopkeeper_core::decide::sim::{Sim, Turn, spec};

/// `line severity code message`, one diagnostic per line; `~` marks stale ones.
fn shown(world: &World) -> String {
    let all = world.with_view(diagnostics);
    all.iter().map(|it| one(world, it)).collect::<Vec<_>>().join("\n")
}

fn one(world: &World, it: &Diagnostic) -> String {
    let text = &world.documents.iter().find(|document| document.path == it.place.file).expect("known").text;
    let line = text[..it.place.range.start].matches('\n').count() + 1;
    let severity = match it.severity {
        Severity::Error => "E",
        Severity::Warning => "W",
        Severity::Information => "I",
        Severity::Hint => "H",
    };
    let stale = if it.stale { "~" } else { "" };
    format!("{line} {severity}{stale} {} {}", it.code.word(), it.message)
}

fn check(world: &World, expect: &[&str]) {
    assert_eq!(shown(world).lines().collect::<Vec<_>>(), expect);
}

#[test]
fn the_list_of_codes_is_complete() {
    let source = include_str!("../diagnostic.rs");
    let (_, source) = source.split_once("pub fn word(self)").unwrap();
    let (source, _) = source.split_once("\n    }\n").unwrap();
    let words: Vec<&str> = DiagnosticCode::ALL.iter().map(|it| it.word()).collect();
    let matched: Vec<&str> =
        source.lines().filter_map(|it| it.split_once("=> \"")?.1.split('"').next()).collect();
    assert!(!matched.is_empty(), "{source}");
    for word in matched {
        assert!(words.contains(&word), "`DiagnosticCode::ALL` lacks {word}");
    }
}

#[test]
fn every_code_is_documented() {
    let page = include_str!("../../../../PROTOCOL.md");
    for code in DiagnosticCode::ALL {
        assert!(page.contains(&format!("`{}`", code.word())), "{code:?}");
    }
}

#[test]
fn results_without_a_loop_are_warnings() {
    let prompt = World::prompt;
    check(
        &prompt(),
        &[
            "1 H summary idle: 2 criteria, not checked yet",
            "5 H never-run tests: not checked yet",
            "6 H never-run lint: not checked yet",
        ],
    );
    check(
        &prompt().with_results(&[('f', "3 of 214 fail"), ('p', "exit 0")]),
        &["1 I summary idle: 1 of 2 criteria pass", "5 W failing tests: 3 of 214 fail"],
    );
    check(
        &prompt()
            .with_results(&[('m', "program \"cargo-clippy\" is not installed"), ('c', "killed by SIGKILL")]),
        &[
            "1 I summary idle: 0 of 2 criteria pass",
            "5 E could-not-run tests: could not run, program \"cargo-clippy\" is not installed. Install it.",
            "6 E could-not-run lint: could not run, killed by SIGKILL",
        ],
    );
    // A dependency missing in the project can be added by the loop.
    check(
        &prompt().with_results(&[('g', "\"./coverage.sh\" not found"), ('p', "exit 0")]),
        &[
            "1 I summary idle: 1 of 2 criteria pass",
            "5 W could-not-run tests: could not run, \"./coverage.sh\" not found",
        ],
    );
    check(
        &prompt().with_results(&[('t', "no result after 600 s"), ('z', "0 tests ran")]),
        &[
            "1 I summary idle: 0 of 2 criteria pass",
            "5 W timed-out tests: no result after 600 s. Raise the limit with `(timeout …)`.",
            "6 W no-tests-ran lint: 0 tests ran. Check which tests it selects.",
        ],
    );
    check(
        &prompt().with_results(&[('u', "passed, but src/a.rs changed while the checks ran"), ('f', "")]),
        &[
            "1 I summary idle: 0 of 2 criteria pass",
            "5 W unstable tests: passed, but src/a.rs changed while the checks ran",
            "6 W failing lint: fails",
        ],
    );
    check(
        &prompt().with_results(&[('f', "exit 1"), ('p', "")]).stale(),
        &[
            "1 H~ summary idle: 1 of 2 criteria pass, files changed since",
            "5 H~ failing tests: exit 1, files changed since",
        ],
    );
}

#[test]
fn while_a_loop_works_only_what_broke_is_a_warning() {
    let world = working_loop(World::prompt(), "pf", vec![Turn::new("pf")]);
    check(
        &world,
        &[
            "1 I summary working: 1 of 2 criteria pass",
            "5 H already-passing tests: passed before the loop started. It guards against regressions.",
            "6 I failing lint: fails",
        ],
    );
    let world = working_loop(World::prompt(), "pf", vec![Turn::new("ff")]);
    check(
        &world,
        &[
            "1 I summary working: 0 of 2 criteria pass",
            "5 W regressed tests: passed before, fails now",
            "6 I failing lint: fails",
        ],
    );
    // A goal that had passed fails like a guard.
    let world = working_loop(World::prompt(), "ff", vec![Turn::new("pf"), Turn::new("ff")]);
    check(
        &world,
        &[
            "1 I summary working: 0 of 2 criteria pass",
            "5 W regressed tests: passed before, fails now",
            "6 I failing lint: fails",
        ],
    );
    let world = working_loop(World::prompt(), "pf", vec![Turn::new("tf")]);
    assert!(shown(&world).contains("5 W timed-out tests: "), "{}", shown(&world));
}

/// The diagnostics on the first line.
fn first_line(world: &World) -> Vec<String> {
    shown(world).lines().filter(|it| it.starts_with("1 ")).map(str::to_owned).collect()
}

#[test]
fn obstacles_to_a_loop_are_reported_on_the_first_line() {
    assert_eq!(
        first_line(&World::prompt().cooling()),
        [
            "1 W summary breaker open: 0 of 2 criteria pass",
            "1 W breaker-open breaker open: 3 iterations without a file change. Resume to try again now.",
        ]
    );
    let open = World::prompt().tripped();
    assert_eq!(
        first_line(&open),
        [
            "1 W summary breaker open: 0 of 2 criteria pass",
            "1 W breaker-open breaker open: 3 iterations without a file change. Reset it to continue.",
        ]
    );
    assert_eq!(
        first_line(&open.without_keeper()),
        [
            "1 I summary needs you: 0 of 2 criteria pass",
            "1 W interrupted interrupted: the loop's process ended. Resume the loop.",
        ]
    );
    assert_eq!(
        first_line(&World::prompt().tripped().damaged()),
        [
            "1 I summary idle: 0 of 2 criteria pass",
            "1 E damaged damaged: the loop's journal is damaged or of a later version. Start a new loop.",
        ]
    );
}

#[test]
fn the_outcome_of_a_loop_is_reported_on_the_first_line() {
    let mut short = spec(World::prompt().task.criteria);
    short.settings.limits.iterations = 1;
    let limited = World::prompt().after(Sim::new(short, "ff", vec![Turn::new("pf")]).run());
    assert_eq!(
        first_line(&limited),
        [
            "1 I summary limit reached: 1 of 2 criteria pass",
            "1 W limit-reached limit reached: 1 iteration used. Raise `limits.iterations`.",
        ]
    );
    // Fixed manually: the outcome of the loop no longer applies.
    assert_eq!(
        first_line(&limited.with_results(&[('p', ""), ('p', "")])),
        ["1 I summary idle: 2 of 2 criteria pass"]
    );
    let mut alone = spec(World::prompt().task.criteria);
    alone.attended = false;
    let tripped = World::prompt()
        .after(Sim::new(alone, "ff", vec![Turn::idle("ff"), Turn::idle("ff"), Turn::idle("ff")]).run());
    assert_eq!(
        first_line(&tripped)[1],
        "1 W breaker-open breaker open: 3 iterations without a file change. Change the task or the limit."
    );
    let login = loopkeeper_agent::ProviderClass::Login;
    let refused = World::prompt().played("ff", vec![Turn::fails(login, "ff")]);
    assert!(
        first_line(&refused)[0].starts_with("1 W summary needs you: the agent `"),
        "{:?}",
        first_line(&refused)
    );
    let done = World::prompt().played("ff", vec![Turn::new("pp")]);
    assert_eq!(first_line(&done), ["1 I summary completed and verified: 2 of 2 criteria pass"]);
    let broken_since = done.with_results(&[('p', ""), ('f', "")]);
    assert_eq!(first_line(&broken_since), ["1 I summary idle: 1 of 2 criteria pass"]);
}

#[test]
fn a_weakening_is_reported_at_the_criterion_it_concerns() {
    let paused_loop = |paths: &[&'static str]| {
        let weakens = Turn { weakens: Some(paths.to_vec()), ..Turn::new("pp") };
        World::prompt().played("ff", vec![weakens, Turn::idle("pp")])
    };
    let world = paused_loop(&["tests/a.py"]);
    let needs = "1 W summary needs you: every check passes, but tests/a.py lost 1 test: not counted as done";
    let expected = "1 W weakened weakened: tests/a.py lost 1 test. Restore it or accept it.";
    check(&world, &[needs, expected]);
    let related = world
        .with_view(diagnostics)
        .into_iter()
        .find(|it| it.code == DiagnosticCode::Weakened)
        .unwrap()
        .related;
    let file = RelatedTarget::Source { file: "tests/a.py".to_owned(), line: 1, column: None };
    assert_eq!(related.first().map(|it| &it.target), Some(&file));
    // The end of a long path is shown, and the loss.
    let long =
        paused_loop(&["packages/payments/services/checkout/tests/integration/refunds/test_partial.py"]);
    let expected = shown(&long).lines().last().unwrap().to_owned();
    let end = "integration/refunds/test_partial.py lost 1 test. Restore it or accept it.";
    assert!(expected.starts_with("1 W weakened weakened: …") && expected.ends_with(end), "{expected}");
    // A check that runs fewer tests; its own message, although no file explains it.
    let world = World::prompt().played("5f", vec![Turn::new("3p"), Turn::idle("3p")]);
    let expected = "5 W weakened weakened: tests runs 3 tests, 5 at the start. Fix it or accept it.";
    assert!(shown(&world).contains(expected), "{}", shown(&world));
    // An ended loop reports no weakenings.
    let mut sim =
        Sim::new(spec(world.task.criteria.clone()), "5f", vec![Turn::new("3p"), Turn::idle("3p")]).run();
    sim.command(UserCommand::AcceptWeakening { by: None });
    sim.play();
    assert!(sim.state.outcome().is_some());
    check(&World::prompt().after(sim), &["1 I summary completed and verified: 2 of 2 criteria pass"]);
}

#[test]
fn a_check_that_cannot_decide_is_flaky() {
    let world = working_loop(World::prompt(), "ff", vec![Turn::idle("pf")]);
    check(
        &world,
        &[
            "1 I summary working: 1 of 2 criteria pass",
            "5 W flaky tests: passes and fails on the same files. Make its result deterministic.",
            "6 I failing lint: fails",
        ],
    );
    let honest = working_loop(World::prompt(), "ff", vec![Turn::new("pf")]);
    assert!(!shown(&honest).contains("flaky"), "work that turns it is believed");
}

#[test]
fn trust_is_asked_for_once_for_the_whole_task() {
    let mut world = World::prompt();
    world.unknown = 3;
    world.untrusted = [world.task.criteria[0].id.clone()].into();
    check(
        &world,
        &[
            "1 H summary idle: 2 criteria, not checked yet",
            "1 I needs-trust 3 commands need your trust before anything runs.",
            "6 H never-run lint: not checked yet",
        ],
    );
    world.editor_trusted = false;
    assert!(shown(&world).contains("1 I needs-trust The editor does not trust this folder"));
    world.live = false;
    check(&world, &[]);
}

#[test]
fn agent_edits_are_proposals() {
    let text = format!("{PROMPT}- docs: `$ make docs`\n");
    let edited = World::of(&[("PROMPT.md", text.as_str())]);
    let before = World::prompt().task.criteria;
    let mut act = Turn::new("pf");
    act.leaves = Some(edited.task.criteria[1..].to_vec());
    let mut sim = Sim::new(spec(before), "ff", vec![act]);
    while sim.state.criteria.proposed.is_empty() {
        assert!(sim.step());
    }
    let world = edited.after(sim);
    let shown_diagnostics = shown(&world);
    assert!(
        shown_diagnostics.contains("1 I proposed tests: removed by the agent, still judged"),
        "{shown_diagnostics}"
    );
    assert!(
        shown_diagnostics.contains("7 I proposed docs: written by the agent, not judged by this loop"),
        "{shown_diagnostics}"
    );
}

#[test]
fn plan_items_are_compared_with_the_checks() {
    let plan = |done: &str| {
        format!(
            "{{\"userStories\": [{{\"id\": \"A\", \"title\": \"Log in\", \"passes\": {done}, \
             \"acceptanceCriteria\": [\"one: `$ a`\", \"two: `$ b`\"]}}]}}"
        )
    };
    let shown_diagnostics = |done: &str, results: &[(char, &str)], code: &str| {
        let text = plan(done);
        let world = World::of(&[("prd.json", text.as_str())]).with_results(results);
        let all = world.with_view(diagnostics);
        all.into_iter().find(|it| it.code.word() == code).map(|it| it.message).unwrap_or_default()
    };
    let (pass, fail) = (('p', ""), ('f', "exit 1"));
    let check =
        |done, results: &[_], code, expect: &str| assert_eq!(shown_diagnostics(done, results, code), expect);
    check("true", &[pass, fail], "false-claim", "Log in: marked done, but this fails: two");
    check("true", &[fail, fail], "false-claim", "Log in: marked done, but 2 of its 2 criteria fail");
    check("true", &[pass, pass], "false-claim", "");
    check("false", &[fail, fail], "false-claim", "");
    check("false", &[pass, pass], "unclaimed", "Log in: still open although all its criteria pass");
    check("false", &[pass, ('-', "")], "unclaimed", "");
    check("true", &[pass, pass], "unclaimed", "");
}

#[test]
fn plan_dependencies_are_compared_with_the_order() {
    let story = |id: &str, done: bool, before: &str| {
        format!(
            "{{\"id\": \"{id}\", \"title\": \"Story {id}\", \"passes\": {done}, \"dependsOn\": [{before}]}}"
        )
    };
    let check = |stories: &[String], expect: &[&str]| {
        let text = format!("{{\"userStories\": [{}]}}", stories.join(",\n"));
        let all = World::of(&[("prd.json", text.as_str())]).with_view(diagnostics);
        let shown_diagnostics: Vec<String> =
            all.into_iter().filter(|it| it.message.contains("depend")).map(|it| it.message).collect();
        assert_eq!(shown_diagnostics, expect);
    };
    check(&[story("A", true, ""), story("B", false, "\"A\"")], &[]);
    check(
        &[story("A", false, ""), story("B", true, "\"A\"")],
        &["Story B: marked done before A, which it depends on"],
    );
    let circular = |title: &str| {
        format!("{title}: circular: A, B depend on each other. Remove one of the dependencies.")
    };
    check(
        &[story("A", false, "\"B\""), story("B", false, "\"A\""), story("C", false, "\"A\"")],
        &[&circular("Story A"), &circular("Story B")],
    );
}

#[test]
fn findings_name_a_correction() {
    let text =
        "# T\n\n## Done when\n\n- a: `cargo test`\n- b: `has x`\n- c\n\nStop condition: - x: `clean` - y\n";
    let world = World::of(&[("PROMPT.md", text)]);
    let codes: Vec<_> = world.with_view(diagnostics).iter().map(|it| one(&world, it)).collect();
    let codes: Vec<String> =
        codes.iter().map(|it| it.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        codes,
        [
            "1 H summary",
            "5 W not-a-check",
            "6 E bad-check",
            "7 H unverified",
            "9 H inline-list",
            "9 H never-run",
            "9 H unverified"
        ]
    );
    let quiet = World { live: false, ..World::of(&[("PROMPT.md", text)]) };
    check(&quiet, &[]);
}

#[test]
fn evidence_is_linked_and_copied_to_its_lines() {
    let places = [("src/auth.rs", 88, "login_rejects_expired"), ("src/pay.rs", 3, "")];
    let world = World::prompt()
        .with_results(&[('f', "2 of 9 fail"), ('p', "")])
        .with_locations(&places)
        .with_output("file:///s/0001.out");
    let all = world.with_view(diagnostics);
    let failing = all.iter().find(|it| it.code.word() == "failing").expect("failing");
    let targets: Vec<_> = failing.related.iter().map(|it| (it.target.clone(), it.message.as_str())).collect();
    let source = |file: &str, line| RelatedTarget::Source { file: file.into(), line, column: None };
    assert_eq!(
        targets,
        [
            (source("src/auth.rs", 88), "login_rejects_expired"),
            (source("src/pay.rs", 3), "named by the output"),
            (
                RelatedTarget::Output {
                    uri: "file:///s/0001.out".into(),
                    naming: Some(("src/auth.rs".into(), 88))
                },
                "the complete output"
            ),
        ]
    );
    let copies = |world: &World| {
        let all = world.with_view(source_failures);
        all.iter()
            .map(|it| format!("{}:{} {:?} {}", it.file, it.line, it.severity, it.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        copies(&world),
        ["src/auth.rs:88 Warning login_rejects_expired", "src/pay.rs:3 Warning tests: 2 of 9 fail"]
    );
    assert_eq!(copies(&world.stale())[0], "src/auth.rs:88 Hint login_rejects_expired, files changed since");
    assert_eq!(
        copies(&World::prompt().with_results(&[('p', "")]).with_locations(&places)),
        Vec::<String>::new()
    );
}

#[test]
fn a_task_that_waits_for_trust_warns() {
    let mut sim = Sim::new(spec(World::prompt().task.criteria), "ff", vec![Turn::new("pf"), Turn::new("pp")]);
    while sim.state.iteration == 0 {
        sim.step();
    }
    let changed = World::of(&[("PROMPT.md", "# Pay\n\nDone when:\n\n- new: `$ make x`\n")]);
    sim.untrusted = [changed.task.criteria[0].id.clone()].into();
    sim.command(UserCommand::Pause);
    sim.play();
    sim.documents = changed.task.criteria.clone();
    sim.command(UserCommand::Resume);
    sim.play();
    let mut world = changed.after(sim);
    world.unknown = 1;
    let shown_diagnostics = shown(&world);
    assert!(shown_diagnostics.contains("1 W needs-trust 1 command needs your trust"), "{shown_diagnostics}");
}
