//! One value of the configuration: from what was written to what it means, or why it means nothing.

use std::fmt;

use super::environment::never_passes;
use super::finding::{SettingCode, shown};
use super::globs::{glob_fault, path_fault};
use super::services::{self, Entry};
use super::table::Takes;
use super::units::{UnitError, duration_ms, micro_dollars, size_bytes};
use crate::branch::template_fault;
use crate::when::{self, WhenError};

/// What was written, whatever it was written in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Raw {
    Text(String),
    /// Decimal digits, perhaps with a sign.
    Integer(String),
    Float(String),
    Flag(bool),
    Date(String),
    List(Vec<Raw>),
    Table(Vec<(String, Raw)>),
}

/// What it means.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Count(u32),
    /// Milliseconds, micro-dollars or bytes, as the key says.
    Amount(u64),
    Flag(bool),
    Texts(Vec<String>),
    Pairs(Vec<(String, String)>),
    /// Texts with a share in percent.
    Weights(Vec<(String, u8)>),
    Services(Vec<Entry>),
}

/// Why a value cannot be taken. `item` is the index of the bad element of a list or table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wrong {
    pub(super) item: Option<usize>,
    /// The key to blame inside of that element.
    pub(super) field: Option<String>,
    pub(super) fault: Fault,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// What was found instead, and what to do about it where the expectation alone does not say.
    Found { found: String, hint: Option<&'static str> },
    /// Of a text that is an expression.
    Within(Box<WhenError>),
    /// Known, and not acted on by this version.
    NotYet,
    /// All of it is said already.
    Said(Box<Said>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    pub(super) code: SettingCode,
    pub(super) message: String,
    pub(super) hint: String,
}

const NO_UNLIMITED: &str = "there is no \"unlimited\"; write the largest value you would accept";
const TIME_UNITS: &str = "the units are d, h, m, s and ms, largest first, as in `1h30m`";
const SIZE_UNITS: &str = "the units are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB, as in `5GiB`";
const DOLLARS: &str = "write a plain number of dollars, as in `25` or `2.50`";
const WRITE_UNIT: &str = "write the number with its unit, in quotes";

/// Reads a value for a key that takes `takes`.
pub(super) fn read(takes: Takes, raw: &Raw) -> Result<Value, Wrong> {
    match takes {
        Takes::Word { now, later } => word(raw, now, later),
        Takes::Agent => agent(raw),
        Takes::Agents => agents(raw),
        Takes::Text => line(raw).map(Value::Text),
        Takes::Branch => branch(raw),
        Takes::Promise => promise(raw),
        Takes::Count => count(raw, u32::MAX),
        Takes::Percent => count(raw, 100),
        Takes::Duration => amount(raw, duration_ms, TIME_UNITS).and_then(above_zero),
        Takes::Pause => amount(raw, duration_ms, TIME_UNITS),
        Takes::Cost => cost(raw).and_then(above_zero),
        Takes::Size => amount(raw, size_bytes, SIZE_UNITS).and_then(above_zero),
        Takes::Flag => flag(raw),
        Takes::Path => path(raw),
        Takes::Paths => texts(raw, path_fault),
        Takes::Globs => texts(raw, glob_fault),
        Takes::Command => command(raw),
        Takes::CommandOrNone if matches!(raw, Raw::List(items) if items.is_empty()) => texts(raw, |_| None),
        Takes::CommandOrNone => command(raw),
        Takes::Texts => texts(raw, |_| None),
        Takes::Names => texts(raw, passed_fault),
        Takes::Variables => variables(raw),
        Takes::Weights => weights(raw),
        Takes::When => when(raw),
        Takes::Services => services::read(raw),
    }
}

impl Takes {
    /// What a plain text (an argument, a line of another tool's file) stands for.
    pub(super) fn plain(self, text: &str) -> Raw {
        let numeric = text.starts_with(|it: char| it.is_ascii_digit() || matches!(it, '+' | '-' | '.'));
        match self {
            Self::Count | Self::Percent if numeric => Raw::Integer(text.to_owned()),
            Self::Cost if numeric => Raw::Float(text.to_owned()),
            Self::Flag => match text {
                "true" => Raw::Flag(true),
                "false" => Raw::Flag(false),
                other => Raw::Text(other.to_owned()),
            },
            Self::Command | Self::CommandOrNone | Self::Texts | Self::Paths | Self::Globs | Self::Names => {
                Raw::List(text.split_whitespace().map(|it| Raw::Text(it.to_owned())).collect())
            }
            _ => Raw::Text(text.to_owned()),
        }
    }
}

fn word(raw: &Raw, now: &[&str], later: &[&str]) -> Result<Value, Wrong> {
    match raw {
        Raw::Text(text) if now.contains(&text.as_str()) => Ok(Value::Text(text.clone())),
        Raw::Text(text) if later.contains(&text.as_str()) => Err(not_yet()),
        _ => Err(found(raw)),
    }
}

fn agent(raw: &Raw) -> Result<Value, Wrong> {
    line(raw).and_then(|name| if name.is_empty() { Err(found(raw)) } else { Ok(Value::Text(name)) })
}

/// One name, or several different ones in the order in which they take over.
fn agents(raw: &Raw) -> Result<Value, Wrong> {
    let Raw::List(items) = raw else { return agent(raw) };
    let names = items.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    let again = |at: usize, name: &String| names.iter().take(at).any(|it| it == name);
    let unfit =
        |(at, name): (usize, &String)| name.is_empty() || name == super::agents::AUTO || again(at, name);
    if names.is_empty() || names.iter().enumerate().any(unfit) {
        return Err(wrong(raw.to_string(), "write each agent once, by its own name; `auto` stands alone"));
    }
    Ok(Value::Texts(names))
}

fn line(raw: &Raw) -> Result<String, Wrong> {
    match raw {
        Raw::Text(text) if !text.chars().any(char::is_control) => Ok(text.clone()),
        _ => Err(found(raw)),
    }
}

fn path(raw: &Raw) -> Result<Value, Wrong> {
    let text = line(raw)?;
    match path_fault(&text) {
        Some(fault) => Err(wrong(fault, "write a path that goes down from where it begins")),
        None => Ok(Value::Text(text)),
    }
}

fn branch(raw: &Raw) -> Result<Value, Wrong> {
    let name = line(raw)?;
    match template_fault(&name) {
        Some(fault) => Err(Wrong::of(Fault::Found { found: format!("{raw}: {fault}"), hint: None })),
        None => Ok(Value::Text(name)),
    }
}

fn promise(raw: &Raw) -> Result<Value, Wrong> {
    const LONGEST: usize = 200;
    let text = line(raw)?;
    let fits = !text.is_empty() && text.trim() == text && text.len() <= LONGEST && !text.contains(['<', '>']);
    if fits { Ok(Value::Text(text)) } else { Err(found(raw)) }
}

fn count(raw: &Raw, most: u32) -> Result<Value, Wrong> {
    let Raw::Integer(digits) = raw else { return Err(found(raw)) };
    match digits.trim().parse::<i128>() {
        Ok(0) => Err(wrong(raw.to_string(), NO_UNLIMITED)),
        Ok(number) => match u32::try_from(number) {
            Ok(number) if number <= most => Ok(Value::Count(number)),
            _ => Err(found(raw)),
        },
        Err(_) => Err(found(raw)),
    }
}

fn amount(raw: &Raw, read: fn(&str) -> Result<u64, UnitError>, units: &'static str) -> Result<Value, Wrong> {
    match raw {
        Raw::Text(text) => read(text).map(Value::Amount).map_err(|error| unit_fault(raw, error, units)),
        Raw::Integer(_) | Raw::Float(_) => Err(wrong(raw.to_string(), WRITE_UNIT)),
        _ => Err(found(raw)),
    }
}

fn cost(raw: &Raw) -> Result<Value, Wrong> {
    match raw {
        Raw::Integer(text) | Raw::Float(text) => {
            micro_dollars(text).map(Value::Amount).map_err(|error| unit_fault(raw, error, DOLLARS))
        }
        _ => Err(found(raw)),
    }
}

fn above_zero(value: Value) -> Result<Value, Wrong> {
    match value {
        Value::Amount(0) => Err(wrong("zero".to_owned(), NO_UNLIMITED)),
        other => Ok(other),
    }
}

fn flag(raw: &Raw) -> Result<Value, Wrong> {
    match raw {
        Raw::Flag(flag) => Ok(Value::Flag(*flag)),
        _ => Err(found(raw)),
    }
}

fn texts(raw: &Raw, fault: fn(&str) -> Option<String>) -> Result<Value, Wrong> {
    let Raw::List(items) = raw else { return Err(found(raw)) };
    let mut texts = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let text = line(item).map_err(|wrong| wrong.of_item(index))?;
        if let Some(fault) = fault(&text) {
            let found = format!("{item}, {fault}");
            return Err(Wrong::of(Fault::Found { found, hint: None }).of_item(index));
        }
        texts.push(text);
    }
    Ok(Value::Texts(texts))
}

