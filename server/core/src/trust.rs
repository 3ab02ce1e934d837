//! The commands that a workspace could make loopkeeper run: what exactly is hashed, and how it is shown to the user who
//! decides. Pure; the trust store of `loopkeeper-system` keeps the decisions.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::journal::AgentPlan;
use crate::settings::{
    ConfigOrigin, HookCommand, HookSettings, LoopEvent, MAY_CHANGE, NO_SANDBOX, NOT_PROTECTED, PASS,
    RAISED_ABOVE, SANDBOX_ALLOW, SANDBOX_WRITE, ServiceSettings,
};
use loopkeeper_agent::acp::start::VARIABLE;
use loopkeeper_agent::kind::{AgentKind, Dialect};
use loopkeeper_agent::{PermissionMode, bypass};
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::clauses;
use loopkeeper_text::digest::{hex, sha256};
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::{sanitize, tr, words};

/// One item that needs the user's consent before it may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustItem {
    pub runs: TrustSubject,
    /// Its place in a document. Not part of the hash: a moved line is the same command.
    pub source: Option<CommandSource>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandSource {
    /// Relative to the root.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The name of the criterion that it is the check of.
    pub criterion: String,
}

/// The exact bytes that run. The executed command is built from this value and never read again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrustSubject {
    /// Executed by `sh -c` in the root.
    Check { command: String },
    Agent {
        name: String,
        argv: Vec<String>,
        permissions: String,
        /// Set in its environment.
        env: Vec<(String, String)>,
    },
    /// What the workspace's configuration does to every program that is started
    /// ([`crate::settings::ResolvedSettings::to_trust`]).
    Settings { lines: Vec<String> },
    /// What the work tree raises or loosens, one of [`crate::settings::ResolvedSettings::raised_limits`].
    Limit { line: String },
    /// A `GET` of a criterion.
    Request { url: String },
    /// A server of `[[serve]]`, and where it is asked whether it is ready.
    Server { argv: Vec<String>, ready: String },
    /// A command of `[on]`, which receives an event.
    Hook { on: LoopEvent, argv: Vec<String> },
    /// A file that makes the agent itself run programs. The path is relative to the root.
    AgentFile { path: Vec<u8>, content: TrustContent },
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrustContent {
    File(Vec<u8>),
    /// A link that leads out of the root, or nowhere: its target, not the content.
    Link(Vec<u8>),
}

impl TrustItem {
    pub fn new(runs: TrustSubject) -> Self {
        Self { runs, source: None }
    }

    /// An agent as it would be started.
    pub fn from_agent(plan: &AgentPlan) -> Self {
        let permissions = match plan.permissions {
            PermissionMode::ReadOnly => "read-only",
            PermissionMode::Edits => "edits",
            PermissionMode::Ask => "ask",
            PermissionMode::SandboxedAll => "sandboxed-all",
            PermissionMode::All => "all",
        };
        let (name, argv, env) = (plan.name.clone(), plan.argv.clone(), plan.env.clone());
        Self::new(TrustSubject::Agent { name, argv, permissions: permissions.to_owned(), env })
    }

    /// The effects of a workspace's configuration on programs; `None` if it has none.
    pub fn from_settings(lines: &[String]) -> Option<Self> {
        (!lines.is_empty()).then(|| Self::new(TrustSubject::Settings { lines: lines.to_vec() }))
    }

    /// The limits that files of the work tree raise above the user's. One item each, because an option of the command
    /// line may replace some of them.
    pub fn from_limits(lines: &[String]) -> impl Iterator<Item = Self> {
        lines.iter().map(|line| Self::new(TrustSubject::Limit { line: line.clone() }))
    }

    /// The commands of `[on]` in files of the work tree; those in the user's own file need no consent.
    pub fn from_hooks(hooks: &HookSettings) -> Vec<Self> {
        let of = |on: LoopEvent| Some((on, hooks.for_event(on)?));
        let written = LoopEvent::ALL.into_iter().filter_map(of);
        written
            .filter(|(_, it)| it.author == ConfigOrigin::Tree)
            .map(|(on, it)| Self::from_hook(on, it))
            .collect()
    }

    pub fn from_hook(on: LoopEvent, hook: &HookCommand) -> Self {
        Self::new(TrustSubject::Hook { on, argv: hook.argv.clone() })
    }

