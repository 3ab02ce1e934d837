//! Reads the fields of errors that APIs send, and the headers beside them.

use serde_json::Value;

use super::phrases::{self, classify_line};
use super::reset::{LimitReset, parse_http_date, parse_instant, reset_in};
use loopkeeper_text::pattern::ConstantPattern;

/// The fields of an error that some APIs send as JSON.
pub(super) struct ErrorPayload {
    pub(super) name: String,
    pub(super) status: Option<u16>,
    pub(super) words: String,
    pub(super) reset: Option<LimitReset>,
}

/// The JSON object at the end of a message (`API Error: 429 {…}`, `[API Error: {…}]`, `{…}`).
pub(super) fn parse_payload(words: &str) -> Option<ErrorPayload> {
    let (from, to) = (words.find('{')?, words.rfind('}')?);
    let prefix = words.get(..from)?;
    let Ok(value) = serde_json::from_str::<Value>(words.get(from..=to)?) else {
        return parse_python_payload(prefix, words.get(from..=to)?);
    };
    let error = value.get("error").filter(|it| it.is_object()).unwrap_or(&value);
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| error.get(key).and_then(Value::as_u64).and_then(|it| u16::try_from(it).ok());
    let name = ["type", "code", "status"].into_iter().map(text).find(|it| classify_line(it).is_some());
    let message = text("message");
    if message.is_empty() && name.is_none() {
        return None;
    }
    Some(ErrorPayload {
        name: name.unwrap_or_default().to_owned(),
        status: number("code").or_else(|| number("status")).or_else(|| phrases::parse_status(prefix)),
        words: if message.is_empty() { words.to_owned() } else { message.to_owned() },
        reset: announced_reset(error).or_else(|| announced_reset(&value)),
    })
}

/// The announced time of a reset in milliseconds of wall time.
pub(crate) fn announced_time(info: &Value) -> Option<u64> {
    let at = ["resets_at", "resetsAt", "reset_at"].iter().find_map(|it| info.get(it))?;
    match at {
        Value::String(stamp) => parse_instant(stamp),
        // Seconds until the year 5138, else milliseconds.
        at => at.as_f64().filter(|it| *it > 0.0).map(|at| if at < 1e11 { at * 1000.0 } else { at } as u64),
    }
}

/// The reset in the headers of a response: seconds or a date, and milliseconds. Empty if they are missing.
pub(crate) fn retry_headers(retry_after: &str, retry_after_ms: &str) -> Option<LimitReset> {
    let ms = || retry_after_ms.trim().parse::<u64>().ok().map(LimitReset::In);
    let seconds = || retry_after.trim().parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
    ms().or_else(|| seconds().map(|it| LimitReset::In((it * 1000.0) as u64)))
        .or_else(|| parse_http_date(retry_after).map(LimitReset::At))
}

/// The announced retry time, under the field names of different APIs.
fn announced_reset(error: &Value) -> Option<LimitReset> {
    let number = |keys: &[&str]| keys.iter().find_map(|it| error.get(it)?.as_f64()).filter(|it| *it > 0.0);
    if let Some(at) = announced_time(error) {
        return Some(LimitReset::At(at));
    }
    if let Some(seconds) = number(&["retry_after", "retryAfter", "resets_in_seconds"]) {
        return Some(LimitReset::In((seconds * 1000.0) as u64));
    }
    if let Some(ms) = number(&["retry_after_ms", "retryAfterMs"]) {
        return Some(LimitReset::In(ms as u64));
    }
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|it| it.get("retryDelay")?.as_str())?;
    reset_in(&format!("in {delay}"))
}

/// The same in Python's notation, as its clients print it: `{'error': {'message': "You've …", 'type': '…'}}`.
fn parse_python_payload(prefix: &str, payload: &str) -> Option<ErrorPayload> {
    static FIELD: ConstantPattern = ConstantPattern::new(
        r#"'(?P<key>message|type|code|status)': (?:'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")"#,
    );
    let (mut message, mut name) = ("", "");
    for field in FIELD.captures_iter(payload) {
        let value = field.name("single").or_else(|| field.name("double"))?.as_str();
        match field.name("key")?.as_str() {
            "message" if message.is_empty() => message = value,
            "message" => {}
            _ if name.is_empty() && classify_line(value).is_some() => name = value,
            _ => {}
        }
    }
    let status = phrases::parse_status(prefix);
    (!message.is_empty() && (status.is_some() || !name.is_empty())).then(|| ErrorPayload {
        name: name.to_owned(),
        status,
        words: message.to_owned(),
        reset: None,
    })
}
