//! The agents that people use: how to get them, and by what on this machine one sees that somebody logged in. Only
//! names of variables and files are looked at, never what is in them but for one word where a file says no more.

use std::path::PathBuf;

use serde::Serialize;

use super::{Finding, Level, Topic, Trouble};
use crate::agent::kind::{Found, Kind};
use crate::sanitize;
use crate::settings::Mode;

/// An agent that is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// As the configuration names it.
    pub name: &'static str,
    pub title: &'static str,
    pub program: &'static str,
    /// A command.
    pub install: &'static str,
    /// The end of a sentence.
    pub log_in: &'static str,
    /// Any of these says that there is a key.
    pub variables: &'static [&'static str],
    pub files: &'static [Place],
}

/// A file that a login leaves behind.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The variable that moves its folder, and where it lies below that.
    pub moved: Option<(&'static str, &'static str)>,
    /// Below the home folder.
    pub at_home: &'static str,
    /// What it holds once somebody is logged in, where the file is there without that too.
    pub holds: Option<&'static str>,
}

const fn at(at_home: &'static str) -> Place {
    Place { moved: None, at_home, holds: None }
}

const fn moved(variable: &'static str, below: &'static str, at_home: &'static str) -> Place {
    Place { moved: Some((variable, below)), at_home, holds: None }
}

const fn holding(at_home: &'static str, word: &'static str) -> Place {
    Place { moved: None, at_home, holds: Some(word) }
}

pub const KNOWN: [Known; 8] = [
    Known {
        name: "claude",
        title: "Claude Code",
        program: "claude",
        install: "npm install -g @anthropic-ai/claude-code",
        log_in: "start `claude` in a terminal and log in with `/login`",
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        files: &[
            moved("CLAUDE_CONFIG_DIR", ".credentials.json", ".claude/.credentials.json"),
            holding(".claude.json", "\"oauthAccount\""),
        ],
    },
    Known {
        name: "codex",
        title: "Codex",
        program: "codex",
        install: "npm install -g @openai/codex",
        log_in: "log in with `codex login`",
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        files: &[moved("CODEX_HOME", "auth.json", ".codex/auth.json")],
    },
    Known {
        name: "opencode",
        title: "OpenCode",
        program: "opencode",
        install: "npm install -g opencode-ai",
        log_in: "log in with `opencode auth login`",
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"],
        files: &[moved("XDG_DATA_HOME", "opencode/auth.json", ".local/share/opencode/auth.json")],
    },
    Known {
        name: "gemini",
        title: "Gemini CLI",
        program: "gemini",
        install: "npm install -g @google/gemini-cli",
        log_in: "start `gemini` in a terminal and log in with `/auth`",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
        files: &[at(".gemini/oauth_creds.json")],
    },
    Known {
        name: "qwen",
        title: "Qwen Code",
        program: "qwen",
        install: "npm install -g @qwen-code/qwen-code",
        log_in: "start `qwen` in a terminal and log in with `/auth`",
        variables: &["DASHSCOPE_API_KEY", "OPENAI_API_KEY"],
        files: &[at(".qwen/oauth_creds.json")],
    },
    Known {
        name: "copilot",
        title: "Copilot CLI",
        program: "copilot",
        install: "npm install -g @github/copilot",
        log_in: "start `copilot` in a terminal and log in with `/login`",
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
        // It takes the login of the GitHub CLI as well.
        files: &[
            holding(".copilot/config.json", "\"logged_in_users\""),
            holding(".config/gh/hosts.yml", "user:"),
        ],
    },
    Known {
        name: "cursor",
        title: "Cursor CLI",
        program: "cursor-agent",
        install: "curl https://cursor.com/install -fsS | bash",
        log_in: "log in with `cursor-agent login`",
        variables: &["CURSOR_API_KEY"],
        files: &[moved("XDG_CONFIG_HOME", "cursor/auth.json", ".config/cursor/auth.json")],
    },
    Known {
        name: "amp",
        title: "Amp",
        program: "amp",
        install: "npm install -g @sourcegraph/amp",
        log_in: "log in with `amp login`",
        variables: &["AMP_API_KEY"],
        files: &[moved("XDG_DATA_HOME", "amp/secrets.json", ".local/share/amp/secrets.json")],
    },
];

