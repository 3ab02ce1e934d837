//! Parses when a limit is lifted and converts it to wall time. Reads no clock: the caller provides the local time.

mod zones;

use std::borrow::Cow;

use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, ToSpan, Zoned};
use regex::Captures;

use loopkeeper_text::pattern::ConstantPattern;

/// Maximum distance of a reset: limits are announced for a month at most.
const MAX_RESET_DELAY_MS: u64 = 32 * 24 * 60 * 60 * 1000;
/// A reset that passed this recently counts as imminent.
const MAX_PASSED_MS: u64 = 2 * 60 * 1000;
/// A clock time that passed this recently refers to today, not tomorrow.
const TODAY_PASSED_MS: u64 = 10 * 60 * 1000;

/// When a limit is lifted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LimitReset {
    /// Milliseconds of wall time.
    At(u64),
    /// Milliseconds from now.
    In(u64),
    /// A date and time in the local zone.
    Local(DateTime),
    ClockTime {
        day: DayOffset,
        hour: i8,
        minute: i8,
        zone: Option<String>,
    },
}

/// The day of a clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayOffset {
    /// Today, or tomorrow if the time has passed.
    Next,
    Tomorrow,
    /// The next such weekday; Monday is 1.
    Week(i8),
    /// Month and day.
    Date(i8, i8),
}

/// Seconds east of UTC for a named zone, or for the local one if it is `None`, at a moment in milliseconds of wall time.
pub type OffsetFn<'a> = dyn Fn(Option<&str>, u64) -> Option<i32> + 'a;

/// The time and location at which a run ended.
#[derive(Clone, Copy)]
pub struct LocalClock<'a> {
    /// Milliseconds of wall time.
    pub wall: u64,
    pub offset: &'a OffsetFn<'a>,
}

impl LocalClock<'static> {
    /// This time in a location with UTC clocks.
    pub fn utc(wall: u64) -> Self {
        Self { wall, offset: &|_, _| Some(0) }
    }
}

impl LimitReset {
    /// Milliseconds of wall time; `None` if that is past or absurdly far away.
    pub fn wall_time(&self, here: &LocalClock<'_>) -> Option<u64> {
        let time = match self {
            Self::At(at) => *at,
            Self::In(ms) => here.wall.checked_add(*ms)?,
            Self::Local(at) => resolve(here, None, *at)?,
            Self::ClockTime { day, hour, minute, zone } => {
                let zoned = local_time(here, zone.as_deref())?;
                let time = (*hour, *minute);
                let at = match day {
                    DayOffset::Date(month, day) => in_year(&zoned, (*month, *day), time)?,
                    DayOffset::Next => today_or_tomorrow(&zoned, time)?,
                    DayOffset::Tomorrow => zoned_on(&zoned, zoned.date().tomorrow().ok()?, time)?,
                    DayOffset::Week(weekday) => in_week(&zoned, *weekday, time)?,
                };
                resolve(here, zone.as_deref(), at.datetime())?
            }
        };
        let from = here.wall.saturating_sub(MAX_PASSED_MS);
        (from..=here.wall.saturating_add(MAX_RESET_DELAY_MS)).contains(&time).then_some(time)
    }
}

/// The current time in a zone.
fn local_time(here: &LocalClock<'_>, zone: Option<&str>) -> Option<Zoned> {
    let now = Timestamp::from_millisecond(i64::try_from(here.wall).ok()?).ok()?;
    Some(now.to_zoned(zone_at(here, zone, here.wall)?))
}

/// A zone with the offset that it has at a moment.
fn zone_at(here: &LocalClock<'_>, zone: Option<&str>, wall: u64) -> Option<TimeZone> {
    let offset = |it| (here.offset)(it, wall);
    let named =
        zone.and_then(|zone| zones::fixed_offset(zone).or_else(|| offset(Some(zones::location(zone)))));
    // A zone that is unknown here is the local one, as for most agents.
    let seconds = named.or_else(|| offset(None)).unwrap_or(0);
    Some(TimeZone::fixed(Offset::from_seconds(seconds).ok()?))
}

