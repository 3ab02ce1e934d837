//! Renders the live block of a running loop: activity, progress, cost so far. Five lines at most.

use std::fmt::Write as _;

use loopkeeper_text::clauses;
use loopkeeper_text::{tr, words};
use loopkeeper_view::{DisplayState, LoopStatus, headline};

use super::{BOLD, DIM, Glyphs, WARNING, remedy};
use loopkeeper_operations::local_time::LocalZone;

/// The block for `status` at `now_ms`, milliseconds of wall time.
pub(crate) fn block(status: &LoopStatus, now_ms: u64, zone: &LocalZone, glyphs: Glyphs) -> Vec<String> {
    let dot = if glyphs == Glyphs::Unicode { " · " } else { " - " };
    let style = if status.state == DisplayState::Working && !status.is_cooling() { BOLD } else { WARNING };
    let mut first = format!("{style}{}{style:#}", headline(status));
    if let Some(until) = status.wait.as_ref().and_then(|it| LocalZone::parse_millis(&it.resumes_at)) {
        let left = words::elapsed(until.saturating_sub(now_ms));
        let _ = write!(
            first,
            "{}",
            tr!(", {until}, {left} more", until = self::until(status, &zone.short(until, now_ms)), left)
        );
    }
    let elapsed_ms = LocalZone::parse_millis(&status.started_at).map_or(0, |it| now_ms.saturating_sub(it));
    let mut facts = vec![agent(status), words::elapsed(elapsed_ms)];
    if let Some(tokens) = status.spent.tokens {
        facts.push(tr!("{tokens} tokens", tokens = words::amount(tokens)));
    }
    facts.extend(no_cost(status));
    facts.extend(status.spawns.summary());
    facts.push(status.id.clone());
    let mut lines = vec![first, format!("  {DIM}{}{DIM:#}", facts.join(dot))];
    lines.extend(budget(status).map(|it| format!("  {DIM}{it}{DIM:#}")));
    lines.extend(remedy::remedy_lines(status).into_iter().map(|it| format!("  {it}")));
    lines.extend(status.activity.as_ref().map(|it| format!("  {it}")));
    lines
}

/// The text before the time that a wait ends at.
pub(crate) fn until(status: &LoopStatus, time: &str) -> String {
    if status.is_cooling() { tr!("next try at {time}", time) } else { tr!("until {time}", time) }
}

/// The agent that works on it.
pub(crate) fn agent(status: &LoopStatus) -> String {
    if is_own(status) {
        tr!("{agent} in your own session", agent = status.agent)
    } else {
        status.agent.clone()
    }
}

/// The text in place of a cost that the agent does not report.
pub(crate) fn no_cost(status: &LoopStatus) -> Option<String> {
    (is_own(status) && status.spent.cost_micros.is_none()).then(|| tr!("cost unknown").to_owned())
}

fn is_own(status: &LoopStatus) -> bool {
    status.session.as_ref().is_some_and(|it| it.own)
}

/// One line: limits that are almost used up and other warnings, else the forecast.
fn budget(status: &LoopStatus) -> Option<String> {
    match status.warnings.as_slice() {
        [] => status.forecast.clone(),
        warnings => {
            Some(tr!("note: {warnings}", warnings = clauses::join_with_commas(warnings.iter().cloned())))
        }
    }
}
