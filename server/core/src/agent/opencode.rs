//! opencode, its JSON lines: so far only the error with which a run ended.

use serde_json::Value;

use crate::agent::provider::{self, Trouble};

/// The last error, unless a step went well after it.
pub fn trouble(output: &str) -> Option<Trouble> {
    let mut failed = None;
    for event in output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match event.get("type").and_then(Value::as_str) {
            Some("error") => failed = Some(event),
            Some("step_finish") => failed = None,
            _ => {}
        }
    }
    let event = failed?;
    let data = event.pointer("/error/data")?;
    let text = |path: &str| data.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let status = data.get("statusCode").and_then(Value::as_u64).and_then(|it| u16::try_from(it).ok());
    let mut trouble = provider::classify(text("/message"), status);
    let announced = text("/responseHeaders/retry-after");
    trouble.reset = trouble.reset.or_else(|| provider::reset_in(&format!("retry-after: {announced}")));
    Some(trouble)
}
