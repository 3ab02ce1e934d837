//! Gemini CLI, its JSON lines: so far only the error with which a run ended.

use serde_json::Value;

use crate::agent::provider::{self, Trouble};

/// Why the last result is an error. A cap of turns is an early end, no trouble.
pub fn trouble(output: &str) -> Option<Trouble> {
    let is_result = |event: &Value| event.get("type").and_then(Value::as_str) == Some("result");
    let events = output.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let result = { events }.find(is_result)?;
    let field = |path: &str| result.pointer(path).and_then(Value::as_str).unwrap_or_default();
    if field("/status") != "error" || field("/error/type") == "FatalTurnLimitedError" {
        return None;
    }
    Some(provider::classify(field("/error/message"), None))
}
