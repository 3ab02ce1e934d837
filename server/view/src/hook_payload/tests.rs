use serde_json::{Value, json};

use super::HookEventEncoder;
use loopkeeper_agent::ProviderClass;
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
use loopkeeper_core::decide::{apply, state_from_first};
use loopkeeper_core::journal::{Entry, LoopSpec};

/// All events for these records when one keeper runs from start to end.
fn sent_events(entries: &[Entry]) -> Vec<Value> {
    let mut state = state_from_first(&entries[0]).unwrap();
    let mut encoder = HookEventEncoder::new(&state);
    let mut sent = Vec::new();
    for entry in &entries[1..] {
        apply(&mut state, entry);
        sent.extend(encoder.encode_events(&state, entry));
    }
    sent.iter().map(|it| serde_json::to_value(it).unwrap()).collect()
}

fn events(entries: &[Entry]) -> Vec<String> {
    sent_events(entries).iter().map(|it| it["event"].as_str().unwrap().to_owned()).collect()
}

fn run_with_two_criteria(turns: Vec<Turn>) -> Sim {
    Sim::new(spec(vec![criterion("a", "true"), criterion("b", "true")]), "fp", turns).run()
}

#[test]
fn iterations_send_start_and_end_and_the_loop_its_end() {
    let sim = run_with_two_criteria(vec![Turn::new("fp"), Turn::new("pp")]);
    let sent = sent_events(&sim.entries);
    let words: Vec<&str> = sent.iter().map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!(words, ["iteration-start", "iteration-end", "iteration-start", "iteration-end", "ended"]);
    let mut first = sent[0].clone();
    // The other counters are covered by tests of `status`.
    first["spent"] = json!({"calls": first["spent"]["calls"]});
    assert_eq!(
        first,
        json!({
            "event": "iteration-start", "loopId": "20261120-abcdef", "task": "PROMPT.md", "root": "/work tree",
            "iteration": 1, "criteria": {"passed": 1, "failed": 1, "unverified": 0, "total": 2},
            "spent": {"calls": 1}
        })
    );
    let end = &sent[1];
    assert_eq!(end["changed"], json!({"count": 1, "files": ["src/lib.rs"]}));
    assert!(end["duration"].as_u64().unwrap() >= 60_000, "{end}");
    assert_eq!(end["spent"]["calls"], 1);
    assert!(!end["sentence"].as_str().unwrap().is_empty());
    let last = &sent[4];
    assert_eq!((&last["outcome"]["kind"], &last["outcome"]["verified"]), (&json!("completed"), &json!(true)));
    assert_eq!((&last["iteration"], &last["criteria"]["passed"]), (&json!(2), &json!(2)));
    assert!(last["duration"].as_u64().unwrap() >= 120_000, "{last}");
}

#[test]
fn a_loop_that_needs_its_user_is_reported_once() {
    let fails = |_| Turn::fails(ProviderClass::Login, "fp");
    let sim = run_with_two_criteria((0..5).map(fails).collect());
    let sent = sent_events(&sim.entries);
    let asked: Vec<&Value> = sent.iter().filter(|it| it["event"] == "needs-you").collect();
    assert_eq!(asked.len(), 1, "{sent:#?}");
    assert_eq!(asked[0]["reason"], "agent");
    assert!(!asked[0]["text"].as_str().unwrap().is_empty());
    assert_eq!(sent.last().unwrap()["event"], "needs-you", "it is paused");
}

#[test]
fn a_question_is_sent_with_its_text_if_it_can_be_answered() {
    let asked = |attended| {
        let turns = vec![Turn::new("fp").says("Which database do you want?"), Turn::new("pp")];
        let spec = LoopSpec { attended, ..spec(vec![criterion("a", "true"), criterion("b", "true")]) };
        let sent = sent_events(&Sim::new(spec, "fp", turns).run().entries);
        let needs = sent.into_iter().filter(|it| it["event"] == "needs-you");
        needs.map(|it| (it["reason"].clone(), it["text"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(asked(true), [(json!("question"), json!("Which database do you want?"))]);
    assert_eq!(asked(false), []);
}

#[test]
fn a_new_keeper_repeats_no_hook() {
    let fails = |_| Turn::fails(ProviderClass::Login, "fp");
    let mut sim = run_with_two_criteria((0..5).map(fails).collect());
    let before = sim.entries.len();
    sim.crash("boot-2");
    sim.play();
    assert!(sim.entries.len() > before, "it says that it took over");
    // Like a new keeper: recorded entries are replayed, later ones are encoded.
    let mut state = state_from_first(&sim.entries[0]).unwrap();
    sim.entries[1..before].iter().for_each(|it| apply(&mut state, it));
    let mut encoder = HookEventEncoder::new(&state);
    for entry in &sim.entries[before..] {
        apply(&mut state, entry);
        assert_eq!(encoder.encode_events(&state, entry), [], "{entry:?}");
    }
}

#[test]
fn only_the_question_of_a_long_message_is_sent() {
    let asks = Turn::new("f").says("I stopped here.\n\nWhich database do you want?");
    let sim = Sim::new(spec(vec![criterion("a", "true")]), "f", vec![asks, Turn::new("p")]).run();
    let sent = sent_events(&sim.entries);
    let asked: Vec<&Value> = sent.iter().filter(|it| it["event"] == "needs-you").collect();
    assert_eq!(asked.len(), 1, "{sent:#?}");
    assert_eq!(
        (&asked[0]["reason"], &asked[0]["text"]),
        (&json!("question"), &json!("Which database do you want?"))
    );
}

#[test]
fn a_pause_by_the_user_runs_no_hook() {
    let attended = LoopSpec { attended: true, ..spec(vec![criterion("a", "true")]) };
    let mut sim = Sim::new(attended, "f", vec![Turn::new("f")]);
    sim.command(loopkeeper_core::decide::UserCommand::Pause);
    sim.play();
    assert!(!events(&sim.entries).contains(&"needs-you".to_owned()));
}

#[test]
fn a_warning_is_sent_once_while_the_loop_continues() {
    let idle = || Turn::idle("fp");
    let mut of_warnings = spec(vec![criterion("a", "true"), criterion("b", "true")]);
    of_warnings.settings.on.warning.argv = vec!["notify".to_owned()];
    let turns = vec![idle(), idle(), Turn::new("fp"), idle(), idle(), Turn::new("pp")];
    let sim = Sim::new(of_warnings.clone(), "fp", turns).run();
    let sent = sent_events(&sim.entries);
    let warned: Vec<&Value> = sent.iter().filter(|it| it["event"] == "warning").collect();
    assert_eq!(warned.len(), 1, "{sent:#?}");
    assert_eq!((&warned[0]["warning"], &warned[0]["iteration"]), (&json!("stall-ahead"), &json!(3)));
    assert_eq!(warned[0]["text"], "2 iterations without a file change; the breaker opens at 3");
    let calm = Sim::new(of_warnings, "fp", vec![Turn::new("fp"), Turn::new("pp")]).run();
    assert!(!events(&calm.entries).contains(&"warning".to_owned()));
}
