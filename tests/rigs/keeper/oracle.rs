//! Checks a journal, an agent's own ledger and the messages to clients against each other. Shares no code with the
//! program: lines, checksums and rules are implemented again, so that a bug would have to exist in both.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::world::{LIMIT, Lines, World};

/// Everything that is known about one loop from outside.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// The journal's bytes.
    pub(super) journal: String,
    /// One line for each start of the agent, written by the agent.
    pub(super) ledger: String,
    /// Records as printed by `--json`.
    pub(super) printed: Vec<String>,
    /// Texts that the keeper acknowledged.
    pub(super) steered: Vec<String>,
    pub(super) limit: usize,
    /// The fault that was injected, as named in the sentence by which the loop may have ended.
    pub(super) excuse: Option<&'static str>,
}

/// Progress of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopProgress {
    /// Just killed: the last line may be cut off.
    Killed,
    Ended,
}

impl Evidence {
    /// Every violated rule, as text.
    pub(super) fn faults(&self, progress: LoopProgress) -> Vec<String> {
        let (records, mut faults) = self.read(progress);
        faults.extend(self.lost(&records));
        faults.extend(numbers(&records, self.limit));
        faults.extend(self.starts(&records));
        faults.extend(takeovers(&records));
        faults.extend(self.end(&records, progress));
        faults
    }

    #[track_caller]
    pub(super) fn assert_sound(&self, progress: LoopProgress, when: &str) {
        let faults = self.faults(progress);
        assert!(
            faults.is_empty(),
            "{when}: {faults:#?}\njournal:\n{}\nledger:\n{}",
            self.journal,
            self.ledger
        );
    }

    /// The records, each checked against the one before it.
    fn read(&self, progress: LoopProgress) -> (Vec<Value>, Vec<String>) {
        let (mut records, mut faults) = (Vec::new(), Vec::new());
        let (mut sum, mut epoch) = (0, 0);
        let lines: Vec<&str> = self.journal.split_inclusive('\n').collect();
        for (index, line) in lines.iter().enumerate() {
            let last = index + 1 == lines.len();
            let Some((record, next)) = unsealed(line, sum) else {
                if !(last && progress == LoopProgress::Killed && !line.ends_with('\n')) {
                    faults.push(format!("broken: line {} does not follow the one before it", index + 1));
                }
                break;
            };
            sum = next;
            if record["seq"] != index + 1 {
                faults.push(format!("broken: line {} has the number {}", index + 1, record["seq"]));
            }
            let found = record["epoch"].as_u64().unwrap_or_default();
            if found < epoch {
                faults.push(format!("broken: line {} is of an overtaken keeper", index + 1));
            }
            epoch = found;
            records.push(record);
        }
        (records, faults)
    }

    /// Acknowledged data that the journal does not contain.
    fn lost(&self, records: &[Value]) -> Vec<String> {
        let has = |line: &str| {
            let Ok(told) = serde_json::from_str::<Value>(line) else { return false };
            records.iter().any(|it| {
                // The last record comes with a summary and without its checksum.
                ["seq", "epoch", "at", "type", "iteration", "outcome"].iter().all(|key| it[key] == told[key])
            })
        };
        let written = |text: &str| records.iter().any(|it| it["type"] == "steered" && it["text"] == text);
        let printed = self.printed.iter().filter(|it| !has(it)).map(|it| format!("lost: {it}"));
        let steered = self.steered.iter().filter(|it| !written(it)).map(|it| format!("lost: steered {it}"));
        printed.chain(steered).collect()
    }

