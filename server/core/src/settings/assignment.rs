//! One key given one value at one place, and the field of [`Settings`] it sets.

use std::collections::HashMap;

use super::agents;
use super::finding::{Origin, SettingFinding, shown};
use super::outside::{Author, Service};
use super::table::{Key, Takes};
use super::value::{Raw, Value};
use super::{LayerKind, Limits, Mode, Sandbox, Settings};

/// What one file, or the arguments, say.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) assignments: Vec<Assignment>,
    /// Agents that have a table, even an empty one.
    pub(super) agents: Vec<(String, Origin)>,
    /// Paths that were written with a value that cannot be taken: they are not missing.
    pub(super) refused: Vec<String>,
    pub(super) findings: Vec<SettingFinding>,
}

#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) key: &'static Key,
    /// The agent that `*` of the key's path stands for.
    pub(super) agent: Option<String>,
    pub(super) value: Value,
    /// In TOML, on one line, fit to be shown.
    pub(super) written: String,
    /// `None`: an argument.
    pub(super) layer: Option<LayerKind>,
    pub(super) origin: Origin,
}

impl Assignment {
    /// The dotted path with the agent's name in place of `*`.
    pub(super) fn path(&self) -> String {
        full_path(self.key, self.agent.as_deref())
    }
}

pub(super) fn full_path(key: &Key, agent: Option<&str>) -> String {
    match agent {
        Some(name) => key.path.replacen('*', name, 1),
        None => key.path.to_owned(),
    }
}

/// Where each agent stands in [`Settings::agents`].
pub(super) type AgentIndex = HashMap<String, usize>;

/// Sets the field. `false`: the table promises a key that nothing acts on, which a test forbids.
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
                || assign_outside(settings, assignment)
                || assign_rest(settings, assignment.key.path, value)
        }
    }
}

fn assign_limit(limits: &mut Limits, path: &str, value: &Value) -> bool {
    match (path, value) {
        ("limits.iterations", Value::Count(it)) => limits.iterations = *it,
        ("limits.duration", Value::Amount(it)) => limits.duration_ms = *it,
        ("limits.cost_usd", Value::Amount(it)) => limits.cost_micros = *it,
        ("limits.tokens", Value::Count(it)) => limits.tokens = Some(u64::from(*it)),
        ("limits.calls_per_hour", Value::Count(it)) => limits.calls_per_hour = *it,
        ("limits.iteration_time", Value::Amount(it)) => limits.iteration_ms = *it,
        ("limits.idle_time", Value::Amount(it)) => limits.idle_ms = *it,
        ("limits.steps", Value::Count(it)) => limits.steps = *it,
        ("limits.between", Value::Amount(it)) => limits.between_ms = *it,
        ("limits.grace", Value::Amount(it)) => limits.grace_ms = *it,
        _ => return false,
    }
    true
}

fn assign_policy(settings: &mut Settings, key: &Key, value: &Value) -> bool {
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

fn assign_outside(settings: &mut Settings, assignment: &Assignment) -> bool {
    let (key, author) = (assignment.key, Author::of(assignment.layer));
    match &assignment.value {
        Value::Services(entries) => {
            settings.serve = entries.iter().map(|it| Service::of(it, author)).collect();
            true
        }
        Value::Text(path) if key.path == "prompt.template" => {
            settings.prompt_template = Some(match (&assignment.origin, author) {
                (Origin::File { place, .. }, Author::User) => beside(&place.file, path),
                _ => path.trim_start_matches("./").to_owned(),
            });
            true
        }
        value => key.section() == "on" && settings.on.assign(key.name(), value, author),
    }
}

fn beside(file: &str, path: &str) -> String {
    file.rsplit_once('/').map_or_else(|| path.to_owned(), |(folder, _)| format!("{folder}/{path}"))
}

fn assign_rest(settings: &mut Settings, path: &str, value: Value) -> bool {
    match (path, value) {
        ("agent", Value::Text(it)) => (settings.agent, settings.fallbacks) = (it, Vec::new()),
        ("agent", Value::Texts(mut them)) if !them.is_empty() => {
            (settings.agent, settings.fallbacks) = (them.remove(0), them);
        }
        ("tasks.files", Value::Texts(it)) => settings.task_files = it,
        ("tasks.exclude", Value::Texts(it)) => settings.task_exclude = it,
        ("criteria.protected", Value::Texts(it)) => settings.protected = it,
        ("criteria.timeout", Value::Amount(it)) => settings.check_timeout_ms = it,
        ("criteria.judge", Value::Text(it)) => settings.judge = Some(it),
        ("keep.loops", Value::Count(it)) => settings.keep_loops = it,
        ("keep.days", Value::Count(it)) => settings.keep_days = it,
        ("keep.disk", Value::Amount(it)) => settings.keep_bytes = it,
        ("env.pass", Value::Texts(it)) => settings.env_pass = it,
        ("env.set", Value::Pairs(it)) => settings.env_set = it,
        ("sandbox.kind", Value::Text(it)) => match sandbox(&it) {
            Some(kind) => settings.sandbox = kind,
            None => return false,
        },
        ("mode", Value::Text(it)) => match mode(&it) {
            Some(mode) => settings.mode = mode,
            None => return false,
        },
        _ => return false,
    }
    true
}

fn mode(word: &str) -> Option<Mode> {
    match word {
        "loop" => Some(Mode::Loop),
        "hook" => Some(Mode::Hook),
        "attach" => Some(Mode::Attach),
        _ => None,
    }
}

fn sandbox(word: &str) -> Option<Sandbox> {
    match word {
        "auto" => Some(Sandbox::Auto),
        "required" => Some(Sandbox::Required),
        "off" => Some(Sandbox::Off),
        _ => None,
    }
}

/// A value as TOML on one line. What environment variables are set to may be a secret and is not shown.
pub(super) fn written(takes: Takes, raw: &Raw) -> String {
    match raw {
        Raw::Text(text) => format!("\"{}\"", shown(text)),
        Raw::Integer(number) | Raw::Float(number) | Raw::Date(number) => shown(number),
        Raw::Flag(flag) => flag.to_string(),
        Raw::List(items) => {
            let items: Vec<String> = items.iter().map(|it| written(takes, it)).collect();
            format!("[{}]", items.join(", "))
        }
        Raw::Table(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(name, value)| match takes {
                    Takes::Variables => format!("{} = …", shown(name)),
                    _ => format!("{} = {}", shown(name), written(takes, value)),
                })
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}
