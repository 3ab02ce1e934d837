//! Agents in the configuration: the built-in ones, those of the user, and the keys that each supports. The command
//! line of an agent is built elsewhere.

use super::AgentSettings;
use super::unsupported_field::UnsupportedField;
use super::value::SettingValue;
use loopkeeper_agent::kind::{AgentKind, Dialect, KNOWN_KINDS};
use loopkeeper_agent::{PermissionMode, PromptBy};

/// The value of `agent` that selects an installed agent.
pub const AUTO: &str = "auto";

pub fn built_in() -> Vec<AgentSettings> {
    let known = |it: AgentKind| AgentSettings { output: it.dialect(), ..custom_agent(it.name()) };
    KNOWN_KINDS.into_iter().chain([AgentKind::Demo]).map(known).collect()
}

/// A custom agent before any setting is applied.
pub(super) fn custom_agent(name: &str) -> AgentSettings {
    AgentSettings {
        name: name.to_owned(),
        command: Vec::new(),
        prompt: PromptBy::Stdin,
        output: Dialect::Text,
        permissions: PermissionMode::Edits,
        model: None,
        effort: None,
        args: Vec::new(),
        env: Vec::new(),
    }
}

/// Which keys an agent supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentNameKind {
    /// loopkeeper knows its flags.
    Known(AgentKind),
    Demo,
    Own,
    /// Not a name.
    Invalid,
}

pub fn kind_of(name: &str) -> AgentNameKind {
    match AgentKind::from_name(name, Dialect::Text) {
        AgentKind::Demo => AgentNameKind::Demo,
        AgentKind::Own(_) if is_valid_name(name) => AgentNameKind::Own,
        AgentKind::Own(_) => AgentNameKind::Invalid,
        known => AgentNameKind::Known(known),
    }
}

fn is_valid_name(name: &str) -> bool {
    const MAX_LENGTH: usize = 40;
    let good = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    name != AUTO && !name.is_empty() && name.len() <= MAX_LENGTH && name.chars().all(good)
}

/// Why an agent with this output (`None`: not known yet) does not support a field; `None` if it does.
pub fn unsupported_field(
    agent: AgentNameKind,
    field: &str,
    output: Option<Dialect>,
) -> Option<UnsupportedField> {
    match (agent, field, output) {
        (AgentNameKind::Known(AgentKind::Gemini | AgentKind::Qwen | AgentKind::Cursor), "effort", _)
        | (AgentNameKind::Known(AgentKind::Amp), "model", _) => Some(UnsupportedField::NoSuchSetting),
        (AgentNameKind::Known(AgentKind::Amp), "permissions", _) => Some(UnsupportedField::OwnPermissions),
        (AgentNameKind::Known(_), "output", None) => None,
        (AgentNameKind::Known(kind), "output", Some(Dialect::Acp)) if kind.capabilities().acp.is_yes() => {
            None
        }
        (AgentNameKind::Known(_), "output", Some(Dialect::Acp)) => Some(UnsupportedField::NoProtocol),
        (AgentNameKind::Known(_), "prompt" | "output", _) => Some(UnsupportedField::BuiltIn),
        (AgentNameKind::Demo, _, _) => Some(UnsupportedField::FixedScript),
        (AgentNameKind::Own, "permissions" | "model" | "effort", None | Some(Dialect::Acp)) => None,
        (AgentNameKind::Own, "prompt", Some(Dialect::Acp)) => Some(UnsupportedField::SetByProtocol),
        (AgentNameKind::Own, "permissions" | "model" | "effort", Some(_)) => {
            Some(UnsupportedField::UnknownFlags)
        }
        (AgentNameKind::Invalid, _, _) => Some(UnsupportedField::InvalidName),
        (AgentNameKind::Known(_) | AgentNameKind::Own, _, _) => None,
    }
}

/// Why an agent cannot be set to ask for permissions: its dialect transports no questions.
pub(super) fn cannot_ask(agent: &AgentSettings, field: &str) -> Option<UnsupportedField> {
    let asks = field == "permissions" && agent.permissions == PermissionMode::Ask;
    (asks && agent.output != Dialect::Acp).then_some(UnsupportedField::NoQuestions)
}

pub(super) fn assign(agent: &mut AgentSettings, field: &str, value: SettingValue) -> bool {
    match (field, value) {
        ("command", SettingValue::Texts(it)) => agent.command = it,
        ("args", SettingValue::Texts(it)) => agent.args = it,
        ("model", SettingValue::Text(it)) => agent.model = (!it.is_empty()).then_some(it),
        ("effort", SettingValue::Text(it)) => agent.effort = (!it.is_empty()).then_some(it),
        ("env", SettingValue::Pairs(it)) => agent.env = it,
        ("permissions", SettingValue::Text(it)) => {
            return set(&mut agent.permissions, parse_permissions(&it));
        }
        ("prompt", SettingValue::Text(it)) => return set(&mut agent.prompt, parse_prompt_by(&it)),
        ("output", SettingValue::Text(it)) => return set(&mut agent.output, parse_dialect(&it)),
        _ => return false,
    }
    true
}

fn set<T>(field: &mut T, value: Option<T>) -> bool {
    value.map(|it| *field = it).is_some()
}

fn parse_permissions(word: &str) -> Option<PermissionMode> {
    match word {
        "edits" => Some(PermissionMode::Edits),
        "ask" => Some(PermissionMode::Ask),
        "sandboxed-all" => Some(PermissionMode::SandboxedAll),
        "all" => Some(PermissionMode::All),
        _ => None,
    }
}

fn parse_prompt_by(word: &str) -> Option<PromptBy> {
    match word {
        "stdin" => Some(PromptBy::Stdin),
        "argument" => Some(PromptBy::Argument),
        "file" => Some(PromptBy::File),
        _ => None,
    }
}

pub fn parse_dialect(word: &str) -> Option<Dialect> {
    match word {
        "text" => Some(Dialect::Text),
        "claude" => Some(Dialect::Claude),
        "codex" => Some(Dialect::Codex),
        "gemini" => Some(Dialect::Gemini),
        "opencode" => Some(Dialect::Opencode),
        "acp" => Some(Dialect::Acp),
        _ => None,
    }
}
