//! Resolves files and arguments to effective settings. In order of precedence: the last argument for a key, the
//! workspace's file, another tool's file, the user's file; the order in which files are passed does not matter.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::accept::accept_value;
use super::agents::{self, AgentNameKind};
use super::assignment::{AgentIndex, Assignment, ParsedLayer, assign, full_path};
use super::bounds::{self, UserLimits};
use super::finding::{SettingCode, SettingFinding, SettingOrigin};
use super::keys::KEYS;
use super::layer::{Layer, LayerKind, OverrideSource, SettingOverride};
use super::lookup::{KeyLookup, look_up};
use super::table::{KeySupport, ValueKind};
use super::value::{RawValue, SettingValue};
use super::{AgentSettings, Settings, other_tools, ralphrc, toml_layer};
use loopkeeper_text::clauses;
use loopkeeper_text::closest::closest;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::tr;

/// Prefix of a line with a glob of judges that may change, in [`ResolvedSettings::to_trust`].
pub(crate) const MAY_CHANGE: &str = "may change ";
/// Prefix of a line with a variable that is passed, in [`ResolvedSettings::to_trust`].
pub(crate) const PASS: &str = "pass ";
/// Prefix of a line with a path that the sandbox leaves open, in [`ResolvedSettings::to_trust`].
pub(crate) const SANDBOX_ALLOW: &str = "sandbox allow ";
/// Prefix of a line with a path that jobs may change, in [`ResolvedSettings::to_trust`].
pub(crate) const SANDBOX_WRITE: &str = "sandbox write ";
/// The line for a disabled sandbox, in [`ResolvedSettings::to_trust`].
pub(crate) const NO_SANDBOX: &str = "no sandbox";

/// The result of resolving the configuration.
#[derive(Debug, Clone)]
pub struct ResolvedSettings {
    /// Shared between readers: a file may describe ten thousand agents.
    settings: Arc<Settings>,
    /// The effective value of each key, by path.
    winners: BTreeMap<String, Assignment>,
    to_trust: Vec<String>,
    raised: Vec<String>,
    findings: Vec<SettingFinding>,
}

/// One key with its value and origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveSetting {
    pub key: String,
    /// The value as TOML on one line; values of environment variables are left out.
    pub value: String,
    pub origin: SettingOrigin,
}

/// Resolves everything at once and finds all errors in one pass.
pub fn resolve(layers: &[Layer], arguments: &[SettingOverride]) -> ResolvedSettings {
    let mut layers: Vec<&Layer> = layers.iter().collect();
    layers.sort_by_key(|it| it.kind);
    let mut reading = ParsedLayer::default();
    for layer in layers {
        let one = match layer.kind {
            LayerKind::User | LayerKind::Workspace | LayerKind::Task => toml_layer::parse_layer(layer),
            LayerKind::OtherTool => other_tools::parse_layer(layer),
            LayerKind::Ralphrc => ralphrc::parse_ralphrc(layer),
        };
        reading.assignments.extend(one.assignments);
        reading.agents.extend(one.agents);
        reading.refused.extend(one.refused);
        reading.findings.extend(one.findings);
    }
    for argument in arguments {
        match argument.program() {
            Some(path) => read_program(&argument.option, path, &mut reading),
            None => read_argument(argument, |takes| takes.raw_from_text(&argument.value), &mut reading),
        }
    }
    assemble(reading)
}

impl ResolvedSettings {
    /// The settings, or all findings if one of them blocks: then nothing may run.
    pub fn settings(&self) -> Result<&Arc<Settings>, &[SettingFinding]> {
        if self.findings.iter().any(SettingFinding::is_blocking) {
            Err(&self.findings)
        } else {
            Ok(&self.settings)
        }
    }

    /// All findings about the configuration, including notes.
    pub fn findings(&self) -> &[SettingFinding] {
        &self.findings
    }

    /// The prompt template and its origin.
    pub fn template(&self) -> Option<(&str, &SettingOrigin)> {
        let written = self.winners.get("prompt.template")?;
        Some((self.settings.prompt_template.as_deref()?, &written.origin))
    }

