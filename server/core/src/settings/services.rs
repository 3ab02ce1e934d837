//! Parses the entries of `[[serve]]`.

use super::finding::SettingCode;
use super::table::ValueKind;
use super::value::{RawValue, ServiceEntry, SettingValue, ValueError, ValueFault, ValueFinding};
use super::value_parsers;
use loopkeeper_text::closest::closest;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::{tr, tr_later};

const FIELDS: [&str; 3] = ["command", "ready", "timeout"];
const TIMEOUT_MS: u64 = 60 * 1000;
/// Maximum number of servers: each is a process.
const MAX: usize = 16;

pub(super) fn parse_services(raw: &RawValue) -> Result<SettingValue, ValueError> {
    let RawValue::List(items) = raw else {
        let hint = tr_later!("write `[[serve]]`, with two brackets on each side");
        return Err(ValueError::new(ValueFault::Found { found: raw.to_string(), hint: Some(hint) }));
    };
    if items.len() > MAX {
        let message = tr!("`serve` has {count} entries", count = items.len());
        return Err(ValueError::new(value_fault(
            SettingCode::BadValue,
            message,
            tr!("keep at most {max}", max = MAX),
        )));
    }
    let entries = items.iter().enumerate();
    entries
        .map(|(index, item)| parse_entry(item).map_err(|it| it.of_item(index)))
        .collect::<Result<_, _>>()
        .map(SettingValue::Services)
}

fn parse_entry(raw: &RawValue) -> Result<ServiceEntry, ValueError> {
    let RawValue::Table(fields) = raw else {
        return Err(ValueError::new(ValueFault::Found { found: raw.to_string(), hint: None }));
    };
    let (mut command, mut ready, mut timeout_ms) = (None, None, TIMEOUT_MS);
    for (name, value) in fields {
        let read = match name.as_str() {
            "command" => value_parsers::parse_command(value),
            "ready" => parse_address(value),
            "timeout" => value_parsers::parse_duration(value),
            other => return Err(unknown_key_error(other)),
        };
        match read.map_err(|wrong| explain_error(name, &wrong, value))? {
            SettingValue::Texts(argv) => command = Some(argv),
            SettingValue::Text(url) => ready = Some(url),
            SettingValue::Amount(ms) => timeout_ms = ms,
            _ => {}
        }
    }
    let missing = |name: &str, example: &str| {
        let message = tr!("an entry of `serve` has no `{name}`", name);
        let hint = tr!("add it: `{example}`", example);
        ValueError::new(value_fault(SettingCode::BadValue, message, hint))
    };
    let command = command.ok_or_else(|| missing("command", "command = [\"npm\", \"start\"]"))?;
    let ready = ready.ok_or_else(|| missing("ready", "ready = \"http://localhost:8080/health\""))?;
    Ok(ServiceEntry { command, ready, timeout_ms })
}

fn parse_address(raw: &RawValue) -> Result<SettingValue, ValueError> {
    match raw {
        RawValue::Text(text) if loopkeeper_task::criterion::address::url_fault(text).is_none() => {
            Ok(SettingValue::Text(text.clone()))
        }
        _ => Err(ValueError::new(ValueFault::Found { found: raw.to_string(), hint: None })),
    }
}

fn unknown_key_error(name: &str) -> ValueError {
    let message = tr!("`{path}` is not a known key", path = format!("serve.{}", shown(name)));
    let hint = match closest(name, FIELDS) {
        Some(near) => tr!("did you mean `{near}`?", near),
        None => tr!("an entry has `command`, `ready` and `timeout`").to_owned(),
    };
    ValueError::new(value_fault(SettingCode::UnknownKey, message, hint)).of_field(name)
}

fn explain_error(name: &str, wrong: &ValueError, raw: &RawValue) -> ValueError {
    let takes = match name {
        "command" => ValueKind::Command.to_string(),
        "timeout" => ValueKind::Duration.to_string(),
        _ => tr!("one http:// or https:// address").to_owned(),
    };
    let found = match &wrong.fault {
        ValueFault::Found { found, .. } => found.clone(),
        ValueFault::NotYet | ValueFault::Within(_) | ValueFault::Reported(_) => raw.to_string(),
    };
    let message =
        tr!("`{path}` takes {kind}, found {found}", path = format!("serve.{name}"), kind = takes, found);
    ValueError::new(value_fault(SettingCode::BadValue, message, tr!("correct the value").to_owned()))
        .of_field(name)
}

fn value_fault(code: SettingCode, message: String, hint: String) -> ValueFault {
    ValueFault::Reported(Box::new(ValueFinding { code, message, hint }))
}
