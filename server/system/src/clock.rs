//! Reads the clocks for the core.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loopkeeper_text::moment::Moment;
use rustix::time::{ClockId, clock_gettime};

use crate::regular_file;

/// Now, on both clocks.
pub fn now() -> Moment {
    Moment { wall: read(ClockId::Realtime), awake: read(ClockId::Boottime) }
}

/// Current offset in seconds east of UTC, of the named zone or of this machine's zone.
pub fn utc_offset(zone: Option<&str>, wall: u64) -> Option<i32> {
    let zone = match zone {
        Some(name) => TimeZone::get(name).ok()?,
        None => local_zone(),
    };
    let at = Timestamp::from_millisecond(i64::try_from(wall).ok()?).ok()?;
    Some(zone.to_offset(at).seconds())
}

/// The zone of `TZ`, else of this machine; UTC if there is none.
pub fn local_zone() -> TimeZone {
    let zone = match std::env::var_os("TZ") {
        Some(value) => zone_of(&value),
        None => TimeZone::try_system().ok(),
    };
    zone.unwrap_or(TimeZone::UTC)
}

/// Not by `jiff` itself: it takes an unknown name for a path, which may lead to a named pipe of the workspace.
fn zone_of(value: &OsStr) -> Option<TimeZone> {
    let value = value.to_str()?;
    let name = value.strip_prefix(':').unwrap_or(value);
    if Path::new(name).is_absolute() {
        return TimeZone::tzif("Local", &regular_file::read_linked(Path::new(name))?).ok();
    }
    TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok()
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// Identifies this boot; without `/proc` all boots have the same id.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use jiff::Timestamp;
    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::zone_of;

    #[test]
    fn a_zone_is_a_name_a_rule_or_a_regular_file() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::RUSR).unwrap();
        let at = Timestamp::UNIX_EPOCH;
        let check = |value: &[u8], expect: Option<i32>| {
            let zone = zone_of(OsStr::from_bytes(value));
            assert_eq!(zone.map(|it| it.to_offset(at).seconds()), expect, "{}", value.escape_ascii());
        };
        check(b"Asia/Tokyo", Some(32_400));
        check(b":Asia/Tokyo", Some(32_400));
        check(b"UTC-9", Some(32_400));
        check(b":/dev/zero", None);
        check(b"/nonexistent/zone", None);
        check(b"Cargo.toml", None);
        check(b"../Cargo.toml", None);
        check(b"", None);
        check(b"\xff", None);
        check(pipe.as_os_str().as_bytes(), None);
        let file = folder.path().join("zone");
        let zone = std::fs::read("/usr/share/zoneinfo/Asia/Tokyo");
        if let Ok(zone) = &zone {
            std::fs::write(&file, zone).unwrap();
        }
        check(file.as_os_str().as_bytes(), zone.is_ok().then_some(32_400));
    }
}
