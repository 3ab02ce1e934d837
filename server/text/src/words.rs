//! Formats numbers for display, identically in the terminal, in journal messages and in editors.

use jiff::Timestamp;

use crate::language::{self, Language};
use crate::tr;

/// Capitalises the first letter, as at the start of a sentence.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// RFC 3339 with milliseconds, UTC.
pub fn rfc3339(wall_ms: u64) -> String {
    let time = Timestamp::from_millisecond(wall_ms as i64).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// `40 ms`, `4.2 s`, `12 s`, `3 min 5 s`, `2 h 5 min`, `3 d 4 h`.
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match (seconds, seconds % 60, minutes % 60, hours % 24) {
        (0, ..) => tr!("{ms} ms", ms),
        (1..10, ..) => tr!("{seconds}.{tenths} s", seconds, tenths = ms % 1000 / 100),
        (10..60, ..) => tr!("{seconds} s", seconds),
        (60..3600, 0, ..) => tr!("{minutes} min", minutes),
        (60..3600, rest, ..) => tr!("{minutes} min {rest} s", minutes, rest),
        (3600..86400, _, 0, _) => tr!("{hours} h", hours),
        (3600..86400, _, rest, _) => tr!("{hours} h {rest} min", hours, rest),
        (.., 0) => tr!("{days} d", days),
        (.., rest) => tr!("{days} d {rest} h", days, rest),
    }
}

/// `3:05`, `1:02:05`: a clock of stable width.
pub fn elapsed(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

const MILLION_DOLLARS: u64 = 1_000_000_000_000;

/// `$1.24`, below a cent `$0.0031`. Above a million it is the invention of an agent, whose digits say nothing.
pub fn cost(micros: u64) -> String {
    if micros > MILLION_DOLLARS {
        return tr!("over $1000000").to_owned();
    }
    let cents = micros.saturating_add(5_000) / 10_000;
    if micros > 0 && micros < 10_000 {
        return format!("$0.{:04}", (micros / 100).max(1));
    }
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// `9500`, `12 k`, `5.2 M`: rounded down.
pub fn amount(count: u64) -> String {
    let tenths = |unit: u64, name: &str| match (count / unit, count % unit * 10 / unit) {
        (whole, tenth) if whole < 10 && tenth > 0 => format!("{whole}.{tenth} {name}"),
        (whole, _) => format!("{whole} {name}"),
    };
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => tenths(1_000, "k"),
        _ => tenths(1_000_000, "M"),
    }
}

/// `1 file`, `3 files`; the template of its translation is `{count} file`.
pub fn counted(count: u64, thing: &str) -> String {
    if Language::current() != Language::English
        && let Some(template) = language::translation(&format!("{{count}} {thing}"))
    {
        return language::fill(template, &[("count", &count)]);
    }
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// `4.2 KiB`, `17 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut units = UNITS.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    for next in units {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if count < 1024 || value >= 10.0 { format!("{value:.0} {unit}") } else { format!("{value:.1} {unit}") }
}

/// The width of a character in terminal cells: two in the East Asian and emoji blocks, zero for marks that combine with
/// the preceding character.
pub fn cells(char: char) -> usize {
    match u32::from(char) {
        0x0300..=0x036F | 0x200B..=0x200F | 0x20D0..=0x20FF | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F | 0x2E80..=0x303E | 0x3041..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF => 2,
        0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// The width of a text in terminal cells.
pub fn width(text: &str) -> usize {
    text.chars().map(cells).sum()
}

#[cfg(test)]
mod tests {
    use super::{amount, bytes, cost, counted, duration, elapsed, rfc3339};

    #[test]
    fn durations_read_naturally() {
        let check = |ms, expect: &str| assert_eq!(duration(ms), expect);
        check(0, "0 ms");
        check(440, "440 ms");
        check(1_050, "1.0 s");
        check(9_999, "9.9 s");
        check(12_999, "12 s");
        check(60_000, "1 min");
        check(185_000, "3 min 5 s");
        check(7_200_000, "2 h");
        check(7_500_000, "2 h 5 min");
        check(100 * 3_600_000, "4 d 4 h");
        assert_eq!(elapsed(185_999), "3:05");
        assert_eq!(elapsed(3_725_000), "1:02:05");
    }

    #[test]
    fn costs_are_dollars() {
        let check = |micros, expect: &str| assert_eq!(cost(micros), expect);
        check(0, "$0.00");
        check(40, "$0.0001");
        check(3_100, "$0.0031");
        check(10_000, "$0.01");
        check(1_239_999, "$1.24");
        check(25_000_000, "$25.00");
        check(1_000_000_000_000, "$1000000.00");
        check(u64::MAX, "over $1000000");
    }

    #[test]
    fn counts_times_and_sizes() {
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(0, "file"), "0 files");
        let check = |count, expect: &str| assert_eq!(amount(count), expect);
        check(0, "0");
        check(9_999, "9999");
        check(12_999, "12 k");
        check(4_999_999, "4.9 M");
        check(5_000_000, "5 M");
        check(52_000_000, "52 M");
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(4300), "4.2 KiB");
        assert_eq!(bytes(17 << 20), "17 MiB");
        assert_eq!(bytes(u64::MAX), "16777216 TiB");
        assert_eq!(rfc3339(1_795_183_200_123), "2026-11-20T14:00:00.123Z");
    }
}
