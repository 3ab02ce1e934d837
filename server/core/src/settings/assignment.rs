//! One value of one key with its origin, and the field of [`Settings`] that it sets.

use std::collections::HashMap;

use super::agents;
use super::configured_commands::{ConfigOrigin, ServiceSettings};
use super::finding::{SettingFinding, SettingOrigin};
use super::layer::LayerKind;
use super::table::{Key, ValueKind};
use super::value::{RawValue, SettingValue};
use super::{LimitSettings, MutantPolicy, SandboxMode, Settings};
use loopkeeper_agent::LoopMode;
use loopkeeper_text::sanitize::shown;

/// The assignments of one file, or of the arguments.
#[derive(Debug, Default)]
pub(super) struct ParsedLayer {
    pub(super) assignments: Vec<Assignment>,
    /// Agents that have a table, even an empty one.
    pub(super) agents: Vec<(String, SettingOrigin)>,
    /// Paths with an invalid value: they are not missing.
    pub(super) refused: Vec<String>,
    pub(super) findings: Vec<SettingFinding>,
}

#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) key: &'static Key,
    /// The agent that replaces `*` in the key's path.
    pub(super) agent: Option<String>,
    pub(super) value: SettingValue,
    /// What `value` was read from.
    pub(super) raw: RawValue,
    /// `None`: the user's argument.
    pub(super) layer: Option<LayerKind>,
    pub(super) origin: SettingOrigin,
}

impl Assignment {
    /// The dotted path with the agent's name in place of `*`.
    pub(super) fn path(&self) -> String {
        full_path(self.key, self.agent.as_deref())
    }

    /// The value in TOML, on one line, fit to be shown.
    pub(super) fn written(&self) -> String {
        format_toml(self.key.takes, &self.raw)
    }
}

pub(super) fn full_path(key: &Key, agent: Option<&str>) -> String {
    match agent {
        Some(name) => key.path.replacen('*', name, 1),
        None => key.path.to_owned(),
    }
}

/// The index of each agent in [`Settings::agents`].
pub(super) type AgentIndex = HashMap<String, usize>;

/// Sets the field. `false`: the table contains a key without a field, which a test prevents.
pub(super) fn assign(settings: &mut Settings, agents: &AgentIndex, assignment: &Assignment) -> bool {
    let value = assignment.value.clone();
    match &assignment.agent {
        Some(name) => {
            let agent = agents.get(name).and_then(|at| settings.agents.get_mut(*at));
            agent.is_some_and(|it| agents::assign(it, assignment.key.name(), value))
        }
        None => {
            assign_limit(&mut settings.limits, assignment.key.path, &value)
                || assign_policy(settings, assignment.key, &value)
                || assign_configured_command(settings, assignment)
                || assign_rest(settings, assignment.key.path, value)
                || assignment.key.is_users_own()
        }
    }
}

fn assign_limit(limits: &mut LimitSettings, path: &str, value: &SettingValue) -> bool {
    match (path, value) {
        ("limits.iterations", SettingValue::Count(it)) => limits.iterations = *it,
        ("limits.duration", SettingValue::Amount(it)) => limits.duration_ms = *it,
        ("limits.cost_usd", SettingValue::Amount(it)) => limits.cost_micros = *it,
        ("limits.tokens", SettingValue::Count(it)) => limits.tokens = Some(u64::from(*it)),
        ("limits.calls_per_hour", SettingValue::Count(it)) => limits.calls_per_hour = *it,
        ("limits.iteration_time", SettingValue::Amount(it)) => limits.iteration_ms = *it,
        ("limits.idle_time", SettingValue::Amount(it)) => limits.idle_ms = *it,
        ("limits.steps", SettingValue::Count(it)) => limits.steps = *it,
        ("limits.between", SettingValue::Amount(it)) => limits.between_ms = *it,
        ("limits.grace", SettingValue::Amount(it)) => limits.grace_ms = *it,
        _ => return false,
    }
    true
}

fn assign_policy(settings: &mut Settings, key: &Key, value: &SettingValue) -> bool {
    match key.section() {
        "exit" => settings.exit.assign(key.name(), value),
        "breaker" => settings.breaker.assign(key.name(), value),
        "spawns" => settings.spawns.assign(key.name(), value),
        "session" => settings.session.assign(key.name(), value),
        "questions" => settings.questions.assign(key.name(), value),
        "usage_limit" => settings.usage_limit.assign(key.name(), value),
        "git" => settings.git.assign(key.name(), value),
        _ => false,
    }
}

