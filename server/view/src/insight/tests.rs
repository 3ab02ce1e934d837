use super::{Insight, InsightBuilder, IterationFacts, IterationResult, LoopFacts, html, table};
use expect_test::expect;
use loopkeeper_agent::ProviderClass;
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
use loopkeeper_core::journal::{LoopSpec, StopVerdict};

const HOSTILE: &str = "/home/u/<script>alert(1)</script>\u{1b}[31m\u{202e}|`";

fn loop_spec() -> LoopSpec {
    let mut spec = spec(vec![criterion("tests pass", "make test"), criterion("it lints", "make lint")]);
    spec.settings.limits.iterations = 6;
    spec
}

fn facts_of(sim: &Sim) -> LoopFacts {
    LoopFacts::of(&sim.state)
}

fn played(turns: Vec<Turn>) -> LoopFacts {
    facts_of(&Sim::new(loop_spec(), "ff", turns).run())
}

fn insight(loops: &[LoopFacts]) -> Insight {
    let mut builder = InsightBuilder::default();
    for it in loops {
        builder.add(it);
    }
    builder.finish(None)
}

/// One letter per iteration: `t`urned, `k`ept, `n`othing, `w`aited.
#[track_caller]
fn check(turns: Vec<Turn>, expect: &str) {
    let facts = played(turns);
    let letter = |it: &IterationFacts| match it.result {
        IterationResult::Turned => 't',
        IterationResult::Kept => 'k',
        IterationResult::Nothing => 'n',
        IterationResult::Waited => 'w',
    };
    assert_eq!(facts.iterations.iter().map(letter).collect::<String>(), expect);
}

#[test]
fn iterations_are_classified_by_their_result() {
    check(vec![Turn::new("pf"), Turn::new("pf"), Turn::idle("pf"), Turn::new("pp")], "tknt");
    // Only the first pass of a criterion counts.
    check(vec![Turn::new("pf"), Turn::new("ff"), Turn::new("pf"), Turn::new("pp")], "tkkt");
    let quota = || Turn::fails(ProviderClass::Quota, "ff");
    check(vec![quota(), Turn::fails(ProviderClass::Crash, "ff"), Turn::new("pp")], "wnt");
    // Back to an earlier tree.
    let named = |tree| Turn { makes: Some(tree), ..Turn::new("ff") };
    check(vec![named("a"), named("b"), named("a"), Turn::new("pp")], "kknt");
}

#[test]
fn waits_are_added_up() {
    let mut spec = loop_spec();
    spec.settings.limits.between_ms = 5_000;
    let turns = vec![Turn::new("ff"), Turn::new("ff"), Turn::new("pp")];
    let facts = facts_of(&Sim::new(spec, "ff", turns).run());
    assert!((10_000..10_100).contains(&facts.waited_ms), "{}", facts.waited_ms);
    assert_eq!(played(vec![Turn::new("pp")]).waited_ms, 0);
    assert_eq!(insight(&[facts.clone(), facts.clone()]).iterations.waits_ms, 2 * facts.waited_ms);
}

#[test]
fn failures_are_part_of_the_cost_of_a_verified_task() {
    let verified = played(vec![Turn { cost: 2_000_000, ..Turn::new("pp") }]);
    let mut stuck = played((0..6).map(|_| Turn { cost: 500_000, ..Turn::new("ff") }).collect());
    assert!(verified.is_verified && verified.has_ended && !stuck.is_verified);
    let spent = stuck.cost_micros;
    let total = insight(&[verified.clone(), stuck.clone()]).total;
    assert_eq!((total.loops, total.verified_loops, total.verified_tasks), (2, 1, 1));
    assert_eq!((total.cost_micros, total.cost_known_loops), (2_000_000 + spent, 2));
    assert_eq!(total.cost_per_verified_micros, Some(2_000_000 + spent));
    // A second proof of the same criteria is no second task.
    assert_eq!(insight(&[verified.clone(), verified.clone()]).total.verified_tasks, 1);
    let other = LoopFacts { task: "other".to_owned(), ..verified.clone() };
    assert_eq!(insight(&[verified, other]).total.cost_per_verified_micros, Some(2_000_000));
    // No verified task, or no known cost: no figure.
    assert_eq!(insight(&[stuck.clone()]).total.cost_per_verified_micros, None);
    (stuck.is_verified, stuck.is_cost_known, stuck.cost_micros) = (true, false, 0);
    assert_eq!(insight(&[stuck]).total.cost_per_verified_micros, None);
    assert_eq!(insight(&[]).total.cost_per_verified_micros, None);
}

