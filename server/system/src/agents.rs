//! Resolves the program of a loop's agent and builds its command line. Starts nothing.
//!
//! A program is never looked up inside the work tree: a repository must not bring its own `claude`. Only a path that
//! the configuration spells out may lie there, and that path is shown before it is trusted.

pub mod disabled_hooks;
mod preflight;
mod repository;
pub mod shadow_home;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use loopkeeper_agent::catalog::KnownAgent;
use loopkeeper_agent::claude::settings;
use loopkeeper_agent::claude::start::SANDBOXED;
use loopkeeper_agent::command_line::{AgentCommandLine, CommandLineParams};
use loopkeeper_agent::commit_limitation::commit_limitation;
use loopkeeper_agent::commits::GitDirs;
use loopkeeper_agent::kind::{AUTO, AgentKind, KNOWN_KINDS};
use loopkeeper_agent::{PermissionMode, allow, bypass, codex};
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{AgentSettings, CommitPolicy};
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::clauses;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::tr;

use self::preflight::PreflightError;
use super::config_text;

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("{}", tr!("no agent was found on PATH (looked for {names})", names = clauses::list(AUTO.map(|it| format!("`{}`", it.name())))))]
    NoneFound,
    #[error("{}", tr!("the agent `{agent}` cannot start: no program `{program}` on PATH", agent, program))]
    Missing { agent: String, program: String },
    #[error("{}", tr!("the agent `{agent}` cannot start: {path} {why}", agent, path = path.display(), why))]
    NoProgram { agent: String, path: PathBuf, why: PreflightError },
    #[error("{}", tr!("there is no agent `{agent}`", agent))]
    Unknown { agent: String },
    #[error("{}", tr!("the agent `{agent}` has no command", agent))]
    NoCommand { agent: String },
    #[error("{}", tr!("the agent `{agent}` refuses to run without permission checks as root", agent))]
    Root { agent: String },
    #[error("{}", tr!("the agent `{agent}` edits nothing unless it may do everything", agent))]
    NoSafeMode { agent: String },
    #[error("{}", bypass_sentence(agent, word, *is_judge))]
    Bypass { agent: String, word: String, is_judge: bool },
    #[error("{}", tr!("`--settings {file}` {why}, and the permissions of `{agent}` are added to them", file, why, agent))]
    Settings { agent: String, file: String, why: String },
    #[error("{}", tr!("loopkeeper's own program cannot be found: {source}", source))]
    Ourselves { source: std::io::Error },
}

impl HintedError for AgentError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoneFound => {
                let first = known_agent("claude").map_or_else(String::new, install_hint);
                tr!(
                    "{first} or another of them, or set `agent` in loopkeeper.toml to a command of your own under `[agents.NAME]`.",
                    first
                )
            }
            Self::Missing { agent, .. } => match known_agent(agent) {
                Some(known) => {
                    let how = install_hint(known);
                    tr!("{how}, or give its path as `command` under `[agents.{agent}]`.", how, agent)
                }
                None => tr!(
                    "give the full path as `command` under `[agents.{agent}]`; work trees are not searched.",
                    agent
                ),
            },
            Self::NoProgram { agent, path, why } => why.hint(agent, path),
            Self::Unknown { .. } => {
                let names = clauses::list(KNOWN_KINDS.map(|it| format!("`{}`", it.name())));
                tr!("use {names}, `demo` or a name of `[agents]`.", names)
            }
            Self::NoSafeMode { agent } => tr!(
                "set `permissions = \"sandboxed-all\"` or `\"all\"` under `[agents.{agent}]`, or use another agent.",
                agent
            ),
            Self::Root { agent } => tr!(
                "set `permissions = \"edits\"` under `[agents.{agent}]`, use `\"sandboxed-all\"` where bubblewrap \
                 works, or run as another user; where this machine is a sandbox itself, set `{variable} = \"1\"` under \
                 `[env.set]`.",
                agent,
                variable = SANDBOXED.0
            ),
            Self::Bypass { agent, .. } => tr!(
                "remove it from `[agents.{agent}]`; `permissions = \"all\"` there has the same effect, and is shown where trust is requested.",
                agent
            ),
            Self::Settings { agent, .. } => tr!("correct `args` under `[agents.{agent}]`.", agent),
            Self::NoCommand { agent } => tr!("add `command = [\"…\"]` under `[agents.{agent}]`.", agent),
            Self::Ourselves { .. } => tr!("start loopkeeper by its full path.").to_owned(),
        })
    }
}

fn known_agent(name: &str) -> Option<&'static KnownAgent> {
    KNOWN_KINDS.into_iter().find(|it| it.name() == name).and_then(AgentKind::known_agent)
}