/// Milliseconds of wall time of a date and time in a zone, which may change to or from summer time until then.
fn resolve(here: &LocalClock<'_>, zone: Option<&str>, at: DateTime) -> Option<u64> {
    let wall_in = |zone: TimeZone| u64::try_from(at.to_zoned(zone).ok()?.timestamp().as_millisecond()).ok();
    let by_today = wall_in(zone_at(here, zone, here.wall)?)?;
    wall_in(zone_at(here, zone, by_today)?)
}

fn today_or_tomorrow(now: &Zoned, time: (i8, i8)) -> Option<Zoned> {
    let today = zoned_on(now, now.date(), time)?;
    let has_passed =
        today.timestamp().as_millisecond() + (TODAY_PASSED_MS as i64) < now.timestamp().as_millisecond();
    if has_passed { today.checked_add(Span::new().try_days(1).ok()?).ok() } else { Some(today) }
}

/// Today if the weekday matches and the time is still to come; otherwise the next such day.
fn in_week(now: &Zoned, weekday: i8, time: (i8, i8)) -> Option<Zoned> {
    let ahead = (weekday - now.weekday().to_monday_one_offset()).rem_euclid(7);
    let first = zoned_on(now, now.date().checked_add(i64::from(ahead).days()).ok()?, time)?;
    let has_passed =
        first.timestamp().as_millisecond() + (TODAY_PASSED_MS as i64) < now.timestamp().as_millisecond();
    if has_passed { first.checked_add(7.days()).ok() } else { Some(first) }
}

/// A date without its year: the next one.
fn in_year(now: &Zoned, (month, day): (i8, i8), time: (i8, i8)) -> Option<Zoned> {
    let this = zoned_on(now, Date::new(now.year(), month, day).ok()?, time)?;
    let has_passed = this.checked_add(1.day()).ok()? < *now;
    if has_passed { zoned_on(now, Date::new(now.year() + 1, month, day).ok()?, time) } else { Some(this) }
}

fn zoned_on(now: &Zoned, date: Date, (hour, minute): (i8, i8)) -> Option<Zoned> {
    let time = jiff::civil::Time::new(hour, minute, 0, 0).ok()?;
    date.to_datetime(time).to_zoned(now.time_zone().clone()).ok()
}