#[test]
fn a_task_that_already_passed_is_not_counted_as_verified() {
    let facts = facts_of(&Sim::new(loop_spec(), "pp", Vec::new()).run());
    assert_eq!((facts.has_ended, facts.is_verified, facts.iterations.len()), (true, false, 0));
}

#[test]
fn a_running_iteration_is_not_judged_yet() {
    let mut sim = Sim::new(loop_spec(), "ff", vec![Turn::new("ff"), Turn { hangs: true, ..Turn::new("ff") }]);
    while sim.state.iteration < 2 {
        assert!(sim.step(), "{}", sim.sentence());
    }
    let facts = facts_of(&sim);
    assert_eq!((facts.iterations.len(), facts.has_ended, facts.is_cost_known), (1, false, false));
}

/// A loop of two agents, of which the second verified the task; one cost is unknown.
fn loop_of_two_agents() -> LoopFacts {
    let iteration = |agent: &str, model: Option<&str>, cost: Option<u64>| IterationFacts {
        agent: agent.to_owned(),
        model: model.map(str::to_owned),
        result: IterationResult::Turned,
        duration_ms: 60_000,
        cost_micros: cost,
        is_cost_known: cost.is_some(),
    };
    LoopFacts {
        project: "/home/u/shop".to_owned(),
        task: "task".to_owned(),
        feedback: None,
        has_ended: true,
        is_verified: true,
        // Judges included.
        cost_micros: 4_000_000,
        is_cost_known: false,
        iterations: vec![
            iteration("claude", Some("opus"), Some(2_000_000)),
            iteration("claude", Some("haiku"), Some(1_000_000)),
            iteration("codex", None, None),
        ],
        waited_ms: 0,
    }
}

#[test]
fn an_outcome_counts_for_the_agent_and_model_of_the_last_iteration() {
    let all = insight(&[loop_of_two_agents()]);
    let row = |it: &super::LoopFigures| {
        let name = it.name.clone().unwrap_or_default();
        (name, it.verified_tasks, it.cost_micros, it.cost_known_loops)
    };
    let named = |name: &str, tasks, cost, known| (name.to_owned(), tasks, cost, known);
    let agents: Vec<_> = all.agents.iter().map(row).collect();
    assert_eq!(agents, [named("claude", 0, 3_000_000, 1), named("codex", 1, 0, 0)]);
    let models: Vec<_> = all.models.iter().map(row).collect();
    let expect = [named("opus", 0, 2_000_000, 1), named("haiku", 0, 1_000_000, 1), named("unknown", 1, 0, 0)];
    assert_eq!(models, expect);
    assert_eq!(all.projects.iter().map(row).collect::<Vec<_>>(), [named("/home/u/shop", 1, 4_000_000, 0)]);
}

