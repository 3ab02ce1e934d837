//! The agents on this machine: which ones are installed, and whether a login was seen.

use serde::Serialize;

use super::{DoctorFinding, DoctorLevel, DoctorProblem, DoctorTopic};
use loopkeeper_agent::LoopMode;
use loopkeeper_agent::catalog::CATALOG;
use loopkeeper_agent::kind::{AgentKind, CapabilitySource};
use loopkeeper_agent::login::LoginState;
use loopkeeper_text::clauses;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// The facts about one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFacts {
    pub name: String,
    pub title: String,
    /// Path of the program; absent: not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    pub version: AgentVersion,
    pub login: LoginState,
    /// The file in which its hooks are disabled.
    #[serde(rename = "hooksOff", skip_serializing_if = "Option::is_none")]
    pub hooks_disabled_in: Option<String>,
    /// Whether it is a command of `[agents]`.
    pub own: bool,
}

/// The agent or session with which a loop here would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectedAgent {
    /// This agent is started.
    Agent { name: String, kind: AgentKind, mode: LoopMode },
    /// A Claude Code session that the user opens; `silent`: why its hooks would not call us.
    Session { silent: Option<DoctorProblem> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "text", rename_all = "kebab-case")]
pub enum AgentVersion {
    Told(String),
    /// The call failed; the reason as text.
    Failed(String),
    /// The program was not called; the reason as text.
    NotAsked(String),
}

/// Extracts the version from the output of `--version`: the first word with the form of a version.
pub fn version_in(answer: &str) -> Option<String> {
    const MAX_CHARS: usize = 40;
    let word = |it: &&str| {
        let digits = it.trim_start_matches('v');
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.')
    };
    let found = answer.split_whitespace().find(word)?;
    Some(sanitize::line_within(found.trim_end_matches([',', ';', '.']), MAX_CHARS))
}

pub(super) fn examine_agents(
    agents: &[AgentFacts],
    chosen: &Result<SelectedAgent, DoctorProblem>,
) -> Vec<DoctorFinding> {
    let mut all: Vec<DoctorFinding> = agents.iter().filter_map(|it| examine_installed(it, chosen)).collect();
    let missing: Vec<&str> =
        agents.iter().filter(|it| it.program.is_none() && !it.own).map(|it| it.title.as_str()).collect();
    if !missing.is_empty() {
        let what = tr!("not installed: {list}", list = clauses::list(&missing));
        all.push(DoctorFinding::new(DoctorTopic::Agents, DoctorLevel::Info, what));
    }
    all.extend(agents.iter().filter(|it| it.program.is_none() && it.own).map(|it| {
        DoctorFinding::new(
            DoctorTopic::Agents,
            DoctorLevel::Note,
            tr!("{name}: its program is missing", name = it.name),
        )
        .with_hint(tr!("correct `command` under `[agents.{name}]`", name = it.name))
    }));
    all.extend(match chosen {
        Ok(SelectedAgent::Agent { name, kind, mode }) => examine_started(agents, name, *kind, *mode),
        Ok(SelectedAgent::Session { silent }) => examine_attached(agents, silent.as_ref()),
        Err(problem) => vec![DoctorFinding::from_problem(DoctorTopic::Agents, problem)],
    });
    all
}

/// The agent that would be started, and its limitations.
fn examine_started(agents: &[AgentFacts], name: &str, kind: AgentKind, mode: LoopMode) -> Vec<DoctorFinding> {
    let what = tr!("a loop here would start `{name}`", name);
    let mut all = vec![DoctorFinding::new(DoctorTopic::Agents, DoctorLevel::Good, what)];
    let note = |fact: &str| {
        DoctorFinding::new(DoctorTopic::Agents, DoctorLevel::Note, tr!("{name}: {fact}", name, fact))
    };
    let mut capabilities = kind.capabilities().in_mode(mode);
    let facts = agents.iter().find(|it| it.name == name);
    if let Some(place) = facts.and_then(|it| it.hooks_disabled_in.as_ref()) {
        capabilities = capabilities.without_hooks();
        let off = tr!("`disableAllHooks` in {place} switches its hooks off", place);
        all.push(note(&off).with_hint(tr!("remove it there, so that it asks before it starts a subagent")));
    }
    // The capabilities of a custom command are unknown, unless its output format is configured.
    if kind.known_agent().is_some() {
        all.extend(capabilities.limitations().into_iter().map(note));
    }
    all
}