    /// Starts of the agent, as it recorded them itself.
    fn starts(&self, records: &[Value]) -> Vec<String> {
        let mut faults = Vec::new();
        let intended: BTreeSet<&str> =
            of(records, "iteration-intended").map(|it| text(it, "session")).collect();
        let mut seen = BTreeSet::new();
        for line in self.ledger.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [what, session, intent, company] = words[..] else {
                faults.push(format!("ledger: {line}"));
                continue;
            };
            if company != "alone" {
                faults.push(format!("crowded: {line}"));
            }
            if what != "start" {
                continue;
            }
            if !["intended", "dark"].contains(&intent) || !intended.contains(session) {
                faults.push(format!("no intent: {line}"));
            }
            if !seen.insert(session) {
                faults.push(format!("started twice: {line}"));
            }
        }
        if seen.len() > self.limit {
            faults.push(format!("limit: {} starts", seen.len()));
        }
        faults
    }

    /// One end, as the last record, with a sentence that agrees with the records.
    fn end(&self, records: &[Value], progress: LoopProgress) -> Vec<String> {
        let mut ends = records.iter().enumerate().filter(|(_, it)| it["type"] == "ended");
        let Some((index, ended)) = ends.next() else {
            return if progress == LoopProgress::Ended {
                vec!["end: there is none".to_owned()]
            } else {
                Vec::new()
            };
        };
        if index + 1 != records.len() {
            return vec![format!("end: {} records follow it", records.len() - index - 1)];
        }
        let outcome = &ended["outcome"];
        let iterations = of(records, "iteration-intended").count();
        let sentence = text(outcome, "sentence");
        let passed = last_results(records).values().all(|it| *it);
        let true_words = match text(outcome, "kind") {
            "limit" => {
                iterations == LIMIT
                    && sentence.starts_with(&format!("limit reached: {LIMIT} iterations; "))
                    && !passed
            }
            "failed" => self.excuse.is_some_and(|it| sentence.contains(it)),
            "completed" => {
                outcome["verified"] == true && passed && sentence.contains(&format!("after {iterations} "))
            }
            _ => false,
        };
        if true_words { Vec::new() } else { vec![format!("end: {outcome} after {iterations} iterations")] }
    }
}

/// Iterations count up by one, within the limit, each with at most one end.
fn numbers(records: &[Value], limit: usize) -> Vec<String> {
    let numbers = |kind| of(records, kind).filter_map(|it| it["iteration"].as_u64()).collect::<Vec<_>>();
    let intended = numbers("iteration-intended");
    let mut faults = Vec::new();
    if intended.iter().enumerate().any(|(index, number)| *number != index as u64 + 1) {
        faults.push(format!("numbers: {intended:?}"));
    }
    if intended.len() > limit {
        faults.push(format!("limit: {} iterations", intended.len()));
    }
    for kind in ["agent-started", "agent-ended", "iteration-ended"] {
        let found = numbers(kind);
        if found.windows(2).any(|it| it[0] >= it[1]) || found.iter().any(|it| !intended.contains(it)) {
            faults.push(format!("numbers: {kind} {found:?}"));
        }
    }
    faults
}

/// Every keeper but the first records that it took over, and what it found running.
fn takeovers(records: &[Value]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut running = None;
    for (index, record) in records.iter().enumerate() {
        let first = index.checked_sub(1).is_none_or(|before| records[before]["epoch"] != record["epoch"]);
        let expect = if index == 0 { "loop-started" } else { "recovered" };
        if first && record["type"] != expect {
            faults.push(format!("takeover: record {} begins its epoch", index + 1));
        }
        match record["type"].as_str() {
            Some("iteration-intended") if running.is_some() => {
                faults.push(format!("takeover: record {} starts beside {running:?}", index + 1));
            }
            Some("iteration-intended") => running = record["iteration"].as_u64(),
            Some("agent-ended") => running = None,
            Some("recovered") => {
                if record["interrupted"].as_u64() != running {
                    faults.push(format!("takeover: record {} should interrupt {running:?}", index + 1));
                }
                running = None;
            }
            _ => {}
        }
    }
    faults
}

/// Whether each criterion passed when it was last judged.
fn last_results(records: &[Value]) -> BTreeMap<String, bool> {
    let mut last = BTreeMap::new();
    for record in records {
        for result in record["round"]["results"].as_array().into_iter().flatten() {
            last.insert(text(result, "criterion").to_owned(), result["status"] == "pass");
        }
    }
    last
}

fn of<'a>(records: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    records.iter().filter(move |it| it["type"] == kind)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A line's record and checksum, if it follows one with the checksum `previous`.
fn unsealed(line: &str, previous: u32) -> Option<(Value, u32)> {
    let (body, seal) = line.strip_suffix("\"}\n")?.split_once(",\"sum\":\"")?;
    let sum = crc32c(previous, body.as_bytes());
    (seal == format!("{sum:08x}")).then_some((serde_json::from_str(line).ok()?, sum))
}