/// What can be seen of a login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "by", rename_all = "kebab-case")]
pub enum Login {
    /// By this variable or file; whether the provider still takes it is not known.
    Seen(String),
    /// The variable is set here, but is not passed to agents.
    Withheld(String),
    NotSeen,
    /// Nobody knows where this agent keeps it.
    Unknown,
}

/// What is looked up on the machine.
pub trait Evidence {
    /// Whether it is set, here.
    fn variable(&self, name: &str) -> bool;
    /// Its value for agents, after what does not pass was taken out.
    fn passed(&self, name: &str) -> Option<String>;
    fn home(&self) -> PathBuf;
    /// Whether there is a file that is not empty, and holds the word.
    fn file(&self, path: &std::path::Path, holds: Option<&str>) -> bool;
}

/// By what one sees that somebody logged in.
pub fn login(known: &Known, evidence: &impl Evidence) -> Login {
    if let Some(name) = known.variables.iter().find(|it| evidence.passed(it).is_some_and(|it| !it.is_empty()))
    {
        return Login::Seen(format!("${name}"));
    }
    let path = |place: &Place| {
        let moved = place.moved.and_then(|(variable, below)| Some((evidence.passed(variable)?, below)));
        moved.map_or_else(
            || evidence.home().join(place.at_home),
            |(folder, below)| PathBuf::from(folder).join(below),
        )
    };
    let seen =
        known.files.iter().map(|it| (path(it), it.holds)).find(|(path, holds)| evidence.file(path, *holds));
    if let Some((path, _)) = seen {
        return Login::Seen(path.to_string_lossy().into_owned());
    }
    let withheld = known.variables.iter().find(|it| evidence.variable(it));
    withheld.map_or(Login::NotSeen, |name| Login::Withheld((*name).to_owned()))
}

/// What was found of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFacts {
    pub name: String,
    pub title: String,
    /// Where it is; absent: not installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    pub version: Version,
    pub login: Login,
    /// Where its hooks are switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks_off: Option<String>,
    /// A command of `[agents]`.
    pub own: bool,
}

/// What a loop here would begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beginning {
    /// This agent is started.
    Agent { name: String, kind: Kind, mode: Mode },
    /// A session of Claude Code that its user opens is waited for; why it would not ask us, where it would not.
    Session { silent: Option<Trouble> },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "text", rename_all = "kebab-case")]
pub enum Version {
    Told(String),
    /// It did not answer; why, in words.
    Failed(String),
    /// It was not asked; why, in words.
    NotAsked(String),
}

/// The version in what a program answered to `--version`: its first word that begins like one.
pub fn version_in(answer: &str) -> Option<String> {
    const LONGEST: usize = 40;
    let word = |it: &&str| {
        let digits = it.trim_start_matches('v');
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.')
    };
    let found = answer.split_whitespace().find(word)?;
    Some(sanitize::line_within(found.trim_end_matches([',', ';', '.']), LONGEST))
}

pub(super) fn examine(agents: &[AgentFacts], chosen: &Result<Beginning, Trouble>) -> Vec<Finding> {
    let mut all: Vec<Finding> = agents.iter().filter_map(|it| installed(it, chosen)).collect();
    let missing: Vec<&str> =
        agents.iter().filter(|it| it.program.is_none() && !it.own).map(|it| it.title.as_str()).collect();
    if !missing.is_empty() {
        let what = format!("not installed: {}", missing.join(", "));
        all.push(Finding::new(Topic::Agents, Level::Info, what));
    }
    all.extend(agents.iter().filter(|it| it.program.is_none() && it.own).map(|it| {
        Finding::new(Topic::Agents, Level::Note, format!("{}: its program is not there", it.name))
            .hint(format!("correct `command` under `[agents.{}]`", it.name))
    }));
    all.extend(match chosen {
        Ok(Beginning::Agent { name, kind, mode }) => started(agents, name, *kind, *mode),
        Ok(Beginning::Session { silent }) => attached(agents, silent.as_ref()),
        Err(trouble) => vec![Finding::trouble(Topic::Agents, trouble)],
    });
    all
}

