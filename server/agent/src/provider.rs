//! Classifies provider failures by the final error of a run: a status or an error's name first, its text last. Takes
//! only that final error, never text that a transcript merely quotes.

mod payload;
mod phrases;
mod reset;

use crate::{ProviderClass, ProviderError};
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::sanitize;
use payload::parse_payload;
pub(crate) use payload::{announced_time, retry_headers};
use phrases::{PhraseMeaning, classify_line};
pub(crate) use reset::reset_in;
pub use reset::{LimitReset, LocalClock, OffsetFn};

/// The number of last lines of stderr, and then of stdout, that are searched for the final error.
const FINAL_LINES: usize = 8;
/// A rate limit that announces a longer wait than this is treated as a usage limit.
const BACKOFF_MS: u64 = 60_000;
/// The maximum length of an answer that consists only of a provider's refusal.
const LONE_REFUSAL_CHARS: usize = 400;

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
    /// Takes the reset that is announced beside the text, if the text has none.
    pub(crate) fn add_reset(&mut self, reset: Option<LimitReset>) {
        if self.reset.is_some() || reset.is_none() {
            return;
        }
        self.reset = reset;
        if self.class == ProviderClass::Transient && self.status == Some(429) {
            self.class = rate_limit_class(self.reset.as_ref());
        }
    }

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
    let sentence = words.lines().find_map(classify_line);
    let meaning = match (classify_line(name), sentence) {
        // The name of a limit covers short and long ones; the sentence says which.
        (Some(PhraseMeaning::Limited) | None, Some(meaning)) => Some(meaning),
        (meaning, _) => meaning,
    };
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
pub(crate) fn classify_failed_output(stderr: &str, stdout: &str) -> Option<ProviderFailure> {
    match final_error(stderr) {
        LastError::Provider(failure) => Some(failure),
        LastError::Other => None,
        LastError::None => match final_error(stdout) {
            LastError::Provider(failure) => Some(failure),
            LastError::Other | LastError::None => None,
        },
    }
}

/// Classifies the output of a program that exited with success although its provider refused the request.
pub(crate) fn classify_successful_output(answer: &str) -> Option<ProviderFailure> {
    classify_lone_refusal(answer).or_else(|| classify_report(answer))
}

/// Some programs print the failed request and their advice as their last lines, and exit with success.
fn classify_report(answer: &str) -> Option<ProviderFailure> {
    let clean = sanitize::text(answer);
    let mut last = clean.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(FINAL_LINES);
    let report = last.find(|line| !phrases::is_advice_of_report(line))?;
    let failure = phrases::is_report(report).then(|| classify(report, None))?;
    (failure.class != ProviderClass::Unknown).then_some(failure)
}

/// Classifies an answer that consists only of the provider's refusal, regardless of the exit code.
fn classify_lone_refusal(answer: &str) -> Option<ProviderFailure> {
    let clean = sanitize::text(answer);
    let lines: Vec<&str> = clean.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() || lines.len() > 3 || clean.chars().count() > LONE_REFUSAL_CHARS {
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
    Provider(ProviderFailure),
    /// An error that is not the provider's.
    Other,
    None,
}

fn final_error(output: &str) -> LastError {
    let clean = sanitize::text(output);
    let unfenced = lines_outside_fences(&clean);
    let last: Vec<&str> =
        unfenced.into_iter().rev().filter(|line| !is_trace(line)).take(FINAL_LINES).collect();
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
            let mut failure = classify(line, None);
            // The reset may be on the lines below.
            failure.reset = failure.reset.or_else(|| last.iter().take(at).find_map(|it| reset_in(it)));
            if failure.class == ProviderClass::Transient
                && classify_line(line) == Some(PhraseMeaning::Limited)
            {
                failure.class = rate_limit_class(failure.reset.as_ref());
            }
            return LastError::Provider(failure);
        }
        if phrases::is_error(line) {
            return LastError::Other;
        }
    }
    LastError::None
}

fn lines_outside_fences(text: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let mut unfenced = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !line.trim().is_empty() {
            unfenced.push(line);
        }
    }
    unfenced
}

/// A field of an error that Node prints below its message.
static NODE_ERROR_FIELD: ConstantPattern = ConstantPattern::new(
    r"^(?:\[?(?:cause|code|details|retryDelayMs|message|errors?|reason)\]?: (?:\{|\[.*\]|\d+|'.*'|undefined),?$|\[?cause\]?: \w*Error: )",
);

/// Whether the line is a stack frame or a brace of a printed exception.
fn is_trace(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("at ")
        || NODE_ERROR_FIELD.is_match(line)
        || matches!(line, "{" | "}" | "}," | "]" | ")" | "});")
        || (line.starts_with("status: ") && line.len() < 14)
}

#[cfg(test)]
mod captures;
#[cfg(test)]
mod sentences;
#[cfg(test)]
mod tests;
