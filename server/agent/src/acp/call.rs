//! Assembles a tool call from the agent's successive updates.

use serde_json::Value;

use loopkeeper_text::tr;

use crate::fields::{self, list, text, text_at};
use crate::{AgentEvent, ToolKind, ToolUse};

/// Maximum paths of one call. A call that names more is not examined further.
const MAX_PATHS: usize = 16;
/// The same for its input: agents read many files with one call.
const MAX_INPUT_PATHS: usize = 256;
/// Fields of an input whose text, or whose list of texts, names files.
const PATH_FIELDS: [&str; 10] = [
    "file_path",
    "filePath",
    "notebook_path",
    "absolute_path",
    "dir_path",
    "path",
    "paths",
    "file_paths",
    "filePaths",
    "files",
];

#[derive(Debug, Default, Clone)]
pub struct AcpToolCall {
    id: String,
    /// The kind of the call, as the protocol names it.
    pub kind: String,
    name: String,
    title: String,
    input: Option<Value>,
    /// Paths that it would write; `locations` are the other paths that it uses.
    diffs: Vec<String>,
    locations: Vec<String>,
    /// Paths in its input.
    named: Vec<String>,
    /// Whether it names more paths than are kept.
    pub names_too_many: bool,
    status: String,
    within: String,
}

impl AcpToolCall {
    /// Updates the call with the fields of a message about it.
    pub fn merge_update(&mut self, update: &Value) {
        let name = text_at(update, "/_meta/claudeCode/toolName");
        let fields = [
            (&mut self.id, text(update, "toolCallId")),
            (&mut self.kind, text(update, "kind")),
            (&mut self.name, if name.is_empty() { text(update, "name") } else { name }),
            (&mut self.title, text(update, "title")),
            (&mut self.status, text(update, "status")),
            (&mut self.within, text_at(update, "/_meta/claudeCode/parentToolUseId")),
        ];
        for (field, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
            value.clone_into(field);
        }
        if let Some(input) = update.get("rawInput").filter(|it| !it.is_null()) {
            self.named = paths_in(input);
            self.names_too_many |= self.named.len() > MAX_INPUT_PATHS;
            self.input = Some(input.clone());
        }
        let paths = |key: &str, is_one: fn(&Value) -> bool| -> Vec<String> {
            let all = list(update, key).iter().filter(|it| is_one(it)).map(|it| text(it, "path"));
            all.filter(|it| !it.is_empty()).take(MAX_PATHS + 1).map(str::to_owned).collect()
        };
        for (field, paths) in [
            (&mut self.diffs, paths("content", |it| text(it, "type") == "diff")),
            (&mut self.locations, paths("locations", |_| true)),
        ] {
            if !paths.is_empty() {
                self.names_too_many |= paths.len() > MAX_PATHS;
                *field = paths;
            }
        }
    }

    pub fn tool_kind(&self) -> ToolKind {
        match (ToolKind::from_tool_name(&self.name), self.kind.as_str()) {
            (ToolKind::Other, "edit" | "delete" | "move") => ToolKind::Edit,
            (ToolKind::Other, "execute") => ToolKind::Run,
            (ToolKind::Other, "read") => ToolKind::Read,
            (ToolKind::Other, "search") => ToolKind::Search,
            (act, _) => act,
        }
    }

    pub fn tool_name(&self) -> &str {
        [&self.name, &self.kind].into_iter().find(|it| !it.is_empty()).map_or("tool", String::as_str)
    }

    /// All paths that it names.
    pub fn paths(&self) -> Vec<&str> {
        self.diffs.iter().chain(&self.locations).chain(&self.named).map(String::as_str).collect()
    }

    /// The command that it would run, verbatim. Some agents report it in the title alone.
    pub fn command(&self) -> &str {
        match &self.input {
            Some(input) => {
                ["command", "cmd"].map(|key| text(input, key)).into_iter().find(|it| !it.is_empty())
            }
            None => Some(self.title.as_str()),
        }
        .unwrap_or_default()
        .trim()
    }

    /// The arguments in one short line.
    pub fn detail(&self) -> String {
        let of_input = self.input.as_ref().map(fields::tool_detail).unwrap_or_default();
        let path = self.paths().first().copied().filter(|_| self.tool_kind() != ToolKind::Run);
        match (of_input.is_empty(), path) {
            (false, _) => of_input,
            (true, Some(path)) => fields::shorten_detail(path),
            (true, None) => fields::shorten_detail(&self.title),
        }
    }

