//! Parses the fields of a status block: spellings, values, bounds. If a field still contains its placeholder, the whole
//! block is the template of the prompt.

use serde::{Deserialize, Serialize};

use loopkeeper_text::sanitize;

const MAX_OTHERS: usize = 16;
const MAX_CHARS: usize = 200;
const KEY_CHARS: usize = 40;

/// What the agent stated in its status block, as it stated it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusBlock {
    pub state: Option<WorkState>,
    pub exit_signal: Option<bool>,
    pub tests: Option<TestsState>,
    pub work_type: Option<WorkType>,
    pub files_modified: Option<u32>,
    pub tasks_completed: Option<u32>,
    pub recommendation: Option<String>,
    /// In percent.
    pub progress: Option<u8>,
    pub notes: Option<String>,
    /// Fields of other names, and fields whose value has no meaning, at most 16.
    pub others: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkState {
    Complete,
    InProgress,
    Blocked,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TestsState {
    Passing,
    Failing,
    NotRun,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkType {
    Implementation,
    Testing,
    Documentation,
    Refactoring,
    Debugging,
    Other(String),
}

/// A block while it is read.
#[derive(Debug, Default)]
pub(super) struct StatusDraft {
    block: StatusBlock,
    is_known: bool,
    is_template: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusField {
    State,
    Exit,
    Tests,
    Work,
    Files,
    Tasks,
    Recommendation,
    Progress,
    Notes,
}

fn known_field(key: &str) -> Option<StatusField> {
    Some(match canonical_key(key).as_str() {
        "status" => StatusField::State,
        "exitsignal" => StatusField::Exit,
        "testsstatus" | "teststatus" | "tests" => StatusField::Tests,
        "worktype" => StatusField::Work,
        "filesmodified" | "fileschanged" => StatusField::Files,
        "taskscompletedthisloop" | "taskscompleted" | "taskscompletedthisiteration" => StatusField::Tasks,
        "recommendation" | "recommendations" => StatusField::Recommendation,
        "progress" | "progresspercent" | "percentcomplete" | "completionpercentage" => StatusField::Progress,
        "note" | "notes" => StatusField::Notes,
        _ => return None,
    })
}

/// Letters and digits in lower case: `EXIT_SIGNAL`, `exitSignal` and `exit-signal` are one.
pub(super) fn canonical_key(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `KEY: value` or `KEY = value`, list marks and emphasis aside.
pub(super) fn split_line(line: &str) -> Option<(&str, &str)> {
    let decoration = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\'' | ',');
    let start = line.trim().trim_start_matches(['-', '+', '•']).trim_matches(decoration);
    let (key, value) = start.split_once([':', '=', '：'])?;
    let key = key.trim_matches(decoration);
    let is_key = key.starts_with(char::is_alphabetic)
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '))
        && key.chars().count() <= KEY_CHARS;
    is_key.then(|| (key, value.trim_matches(decoration)))
}

impl StatusDraft {
    pub(super) fn is_known_field(key: &str) -> bool {
        known_field(key).is_some()
    }

    pub(super) fn is_count_field(key: &str) -> bool {
        matches!(known_field(key), Some(StatusField::Files | StatusField::Tasks))
    }

    /// Adds a field; returns whether its name is known.
    pub(super) fn add_field(&mut self, key: &str, value: &str) -> bool {
        let value = sanitize::line_within(value, MAX_CHARS);
        let Some(field) = known_field(key) else {
            self.add_other(key, &value);
            return false;
        };
        self.is_known = true;
        self.is_template |= is_placeholder(field, &value);
        if !self.set(field, &value) {
            self.add_other(key, &value);
        }
        true
    }

    /// Sets a field; false if the value has no meaning.
    fn set(&mut self, field: StatusField, value: &str) -> bool {
        let block = &mut self.block;
        match field {
            StatusField::State => block.state = Some(WorkState::parse(value)),
            StatusField::Tests => block.tests = Some(TestsState::parse(value)),
            StatusField::Work => block.work_type = Some(WorkType::parse(value)),
            StatusField::Recommendation => block.recommendation = Some(value.to_owned()),
            StatusField::Notes => block.notes = Some(value.to_owned()),
            StatusField::Exit => match parse_bool(value) {
                // A block that contains both counts as no.
                Some(signal) => block.exit_signal = Some(signal && block.exit_signal != Some(false)),
                None => return false,
            },
            StatusField::Files => match leading_number(value) {
                Some(count) => block.files_modified = Some(count),
                None => return false,
            },
            StatusField::Tasks => match leading_number(value) {
                Some(count) => block.tasks_completed = Some(count),
                None => return false,
            },
            StatusField::Progress => {
                match leading_number(value).and_then(|it| u8::try_from(it).ok()).filter(|it| *it <= 100) {
                    Some(percent) => block.progress = Some(percent),
                    None => return false,
                }
            }
        }
        true
    }

    fn add_other(&mut self, key: &str, value: &str) {
        if self.block.others.len() < MAX_OTHERS {
            self.block.others.push((sanitize::line_within(key, KEY_CHARS), value.to_owned()));
        }
    }

    /// The block, unless it has no known field or still contains a placeholder.
    pub(super) fn finish(self) -> Option<StatusBlock> {
        (self.is_known && !self.is_template).then_some(self.block)
    }
}

/// `true`, `Yes`, `false (more to do)`. A conditional yes does not count; a no always does.
pub(super) fn parse_bool(value: &str) -> Option<bool> {
    let value = value.trim().to_lowercase();
    let end = value.find(|c: char| !c.is_alphanumeric()).unwrap_or(value.len());
    let (word, rest) = value.split_at(end);
    let rest = rest.trim_start();
    let is_remark = rest.is_empty()
        || rest.starts_with(['(', '#', '/', '-', '—', '–', ',', ';', '.', '!', '<', '✅', '（']);
    let names_both = rest.contains("false") || rest.contains("true");
    match word {
        _ if names_both => None,
        "true" | "yes" | "1" | "是" if is_remark => Some(true),
        "false" | "no" | "0" | "否" => Some(false),
        _ => None,
    }
}

fn leading_number(value: &str) -> Option<u32> {
    let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// `IN_PROGRESS | COMPLETE | BLOCKED`, `<n>`, `[true/false]`, `…`.
fn is_placeholder(field: StatusField, value: &str) -> bool {
    let value = value.trim();
    let is_wrapped = [('<', '>'), ('[', ']'), ('{', '}')]
        .iter()
        .any(|(open, close)| value.starts_with(*open) && value.ends_with(*close));
    let is_free = matches!(field, StatusField::Recommendation | StatusField::Notes);
    let has_choice = value.contains('|')
        || canonical_key(value).contains("truefalse")
        || canonical_key(value).contains("falsetrue");
    let offers = matches!(field, StatusField::Exit) && value.to_lowercase().contains(" or ");
    is_wrapped
        || matches!(value, "..." | "…")
        || (!is_free && (has_choice || offers || value.starts_with('<')))
}

/// The first words of a value, as letters: `COMPLETE (at last)` is `complete`.
fn leading_words(value: &str) -> String {
    let remark = value.find(['(', '#', ',', ';', '—', '–', '（', '.', '!']).or_else(|| value.find(" - "));
    canonical_key(value.get(..remark.unwrap_or(value.len())).unwrap_or_default())
}

impl WorkState {
    fn parse(value: &str) -> Self {
        match leading_words(value).as_str() {
            "complete" | "completed" | "done" | "finished" | "完成" | "已完成" => Self::Complete,
            "inprogress" | "wip" | "working" | "ongoing" | "incomplete" | "进行中" | "未完成" => {
                Self::InProgress
            }
            "blocked" | "stuck" | "阻塞" => Self::Blocked,
            _ => Self::Other(value.to_owned()),
        }
    }
}

impl TestsState {
    fn parse(value: &str) -> Self {
        let lower = value.to_lowercase();
        let before = lower.split_once("fail").map(|(before, _)| before.split_whitespace().next_back());
        let fails = before.is_some_and(|count| !matches!(count, Some("0" | "no" | "none" | "zero")));
        match leading_words(value).as_str() {
            _ if fails || lower.contains("失败") => Self::Failing,
            "passing" | "passed" | "pass" | "allpassing" | "allpassed" | "green" | "ok" | "通过"
            | "全部通过" => Self::Passing,
            "red" | "broken" => Self::Failing,
            "notrun" | "none" | "na" | "skipped" | "未运行" => Self::NotRun,
            _ => Self::Other(value.to_owned()),
        }
    }
}

impl WorkType {
    fn parse(value: &str) -> Self {
        match leading_words(value).as_str() {
            "implementation" | "implementing" | "feature" => Self::Implementation,
            "testing" | "tests" | "test" | "testonly" => Self::Testing,
            "documentation" | "docs" => Self::Documentation,
            "refactoring" | "refactor" => Self::Refactoring,
            "debugging" | "debug" => Self::Debugging,
            _ => Self::Other(value.to_owned()),
        }
    }
}
