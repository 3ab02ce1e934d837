//! Parses a TOML file into assignments and findings, each with its exact place. Everything in the file is either
//! supported or reported; nothing is skipped.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::accept::{FaultyPart, accept_value, default_hint};
use super::agents;
use super::assignment::{Assignment, ParsedLayer, full_path};
use super::finding::{SettingCode, SettingFinding, SettingOrigin};
use super::keys::{KEYS, RENAMED_KEYS};
use super::layer::Layer;
use super::lookup::{KeyLookup, look_up};
use super::table::{Key, ValueKind};
use super::value::RawValue;
use loopkeeper_text::closest::closest;
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::tr;

/// Maximum number of findings of one file.
const MAX_FINDINGS: usize = 50;

pub(super) fn parse_layer(layer: &Layer) -> ParsedLayer {
    let text = layer.text.as_str();
    let (document, errors) = DeTable::parse_recoverable(text);
    let mut reader = TomlLayerReader { layer, lines: LineIndex::of(text), out: ParsedLayer::default() };
    for error in &errors {
        let range = error.span().unwrap_or(0..0);
        let line = error.message().lines().next().unwrap_or(tr!("it cannot be read"));
        let line: String = line.chars().filter(|it| !it.is_control()).collect();
        let message = tr!("this is not TOML: {line}", line);
        reader.add_finding(
            SettingCode::Syntax,
            range,
            (message, tr!("correct the line; nothing runs until the file can be read")),
        );
    }
    // Later errors in a document with a syntax error may be consequences of the first one.
    if errors.is_empty() {
        reader.read_table(document.get_ref(), &mut Vec::new());
    }
    reader.out.findings.sort_by_key(|it| match &it.origin {
        SettingOrigin::File { place, .. } => place.range.start,
        SettingOrigin::Default | SettingOrigin::Option(_) => 0,
    });
    reader.out.findings.truncate(MAX_FINDINGS);
    reader.out
}

struct TomlLayerReader<'a> {
    layer: &'a Layer,
    lines: LineIndex,
    out: ParsedLayer,
}

