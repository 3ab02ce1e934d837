//! Formats times in the reader's own time zone.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use loopkeeper_system::clock;
use loopkeeper_text::tr;

/// The reader's zone, looked up once.
#[derive(Debug, Clone)]
pub struct LocalZone(TimeZone);

impl LocalZone {
    /// UTC if the system names no zone.
    pub fn local() -> Self {
        Self(clock::local_zone())
    }

    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Wall time in milliseconds of an RFC 3339 text.
    pub fn parse_millis(text: &str) -> Option<u64> {
        u64::try_from(text.parse::<Timestamp>().ok()?.as_millisecond()).ok()
    }

    /// Wall time in milliseconds of the beginning of a day such as `2026-11-20`.
    pub fn start_of_day(&self, day: &str) -> Option<u64> {
        let start = day.parse::<Date>().ok()?.to_zoned(self.0.clone()).ok()?;
        u64::try_from(start.timestamp().as_millisecond()).ok()
    }

    /// Formatted as `14:03:22`.
    pub fn clock(&self, wall_ms: u64) -> String {
        self.to_zoned(wall_ms).strftime("%H:%M:%S").to_string()
    }

    /// Formatted as `14:03`, or `Nov 21 14:03` on another day than `now`.
    pub fn short(&self, wall_ms: u64, now_ms: u64) -> String {
        let format = if self.day(wall_ms) == self.day(now_ms) { "%H:%M" } else { tr!("%b %-d %H:%M") };
        self.to_zoned(wall_ms).strftime(format).to_string()
    }

    /// Formatted as `2026-11-20`.
    pub fn day(&self, wall_ms: u64) -> String {
        self.to_zoned(wall_ms).strftime("%Y-%m-%d").to_string()
    }

    fn to_zoned(&self, wall_ms: u64) -> jiff::Zoned {
        let time = Timestamp::from_millisecond(wall_ms as i64).unwrap_or(Timestamp::UNIX_EPOCH);
        time.to_zoned(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use loopkeeper_text::language::Language;

    use super::LocalZone;

    #[test]
    fn a_day_begins_at_midnight() {
        let zone = LocalZone::utc();
        assert_eq!(zone.start_of_day("2026-11-20"), Some(1_795_132_800_000));
        for text in ["", "yesterday", "2026-13-01", "1960-01-01", "20 Nov"] {
            assert_eq!(zone.start_of_day(text), None, "{text}");
        }
    }

    #[test]
    fn another_day_is_named() {
        let zone = LocalZone::utc();
        let noon = 1_795_176_000_000;
        assert_eq!(zone.clock(noon), "12:00:00");
        assert_eq!(zone.day(noon), "2026-11-20");
        assert_eq!(zone.short(noon, noon + 3_600_000), "12:00");
        let another_day = || zone.short(noon, noon + 86_400_000);
        assert_eq!(another_day(), "Nov 20 12:00");
        assert_eq!(Language::SimplifiedChinese.during(another_day), "11 月 20 日 12:00");
    }
}
