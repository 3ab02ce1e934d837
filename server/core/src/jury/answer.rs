//! Parses a judge's answer strictly: one JSON object with exactly the requested fields, at the end of the message, with
//! the word that only this judge received.

use serde::Deserialize;

use crate::check::{Location, MAX_LOCATIONS};
use loopkeeper_text::sanitize;
use loopkeeper_text::tr_later;

const REASON_CHARS: usize = 1_000;

/// The verdict of one judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeAnswer {
    pub holds: bool,
    /// The strongest reason against the criterion; one line, never empty where it does not hold.
    pub reason: String,
    pub places: Vec<Location>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawJudgeAnswer {
    judge: String,
    holds: bool,
    reason: String,
    #[serde(default)]
    places: Vec<String>,
}

/// The error is in English, because the judge reads it; it is translated where users see it.
pub fn parse_answer(message: &str, key: &str) -> Result<JudgeAnswer, String> {
    let written = json_candidates(message).find_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
    let value = written.ok_or(tr_later!("it does not end in a JSON object"))?;
    let written: RawJudgeAnswer =
        serde_json::from_value(value).map_err(|error| sanitize::line_within(&error.to_string(), 120))?;
    if written.judge != key {
        return Err(tr_later!("`judge` is not the word that was given").to_owned());
    }
    let reason = sanitize::line_within(&written.reason, REASON_CHARS);
    if reason.is_empty() && !written.holds {
        return Err(tr_later!("`reason` is empty").to_owned());
    }
    let places = written.places.iter().take(MAX_LOCATIONS).filter_map(|it| parse_location(it)).collect();
    Ok(JudgeAnswer { holds: written.holds, reason, places })
}

/// The whole message, the content of its last fence, and its last line.
fn json_candidates(message: &str) -> impl Iterator<Item = &str> {
    let message = message.trim();
    let fenced = message.strip_suffix("```").and_then(|it| {
        let (_, last) = it.rsplit_once("```")?;
        Some(last.strip_prefix("json").unwrap_or(last).trim())
    });
    let line = message.lines().next_back().map(str::trim);
    let is_object = |it: &&str| it.starts_with('{') && it.ends_with('}');
    [Some(message), fenced, line].into_iter().flatten().filter(is_object)
}

/// `path:12` or `path:12:3`; anything without a line remains in the reason.
fn parse_location(text: &str) -> Option<Location> {
    let number = |it: &str| it.parse::<u32>().ok().filter(|it| *it > 0);
    let (front, last) = text.trim().rsplit_once(':')?;
    let last = number(last)?;
    let (file, line, column) = match front.rsplit_once(':').and_then(|(file, it)| Some((file, number(it)?))) {
        Some((file, line)) => (file, line, Some(last)),
        None => (front, last, None),
    };
    let file = sanitize::line(file.trim_start_matches("./"));
    (!file.is_empty()).then_some(Location { file, line, column, ..Location::default() })
}
