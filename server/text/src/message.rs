//! A message for the user as data: what happened, and the remedy. Journals, pauses and the texts of older programs hold
//! it as one line, `fact. Hint: hint`; this module is the only one that writes or reads that form.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{tr, words};

const SEPARATOR: &str = ". Hint: ";
/// Errors of snapshots were once recorded in two lines.
const LINE_SEPARATOR: &str = "\nHint: ";

/// What happened, without a full stop, and the command or key that helps, in the language of the process that wrote
/// them.
///
/// Neither part contains the separator of the one-line form, so that reading the line gives back the same message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(into = "String", from = "OneLine")]
pub struct Message {
    fact: String,
    hint: Option<String>,
}

impl Message {
    pub fn new(fact: impl Into<String>) -> Self {
        Self { fact: without_separators(fact.into()), hint: None }
    }

    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        let fact = self.fact.trim_end_matches(['.', '。']).to_owned();
        Self { fact, hint: Some(without_separators(hint.into())) }
    }

    pub fn from_parts(fact: impl Into<String>, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => Self::new(fact).with_hint(hint),
            None => Self::new(fact),
        }
    }

    pub fn into_parts(self) -> (String, Option<String>) {
        (self.fact, self.hint)
    }

    pub fn fact(&self) -> &str {
        &self.fact
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The same hint for another fact.
    pub fn map_fact(self, change: impl FnOnce(String) -> String) -> Self {
        Self::from_parts(change(self.fact), self.hint)
    }

    /// Both parts changed alike, such as sanitised.
    pub fn map_parts(&self, change: impl Fn(&str) -> String) -> Self {
        Self::from_parts(change(&self.fact), self.hint().map(change))
    }

    /// The lines for standard error, with a final newline.
    pub fn error_lines(&self) -> String {
        let hint = self.hint().map(|it| hint_line(words::capitalised(it)) + "\n");
        format!("{}\n{}", tr!("error: {fact}", fact = self.fact), hint.unwrap_or_default())
    }

    /// Sentences without the label, for a client that shows them as they are: `fact. Hint`.
    pub fn sentences(&self) -> String {
        match self.hint() {
            Some(hint) => tr!("{fact}. {hint}", fact = self.fact, hint = words::capitalised(hint)),
            None => self.fact.clone(),
        }
    }

    /// Complete sentences for a client that shows the message alone: `Fact. Hint.`
    pub fn paragraph(&self) -> String {
        let first = self.fact.split(' ').next().unwrap_or_default();
        // A file name or a setting keeps its letters.
        let is_word = first.chars().all(char::is_alphabetic);
        let fact = if is_word { words::capitalised(&self.fact) } else { self.fact.clone() };
        let fact = with_stop(fact);
        match self.hint() {
            Some(hint) => tr!("{fact} {hint}", fact, hint = with_stop(words::capitalised(hint))),
            None => fact,
        }
    }

    /// The last separator counts: text of an agent can only be in the fact.
    fn parse(line: &str) -> Self {
        let split = line.rsplit_once(SEPARATOR).or_else(|| line.rsplit_once(LINE_SEPARATOR));
        let (fact, hint) = split.map_or((line, None), |(fact, hint)| (fact, Some(hint.to_owned())));
        Self::from_parts(fact, hint)
    }
}

/// `Hint: hint.`, for a remedy on a line of its own.
pub fn hint_line(hint: impl fmt::Display) -> String {
    with_stop(tr!("Hint: {hint}", hint))
}

fn with_stop(text: String) -> String {
    let is_complete = text.is_empty() || text.ends_with(['.', '?', '!', '…', '。', '？', '！']);
    if is_complete { text } else { tr!("{sentence}.", sentence = text) }
}

fn without_separators(text: String) -> String {
    if text.contains("Hint: ") {
        text.replace(SEPARATOR, "; hint: ").replace(LINE_SEPARATOR, "\nhint: ")
    } else {
        text
    }
}

impl fmt::Display for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.fact)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, "{SEPARATOR}{hint}"))
    }
}

/// A fact without a hint.
impl From<String> for Message {
    fn from(fact: String) -> Self {
        Self::new(fact)
    }
}

impl From<&str> for Message {
    fn from(fact: &str) -> Self {
        Self::new(fact)
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.to_string()
    }
}

/// A stored message.
#[derive(Deserialize)]
struct OneLine(String);

impl From<OneLine> for Message {
    fn from(OneLine(line): OneLine) -> Self {
        Self::parse(&line)
    }
}

/// An error with a remedy for the user.
pub trait HintedError: Error {
    /// How the user can fix it.
    fn hint(&self) -> Option<String>;