static EPOCH: ConstantPattern = ConstantPattern::new(
    r"(?i)(?:\||\bresets?(?:[\s_]?(?:at|after|on))?[\s:=\x22]{1,4})(?P<epoch>\d{10}(?:\d{3})?)\b",
);
static TIMESTAMP: ConstantPattern = ConstantPattern::new(
    r"\b(?P<stamp>(?:\d{4}[-/]\d\d[-/]\d\d|\d\d\.\d\d\.\d{4},?)[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?",
);
static CLOCK: ConstantPattern = ConstantPattern::new(
    r"(?ix)\b(?:resets?|reset\s+time\s+is|refresh(?:es|ed)?|renews?|lifted|try\s+again|retry|available(?:\s+again)?|until|back|wait)\b[\s:]*(?:at|on|after|until|by)?\s*
        (?:next\s+)?(?:(?P<week>Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun|today|tomorrow)(?:day)?,?\s+(?:at\s+)?)?
        (?:(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+\d{4})?,?\s+(?:at\s+)?)?
        (?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::\d\d)?\s*(?P<half>[ap]\.?m\b\.?)?\s*(?:\((?P<zone>[A-Za-z][\w/+-]{1,40})\)|(?P<short>(?:UTC|GMT)(?:\s?[+-]\d{1,2}(?::?\d\d)?)?|Z|[PMCE][SD]?T|CES?T|BST|IST|[JHK][SK]T|SGT|AE[SD]T|(?:Pacific|Mountain|Central|Eastern)\b)(?:\b|$))?",
);
static DURATION: ConstantPattern = ConstantPattern::new(
    r"(?ix)\b(?:in|after|wait|retry-after\s*[:=]|retry_after\s*[:=]|retry\s+after\s*[:=]?|retryDelay\W{1,4})\s*(?:about\s+|approximately\s+|another\s+)?
        (?P<span>\d+[dhm](?:\d+[hm])*\d+(?:\.\d+)?(?:ms|[smh])\b|(?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b[\s,]*(?:and\s+)?)+)",
);
static DATE: ConstantPattern = ConstantPattern::new(
    r"(?ix)\b(?:resets?|refresh(?:es|ed)?|renews?|try\s+again|available(?:\s+again)?|until|ends)\s+(?:at\s+|on\s+|after\s+)*
        (?:(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+|(?:\d{4}-)?(?P<number>\d{1,2})[/-])(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:(?:,?\s+|/)\d{4})?\b",
);
static TRANSLATED: [ConstantPattern; 2] = [
    ConstantPattern::new(
        r"(?ix)\b(?:novamente|de\snuevo|nuevamente|r[ée]essayez|erneut|versuche[n]?(?:\ssie)?\ses|redefinid[oa]|restablece(?:r[áa])?|zurückgesetzt|r[ée]initialis[ée]e?)
            (?:\s\p{L}{1,6}){0,3}\s(?P<hour>\d{1,2})(?:\s?(?:h|:)\s?)(?P<minute>\d\d)\b",
    ),
    ConstantPattern::new(r"(?x)(?P<hour>\d{1,2})[:：](?P<minute>\d\d)\s?(?:に|以降|에|后|後|重置|再试|重试)"),
];
static DURATION_PART: ConstantPattern =
    ConstantPattern::new(r"(?i)(?P<count>\d+(?:\.\d+)?)\s*(?P<unit>[a-z]+)");
/// The header has no unit.
static RETRY_HEADER: ConstantPattern =
    ConstantPattern::new(r"(?i)\bretry[-_ ]after[\x22']?\s*[:=]?\s*[\x22']?(?P<seconds>\d{1,7})\b");

/// An instant with its zone, in milliseconds of wall time.
pub(super) fn parse_instant(stamp: &str) -> Option<u64> {
    let at: Timestamp = stamp.parse().ok()?;
    u64::try_from(at.as_millisecond()).ok()
}

/// The date of an HTTP header, in milliseconds of wall time.
pub(super) fn parse_http_date(date: &str) -> Option<u64> {
    let at = rfc2822::parse(date.trim()).ok()?;
    u64::try_from(at.timestamp().as_millisecond()).ok()
}

/// The first announcement of a reset in a text.
pub(crate) fn reset_in(text: &str) -> Option<LimitReset> {
    let text = &*words_to_numbers(text);
    parse_epoch(text)
        .or_else(|| parse_timestamp(text))
        .or_else(|| parse_duration(text))
        .or_else(|| parse_clock_time(text))
        .or_else(|| parse_translated_time(text))
        .or_else(|| parse_date(text))
        .or_else(|| parse_retry_header(text))
}

/// Times in words as numbers: `at midnight`, `in an hour`.
fn words_to_numbers(text: &str) -> Cow<'_, str> {
    static WORD: ConstantPattern = ConstantPattern::new(
        r"(?i)\b(?:(?P<midnight>midnight)|(?P<noon>noon)|in\s+an?\s+(?P<unit>minute|hour|day))\b",
    );
    WORD.replace(text, |found: &Captures<'_>| match (found.name("midnight"), found.name("unit")) {
        (Some(_), _) => "12:00 AM".to_owned(),
        (None, Some(unit)) => format!("in 1 {}", unit.as_str()),
        (None, None) => "12:00 PM".to_owned(),
    })
}

fn parse_epoch(text: &str) -> Option<LimitReset> {
    let found = EPOCH.captures(text)?.name("epoch")?.as_str();
    let count: u64 = found.parse().ok()?;
    Some(LimitReset::At(if found.len() > 10 { count } else { count.checked_mul(1000)? }))
}

fn parse_timestamp(text: &str) -> Option<LimitReset> {
    // A timestamp at the beginning of a log line is the time of the message.
    let is_log_time = |found: &Captures<'_>| {
        let before = found.get(0).and_then(|it| text.get(..it.start())).unwrap_or_default();
        before.rsplit('\n').next().is_some_and(|it| it.trim_start().trim_start_matches('[').is_empty())
    };
    let found = TIMESTAMP.captures_iter(text).find(|it| !is_log_time(it))?;
    let stamp = iso_stamp(found.name("stamp")?.as_str())?;
    let zone = match found.name("zone").map(|it| it.as_str()) {
        // Agents name their local time.
        None => return stamp.parse().ok().map(LimitReset::Local),
        Some("UTC") => "Z",
        Some(zone) => zone,
    };
    parse_instant(&format!("{stamp}{zone}")).map(LimitReset::At)
}