impl TomlLayerReader<'_> {
    fn read_table<'t>(&mut self, table: &'t DeTable<'_>, path: &mut Vec<&'t str>) {
        for (name, value) in table {
            path.push(name.get_ref());
            match look_up(path) {
                KeyLookup::Key(key) => self.read_key(key, path, (name.span(), value)),
                KeyLookup::Section => self.read_section(path, name.span(), value.get_ref()),
                KeyLookup::Unknown => self.report_unknown(path, name.span()),
            }
            path.pop();
        }
    }

    fn read_section<'t>(&mut self, path: &mut Vec<&'t str>, at: Range<usize>, value: &'t DeValue<'_>) {
        let DeValue::Table(table) = value else {
            let (path, found) = (shown_path(path), raw_value(value));
            let message = tr!("`{path}` is a table, found {found}", path, found);
            return self.add_finding(
                SettingCode::BadValue,
                at,
                (message, tr!("write its keys below a `[…]` header")),
            );
        };
        if let ["agents", name] = path.as_slice() {
            let agent = agents::kind_of(name);
            if let Some(problem) = agents::unsupported_field(agent, "", None) {
                return self.add_finding(
                    SettingCode::BadValue,
                    at,
                    (problem.message(&shown_path(path)), problem.hint()),
                );
            }
            let origin = self.origin_at(at);
            self.out.agents.push(((*name).to_owned(), origin));
        }
        self.read_table(table, path);
    }

    fn read_key(
        &mut self,
        key: &'static Key,
        path: &[&str],
        (at, value): (Range<usize>, &toml::Spanned<DeValue<'_>>),
    ) {
        let agent = key.path.contains('*').then(|| path.get(1).copied().unwrap_or_default());
        let unsupported =
            agent.and_then(|name| agents::unsupported_field(agents::kind_of(name), key.name(), None));
        if let Some(problem) = unsupported {
            return self.add_finding(
                SettingCode::BadValue,
                at,
                (problem.message(&shown_path(path)), problem.hint()),
            );
        }
        let raw = raw_value(value.get_ref());
        match accept_value(key, agent, &raw) {
            Ok(value) => {
                let origin = self.origin_at(at);
                let agent = agent.map(str::to_owned);
                let layer = Some(self.layer.kind);
                self.out.assignments.push(Assignment { key, agent, value, raw, layer, origin });
            }
            Err(problem) => {
                let (at, fix) = match problem.place {
                    FaultyPart::Key => (at, None),
                    FaultyPart::Value => (value.span(), meant_word(key, &raw)),
                    FaultyPart::Item(index) => (item_span(value, index), None),
                    FaultyPart::Within(range, fix) => self.map_to_file(value.span(), &raw, range, fix),
                    FaultyPart::Field(index, name) => (field_span(value, index, &name), None),
                };
                let hint = problem.hint.unwrap_or_else(|| default_hint(key));
                self.out.refused.push(full_path(key, agent));
                self.report_with_fix(problem.code, at, (problem.message, hint), fix);
            }
        }
    }

    /// Converts a range of a text to a range of the file, if the text occurs there verbatim; else returns the whole
    /// value, without a fix.
    fn map_to_file(
        &self,
        span: Range<usize>,
        raw: &RawValue,
        range: Range<usize>,
        fix: Option<String>,
    ) -> (Range<usize>, Option<String>) {
        let written = self.layer.text.get(span.clone()).unwrap_or_default();
        let quotes = if written.starts_with("\"\"\"") || written.starts_with("'''") { 3 } else { 1 };
        let inner = written.get(quotes..written.len().saturating_sub(quotes));
        match (inner, raw) {
            // An empty text has no word to mark: its quotes are marked.
            (Some(inner), RawValue::Text(text)) if inner == text && !range.is_empty() => {
                let start = span.start + quotes;
                (start + range.start..start + range.end, fix)
            }
            _ => (span, None),
        }
    }

    fn report_unknown(&mut self, path: &[&str], at: Range<usize>) {
        if self.is_full() {
            return;
        }
        let written = path.join(".");
        if let Some((_, now)) = RENAMED_KEYS.iter().find(|(before, _)| *before == written) {
            let name = now.rsplit_once('.').map_or(*now, |(_, name)| name);
            let fact_and_hint =
                (tr!("`{written}` is now called `{now}`", written, now), tr!("write `{name}`", name));
            return self.report_with_fix(SettingCode::UnknownKey, at, fact_and_hint, Some(name.to_owned()));
        }
        let known = suggest_key(path);
        let hint = match &known {
            Some(known) => tr!("did you mean `{near}`?", near = known),
            None => tr!("remove the line, or see the list of keys in CONFIGURATION.md").to_owned(),
        };
        // No fix for a key of another table: its author has to move it.
        let with_table = |known: String| {
            let (of, name) = known.rsplit_once('.').unwrap_or(("", &known));
            (of == shown_path(path.get(..path.len().saturating_sub(1)).unwrap_or_default()))
                .then(|| name.to_owned())
        };
        let message = tr!("`{path}` is not a known key", path = shown_path(path));
        self.report_with_fix(SettingCode::UnknownKey, at, (message, hint), known.and_then(with_table));
    }

    fn add_finding(
        &mut self,
        code: SettingCode,
        at: Range<usize>,
        fact_and_hint: (String, impl Into<String>),
    ) {
        self.report_with_fix(code, at, fact_and_hint, None);
    }

    fn report_with_fix(
        &mut self,
        code: SettingCode,
        at: Range<usize>,
        (message, hint): (String, impl Into<String>),
        fix: Option<String>,
    ) {
        // More are collected than kept: those first in the file are kept, and errors before others.
        if !self.is_full() {
            let origin = self.origin_at(at);
            self.out.findings.push(SettingFinding { code, origin, message, hint: hint.into(), fix });
        }
    }

    fn is_full(&self) -> bool {
        self.out.findings.len() > MAX_FINDINGS * 4
    }

    fn origin_at(&self, range: Range<usize>) -> SettingOrigin {
        SettingOrigin::in_text(&self.layer.file, (&self.layer.text, &self.lines), range)
    }
}

