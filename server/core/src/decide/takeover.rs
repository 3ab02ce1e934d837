//! Several agents for one loop: when the current agent cannot continue, the next in the list takes over, and an earlier
//! one returns as soon as it is available. Failures of an agent never count as a lack of progress.

use crate::journal::{Record, TakeoverReason};
use crate::loop_state::{AgentOutage, AgentSlot, LoopState};
use loopkeeper_agent::ProviderClass;
use loopkeeper_text::clauses::join_with_commas;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::spans::HOUR_MS;
use super::waits;

/// Why the current agent cannot continue.
struct TakeoverCause {
    reason: TakeoverReason,
    outage: AgentOutage,
}

/// The change of the agent, if another one works from here on.
pub(super) fn takeover_record(state: &LoopState, now: Moment) -> Option<Record> {
    if state.agents.roster.len() < 2 {
        return None;
    }
    match takeover_cause(state) {
        Some(cause) => {
            let error = state.last_iteration().and_then(|it| it.error.as_ref());
            hand_over(state, now, &cause, error.map(|it| it.message.clone()))
        }
        None => switch_back_record(state, now),
    }
}

/// Which agent replaces which, and why; `None` for the preferred agent.
pub fn describe_replacement(state: &LoopState) -> Option<String> {
    let own = &state.spec.agent.name;
    let before = state.agents.roster.iter().take_while(|it| it.plan.name != *own);
    let why: Vec<_> = before.filter_map(|it| Some((it.plan.name.as_str(), it.replaced_for?))).collect();
    (!why.is_empty()).then(|| sentence(own, &why))
}

/// The same, where one of the replaced agents waits for its user: it is not logged in, or has no credit left.
pub(super) fn logged_out(state: &LoopState) -> Option<String> {
    let needs_user =
        |it: &AgentSlot| matches!(it.replaced_for, Some(TakeoverReason::Login | TakeoverReason::Billing));
    let own = &state.spec.agent.name;
    let mut before = state.agents.roster.iter().take_while(|it| it.plan.name != *own);
    if before.any(needs_user) { describe_replacement(state) } else { None }
}

/// `codex takes over: claude is at its usage limit, gemini is not logged in`
fn sentence(at_work: &str, out: &[(&str, TakeoverReason)]) -> String {
    let why = |(name, reason): &(&str, TakeoverReason)| match reason {
        TakeoverReason::Quota => tr!("{name} is at its usage limit", name),
        TakeoverReason::Login => tr!("{name} is not logged in", name),
        TakeoverReason::Billing => tr!("{name} has no credit left", name),
        TakeoverReason::Failing | TakeoverReason::Back => tr!("{name} does not work", name),
    };
    let reasons = join_with_commas(out.iter().map(why));
    tr!("{agent} takes over: {reasons}", agent = at_work, reasons)
}

fn takeover_cause(state: &LoopState) -> Option<TakeoverCause> {
    let row = state.last_iteration().filter(|it| it.agent == state.spec.agent.name)?;
    let class = row.error.as_ref().map(|it| it.class);
    if class == Some(ProviderClass::Quota) {
        let until = row.ended_at.plus_ms(waits::quota_ms(state, row));
        return Some(TakeoverCause { reason: TakeoverReason::Quota, outage: AgentOutage::Until(until) });
    }
    waits::needs_user(state)?;
    match class {
        Some(ProviderClass::Login) => {
            Some(TakeoverCause { reason: TakeoverReason::Login, outage: AgentOutage::UntilUserActs })
        }
        Some(ProviderClass::Billing) => {
            Some(TakeoverCause { reason: TakeoverReason::Billing, outage: AgentOutage::UntilUserActs })
        }
        Some(
            ProviderClass::Quota
            | ProviderClass::Transient
            | ProviderClass::Crash
            | ProviderClass::Refused
            | ProviderClass::Unknown,
        )
        | None => {
            let until = row.ended_at.plus_ms(HOUR_MS);
            Some(TakeoverCause { reason: TakeoverReason::Failing, outage: AgentOutage::Until(until) })
        }
    }
}

/// Switches to the first available agent, or if none is, to the one whose usage limit ends first.
fn hand_over(
    state: &LoopState,
    now: Moment,
    cause: &TakeoverCause,
    message: Option<String>,
) -> Option<Record> {
    let others = || state.agents.roster.iter().filter(|it| it.plan.name != state.spec.agent.name);
    let free = others().find(|it| it.outage.is_over(now));
    let to = free.or_else(|| {
        let is_limited = cause.reason == TakeoverReason::Quota;
        // If only the user can make this one work again, waiting for another's usage limit helps; waiting for one that
        // failed does not.
        let candidates = others().filter(|it| is_limited || it.replaced_for == Some(TakeoverReason::Quota));
        let timed = candidates.filter_map(|it| Some((it.outage.until()?, it)));
        let (until, first) = timed.min_by_key(|(until, _)| until.awake)?;
        let own = cause.outage.until().filter(|_| is_limited);
        own.is_none_or(|own| until.awake < own.awake).then_some(first)
    })?;
    Some(Record::AgentChanged {
        from: state.spec.agent.name.clone(),
        to: to.plan.name.clone(),
        reason: cause.reason,
        until: cause.outage.until(),
        message,
    })
}

/// The change of the agent if another loop reached the usage limit of the one at work.
pub(super) fn at_shared_limit(state: &LoopState, now: Moment, until: Moment, met_by: &str) -> Option<Record> {
    let cause = TakeoverCause { reason: TakeoverReason::Quota, outage: AgentOutage::Until(until) };
    hand_over(state, now, &cause, Some(tr!("reached by loop {id}", id = met_by)))
}

fn switch_back_record(state: &LoopState, now: Moment) -> Option<Record> {
    let mut before = state.agents.roster.iter().take_while(|it| it.plan.name != state.spec.agent.name);
    let to = before.find(|it| it.outage.is_over(now))?;
    Some(Record::AgentChanged {
        from: state.spec.agent.name.clone(),
        to: to.plan.name.clone(),
        reason: TakeoverReason::Back,
        until: None,
        message: None,
    })
}

/// Applies a change of the agent: counters of one agent do not apply to the other.
pub(super) fn apply_takeover(state: &mut LoopState, to: &str, reason: TakeoverReason, until: Option<Moment>) {
    let Some(plan) = state.agents.roster.iter().find(|it| it.plan.name == to).map(|it| it.plan.clone())
    else {
        return;
    };
    let from = std::mem::replace(&mut state.spec.agent, plan).name;
    if reason != TakeoverReason::Back
        && let Some(previous) = state.agents.roster.iter_mut().find(|it| it.plan.name == from)
    {
        previous.outage = until.map_or(AgentOutage::UntilUserActs, AgentOutage::Until);
        previous.replaced_for = Some(reason);
        previous.stalls = if reason == TakeoverReason::Quota { state.streaks.stalls } else { 0 };
    }
    state.streaks.clear_agent_failures();
    // The waits for a limit that stays reached grow, whichever agents work in between.
    let next = state.agents.roster.iter().find(|it| it.plan.name == to);
    state.streaks.stalls = next.map_or(0, |it| it.stalls);
    if let Some(wait) = state.phase.wait_mut() {
        *wait = None;
    }
    state.session.current = None;
}

/// The user resumed the loop: agents that waited for the user are available again.
pub(super) fn clear_unavailability(state: &mut LoopState) {
    for agent in &mut state.agents.roster {
        agent.stalls = 0;
        if agent.outage == AgentOutage::UntilUserActs {
            agent.outage = AgentOutage::None;
        }
    }
}