fn command(raw: &Raw) -> Result<Value, Wrong> {
    let value = texts(raw, |_| None)?;
    match &value {
        Value::Texts(argv) if argv.first().is_some_and(|program| !program.is_empty()) => Ok(value),
        _ => Err(found(raw)),
    }
}

fn variables(raw: &Raw) -> Result<Value, Wrong> {
    let Raw::Table(entries) = raw else { return Err(found(raw)) };
    let mut pairs = Vec::with_capacity(entries.len());
    for (index, (name, value)) in entries.iter().enumerate() {
        if let Some(found) = name_fault(name) {
            let fault = Fault::Found { found: format!("`{}`: {found}", shown(name)), hint: None };
            return Err(Wrong::of(fault).of_item(index));
        }
        match value {
            Raw::Text(text) if !text.contains('\0') => pairs.push((name.clone(), text.clone())),
            _ => return Err(found(value).of_item(index)),
        }
    }
    Ok(Value::Pairs(pairs))
}

/// Kept as it is shown: on one line.
fn when(raw: &Raw) -> Result<Value, Wrong> {
    let Raw::Text(text) = raw else { return Err(found(raw)) };
    match when::parse(text) {
        Ok(expression) => Ok(Value::Text(expression.to_string())),
        Err(error) => Err(Wrong::of(Fault::Within(Box::new(error)))),
    }
}

