//! Reads `prd.json`: stories become plan items, their criteria become criteria. Tolerates comments and trailing commas,
//! reports every other fault, and never reads a broken file as an empty plan.

mod status;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast::{Object, StringLit, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, ParseResult, parse_to_ast};

use super::grammar::{self, ItemMode};
use super::item::{ByteOrigin as Bytes, InlineContent};
use super::kind::{DocumentKind, kind_of};
use super::outline::{CriterionOrigin, NAME_CHARS, TaskOutline};
use super::{FindingCode, PlanItem, ids};
use crate::criterion::Check;
use loopkeeper_text::fold::{folded, one_line};
use loopkeeper_text::truncate::shortened;
use loopkeeper_text::{branch, tr};
pub(super) use status::{is_done_word, is_postponed_word};
pub(super) use values::STORY_FILE;
use values::{JsonFields, QUEUE_FIELDS, ROOT_FIELDS, STORY_FIELDS};

/// Priorities in words, in thousandths.
const PRIORITIES: [(&str, i64); 9] = [
    ("critical", 0),
    ("high", 1000),
    ("medium", 2000),
    ("low", 3000),
    ("p0", 0),
    ("p1", 1000),
    ("p2", 2000),
    ("p3", 3000),
    ("p4", 4000),
];
/// The lists of stories in the files of other tools.
const OTHER_LISTS: [&str; 3] = ["stories", "tasks", "features"];

pub(super) fn parse_prd(file: &str, text: &str) -> TaskOutline {
    let skipped = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let json = text.get(skipped..).unwrap_or_default();
    let (kind, out) = (kind_of(file), TaskOutline::new(file));
    let mut reader = PrdReader { json, skipped, kind, out, ids: HashSet::new(), is_other_list: false };
    match parse_json(json) {
        Ok(parsed) => reader.parse_root(parsed.value.as_ref()),
        Err(error) => {
            let range = reader.whole_characters(error.range().start..error.range().end);
            let fact = values::lower_first(&error.kind().to_string());
            reader.report_syntax(&fact, range);
        }
    }
    reader.out
}

/// Whether a text contains a list of stories or cannot be parsed: a damaged file never counts as one without stories.
pub(super) fn may_have_stories(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let Ok(parsed) = parse_json(text) else { return true };
    let list = match parsed.value {
        None => return text.trim().is_empty(),
        Some(Value::Object(root)) => {
            return ["userStories"].iter().chain(&OTHER_LISTS).any(|it| root.get(it).is_some());
        }
        Some(Value::Array(list)) => list,
        _ => return false,
    };
    values::are_stories(&list.elements)
}

/// Whether a text contains a list of features that say whether they are done, or cannot be parsed. Machine learning
/// projects have files of the same name, with names of columns.
pub(super) fn may_have_features(text: &str) -> bool {
    let Ok(parsed) = parse_json(text.trim_start_matches('\u{feff}')) else { return true };
    let list = match &parsed.value {
        Some(Value::Object(root)) => OTHER_LISTS.iter().find_map(|it| root.get_array(it)),
        Some(Value::Array(list)) => Some(list),
        _ => None,
    };
    list.is_some_and(|it| values::are_stories(&it.elements))
}

/// Replaces a byte order mark by as many blanks, so that ranges still refer to the file.
pub(super) fn blank_byte_order_mark(text: &str) -> Cow<'_, str> {
    let rest = text.strip_prefix('\u{feff}');
    rest.map_or(Cow::Borrowed(text), |it| Cow::Owned(format!("   {it}")))
}

/// Parses the text after a byte order mark, allowing comments and trailing commas like editors do.
pub(super) fn parse_json(json: &str) -> Result<ParseResult<'_>, ParseError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    parse_to_ast(json, &CollectOptions::default(), &options)
}

