//! Classifies provider failures by the final error of a run: a status or an error's name first, its text last. Takes
//! only that final error, never text that a transcript merely quotes.

mod phrases;
mod reset;

use serde_json::Value;

use crate::{ProviderClass, ProviderError};
use loopkeeper_text::sanitize;
use phrases::{PhraseMeaning, classify_line};
pub(crate) use reset::reset_in;
pub use reset::{LimitReset, LocalClock};

/// The number of last lines of stderr, and then of stdout, that are searched for the final error.
const FINAL_LINES: usize = 8;
/// A rate limit that announces a longer wait than this is treated as a usage limit.
const BACKOFF_MS: u64 = 60_000;
/// The maximum length of an answer that consists only of a provider's refusal.
const WHOLE_CHARS: usize = 400;

/// Why the provider failed, before the local time is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderFailure {
    pub class: ProviderClass,
    /// Sanitised, one line.
    pub message: String,
    pub status: Option<u16>,
    pub reset: Option<LimitReset>,
}

impl ProviderFailure {
    /// The error for the record, with its reset as wall time if that is plausible.
    pub fn into_provider_error(self, here: &LocalClock<'_>) -> ProviderError {
        let resets_at = self.reset.and_then(|it| it.wall_time(here));
        ProviderError { class: self.class, message: self.message, status: self.status, resets_at }
    }
}

/// Classifies a final error of a dialect by its text and, if the dialect has one, its status.
pub(crate) fn classify(words: &str, status: Option<u16>) -> ProviderFailure {
    let inner = parse_payload(words);
    let words = inner.as_ref().map_or(words, |it| it.words.as_str());
    let status = status.or_else(|| inner.as_ref()?.status).or_else(|| phrases::parse_status(words));
    let name = inner.as_ref().map_or("", |it| it.name.as_str());
    let meaning = classify_line(name).or_else(|| words.lines().find_map(classify_line));
    let reset = reset_in(words).or_else(|| inner.as_ref()?.reset.clone());
    let class = match (status, meaning) {
        (_, Some(PhraseMeaning::Billing)) => ProviderClass::Billing,
        (_, Some(PhraseMeaning::Login)) | (Some(401 | 403), _) => ProviderClass::Login,
        (None | Some(402 | 429), Some(PhraseMeaning::Quota)) => ProviderClass::Quota,
        (Some(402), _) => ProviderClass::Billing,
        (Some(429), _) | (None, Some(PhraseMeaning::Limited)) => rate_limit_class(reset.as_ref()),
        (Some(408 | 409 | 425 | 500..=599), _) | (None, Some(PhraseMeaning::Transient)) => {
            ProviderClass::Transient
        }
        (Some(400..=499), _) | (None, Some(PhraseMeaning::Refused)) => ProviderClass::Refused,
        (None, None) if phrases::is_unreadable(words) => ProviderClass::Transient,
        _ => ProviderClass::Unknown,
    };
    ProviderFailure { class, message: sanitize::line(words), status, reset }
}

/// Classifies the last output of a failed plain text agent if it is a provider failure.
pub(crate) fn of_failed(stderr: &str, stdout: &str) -> Option<ProviderFailure> {
    match final_error(stderr) {
        LastError::Providers(trouble) => Some(trouble),
        LastError::Other => None,
        LastError::None => match final_error(stdout) {
            LastError::Providers(trouble) => Some(trouble),
            LastError::Other | LastError::None => None,
        },
    }
}

/// Classifies an answer that consists only of the provider's refusal, regardless of the exit code.
pub(crate) fn of_whole(answer: &str) -> Option<ProviderFailure> {
    let clean = sanitize::text(answer);
    let lines: Vec<&str> = clean.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() || lines.len() > 3 || clean.chars().count() > WHOLE_CHARS {
        return None;
    }
    let (first, rest) = lines.split_first()?;
    let is_refusal = matches!(
        classify_line(first),
        Some(PhraseMeaning::Quota | PhraseMeaning::Login | PhraseMeaning::Billing | PhraseMeaning::Limited)
    );
    if !is_refusal || !phrases::is_alone(first) || !rest.iter().all(|line| phrases::is_advice(line)) {
        return None;
    }
    Some(ProviderFailure { reset: reset_in(&clean), ..classify(first, None) })
}

fn rate_limit_class(reset: Option<&LimitReset>) -> ProviderClass {
    match reset {
        None => ProviderClass::Transient,
        Some(LimitReset::In(ms)) if *ms < BACKOFF_MS => ProviderClass::Transient,
        Some(_) => ProviderClass::Quota,
    }
}

/// The last error of an output.
enum LastError {
    Providers(ProviderFailure),
    /// An error that is not the provider's.
    Other,
    None,
}

fn final_error(output: &str) -> LastError {
    let clean = sanitize::text(output);
    let spoken = without_fences(&clean);
    let last: Vec<&str> = spoken.into_iter().rev().filter(|line| !is_trace(line)).take(FINAL_LINES).collect();
    for (at, line) in last.iter().enumerate() {
        if phrases::is_advice(line) || (phrases::is_about(line) && !phrases::is_error(line)) {
            continue;
        }
        if phrases::is_about(line) {
            return LastError::Other;
        }
        let is_reported =
            parse_payload(line).is_some_and(|it| classify_line(&it.name).is_some() || it.status.is_some());
        if is_reported || classify_line(line).is_some() || phrases::is_answer(line) {
            let mut trouble = classify(line, None);
            // The reset may be on the lines below.
            trouble.reset = trouble.reset.or_else(|| last.iter().take(at).find_map(|it| reset_in(it)));
            if trouble.class == ProviderClass::Transient
                && classify_line(line) == Some(PhraseMeaning::Limited)
            {
                trouble.class = rate_limit_class(trouble.reset.as_ref());
            }
            return LastError::Providers(trouble);
        }
        if phrases::is_error(line) {
            return LastError::Other;
        }
    }
    LastError::None
}

fn without_fences(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut spoken = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.trim().is_empty() {
            spoken.push(line);
        }
    }
    spoken
}

/// Whether the line is a stack frame or a brace of a printed exception.
fn is_trace(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("at ")
        || matches!(line, "{" | "}" | "}," | "]" | ")" | "});")
        || (line.starts_with("status: ") && line.len() < 14)
}

/// The fields of an error that some APIs send as JSON.
struct ErrorPayload {
    name: String,
    status: Option<u16>,
    words: String,
    reset: Option<LimitReset>,
}

/// The JSON object at the end of a message (`API Error: 429 {…}`, `[API Error: {…}]`, `{…}`).
fn parse_payload(words: &str) -> Option<ErrorPayload> {
    let (from, to) = (words.find('{')?, words.rfind('}')?);
    let prefix = words.get(..from)?;
    let value: Value = serde_json::from_str(words.get(from..=to)?).ok()?;
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
        Value::String(stamp) => reset::parse_instant(stamp),
        // Seconds until the year 5138, else milliseconds.
        at => at.as_f64().filter(|it| *it > 0.0).map(|at| if at < 1e11 { at * 1000.0 } else { at } as u64),
    }
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

#[cfg(test)]
mod captures;
#[cfg(test)]
mod tests;
