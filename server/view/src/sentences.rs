//! Sentences shared by several views.

use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::{LoopState, mutants};
use loopkeeper_core::journal::{GuardedOrder, OrderSource, TakeoverReason};
use loopkeeper_core::settings::LoopEvent;
use loopkeeper_text::sanitize;
use loopkeeper_text::words::counted;

/// A permission request of the agent, from the text of its question.
pub fn wanted(text: &str) -> String {
    format!("the agent wants to {text}")
}

/// The remark about other work trees of the same repository below the root; `None` without any.
pub fn other_work_trees(paths: &[String]) -> Option<String> {
    const MAX: usize = 5;
    let shown = paths.iter().take(MAX).map(|it| sanitize::line(it)).collect::<Vec<_>>().join(", ");
    match paths.len() {
        0 => None,
        1 => Some(format!("another work tree of this repository is not part of this one: {shown}")),
        count => {
            let more = count.saturating_sub(MAX);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            Some(format!(
                "{count} other work trees of this repository are not part of this one: {shown}{more}"
            ))
        }
    }
}

/// Shown instead of a cost that is not reported.
pub fn no_cost(mode: LoopMode) -> &'static str {
    match mode {
        LoopMode::Loop | LoopMode::Hook => "cost unknown: the agent reports none",
        LoopMode::Attach => "cost unknown: Claude does not report it in an interactive session",
    }
}

/// A failed command of `[on]`.
pub fn hook_failed(event: LoopEvent, why: &str) -> String {
    format!("the command of `on.{}` {}", event.key(), sanitize::line(why))
}

/// A refused order that did not come from the user: `the agent tried to accept its own change`.
pub fn order_refused(order: GuardedOrder, by: OrderSource) -> String {
    let sender = match by {
        OrderSource::Agent => "the agent",
        OrderSource::Job => "a command of this loop",
        OrderSource::OtherLoop => "a process of another loop",
        OrderSource::Unknown => "an unidentified process",
    };
    let is_agent = by == OrderSource::Agent;
    let own = if is_agent { "its own" } else { "this" };
    let what = match order {
        GuardedOrder::Accept if is_agent => "accept its own change".to_owned(),
        GuardedOrder::Accept => "accept the agent's change".to_owned(),
        GuardedOrder::Skip => "skip an item of the plan".to_owned(),
        GuardedOrder::Prioritize => "reorder the plan".to_owned(),
        GuardedOrder::Trust => "trust commands".to_owned(),
        GuardedOrder::Answer => "answer in your place".to_owned(),
        GuardedOrder::Steer => format!("steer {own} loop"),
        GuardedOrder::Reset => format!("reset {own} loop"),
        GuardedOrder::Resume => format!("resume {own} loop"),
        GuardedOrder::Stop => format!("stop {own} loop"),
        GuardedOrder::Pause => format!("pause {own} loop"),
        GuardedOrder::Saved => "report an edit of the task as yours".to_owned(),
        GuardedOrder::Rollback => "roll back files".to_owned(),
        GuardedOrder::Gc => "remove ended loops".to_owned(),
        GuardedOrder::Feedback => "give the user's feedback".to_owned(),
        GuardedOrder::Other => "give an order that only you may give".to_owned(),
    };
    format!("{sender} tried to {what}")
}

/// The actions denied to an agent: `` `Bash: git push`, `Write: /etc/x` and 3 more ``; `None`: none. `what` lists each
/// action once, `count` counts all denials.
pub fn denied(what: &[String], count: u32) -> Option<String> {
    /// Short enough for one line.
    const SHOWN: usize = 3;
    if count == 0 {
        return None;
    }
    let named = what.iter().take(SHOWN).map(|it| format!("`{}`", sanitize::line(it))).collect::<Vec<_>>();
    Some(match (named.as_slice(), what.len().saturating_sub(SHOWN)) {
        ([], _) => counted(u64::from(count), "tool call"),
        (named, 0) => named.join(", "),
        (named, more) => format!("{} and {more} more", named.join(", ")),
    })
}

/// The agent that takes over, and why: `codex takes over from claude until 14:12: its usage limit is reached`. `until`:
/// when the previous agent can be used again.
pub fn takeover(
    (from, to): (&str, &str),
    reason: TakeoverReason,
    until: Option<&str>,
    message: Option<&str>,
) -> String {
    let why = match reason {
        TakeoverReason::Back => return format!("{to} works again, {from} stands back"),
        TakeoverReason::Quota => "its usage limit is reached",
        TakeoverReason::Login => "it is not logged in",
        TakeoverReason::Billing => "its account has no credit left",
        TakeoverReason::Failing => "it does not work",
    };
    let until = until.map(|it| format!(" until {it}")).unwrap_or_default();
    let detail = message.map(|it| format!(" ({})", sanitize::line(it))).unwrap_or_default();
    format!("{to} takes over from {from}{until}: {why}{detail}")
}

/// `no check notices 2 of 14 mutants: calc.py:3, calc.py:9`
pub fn unnoticed(state: &LoopState) -> Option<String> {
    Some(sanitize::line(&mutants::current(state)?.describe_survivors()?))
}

/// `nothing refers to 2 added files: src/auth_old.py, src/auth2.py`
pub fn strays(state: &LoopState) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let all = state.strays();
    let named: Vec<String> = all.iter().take(MAX_NAMED).map(|it| sanitize::line(it)).collect();
    let rest = if all.len() > MAX_NAMED { " …" } else { "" };
    let count = counted(all.len() as u64, "added file");
    (!all.is_empty()).then(|| format!("nothing refers to {count}: {}{rest}", named.join(", ")))
}

/// `no mutant makes 2 added tests fail: tests/test_calc.py:7 test_runs, …`
pub fn hollow_tests(state: &LoopState) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let all = &mutants::current(state).filter(|it| !it.hollow.is_empty())?.hollow;
    let named = all.iter().take(MAX_NAMED);
    let named: Vec<_> =
        named.map(|it| sanitize::line(&format!("{}:{} {}", it.path, it.line, it.name))).collect();
    let rest = if all.len() > MAX_NAMED { " …" } else { "" };
    let count = counted(all.len() as u64, "added test");
    Some(format!("no mutant makes {count} fail: {}{rest}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::denied;

    #[test]
    fn denied_paths_fit_one_line() {
        let check = |what: &[&str], count: u32, expect: Option<&str>| {
            let what: Vec<String> = what.iter().map(ToString::to_string).collect();
            assert_eq!(denied(&what, count).as_deref(), expect, "{what:?}");
        };
        check(&[], 0, None);
        check(&[], 1, Some("1 tool call"));
        check(&["Bash: git push"], 4, Some("`Bash: git push`"));
        check(&["a", "b", "c", "d", "e"], 9, Some("`a`, `b`, `c` and 2 more"));
    }
}