/// `2026-11-21T15:00` for `2026/11/21 15:00` and for the German `21.11.2026 15:00`.
fn iso_stamp(stamp: &str) -> Option<String> {
    let (date, time) = stamp.split_once([' ', 'T'])?;
    let date = date.trim_end_matches(',').replace('/', "-");
    Some(match date.split('.').collect::<Vec<_>>().as_slice() {
        [day, month, year] => format!("{year}-{month}-{day}T{time}"),
        _ => format!("{date}T{time}"),
    })
}

fn parse_duration(text: &str) -> Option<LimitReset> {
    let found = DURATION.captures(text)?;
    let mut sum = 0.0;
    for part in DURATION_PART.captures_iter(found.name("span")?.as_str()) {
        let count: f64 = part.name("count")?.as_str().parse().ok()?;
        sum += count * unit_ms(&part.name("unit")?.as_str().to_ascii_lowercase())?;
    }
    Some(LimitReset::In(sum as u64))
}

fn unit_ms(unit: &str) -> Option<f64> {
    let seconds = match unit.get(..1)? {
        _ if unit == "ms" || unit.starts_with("milli") => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Some(seconds * 1000.0)
}

fn parse_retry_header(text: &str) -> Option<LimitReset> {
    let seconds: u64 = RETRY_HEADER.captures(text)?.name("seconds")?.as_str().parse().ok()?;
    Some(LimitReset::In(seconds * 1000))
}

/// A date without a time: its beginning.
fn parse_date(text: &str) -> Option<LimitReset> {
    let found = DATE.captures(text)?;
    let part = |name: &str| found.name(name).map(|it| it.as_str());
    let number = |name: &str| part(name)?.parse().ok();
    let month = part("month").map_or_else(|| number("number"), month_number)?;
    let day = DayOffset::Date(month, number("day")?);
    Some(LimitReset::ClockTime { day, hour: 0, minute: 0, zone: None })
}

/// A time of 24 hours after or before the words of another language.
fn parse_translated_time(text: &str) -> Option<LimitReset> {
    let found = TRANSLATED.iter().find_map(|it| it.captures(text))?;
    let number = |name: &str| found.name(name).map(|it| it.as_str().parse::<i8>());
    let (hour, minute) = (number("hour")?.ok()?, number("minute")?.ok()?);
    let is_time = hour < 24 && minute < 60;
    is_time.then_some(LimitReset::ClockTime { day: DayOffset::Next, hour, minute, zone: None })
}

fn parse_clock_time(text: &str) -> Option<LimitReset> {
    CLOCK.captures_iter(text).find_map(|found| clock_time(&found))
}

fn clock_time(found: &Captures<'_>) -> Option<LimitReset> {
    let part = |name: &str| found.name(name).map(|it| it.as_str());
    let hour: i8 = part("hour")?.parse().ok()?;
    let minute: i8 = part("minute").map_or(Ok(0), str::parse).ok()?;
    let hour = match part("half").map(|it| it.to_ascii_lowercase().starts_with('p')) {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(true) => hour % 12 + 12,
        Some(false) => hour % 12,
        // A bare number is not a time.
        None => part("minute").map(|_| hour)?,
    };
    if hour > 23 || minute > 59 {
        return None;
    }
    let day = match (part("month"), part("day"), part("week")) {
        (Some(month), Some(day), _) => DayOffset::Date(month_number(month)?, day.parse().ok()?),
        (.., Some(week)) => named_day(week),
        _ => DayOffset::Next,
    };
    let zone = part("zone").or_else(|| part("short")).map(str::to_owned);
    Some(LimitReset::ClockTime { day, hour, minute, zone })
}

fn named_day(name: &str) -> DayOffset {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let name = name.to_ascii_lowercase();
    let number = DAYS.iter().zip(1..).find(|(it, _)| name.starts_with(**it)).map(|(_, number)| number);
    match number {
        Some(number) => DayOffset::Week(number),
        None if name == "tomorrow" => DayOffset::Tomorrow,
        None => DayOffset::Next,
    }
}

fn month_number(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let name = name.to_ascii_lowercase();
    MONTHS.iter().zip(1..).find(|(it, _)| **it == name).map(|(_, number)| number)
}