/// An attached session needs no program to start it.
fn examine_attached(agents: &[AgentFacts], silent: Option<&DoctorProblem>) -> Vec<DoctorFinding> {
    let claude = AgentKind::Claude.name();
    let mut all = vec![match silent {
        Some(problem) => DoctorFinding::from_problem(DoctorTopic::Agents, problem),
        None => DoctorFinding::new(
            DoctorTopic::Agents,
            DoctorLevel::Good,
            tr!(
                "a loop here would wait for a session of Claude Code that you open in this folder, in any terminal: its \
             hooks are in place"
            ),
        ),
    }];
    let facts = agents.iter().find(|it| it.name == claude);
    if facts.is_none_or(|it| it.program.is_none()) {
        all.push(
            DoctorFinding::new(
                DoctorTopic::Agents,
                DoctorLevel::Note,
                tr!("there is no `claude` on PATH to open that session with"),
            )
            .with_hint(
                AgentKind::Claude
                    .known_agent()
                    .map_or_else(String::new, |it| tr!("install it: `{command}`", command = it.install)),
            ),
        );
    }
    if let (Some(AgentVersion::Told(version)), CapabilitySource::Run(tried)) =
        (facts.map(|it| &it.version), AgentKind::Claude.capabilities().found)
        && version != tried
    {
        let what =
            tr!("its hooks were tried with {tried} of Claude Code, and this is {version}", tried, version);
        all.push(DoctorFinding::new(DoctorTopic::Agents, DoctorLevel::Good, what));
    }
    let capabilities = AgentKind::Claude.capabilities().in_mode(LoopMode::Attach);
    all.extend(capabilities.limitations().into_iter().map(|it| {
        DoctorFinding::new(
            DoctorTopic::Agents,
            DoctorLevel::Note,
            tr!("{name}: {fact}", name = claude, fact = it),
        )
    }));
    all
}

/// A missing login is a problem only for the agent that would be started; for others it is information.
fn examine_installed(
    agent: &AgentFacts,
    chosen: &Result<SelectedAgent, DoctorProblem>,
) -> Option<DoctorFinding> {
    let program = agent.program.as_deref()?;
    let title = match &agent.version {
        AgentVersion::Told(version) => format!("{} {version}", agent.title),
        AgentVersion::Failed(reason) | AgentVersion::NotAsked(reason) => {
            tr!("{agent} (version unknown: {reason})", agent = agent.title, reason)
        }
    };
    let known = CATALOG.iter().find(|it| !agent.own && it.name == agent.name);
    let login = match &agent.login {
        LoginState::Seen(place) => Some(tr!("a login was seen ({place})", place)),
        LoginState::Withheld(name) => Some(tr!("${name} is set but not passed to agents", name)),
        LoginState::NotSeen => Some(tr!("no sign of a login").to_owned()),
        LoginState::Unknown => None,
    };
    let facts = clauses::join_with_commas(std::iter::once(program.to_owned()).chain(login));
    let what = tr!("{agent}: {facts}", agent = title, facts);
    let is_selected = match chosen {
        Ok(SelectedAgent::Agent { name, .. }) => *name == agent.name,
        Ok(SelectedAgent::Session { .. }) => agent.name == AgentKind::Claude.name(),
        Err(_) => false,
    };
    let lacks_login = matches!(agent.login, LoginState::NotSeen | LoginState::Withheld(_)) && is_selected;
    let level = if lacks_login || matches!(agent.version, AgentVersion::Failed(_)) {
        DoctorLevel::Note
    } else {
        DoctorLevel::Good
    };
    let finding = DoctorFinding::new(DoctorTopic::Agents, level, what);
    Some(match (&agent.login, &agent.version, known) {
        (_, AgentVersion::Failed(_), Some(known)) => {
            finding.with_hint(tr!("reinstall it: `{command}`", command = known.install))
        }
        (LoginState::Withheld(name), ..) if lacks_login => {
            finding.with_hint(tr!("add it to `[env]`: `pass = [\"{name}\"]`", name))
        }
        (LoginState::NotSeen, _, Some(known)) if lacks_login => finding.with_hint(tr!(
            "{remedy}; a login in the system's own store cannot be seen from here",
            remedy = known.log_in()
        )),
        _ => finding,
    })
}

#[cfg(test)]
mod tests;
