//! The records of a complete loop.

use serde_json::Value;

use crate::cli::Ran;

/// Output of `run --json`.
pub(super) struct Journal {
    code: Option<i32>,
    pub(super) records: Vec<Value>,
    stderr: String,
}

impl Journal {
    pub(super) fn of(ran: &Ran) -> Self {
        let read = |line| serde_json::from_str(line).expect("a JSON object a line");
        Self { code: ran.code, records: ran.stdout.lines().map(read).collect(), stderr: ran.stderr.clone() }
    }

    pub(super) fn all(&self, kind: &str) -> Vec<&Value> {
        self.records.iter().filter(|it| it["type"] == kind).collect()
    }

    /// Every record on a separate line, without long fields.
    pub(super) fn summary(&self) -> String {
        let short = |it: &Value| it.to_string().chars().take(400).collect::<String>();
        self.records.iter().map(|it| short(it) + "\n").chain([self.stderr.clone()]).collect()
    }

    #[track_caller]
    pub(super) fn ended(&self, code: i32, kind: &str) -> &Value {
        let last = self.records.last().unwrap_or(&Value::Null);
        let summary = || self.summary();
        assert_eq!((self.code, last["type"].as_str()), (Some(code), Some("ended")), "{}", summary());
        assert_eq!(last["outcome"]["kind"], kind, "{}", summary());
        last
    }
}