/// The known key that an unknown path was probably meant to be.
fn suggest_key(path: &[&str]) -> Option<String> {
    let (name, section) = path.split_last()?;
    // The name of an argument: `--max-cost`.
    let name = &name.trim_start_matches("max-").trim_start_matches("max_");
    let depth = section.len();
    let siblings = KEYS.iter().filter_map(|key| {
        let parts: Vec<&str> = key.path.split('.').collect();
        let same = parts.iter().zip(section).all(|(part, of)| part == of || *part == "*");
        parts.get(depth).copied().filter(|part| same && *part != "*")
    });
    if let Some(near) = closest(name, siblings) {
        let full: Vec<&str> = section.iter().copied().chain([near]).collect();
        return Some(shown_path(&full));
    }
    let elsewhere = KEYS.iter().find(|key| key.name() == *name && !key.path.contains('*'));
    elsewhere.map(|key| key.path.to_owned())
}

/// The known word closest to a misspelt one.
fn meant_word(key: &Key, raw: &RawValue) -> Option<String> {
    let (ValueKind::Word { now, .. }, RawValue::Text(word)) = (key.takes, raw) else { return None };
    closest(word, now.iter().copied()).map(|it| format!("\"{it}\""))
}

fn shown_path(path: &[&str]) -> String {
    path.iter().map(|it| shown(it)).collect::<Vec<_>>().join(".")
}

fn item_span(value: &toml::Spanned<DeValue<'_>>, index: usize) -> Range<usize> {
    let span = match value.get_ref() {
        DeValue::Array(items) => items.get(index).map(toml::Spanned::span),
        DeValue::Table(entries) => entries.iter().nth(index).map(|(name, _)| name.span()),
        _ => None,
    };
    span.unwrap_or_else(|| value.span())
}

fn field_span(value: &toml::Spanned<DeValue<'_>>, index: usize, name: &str) -> Range<usize> {
    let item = match value.get_ref() {
        DeValue::Array(items) => items.get(index),
        _ => None,
    };
    let fields = item.and_then(|it| it.get_ref().as_table());
    let field = fields.and_then(|it| it.iter().find(|(key, _)| *key.get_ref() == name));
    field.map_or_else(|| item_span(value, index), |(key, _)| key.span())
}

fn raw_value(value: &DeValue<'_>) -> RawValue {
    match value {
        DeValue::String(text) => RawValue::Text(text.clone().into_owned()),
        DeValue::Integer(number) => {
            let decimal = i128::from_str_radix(number.as_str(), number.radix());
            RawValue::Integer(decimal.map_or_else(|_| number.to_string(), |it| it.to_string()))
        }
        DeValue::Float(number) => RawValue::Float(number.as_str().to_owned()),
        DeValue::Boolean(flag) => RawValue::Flag(*flag),
        DeValue::Datetime(date) => RawValue::Date(date.to_string()),
        DeValue::Array(items) => RawValue::List(items.iter().map(|it| raw_value(it.get_ref())).collect()),
        DeValue::Table(table) => {
            let entry = |(name, value): (&toml::Spanned<_>, &toml::Spanned<_>)| {
                (
                    std::borrow::Cow::<str>::into_owned(Clone::clone(name.get_ref())),
                    raw_value(value.get_ref()),
                )
            };
            RawValue::Table(table.iter().map(entry).collect())
        }
    }
}

/// The value of the only key of a text.
#[cfg(test)]
pub(super) fn raw_of(text: &str) -> RawValue {
    let table = DeTable::parse(text).unwrap();
    raw_value(table.get_ref().values().next().unwrap().get_ref())
}
