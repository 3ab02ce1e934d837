//! Reads the clocks for the core.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loopkeeper_text::moment::Moment;
use rustix::time::{ClockId, clock_gettime};

/// Now, on both clocks.
pub fn now() -> Moment {
    Moment { wall: read(ClockId::Realtime), awake: read(ClockId::Boottime) }
}

/// Current offset in seconds east of UTC, of the named zone or of this machine's zone.
pub fn utc_offset(zone: Option<&str>) -> Option<i32> {
    let zone = match zone {
        Some(name) => TimeZone::get(name).ok()?,
        None => TimeZone::system(),
    };
    Some(zone.to_offset(Timestamp::now()).seconds())
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// Identifies this boot; without `/proc` all boots have the same id.
pub fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
