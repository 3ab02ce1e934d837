//! Parses durations, sizes and amounts in their usual notations, exactly: no rounding, no overflow.

use thiserror::Error;

use crate::tr;

/// Why a text is not a valid duration, size or amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UnitError {
    #[error("{}", tr!("it is empty"))]
    Empty,
    #[error("{}", tr!("it is not a number"))]
    NoNumber,
    #[error("{}", tr!("its unit is missing"))]
    NoUnit,
    #[error("{}", tr!("its unit is unknown"))]
    UnknownUnit,
    #[error("{}", tr!("its units are not in descending order"))]
    Order,
    #[error("{}", tr!("it is negative"))]
    Negative,
    #[error("{}", tr!("it is finer than a millionth of a dollar"))]
    TooFine,
    #[error("{}", tr!("it is too large"))]
    TooLarge,
}

/// Ten years: far beyond any loop, near enough that no sum of moments overflows.
const MAX_MS: u64 = 3650 * 24 * 60 * 60 * 1000;
/// One billion dollars.
const MAX_MICROS: u64 = 1_000_000_000 * 1_000_000;
const TIMES: [(&str, u64); 5] =
    [("d", 24 * 60 * 60 * 1000), ("h", 60 * 60 * 1000), ("m", 60 * 1000), ("s", 1000), ("ms", 1)];
const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// Parses `8h`, `1h30m`, `1h 30m`, `500ms` to milliseconds. Zero is a valid duration; callers decide whether to allow
/// it.
pub fn duration_ms(text: &str) -> Result<u64, UnitError> {
    let mut rest = non_negative(text)?;
    let mut total: u64 = 0;
    let mut smaller_than = u64::MAX;
    while !rest.is_empty() {
        let (number, after) = leading_number(rest)?;
        let unit_end = after.find(|it: char| it.is_ascii_digit()).unwrap_or(after.len());
        let (unit, tail) = after.split_at(unit_end);
        let factor = factor(&TIMES, unit.trim_matches(' '))?;
        if factor >= smaller_than {
            return Err(UnitError::Order);
        }
        smaller_than = factor;
        let part = number.checked_mul(factor).ok_or(UnitError::TooLarge)?;
        total = total.checked_add(part).filter(|sum| *sum <= MAX_MS).ok_or(UnitError::TooLarge)?;
        rest = tail;
    }
    Ok(total)
}

/// Parses `5GiB`, `500 MB` to bytes.
pub fn size_bytes(text: &str) -> Result<u64, UnitError> {
    let (number, unit) = leading_number(non_negative(text)?)?;
    let factor = factor(&SIZES, unit.trim_start())?;
    // A larger size would be indistinguishable from "unlimited", and JSON readers lose digits.
    number.checked_mul(factor).filter(|it| *it <= 1 << 52).ok_or(UnitError::TooLarge)
}

/// Parses `25`, `0.1`, `1e2` US dollars to millionths.
pub fn micro_dollars(text: &str) -> Result<u64, UnitError> {
    let text = non_negative(text)?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| UnitError::NoNumber)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err(UnitError::NoNumber);
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let digits_kept = digits.trim_end_matches('0');
    let dropped_zeros = digits.len() - digits_kept.len();
    let shift = i64::from(exponent) + 6 - fraction.len() as i64 + dropped_zeros as i64;
    if shift < 0 {
        return Err(UnitError::TooFine);
    }
    let value: u64 = digits_kept.parse().map_err(|_| UnitError::TooLarge)?;
    u32::try_from(shift)
        .ok()
        .and_then(|shift| 10_u64.checked_pow(shift))
        .and_then(|factor| value.checked_mul(factor))
        .filter(|micros| *micros <= MAX_MICROS)
        .ok_or(UnitError::TooLarge)
}

fn non_negative(text: &str) -> Result<&str, UnitError> {
    let text = text.trim();
    match text.strip_prefix('-') {
        _ if text.is_empty() => Err(UnitError::Empty),
        Some(_) => Err(UnitError::Negative),
        None => Ok(text.strip_prefix('+').unwrap_or(text)),
    }
}

fn leading_number(text: &str) -> Result<(u64, &str), UnitError> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Err(UnitError::NoNumber);
    }
    Ok((digits.parse().map_err(|_| UnitError::TooLarge)?, rest))
}

