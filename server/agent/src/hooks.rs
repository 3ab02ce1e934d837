//! Connects our hooks to agents. Each agent has a different mechanism to receive them for one process only, without any
//! change to user files. An agent without one may still call `loopkeeper hook` itself.

use loopkeeper_text::tr;
use serde_json::{Value, json};

use super::kind::{AgentKind, StopHook};

/// Far longer than any round of checks. The wait ends when the keeper answers or exits.
pub(crate) const TIMEOUT_S: u64 = 24 * 60 * 60;
/// The timeout for a prompt of the user, which waits for the snapshot and the user's command before an iteration.
pub const PROMPT_TIMEOUT_S: u64 = 600;

/// How an agent is connected to its stop hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMechanism {
    /// `--settings` of Claude Code.
    Settings,
    /// `-c` of Codex.
    Overrides,
    /// A separate home directory, named by a variable of Gemini CLI.
    Home,
    /// A user-defined command, which has to call the hook itself, or our bridge for an agent of the Agent Client
    /// Protocol.
    ByItself,
}

impl AgentKind {
    /// `None` if no hook of ours can hold the agent.
    pub fn stop_hook_mechanism(self) -> Option<HookMechanism> {
        match self {
            Self::Claude => Some(HookMechanism::Settings),
            Self::Codex => Some(HookMechanism::Overrides),
            Self::Gemini => Some(HookMechanism::Home),
            Self::Own(_) | Self::Acp(_) => Some(HookMechanism::ByItself),
            Self::Opencode | Self::Qwen | Self::Copilot | Self::Cursor | Self::Amp | Self::Demo => None,
        }
    }

    /// Why it cannot work with `mode = "hook"`, and the alternative. `name`: the name in the configuration.
    pub fn refuses_hook_mode(self, name: &str) -> Option<(String, String)> {
        if self.stop_hook_mechanism().is_some() {
            return None;
        }
        let can = self.capabilities();
        let fact = match can.stop_hook {
            StopHook::None => {
                tr!(
                    "`mode = \"hook\"` keeps a session open by its stop hook, and `{name}` has no stop hook",
                    name
                )
            }
            StopHook::OfFolder => tr!(
                "`mode = \"hook\"` keeps a session open by its stop hook, and `{name}` reads a stop hook only from a file of its folder, which is yours",
                name
            ),
            StopHook::Unbounded | StopHook::Capped(_) | StopHook::Unknown => tr!(
                "`mode = \"hook\"` keeps a session open by its stop hook, and no way is known to give `{name}` a stop hook",
                name
            ),
        };
        let hint = if can.acp.is_yes() {
            tr!(
                "Set `output = \"acp\"` under `[agents.{name}]`, by which its session is held; or \
                 `session.continue = true` instead of `mode = \"hook\"`: each iteration is a separate process that continues the session of the previous one.",
                name
            )
        } else {
            tr!(
                "Set `session.continue = true` instead of `mode = \"hook\"`: each iteration is a separate process that continues the session of the previous one."
            )
            .to_owned()
        };
        Some((fact, hint))
    }

    /// The message for an agent that should have been held and ended without calling its hook.
    pub fn no_stop_hook_call_message(self) -> String {
        let why = match self.stop_hook_mechanism() {
            Some(HookMechanism::Settings) => {
                tr!("are its hooks disabled by `disableAllHooks` or by a policy?")
            }
            Some(HookMechanism::Overrides) => {
                tr!(
                    "are its hooks disabled by `features.hooks` or by a policy? A version that does not trust loopkeeper's hook runs it with `args = [\"--dangerously-bypass-hook-trust\"]`"
                )
            }
            Some(HookMechanism::Home) => tr!("are its hooks disabled by `hooksConfig`?"),
            Some(HookMechanism::ByItself) | None => {
                tr!("it must call `loopkeeper hook stop` at the end of its turn")
            }
        };
        tr!(
            "its stop hook did not call loopkeeper, so this was an iteration as with `mode = \"loop\"`: {why}",
            why
        )
    }
}

/// The shell command of a hook. `program`: the path of our own program.
pub fn hook_command(program: &str, event: &str) -> String {
    format!("{} hook {event}", quote_for_shell(program))
}

/// Quotes any text as one shell word.
fn quote_for_shell(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Adds a hook and keeps existing ones.
pub fn add_hook(settings: &mut Value, event: &str, entry: Value) {
    let Some(settings) = settings.as_object_mut() else { return };
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let Some(hooks) = hooks.as_object_mut() else { return };
    let entries = hooks.entry(event).or_insert_with(|| json!([]));
    if let Some(entries) = entries.as_array_mut() {
        entries.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use crate::kind::{AgentKind, Dialect, KNOWN_KINDS, StopHook};

    #[test]
    fn an_agent_without_a_stop_hook_is_refused_with_a_remedy() {
        let check = |kind: AgentKind, expect: &str| {
            let name = if kind == AgentKind::Demo { "demo" } else { kind.name() };
            let (what, hint) = kind.refuses_hook_mode(name).unwrap_or_default();
            assert!(what.ends_with(expect), "{kind:?}: {what}");
            assert_eq!(hint.contains("session.continue = true"), !expect.is_empty(), "{kind:?}: {hint}");
            let by_protocol = matches!(kind, AgentKind::Opencode | AgentKind::Qwen);
            assert_eq!(hint.contains("output = \"acp\""), by_protocol, "{kind:?}: {hint}");
        };
        check(AgentKind::Claude, "");
        check(AgentKind::Codex, "");
        check(AgentKind::Gemini, "");
        check(AgentKind::Own(Dialect::Codex), "");
        check(AgentKind::Acp(None), "");
        check(AgentKind::Opencode, "and `opencode` has no stop hook");
        check(AgentKind::Qwen, "only from a file of its folder, which is yours");
        check(AgentKind::Amp, "no way is known to give `amp` a stop hook");
        check(AgentKind::Demo, "no way is known to give `demo` a stop hook");
    }

    #[test]
    fn capabilities_agree_with_the_hook_mechanism() {
        for kind in KNOWN_KINDS {
            let has = matches!(kind.capabilities().stop_hook, StopHook::Unbounded | StopHook::Capped(_));
            assert_eq!(has, kind.stop_hook_mechanism().is_some(), "{kind:?}");
        }
    }
}