    fn to_message(&self) -> Message {
        Message::from_parts(self.to_string(), self.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, hint_line};
    use crate::language::Language;

    fn message(fact: &str, hint: Option<&str>) -> Message {
        Message::from_parts(fact, hint.map(str::to_owned))
    }

    #[test]
    fn the_stored_form_is_one_line() {
        let check = |line: &str, fact: &str, hint: Option<&str>| {
            let json = serde_json::to_string(line).unwrap();
            let read: Message = serde_json::from_str(&json).unwrap();
            assert_eq!((read.fact(), read.hint()), (fact, hint), "{line:?}");
            assert_eq!(serde_json::to_string(&read).unwrap(), json);
            assert_eq!(read.to_string(), line);
        };
        check("", "", None);
        check("paused by the user", "paused by the user", None);
        check("it crashed. Hint: mend it", "it crashed", Some("mend it"));
        check("is it?. Hint: yes.", "is it?", Some("yes."));
        check("Ends in a stop.", "Ends in a stop.", None);
        check("no label. Hint:", "no label. Hint:", None);
    }

    #[test]
    fn a_paragraph_is_complete_sentences() {
        let check = |fact: &str, hint: Option<&str>, expect: &str| {
            assert_eq!(message(fact, hint).paragraph(), expect);
        };
        check("the agent `x` cannot start", None, "The agent `x` cannot start.");
        check(
            "the plan has unsaved changes",
            Some("save it first"),
            "The plan has unsaved changes. Save it first.",
        );
        check("loopkeeper.toml:1: this is not TOML", None, "loopkeeper.toml:1: this is not TOML.");
        check(
            "there is no agent `none`",
            Some("did you mean `mine`?"),
            "There is no agent `none`. Did you mean `mine`?",
        );
        check("", None, "");
    }

    #[test]
    fn older_forms_are_still_read() {
        let check = |line: &str, expect: Message| {
            let read: Message = serde_json::from_value(line.into()).unwrap();
            assert_eq!(read, expect, "{line:?}");
        };
        check("The store is gone.\nHint: start again.", message("The store is gone", Some("start again.")));
        check("agent: a. Hint: b. Hint: c", message("agent: a; hint: b", Some("c")));
    }

    #[test]
    fn messages_round_trip_for_any_content() {
        let parts =
            ["", "a", "a.", "a. Hint: b", "a\nHint: b", ". Hint: ", "a. Hint: \nHint: ", ". . Hint: Hint: "];
        for fact in parts {
            for hint in [None].into_iter().chain(parts.map(Some)) {
                let written = message(fact, hint);
                let read: Message = serde_json::from_value(written.to_string().into()).unwrap();
                assert_eq!(read, written, "{fact:?} {hint:?}");
            }
        }
    }

    #[test]
    fn a_full_stop_before_a_hint_is_not_doubled() {
        let check = |fact: &str, hint: Option<&str>, expect: &str| {
            assert_eq!(message(fact, hint).to_string(), expect);
        };
        check("it crashed.", Some("mend it"), "it crashed. Hint: mend it");
        check("it crashed.", None, "it crashed.");
    }

    #[test]
    fn a_changed_fact_keeps_its_hint() {
        let check = |before: Message, expect: Message| {
            assert_eq!(before.map_fact(|it| it + ", twice."), expect);
        };
        check(message("a", Some("b")), message("a, twice", Some("b")));
        check(message("a", None), message("a, twice.", None));
    }

    #[test]
    fn both_parts_are_changed_alike() {
        let check = |before: Message, expect: Message| {
            assert_eq!(before.map_parts(str::to_uppercase), expect);
        };
        check(message("a", Some("b")), message("A", Some("B")));
        check(message("a", None), message("A", None));
    }

    #[test]
    fn labels_and_stops_are_in_the_language_of_the_process() {
        let message = message("崩溃了。", Some("请修复它"));
        Language::SimplifiedChinese.during(|| {
            assert_eq!(message.error_lines(), "错误：崩溃了\n提示：请修复它。\n");
            assert_eq!(message.sentences(), "崩溃了。请修复它");
            assert_eq!(message.paragraph(), "崩溃了。请修复它。");
            assert_eq!(message.to_string(), "崩溃了. Hint: 请修复它", "the stored form has no language");
            assert_eq!(hint_line("要 `a` 吗？"), "提示：要 `a` 吗？");
        });
    }

    #[test]
    fn a_terminal_shows_two_lines_and_an_editor_two_sentences() {
        let check = |hint: Option<&str>, lines: &str, sentences: &str| {
            let message = message("it crashed", hint);
            assert_eq!((message.error_lines().as_str(), message.sentences().as_str()), (lines, sentences));
        };
        check(Some("mend it."), "error: it crashed\nHint: Mend it.\n", "it crashed. Mend it.");
        check(None, "error: it crashed\n", "it crashed");
        assert_eq!(hint_line("mend it"), "Hint: mend it.");
        assert_eq!(hint_line("did you mean `a`?"), "Hint: did you mean `a`?");
    }
}
