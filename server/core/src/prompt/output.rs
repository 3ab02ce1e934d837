//! Formats the output of a failing check within a number of bytes: the locations of its failures, then its output.

use std::fmt::Write as _;

use crate::check::{CheckResult, HEAD_BYTES, TAIL_BYTES};

use super::markdown::fenced_block;

const MAX_PLACES: usize = 20;
const PLACES_BYTES: usize = 4 * 1024;
/// Bytes that the places of failures may take before they are limited to a quarter of the output.
const MIN_PLACES_BYTES: usize = 1024;
/// All that is kept with a result, and the lines that say what is left out.
pub(super) const BYTES: usize = PLACES_BYTES + HEAD_BYTES + TAIL_BYTES + 256;

pub(super) fn write_output(out: &mut String, result: &CheckResult, bytes: usize) {
    let places =
        result.failure_lines(MAX_PLACES, PLACES_BYTES.min(bytes / 4).max(bytes.min(MIN_PLACES_BYTES)));
    let places = places.join("\n");
    if !places.is_empty() {
        let _ = write!(out, "Where it fails:\n\n{}\n", fenced_block(&places));
    }
    let shown = result.output_within(bytes.saturating_sub(places.len()));
    if !shown.trim().is_empty() {
        let _ = write!(out, "Its output:\n\n{}", fenced_block(&shown));
    }
}
