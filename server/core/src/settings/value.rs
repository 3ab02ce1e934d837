//! Values of the configuration: as written, parsed, and why one is invalid.

use std::fmt;

use super::finding::SettingCode;
use super::table::ValueKind;
use crate::exit_condition::WhenError;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::tr;

/// A value as written, independent of the file format.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RawValue {
    Text(String),
    /// Decimal digits, perhaps with a sign.
    Integer(String),
    Float(String),
    Flag(bool),
    Date(String),
    List(Vec<RawValue>),
    Table(Vec<(String, RawValue)>),
}

/// A parsed value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SettingValue {
    Text(String),
    Count(u32),
    /// Milliseconds, micro-dollars or bytes, depending on the key.
    Amount(u64),
    Flag(bool),
    Texts(Vec<String>),
    Pairs(Vec<(String, String)>),
    /// Texts with a share in percent.
    Weights(Vec<(String, u8)>),
    Services(Vec<ServiceEntry>),
}

/// One entry of `[[serve]]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServiceEntry {
    pub(super) command: Vec<String>,
    pub(super) ready: String,
    pub(super) timeout_ms: u64,
}

/// Why a value is invalid. `item` is the index of the bad element of a list or table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ValueError {
    pub(super) item: Option<usize>,
    /// The key with the error inside of that element.
    pub(super) field: Option<String>,
    pub(super) fault: ValueFault,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueFault {
    /// The value that was found, and the remedy, still in English, if the expectation alone does not imply it.
    Found { found: String, hint: Option<&'static str> },
    /// An error in an expression.
    Within(Box<WhenError>),
    /// Known, but not supported by this version.
    NotYet,
    /// A complete finding.
    Reported(Box<ValueFinding>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ValueFinding {
    pub(super) code: SettingCode,
    pub(super) message: String,
    pub(super) hint: String,
}

impl ValueKind {
    /// Reads a plain text (an argument, a line of another tool's file) as a raw value of this kind.
    pub(super) fn raw_from_text(self, text: &str) -> RawValue {
        let numeric = text.starts_with(|it: char| it.is_ascii_digit() || matches!(it, '+' | '-' | '.'));
        match self {
            Self::Count | Self::Percent if numeric => RawValue::Integer(text.to_owned()),
            Self::Cost if numeric => RawValue::Float(text.to_owned()),
            Self::Flag | Self::Network => match text {
                "true" => RawValue::Flag(true),
                "false" => RawValue::Flag(false),
                other => RawValue::Text(other.to_owned()),
            },
            Self::Command | Self::CommandOrNone | Self::Texts | Self::Paths | Self::Globs | Self::Names => {
                RawValue::List(text.split_whitespace().map(|it| RawValue::Text(it.to_owned())).collect())
            }
            _ => RawValue::Text(text.to_owned()),
        }
    }
}

impl ValueError {
    pub(super) fn new(fault: ValueFault) -> Self {
        Self { item: None, field: None, fault }
    }

    pub(super) fn of_item(self, index: usize) -> Self {
        Self { item: Some(index), ..self }
    }

    pub(super) fn of_field(self, name: &str) -> Self {
        Self { field: Some(name.to_owned()), ..self }
    }
}

/// A readable name; never raw bytes of a file.
impl fmt::Display for RawValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "\"{}\"", shown(text)),
            Self::Integer(number) | Self::Float(number) | Self::Date(number) => {
                write!(out, "{}", shown(number))
            }
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::List(items) if items.is_empty() => write!(out, "{}", tr!("an empty list")),
            Self::List(_) => write!(out, "{}", tr!("a list")),
            Self::Table(_) => write!(out, "{}", tr!("a table")),
        }
    }
}