    /// The servers that a file of the work tree names, if a check sends requests.
    pub fn from_services(servers: &[ServiceSettings], criteria: &[Criterion]) -> Vec<Self> {
        let asks = criteria.iter().any(|it| matches!(it.check, Some(Check::Get { .. })));
        let written = servers.iter().filter(|it| asks && it.author == ConfigOrigin::Tree);
        written.map(Self::from_service).collect()
    }

    pub fn from_service(service: &ServiceSettings) -> Self {
        Self::new(TrustSubject::Server { argv: service.command.clone(), ready: service.ready.clone() })
    }

    /// The commands and requests of criteria. `text_of` gives a document's text by its name, for line numbers.
    pub fn from_checks<'a, 'c>(
        criteria: impl IntoIterator<Item = &'c Criterion>,
        text_of: impl Fn(&str) -> Option<&'a str>,
    ) -> Vec<Self> {
        let mut lines: HashMap<&str, Option<LineIndex>> = HashMap::new();
        let item = |criterion: &'c Criterion| {
            let runs = match criterion.check.as_ref()? {
                Check::Command { command, .. } => TrustSubject::Check { command: command.clone() },
                Check::Get { url, .. } => TrustSubject::Request { url: url.clone() },
                Check::Exists { .. }
                | Check::Missing { .. }
                | Check::Has { .. }
                | Check::Lacks { .. }
                | Check::Clean
                | Check::Judge { .. } => return None,
            };
            let place = &criterion.place;
            let of_file = || text_of(&place.file).map(LineIndex::of);
            let index = lines.entry(place.file.as_str()).or_insert_with(of_file);
            let source = index.as_ref().map(|it| CommandSource {
                file: place.file.clone(),
                line: it.line(place.range.start) as u32 + 1,
                criterion: criterion.name.clone(),
            });
            Some(Self { runs, source })
        };
        criteria.into_iter().filter_map(item).collect()
    }

    /// The key of the user's consent: 64 hex digits over the real path of the root, the kind and the
    /// exact bytes.
    pub fn hash(&self, root: &[u8]) -> String {
        let mut parts: Vec<&[u8]> = vec![b"loopkeeper trust 1", root, self.runs.kind().as_bytes()];
        match &self.runs {
            TrustSubject::Check { command } => parts.push(command.as_bytes()),
            TrustSubject::Agent { name, argv, permissions, env } => {
                parts.extend([name.as_bytes(), permissions.as_bytes()]);
                parts.extend(argv.iter().map(String::as_bytes));
                parts.extend((!env.is_empty()).then_some(&b"\0env"[..]));
                parts.extend(env.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
            }
            TrustSubject::Settings { lines } => parts.extend(lines.iter().map(String::as_bytes)),
            TrustSubject::Limit { line } => parts.push(line.as_bytes()),
            TrustSubject::Request { url } => parts.push(url.as_bytes()),
            TrustSubject::Server { argv, ready } => {
                parts.push(ready.as_bytes());
                parts.extend(argv.iter().map(String::as_bytes));
            }
            // It is the same command for every event.
            TrustSubject::Hook { argv, .. } => parts.extend(argv.iter().map(String::as_bytes)),
            TrustSubject::AgentFile { path, content: TrustContent::File(bytes) } => {
                parts.extend([path, &b"file"[..], bytes]);
            }
            TrustSubject::AgentFile { path, content: TrustContent::Link(to) } => {
                parts.extend([path, &b"link"[..], to]);
            }
        }
        hash_of(parts)
    }
}

impl TrustSubject {
    /// A stable identifier.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Check { .. } => "check",
            Self::Agent { .. } => "agent",
            Self::Settings { .. } => "settings",
            Self::Request { .. } => "request",
            Self::Server { .. } => "server",
            Self::Limit { .. } => "limit",
            Self::Hook { .. } => "hook",
            Self::AgentFile { .. } => "surface",
        }
    }
}

/// The page that a person reads before consenting: everything verbatim, nothing that could hide or imitate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustPage {
    /// The hash over all items: consent to this page covers nothing else.
    pub hash: String,
    /// The root, printable.
    root: String,
    pub commands: Vec<TrustPageItem>,
}

/// One item as it is shown; every text printable as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TrustPageItem {
    pub kind: &'static str,
    /// Its source, or its name.
    pub title: String,
    /// Verbatim; a command is one line, a file has as many as its text.
    pub lines: Vec<String>,
    pub trusted: bool,
}

