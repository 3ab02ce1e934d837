//! `loopkeeper hook session EVENT`: called by Claude Code in a session that its user opened, if our hooks are installed
//! in the workspace. Contacts the loop that works in the session's folder, and does nothing if there is none.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use loopkeeper_agent::claude::hooks::BLOCK_CAP_VARIABLE;
use loopkeeper_agent::hooks::PROMPT_TIMEOUT_S;
use serde_json::{Value, json};

use super::payload::{self, HookInput};
use super::{HookReplyVerdict, KeeperEndpoint, MAX_PAYLOAD_BYTES, print_pass_reason};
use loopkeeper_system::process::orphans::ENV_LOOP;
use loopkeeper_system::state_dir::StateDir;

/// The argument before the event.
pub const SUBCOMMAND: &str = "session";
/// Folder in which Claude Code was started.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";
/// Process id of Claude Code.
const PROCESS: &str = "CLAUDE_PID";
/// How Claude Code was started.
const ENTRY: &str = "CLAUDE_CODE_ENTRYPOINT";
/// Value of [`ENTRY`] for an interactive terminal.
const TERMINAL: &str = "cli";
/// A notification only.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// An event in the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionHookEvent {
    /// The user entered a prompt.
    Prompt,
    /// The session was closed or replaced by another one.
    End,
    /// An event that agents started by a loop report as well.
    Known(super::AgentHookEvent),
}

impl SessionHookEvent {
    pub fn from_name(name: &std::ffi::OsStr) -> Option<Self> {
        let own = [Self::Prompt, Self::End].into_iter().find(|it| name == it.word());
        own.or_else(|| super::AgentHookEvent::from_name(name).map(Self::Known))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::End => "end",
            Self::Known(event) => event.word(),
        }
    }

    fn timeout(self) -> Option<Duration> {
        match self {
            Self::Prompt => Some(Duration::from_secs(PROMPT_TIMEOUT_S)),
            Self::End => Some(END_TIMEOUT),
            Self::Known(event) => event.timeout(),
        }
    }
}

/// Never reports an error to the session.
pub fn main(event: SessionHookEvent) -> ExitCode {
    match ask_keeper(event) {
        Ok(Some(verdict)) => {
            if let Some(response) = format_output(event, &verdict) {
                let _ = writeln!(io::stdout(), "{response}");
            }
        }
        Ok(None) => {}
        Err(why) => print_pass_reason(&why),
    }
    ExitCode::SUCCESS
}

/// `None`: no loop is concerned.
fn ask_keeper(event: SessionHookEvent) -> Result<Option<HookReplyVerdict>, String> {
    // An agent of a loop, or a nested one, has separate hooks; a session driven by a program has no user.
    if std::env::var_os(ENV_LOOP).is_some() || std::env::var_os(ENTRY).is_some_and(|it| it != TERMINAL) {
        return Ok(None);
    }
    let payload = HookInput::read(io::stdin().take(MAX_PAYLOAD_BYTES))?;
    let folder = std::env::var_os(PROJECT).map(PathBuf::from).or_else(|| payload.folder());
    let Some(endpoint) = folder.and_then(|it| find_endpoint(&it)) else { return Ok(None) };
    if event == SessionHookEvent::Known(super::AgentHookEvent::Stop) {
        payload.wait_for_transcript();
    }
    endpoint.request_verdict(event.timeout(), &question(event, &payload)).map(Some)
}

/// The endpoint of the keeper that works in this folder.
fn find_endpoint(folder: &Path) -> Option<KeeperEndpoint> {
    let real = folder.canonicalize().ok()?;
    let state = StateDir::open().ok()?;
    let (holder, path) = state.tree_holder(&real).ok()??;
    let socket = state.socket_dir().join(format!("{}.sock", holder.loop_id()?));
    (path == real && socket.exists()).then(|| KeeperEndpoint { token: String::new(), socket })
}

fn question(event: SessionHookEvent, payload: &HookInput) -> Value {
    let mut question = payload.question(event.word(), "");
    if let Some(fields) = question.as_object_mut() {
        let number = |name| json!(std::env::var(name).ok().and_then(|it| it.parse::<i32>().ok()));
        let variables = [
            ("own", json!(true)),
            ("active", json!(payload.is_held())),
            ("cap", number(BLOCK_CAP_VARIABLE)),
            ("pid", number(PROCESS)),
        ];
        fields.extend(variables.map(|(name, value)| (name.to_owned(), value)));
    }
    question
}

/// The output in Claude Code's format.
fn format_output(event: SessionHookEvent, verdict: &HookReplyVerdict) -> Option<Value> {
    let mut response = match event {
        _ if verdict.decision == "allow" => json!({}),
        SessionHookEvent::Prompt => json!({
            "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": verdict.reason},
        }),
        SessionHookEvent::End => return None,
        SessionHookEvent::Known(event) => payload::format_output(event, &verdict.decision, &verdict.reason),
    };
    let fields = response.as_object_mut()?;
    if let Some(notice) = &verdict.notice {
        fields.insert("systemMessage".to_owned(), json!(notice));
    }
    (!fields.is_empty()).then_some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_code_gets_its_own_format() {
        let check = |event, (decision, notice): (&str, Option<&str>), expect: Option<Value>| {
            let (reason, notice) = ("do it".to_owned(), notice.map(str::to_owned));
            let verdict = HookReplyVerdict { decision: decision.to_owned(), reason, notice };
            assert_eq!(format_output(event, &verdict), expect, "{event:?} {verdict:?}");
        };
        let [stop, tool] = [super::super::AgentHookEvent::Stop, super::super::AgentHookEvent::PreTool]
            .map(SessionHookEvent::Known);
        check(stop, ("block", None), Some(json!({"decision": "block", "reason": "do it"})));
        check(stop, ("allow", None), None);
        check(stop, ("allow", Some("done")), Some(json!({"systemMessage": "done"})));
        let denied = json!({
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "do it",
        });
        check(tool, ("deny", None), Some(json!({"hookSpecificOutput": denied})));
        // An explicit `allow` would bypass the user's own permission prompt.
        check(tool, ("allow", None), None);
        let context = json!({"hookEventName": "UserPromptSubmit", "additionalContext": "do it"});
        check(SessionHookEvent::Prompt, ("block", None), Some(json!({"hookSpecificOutput": context})));
        check(SessionHookEvent::End, ("block", Some("x")), None);
    }
}