#[test]
fn the_table_names_every_denominator() {
    let mut builder = InsightBuilder::default();
    builder.add(&loop_of_two_agents());
    builder.leave_out("20261120-abcdef", "the journal is damaged in line 3".to_owned());
    let shown = table(&builder.finish(Some("2026-11-01T00:00:00Z".to_owned())));
    expect![[r"
At least $4.00 for each verified task: at least $4.00 in all, 1 task verified.
1 loop since 2026-11-01T00:00:00Z, 1 verified; cost known for 0 of 1 loop; 1 loop cannot be read and is left out.

by agent  loops  verified  tasks     cost  cost known  per verified task   time
claude        1         0      0    $3.00      1 of 1                  -  2 min
codex         1         1      1  unknown      0 of 1                  -  1 min

by model  loops  verified  tasks     cost  cost known  per verified task   time
opus          1         0      0    $2.00      1 of 1                  -  1 min
haiku         1         0      0    $1.00      1 of 1                  -  1 min
unknown       1         1      1  unknown      0 of 1                  -  1 min

by project    loops  verified  tasks            cost  cost known  per verified task   time
/home/u/shop      1         1      1  at least $4.00      0 of 1     at least $4.00  3 min

what iterations bought  iterations  share   time   cost  cost known
turned                           3  100 %  3 min  $3.00      2 of 3
kept                             0    0 %   0 ms      -      0 of 0
nothing                          0    0 %   0 ms      -      0 of 0
waited                           0    0 %   0 ms      -      0 of 0
Left out: 20261120-abcdef, the journal is damaged in line 3
"]]
    .assert_eq(&shown);
}

#[test]
fn without_loops_the_table_is_one_sentence() {
    assert_eq!(table(&insight(&[])), "No loop yet.\n");
    let since = Insight { since: Some("2026-11-01T00:00:00Z".to_owned()), ..insight(&[]) };
    assert_eq!(table(&since), "No loop since 2026-11-01T00:00:00Z.\n");
}

#[test]
fn the_json_has_the_documented_shape() {
    let value = serde_json::to_value(insight(&[loop_of_two_agents()])).unwrap();
    let expect = serde_json::json!({
        "loops": 1, "openLoops": 0, "verifiedLoops": 1, "verifiedTasks": 1, "costKnownLoops": 0,
        "costMicros": 4_000_000, "costPerVerifiedMicros": 4_000_000, "iterations": 3, "durationMs": 180_000,
    });
    assert_eq!(value["total"], expect);
    let turned = serde_json::json!({
        "count": 3, "percent": 100, "durationMs": 180_000, "costMicros": 3_000_000, "costKnown": 2,
    });
    assert_eq!(value["iterations"]["turned"], turned);
    assert_eq!((value.get("since"), &value["leftOutCount"]), (None, &serde_json::json!(0)));
}

#[test]
fn hostile_names_are_inert() {
    let mut sim = Sim::new(loop_spec(), "ff", vec![Turn::new("pp")]).run();
    sim.state.spec.root = HOSTILE.to_owned();
    let mut builder = InsightBuilder::default();
    builder.add(&facts_of(&sim));
    builder.leave_out("20261120-abcdef", HOSTILE.to_owned());
    let all = builder.finish(None);
    let (page, shown) = (html(&all), table(&all));
    assert!(page.contains("default-src 'none'"), "{page}");
    assert!(!page.contains("<script"), "{page}");
    for text in [&page, &shown] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
    for word in ["http://", "https://", "url(", "<link", "<img", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn groups_are_bounded() {
    let loops: Vec<LoopFacts> =
        (0..300).map(|at| LoopFacts { project: format!("/p/{at}"), ..loop_of_two_agents() }).collect();
    let all = insight(&loops);
    assert_eq!((all.projects.len(), all.total.loops), (super::MAX_GROUPS, 300));
}

#[test]
fn feedback_is_counted_by_verdict() {
    let with = |feedback| LoopFacts { feedback, ..played(vec![Turn::new("pp")]) };
    let loops = [with(Some(StopVerdict::Right)), with(Some(StopVerdict::TooEarly)), with(None)];
    let insight = insight(&loops);
    let expect = "Stopped at the right moment: 1 of 2 loops with feedback (1 too early, 0 too late).";
    assert!(table(&insight).contains(expect), "{}", table(&insight));
    assert!(html(&insight).contains(expect));
    assert!(!table(&self::insight(&[with(None)])).contains("feedback"));
}
