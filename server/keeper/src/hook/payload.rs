//! Parses the input of agent hooks and formats their output. The field names are the agents'.

use std::io::Read;
use std::path::PathBuf;

use loopkeeper_text::{surrogates, truncate};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AgentHookEvent, request, transcript};

/// Events at which a turn begins or ends. Only these read the session's usage, because that takes time.
const TURN_EVENTS: [&str; 3] = ["stop", "prompt", "end"];
/// Limit of the agent's last message, so that a request fits one line of the protocol.
const MAX_TEXT: usize = 10 * 1024;

/// The fields that are used.
#[derive(Debug, Default, Deserialize)]
pub(super) struct HookInput {
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    stop_hook_active: bool,
    /// The session's current folder.
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    agent_type: Option<String>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    tool_input: Value,
    /// Set by Claude Code and Codex.
    #[serde(default)]
    last_assistant_message: Option<String>,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
}

impl HookInput {
    /// Empty input is accepted.
    pub(super) fn read(mut from: impl Read) -> Result<Self, String> {
        let mut text = Vec::new();
        from.read_to_end(&mut text)
            .map_err(|error| format!("what the agent sent cannot be read: {error}"))?;
        if text.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        surrogates::parse_json(&text)
            .map_err(|error| format!("what the agent sent is not a JSON object: {error}"))
    }

    /// Claude Code writes the last message of a turn to its transcript slightly after the hook call.
    pub(super) fn wait_for_transcript(&self) {
        let transcript = self.transcript_path.as_deref().zip(self.last_assistant_message.as_deref());
        if let Some((path, last_message)) = transcript {
            transcript::wait_for_last_message(path, last_message);
        }
    }

    /// Whether a stop hook already held the session in this turn.
    pub(super) fn is_held(&self) -> bool {
        self.stop_hook_active
    }

    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.cwd.clone()
    }

    pub(super) fn question(&self, event: &str, token: &str) -> Value {
        let mut question = request(event, token);
        let transcript = self.transcript_path.as_deref().filter(|_| TURN_EVENTS.contains(&event));
        // The end of the message is kept, because it contains the claim.
        let text = self.last_assistant_message.as_deref().map(|it| truncate::last_bytes(it, MAX_TEXT));
        let what = self.tool_input.get("description").and_then(Value::as_str).or(self.agent_type.as_deref());
        let entries = [
            ("session", self.session_id.as_deref()),
            ("agent", self.agent_id.as_deref()),
            ("text", text),
            ("call", self.tool_use_id.as_deref()),
            ("what", what),
        ];
        if let Some(fields) = question.as_object_mut() {
            fields.extend(entries.into_iter().filter_map(|(name, it)| Some((name.to_owned(), json!(it?)))));
            let tokens = transcript.and_then(transcript::tokens);
            fields.extend(tokens.map(|it| ("tokens".to_owned(), json!(it))));
        }
        question
    }
}

/// The output for stdout, in the format shared by Claude Code, Codex and Gemini.
pub(super) fn format_output(event: AgentHookEvent, decision: &str, reason: &str) -> Value {
    match event {
        AgentHookEvent::PreTool => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason,
        }}),
        AgentHookEvent::Stop | AgentHookEvent::SubagentStart | AgentHookEvent::SubagentStop => {
            json!({"decision": decision, "reason": reason})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Value {
        HookInput::read(text.as_bytes()).unwrap().question("stop", "t")
    }

    #[test]
    fn an_agents_notification_becomes_a_question() {
        let check = |text: &str, expect: Value| {
            let mut asked = question(text);
            asked.as_object_mut().unwrap().remove("id");
            assert_eq!(asked, expect, "{text}");
        };
        let bare = || json!({"do": "hook", "hook": "stop", "token": "t"});
        check("", bare());
        check("{}", bare());
        let payload = r#"{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done"}"#;
        let mut expect = bare();
        expect["session"] = json!("s");
        expect["text"] = json!("done");
        check(payload, expect);
        for text in ["[1]", "x"] {
            assert!(HookInput::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_long_last_message_keeps_its_end_and_fits_a_line() {
        let text =
            json!({"last_assistant_message": format!("{}\u{1}é!", "\u{1}".repeat(40_000))}).to_string();
        let asked = question(&text);
        assert!(asked["text"].as_str().unwrap().ends_with("é!"));
        // Control characters take six bytes each in JSON.
        assert!(asked.to_string().len() < loopkeeper_system::state_dir::socket::MAX_LINE);
    }
}
