//! Parses the attributes at the end of an item: `(optional) (timeout 10m) (group x) (stage n) (rising) (not falling)`.

use std::borrow::Cow;

use crate::criterion::NumberRule;
use jiff::SignedDuration;
use loopkeeper_text::closest::is_within;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::tr;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ItemAttributes {
    pub(crate) optional: bool,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) group: Option<String>,
    pub(crate) stage: Option<u32>,
    /// Those written in brackets.
    pub(crate) number_rules: Vec<NumberRule>,
}

/// The attributes parsed from the trailing groups of a text.
pub(super) struct TrailingGroups<'a> {
    /// The text before them.
    pub(super) rest: &'a str,
    /// A group that begins like an attribute and is invalid.
    pub(super) bad: Option<String>,
}

/// Takes the attributes at the end of `text`, before or after final punctuation; the last one wins.
pub(super) fn take_trailing<'a>(text: &'a str, attributes: &mut ItemAttributes) -> TrailingGroups<'a> {
    let mut trailing = TrailingGroups { rest: text, bad: None };
    loop {
        let trimmed = trailing.rest.trim_end_matches(is_final);
        let Some((before, inner)) = last_group(trimmed) else { return trailing };
        match parse_group(inner) {
            AttributeGroup::Attributes(found) => found.into_iter().for_each(|one| one.apply_to(attributes)),
            AttributeGroup::Bad(reason) => trailing.bad = Some(reason),
            AttributeGroup::Prose => return trailing,
        }
        trailing.rest = before;
    }
}

/// The text without any attribute group; the remainder determines whether a sentence continues.
pub(super) fn without_groups(text: &str) -> Cow<'_, str> {
    if !text.contains(['(', '（']) {
        return text.into();
    }
    let mut left = String::new();
    let mut rest = text;
    while let Some(open) = rest.find(['(', '（']) {
        let (before, group) = rest.split_at(open);
        left.push_str(before);
        let Some(close) = group.find([')', '）']) else {
            rest = group;
            break;
        };
        let end = close + group.get(close..).and_then(|tail| tail.chars().next()).map_or(1, char::len_utf8);
        let (whole, after) = group.split_at(end);
        if !matches!(
            last_group(whole).map(|(_, inner)| parse_group(inner)),
            Some(AttributeGroup::Attributes(_) | AttributeGroup::Bad(_))
        ) {
            left.push_str(whole);
        }
        rest = after;
    }
    left.push_str(rest);
    left.into()
}

/// Punctuation that ends an item, and space.
pub(super) fn is_final(char: char) -> bool {
    char.is_whitespace() || ".,;:!?…。，；：！？、".contains(char)
}

enum Attribute {
    Optional,
    Timeout(u64),
    Group(String),
    Stage(u32),
    Number(NumberRule),
}

impl Attribute {
    fn apply_to(self, attributes: &mut ItemAttributes) {
        match self {
            Self::Optional => attributes.optional = true,
            Self::Timeout(ms) => attributes.timeout_ms = Some(ms),
            Self::Group(name) => attributes.group = Some(name),
            Self::Stage(number) => attributes.stage = Some(number),
            Self::Number(rule) if attributes.number_rules.contains(&rule) => {}
            Self::Number(rule) => attributes.number_rules.push(rule),
        }
    }
}

enum AttributeGroup {
    Attributes(Vec<Attribute>),
    Bad(String),
    Prose,
}

/// `text (inner)`, with ASCII or full-width brackets.
fn last_group(text: &str) -> Option<(&str, &str)> {
    let body = text.strip_suffix([')', '）'])?;
    let open = body.rfind(['(', '（'])?;
    let (before, inner) = body.split_at(open);
    let inner = inner.trim_start_matches(['(', '（']);
    Some((before, inner.trim()))
}

