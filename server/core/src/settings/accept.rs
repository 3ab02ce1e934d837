//! Validates a value of a key for this version; an error is a message for the author of the line.

use std::ops::Range;

use super::assignment::{format_toml, full_path};
use super::finding::SettingCode;
use super::table::{Key, KeySupport, ValueKind};
use super::value::{RawValue, SettingValue, ValueError, ValueFault, ValueFinding};
use super::{services, value_parsers};
use crate::network::host_list::pattern_fault;
use loopkeeper_text::globs::{glob_fault, path_fault};
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;

/// Parses `raw` as a value of `key`.
pub(super) fn accept_value(
    key: &Key,
    agent: Option<&str>,
    raw: &RawValue,
) -> Result<SettingValue, SettingProblem> {
    if key.since == KeySupport::NotYet {
        let path = full_path(key, agent);
        let message = tr!("`{path}` is not yet supported", path);
        let hint = Some(tr!("remove the line; this version would not act on it").to_owned());
        return Err(SettingProblem {
            code: SettingCode::NotYetSupported,
            place: FaultyPart::Key,
            message,
            hint,
        });
    }
    parse_value(key.takes, raw).map_err(|wrong| explain(key, &full_path(key, agent), raw, wrong))
}

/// Reads a value for a key that takes `takes`.
pub(super) fn parse_value(takes: ValueKind, raw: &RawValue) -> Result<SettingValue, ValueError> {
    match takes {
        ValueKind::Word { now, later } => value_parsers::parse_word(raw, now, later),
        ValueKind::Agent => value_parsers::parse_agent(raw),
        ValueKind::Agents => value_parsers::parse_agents(raw),
        ValueKind::Text => value_parsers::parse_line(raw).map(SettingValue::Text),
        ValueKind::Branch => value_parsers::parse_branch(raw),
        ValueKind::Promise => value_parsers::parse_promise(raw),
        ValueKind::Count => value_parsers::parse_count(raw, u32::MAX),
        ValueKind::Percent => value_parsers::parse_count(raw, 100),
        ValueKind::Duration => value_parsers::parse_duration(raw),
        ValueKind::Pause => value_parsers::parse_pause(raw),
        ValueKind::Cost => value_parsers::parse_cost(raw),
        ValueKind::Size => value_parsers::parse_size(raw),
        ValueKind::Flag => value_parsers::parse_flag(raw),
        ValueKind::Network if matches!(raw, RawValue::List(_)) => {
            value_parsers::parse_texts(raw, pattern_fault)
        }
        ValueKind::Network => value_parsers::parse_flag(raw),
        ValueKind::Path => value_parsers::parse_path(raw),
        ValueKind::Paths => value_parsers::parse_texts(raw, path_fault),
        ValueKind::Globs => value_parsers::parse_texts(raw, glob_fault),
        ValueKind::Command => value_parsers::parse_command(raw),
        ValueKind::CommandOrNone if matches!(raw, RawValue::List(items) if items.is_empty()) => {
            value_parsers::parse_texts(raw, |_| None)
        }
        ValueKind::CommandOrNone => value_parsers::parse_command(raw),
        ValueKind::Texts => value_parsers::parse_texts(raw, |_| None),
        ValueKind::Names => value_parsers::parse_texts(raw, value_parsers::passed_fault),
        ValueKind::Variables => value_parsers::parse_variables(raw),
        ValueKind::Weights => value_parsers::parse_weights(raw),
        ValueKind::When => value_parsers::parse_condition(raw),
        ValueKind::Services => services::parse_services(raw),
    }
}

/// Why a value is rejected.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SettingProblem {
    pub(super) code: SettingCode,
    pub(super) place: FaultyPart,
    pub(super) message: String,
    /// `None`: nothing beyond correcting the value.
    pub(super) hint: Option<String>,
}

/// The part of a line with the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FaultyPart {
    Key,
    Value,
    Item(usize),
    /// Bytes of a text, and their replacement.
    Within(Range<usize>, Option<String>),
    /// A key inside an element.
    Field(usize, String),
}

fn explain(key: &Key, path: &str, raw: &RawValue, wrong: ValueError) -> SettingProblem {
    let place = match (wrong.item, wrong.field) {
        (Some(item), Some(field)) => FaultyPart::Field(item, field),
        (item, _) => item.map_or(FaultyPart::Value, FaultyPart::Item),
    };
    match wrong.fault {
        ValueFault::NotYet => {
            let message =
                tr!("`{path} = {value}` is not yet supported", path, value = format_toml(key.takes, raw));
            let hint = Some(tr!("this version takes {kind}", kind = key.takes));
            SettingProblem { code: SettingCode::NotYetSupported, place, message, hint }
        }
        ValueFault::Within(error) => SettingProblem {
            code: SettingCode::BadValue,
            place: FaultyPart::Within(error.range, error.fix),
            message: error.message,
            hint: Some(error.hint),
        },
        ValueFault::Reported(value_finding) => {
            let ValueFinding { code, message, hint } = *value_finding;
            SettingProblem { code, place, message, hint: Some(hint) }
        }
        ValueFault::Found { found, hint } => {
            let message = tr!("`{path}` takes {kind}, found {found}", path, kind = key.takes, found);
            let hint = hint.map(|it| translate(it).to_owned());
            SettingProblem { code: SettingCode::BadValue, place, message, hint }
        }
    }
}

/// The hint for a line of a file, which can also be removed.
pub(super) fn default_hint(key: &Key) -> String {
    match key.default {
        "" => tr!("correct the value, or remove the line").to_owned(),
        default => tr!("correct the value, or remove the line for the default `{default}`", default),
    }
}
