//! Parsers of values, one for each kind.

use std::collections::HashSet;

use super::agents::AUTO;
use super::environment::is_never_passed;
use super::value::{RawValue, SettingValue, ValueError, ValueFault};
use crate::exit_condition;
use loopkeeper_text::branch::template_fault;
use loopkeeper_text::globs::path_fault;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::units::{UnitError, duration_ms, micro_dollars, size_bytes};
use loopkeeper_text::{tr, tr_later};

const NO_UNLIMITED: &str = tr_later!("there is no \"unlimited\"; write the largest value you would accept");
const TIME_UNITS: &str = tr_later!("the units are d, h, m, s and ms, largest first, as in `1h30m`");
const SIZE_UNITS: &str = tr_later!("the units are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB, as in `5GiB`");
const DOLLARS: &str = tr_later!("write a plain number of dollars, as in `25` or `2.50`");
const WRITE_UNIT: &str = tr_later!("write the number with its unit, in quotes");

pub(super) fn parse_duration(raw: &RawValue) -> Result<SettingValue, ValueError> {
    parse_amount(raw, duration_ms, TIME_UNITS).and_then(above_zero)
}

pub(super) fn parse_pause(raw: &RawValue) -> Result<SettingValue, ValueError> {
    parse_amount(raw, duration_ms, TIME_UNITS)
}

pub(super) fn parse_size(raw: &RawValue) -> Result<SettingValue, ValueError> {
    parse_amount(raw, size_bytes, SIZE_UNITS).and_then(above_zero)
}

pub(super) fn parse_word(raw: &RawValue, now: &[&str], later: &[&str]) -> Result<SettingValue, ValueError> {
    match raw {
        RawValue::Text(text) if now.contains(&text.as_str()) => Ok(SettingValue::Text(text.clone())),
        RawValue::Text(text) if later.contains(&text.as_str()) => Err(not_yet()),
        _ => Err(unexpected_value(raw)),
    }
}

pub(super) fn parse_agent(raw: &RawValue) -> Result<SettingValue, ValueError> {
    parse_line(raw).and_then(|name| {
        if name.is_empty() { Err(unexpected_value(raw)) } else { Ok(SettingValue::Text(name)) }
    })
}

/// One name, or several different ones in the order in which they take over.
pub(super) fn parse_agents(raw: &RawValue) -> Result<SettingValue, ValueError> {
    let RawValue::List(items) = raw else { return parse_agent(raw) };
    let names = items.iter().map(parse_line).collect::<Result<Vec<_>, _>>()?;
    let mut seen = HashSet::new();
    if names.is_empty() || names.iter().any(|name| name.is_empty() || name == AUTO || !seen.insert(name)) {
        return Err(unexpected_value_with_hint(
            raw.to_string(),
            tr_later!("name each agent once; `auto` cannot be combined with others"),
        ));
    }
    Ok(SettingValue::Texts(names))
}

pub(super) fn parse_line(raw: &RawValue) -> Result<String, ValueError> {
    match raw {
        RawValue::Text(text) if !text.chars().any(char::is_control) => Ok(text.clone()),
        _ => Err(unexpected_value(raw)),
    }
}

pub(super) fn parse_path(raw: &RawValue) -> Result<SettingValue, ValueError> {
    let text = parse_line(raw)?;
    match path_fault(&text) {
        Some(fault) => {
            Err(unexpected_value_with_hint(fault, tr_later!("write a path that does not lead upwards")))
        }
        None => Ok(SettingValue::Text(text)),
    }
}

pub(super) fn parse_branch(raw: &RawValue) -> Result<SettingValue, ValueError> {
    let name = parse_line(raw)?;
    match template_fault(&name) {
        Some(fault) => Err(unexpected_value_with_reason(raw, fault)),
        None => Ok(SettingValue::Text(name)),
    }
}

pub(super) fn parse_promise(raw: &RawValue) -> Result<SettingValue, ValueError> {
    const MAX_LENGTH: usize = 200;
    let text = parse_line(raw)?;
    let fits =
        !text.is_empty() && text.trim() == text && text.len() <= MAX_LENGTH && !text.contains(['<', '>']);
    if fits { Ok(SettingValue::Text(text)) } else { Err(unexpected_value(raw)) }
}

pub(super) fn parse_count(raw: &RawValue, max: u32) -> Result<SettingValue, ValueError> {
    let RawValue::Integer(digits) = raw else { return Err(unexpected_value(raw)) };
    match digits.trim().parse::<i128>() {
        Ok(0) => Err(unexpected_value_with_hint(raw.to_string(), NO_UNLIMITED)),
        Ok(number) => match u32::try_from(number) {
            Ok(number) if number <= max => Ok(SettingValue::Count(number)),
            _ => Err(unexpected_value(raw)),
        },
        Err(_) => Err(unexpected_value(raw)),
    }
}

fn parse_amount(
    raw: &RawValue,
    read: fn(&str) -> Result<u64, UnitError>,
    units: &'static str,
) -> Result<SettingValue, ValueError> {
    match raw {
        RawValue::Text(text) => {
            read(text).map(SettingValue::Amount).map_err(|error| unit_fault(raw, error, units))
        }
        RawValue::Integer(_) | RawValue::Float(_) => {
            Err(unexpected_value_with_hint(raw.to_string(), WRITE_UNIT))
        }
        _ => Err(unexpected_value(raw)),
    }
}

pub(super) fn parse_cost(raw: &RawValue) -> Result<SettingValue, ValueError> {
    match raw {
        RawValue::Integer(text) | RawValue::Float(text) => micro_dollars(text)
            .map(SettingValue::Amount)
            .map_err(|error| unit_fault(raw, error, DOLLARS))
            .and_then(above_zero),
        _ => Err(unexpected_value(raw)),
    }
}