fn assign_configured_command(settings: &mut Settings, assignment: &Assignment) -> bool {
    let (key, author) = (assignment.key, ConfigOrigin::from_layer(assignment.layer));
    match &assignment.value {
        SettingValue::Services(entries) => {
            settings.serve = entries.iter().map(|it| ServiceSettings::of(it, author)).collect();
            true
        }
        SettingValue::Text(path) if key.path == "prompt.template" => {
            settings.prompt_template = Some(match (&assignment.origin, author) {
                (SettingOrigin::File { place, .. }, ConfigOrigin::User) => resolve_beside(&place.file, path),
                _ => path.trim_start_matches("./").to_owned(),
            });
            true
        }
        value => key.section() == "on" && settings.on.assign(key.name(), value, author),
    }
}

fn resolve_beside(file: &str, path: &str) -> String {
    file.rsplit_once('/').map_or_else(|| path.to_owned(), |(folder, _)| format!("{folder}/{path}"))
}

fn assign_rest(settings: &mut Settings, path: &str, value: SettingValue) -> bool {
    match (path, value) {
        ("agent", SettingValue::Text(it)) => (settings.agent, settings.fallbacks) = (it, Vec::new()),
        ("agent", SettingValue::Texts(mut them)) if !them.is_empty() => {
            (settings.agent, settings.fallbacks) = (them.remove(0), them);
        }
        ("tasks.files", SettingValue::Texts(it)) => settings.task_files = it,
        ("tasks.exclude", SettingValue::Texts(it)) => settings.task_exclude = it,
        ("criteria.protected", SettingValue::Texts(it)) => settings.protected = it,
        ("criteria.may_change", SettingValue::Texts(it)) => settings.may_change = it,
        ("criteria.timeout", SettingValue::Amount(it)) => settings.check_timeout_ms = it,
        ("criteria.mutants", SettingValue::Text(it)) => match it.as_str() {
            "tell" => settings.mutants = MutantPolicy::Tell,
            "require" => settings.mutants = MutantPolicy::Require,
            "off" => settings.mutants = MutantPolicy::Off,
            _ => return false,
        },
        ("criteria.judge", SettingValue::Text(it)) => settings.judge = Some(it),
        ("keep.loops", SettingValue::Count(it)) => settings.keep_loops = it,
        ("keep.days", SettingValue::Count(it)) => settings.keep_days = it,
        ("keep.disk", SettingValue::Amount(it)) => settings.keep_bytes = it,
        ("env.pass", SettingValue::Texts(it)) => settings.env_pass = it,
        ("env.set", SettingValue::Pairs(it)) => settings.env_set = it,
        ("sandbox.kind", SettingValue::Text(it)) => match parse_sandbox(&it) {
            Some(kind) => settings.sandbox = kind,
            None => return false,
        },
        ("sandbox.allow", SettingValue::Texts(it)) => settings.sandbox_allow = it,
        ("sandbox.network", SettingValue::Flag(it)) => {
            (settings.sandbox_network, settings.sandbox_hosts) = (it, Vec::new());
        }
        ("sandbox.network", SettingValue::Texts(it)) => {
            (settings.sandbox_network, settings.sandbox_hosts) = (false, it);
        }
        ("sandbox.memory", SettingValue::Amount(it)) => settings.sandbox_memory = Some(it),
        ("sandbox.processes", SettingValue::Count(it)) => settings.sandbox_processes = it,
        ("sandbox.write", SettingValue::Texts(it)) => settings.sandbox_write = it,
        ("sandbox.hide", SettingValue::Texts(it)) => settings.sandbox_hide = it,
        ("mode", SettingValue::Text(it)) => match parse_mode(&it) {
            Some(mode) => settings.mode = mode,
            None => return false,
        },
        _ => return false,
    }
    true
}

fn parse_mode(word: &str) -> Option<LoopMode> {
    match word {
        "loop" => Some(LoopMode::Loop),
        "hook" => Some(LoopMode::Hook),
        "attach" => Some(LoopMode::Attach),
        _ => None,
    }
}

fn parse_sandbox(word: &str) -> Option<SandboxMode> {
    match word {
        "auto" => Some(SandboxMode::Auto),
        "required" => Some(SandboxMode::Required),
        "off" => Some(SandboxMode::Off),
        _ => None,
    }
}

/// A value as TOML on one line. Values of environment variables may be secrets and are not shown.
pub(super) fn format_toml(takes: ValueKind, raw: &RawValue) -> String {
    match raw {
        RawValue::Text(text) => format!("\"{}\"", shown(text)),
        RawValue::Integer(number) | RawValue::Float(number) | RawValue::Date(number) => shown(number),
        RawValue::Flag(flag) => flag.to_string(),
        RawValue::List(items) => {
            let items: Vec<String> = items.iter().map(|it| format_toml(takes, it)).collect();
            format!("[{}]", items.join(", "))
        }
        RawValue::Table(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(name, value)| match takes {
                    ValueKind::Variables => format!("{} = …", shown(name)),
                    _ => format!("{} = {}", shown(name), format_toml(takes, value)),
                })
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}
