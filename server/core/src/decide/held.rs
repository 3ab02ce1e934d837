//! An agent that its stop hook holds: one process works many iterations, and the answer to its hook is the next one.
//! Whenever the loop ends or rests the agent may go first: no session waits without an end in sight, and nothing
//! is completed beside a living agent.

use crate::agent::AgentLeft;
use crate::journal::Record;
use crate::moment::Moment;

use super::machine::{criteria_of, undead};
use super::sessions;
use super::state::{Live, Loop, Stop};
use super::{Effect, Step, attached};

/// What the loop is about to do is not the next iteration of this process.
pub(super) fn has_to_go(state: &Loop, live: &Live, now: Moment, steps: &[Step]) -> bool {
    if state.stop == Some(Stop::Now) {
        // It is ended, not asked.
        return false;
    }
    let ends = steps.iter().any(|it| matches!(it, Step::Record(Record::Ended { .. })));
    let prepares = steps.iter().any(|it| matches!(it, Step::Effect(Effect::TakeSnapshot)));
    let rests = !steps.iter().any(|it| matches!(it, Step::Effect(_))) && !is_busy(live);
    ends || rests || (prepares && !can_go_on(state, now))
}

/// Something was asked for whose answer goes on.
fn is_busy(live: &Live) -> bool {
    let judges = live.checking_at_rest || live.pinning.is_some();
    judges || live.preparing || live.asking.is_some() || live.committing
}

/// The same session, and the agent lets itself be held once more.
fn can_go_on(state: &Loop, now: Moment) -> bool {
    state.holds != Some(0) && sessions::choose(state, now).resumed
}

pub(super) fn let_go(live: &mut Live, why: String) -> Vec<Step> {
    live.letting_go = true;
    vec![Step::Effect(Effect::LetAgentGo { why })]
}

/// What is about to be recorded, in words.
pub(super) fn why(steps: &[Step]) -> String {
    let sentence = |step: &Step| match step {
        Step::Record(Record::Ended { outcome }) => Some(outcome.sentence.clone()),
        Step::Record(Record::Paused { message, .. }) => Some(message.clone()),
        _ => None,
    };
    steps.iter().find_map(sentence).unwrap_or_default()
}

/// A pause that did not come from the boundary lets it go as well.
pub(super) fn follow(state: &Loop, live: &mut Live, mut steps: Vec<Step>) -> Vec<Step> {
    let pauses = steps.iter().any(|it| matches!(it, Step::Record(Record::Paused { .. })));
    let goes_on = steps.iter().any(|it| matches!(it, Step::Effect(_)));
    if state.held && state.at_rest() && pauses && !goes_on && !live.letting_go {
        let why = why(&steps);
        steps.extend(let_go(live, why));
    }
    steps
}

/// It is gone, as it was told or by itself; the loop takes up what waited for that.
pub(super) fn left(state: &Loop, live: &mut Live, left: Box<AgentLeft>) -> Vec<Step> {
    if attached::is_missing(state) || state.outcome.is_some() {
        // It was told that there is nothing to do.
        return Vec::new();
    }
    let alive = left.left.join(", ");
    let mut steps = vec![Step::Record(Record::AgentLeft { iteration: state.iteration, left })];
    let was_told = std::mem::take(&mut live.letting_go);
    if !alive.is_empty() {
        steps.push(undead(&alive));
    } else if was_told && state.at_rest() {
        steps.push(Step::Effect(Effect::GoOn));
    }
    steps
}

/// Nothing is completed by a round beside a living agent: the checks run again once it is gone.
pub(super) fn once_more(state: &Loop, live: &mut Live) -> Option<Vec<Step>> {
    if state.held || !state.beside {
        return None;
    }
    if std::mem::replace(&mut live.checking_at_rest, true) {
        return Some(Vec::new());
    }
    Some(vec![Step::Effect(Effect::RunChecks { criteria: criteria_of(state), repeats: 0 })])
}
