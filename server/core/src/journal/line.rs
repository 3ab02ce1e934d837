//! Encodes and decodes one line of the journal, with the checksum that chains it to the line before. Whether a whole
//! file is torn or damaged is decided in [`super::reading`]; nothing here accesses a file.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use serde::Deserialize;

use super::{Entry, tagged};
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

/// The version of the format that this code writes and reads.
pub const VERSION: u32 = 1;
/// What precedes the checksum; `"sum"` is always the last member, so its place is known from the end.
const SUM_KEY: &[u8] = b",\"sum\":\"";
const SUM_DIGITS: usize = 8;
const SUM_END: &[u8] = b"\"}";

/// Why a line is not a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadLine {
    /// Cut off, or not in the journal's format at all.
    Form,
    /// Its bytes, or those of the line before it, are not those that were written.
    Checksum,
    /// Written whole, by a version that this one does not read.
    Version(u32),
    /// Written whole, but not a record as this version knows it.
    Shape(String),
    /// Written whole, but not the next one.
    Sequence { expected: u64, found: u64 },
}

impl BadLine {
    /// The bytes are as they were written: cutting them off would lose a record, not repair a write.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Self::Form | Self::Checksum => false,
            Self::Version(_) | Self::Shape(_) | Self::Sequence { .. } => true,
        }
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str(tr!("not a record")),
            Self::Checksum => f.write_str(tr!("the checksum does not match")),
            Self::Version(found) => f.write_str(&tr!(
                "format version {found}, this loopkeeper reads version {read}",
                found,
                read = VERSION
            )),
            Self::Shape(why) => f.write_str(&tr!("not readable by this version: {why}", why)),
            Self::Sequence { expected, found } => {
                f.write_str(&tr!("record {found} where {expected} is expected", found, expected))
            }
        }
    }
}

/// Encodes `entry` as a line, newline included, with its checksum. Fails for values that could not be read back (a time
/// out of range, a number that is not finite), so that no unreadable line is ever written.
pub fn encode_line(entry: &Entry, previous: u32) -> Result<(String, u32), BadLine> {
    let shape = |error: serde_json::Error| BadLine::Shape(error.to_string());
    let record = tagged::members_of(&entry.record).map_err(shape)?;
    let (seq, epoch, at, up) = (entry.seq, entry.epoch, wall_to_text(entry.at.wall)?, entry.at.awake);
    let body = format!(r#"{{"v":{VERSION},"seq":{seq},"epoch":{epoch},"at":"{at}","up":{up},{record}"#);
    let sum = crc32c::crc32c_append(previous, body.as_bytes());
    let line = format!("{body},\"sum\":\"{sum:08x}\"}}");
    Ok((line + "\n", sum))
}

/// The record of a line (without its newline) that follows one with the checksum `previous`; 0 for the first.
pub fn decode_line(line: &[u8], previous: u32) -> Result<(Entry, u32), BadLine> {
    let (body, stated) = split_sum(line).ok_or(BadLine::Form)?;
    let sum = crc32c::crc32c_append(previous, body);
    if sum != stated {
        return Err(BadLine::Checksum);
    }
    Ok((decode_record(line, &read_head(line)?)?, sum))
}

/// The record is parsed from the same text as the head; members that it does not know, the head's included, are
/// ignored.
fn decode_record(line: &[u8], head: &LineHeader<'_>) -> Result<Entry, BadLine> {
    let record =
        tagged::read_record(&head.type_name, line).map_err(|error| BadLine::Shape(error.to_string()))?;
    let at = Moment { wall: wall_from_text(&head.at)?, awake: head.up };
    Ok(Entry { seq: head.seq, epoch: head.epoch, at, record })
}

/// The record of a line whose checksum was verified before; `None` if its type is not wanted, without parsing it.
pub fn decode_wanted(line: &[u8], is_wanted: impl Fn(&str) -> bool) -> Result<Option<Entry>, BadLine> {
    if leading_type(line).is_some_and(|it| !is_wanted(it)) {
        return Ok(None);
    }
    let head = read_head(line)?;
    is_wanted(&head.type_name).then(|| decode_record(line, &head)).transpose()
}

/// The type of a line that begins as [`encode_line`] writes it: most lines are much longer than their beginning. None
/// of the values before the type contains a quote.
fn leading_type(line: &[u8]) -> Option<&str> {
    const MAX_HEAD_BYTES: usize = 200;
    const KEY: &[u8] = b",\"type\":\"";
    let head = line.get(..MAX_HEAD_BYTES.min(line.len()))?;
    let head = head.strip_prefix(format!(r#"{{"v":{VERSION},"seq":"#).as_bytes())?;
    let begin = head.windows(KEY.len()).position(|it| it == KEY)? + KEY.len();
    let name = head.get(begin..)?.split(|it| *it == b'"').next()?;
    str::from_utf8(name).ok()
}

/// The checksum of a line that continues `previous`, without reading its record; `None` if it does not continue it.
pub fn continued_sum(line: &[u8], previous: u32) -> Option<u32> {
    let (body, stated) = split_sum(line)?;
    (crc32c::crc32c_append(previous, body) == stated).then_some(stated)
}

/// Whether a line has the form of a record, whatever its checksum: it was written as one.
pub(super) fn looks_like_record(line: &[u8]) -> bool {
    split_sum(line).is_some() && !matches!(read_head(line), Err(BadLine::Shape(_)))
}

/// The members that every line has, in front of the record's own.
#[derive(Deserialize)]
struct LineHeader<'a> {
    v: u32,
    seq: u64,
    epoch: u32,
    #[serde(borrow)]
    at: Cow<'a, str>,
    up: u64,
    #[serde(borrow, rename = "type")]
    type_name: Cow<'a, str>,
}

fn read_head(line: &[u8]) -> Result<LineHeader<'_>, BadLine> {
    /// Only this much is certain of a later version.
    #[derive(Deserialize)]
    struct AnyVersion {
        v: u32,
    }
    let shape = |error: serde_json::Error| BadLine::Shape(error.to_string());
    // One pass for a line of this version, as nearly all are.
    match serde_json::from_slice(line) {
        Ok(LineHeader { v, .. }) if v != VERSION => Err(BadLine::Version(v)),
        Ok(head) => Ok(head),
        Err(error) => match serde_json::from_slice(line) {
            Ok(AnyVersion { v }) if v != VERSION => Err(BadLine::Version(v)),
            _ => Err(shape(error)),
        },
    }
}

/// The bytes under the checksum, and the checksum that the line states.
fn split_sum(line: &[u8]) -> Option<(&[u8], u32)> {
    let rest = line.strip_suffix(SUM_END)?;
    let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(SUM_DIGITS)?)?;
    let body = rest.strip_suffix(SUM_KEY)?;
    // One spelling only: an upper-case digit is a flipped bit.
    if !digits.iter().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let stated = u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    Some((body, stated))
}

fn wall_to_text(wall: u64) -> Result<String, BadLine> {
    let out_of_range = || BadLine::Shape(tr!("{wall} ms is not a time of this calendar", wall));
    let wall = i64::try_from(wall).map_err(|_| out_of_range())?;
    let time = Timestamp::from_millisecond(wall).map_err(|_| out_of_range())?;
    Ok(format!("{time:.3}"))
}

fn wall_from_text(text: &str) -> Result<u64, BadLine> {
    let bad = || BadLine::Shape(tr!("`{text}` is not a time", text));
    let time: Timestamp = text.parse().map_err(|_| bad())?;
    u64::try_from(time.as_millisecond()).map_err(|_| bad())
}

#[cfg(test)]
mod tests;