/// What would be started, and what it cannot do.
fn started(agents: &[AgentFacts], name: &str, kind: Kind, mode: Mode) -> Vec<Finding> {
    let what = format!("a loop here would start `{name}`");
    let mut all = vec![Finding::new(Topic::Agents, Level::Good, what)];
    let note = |what: &str| Finding::new(Topic::Agents, Level::Note, format!("{name}: {what}"));
    let mut can = kind.capabilities().with(mode);
    let facts = agents.iter().find(|it| it.name == name);
    if let Some(place) = facts.and_then(|it| it.hooks_off.as_ref()) {
        can = can.without_hooks();
        let off = format!("`disableAllHooks` in {place} switches its hooks off");
        all.push(note(&off).hint("take it out there, so that it asks before it starts a subagent"));
    }
    // Of a command of the user's own nobody knows, unless it says what it prints.
    if kind.known().is_some() {
        all.extend(can.lacks().into_iter().map(note));
    }
    all
}

/// A session that its user opens needs neither us nor any other program to start it.
fn attached(agents: &[AgentFacts], silent: Option<&Trouble>) -> Vec<Finding> {
    let claude = Kind::Claude.name();
    let mut all = vec![match silent {
        Some(trouble) => Finding::trouble(Topic::Agents, trouble),
        None => Finding::new(
            Topic::Agents,
            Level::Good,
            "a loop here would wait for a session of Claude Code that you open in this folder, in any terminal: its \
             hooks are in place",
        ),
    }];
    let facts = agents.iter().find(|it| it.name == claude);
    if facts.is_none_or(|it| it.program.is_none()) {
        all.push(
            Finding::new(
                Topic::Agents,
                Level::Note,
                "there is no `claude` on PATH to open that session with",
            )
            .hint(
                Kind::Claude.known().map_or_else(String::new, |it| format!("install it: `{}`", it.install)),
            ),
        );
    }
    if let (Some(Version::Told(version)), Found::Run(tried)) =
        (facts.map(|it| &it.version), Kind::Claude.capabilities().found)
        && version != tried
    {
        let what = format!("its hooks were tried with {tried} of Claude Code, and this is {version}");
        all.push(Finding::new(Topic::Agents, Level::Good, what));
    }
    let can = Kind::Claude.capabilities().with(Mode::Attach);
    all.extend(
        can.lacks().into_iter().map(|it| Finding::new(Topic::Agents, Level::Note, format!("{claude}: {it}"))),
    );
    all
}

/// A login matters where the agent would be started; elsewhere it is only told.
fn installed(agent: &AgentFacts, chosen: &Result<Beginning, Trouble>) -> Option<Finding> {
    let program = agent.program.as_deref()?;
    let version = match &agent.version {
        Version::Told(version) => format!(" {version}"),
        Version::Failed(why) | Version::NotAsked(why) => format!(" (version unknown: {why})"),
    };
    let known = KNOWN.iter().find(|it| !agent.own && it.name == agent.name);
    let login = match &agent.login {
        Login::Seen(by) => format!(", a login was seen ({by})"),
        Login::Withheld(name) => format!(", ${name} is set but not passed to agents"),
        Login::NotSeen => ", no sign of a login".to_owned(),
        Login::Unknown => String::new(),
    };
    let what = format!("{}{version}: {program}{login}", agent.title);
    let wanted = match chosen {
        Ok(Beginning::Agent { name, .. }) => *name == agent.name,
        Ok(Beginning::Session { .. }) => agent.name == Kind::Claude.name(),
        Err(_) => false,
    };
    let unwell = matches!(agent.login, Login::NotSeen | Login::Withheld(_)) && wanted;
    let level = if unwell || matches!(agent.version, Version::Failed(_)) { Level::Note } else { Level::Good };
    let finding = Finding::new(Topic::Agents, level, what);
    Some(match (&agent.login, &agent.version, known) {
        (_, Version::Failed(_), Some(known)) => finding.hint(format!("reinstall it: `{}`", known.install)),
        (Login::Withheld(name), ..) if unwell => {
            finding.hint(format!("add it to `[env]`: `pass = [\"{name}\"]`"))
        }
        (Login::NotSeen, _, Some(known)) if unwell => finding
            .hint(format!("{}; a login in the system's own store cannot be seen from here", known.log_in)),
        _ => finding,
    })
}

#[cfg(test)]
mod tests;
