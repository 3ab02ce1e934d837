//! Validates a value of a key for this version; an error is a message for the author of the line.

use std::ops::Range;

use super::assignment::{format_toml, full_path};
use super::finding::SettingCode;
use super::table::{Key, KeySupport};
use super::value::{RawValue, SettingValue, ValueError, ValueFault, ValueFinding, parse_value};

/// Parses `raw` as a value of `key`.
pub(super) fn accept_value(
    key: &Key,
    agent: Option<&str>,
    raw: &RawValue,
) -> Result<SettingValue, SettingProblem> {
    let path = full_path(key, agent);
    if key.since == KeySupport::NotYet {
        let message = format!("`{path}` is not yet supported");
        let hint = Some("remove the line; this version would not act on it".to_owned());
        return Err(SettingProblem { code: SettingCode::NotYetSupported, place: Blame::Key, message, hint });
    }
    parse_value(key.takes, raw).map_err(|wrong| explain(key, &path, raw, wrong))
}

/// Why a value is rejected.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SettingProblem {
    pub(super) code: SettingCode,
    pub(super) place: Blame,
    pub(super) message: String,
    /// `None`: nothing beyond correcting the value.
    pub(super) hint: Option<String>,
}

/// The part of a line with the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blame {
    Key,
    Value,
    Item(usize),
    /// Bytes of a text, and their replacement.
    Within(Range<usize>, Option<String>),
    /// A key inside of an element.
    Field(usize, String),
}

fn explain(key: &Key, path: &str, raw: &RawValue, wrong: ValueError) -> SettingProblem {
    let place = match (wrong.item, wrong.field) {
        (Some(item), Some(field)) => Blame::Field(item, field),
        (item, _) => item.map_or(Blame::Value, Blame::Item),
    };
    match wrong.fault {
        ValueFault::NotYet => {
            let message = format!("`{path} = {}` is not yet supported", format_toml(key.takes, raw));
            let hint = Some(format!("this version takes {}", key.takes));
            SettingProblem { code: SettingCode::NotYetSupported, place, message, hint }
        }
        ValueFault::Within(error) => SettingProblem {
            code: SettingCode::BadValue,
            place: Blame::Within(error.range, error.fix),
            message: error.message,
            hint: Some(error.hint),
        },
        ValueFault::Said(said) => {
            let ValueFinding { code, message, hint } = *said;
            SettingProblem { code, place, message, hint: Some(hint) }
        }
        ValueFault::Found { found, hint } => {
            let message = format!("`{path}` takes {}, found {found}", key.takes);
            let hint = hint.map(str::to_owned);
            SettingProblem { code: SettingCode::BadValue, place, message, hint }
        }
    }
}

/// For a file: an alternative to a correction of the line.
pub(super) fn default_hint(key: &Key) -> String {
    match key.default {
        "" => "correct the value, or remove the line".to_owned(),
        default => format!("correct the value, or remove the line for the default `{default}`"),
    }
}