fn bypass_sentence(agent: &str, word: &str, is_judge: bool) -> String {
    if is_judge {
        tr!(
            "with `{word}` the agent `{agent}` runs every tool without asking, but a judge may only read",
            word,
            agent
        )
    } else {
        tr!(
            "with `{word}` the agent `{agent}` runs every tool without asking, but `permissions` is `\"edits\"`",
            word,
            agent
        )
    }
}

fn install_hint(known: &KnownAgent) -> String {
    tr!("install {title} (`{install}`)", title = known.title, install = known.install)
}

/// The requested agent, with everything the choice depends on.
#[derive(Debug, Clone, Copy)]
pub struct AgentQuery<'a> {
    /// A name of `agents`, or `auto`.
    pub agent: &'a str,
    pub agents: &'a [AgentSettings],
    /// Real path of the work tree.
    pub root: &'a Path,
    pub criteria: &'a [Criterion],
    /// The `PATH` to search.
    pub path: &'a OsStr,
    /// Some agents refuse to run as root without permission checks.
    pub is_root: bool,
    /// `[env] set`.
    pub env_set: &'a [(String, String)],
    /// Whether the keeper or the agent commits.
    pub committer: CommitPolicy,
}

/// The agent of a loop, ready to be recorded: absolute paths and every argument.
pub fn plan_agent(query: &AgentQuery<'_>) -> Result<AgentPlan, AgentError> {
    if query.agent == "auto" {
        let is_installed =
            |it: &AgentKind| agent_settings(query, it.name()).is_ok_and(|it| command(query, it).is_ok());
        let found = AUTO.into_iter().find(is_installed).ok_or(AgentError::NoneFound)?;
        return plan_settings(query, agent_settings(query, found.name())?);
    }
    plan_settings(query, agent_settings(query, query.agent)?)
}

/// The program of this name on `path`, outside `root`.
pub fn find_program(name: &str, path: &OsStr, root: &Path) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute() && !is_inside(folder, root))
        .map(|folder| folder.join(name))
        .find(|program| is_program(program))
}

fn agent_settings<'a>(query: &AgentQuery<'a>, name: &str) -> Result<&'a AgentSettings, AgentError> {
    let found = query.agents.iter().find(|it| it.name == name);
    found.ok_or_else(|| AgentError::Unknown { agent: name.to_owned() })
}

fn plan_settings(query: &AgentQuery<'_>, agent: &AgentSettings) -> Result<AgentPlan, AgentError> {
    let kind = AgentKind::from_name(&agent.name, agent.output);
    if query.is_root && kind.refuses_root(agent.permissions) && !is_contained(query, agent) {
        return Err(AgentError::Root { agent: agent.name.clone() });
    }
    if kind.needs_all() && matches!(agent.permissions, PermissionMode::Edits | PermissionMode::Ask) {
        return Err(AgentError::NoSafeMode { agent: agent.name.clone() });
    }
    let (command, args) = agent_args(query, agent, kind)?;
    let repository = commit_repository(query, agent, kind);
    let AgentCommandLine { argv, mut env, prompt } = kind.command_line(&CommandLineParams {
        command: &command,
        permissions: agent.permissions,
        model: agent.model.as_deref(),
        effort: agent.effort.as_deref(),
        args: &args,
        checks: &check_commands(query.criteria),
        runner: allow::test_runner(&entry_names(query.root)),
        commits: repository.as_ref(),
        prompt: agent.prompt,
    });
    env.extend(agent.env.iter().cloned());
    let (name, permissions) = (agent.name.clone(), agent.permissions);
    Ok(AgentPlan { name, argv, prompt, dialect: kind.dialect(), permissions, env })
}

/// The repository, if commits are left to the agent. A sandbox configured by the user is not changed.
fn commit_repository(query: &AgentQuery<'_>, agent: &AgentSettings, kind: AgentKind) -> Option<GitDirs> {
    if query.committer != CommitPolicy::Agent {
        return None;
    }
    let has_own_sandbox = || {
        let words = [agent.command.as_slice(), &agent.args].concat();
        repository::has_codex_sandbox_setting(&words, &[query.env_set, &agent.env])
    };
    repository::find_repository(query.root).filter(|_| kind != AgentKind::Codex || !has_own_sandbox())
}

/// What the agent's safe mode cannot enforce when commits are left to the agent, as the end of a sentence about the
/// agent.
pub fn commit_limits(plan: &AgentPlan, root: &Path, committer: CommitPolicy) -> Option<&'static str> {
    let is_left = committer == CommitPolicy::Agent && repository::find_repository(root).is_some();
    is_left.then(|| commit_limitation(plan.kind(), plan.permissions, &plan.argv)).flatten()
}

