//! Whether a key may be given a value, by this version; if not, why, in words for the person who wrote it.

use std::ops::Range;

use super::assignment::{full_path, written};
use super::finding::SettingCode;
use super::table::{Key, Since};
use super::value::{Fault, Raw, Said, Value, Wrong, read};

/// The value that `raw` means for `key`, or what is wrong with it.
pub(super) fn accept(key: &Key, agent: Option<&str>, raw: &Raw) -> Result<Value, Problem> {
    let path = full_path(key, agent);
    if key.since == Since::NotYet {
        let message = format!("`{path}` is not yet supported");
        let hint = Some("remove the line; this version would not act on it".to_owned());
        return Err(Problem { code: SettingCode::NotYetSupported, place: Wrongly::Key, message, hint });
    }
    let value = read(key.takes, raw).map_err(|wrong| explain(key, &path, raw, wrong))?;
    if key.since == Since::OnlyDefault && written(key.takes, raw) != key.default {
        let message = format!("`{path} = {}` is not yet supported", written(key.takes, raw));
        let hint = Some(format!("remove the line; this version only does `{path} = {}`", key.default));
        return Err(Problem { code: SettingCode::NotYetSupported, place: Wrongly::Value, message, hint });
    }
    Ok(value)
}

/// Why not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    pub(super) code: SettingCode,
    pub(super) place: Wrongly,
    pub(super) message: String,
    /// `None`: nothing beyond correcting the value.
    pub(super) hint: Option<String>,
}

/// Which part of a line is to blame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wrongly {
    Key,
    Value,
    Item(usize),
    /// Bytes of a text, and what to write in their place.
    Within(Range<usize>, Option<String>),
    /// A key inside of an element.
    Field(usize, String),
}

fn explain(key: &Key, path: &str, raw: &Raw, wrong: Wrong) -> Problem {
    let place = match (wrong.item, wrong.field) {
        (Some(item), Some(field)) => Wrongly::Field(item, field),
        (item, _) => item.map_or(Wrongly::Value, Wrongly::Item),
    };
    match wrong.fault {
        Fault::NotYet => {
            let message = format!("`{path} = {}` is not yet supported", written(key.takes, raw));
            let hint = Some(format!("this version takes {}", key.takes));
            Problem { code: SettingCode::NotYetSupported, place, message, hint }
        }
        Fault::Within(error) => Problem {
            code: SettingCode::BadValue,
            place: Wrongly::Within(error.range, error.fix),
            message: error.message,
            hint: Some(error.hint),
        },
        Fault::Said(said) => {
            let Said { code, message, hint } = *said;
            Problem { code, place, message, hint: Some(hint) }
        }
        Fault::Found { found, hint } => {
            let message = format!("`{path}` takes {}, found {found}", key.takes);
            let hint = hint.map(str::to_owned);
            Problem { code: SettingCode::BadValue, place, message, hint }
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