    /// Adds an error of the file that a setting names.
    pub fn add_error(&mut self, origin: SettingOrigin, message: String, hint: String) {
        let code = SettingCode::BadValue;
        self.findings.push(SettingFinding { code, origin, message, hint, fix: None });
    }

    /// Every effective value with its origin, in the order of the reference page.
    pub fn effective(&self) -> Vec<EffectiveSetting> {
        effective(&self.settings, &self.winners)
    }

    /// Verbatim settings in files of the work tree that affect every program of a loop: environment and sandbox. They
    /// need trust like a command: a variable can redirect an agent, with its keys, to another host.
    pub fn to_trust(&self) -> &[String] {
        &self.to_trust
    }

    /// The limits that files of the work tree raise above the user's, and other rules that they loosen, one line each.
    /// They need the user's trust before a loop starts.
    pub fn raised_limits(&self) -> &[String] {
        &self.raised
    }
}

/// A program is recognised as an agent by its file name; `agents.claude` with any path is still Claude Code.
fn read_program(option: &str, path: &str, reading: &mut ParsedLayer) {
    let file = path.rsplit('/').next().unwrap_or_default();
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let name = if matches!(agents::kind_of(stem), AgentNameKind::Own | AgentNameKind::Known(_)) {
        stem
    } else {
        "mine"
    };
    let argument = |key: String, value: &str| SettingOverride {
        option: option.to_owned(),
        key,
        value: value.to_owned(),
        source: OverrideSource::Argument,
    };
    reading.agents.push((name.to_owned(), SettingOrigin::Option(option.to_owned())));
    let whole = |_| RawValue::List(vec![RawValue::Text(path.to_owned())]);
    read_argument(&argument(format!("agents.{name}.command"), path), whole, reading);
    read_argument(&argument("agent".to_owned(), name), |takes| takes.raw_from_text(name), reading);
}

fn read_argument(argument: &SettingOverride, raw: impl Fn(ValueKind) -> RawValue, reading: &mut ParsedLayer) {
    match accept_argument(argument, raw) {
        Ok(assignment) => reading.assignments.push(assignment),
        Err(finding) => reading.findings.push(*finding),
    }
}

fn accept_argument(
    argument: &SettingOverride,
    raw: impl Fn(ValueKind) -> RawValue,
) -> Result<Assignment, Box<SettingFinding>> {
    let origin = SettingOrigin::Option(argument.option.clone());
    let finding = |code, message, hint| {
        Box::new(SettingFinding { code, origin: origin.clone(), message, hint, fix: None })
    };
    let path: Vec<&str> = argument.key.split('.').collect();
    let KeyLookup::Key(key) = look_up(&path) else {
        let message = tr!("`{path}` is not a known key", path = shown(&argument.key));
        return Err(finding(SettingCode::UnknownKey, message, tr!("leave the option out").to_owned()));
    };
    let raw = raw(key.takes);
    let agent = key.path.contains('*').then(|| path.get(1).copied().unwrap_or_default());
    let value = accept_value(key, agent, &raw).map_err(|it| {
        finding(it.code, it.message, it.hint.unwrap_or_else(|| tr!("correct the value").to_owned()))
    })?;
    let layer = (argument.source == OverrideSource::Task).then_some(LayerKind::Task);
    Ok(Assignment { key, agent: agent.map(str::to_owned), value, raw, layer, origin })
}

