//! The budget of subagents: which requests are allowed, and why others are refused.

use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::decide::spawns::SubagentEvent;
use crate::decide::{Decision, Event, Phase, UserCommand, apply, decide};
use crate::journal::{Entry, Record};
use crate::settings::SpawnSettings;

/// A loop whose agent is at work.
fn at_work(budget: u32) -> Sim {
    within(SpawnSettings { budget, ..SpawnSettings::default() })
}

fn within(spawns: SpawnSettings) -> Sim {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.spawns = spawns;
    let mut sim = Sim::new(spec, "f", vec![Turn { hangs: true, ..Turn::new("f") }]);
    while !matches!(sim.state.phase, Phase::Iterating(_)) {
        sim.step();
    }
    sim
}

/// Requests one; returns the reason if it is refused.
fn ask(sim: &mut Sim, by: Option<&str>) -> Option<String> {
    ask_as(sim, by, None)
}

fn ask_as(sim: &mut Sim, by: Option<&str>, call: Option<&str>) -> Option<String> {
    let (by, call) = (by.map(str::to_owned), call.map(str::to_owned));
    sim.command(UserCommand::Subagent(SubagentEvent::Asked { by, call, what: "look".to_owned() }));
    match sim.entries.last().map(|it| &it.record) {
        Some(Record::SubagentAsked { refused, .. }) => refused.clone(),
        other => panic!("not on record: {other:?}"),
    }
}

fn begin(sim: &mut Sim, id: &str) {
    sim.command(UserCommand::Subagent(SubagentEvent::Began {
        id: id.to_owned(),
        what: "general".to_owned(),
    }));
}

fn end(sim: &mut Sim, id: &str) {
    sim.command(UserCommand::Subagent(SubagentEvent::Ended { id: id.to_owned() }));
}

fn link(sim: &mut Sim, call: &str, id: &str) {
    let (call, id, what) = (call.to_owned(), id.to_owned(), "look".to_owned());
    sim.event(Event::SubagentSeen(SubagentEvent::Linked { call, id, what }));
}

fn see(sim: &mut Sim, by: Option<&str>, id: &str) {
    let by = by.map(str::to_owned);
    sim.event(Event::SubagentSeen(SubagentEvent::Seen { by, id: id.to_owned(), what: "look".to_owned() }));
}

/// `a>b`: `a` started `b`; `-`: the agent itself, or none yet.
fn lineage(sim: &Sim) -> String {
    let name = |it: &Option<String>| it.clone().unwrap_or_else(|| "-".to_owned());
    let all = sim.state.spawns.agents.iter().map(|it| format!("{}>{}", name(&it.by), name(&it.id)));
    all.collect::<Vec<_>>().join(" ")
}

fn counts(sim: &Sim) -> (u32, u32, u32) {
    (sim.state.spawns.used, sim.state.spawns.refused, sim.state.spawns.depth)
}

#[test]
fn each_agent_may_start_two_others() {
    let mut sim = at_work(12);
    for (id, by) in [("a", None), ("b", None), ("c", Some("a")), ("d", Some("a"))] {
        assert_eq!(ask(&mut sim, by), None, "{id}");
        begin(&mut sim, id);
    }
    assert!(ask(&mut sim, None).is_some_and(|it| it.contains("one agent may start 2")));
    assert!(ask(&mut sim, Some("a")).is_some_and(|it| it.contains("one agent may start 2")));
    assert!(ask(&mut sim, Some("c")).is_some_and(|it| it.contains("nest 2 deep")));
    assert_eq!(counts(&sim), (4, 3, 2));
    assert_eq!(lineage(&sim), "->a ->b a>c a>d");
}

#[test]
fn children_spend_their_parents_budget() {
    let mut sim = at_work(2);
    assert_eq!(ask(&mut sim, None), None);
    begin(&mut sim, "a");
    assert_eq!(ask(&mut sim, Some("a")), None);
    let refused = ask(&mut sim, None).expect("no more");
    assert!(refused.contains("budget, 2 subagents, is used up") && refused.contains("yourself"), "{refused}");
}

#[test]
fn an_ended_subagent_frees_its_place() {
    let mut sim = within(SpawnSettings { per_agent: 9, ..SpawnSettings::default() });
    for id in ["a", "b", "c", "d", "e"] {
        assert_eq!(ask(&mut sim, None), None, "{id}");
        begin(&mut sim, id);
    }
    assert!(ask(&mut sim, None).is_some_and(|it| it.contains("5 subagents at most may be at work")));
    // Its stop hook may run more than once.
    end(&mut sim, "a");
    end(&mut sim, "a");
    assert_eq!(ask(&mut sim, None), None);
    assert!(ask(&mut sim, None).is_some());
}

