//! Whether a key may be given a value, by this version; if not, why, as a message for its author.

use std::ops::Range;

use super::assignment::{format_toml, full_path};
use super::finding::SettingCode;
use super::table::{Key, KeySupport};
use super::value::{RawValue, SettingValue, ValueError, ValueFault, ValueFinding, parse_value};

/// The value that `raw` means for `key`, or what is wrong with it.
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

/// Why not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SettingProblem {
    pub(super) code: SettingCode,
    pub(super) place: Blame,
    pub(super) message: String,
    /// `None`: nothing beyond correcting the value.
    pub(super) hint: Option<String>,
}

/// Which part of a line is to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blame {
    Key,
    Value,
    Item(usize),
    /// Bytes of a text, and what to write in their place.
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

/// For a file: what else to do about a line than to correct it.
pub(super) fn default_hint(key: &Key) -> String {
    match key.default {
        "" => "correct the value, or remove the line".to_owned(),
        default => format!("correct the value, or remove the line for the default `{default}`"),
    }
}
