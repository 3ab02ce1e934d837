//! Reads names of time zones in messages of providers.

/// Seconds east of UTC of a zone that is named by its distance: `UTC`, `GMT+9`, `UTC-03:30`.
pub(super) fn fixed_offset(zone: &str) -> Option<i32> {
    let zone = zone.to_ascii_uppercase();
    if zone == "Z" {
        return Some(0);
    }
    let distance = zone.strip_prefix("UTC").or_else(|| zone.strip_prefix("GMT"))?.trim();
    if distance.is_empty() {
        return Some(0);
    }
    let sign = if distance.starts_with('-') { -1 } else { 1 };
    let distance = distance.strip_prefix(['+', '-'])?.replace(':', "");
    let (hours, minutes) = match distance.len() {
        0..=2 => (distance.as_str(), "0"),
        len => distance.split_at_checked(len - 2)?,
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// The place in whose time the abbreviation is, so that it follows summer time; other names are places.
pub(super) fn location(zone: &str) -> &str {
    match zone.to_ascii_uppercase().as_str() {
        "PT" | "PST" | "PDT" | "PACIFIC" => "America/Los_Angeles",
        "MT" | "MST" | "MDT" | "MOUNTAIN" => "America/Denver",
        "CT" | "CST" | "CDT" | "CENTRAL" => "America/Chicago",
        "ET" | "EST" | "EDT" | "EASTERN" => "America/New_York",
        "CET" | "CEST" => "Europe/Berlin",
        "BST" => "Europe/London",
        "IST" => "Asia/Kolkata",
        "JST" => "Asia/Tokyo",
        "KST" => "Asia/Seoul",
        "HKT" => "Asia/Hong_Kong",
        "SGT" => "Asia/Singapore",
        "AEST" | "AEDT" => "Australia/Sydney",
        _ => zone,
    }
}

#[cfg(test)]
mod tests {
    use super::{fixed_offset, location};

    #[test]
    fn zones_are_named_by_distance_or_place() {
        for (zone, expect) in [
            ("UTC", Some(0)),
            ("gmt", Some(0)),
            ("Z", Some(0)),
            ("UTC+8", Some(8 * 3600)),
            ("GMT +9", Some(9 * 3600)),
            ("UTC-03:30", Some(-12_600)),
            ("GMT+0530", Some(19_800)),
            ("UTC+25", None),
            ("UTC8", None),
            ("UTC+é9", None),
            ("Europe/Berlin", None),
        ] {
            assert_eq!(fixed_offset(zone), expect, "{zone}");
        }
        assert_eq!((location("pst"), location("Asia/Tokyo")), ("America/Los_Angeles", "Asia/Tokyo"));
    }
}