/// `stories`, `tasks` or `features`, if one of them says whether it is done, as in `.agents/tasks/prd.json`, or if
/// files of this kind use that name.
fn stories_of_other_tool<'a>(root: &JsonFields<'a>, kind: Option<DocumentKind>) -> Option<&'a Value<'a>> {
    let (name, value) = OTHER_LISTS.iter().find_map(|it| Some((*it, root.get(it)?)))?;
    let is_own = name == list_name(kind);
    let is_list = match value {
        Value::Array(stories) => {
            let is_sure = kind == Some(DocumentKind::TaskList) || is_own && stories.elements.is_empty();
            is_sure || values::are_stories(&stories.elements)
        }
        _ => is_own,
    };
    is_list.then_some(value)
}

/// The name that the list of stories has in files of this kind.
pub(super) fn list_name(kind: Option<DocumentKind>) -> &'static str {
    match kind {
        Some(DocumentKind::AgentStories) => "stories",
        Some(DocumentKind::FeatureList) => "features",
        Some(DocumentKind::TaskQueue | DocumentKind::TaskList) => "tasks",
        _ => "userStories",
    }
}

struct PrdReader<'a> {
    json: &'a str,
    /// Bytes of a byte order mark before `json`.
    skipped: usize,
    kind: Option<DocumentKind>,
    out: TaskOutline,
    ids: HashSet<String>,
    /// The stories are in a list of another tool, whose fields have other names too.
    is_other_list: bool,
}

