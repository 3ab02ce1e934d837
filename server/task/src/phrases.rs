//! Recognises headings and lead lines with a meaning: criteria sections, optional plan sections. Numbering, emoji,
//! emphasis and brackets around them are ignored.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadingPhrase {
    Criteria,
    Validation,
}

const PHRASES: &[(&str, HeadingPhrase)] = &[
    ("completion criteria", HeadingPhrase::Criteria),
    ("acceptance criteria", HeadingPhrase::Criteria),
    ("success criteria", HeadingPhrase::Criteria),
    ("done when", HeadingPhrase::Criteria),
    ("stop conditions", HeadingPhrase::Criteria),
    ("stop condition", HeadingPhrase::Criteria),
    ("validation commands", HeadingPhrase::Validation),
    ("完成标准", HeadingPhrase::Criteria),
    ("完成条件", HeadingPhrase::Criteria),
    ("验收标准", HeadingPhrase::Criteria),
];

/// Headings of criteria in a document without one of the others. Beside those they are often a list for people
/// (*reviewed*, *deployed*), with which no loop could end verified.
const FALLBACK_PHRASES: &[(&str, HeadingPhrase)] = &[
    ("definition of done", HeadingPhrase::Criteria),
    ("exit criteria", HeadingPhrase::Criteria),
    ("完成定义", HeadingPhrase::Criteria),
    ("成功标准", HeadingPhrase::Criteria),
    ("验收条件", HeadingPhrase::Criteria),
];

/// Optional headings such as `Future ideas`, `Nice to have (v2)`. With other words the heading is an ordinary one,
/// because mistaking a blocking section for an optional one would end a loop early.
const OPTIONAL_HEADINGS: &[&str] = &[
    "optional",
    "optional items",
    "optional tasks",
    "optional improvements",
    "optional enhancements",
    "future",
    "future work",
    "future ideas",
    "future improvements",
    "future enhancements",
    "future tasks",
    "nice to have",
    "nice to haves",
    "later",
    "可选",
];

/// The phrase that `text` equals or begins with.
pub(super) fn match_phrase(text: &str) -> Option<HeadingPhrase> {
    leading_phrase(PHRASES, text).map(|(phrase, _)| phrase)
}

/// The phrase that counts only where the document has none of the others.
pub(super) fn match_fallback(text: &str) -> Option<HeadingPhrase> {
    leading_phrase(FALLBACK_PHRASES, text).map(|(phrase, _)| phrase)
}

/// The phrase that `text` equals, except for a final colon or brackets.
pub(super) fn exact_phrase(text: &str) -> Option<HeadingPhrase> {
    let (phrase, rest) = leading_phrase(PHRASES, text)?;
    without_tail(&rest).is_empty().then_some(phrase)
}

/// Whether the line is a heading or a lead line with one of the usual phrases.
pub(super) fn opens_usual_section(line: &str) -> bool {
    let trimmed = line.trim();
    let may_open = trimmed.starts_with('#') || ends_in_colon(trimmed.trim_end_matches(['*', '_']));
    may_open && match_phrase(line).is_some()
}

pub(super) fn ends_in_colon(text: &str) -> bool {
    text.trim_end().ends_with([':', '：'])
}

/// Whether open boxes under this heading do not keep a loop running.
pub(super) fn is_optional(heading: &str) -> bool {
    is_marked_optional(heading)
        || OPTIONAL_HEADINGS.contains(&without_tail(&normalised(heading).replace('-', " ")))
}

/// Whether the heading ends in `(optional)`.
pub(super) fn is_marked_optional(heading: &str) -> bool {
    let text = normalised(heading);
    let text = text.trim_end_matches([':', '：', ' ']);
    ["(optional)", "（optional）", "（可选）", "(可选)"].iter().any(|mark| text.ends_with(mark))
}

fn leading_phrase(phrases: &[(&str, HeadingPhrase)], text: &str) -> Option<(HeadingPhrase, String)> {
    let text = strip_decoration(text);
    let first = text.chars().next()?.to_lowercase().next()?;
    // Most lines begin with none of the phrases.
    if !phrases.iter().any(|(words, _)| words.starts_with(first)) {
        return None;
    }
    let text = fold_case(text);
    phrases.iter().find_map(|(words, phrase)| {
        let rest = text.strip_prefix(words)?;
        let continues = rest.chars().next().is_some_and(|next| next.is_alphanumeric() && !is_cjk(next));
        (!continues).then(|| (*phrase, rest.to_owned()))
    })
}

/// Lower case, single spaces, without leading decoration; only as much of the text as can matter.
fn normalised(text: &str) -> String {
    fold_case(strip_decoration(text))
}

fn fold_case(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().take(MAX_WORDS).map(str::to_lowercase).collect();
    words.join(" ")
}

/// More words than any phrase including its brackets.
const MAX_WORDS: usize = 24;

/// Removes leading numbering ("2.", "3.1)", "IV.", "一、"), emoji, short codes and emphasis.
fn strip_decoration(text: &str) -> &str {
    let mut rest = text;
    loop {
        let before = rest.len();
        rest = rest.trim_start_matches(|char: char| !char.is_alphabetic() || is_letter_emoji(char));
        rest = without_letter_number(rest);
        rest = without_short_code(text, rest);
        if rest.len() == before {
            return rest;
        }
    }
}

/// Emoji that Unicode classifies as letters.
fn is_letter_emoji(char: char) -> bool {
    matches!(char, '\u{2139}' | '\u{24c2}' | '\u{1f100}'..='\u{1f1ff}')
}

const MAX_NUMBER_CHARS: usize = 5;

/// Removes "IV. ", "b) ", "一、".
fn without_letter_number(text: &str) -> &str {
    let is_end = |(_, char): &(usize, char)| matches!(char, '.' | ')' | '、' | '．');
    let Some((end, _)) = text.char_indices().take(MAX_NUMBER_CHARS + 1).find(is_end) else { return text };
    let (number, rest) = text.split_at(end);
    let is_roman = number.len() <= MAX_NUMBER_CHARS && number.chars().all(|char| "ivxIVX".contains(char));
    let is_letter = number.len() == 1;
    let is_chinese =
        number.chars().count() <= 3 && number.chars().all(|char| "一二三四五六七八九十".contains(char));
    if !number.is_empty() && (is_roman || is_letter || is_chinese) { rest } else { text }
}

/// Removes a leading ":white_check_mark: " whose first colon was already removed with the punctuation.
fn without_short_code<'a>(whole: &str, rest: &'a str) -> &'a str {
    let begins_with_colon = whole.get(..whole.len() - rest.len()).is_some_and(|before| before.ends_with(':'));
    if !begins_with_colon {
        return rest;
    }
    let is_code = |it: &str| it.chars().all(|char| char.is_ascii_alphanumeric() || "_+-".contains(char));
    rest.split_once(':').filter(|(code, _)| is_code(code)).map_or(rest, |(_, after)| after)
}

/// Removes a final colon and "(…)".
fn without_tail(text: &str) -> &str {
    let mut rest = text;
    loop {
        let before = rest.len();
        rest = rest.trim_end_matches(|char: char| !char.is_alphanumeric() && !")）".contains(char));
        if rest.ends_with([')', '）'])
            && let Some(open) = rest.rfind(['(', '（'])
        {
            rest = rest.get(..open).unwrap_or_default();
        }
        if rest.len() == before {
            return rest.trim();
        }
    }
}

fn is_cjk(char: char) -> bool {
    ('\u{2e80}'..='\u{9fff}').contains(&char)
}
