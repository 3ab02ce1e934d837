//! Renders the mutants that the checks noticed or missed.

use loopkeeper_core::journal::Record;
use loopkeeper_core::loop_state::MutantRun;
use loopkeeper_text::{sanitize, tr};

/// Survivors on one line.
const MAX_NAMED: usize = 5;

/// `mutants: 12 of 14 noticed; calc.py:3: no check notices that …`; `None` where there was nothing to try.
pub(super) fn describe_record(record: &Record) -> Option<String> {
    let run = MutantRun::of_record(record)?;
    if run.tried == 0 && run.skipped.is_none() {
        return None;
    }
    let named = run.survivors.iter().take(MAX_NAMED).map(|it| tr!("; {text}", text = it.sentence()));
    let more = run.survivors.len().saturating_sub(MAX_NAMED);
    let more = if more == 0 { String::new() } else { tr!("; and {more} more", more) };
    let hollow = run.hollow.iter().take(MAX_NAMED).map(|it| tr!("; {text}", text = it.sentence()));
    let named: String = named.collect();
    Some(sanitize::line(&tr!(
        "mutants: {summary}{named}{more}{hollow}",
        summary = run.summary(),
        named,
        more,
        hollow = hollow.collect::<String>()
    )))
}