impl PrdReader<'_> {
    fn parse_root(&mut self, value: Option<&Value<'_>>) {
        let root = match value {
            Some(Value::Object(root)) => root,
            // A list without a frame, as some tools write it.
            Some(Value::Array(list)) if values::are_stories(&list.elements) => {
                self.is_other_list = true;
                return self.parse_stories(&list.elements, None);
            }
            _ => {
                let first = self.json.chars().next().map_or(0, char::len_utf8);
                let fact = tr!("no object with `{list}`", list = list_name(self.kind));
                return self.report_syntax(&fact, 0..first);
            }
        };
        let fields = JsonFields::new(root, |name, range| self.report_duplicate(name, range));
        self.report_misspelled(root, ROOT_FIELDS);
        self.out.title = fields
            .text("project", self)
            .or_else(|| fields.text("name", self))
            .or_else(|| fields.text("description", self))
            .unwrap_or_default();
        self.parse_branch(&fields);
        self.is_other_list = fields.get("userStories").is_none();
        match fields.get("userStories").or_else(|| stories_of_other_tool(&fields, self.kind)) {
            Some(Value::Array(stories)) => self.parse_stories(&stories.elements, Some(root)),
            Some(other) => {
                // Without its list of stories the task would be less than its author wrote.
                let (wanted, found) = (tr!("a list of stories"), values::shown_value(self.json, other));
                let fact = tr!("must be {wanted}, is {found}", wanted, found);
                let range = self.bytes(other.range());
                self.out.add_finding(FindingCode::Syntax, list_name(self.kind), &fact, range);
            }
            None => self.report_no_stories(root, &fields),
        }
        self.add_commands(&fields, "completionCriteria", None);
        self.add_commands(&fields, "qualityGates", None);
    }

    /// An invalid branch name is kept, because a loop that silently works on another branch would be worse than one
    /// that does not start.
    fn parse_branch(&mut self, fields: &JsonFields<'_>) {
        const NAME: &str = "branchName";
        self.out.branch = fields.text(NAME, self);
        let name = self.out.branch.as_deref().map(str::trim).filter(|it| !it.is_empty());
        if let (Some(fault), Some(value)) = (name.and_then(branch::fault), fields.get(NAME)) {
            self.report_bad_value(
                NAME,
                &tr!("not a valid branch name: {fault}", fault),
                value.start()..value.end(),
            );
        }
    }

    fn report_no_stories(&mut self, root: &Object<'_>, fields: &JsonFields<'_>) {
        let alike =
            ["stories", "tasks", "prd", "user_stories"].into_iter().find(|name| fields.get(name).is_some());
        let fact = alike.map_or_else(
            || tr!("no `{list}`", list = list_name(self.kind)),
            |name| tr!("`{name}` is not read. Call it `userStories`", name),
        );
        self.report_syntax(&fact, root.range.start..root.range.start + 1);
    }

    fn parse_stories(&mut self, stories: &[Value<'_>], root: Option<&Object<'_>>) {
        let known: HashSet<&str> =
            stories.iter().filter_map(|story| values::id_of(story.as_object()?)).collect();
        for story in stories {
            match story {
                Value::Object(story) => self.parse_story(story, &known),
                other => self.report_wrong_type(list_name(self.kind), tr!("stories in braces"), other),
            }
        }
        if let Some(word) = status::own_done_word(stories, root) {
            let usual = self.kind.and_then(DocumentKind::done_value).map_or("passes", |it| it.0);
            let has_status = |it: &&mut PlanItem| it.done_field.as_deref().unwrap_or(usual) == "status";
            self.out.plan.iter_mut().filter(has_status).for_each(|it| it.done_value = Some(word.clone()));
        }
    }

    fn parse_story(&mut self, story: &Object<'_>, known: &HashSet<&str>) {
        let fields = JsonFields::new(story, |name, range| self.report_duplicate(name, range));
        let of_queue = is_of_queue(&fields);
        let has_other_names = of_queue || self.is_other_list;
        let fields_here = [STORY_FIELDS, if has_other_names { QUEUE_FIELDS } else { &[] }].concat();
        self.report_misspelled(story, &fields_here);
        let id = self.story_id(&fields);
        self.report_nested_stories(&fields);
        let title = self.title(&fields);
        if !(has_other_names && fields.get("notes").is_some_and(|it| it.as_array().is_some())) {
            fields.text("notes", self);
        }
        let priority = self.priority(&fields);
        for label in fields.list("labels", self) {
            self.text_of("labels", label);
        }
        let depends_on = self.dependencies(&fields, known);
        let (done, skipped) = (self.is_done(&fields), self.is_skipped(&fields));
        let name = [title.as_str(), id.as_deref().unwrap_or_default()]
            .into_iter()
            .find(|name| !name.trim().is_empty());
        let title = name.unwrap_or("story without a title").to_owned();
        if name.is_none() {
            self.report_bad_value(
                tr!("story"),
                tr!("neither `id` nor `title`"),
                story.range.start..story.range.end,
            );
        }
        let place = self.title_of(&fields).or_else(|| fields.string("id"));
        let place = place.map_or_else(|| self.bytes(story.range()), |text| self.content(text));
        self.out.plan.push(PlanItem {
            id: id.unwrap_or_else(|| ids::base_id(None, &[], &title)),
            title: shortened(&folded(&title), NAME_CHARS).into_owned(),
            done,
            blocking: !skipped,
            place: self.out.place(place),
            priority,
            depends_on,
            done_field: values::done_field(&fields, self.kind),
            done_value: None,
        });
        self.add_criteria(&fields, has_other_names);
    }

    fn is_done(&mut self, fields: &JsonFields<'_>) -> bool {
        let is_feature = self.kind == Some(DocumentKind::FeatureList);
        match fields.get("status").filter(|_| is_of_queue(fields)) {
            Some(status) => self
                .text_of("status", status)
                .is_some_and(|it| is_done_word(&it.value) && !(is_feature && status::is_failure(&it.value))),
            None if fields.get("passes").is_none() => fields.flag("completed", self),
            None => fields.flag("passes", self),
        }
    }

    /// Whether the user or a status such as `deferred` sets the story aside.
    fn is_skipped(&mut self, fields: &JsonFields<'_>) -> bool {
        let status = fields.string("status").filter(|_| is_of_queue(fields));
        let is_postponed = status.is_some_and(|it| it.value == "draft" || is_postponed_word(&it.value));
        fields.flag("skipped", self) || is_postponed
    }

    /// The criteria of the story that was read last.
    fn add_criteria(&mut self, fields: &JsonFields<'_>, has_other_names: bool) {
        let plan = self.out.plan.len().checked_sub(1);
        let has_criteria = fields.get("acceptanceCriteria").is_some() || !has_other_names;
        let others = ["acceptance", "acceptance_criteria"].into_iter().filter(|_| !has_criteria);
        for name in std::iter::once("acceptanceCriteria").chain(others) {
            for criterion in fields.list(name, self) {
                self.add_prose_criterion(criterion, plan);
            }
        }
        self.add_commands(fields, "completionCriteria", plan);
        // The command that validates a task of `.ralph/tasks.json`.
        if let Some(command) = fields.string("validation").filter(|it| !it.value.trim().is_empty()) {
            let item = command_item(&command.value, &self.inline(command));
            self.add_item(item, command, plan);
        }
    }

    /// The title of a story. Lists of other tools have only a `name` or a `description`.
    fn title(&mut self, fields: &JsonFields<'_>) -> String {
        let title = fields.text("title", self);
        fields.text("description", self);
        title.or_else(|| Some(self.title_of(fields)?.value.to_string())).unwrap_or_default()
    }

    fn title_of<'v>(&self, fields: &JsonFields<'v>) -> Option<&'v StringLit<'v>> {
        let others = ["name", "description"].into_iter().filter(|_| self.is_other_list);
        std::iter::once("title").chain(others).find_map(|it| fields.string(it))
    }

    fn report_nested_stories(&mut self, fields: &JsonFields<'_>) {
        if let Some(Value::Array(nested)) = fields.get("userStories") {
            let fact = tr!("stories in a story are not read. Put them next to it");
            self.report_bad_value("userStories", fact, nested.range.start..nested.range.end);
        }
    }

    /// The user must be able to distinguish ids, so a repeat is numbered and reported.
    fn story_id(&mut self, fields: &JsonFields<'_>) -> Option<String> {
        let value = fields.get("id")?;
        let id = match value {
            Value::StringLit(id) => id.value.trim().to_owned(),
            Value::NumberLit(id) => {
                if !self.is_other_list {
                    self.report_wrong_type("id", tr!("text in quotes"), value);
                }
                id.value.to_owned()
            }
            other => {
                self.report_wrong_type("id", tr!("text in quotes"), other);
                return None;
            }
        };
        if id.is_empty() {
            self.report_empty("id", value);
            return None;
        }
        if !self.ids.insert(id.clone()) {
            self.report_bad_value(&id, tr!("a second story with this id"), value.start()..value.end());
        }
        Some(id)
    }

    fn priority(&mut self, fields: &JsonFields<'_>) -> Option<i64> {
        let value = fields.get("priority").or_else(|| fields.get("parallel_group"))?;
        let has_other_names = self.is_other_list || is_of_queue(fields);
        let word = value.as_string_lit().filter(|_| has_other_names).map(|it| it.value.to_ascii_lowercase());
        if let Some((_, priority)) = PRIORITIES.iter().find(|(it, _)| word.as_deref() == Some(*it)) {
            return Some(*priority);
        }
        if self.is_other_list && word.is_some() {
            return None;
        }
        let Some(number) = value.as_number_lit() else {
            self.report_wrong_type("priority", tr!("a number"), value);
            return None;
        };
        number.value.parse::<f64>().ok().map(|it| (it * 1_000.0).round() as i64)
    }

    /// Keeps only ids of stories, because any other dependency could never be met.
    fn dependencies(&mut self, fields: &JsonFields<'_>, known: &HashSet<&str>) -> Vec<String> {
        let mut found = Vec::new();
        let has_other_names =
            fields.get("dependsOn").is_none() && (self.is_other_list || is_of_queue(fields));
        let others = ["depends_on", "deps", "dependencies"].into_iter().filter(|_| has_other_names);
        let name = others.into_iter().find(|it| fields.get(it).is_some()).unwrap_or("dependsOn");
        for value in fields.list(name, self) {
            let id = match value {
                Value::NumberLit(number) if self.is_other_list => number.value,
                _ => match self.text_of(name, value) {
                    Some(text) => text.value.trim(),
                    None => continue,
                },
            };
            if known.contains(id) {
                found.push(id.to_owned());
            } else if self.kind != Some(DocumentKind::TaskQueue) {
                // Done tasks of a queue are moved to another file.
                self.report_bad_value(id, tr!("no story has this id"), value.start()..value.end());
            }
        }
        found
    }

    fn add_prose_criterion(&mut self, value: &Value<'_>, plan: Option<usize>) {
        let Some(text) = self.text_of("acceptanceCriteria", value) else { return };
        if text.value.trim().is_empty() {
            return self.report_empty("acceptanceCriteria", value);
        }
        let inline = self.inline(text);
        self.add_item(grammar::parse_item(&inline, ItemMode::Criterion), text, plan);
    }

    /// Shell commands: bare, as `$ command`, or in backticks.
    fn add_commands(&mut self, fields: &JsonFields<'_>, key: &str, plan: Option<usize>) {
        for value in fields.list(key, self) {
            let Some(text) = self.text_of(key, value) else { continue };
            if text.value.trim().is_empty() {
                self.report_empty(key, value);
                continue;
            }
            let item = command_item(&text.value, &self.inline(text));
            self.add_item(item, text, plan);
        }
    }

    fn add_item(&mut self, mut item: grammar::ParsedItem, text: &StringLit<'_>, plan: Option<usize>) {
        let range = self.content(text);
        if range.len() != text.value.len() {
            // Between escapes a replacement would not be JSON.
            item.faults.iter_mut().for_each(|fault| fault.fix = None);
        }
        // The criteria of a skipped story do not keep the loop running.
        let optional = plan.and_then(|it| self.out.plan.get(it)).is_some_and(|it| !it.blocking);
        self.out.add_item(item, range, CriterionOrigin { plan, optional, ..CriterionOrigin::default() });
    }

    fn inline(&self, text: &StringLit<'_>) -> InlineContent<'static> {
        let content = self.content(text);
        let is_exact = content.len() == text.value.len();
        let origin = if is_exact { Bytes::At(content.start) } else { Bytes::Whole(content) };
        InlineContent::of_plain(&text.value, &origin)
    }

    /// The bytes of a string, without its quotes if they equal the text byte for byte.
    fn content(&self, text: &StringLit<'_>) -> Range<usize> {
        let quoted = self.bytes(text.range());
        let inner = quoted.start + 1..quoted.end - 1;
        if inner.len() == text.value.len() { inner } else { quoted }
    }

    fn bytes(&self, range: jsonc_parser::common::Range) -> Range<usize> {
        range.start + self.skipped..range.end + self.skipped
    }
}

/// Whether a story has a `status` in the place of `passes`.
fn is_of_queue(fields: &JsonFields<'_>) -> bool {
    fields.get("status").is_some() && fields.get("passes").is_none()
}

/// A string that is a command as a whole, unless backticks mark a part of it.
pub(super) fn command_item(text: &str, inline: &InlineContent<'_>) -> grammar::ParsedItem {
    let text = text.trim();
    let has_code = inline.pieces.iter().any(|piece| piece.kind.is_code());
    if has_code && !text.starts_with("$ ") && !grammar::looks_like_command(text) {
        return grammar::parse_item(inline, ItemMode::Validation);
    }
    let command = text.strip_prefix("$ ").unwrap_or(text).trim();
    if command.is_empty() || command == "$" || command.contains(['\n', '\r', '\0']) {
        let fault =
            grammar::ItemFault::new(FindingCode::BadCheck, tr!("no command of one line"), &inline.range)
                .with_hint(tr!("Write one"));
        return grammar::ParsedItem::new(one_line(command), None, vec![fault]);
    }
    let check = Check::Command { command: command.to_owned(), expect: Vec::new() };
    grammar::ParsedItem::new(command.to_owned(), Some(check), Vec::new())
}
