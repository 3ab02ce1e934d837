//! Which program a loop's agent is: finds it, and puts together what is started. Starts nothing itself.
//!
//! A program is never looked up inside the work tree: a repository must not bring its own `claude`. Only a
//! path that the configuration spells out may lie there, and that is shown before it is trusted.

pub mod second_home;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use loopkeeper_core::agent::claude::hooks;
use loopkeeper_core::agent::claude::start::SANDBOXED;
use loopkeeper_core::agent::kind::{AUTO, KNOWN, Kind};
use loopkeeper_core::agent::starting::{Line, Start};
use loopkeeper_core::agent::{allow, codex};
use loopkeeper_core::doctor::Known;
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{AgentSettings, Permissions};
use loopkeeper_core::task::{Check, Criterion};

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("no agent was found on PATH (looked for {})", AUTO.map(|it| format!("`{}`", it.name())).join(", "))]
    NoneFound,
    #[error("the agent `{agent}` cannot start: no program `{program}` on PATH")]
    Missing { agent: String, program: String },
    #[error("the agent `{agent}` cannot start: {} is no program", path.display())]
    NoProgram { agent: String, path: PathBuf },
    #[error("there is no agent `{agent}`")]
    Unknown { agent: String },
    #[error("the agent `{agent}` has no command")]
    NoCommand { agent: String },
    #[error("the agent `{agent}` refuses to run without permission checks as root")]
    Root { agent: String },
    #[error("the agent `{agent}` edits nothing unless it may do everything")]
    NoSafeMode { agent: String },
    #[error("loopkeeper's own program cannot be found: {source}")]
    Ourselves { source: std::io::Error },
}

impl AgentError {
    /// The remedy, for people.
    pub fn hint(&self) -> String {
        const OWN: &str = "set `agent` in loopkeeper.toml to a command of your own under `[agents.NAME]`";
        match self {
            Self::NoneFound => {
                let first = known("claude").map_or_else(String::new, install);
                format!("{first} or another of them, or {OWN}.")
            }
            Self::Missing { agent, .. } if known(agent).is_some() => {
                let how = known(agent).map_or_else(String::new, install);
                format!("{how}, or give its path as `command` under `[agents.{agent}]`.")
            }
            Self::Missing { agent, .. } => {
                format!(
                    "give the whole path as `command` under `[agents.{agent}]`; work trees are not searched."
                )
            }
            Self::NoProgram { agent, .. } => {
                format!("correct `command` under `[agents.{agent}]`, or `chmod +x` it.")
            }
            Self::Unknown { .. } => {
                let names = KNOWN.map(|it| format!("`{}`", it.name())).join(", ");
                format!("use {names}, `demo` or a name of `[agents]`.")
            }
            Self::NoSafeMode { agent } => format!(
                "set `permissions = \"sandboxed-all\"` or `\"all\"` under `[agents.{agent}]`, or use another agent."
            ),
            Self::Root { agent } => format!(
                "set `permissions = \"edits\"` under `[agents.{agent}]`, use `\"sandboxed-all\"` where bubblewrap \
                 works, or run as another user; where this machine is a sandbox itself, set `{} = \"1\"` under \
                 `[env.set]`.",
                SANDBOXED.0
            ),
            Self::NoCommand { agent } => format!("add `command = [\"…\"]` under `[agents.{agent}]`."),
            Self::Ourselves { .. } => "start loopkeeper by its whole path.".to_owned(),
        }
    }
}

fn known(name: &str) -> Option<&'static Known> {
    KNOWN.into_iter().find(|it| it.name() == name).and_then(Kind::known)
}

fn install(known: &Known) -> String {
    format!("install {} (`{}`)", known.title, known.install)
}

/// What is wanted, with what the choice depends on.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// A name of `agents`, or `auto`.
    pub agent: &'a str,
    pub agents: &'a [AgentSettings],
    /// Real path of the work tree.
    pub root: &'a Path,
    pub criteria: &'a [Criterion],
    /// The `PATH` to search.
    pub path: &'a OsStr,
    /// Some refuse to do without permission checks for root.
    pub is_root: bool,
    /// `[env] set`.
    pub env_set: &'a [(String, String)],
}

/// The agent of a loop, ready to be recorded: whole paths, every argument.
pub fn plan(wanted: &Wanted<'_>) -> Result<AgentPlan, AgentError> {
    if wanted.agent == "auto" {
        let is_there = |it: &Kind| named(wanted, it.name()).is_ok_and(|it| command(wanted, it).is_ok());
        let found = AUTO.into_iter().find(is_there).ok_or(AgentError::NoneFound)?;
        return plan_of(wanted, named(wanted, found.name())?);
    }
    plan_of(wanted, named(wanted, wanted.agent)?)
}