impl TrustPage {
    /// The page of these items, with those of them that the user does not trust yet. Their order and repetition make
    /// no difference.
    pub fn new(root: &[u8], items: &[TrustItem], unknown: &[TrustItem]) -> Self {
        let unknown: BTreeSet<&TrustSubject> = unknown.iter().map(|it| &it.runs).collect();
        let mut items: Vec<&TrustItem> = items.iter().collect();
        items.sort_by(|a, b| (a.runs.kind(), &a.source, &a.runs).cmp(&(b.runs.kind(), &b.source, &b.runs)));
        items.dedup_by(|a, b| a.runs == b.runs);
        let mut hashes: Vec<String> = items.iter().map(|it| it.hash(root)).collect();
        hashes.sort();
        hashes.dedup();
        let hash = hash_of(hashes.iter().map(String::as_bytes).collect());
        let commands = items.into_iter().map(|it| page_item(it, !unknown.contains(&it.runs))).collect();
        Self { hash, root: bytes_visible(root), commands }
    }

    /// The number of its commands that the user does not trust yet.
    pub fn untrusted_count(&self) -> usize {
        self.commands.iter().filter(|it| !it.trusted).count()
    }

    /// The page as plain text, for the task of this title.
    pub fn text(&self, task: &str) -> String {
        let task = sanitize::visible(task);
        let heading = tr!("Commands that \"{task}\" would run in {root}", task, root = self.root);
        let mut text = format!("{heading}\n{}\n\n", self.count());
        let mixed = (1..self.commands.len()).contains(&self.untrusted_count());
        for TrustPageItem { kind, title, lines, trusted } in &self.commands {
            // In front, where no name of a file or a criterion can imitate it.
            let mark = if mixed && *trusted { tr!("(trusted) ") } else { "" };
            let label = padded(kind_label(kind));
            text.extend([format!("{mark}{label}{title}").trim_end(), "\n"]);
            text.extend(lines.iter().flat_map(|line| ["    ", line.as_str(), "\n"]));
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }

    fn count(&self) -> String {
        let all = words::counted(self.commands.len() as u64, "command");
        match (self.commands.len(), self.untrusted_count()) {
            (_, 0) => tr!("{count}, all trusted.", count = all),
            (1, 1) => tr!("1 command, not trusted yet.").to_owned(),
            (many, unknown) if many == unknown => tr!("{count}, none of them trusted yet.", count = all),
            (_, unknown) => tr!("{count}, {unknown} of them not trusted yet.", count = all, unknown),
        }
    }
}

fn page_item(item: &TrustItem, trusted: bool) -> TrustPageItem {
    let source = item.source.as_ref().map(place);
    let (title, lines) = match &item.runs {
        TrustSubject::Check { command } => (source.unwrap_or_default(), vec![sanitize::visible(command)]),
        TrustSubject::Agent { name, argv, permissions, env } => {
            let title = agent_title(name, argv, permissions, env);
            let set = env
                .iter()
                .map(|(name, value)| tr!("with {name}={value}", name, value = sanitize::visible(value)));
            (title, std::iter::once(line_of_argv(argv)).chain(set).collect())
        }
        TrustSubject::Settings { lines } => (tr!("of this workspace").to_owned(), settings_effects(lines)),
        TrustSubject::Limit { line } => {
            (tr!("raised or loosened by this workspace").to_owned(), vec![limit_text(line)])
        }
        TrustSubject::Request { url } => {
            (source.unwrap_or_default(), vec![format!("GET {}", sanitize::visible(url))])
        }
        TrustSubject::Server { argv, ready } => {
            (tr!("ready at {url}", url = sanitize::visible(ready)), vec![line_of_argv(argv)])
        }
        TrustSubject::Hook { on, argv } => (on.key().to_owned(), vec![line_of_argv(argv)]),
        TrustSubject::AgentFile { path, content } => (bytes_visible(path), content_lines(content)),
    };
    TrustPageItem { kind: item.runs.kind(), title, lines, trusted }
}

/// `PROMPT.md:12  "All tests pass"`
fn place(source: &CommandSource) -> String {
    let CommandSource { file, line, criterion } = source;
    format!("{}:{line}  \"{}\"", sanitize::visible(file), sanitize::visible(criterion))
}

/// What the settings do, from the lines that are hashed.
fn settings_effects(lines: &[String]) -> Vec<String> {
    const LISTS: [&str; 4] = [PASS, MAY_CHANGE, SANDBOX_ALLOW, SANDBOX_WRITE];
    let list = |prefix: &&str| {
        let listed: Vec<_> =
            lines.iter().filter_map(|it| it.strip_prefix(*prefix)).map(sanitize::visible).collect();
        (!listed.is_empty()).then(|| listed_effect(prefix, &clauses::list(listed)))
    };
    let is_listed = |it: &&String| LISTS.iter().any(|prefix| it.starts_with(prefix));
    let others = lines.iter().filter(|it| !is_listed(it)).map(|it| match it.as_str() {
        NO_SANDBOX => tr!("No sandbox around the agent").to_owned(),
        set => tr!("Set for agent and checks: {variable}", variable = sanitize::visible(set)),
    });
    LISTS.iter().filter_map(list).chain(others).collect()
}

fn listed_effect(prefix: &str, list: &str) -> String {
    match prefix {
        PASS => tr!("Environment passed to agent and checks: {list}", list),
        MAY_CHANGE => tr!("Tests and check files that the agent may change: {list}", list),
        SANDBOX_WRITE => tr!("Paths that agent and checks may change: {list}", list),
        _ => tr!("Paths that the sandbox leaves open to agent and checks: {list}", list),
    }
}

/// A raised limit, from the line that is hashed.
fn limit_text(line: &str) -> String {
    let line = sanitize::visible(line);
    if let Some(glob) = line.strip_prefix(NOT_PROTECTED) {
        return tr!("not protected: {glob}", glob);
    }
    match line.rsplit_once(RAISED_ABOVE) {
        Some((setting, usual)) => tr!("{setting}, else {usual}", setting, usual),
        None => line,
    }
}

/// The agent and what it may do; unknown for a custom command, unless it asks or its arguments disable asking.
fn agent_title(name: &str, argv: &[String], permissions: &str, env: &[(String, String)]) -> String {
    let asks = env.iter().any(|(name, _)| name == VARIABLE);
    let kind = AgentKind::from_name(name, if asks { Dialect::Acp } else { Dialect::Text });
    let bypass = bypass::find_bypass_flag(kind, argv).map(|it| sanitize::visible(&it));
    let is_bound = asks || kind.known_agent().is_some();
    let name = sanitize::visible(name);
    match (is_bound, permissions, bypass) {
        (true, "all", _) => tr!("{name} (permissions: all: it runs every tool without asking)", name),
        (true, _, Some(flag)) => tr!(
            "{name} (permissions: {permissions}, but `{flag}` makes it run every tool without asking)",
            name,
            permissions,
            flag
        ),
        (true, _, None) => tr!("{name} (permissions: {permissions})", name, permissions),
        (false, _, Some(flag)) => tr!("{name} (`{flag}` makes it run every tool without asking)", name, flag),
        (false, _, None) => name,
    }
}

/// [`TrustSubject::kind`] in words.
fn kind_label(kind: &'static str) -> &'static str {
    match kind {
        "check" => tr!("check"),
        "agent" => tr!("agent"),
        "settings" => tr!("settings"),
        "request" => tr!("request"),
        "server" => tr!("server"),
        "limit" => tr!("limit"),
        "hook" => tr!("hook"),
        "surface" => tr!("surface"),
        other => other,
    }
}

/// Pads a label to the width of its column.
fn padded(label: &str) -> String {
    const LABEL_COLUMNS: usize = 12;
    label.to_owned() + &" ".repeat(LABEL_COLUMNS.saturating_sub(words::width(label)))
}

fn content_lines(content: &TrustContent) -> Vec<String> {
    match content {
        TrustContent::Link(to) => vec![tr!("a link, not followed, to {target}", target = bytes_visible(to))],
        TrustContent::File(bytes) => str::from_utf8(bytes).map_or_else(|_| vec![binary(bytes)], lines_of),
    }
}

fn binary(bytes: &[u8]) -> String {
    let size = words::counted(bytes.len() as u64, "byte");
    tr!("not text: {size}, sha256 {digest}", size, digest = sha256(bytes))
}

fn lines_of(text: &str) -> Vec<String> {
    text.split('\n').map(sanitize::visible).collect()
}

fn line_of_argv(argv: &[String]) -> String {
    argv.iter().map(|it| quote_for_shell(it)).collect::<Vec<_>>().join(" ")
}

/// In shell syntax, so that different argument lists are displayed differently.
fn quote_for_shell(argument: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=@%+,{}".contains(it);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", sanitize::visible(&argument.replace('\'', r"'\''")))
}

fn bytes_visible(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text += &sanitize::visible(chunk.valid());
        text.extend(chunk.invalid().iter().map(|it| format!("\\x{it:02x}")));
    }
    text
}

/// Hashes the parts with their lengths, so that no other division of the same bytes has the same hash.
fn hash_of(parts: Vec<&[u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests;