    /// The complete description of the call, or why there is none.
    pub fn describe_fully(&self) -> Result<(String, String), &'static str> {
        let paths = self.paths();
        if self.names_too_many {
            return Err(tr!("it names more files than loopkeeper checks"));
        }
        let (does, what) = match (self.tool_kind(), self.kind.as_str()) {
            (ToolKind::Edit | ToolKind::Read, _) if paths.is_empty() => {
                return Err(tr!("it does not say which file"));
            }
            (ToolKind::Edit, "delete") => (tr!("delete").to_owned(), paths.join(", ")),
            (ToolKind::Edit, "move") => (tr!("move").to_owned(), paths.join(", ")),
            (ToolKind::Edit, _) => (tr!("edit").to_owned(), paths.join(", ")),
            (ToolKind::Read, _) => (tr!("read").to_owned(), paths.join(", ")),
            (ToolKind::Run, _) if !self.command().is_empty() => {
                (tr!("run a command").to_owned(), self.describe_command())
            }
            (ToolKind::Run | ToolKind::Search | ToolKind::Spawn | ToolKind::Other, _) => {
                let input = self.input.as_ref().map_or_else(|| self.title.clone(), Value::to_string);
                let places = if self.input.is_none() { paths } else { Vec::new() };
                let all = std::iter::once(input.as_str()).chain(places).collect::<Vec<_>>();
                (tr!("use {tool}", tool = self.tool_name()), all.join(", "))
            }
        };
        Ok((does, what))
    }

    /// The command with its additional input, such as its working directory.
    fn describe_command(&self) -> String {
        const KNOWN: [&str; 4] = ["command", "cmd", "description", "timeout"];
        let command = self.command();
        let Some(Value::Object(fields)) = &self.input else { return command.to_owned() };
        let is_more = |(key, value): &(&String, &Value)| !KNOWN.contains(&key.as_str()) && !value.is_null();
        let more: serde_json::Map<_, _> =
            fields.iter().filter(is_more).map(|(key, value)| (key.clone(), value.clone())).collect();
        if more.is_empty() {
            return command.to_owned();
        }
        tr!("{command} with {input}", command, input = Value::Object(more))
    }

    /// Whether its input is complete. Some agents report calls before their input.
    pub(crate) fn has_complete_input(&self) -> bool {
        let has_detail = self.input.as_ref().is_some_and(|it| !fields::tool_detail(it).is_empty());
        has_detail || self.is_over() || (self.status == "in_progress" && self.input.is_none())
    }

    pub fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed")
    }

    pub fn tool_use(&self) -> ToolUse {
        ToolUse {
            act: self.tool_kind(),
            tool: self.tool_name().to_owned(),
            detail: self.detail(),
            call: self.id.clone(),
            within: Some(self.within.clone()).filter(|it| !it.is_empty()),
        }
    }

    /// The result of the call, from the message that ended it.
    pub fn result_events(&self, last: &Value) -> Vec<AgentEvent> {
        let failed = || vec![AgentEvent::ToolFailed { text: parse_output(last) }];
        match (self.status.as_str(), self.tool_kind()) {
            ("failed", _) => failed(),
            (_, ToolKind::Run) if parse_exit_code(last) != 0 => failed(),
            (_, ToolKind::Edit) => {
                let named = [&self.diffs, &self.locations].into_iter().find(|it| !it.is_empty());
                let paths = named.map_or_else(|| self.paths(), |it| it.iter().map(String::as_str).collect());
                let within = self.tool_use().within;
                let change =
                    |path: &str| AgentEvent::FileChange { path: path.to_owned(), within: within.clone() };
                paths.into_iter().map(change).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Paths in the fields of an input, also of the objects in its lists, such as the single edits of one call.
fn paths_in(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![(input, false)];
    while let Some((value, is_path)) = left.pop() {
        match value {
            Value::String(text) if is_path && !text.is_empty() => found.push(text.clone()),
            Value::Array(items) => left.extend(items.iter().rev().map(|it| (it, is_path))),
            Value::Object(fields) => {
                let inner = fields.iter().rev().filter(|(_, it)| !it.is_null());
                left.extend(inner.map(|(key, it)| (it, PATH_FIELDS.contains(&key.as_str()))));
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if found.len() > MAX_INPUT_PATHS {
            break;
        }
    }
    found
}

fn parse_exit_code(last: &Value) -> i64 {
    let pointers = ["/rawOutput/metadata/exit", "/rawOutput/exit_code", "/rawOutput/exitCode"];
    pointers.into_iter().find_map(|it| last.pointer(it)?.as_i64()).unwrap_or(0)
}

/// The output or answer of the call.
fn parse_output(last: &Value) -> String {
    let texts: Vec<&str> = list(last, "content")
        .iter()
        .map(|it| text_at(it, "/content/text"))
        .filter(|it| !it.is_empty())
        .collect();
    if !texts.is_empty() {
        return texts.join("\n");
    }
    let raw = last.get("rawOutput").unwrap_or(&Value::Null);
    let fields =
        [raw.as_str().unwrap_or_default(), text(raw, "output"), text(raw, "error"), text(raw, "message")];
    fields.into_iter().find(|it| !it.is_empty()).unwrap_or_default().to_owned()
}
