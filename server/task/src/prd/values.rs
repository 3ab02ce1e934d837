//! Reads fields of a JSON object with type checks: a value of the wrong type is reported and treated as absent.

use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast::{Object, StringLit, Value};
use jsonc_parser::common::Ranged;

use super::{OTHER_LISTS, PrdReader};
use crate::FindingCode;
use crate::grammar::ItemFault;
use crate::kind::DocumentKind;
use loopkeeper_text::closest::is_within;
use loopkeeper_text::language::translate;
use loopkeeper_text::truncate::shortened;
use loopkeeper_text::{tr, tr_later, truncate};

/// The properties of one object; the last of repeated ones counts, as in other JSON parsers.
pub(super) struct JsonFields<'a> {
    object: &'a Object<'a>,
}

impl<'a> JsonFields<'a> {
    pub(super) fn new(object: &'a Object<'a>, mut report_duplicate: impl FnMut(&str, Range<usize>)) -> Self {
        let mut names: HashSet<&str> = HashSet::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let known = [ROOT_FIELDS, STORY_FIELDS, QUEUE_FIELDS, &DONE_FIELDS, &OTHER_LISTS];
            let known = known.iter().any(|it| it.contains(&name));
            if known && !names.insert(name) {
                report_duplicate(name, property.range.start..property.value.start());
            }
        }
        Self { object }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value<'a>> {
        let mut properties = self.object.properties.iter().rev();
        properties.find(|property| property.name.as_str() == name).map(|property| &property.value)
    }

    pub(super) fn string(&self, name: &str) -> Option<&'a StringLit<'a>> {
        self.get(name).and_then(Value::as_string_lit)
    }

    pub(super) fn text(&self, name: &str, reader: &mut PrdReader<'_>) -> Option<String> {
        let value = self.get(name)?;
        // Exporters write null for "none".
        if value.as_null_keyword().is_some() {
            return None;
        }
        reader.text_of(name, value).map(|text| text.value.to_string())
    }

    pub(super) fn flag(&self, name: &str, reader: &mut PrdReader<'_>) -> bool {
        match self.get(name) {
            Some(Value::BooleanLit(flag)) => flag.value,
            Some(other) => {
                reader.report_wrong_type(name, tr!("true or false"), other);
                false
            }
            None => false,
        }
    }

    pub(super) fn list(&self, name: &str, reader: &mut PrdReader<'_>) -> &'a [Value<'a>] {
        match self.get(name) {
            Some(Value::Array(list)) => &list.elements,
            Some(Value::NullKeyword(_)) | None => &[],
            Some(other) => {
                reader.report_wrong_type(name, tr!("a list in brackets"), other);
                &[]
            }
        }
    }
}

/// The id by which other stories can refer to this one.
pub(super) fn id_of<'a>(story: &'a Object<'_>) -> Option<&'a str> {
    match &story.properties.iter().rev().find(|it| it.name.as_str() == "id")?.value {
        Value::StringLit(id) => Some(id.value.trim()),
        Value::NumberLit(id) => Some(id.value),
        _ => None,
    }
}

/// Subject of findings about the whole file, translated where it is shown; their position names the file.
pub(crate) const STORY_FILE: &str = tr_later!("story file");
pub(super) const ROOT_FIELDS: &[&str] =
    &["userStories", "project", "name", "description", "branchName", "completionCriteria", "qualityGates"];

pub(super) const STORY_FIELDS: &[&str] = &[
    "id",
    "title",
    "description",
    "notes",
    "acceptanceCriteria",
    "completionCriteria",
    "priority",
    "passes",
    "skipped",
    "dependsOn",
    "labels",
];

/// Further fields of stories in lists of other tools.
pub(super) const QUEUE_FIELDS: &[&str] =
    &["acceptance", "acceptance_criteria", "depends_on", "deps", "dependencies"];
const CRITERIA_LISTS: [&str; 5] =
    ["acceptanceCriteria", "acceptance", "acceptance_criteria", "completionCriteria", "qualityGates"];
/// The fields that say whether a story is done.
const DONE_FIELDS: [&str; 3] = ["passes", "status", "completed"];

