//! Completion of tables, keys and values supported by this version, with their meaning and defaults.

use std::collections::BTreeSet;
use std::ops::Range;

use super::cursor::{self, SettingsCursor};
use super::explain;
use crate::editor::{Suggestion, SuggestionKind};
use loopkeeper_agent::kind::{AgentKind, Dialect};
use loopkeeper_core::exit_condition::words::{CONDITIONS, OPERATORS};
use loopkeeper_core::settings::LayerKind;
use loopkeeper_core::settings::agents::{AUTO, built_in, kind_of, parse_dialect, unsupported_field};
use loopkeeper_core::settings::keys::KEYS;
use loopkeeper_core::settings::lookup::{KeyLookup, look_up};
use loopkeeper_core::settings::table::{Key, KeySupport, ValueKind};
use loopkeeper_text::clauses;
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;

/// The completion items at `offset` of a configuration file of this kind.
pub fn complete(kind: LayerKind, text: &str, offset: usize) -> Vec<Suggestion> {
    match cursor::cursor_at(text, offset) {
        SettingsCursor::Header { name } => tables((kind, text), &name, str::to_owned),
        SettingsCursor::Key { section, name, is_set } => {
            let mut all = keys((kind, text), &section, (&name, is_set));
            if section.is_empty() && !is_set {
                all.extend(tables((kind, text), &name, |it| format!("[{it}]")));
            }
            all
        }
        SettingsCursor::Value { key, value } => match conditions(text, &key, value.start..offset) {
            all if all.is_empty() => values(text, &key, &value),
            all => all,
        },
        SettingsCursor::Nothing => Vec::new(),
    }
}

fn tables(
    (kind, text): (LayerKind, &str),
    replaces: &Range<usize>,
    written: impl Fn(&str) -> String,
) -> Vec<Suggestion> {
    let sections: BTreeSet<&str> =
        KEYS.iter().filter(|it| is_offered(kind, it)).map(Key::section).filter(|it| !it.is_empty()).collect();
    let named = |section: &str| match section.split_once('*') {
        Some((before, after)) => ["claude", "mine"].map(|it| format!("{before}{it}{after}")).to_vec(),
        None => vec![section.to_owned()],
    };
    let table = |name: String| {
        let path: Vec<String> = name.split('.').map(str::to_owned).collect();
        let keys = KEYS.iter().filter(|it| is_offered(kind, it) && fits(text, it, &path));
        let keys: Vec<&str> = keys.map(Key::name).collect();
        Suggestion {
            label: format!("[{name}]"),
            kind: SuggestionKind::Table,
            detail: String::new(),
            documentation: tr!("Keys: {list}.", list = clauses::list(&keys)),
            replaces: replaces.clone(),
            text: written(&name),
            filter: Some(name),
        }
    };
    sections.into_iter().flat_map(named).map(table).collect()
}

/// The keys of a table that are not set yet.
fn keys(
    (kind, text): (LayerKind, &str),
    section: &[String],
    (name, is_set): (&Range<usize>, bool),
) -> Vec<Suggestion> {
    let given: BTreeSet<Vec<String>> = cursor::assigned_paths(text).into_iter().collect();
    let own = text.get(name.clone()).unwrap_or_default();
    let free = |key: &&Key| {
        let mut path = section.to_vec();
        path.push(key.name().to_owned());
        // The key under the cursor may be completed again.
        key.name() == own || !given.contains(&path)
    };
    let here = KEYS.iter().filter(|it| is_offered(kind, it) && fits(text, it, section)).filter(free);
    let key = |it: &Key| Suggestion {
        label: it.name().to_owned(),
        kind: SuggestionKind::Key,
        detail: it.takes.to_string(),
        documentation: explain::sentence(it),
        replaces: name.clone(),
        text: if is_set { it.name().to_owned() } else { format!("{} = {}", it.name(), it.default) },
        filter: None,
    };
    here.map(key).collect()
}

/// Whether a key belongs to this table and has an effect there.
fn fits(text: &str, key: &Key, section: &[String]) -> bool {
    let parts: Vec<&str> = key.section().split('.').filter(|it| !it.is_empty()).collect();
    let same = parts.len() == section.len()
        && parts.iter().zip(section).all(|(part, of)| *part == "*" || part == of);
    let agent = parts.contains(&"*").then(|| section.get(1)).flatten();
    same && agent.is_none_or(|it| {
        unsupported_field(kind_of(it), key.name(), Some(output(text, it, key.name()))).is_none()
    })
}

