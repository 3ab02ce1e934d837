use super::{TranscriptWriter, passing_fact};
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
use loopkeeper_core::decide::{UserCommand, apply, state_from_first};
use loopkeeper_core::journal::Record;
use loopkeeper_text::sanitize;

fn played() -> Sim {
    let mut spec = spec(vec![criterion("tests pass", "make test"), criterion("it lints", "make lint")]);
    spec.title = "Parse \x1b[2J dates".to_owned();
    Sim::new(spec, "fp", vec![Turn::new("fp"), Turn::new("pp")]).run()
}

fn transcript(sim: &Sim) -> String {
    let mut writer = TranscriptWriter::default();
    sim.entries.iter().filter_map(|it| writer.describe(it, None)).collect()
}

#[test]
fn a_loop_reads_from_its_start_to_its_end() {
    let shown = sanitize::text(&transcript(&played()));
    let parts = [
        "Parse dates · ",
        "Checks before iteration 1: 1 of 2 pass",
        "  ✗ tests pass: ",
        "  ✓ it lints\n",
        "── Iteration 1 ──",
        "Checks: 1 of 2 pass",
        "── Iteration 2 ──",
        "Checks: 2 of 2 pass",
        "  ✓ tests pass\n",
        "✓ Completed",
    ];
    let mut rest = shown.as_str();
    for part in parts {
        let at = rest.find(part);
        assert!(at.is_some(), "{part:?} is not in {rest}");
        rest = rest.split_at(at.unwrap_or_default()).1;
    }
}

#[test]
fn a_fact_is_set_apart_from_the_name() {
    assert_eq!(passing_fact("6 pass"), " \x1b[2m· 6 pass\x1b[0m");
    assert_eq!(passing_fact(""), "");
}

#[test]
fn a_writer_after_a_state_continues_like_one_that_skipped_its_records() {
    let mut sim = Sim::new(spec(vec![criterion("a", "true")]), "f", vec![Turn::new("f"), Turn::new("p")]);
    sim.command(UserCommand::Steer("mind the parser".to_owned()));
    let entries = sim.run().entries;
    let mut state = state_from_first(&entries[0]).expect("a loop");
    for cut in 1..entries.len() {
        let mut skipping = TranscriptWriter::default();
        entries[..cut].iter().for_each(|it| skipping.skip(it));
        let mut after = TranscriptWriter::after(&state);
        for it in &entries[cut..] {
            assert_eq!(after.describe(it, None), skipping.describe(it, None), "{cut}");
        }
        apply(&mut state, &entries[cut]);
    }
}

#[test]
fn every_style_ends_with_its_line() {
    let text = transcript(&played());
    let styled: Vec<&str> = text.lines().filter(|it| it.contains('\x1b')).collect();
    assert!(!styled.is_empty(), "{text}");
    for line in styled {
        let last = line.rsplit("\x1b[").next().and_then(|it| it.split('m').next());
        assert_eq!(last, Some("0"), "{line:?}");
    }
}

#[test]
fn a_hint_says_when_it_is_read() {
    let steered = |seq: usize, sim: &Sim| {
        let mut entry = sim.entries.get(seq).expect("an entry").clone();
        entry.record = Record::Steered { text: "try\x1b[2J the \u{202e}parser".to_owned() };
        entry
    };
    let sim = played();
    let check = |read_at: Option<u32>, expect: [&str; 2]| {
        let mut writer = TranscriptWriter::default();
        let hint = writer.describe(&steered(0, &sim), read_at).expect("a line");
        let begins = sim.entries.iter().find(|it| matches!(it.record, Record::IterationIntended { .. }));
        let header = writer.describe(begins.expect("an iteration"), None).expect("a header");
        assert_eq!(sanitize::text(&hint), expect[0]);
        assert_eq!(sanitize::text(&header), format!("\n── Iteration 1 ──\n{}", expect[1]));
    };
    check(Some(1), ["» You: try the parser (sent, read at iteration 1)\n", ""]);
    let waiting = "» You: try the parser (sent, read at the start of the next iteration)\n";
    check(None, [waiting, "» Your hint, read now: try the parser\n"]);
}

#[test]
fn a_skipped_hint_is_read_later() {
    let sim = played();
    let mut writer = TranscriptWriter::default();
    let mut hint = sim.entries.first().expect("an entry").clone();
    hint.record = Record::Steered { text: "go on".to_owned() };
    writer.skip(&hint);
    let begins = sim.entries.iter().find(|it| matches!(it.record, Record::IterationIntended { .. }));
    let header = writer.describe(begins.expect("an iteration"), None).expect("a header");
    assert!(sanitize::text(&header).contains("» Your hint, read now: go on"), "{header}");
}

#[test]
fn a_stop_and_a_pause_are_shown() {
    let mut sim = Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", vec![Turn::new("f")]);
    while sim.state.iteration == 0 {
        assert!(sim.step());
    }
    sim.command(UserCommand::StopNow);
    sim.play();
    let shown = sanitize::text(&transcript(&sim));
    assert!(shown.contains("■ Stopped"), "{shown}");
}
