//! Codex CLI, its JSON lines: so far only the error with which a run ended.

use serde_json::Value;

use crate::agent::provider::{self, Trouble};

/// Why the last turn failed. Top-level `error` lines are retries, and an item's `error` is a remark.
pub fn trouble(output: &str) -> Option<Trouble> {
    let mut failed = None;
    for event in output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match event.get("type").and_then(Value::as_str) {
            Some("turn.started" | "turn.completed") => failed = None,
            Some("turn.failed") => failed = Some(event),
            _ => {}
        }
    }
    let message = failed?.pointer("/error/message").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(provider::classify(&message, None))
}