fn assemble(reading: ParsedLayer) -> ResolvedSettings {
    let mut settings = Settings::default();
    let ParsedLayer { assignments, agents: mentioned, refused, mut findings } = reading;
    let own =
        mentioned.iter().map(|(name, _)| name).filter(|name| agents::kind_of(name) == AgentNameKind::Own);
    for name in own.collect::<BTreeSet<_>>() {
        settings.agents.push(agents::custom_agent(name));
    }
    let index = index(&settings);
    let mut winners: BTreeMap<String, Assignment> = BTreeMap::new();
    let user = UserLimits::of(&assignments);
    for mut assignment in assignments {
        findings.extend(bounds::misplaced_key(&assignment).or_else(|| user.bound(&mut assignment)));
        assign(&mut settings, &index, &assignment);
        winners.insert(assignment.path(), assignment);
    }
    for assignment in user.defaults(&winners) {
        assign(&mut settings, &index, &assignment);
        winners.insert(assignment.path(), assignment);
    }
    if let Some(template) = settings.prompt_template.as_ref().filter(|it| !it.starts_with('/')) {
        // The agent must not write its own instructions.
        settings.protected.push(globset::escape(template));
    }
    settings.written = winners.keys().filter(|it| preset_sets(it)).cloned().collect();
    findings.extend(winners.values().filter_map(|it| unsupported_field_finding(&settings, &index, it)));
    let silent = without_command(&settings.agents, &mentioned);
    let refused: HashSet<String> = refused.into_iter().collect();
    findings.extend(silent.filter(|(path, _)| !refused.contains(path)).map(|(_, finding)| finding));
    let agents = settings.agent_names().map(|it| ("agent", it));
    for (key, name) in agents.chain(settings.judge.iter().map(|it| ("criteria.judge", it))) {
        findings.extend(winners.get(key).and_then(|it| unknown_agent(&settings, name, it)));
    }
    let (to_trust, raised) = (to_trust(&winners), user.raised_limits(&winners));
    ResolvedSettings { settings: Arc::new(settings), winners, to_trust, raised, findings }
}

fn index(settings: &Settings) -> AgentIndex {
    settings.agents.iter().enumerate().map(|(at, it)| (it.name.clone(), at)).collect()
}

/// Settings that their agent does not support, which is known only after all its settings are resolved.
fn unsupported_field_finding(
    settings: &Settings,
    agents: &AgentIndex,
    assigned: &Assignment,
) -> Option<SettingFinding> {
    let agent = settings.agents.get(*agents.get(assigned.agent.as_deref()?)?)?;
    let kind = agents::kind_of(&agent.name);
    let problem = agents::unsupported_field(kind, assigned.key.name(), Some(agent.output))
        .or_else(|| agents::cannot_ask(agent, assigned.key.name()))?;
    Some(SettingFinding {
        code: SettingCode::BadValue,
        origin: assigned.origin.clone(),
        message: problem.message(&assigned.path()),
        hint: problem.hint().to_owned(),
        fix: None,
    })
}

/// Whether a preset sets the key.
fn preset_sets(path: &str) -> bool {
    const EXIT: [&str; 3] = ["exit.done_signals", "exit.test_loops", "exit.test_percentage"];
    const BREAKER: [&str; 3] = ["breaker.no_progress", "breaker.same_error", "breaker.output_decline"];
    EXIT.contains(&path) || BREAKER.contains(&path)
}

/// Agents of the user without a command, with the path of the missing key.
fn without_command<'a>(
    agents: &'a [AgentSettings],
    mentioned: &'a [(String, SettingOrigin)],
) -> impl Iterator<Item = (String, SettingFinding)> + 'a {
    let commandless = |agent: &&AgentSettings| {
        agent.command.is_empty() && agents::kind_of(&agent.name) == AgentNameKind::Own
    };
    let first: HashMap<&str, &SettingOrigin> =
        mentioned.iter().rev().map(|(name, at)| (name.as_str(), at)).collect();
    agents.iter().filter(commandless).map(move |agent| {
        let origin = first.get(agent.name.as_str()).copied().cloned();
        let finding = SettingFinding {
            code: SettingCode::BadValue,
            origin: origin.unwrap_or(SettingOrigin::Default),
            message: tr!("`agents.{name}` has no `command`", name = agent.name),
            hint: tr!("write the program and its arguments: `command = [\"./agent.sh\"]`").to_owned(),
            fix: None,
        };
        (format!("agents.{}.command", agent.name), finding)
    })
}