fn above_zero(value: SettingValue) -> Result<SettingValue, ValueError> {
    match value {
        SettingValue::Amount(0) => Err(unexpected_value_with_hint(tr!("zero").to_owned(), NO_UNLIMITED)),
        other => Ok(other),
    }
}

pub(super) fn parse_flag(raw: &RawValue) -> Result<SettingValue, ValueError> {
    match raw {
        RawValue::Flag(flag) => Ok(SettingValue::Flag(*flag)),
        _ => Err(unexpected_value(raw)),
    }
}

pub(super) fn parse_texts(
    raw: &RawValue,
    fault: fn(&str) -> Option<String>,
) -> Result<SettingValue, ValueError> {
    let RawValue::List(items) = raw else { return Err(unexpected_value(raw)) };
    let mut texts = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let text = parse_line(item).map_err(|wrong| wrong.of_item(index))?;
        if let Some(fault) = fault(&text) {
            let found = tr!("{value}, {reason}", value = item, reason = fault);
            return Err(ValueError::new(ValueFault::Found { found, hint: None }).of_item(index));
        }
        texts.push(text);
    }
    Ok(SettingValue::Texts(texts))
}

pub(super) fn parse_command(raw: &RawValue) -> Result<SettingValue, ValueError> {
    let value = parse_texts(raw, |_| None)?;
    match &value {
        SettingValue::Texts(argv) if argv.first().is_some_and(|program| !program.is_empty()) => Ok(value),
        _ => Err(unexpected_value(raw)),
    }
}

pub(super) fn parse_variables(raw: &RawValue) -> Result<SettingValue, ValueError> {
    let RawValue::Table(entries) = raw else { return Err(unexpected_value(raw)) };
    let mut pairs = Vec::with_capacity(entries.len());
    for (index, (name, value)) in entries.iter().enumerate() {
        if let Some(found) = name_fault(name) {
            let fault = ValueFault::Found {
                found: tr!("`{name}`: {reason}", name = shown(name), reason = found),
                hint: None,
            };
            return Err(ValueError::new(fault).of_item(index));
        }
        match value {
            RawValue::Text(text) if !text.contains('\0') => pairs.push((name.clone(), text.clone())),
            _ => return Err(unexpected_value(value).of_item(index)),
        }
    }
    Ok(SettingValue::Pairs(pairs))
}

/// The expression is stored in its display form, on one line.
pub(super) fn parse_condition(raw: &RawValue) -> Result<SettingValue, ValueError> {
    let RawValue::Text(text) = raw else { return Err(unexpected_value(raw)) };
    match exit_condition::parse(text) {
        Ok(expression) => Ok(SettingValue::Text(expression.to_string())),
        Err(error) => Err(ValueError::new(ValueFault::Within(Box::new(error)))),
    }
}

pub(super) fn parse_weights(raw: &RawValue) -> Result<SettingValue, ValueError> {
    const MAX_LENGTH: usize = 200;
    let RawValue::Table(entries) = raw else { return Err(unexpected_value(raw)) };
    let mut weights = Vec::with_capacity(entries.len());
    for (index, (text, value)) in entries.iter().enumerate() {
        if text.trim().is_empty() || text.len() > MAX_LENGTH || text.chars().any(char::is_control) {
            let found = tr!(
                "`{text}`, which is not a phrase of 1 to {max} bytes",
                text = shown(text),
                max = MAX_LENGTH
            );
            return Err(ValueError::new(ValueFault::Found { found, hint: None }).of_item(index));
        }
        let (RawValue::Float(number) | RawValue::Integer(number)) = value else {
            return Err(unexpected_value(value).of_item(index));
        };
        match number.parse::<f64>() {
            Ok(share) if share > 0.0 && share <= 1.0 => {
                weights.push((text.clone(), (share * 100.0).round().max(1.0) as u8));
            }
            _ => return Err(unexpected_value(value).of_item(index)),
        }
    }
    Ok(SettingValue::Weights(weights))
}

pub(super) fn passed_fault(name: &str) -> Option<String> {
    let never = is_never_passed(name).then(|| tr!("which never passes").to_owned());
    name_fault(name.strip_suffix('*').unwrap_or(name)).or(never)
}

fn name_fault(name: &str) -> Option<String> {
    let starts = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let good = starts && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    (!good).then(|| tr!("not the name of a variable").to_owned())
}

fn unit_fault(raw: &RawValue, error: UnitError, units: &'static str) -> ValueError {
    let hint = match error {
        UnitError::NoUnit => Some(WRITE_UNIT),
        UnitError::UnknownUnit | UnitError::Order => Some(units),
        UnitError::Empty
        | UnitError::NoNumber
        | UnitError::Negative
        | UnitError::TooFine
        | UnitError::TooLarge => None,
    };
    let found = tr!("{value}: {reason}", value = raw, reason = error);
    ValueError::new(ValueFault::Found { found, hint })
}

fn unexpected_value_with_reason(raw: &RawValue, reason: &str) -> ValueError {
    let found = tr!("{value}: {reason}", value = raw, reason);
    ValueError::new(ValueFault::Found { found, hint: None })
}

fn unexpected_value(raw: &RawValue) -> ValueError {
    ValueError::new(ValueFault::Found { found: raw.to_string(), hint: None })
}

fn unexpected_value_with_hint(found: String, hint: &'static str) -> ValueError {
    ValueError::new(ValueFault::Found { found, hint: Some(hint) })
}

pub(super) fn not_yet() -> ValueError {
    ValueError::new(ValueFault::NotYet)
}
