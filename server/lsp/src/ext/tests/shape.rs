//! Parses the shapes of messages declared by a page, a TypeScript file and a Lua file: every field by its full path,
//! whether it is required, and its permitted values. Supports only the syntax that these three files use.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// One field of a message, at any depth.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub(super) path: String,
    /// Whether the field and all its ancestors are required.
    pub(super) is_always: bool,
    pub(super) words: BTreeSet<String>,
}

#[derive(Default)]
pub(super) struct Shapes {
    types: BTreeMap<String, Kind>,
    interfaces: BTreeSet<String>,
}

#[derive(Debug, Clone)]
enum Kind {
    Object(Vec<(String, bool, Kind)>),
    Named(String),
    Words(BTreeSet<String>),
}

impl Shapes {
    /// Reads the TypeScript blocks of a page, and its tables of requests and commands.
    pub(super) fn of_page(text: &str) -> Self {
        let blocks = text.split("```ts\n").skip(1).filter_map(|it| it.split("```").next());
        let mut shapes = Self::of_typescript(&blocks.collect::<String>());
        shapes.interfaces =
            shapes.types.keys().filter(|it| *it != "State" && *it != "Phase").cloned().collect();
        for row in text.lines().filter(|it| it.starts_with("| `loopkeeper")) {
            let row = row.replace("\\|", "/");
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let (Some(name), Some(takes), Some(gives)) = (cells.get(1), cells.get(2), cells.get(3)) else {
                continue;
            };
            let name = name.trim_matches('`');
            let inside =
                |cell: &str| Some(cell.split('`').nth(1)?.replace('/', "|")).filter(|it| it.starts_with('{'));
            if let Some(takes) = inside(takes) {
                shapes.add(arguments_of(name), &takes);
            }
            if let Some(gives) = inside(gives) {
                shapes.add(result_of(name), &gives);
            }
        }
        shapes
    }

    pub(super) fn of_typescript(text: &str) -> Self {
        let mut shapes = Self::default();
        let lines: Vec<&str> = text
            .lines()
            .filter(|it| {
                !["/**", "//", "import ", "export type *"].iter().any(|no| it.trim_start().starts_with(no))
            })
            .map(|it| it.split("  //").next().unwrap_or(it).split("; //").next().unwrap_or(it))
            .collect();
        let text = lines.join("\n");
        for declaration in ["interface ", "type "] {
            for part in text.split(declaration).skip(1) {
                let Some(end) = part.find([' ', '=', '{']) else { continue };
                let (name, rest) = part.split_at(end);
                shapes.add(name.to_owned(), rest.trim_start_matches([' ', '=', '\n']));
            }
        }
        shapes
    }

    pub(super) fn of_lua(text: &str) -> Self {
        let mut typescript = String::new();
        let mut is_open = false;
        for line in text.lines() {
            let line = line.replace("loopkeeper.", "").replace("lsp.", "").replace("[\"end\"]", "end");
            if let Some(name) = line.strip_prefix("---@class ") {
                let end = if is_open { "}\n" } else { "" };
                typescript.extend([end, "interface ", name, " {\n"]);
                is_open = true;
            } else if let Some((name, kind)) =
                line.strip_prefix("---@field ").and_then(|it| it.split_once(' '))
            {
                typescript.extend([name, ": ", kind, ";\n"]);
            } else if is_open && !line.starts_with("---") {
                typescript.push_str("}\n");
                is_open = false;
            }
            if let Some((name, kind)) =
                line.strip_prefix("---@alias ").map(|it| it.split_once(' ').unwrap_or((it, "")))
            {
                typescript.extend(["type ", name, " = ", kind]);
            } else if let Some(word) = line.strip_prefix("---|") {
                typescript.extend(["|", word]);
            } else if !line.starts_with("---@field") {
                typescript.push('\n');
            }
        }
        Self::of_typescript(&typescript)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().filter(|(_, kind)| matches!(kind, Kind::Object(_))).map(|(name, _)| name.as_str())
    }

    /// Interfaces that the page declares by name, not in a table.
    pub(super) fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.interfaces.iter().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        matches!(self.types.get(name), Some(Kind::Object(_)))
    }

    /// All fields of a message, at any depth.
    pub(super) fn fields(&self, name: &str) -> BTreeSet<Field> {
        let mut found = BTreeSet::new();
        if let Some(kind) = self.types.get(name) {
            self.add_fields(kind, "", true, &mut found);
        }
        found
    }

    fn add_fields(&self, kind: &Kind, path: &str, is_always: bool, found: &mut BTreeSet<Field>) {
        let Kind::Object(members) = kind else { return };
        for (name, optional, kind) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let kind = match kind {
                Kind::Named(name) => self.types.get(name).unwrap_or(kind),
                other => other,
            };
            let is_always = is_always && !optional;
            let words = if let Kind::Words(words) = kind { words.clone() } else { BTreeSet::new() };
            found.insert(Field { path: path.clone(), is_always, words });
            // Types of the LSP itself.
            if name != "actions" && name != "status" {
                self.add_fields(kind, &path, is_always, found);
            }
        }
    }

    fn add(&mut self, name: String, text: &str) {
        self.types.insert(name, kind(&mut Reader(text)));
    }
}

/// Every field of a value by its full path; for a list, the fields of all its items.
pub(super) fn names(value: &Value) -> BTreeSet<String> {
    fn walk(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    found.insert(path.clone());
                    if name != "actions" && name != "status" {
                        walk(value, &path, found);
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|it| walk(it, path, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    walk(value, "", &mut found);
    found
}

/// `loopkeeper.server.resetBreaker` takes `LoopArgs`, `loopkeeper/loops` takes `LoopsParams`.
fn arguments_of(name: &str) -> String {
    match name.strip_prefix("loopkeeper.server.") {
        Some("pause" | "resetBreaker" | "acceptWeakening" | "resetSession" | "export") => {
            "LoopArgs".to_owned()
        }
        Some(command) => format!("{}Args", capitalised(command)),
        None => format!("{}Params", capitalised(name.trim_start_matches("loopkeeper/"))),
    }
}

fn result_of(name: &str) -> String {
    let name = name.trim_start_matches("loopkeeper.server.").trim_start_matches("loopkeeper/");
    format!("{}Result", capitalised(name))
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.0 = self.0.trim_start();
    }

    fn takes(&mut self, text: &str) -> bool {
        self.skip();
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn until(&mut self, ends: &[char]) -> &'a str {
        let end = self.0.find(ends).unwrap_or(self.0.len());
        let (head, rest) = self.0.split_at(end);
        self.0 = rest;
        head.trim()
    }
}

fn kind(reader: &mut Reader<'_>) -> Kind {
    if reader.takes("{") {
        let mut members = Vec::new();
        while !reader.takes("}") && !reader.0.is_empty() {
            let name = reader.until(&['?', ':', ',', ';', '}', ' ']).to_owned();
            let optional = reader.takes("?");
            let kind = if reader.takes(":") { kind(reader) } else { Kind::Named(String::new()) };
            let is_nested = matches!(kind, Kind::Object(_));
            if is_nested {
                reader.takes("[]");
            }
            members.push((name, optional, kind));
            while reader.takes(";") || reader.takes(",") {}
        }
        return Kind::Object(members);
    }
    reader.skip();
    let text = reader.until(&[';', ',', '}']);
    if text.contains('"') {
        return Kind::Words(text.split('"').skip(1).step_by(2).map(str::to_owned).collect());
    }
    Kind::Named(text.trim_end_matches("[]").to_owned())
}