fn unknown_agent(settings: &Settings, name: &str, chosen: &Assignment) -> Option<SettingFinding> {
    if name == agents::AUTO || settings.agent_named(name).is_some() {
        return None;
    }
    let names = || settings.agents.iter().map(|it| it.name.as_str()).chain([agents::AUTO]);
    let known = || clauses::list(names().map(|it| format!("`{it}`")));
    let hint = match closest(name, names()) {
        _ if name == "acp" => {
            let hint = tr!(
                "it is a protocol, not an agent: give the agent's `command` and `output = \"acp\"` below `[agents.NAME]`"
            );
            hint.to_owned()
        }
        Some(near) => tr!("did you mean `{near}`?", near),
        None => tr!(
            "use one of {names}, give the path of a program, or describe it as `[agents.NAME]`",
            names = known()
        ),
    };
    let message = tr!("there is no agent `{name}`", name = shown(name));
    let (code, origin) = (SettingCode::BadValue, chosen.origin.clone());
    Some(SettingFinding { code, origin, message, hint, fix: None })
}

fn effective(settings: &Settings, winners: &BTreeMap<String, Assignment>) -> Vec<EffectiveSetting> {
    let mut rows = Vec::new();
    for key in KEYS.iter().filter(|key| key.since != KeySupport::NotYet) {
        if !key.path.contains('*') {
            rows.extend(row(full_path(key, None), key.default, winners));
        }
    }
    for agent in &settings.agents {
        for key in KEYS.iter().filter(|key| key.path.contains('*')) {
            if agents::unsupported_field(agents::kind_of(&agent.name), key.name(), Some(agent.output))
                .is_none()
            {
                rows.extend(row(full_path(key, Some(&agent.name)), key.default, winners));
            }
        }
    }
    rows
}

fn to_trust(winners: &BTreeMap<String, Assignment>) -> Vec<String> {
    let of_tree = |it: &&Assignment| {
        matches!(it.layer, Some(LayerKind::OtherTool | LayerKind::Ralphrc | LayerKind::Workspace))
    };
    let mut lines = Vec::new();
    for assignment in winners.values().filter(of_tree) {
        match (assignment.key.path, &assignment.value) {
            ("env.pass", SettingValue::Texts(names)) => {
                lines.extend(names.iter().map(|it| format!("{PASS}{it}")));
            }
            ("env.set", SettingValue::Pairs(pairs)) => {
                lines.extend(pairs.iter().map(|(name, value)| format!("{name}={value}")));
            }
            ("sandbox.allow", SettingValue::Texts(paths)) => {
                lines.extend(paths.iter().map(|it| format!("{SANDBOX_ALLOW}{it}")));
            }
            ("sandbox.write", SettingValue::Texts(paths)) => {
                lines.extend(paths.iter().map(|it| format!("{SANDBOX_WRITE}{it}")));
            }
            ("sandbox.kind", SettingValue::Text(kind)) if kind == "off" => lines.push(NO_SANDBOX.to_owned()),
            _ => {}
        }
    }
    lines.extend(changeable_judges(winners).into_iter().map(|it| format!("{MAY_CHANGE}{it}")));
    lines
}

/// The judges that the work tree allows to change, in a file of settings or in a task.
fn changeable_judges(winners: &BTreeMap<String, Assignment>) -> Vec<String> {
    let of_user = |it: &Assignment| it.layer == Some(LayerKind::User);
    match winners.get("criteria.may_change").filter(|it| !of_user(it)).map(|it| &it.value) {
        Some(SettingValue::Texts(globs)) => globs.clone(),
        _ => Vec::new(),
    }
}

fn row(path: String, default: &str, winners: &BTreeMap<String, Assignment>) -> Option<EffectiveSetting> {
    match winners.get(&path) {
        Some(it) => Some(EffectiveSetting { key: path, value: it.written(), origin: it.origin.clone() }),
        None if default.is_empty() => None,
        None => {
            Some(EffectiveSetting { key: path, value: default.to_owned(), origin: SettingOrigin::Default })
        }
    }
}