fn weights(raw: &Raw) -> Result<Value, Wrong> {
    const LONGEST: usize = 200;
    let Raw::Table(entries) = raw else { return Err(found(raw)) };
    let mut weights = Vec::with_capacity(entries.len());
    for (index, (text, value)) in entries.iter().enumerate() {
        if text.trim().is_empty() || text.len() > LONGEST || text.chars().any(char::is_control) {
            let found = format!("`{}`, which is not a phrase of 1 to {LONGEST} bytes", shown(text));
            return Err(Wrong::of(Fault::Found { found, hint: None }).of_item(index));
        }
        let (Raw::Float(number) | Raw::Integer(number)) = value else {
            return Err(found(value).of_item(index));
        };
        match number.parse::<f64>() {
            Ok(share) if share > 0.0 && share <= 1.0 => {
                weights.push((text.clone(), (share * 100.0).round().max(1.0) as u8));
            }
            _ => return Err(found(value).of_item(index)),
        }
    }
    Ok(Value::Weights(weights))
}

fn passed_fault(name: &str) -> Option<String> {
    let never = never_passes(name).then(|| "which never passes".to_owned());
    name_fault(name.strip_suffix('*').unwrap_or(name)).or(never)
}

fn name_fault(name: &str) -> Option<String> {
    let starts = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let good = starts && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    (!good).then(|| "not the name of a variable".to_owned())
}

fn unit_fault(raw: &Raw, error: UnitError, units: &'static str) -> Wrong {
    let hint = match error {
        UnitError::NoUnit => Some(WRITE_UNIT),
        UnitError::UnknownUnit | UnitError::Order => Some(units),
        UnitError::Empty
        | UnitError::NoNumber
        | UnitError::Negative
        | UnitError::TooFine
        | UnitError::TooLarge => None,
    };
    Wrong::of(Fault::Found { found: format!("{raw}: {error}"), hint })
}

fn found(raw: &Raw) -> Wrong {
    Wrong::of(Fault::Found { found: raw.to_string(), hint: None })
}

fn wrong(found: String, hint: &'static str) -> Wrong {
    Wrong::of(Fault::Found { found, hint: Some(hint) })
}

fn not_yet() -> Wrong {
    Wrong::of(Fault::NotYet)
}

impl Wrong {
    pub(super) fn of(fault: Fault) -> Self {
        Self { item: None, field: None, fault }
    }

    pub(super) fn of_item(self, index: usize) -> Self {
        Self { item: Some(index), ..self }
    }

    pub(super) fn of_field(self, name: &str) -> Self {
        Self { field: Some(name.to_owned()), ..self }
    }
}

/// As a person would name it; never raw bytes of a file.
impl fmt::Display for Raw {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "\"{}\"", shown(text)),
            Self::Integer(number) | Self::Float(number) | Self::Date(number) => {
                write!(out, "{}", shown(number))
            }
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::List(items) if items.is_empty() => write!(out, "an empty list"),
            Self::List(_) => write!(out, "a list"),
            Self::Table(_) => write!(out, "a table"),
        }
    }
}