/// The lines with valid checksums, whatever they contain: as written by a keeper with other rules.
fn sealed(lines: &[String]) -> String {
    let mut sum = 0;
    let seal = |line: &String| {
        let body = line.split(",\"sum\":").next().unwrap_or_default();
        sum = crc32c(sum, body.as_bytes());
        format!("{body},\"sum\":\"{sum:08x}\"}}\n")
    };
    lines.iter().map(seal).collect()
}

/// Castagnoli's checksum, bit by bit.
fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!before, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0x82f6_3b78 & (sum & 1).wrapping_neg()))
    })
}

/// Control: evidence of a successful loop, to be broken.
struct Control {
    sound: Evidence,
    lines: Vec<String>,
}

impl Control {
    fn new() -> Self {
        let world = World::new();
        let mut sound = Evidence { printed: world.foreground().stdout_lines(), ..Evidence::default() };
        world.collect_evidence(&mut sound);
        sound.assert_sound(LoopProgress::Ended, "an undisturbed loop");
        let lines: Vec<String> = sound.journal.lines().map(str::to_owned).collect();
        assert_eq!(sealed(&lines), sound.journal);
        Self { sound, lines }
    }

    /// Broken like this, the evidence must produce a fault with this word.
    fn check(&self, word: &str, change: &dyn Fn(&mut Evidence)) {
        let mut broken = self.sound.clone();
        change(&mut broken);
        let faults = broken.faults(LoopProgress::Ended);
        assert!(faults.iter().any(|it| it.starts_with(word)), "{word}: {faults:?}");
    }

    /// Like [`Self::check`] for records that were written like this, including checksums.
    fn check_written(&self, word: &str, change: &dyn Fn(&mut Vec<String>)) {
        let mut lines = self.lines.clone();
        change(&mut lines);
        self.check(word, &|it| it.journal = sealed(&lines));
    }

    fn place(&self, kind: &str, nth: usize) -> usize {
        let kind = format!("\"type\":\"{kind}\"");
        let mut found = self.lines.iter().enumerate().filter(|(_, it)| it.contains(&kind));
        found.nth(nth).unwrap().0
    }
}

#[test]
fn rig_oracle_finds_every_kind_of_fault() {
    let control = Control::new();
    control.check("broken", &|it| it.journal = it.journal.replacen("\"iteration\":1", "\"iteration\":2", 1));
    control.check("broken", &|it| {
        let cut: Vec<_> = it.journal.lines().take(5).chain(it.journal.lines().skip(6)).collect();
        it.journal = cut.join("\n") + "\n";
    });
    control.check("lost", &|it| it.steered.push("never taken".to_owned()));
    control.check("limit", &|it| it.limit = 1);
    control.check("no intent", &|it| it.ledger += "start 00000000-0000 intended alone\n");
    control.check("no intent", &|it| it.ledger = it.ledger.replacen("intended", "unintended", 1));
    control.check("crowded", &|it| it.ledger = it.ledger.replacen("alone", "crowded", 1));
    control.check("started twice", &|it| it.ledger = it.ledger.repeat(2));

    let (second, ended) = (control.place("iteration-intended", 1), control.place("agent-ended", 0));
    let replace = |line: &mut String, from: &str, to: &str| *line = line.replacen(from, to, 1);
    control.check_written("lost", &|lines| lines.truncate(8));
    control.check_written("numbers", &|it| replace(&mut it[second], "\"iteration\":2", "\"iteration\":1"));
    control.check_written("takeover", &|it| {
        it.iter_mut().skip(5).for_each(|line| replace(line, "\"epoch\":1", "\"epoch\":2"));
    });
    control.check_written("takeover", &|it| replace(&mut it[ended], "agent-ended", "another"));
    control.check_written("end: there", &|it| drop(it.pop()));
    control.check_written("end: 1", &|it| it.push(it[1].clone()));
    control.check_written("end: {", &|it| {
        replace(it.last_mut().unwrap(), "\"verified\":true", "\"verified\":false");
    });
}

/// The opposite control: an agent that was not started by a keeper.
#[test]
fn rig_oracle_finds_an_unintended_agent() {
    let world = World::new();
    for _ in 0..2 {
        world.agent_by_hand();
    }
    let mut evidence = Evidence::default();
    world.collect_evidence(&mut evidence);
    let faults = evidence.faults(LoopProgress::Killed);
    world.end_strays();
    assert!(faults.iter().any(|it| it.starts_with("no intent")), "{faults:?}");
    assert!(faults.iter().any(|it| it.starts_with("crowded")), "{faults:?}");
}