/// The agent's output format according to the text so far.
fn output(text: &str, agent: &str, key: &str) -> Dialect {
    let known = AgentKind::from_name(agent, Dialect::Text);
    if key == "output" && known.known_agent().is_some() {
        // The only supported value for a known agent.
        return Dialect::Acp;
    }
    let written = cursor::value(text, &["agents", agent, "output"]);
    let written = written.and_then(|it| parse_dialect(it.trim_matches(['"', '\''])));
    written.unwrap_or_else(|| known.dialect())
}

/// Whether this version supports the key in a file of this kind.
fn is_offered(kind: LayerKind, key: &Key) -> bool {
    let has_effect = kind == LayerKind::User || !key.is_users_own();
    has_effect && key.since != KeySupport::NotYet && key.takes != ValueKind::Services
}

fn values(text: &str, path: &[String], replaces: &Range<usize>) -> Vec<Suggestion> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let KeyLookup::Key(key) = look_up(&names) else { return Vec::new() };
    let texts: Vec<String> = match key.takes {
        ValueKind::Word { now, .. } => {
            let means = |it: &&&str| !names.ends_with(&["output"]) || **it == "acp" || is_own(&names);
            now.iter().filter(means).map(|it| format!("\"{it}\"")).collect()
        }
        ValueKind::Flag if key.since == KeySupport::Built => vec!["true".to_owned(), "false".to_owned()],
        ValueKind::Network => ["true", "false", r#"["example.org"]"#].map(str::to_owned).into(),
        ValueKind::Agent | ValueKind::Agents => agents(text).iter().map(|it| format!("\"{it}\"")).collect(),
        _ if key.default.is_empty() => Vec::new(),
        _ => vec![key.default.to_owned()],
    };
    let value = |text: String| Suggestion {
        detail: if text == key.default { tr!("default") } else { "" }.to_owned(),
        label: text.clone(),
        kind: SuggestionKind::Value,
        documentation: explain::sentence(key),
        replaces: replaces.clone(),
        filter: None,
        text,
    };
    texts.into_iter().map(value).collect()
}

/// Whether the table configures a custom command.
fn is_own(path: &[&str]) -> bool {
    path.get(1).is_some_and(|it| matches!(AgentKind::from_name(it, Dialect::Text), AgentKind::Own(_)))
}

/// Parts of an `exit.when` expression that can replace the word before the cursor; `written` is the value up to the
/// cursor. Empty outside of its quotes.
fn conditions(text: &str, path: &[String], written: Range<usize>) -> Vec<Suggestion> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let is_when = matches!(look_up(&names), KeyLookup::Key(key) if key.takes == ValueKind::When);
    let inner = text.get(written.clone()).unwrap_or_default();
    let Some(quote) = inner.chars().next().filter(|it| is_when && matches!(it, '"' | '\'')) else {
        return Vec::new();
    };
    let word = inner.trim_end_matches(|it: char| it.is_ascii_lowercase() || it == '_').len().max(1);
    let replaces = written.start + word..written.end;
    let suggestion = |name: &str, form: &str, means: String| Suggestion {
        label: form.to_owned(),
        kind: SuggestionKind::Value,
        detail: String::new(),
        documentation: means,
        replaces: replaces.clone(),
        // Uses the other kind of quotes inside the expression.
        text: form.replace('"', if quote == '"' { "'" } else { "\"" }),
        filter: Some(name.to_owned()),
    };
    let conditions = CONDITIONS.iter().map(|it| {
        suggestion(it.name, it.form, tr!("Holds when {condition}.", condition = translate(it.doc)))
    });
    conditions.chain(OPERATORS.map(|it| suggestion(it, it, String::new()))).collect()
}

pub(super) fn agents(text: &str) -> BTreeSet<String> {
    let own = cursor::tables(text).into_iter().filter_map(|it| match it.as_slice() {
        [agents, name, ..] if agents == "agents" => Some(name.clone()),
        _ => None,
    });
    let built_in = built_in().into_iter().map(|it| it.name);
    own.chain(built_in).chain([AUTO.to_owned()]).collect()
}