/// The user's command and the arguments appended after ours. They may add to our arguments, not contradict them.
fn agent_args(
    query: &AgentQuery<'_>,
    agent: &AgentSettings,
    kind: AgentKind,
) -> Result<(Vec<String>, Vec<String>), AgentError> {
    let command = command(query, agent)?;
    let mut words = [command.as_slice(), &agent.args].concat();
    let is_judge = agent.permissions == PermissionMode::ReadOnly;
    // Amp has no flag that limits its permissions.
    let edits =
        matches!(agent.permissions, PermissionMode::Edits | PermissionMode::Ask) && kind != AgentKind::Amp;
    let is_bound = kind.known_agent().is_some() && (is_judge || edits);
    if let Some(word) = bypass::find_bypass_flag(kind, &words).filter(|_| is_bound) {
        return Err(AgentError::Bypass { agent: agent.name.clone(), word, is_judge });
    }
    if kind == AgentKind::Claude {
        words = inline_settings(query.root, agent, words)?;
    }
    let args = words.split_off(command.len());
    Ok((words, args))
}

/// Replaces the settings file with its contents, so that the user trusts the contents themselves and they stay the same
/// even if an agent can write that file.
fn inline_settings(
    root: &Path,
    agent: &AgentSettings,
    words: Vec<String>,
) -> Result<Vec<String>, AgentError> {
    /// One command-line argument may be 128 KiB long, and our own part is added to it.
    const MAX_BYTES: usize = 64 * 1024;
    let file = settings::settings_file(&words).map(str::to_owned);
    let refused = |why: String| {
        let file = file.clone().unwrap_or_else(|| "{…}".to_owned());
        AgentError::Settings { agent: agent.name.clone(), file, why }
    };
    let words = match &file {
        Some(name) => {
            let text = config_text::read_text(&root.join(name));
            let text = text.map_err(|it| refused(tr!("cannot be read: {error}", error = it)))?;
            let text =
                text.ok_or_else(|| refused(tr!("cannot be read: there is no such file").to_owned()))?;
            if text.len() > MAX_BYTES {
                return Err(refused(tr!("is larger than {MAX_BYTES} bytes", MAX_BYTES)));
            }
            settings::inline_settings_file(words, &text)
                .ok_or_else(|| refused(tr!("contains no JSON object").to_owned()))?
        }
        None => words,
    };
    match settings::malformed_rules(&words) {
        None => Ok(words),
        Some(list) => Err(refused(tr!("has no list `permissions.{list}`", list))),
    }
}

/// Why the configured arguments leave no place for our hook.
pub fn hook_conflict(plan: &AgentPlan) -> Option<String> {
    let theirs =
        codex::hooks::conflicting_argument(&plan.argv).filter(|_| plan.kind() == AgentKind::Codex)?;
    Some(tr!("`{theirs}` takes the place of the hook that hook mode installs", theirs))
}

/// Whether the user declares the whole machine to be a sandbox.
fn is_contained(query: &AgentQuery<'_>, agent: &AgentSettings) -> bool {
    query.env_set.iter().chain(&agent.env).any(|(name, value)| name == SANDBOXED.0 && value == SANDBOXED.1)
}

/// The agent's command with its program as an absolute path.
fn command(query: &AgentQuery<'_>, agent: &AgentSettings) -> Result<Vec<String>, AgentError> {
    if agent.name == "demo" {
        let ourselves = std::env::current_exe().map_err(|source| AgentError::Ourselves { source })?;
        return Ok(vec![ourselves.to_string_lossy().into_owned(), "demo-agent".to_owned()]);
    }
    let default_command =
        known_agent(&agent.name).map(|it| it.program.to_owned()).into_iter().collect::<Vec<_>>();
    let configured = if agent.command.is_empty() { &default_command } else { &agent.command };
    let Some((program, rest)) = configured.split_first() else {
        return Err(AgentError::NoCommand { agent: agent.name.clone() });
    };
    let found = if program.contains('/') {
        // Without `.` components: the path is shown to the user, and trust compares bytes.
        let path: PathBuf = query.root.join(program).components().collect();
        match preflight::check_program(&path) {
            Err(why) => return Err(AgentError::NoProgram { agent: agent.name.clone(), path, why }),
            Ok(()) => path,
        }
    } else {
        let missing = || AgentError::Missing { agent: agent.name.clone(), program: program.clone() };
        find_program(program, query.path, query.root).ok_or_else(missing)?
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

fn entry_names(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn is_program(path: &Path) -> bool {
    preflight::check_executable(path).is_ok()
}

/// Whether the folder is the work tree or inside it, with links resolved.
fn is_inside(folder: &Path, root: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(folder).starts_with(real(root))
}

#[cfg(test)]
mod tests;
