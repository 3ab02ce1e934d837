//! Reads an agent's responses. Where agents put the same value in different fields, all are checked.

use serde_json::{Value, json};

use loopkeeper_text::tr;

use crate::acp::start::BridgeOptions;
use crate::fields::{first_nonempty, list, number, text, text_at};

/// A session option to set before the work starts.
#[derive(Debug)]
pub(super) struct SessionOption {
    pub(super) method: &'static str,
    /// The parameters in addition to the session.
    pub(super) params: Value,
}

/// The method that resumes a session. One that replays its messages is used only if nothing else is offered.
pub(super) fn resume_method(capabilities: &Value) -> Option<&'static str> {
    let is_offered = |it: &Value| !it.is_null() && it != &Value::Bool(false);
    let offers = |pointer: &str| capabilities.pointer(pointer).is_some_and(is_offered);
    if offers("/sessionCapabilities/resume") {
        return Some("session/resume");
    }
    offers("/loadSession").then_some("session/load")
}

/// The agent's default model; empty if it is not reported.
pub(super) fn default_model(opened: &Value) -> String {
    let current = text_at(opened, "/models/currentModelId");
    let chosen = find_option(opened, "model").map(|it| text(it, "currentValue")).unwrap_or_default();
    first_nonempty([current, chosen]).to_owned()
}

/// The requests that set the user's options, the last one first; or why an option cannot be set.
pub(super) fn plan_session_options(
    options: &BridgeOptions,
    opened: &Value,
) -> Result<Vec<SessionOption>, String> {
    let mut planned = Vec::new();
    if let Some(effort) = &options.effort {
        planned.push(
            config_option(opened, "thought_level", effort).ok_or_else(|| missing_option_error("effort"))?,
        );
    }
    if let Some(model) = &options.model {
        let by_method = || {
            opened.get("models").filter(|it| it.is_object())?;
            Some(SessionOption { method: "session/set_model", params: json!({"modelId": model}) })
        };
        planned.push(
            config_option(opened, "model", model)
                .or_else(by_method)
                .ok_or_else(|| missing_option_error("model"))?,
        );
    }
    Ok(planned)
}

fn missing_option_error(key: &str) -> String {
    tr!("it has no option for `{key}`: set it in its own settings or in its `command` instead", key)
}

fn config_option(opened: &Value, category: &str, value: &str) -> Option<SessionOption> {
    let id = text(find_option(opened, category)?, "id");
    let params = json!({"configId": id, "value": value});
    Some(SessionOption { method: "session/set_config_option", params })
}

fn find_option<'a>(opened: &'a Value, category: &str) -> Option<&'a Value> {
    let options = list(opened, "configOptions");
    let named = |key: &str| options.iter().find(|it| text(it, key) == category);
    named("category").or_else(|| named("id"))
}

/// The tokens of the turn.
pub(super) fn turn_tokens(result: &Value) -> Option<u64> {
    if let Some(usage) = result.get("usage").filter(|it| it.is_object()) {
        let parts = ["inputTokens", "outputTokens"].map(|it| number(usage, it));
        return Some(number(usage, "totalTokens").max(parts.into_iter().fold(0, u64::saturating_add)));
    }
    let counted = result.pointer("/_meta/quota/token_count")?;
    Some(
        ["input_tokens", "output_tokens"]
            .into_iter()
            .fold(0, |sum, it| number(counted, it).saturating_add(sum)),
    )
}

/// The cost of the session so far, in dollars.
pub(super) fn session_cost(update: &Value) -> Option<f64> {
    let cost = update.get("cost").filter(|it| text(it, "currency") == "USD")?;
    cost.get("amount")?.as_f64()
}