/// The program of this name on `path`, outside `root`.
pub fn find(name: &str, path: &OsStr, root: &Path) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute() && !lies_in(folder, root))
        .map(|folder| folder.join(name))
        .find(|program| is_program(program))
}

fn named<'a>(wanted: &Wanted<'a>, name: &str) -> Result<&'a AgentSettings, AgentError> {
    let found = wanted.agents.iter().find(|it| it.name == name);
    found.ok_or_else(|| AgentError::Unknown { agent: name.to_owned() })
}

fn plan_of(wanted: &Wanted<'_>, agent: &AgentSettings) -> Result<AgentPlan, AgentError> {
    let kind = Kind::of(&agent.name, agent.output);
    if wanted.is_root && kind.refuses_root(agent.permissions) && !is_contained(wanted, agent) {
        return Err(AgentError::Root { agent: agent.name.clone() });
    }
    if kind.needs_all() && agent.permissions == Permissions::Edits {
        return Err(AgentError::NoSafeMode { agent: agent.name.clone() });
    }
    let Line { argv, mut env, prompt } = kind.line(&Start {
        command: &command(wanted, agent)?,
        permissions: agent.permissions,
        model: agent.model.as_deref(),
        effort: agent.effort.as_deref(),
        args: &agent.args,
        checks: &check_commands(wanted.criteria),
        runner: allow::test_runner(&names_in(wanted.root)),
        prompt: agent.prompt,
    });
    env.extend(agent.env.iter().cloned());
    let (name, permissions) = (agent.name.clone(), agent.permissions);
    Ok(AgentPlan { name, argv, prompt, dialect: kind.dialect(), permissions, env })
}

/// The settings that the command line of Claude Code names by a file, where hook mode has to add to them. Why they
/// cannot be read, in words.
pub fn settings_text(plan: &AgentPlan, root: &Path) -> Result<Option<String>, String> {
    let Some(file) = hooks::settings_file(&plan.argv).filter(|_| plan.kind() == Kind::Claude) else {
        return Ok(None);
    };
    let unread = |why: String| format!("`--settings {file}` {why}, and hook mode adds its hook to them");
    let text =
        std::fs::read_to_string(root.join(file)).map_err(|it| unread(format!("cannot be read: {it}")))?;
    match hooks::inlined(Vec::new(), &text) {
        Some(_) => Ok(Some(text)),
        None => Err(unread("holds no JSON object".to_owned())),
    }
}

/// Why its own arguments leave no place for our hook.
pub fn hook_conflict(plan: &AgentPlan, root: &Path) -> Option<String> {
    match plan.kind() {
        Kind::Claude => settings_text(plan, root).err(),
        Kind::Codex => codex::hooks::in_the_way(&plan.argv)
            .map(|it| format!("`{it}` stands where hook mode puts its own hook")),
        _ => None,
    }
}

/// Whether the user says that the whole machine is a sandbox.
fn is_contained(wanted: &Wanted<'_>, agent: &AgentSettings) -> bool {
    wanted.env_set.iter().chain(&agent.env).any(|(name, value)| name == SANDBOXED.0 && value == SANDBOXED.1)
}

/// The agent's command with its program as a whole path.
fn command(wanted: &Wanted<'_>, agent: &AgentSettings) -> Result<Vec<String>, AgentError> {
    if agent.name == "demo" {
        let ourselves = std::env::current_exe().map_err(|source| AgentError::Ourselves { source })?;
        return Ok(vec![ourselves.to_string_lossy().into_owned(), "demo-agent".to_owned()]);
    }
    let its_own = known(&agent.name).map(|it| it.program.to_owned()).into_iter().collect::<Vec<_>>();
    let written = if agent.command.is_empty() { &its_own } else { &agent.command };
    let Some((program, rest)) = written.split_first() else {
        return Err(AgentError::NoCommand { agent: agent.name.clone() });
    };
    let found = if program.contains('/') {
        // Without `.` in between: it is read by people, and trusted by the byte.
        let path: PathBuf = wanted.root.join(program).components().collect();
        if !is_program(&path) {
            return Err(AgentError::NoProgram { agent: agent.name.clone(), path });
        }
        path
    } else {
        let missing = || AgentError::Missing { agent: agent.name.clone(), program: program.clone() };
        find(program, wanted.path, wanted.root).ok_or_else(missing)?
    };
    Ok(std::iter::once(found.to_string_lossy().into_owned()).chain(rest.iter().cloned()).collect())
}

fn check_commands(criteria: &[Criterion]) -> Vec<String> {
    let command = |criterion: &Criterion| match &criterion.check {
        Some(Check::Command { command, .. }) => Some(command.clone()),
        _ => None,
    };
    criteria.iter().filter_map(command).collect()
}

fn names_in(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Whether the folder is the work tree or lies in it, links resolved.
fn lies_in(folder: &Path, root: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(folder).starts_with(real(root))
}

#[cfg(test)]
mod tests;