#[test]
fn subagents_known_from_output_count_for_their_parent() {
    let mut sim = at_work(12);
    for (by, id) in
        [(None, "a"), (Some("a"), "b"), (Some("b"), "c"), (Some("b"), "c"), (None, ""), (None, "")]
    {
        see(&mut sim, by, id);
    }
    assert_eq!(counts(&sim), (5, 0, 3));
    assert_eq!(lineage(&sim), "->a a>b b>c -> ->");
}

#[test]
fn call_ids_correct_the_parents_of_subagents_that_began_at_once() {
    let mut sim = within(SpawnSettings { depth: 3, ..SpawnSettings::default() });
    assert_eq!(ask_as(&mut sim, None, Some("call-1")), None);
    begin(&mut sim, "a");
    assert_eq!(ask_as(&mut sim, None, Some("call-2")), None);
    assert_eq!(ask_as(&mut sim, Some("a"), Some("call-3")), None);
    begin(&mut sim, "c");
    begin(&mut sim, "b");
    assert_eq!(lineage(&sim), "->a ->c a>b", "in the order of the questions");
    link(&mut sim, "call-1", "a");
    link(&mut sim, "call-3", "c");
    link(&mut sim, "call-2", "b");
    assert_eq!(lineage(&sim), "->a ->b a>c");
    assert_eq!(counts(&sim), (3, 0, 2));
    let started = sim.entries.iter().filter(|it| matches!(it.record, Record::SubagentStarted { .. }));
    assert_eq!(started.count(), 4, "a known subagent is recorded once");
    // A subagent that continues is not counted again.
    end(&mut sim, "a");
    link(&mut sim, "call-9", "a");
    begin(&mut sim, "a");
    assert_eq!(counts(&sim), (3, 0, 2));
}

#[test]
fn a_subagent_without_hooks_is_counted_by_its_output() {
    let mut sim = at_work(12);
    link(&mut sim, "call-1", "a");
    begin(&mut sim, "a");
    assert_eq!(counts(&sim), (1, 0, 1));
}

#[test]
fn repeated_requests_do_not_fill_the_journal() {
    let mut sim = at_work(1);
    let (mut on_record, mut answered) = (0, 0);
    for _ in 0..300 {
        let asked = SubagentEvent::Asked { by: None, call: None, what: String::new() };
        let seen = SubagentEvent::Seen { by: None, id: String::new(), what: String::new() };
        for event in [asked, seen, SubagentEvent::Ended { id: "nobody".to_owned() }] {
            for step in decide(&sim.state, &mut sim.live, sim.now, Event::SubagentSeen(event)) {
                match step {
                    Decision::Record(record) => {
                        on_record += 1;
                        let seq = sim.state.position.seq + 1;
                        apply(&mut sim.state, &Entry { seq, epoch: 1, at: sim.now, record });
                    }
                    Decision::Effect(_) => answered += 1,
                }
            }
        }
    }
    // The first one seen is the one that was allowed.
    assert_eq!((on_record, answered), (1 + 100 + 256, 299));
}

#[test]
fn a_loop_that_stops_starts_no_more() {
    let mut sim = at_work(12);
    sim.command(UserCommand::Stop);
    assert!(ask(&mut sim, None).is_some_and(|it| it.contains("the loop is stopping")));
}

#[test]
fn each_iteration_has_its_own_children_of_one_budget() {
    let mut sim = at_work(5);
    for _ in 0..2 {
        assert_eq!(ask(&mut sim, None), None);
    }
    assert!(ask(&mut sim, None).is_some());
    sim.crash("another");
    assert!(sim.state.spawns.agents.iter().all(|it| it.over), "they ended with their agent");
    while !matches!(sim.state.phase, Phase::Iterating(_)) {
        sim.step();
    }
    assert_eq!((sim.state.spawns.used, sim.state.spawns.in_iteration), (2, 0));
    for _ in 0..2 {
        assert_eq!(ask(&mut sim, None), None);
    }
    assert_eq!((sim.state.spawns.used, sim.state.spawns.in_iteration), (4, 2));
}

#[test]
fn another_keeper_counts_them_from_the_journal() {
    let mut sim = at_work(2);
    assert_eq!(ask(&mut sim, None), None);
    begin(&mut sim, "a");
    sim.crash("another");
    assert_eq!(sim.state.spawns.used, 1);
    while !matches!(sim.state.phase, Phase::Iterating(_)) {
        sim.step();
    }
    assert_eq!(ask(&mut sim, None), None);
    assert!(ask(&mut sim, None).is_some_and(|it| it.contains("budget, 2 subagents")));
}