fn parse_group(inner: &str) -> AttributeGroup {
    let mut found = Vec::new();
    let mut bad = None;
    for part in inner.split([',', '，', '、', ';', '；']).map(str::trim) {
        match parse_attribute(part) {
            Some(Ok(one)) => found.push(one),
            Some(Err(reason)) => bad = Some(reason),
            None => return AttributeGroup::Prose,
        }
    }
    bad.map_or(AttributeGroup::Attributes(found), AttributeGroup::Bad)
}

/// `None`: prose in brackets.
fn parse_attribute(part: &str) -> Option<Result<Attribute, String>> {
    let (word, value) = match part.split_once(char::is_whitespace) {
        Some((word, value)) => (word.to_lowercase(), value.trim()),
        None => (part.to_lowercase(), ""),
    };
    match (word.as_str(), value) {
        ("optional" | "可选", "") => Some(Ok(Attribute::Optional)),
        ("timeout", value) => parse_timeout(value),
        ("rising", "") => Some(Ok(Attribute::Number(NumberRule::Rising))),
        ("not", value) if value.eq_ignore_ascii_case("falling") => {
            Some(Ok(Attribute::Number(NumberRule::NotFalling)))
        }
        ("stage", "0") => Some(Err(tr!("`stage 0` does not exist: stages count from 1").to_owned())),
        ("group", value) if !value.is_empty() && !value.contains(char::is_whitespace) => {
            Some(Ok(Attribute::Group(value.to_owned())))
        }
        ("stage", value) if !value.is_empty() && !value.contains(char::is_whitespace) => Some(
            value.parse().map(Attribute::Stage).map_err(|_| tr!("`stage {value}` needs a number", value)),
        ),
        _ => misspelt_attribute(part, &word, value),
    }
}

/// An attribute with a typo or another separator. `None`: prose, such as `(optionally)` and `(stages of life)`.
fn misspelt_attribute(part: &str, word: &str, value: &str) -> Option<Result<Attribute, String>> {
    let (name, value) = match part.split_once([':', '=', '：']) {
        Some((name, value)) => (name.trim(), value.trim()),
        None => (word, value),
    };
    let is_number = value.starts_with(|it: char| it.is_ascii_digit());
    let is_one_word = !value.is_empty() && !value.contains(char::is_whitespace);
    let is_written = |attribute: &str| name.eq_ignore_ascii_case(attribute);
    // `option` is no typo.
    let is_optional = name.len() + 1 >= "optional".len() && is_within(1, name, "optional");
    let meant = if value.is_empty() && is_optional {
        "optional".to_owned()
    } else if is_number && is_within(1, name, "timeout") {
        format!("timeout {value}")
    } else if is_number && is_one_word && is_within(1, name, "stage") {
        format!("stage {value}")
    } else if is_one_word && is_written("group") {
        format!("group {value}")
    } else if value.is_empty() && matches!(name, "not-falling" | "not_falling" | "non-falling") {
        "not falling".to_owned()
    } else {
        return None;
    };
    Some(Err(tr!("`{part}` is not an attribute; did you mean `({meant})`?", part = shown(part), meant)))
}

fn parse_timeout(value: &str) -> Option<Result<Attribute, String>> {
    let parsed: Option<u64> = value
        .parse::<SignedDuration>()
        .ok()
        .and_then(|duration| u64::try_from(duration.as_millis()).ok())
        .filter(|&ms| ms > 0);
    match parsed {
        Some(ms) => Some(Ok(Attribute::Timeout(ms))),
        // "(timeout handling)" is prose, "(timeout 10)" is not.
        None if names_a_duration(value) => {
            Some(Err(tr!("`timeout {value}` is not a duration such as `10m`", value)))
        }
        None => None,
    }
}

/// Words that people write in place of a duration.
const DURATION_WORDS: &[&str] = &["soon", "short", "long", "never", "none", "off", "unlimited", "infinite"];

fn names_a_duration(value: &str) -> bool {
    value.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it))
        || DURATION_WORDS.iter().any(|it| value.eq_ignore_ascii_case(it))
}