/// Whether one of the elements says whether it is done.
pub(super) fn are_stories(elements: &[Value<'_>]) -> bool {
    let is_story = |it: &Value<'_>| {
        it.as_object().is_some_and(|it| DONE_FIELDS.iter().any(|name| it.get(name).is_some()))
    };
    elements.iter().any(is_story)
}

/// The field that says whether this story is done, where a file of this kind usually has another one.
pub(super) fn done_field(fields: &JsonFields<'_>, kind: Option<DocumentKind>) -> Option<String> {
    let usual = kind.and_then(DocumentKind::done_value).map_or("passes", |it| it.0);
    let field = DONE_FIELDS.into_iter().find(|it| fields.get(it).is_some())?;
    (field != usual).then(|| field.to_owned())
}

/// A value as it is written, on one line.
pub(super) fn shown_value(json: &str, value: &Value<'_>) -> String {
    let written = json.get(value.start()..value.end()).unwrap_or_default();
    let words = written.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&words, 32).into_owned()
}

impl PrdReader<'_> {
    pub(super) fn text_of<'v>(&mut self, name: &str, value: &'v Value<'v>) -> Option<&'v StringLit<'v>> {
        let text = value.as_string_lit();
        if text.is_none() {
            self.report_wrong_type(name, tr!("text in quotes"), value);
        }
        text
    }

    pub(super) fn report_wrong_type(&mut self, name: &str, wanted: &str, value: &Value<'_>) {
        let fact = tr!("must be {wanted}, is {found}", wanted, found = shown_value(self.json, value));
        // Without its criteria the task would be less than its author wrote.
        let code = if CRITERIA_LISTS.contains(&name) { FindingCode::Syntax } else { FindingCode::BadValue };
        self.out.add_finding(code, name, &fact, self.bytes(value.range()));
    }

    pub(super) fn report_empty(&mut self, name: &str, value: &Value<'_>) {
        self.report_bad_value(name, tr!("must not be empty"), value.start()..value.end());
    }

    pub(super) fn report_duplicate(&mut self, name: &str, range: Range<usize>) {
        self.report_bad_value(name, tr!("written twice in one object, the last one counts"), range);
    }

    /// Reports misspelt field names, whose values would otherwise be ignored silently.
    pub(super) fn report_misspelled(&mut self, object: &Object<'_>, fields: &[&str]) {
        const MIN_TYPO_CHARS: usize = 9;
        let written: HashSet<&str> = object.properties.iter().map(|it| it.name.as_str()).collect();
        let absent: Vec<&str> = fields.iter().copied().filter(|it| !written.contains(it)).collect();
        for property in &object.properties {
            let name = property.name.as_str();
            if fields.contains(&name) {
                continue;
            }
            let near = |it: &&&str| {
                let max = if it.len() < MIN_TYPO_CHARS { 1 } else { 2 };
                it.len() > "id".len() && name.len() > "id".len() && is_within(max, name, it)
            };
            let Some(meant) = absent.iter().find(near) else { continue };
            let range = property.name.range();
            let range = range.start + self.skipped..range.end + self.skipped;
            let fault = ItemFault::new(FindingCode::UnknownKey, tr!("not read"), &range)
                .with_hint(tr!("Write `{meant}`", meant))
                .with_fix(Some(format!("\"{meant}\"")));
            self.out.add_fault(name, fault);
        }
    }

    /// Reports a value without a meaning; `range` is within the JSON text.
    pub(super) fn report_bad_value(&mut self, name: &str, fact: &str, range: Range<usize>) {
        let range = range.start + self.skipped..range.end + self.skipped;
        self.out.add_finding(FindingCode::BadValue, name, fact, range);
    }

    pub(super) fn report_syntax(&mut self, fact: &str, range: Range<usize>) {
        let range = range.start + self.skipped..range.end + self.skipped;
        self.out.add_finding(FindingCode::Syntax, translate(STORY_FILE), fact, range);
    }

    /// A range that can be sliced: errors may point into a character or past the end.
    pub(super) fn whole_characters(&self, range: Range<usize>) -> Range<usize> {
        let start = truncate::first_bytes(self.json, range.start).len();
        let whole = self.json.len();
        let behind = truncate::last_bytes(self.json, whole - range.end.min(whole).max(start));
        start..whole - behind.len()
    }
}

/// Changes "Unexpected token" for use in the middle of a sentence.
pub(super) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
