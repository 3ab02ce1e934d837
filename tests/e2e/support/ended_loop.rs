//! A loop that has ended, with queries on it.

use serde_json::Value;

use super::scenario::Expected;
use super::world::World;
use crate::cli::Ran;

pub(crate) struct EndedLoop {
    pub(crate) world: World,
    pub(crate) ran: Ran,
    /// Output of `--json`, one record per line.
    pub(crate) records: Vec<Value>,
}

impl EndedLoop {
    #[track_caller]
    pub(crate) fn new(world: World, ran: Ran) -> Self {
        let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        let records = ran.stdout.lines().map(read).collect();
        Self { world, ran, records }
    }

    /// Checks the expected end, and the properties of every end.
    #[track_caller]
    pub(crate) fn assert_end(&self, expected: &Expected<'_>) {
        let last = self.last();
        assert_eq!(last["type"], "ended", "{last:#}\nstderr:\n{}", self.ran.stderr);
        let sentence = last["sentence"].as_str().unwrap();
        let found = (&last["outcome"]["kind"], &last["outcome"]["verified"], &last["iterations"]);
        let wanted = (&expected.kind.into(), &expected.verified.into(), &expected.iterations.into());
        assert_eq!(found, wanted, "{sentence}\n{}", self.transcript());
        assert!(sentence.contains(expected.sentence), "{sentence:?} lacks {:?}", expected.sentence);
        assert_eq!(self.ran.code, Some(expected.exit), "{sentence}");
        self.assert_summary();
        self.assert_journal();
        self.world.assert_no_process_left();
    }

    /// The last line agrees with the records before it.
    #[track_caller]
    fn assert_summary(&self) {
        let last = self.last();
        assert_eq!(last["sentence"], last["outcome"]["sentence"]);
        let calls = last["iterations"].as_u64().unwrap() + self.judge_calls();
        assert_eq!(last["spent"]["calls"], calls, "each iteration is one start, and each judge");
        assert_eq!(self.all("iteration-intended").len() as u64, last["iterations"].as_u64().unwrap());
        let runs = self.all("agent-ended");
        let final_text = runs.last().map_or("", |it| it["run"]["finalText"].as_str().unwrap());
        assert_eq!(last["finalText"], final_text);
        let ran = runs.iter().filter(|it| it["run"]["ending"] != "not-started").count() as u64;
        if self.world.starts() > 0 {
            assert_eq!(self.world.starts(), ran, "starts of the agent\n{}", self.transcript());
        }
    }

    /// Number of judge calls.
    fn judge_calls(&self) -> u64 {
        self.records.iter().filter_map(|it| it["round"]["judging"]["calls"].as_u64()).sum()
    }

    /// The output equals the journal.
    #[track_caller]
    fn assert_journal(&self) {
        let journal = self.world.journal();
        let (printed, written) = (self.records.split_last().unwrap().1, journal.split_last().unwrap().1);
        assert_eq!(printed, written);
        for (index, record) in self.records.iter().enumerate() {
            assert_eq!(record["seq"], index as u64 + 1);
        }
    }

    pub(crate) fn last(&self) -> &Value {
        self.records.last().unwrap_or_else(|| panic!("nothing was printed; stderr:\n{}", self.ran.stderr))
    }

    pub(crate) fn all(&self, kind: &str) -> Vec<&Value> {
        self.records.iter().filter(|it| it["type"] == kind).collect()
    }

    /// The agent of each iteration.
    pub(crate) fn agents(&self) -> Vec<&str> {
        let mut at_work = self.records[0]["spec"]["agent"]["name"].as_str().unwrap();
        let mut found = Vec::new();
        for it in &self.records {
            match it["type"].as_str() {
                Some("agent-changed") => at_work = it["to"].as_str().unwrap(),
                Some("iteration-intended") => found.push(at_work),
                _ => {}
            }
        }
        found
    }

    /// The record of this kind about the n-th iteration.
    #[track_caller]
    pub(crate) fn record(&self, kind: &str, iteration: u32) -> &Value {
        let is_it = |it: &&Value| it["type"] == kind && it["iteration"] == iteration;
        self.records
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("no {kind} {iteration}\n{}", self.transcript()))
    }

    /// Status and fact of the only criterion, or of the first one, after the n-th iteration; 0 is the baseline.
    #[track_caller]
    pub(crate) fn first_result(&self, iteration: u32, status: &str, fact: &str) -> &Self {
        let kind = if iteration == 0 { "baseline" } else { "checks-done" };
        let result = &self.record(kind, iteration)["round"]["results"][0];
        assert_eq!(result["status"], status, "{result:#}");
        let found = result["fact"].as_str().unwrap();
        assert!(found.contains(fact), "{found:?} lacks {fact:?}");
        self
    }

    /// The sentence of the n-th iteration.
    #[track_caller]
    pub(crate) fn iteration_sentence(&self, iteration: u32, sentence: &str) -> &Self {
        assert_eq!(self.record("iteration-ended", iteration)["sentence"], sentence);
        self
    }

    /// The prompt of the n-th start of the agent.
    #[track_caller]
    pub(crate) fn prompt_has(&self, number: u32, text: &str) -> &Self {
        let prompt = self.world.prompt(number);
        assert!(prompt.contains(text), "no {text:?} in prompt {number}:\n{prompt}");
        self
    }

    #[track_caller]
    pub(crate) fn prompt_lacks(&self, number: u32, text: &str) -> &Self {
        let prompt = self.world.prompt(number);
        assert!(!prompt.contains(text), "{text:?} in prompt {number}:\n{prompt}");
        self
    }

    #[track_caller]
    pub(crate) fn file(&self, path: &str, text: &str) -> &Self {
        assert_eq!(self.world.terminal.read(path), text, "{path}");
        self
    }

    /// A short account of the loop for error messages.
    fn transcript(&self) -> String {
        let line = |it: &Value| {
            let mut it = it.clone();
            if let Some(fields) = it.as_object_mut() {
                for name in ["v", "epoch", "at", "sum", "spec", "criteria", "seen", "prompt"] {
                    fields.remove(name);
                }
            }
            it.to_string()
        };
        self.records.iter().map(line).collect::<Vec<_>>().join("\n") + "\nstderr:\n" + &self.ran.stderr
    }
}
