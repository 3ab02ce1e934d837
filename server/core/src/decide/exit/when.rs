//! `exit.when`: the user's own end condition. It decides when the loop ends, never what counts as verified: a loop that
//! it ends while a required check fails is stopped, not completed.

use crate::exit_condition::{
    ClaimThresholds, CriterionFact, ExitFacts, Expression, ExpressionVerdict, depends_on_checks, evaluate,
    parse,
};
use crate::journal::Outcome;
use crate::loop_state::{Iteration, LoopState};
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;

use super::super::spans::iterations;
use super::{
    after_iterations, claimed_outcome, claimed_sentence, groups, open_item_names, passes, split_by_check,
    stopped_outcome, unverified_sentence, verified_outcome, verified_sentence,
};

/// The condition, if one is configured.
pub(super) fn exit_condition(state: &LoopState) -> Option<Expression> {
    state.spec.settings.exit.when.as_deref().and_then(|it| parse(it).ok())
}

pub(super) fn evaluate_condition(state: &LoopState, condition: &Expression, now: Moment) -> Option<Outcome> {
    if state.last_iteration().is_none() && (state.spec.anyway || !depends_on_checks(condition)) {
        // Before any work, only checks can show that there is nothing to do.
        return None;
    }
    let verdict = evaluate(condition, &facts(state, condition, now));
    verdict.holds.then(|| outcome(state, &verdict))
}

fn outcome(state: &LoopState, verdict: &ExpressionVerdict) -> Outcome {
    let because = &verdict.because;
    let (checked, unchecked) = split_by_check(state);
    let failing = checked.iter().filter(|it| !passes(state, it)).count();
    let at_end = |fact: &str| match state.iteration {
        0 => tr!("{fact} before the first iteration", fact),
        n => after_iterations(fact, &iterations(n)),
    };
    if !groups::all_groups_hold(state, &checked) {
        let total = checked.len();
        let fact = tr!("{because}, {failing} of {total} required checks fail", because, failing, total);
        return stopped_outcome(tr!("ended by exit.when, not completed: {fact}", fact = at_end(&fact)));
    }
    if checked.is_empty() || !unchecked.is_empty() {
        // Next to passing checks, any claim of the agent covers the criteria without one.
        let is_claimed = !checked.is_empty() && state.last_iteration().is_some_and(|it| it.claim.is_some());
        if !verdict.is_claim && !is_claimed {
            return stopped_outcome(tr!(
                "ended by exit.when, not completed: {fact}, and no claim to be done",
                fact = at_end(because)
            ));
        }
        return claimed_outcome(claimed_sentence(&at_end(because)));
    }
    if failing > 0 {
        let fact = tr!("{because}, most of every group", because);
        return claimed_outcome(unverified_sentence(&at_end(&fact)));
    }
    verified_outcome(verified_sentence(&at_end(because)))
}

fn facts<'a>(state: &'a LoopState, condition: &'a Expression, now: Moment) -> ExitFacts<'a> {
    let exit = &state.spec.settings.exit;
    let (checked, _) = split_by_check(state);
    let last = state.last_iteration();
    let claims = last.map(|it| &it.claims);
    let criterion = state.criteria.pinned.iter().map(|it| CriterionFact {
        id: &it.criterion.id.0,
        prose: &it.criterion.name,
        holds: passes(state, it),
    });
    let groups = groups::tallies(state, &checked).into_iter();
    ExitFacts {
        criteria: !checked.is_empty() && groups::all_groups_hold(state, &checked),
        plan: open_item_names(state).is_empty(),
        plan_items: state.plan.len(),
        promise: claims.is_some_and(|it| it.promise),
        exit_signal: claims.and_then(|it| it.exit_signal),
        indicators: claims.map_or(0, |it| it.indicator_count() as u32),
        done_signals: state.streaks.claims,
        thresholds: ClaimThresholds {
            indicators: exit.completion_indicators,
            done_signals: exit.done_signals,
        },
        iterations: state.iteration,
        duration_ms: state.elapsed_ms(now),
        idle_ms: state.time.idle_ms(state.elapsed_ms(now)),
        cost_micros: state.spent.cost_micros,
        tokens: state.spent.tokens,
        criterion: criterion.collect(),
        groups: groups.map(|(name, tally)| (name, tally.holds(exit.groups))).collect(),
        last_message: last.map(|it| it.final_text.as_str()),
        tools: last.filter(|it| !it.tools.is_empty()).map(tools),
        files: condition.globs().into_iter().map(|it| (it, matches_glob(last, it))).collect(),
    }
}

fn tools(row: &Iteration) -> Vec<&str> {
    row.tools.iter().map(String::as_str).collect()
}

fn matches_glob(last: Option<&Iteration>, glob: &str) -> bool {
    last.is_some_and(|it| it.matching.iter().any(|seen| seen == glob))
}