fn factor(units: &[(&str, u64)], unit: &str) -> Result<u64, UnitError> {
    if unit.is_empty() {
        return Err(UnitError::NoUnit);
    }
    units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor).ok_or(UnitError::UnknownUnit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{UnitError, duration_ms, micro_dollars, size_bytes};

    #[test]
    fn durations_are_exact() {
        let check =
            |text: &str, expect: Result<u64, UnitError>| assert_eq!(duration_ms(text), expect, "{text}");
        check("8h", Ok(28_800_000));
        check("1h30m", Ok(5_400_000));
        check("500ms", Ok(500));
        check("2d3h4m5s6ms", Ok(183_845_006));
        check("1m5ms", Ok(60_005));
        check(" 10s ", Ok(10_000));
        check("0s", Ok(0));
        check("3650d", Ok(315_360_000_000));
        check("3651d", Err(UnitError::TooLarge));
        check("99999999999999999999h", Err(UnitError::TooLarge));
        check("18446744073709551615d", Err(UnitError::TooLarge));
        check("30m1h", Err(UnitError::Order));
        check("1m1m", Err(UnitError::Order));
        check("", Err(UnitError::Empty));
        check("30", Err(UnitError::NoUnit));
        check("1h30", Err(UnitError::NoUnit));
        check("m", Err(UnitError::NoNumber));
        check("-5m", Err(UnitError::Negative));
        check("1.5h", Err(UnitError::UnknownUnit));
        check("5 m", Ok(300_000));
        check("1h 30m", Ok(5_400_000));
        check("5M", Err(UnitError::UnknownUnit));
        check("5µs", Err(UnitError::UnknownUnit));
    }

    #[test]
    fn sizes_are_exact() {
        let check =
            |text: &str, expect: Result<u64, UnitError>| assert_eq!(size_bytes(text), expect, "{text}");
        check("5GiB", Ok(5_368_709_120));
        check("500 MB", Ok(500_000_000));
        check("1B", Ok(1));
        check("4096TiB", Ok(1 << 52));
        check("4097TiB", Err(UnitError::TooLarge));
        check("5", Err(UnitError::NoUnit));
        check("5gib", Err(UnitError::UnknownUnit));
        check("1GiB1MiB", Err(UnitError::UnknownUnit));
        check("GiB", Err(UnitError::NoNumber));
        check("-1GiB", Err(UnitError::Negative));
    }

    #[test]
    fn amounts_are_exact() {
        let check =
            |text: &str, expect: Result<u64, UnitError>| assert_eq!(micro_dollars(text), expect, "{text}");
        check("25", Ok(25_000_000));
        check("0.1", Ok(100_000));
        check("12.345678", Ok(12_345_678));
        check("12.3456780000", Ok(12_345_678));
        check("1e2", Ok(100_000_000));
        check("1E-6", Ok(1));
        check("2.5e1", Ok(25_000_000));
        check("+3.0", Ok(3_000_000));
        check("0", Ok(0));
        check("0.0e9", Ok(0));
        check("10000000e-7", Ok(1_000_000));
        check("1000000000", Ok(1_000_000_000_000_000));
        check("1000000000.000001", Err(UnitError::TooLarge));
        check("1e400", Err(UnitError::TooLarge));
        check("1e99999999999", Err(UnitError::NoNumber));
        check("0.0000001", Err(UnitError::TooFine));
        check("1e-7", Err(UnitError::TooFine));
        check("-1", Err(UnitError::Negative));
        check("-inf", Err(UnitError::Negative));
        check("inf", Err(UnitError::NoNumber));
        check("nan", Err(UnitError::NoNumber));
        check("5 USD", Err(UnitError::NoNumber));
        check("5,0", Err(UnitError::NoNumber));
        check(".5", Err(UnitError::NoNumber));
        check("", Err(UnitError::Empty));
    }

    proptest! {
        #[test]
        fn any_amount_is_read_back_exactly(micros in 0_u64..=1_000_000_000_000_000) {
            let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
            prop_assert_eq!(micro_dollars(&text), Ok(micros));
        }

        #[test]
        fn any_text_is_a_value_or_an_error(text in any::<String>()) {
            let _ = (duration_ms(&text), size_bytes(&text), micro_dollars(&text));
        }
    }
}
