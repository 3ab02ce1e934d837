//! What holds in every state, and what the model finds when a part of the program is left out. `LOOPKEEPER_RIGS=full`
//! explores a larger bound.

use std::collections::BTreeSet;

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::{Entry, OutcomeKind, Record};
use stateright::{Checker, Expectation, HasDiscoveries, Model, Property};

use super::machine::{Action, Machine};
use super::world::{Facts, Request};
use super::{Bound, Omission};

const ACKNOWLEDGED: &str = "no acknowledged record is lost";
const NUMBERS: &str = "no iteration number is used twice";
const ONE_AGENT: &str = "at most one agent is at work";
const VERDICT: &str = "completed only with a verdict";
const STOP: &str = "no agent starts after an acknowledged stop";
const READABLE: &str = "the journal is readable";
const WEAKENED: &str = "no loop completes with a weakened test";
const RESTORED: &str = "a restored file is weakened only until it was judged";
const LIMIT: &str = "the limit holds over all restarts";

const SMALL: Bound = Bound {
    kills: 1,
    power_cuts: 1,
    steers: 1,
    stops: 0,
    lock_losses: 0,
    weakenings: 0,
    rollbacks: 0,
    resumes: 0,
    changes: 1,
    iterations: 2,
};

/// Two iterations weaken the test, and the user restores files of the paused loop.
const WEAKENING: Bound = Bound {
    kills: 0,
    power_cuts: 0,
    steers: 0,
    weakenings: 2,
    rollbacks: 1,
    resumes: 1,
    iterations: 3,
    ..SMALL
};

struct KeeperModel {
    bound: Bound,
    omission: Omission,
}

impl Model for KeeperModel {
    type State = Machine;
    type Action = Action;

    fn init_states(&self) -> Vec<Machine> {
        vec![Machine::new(self.bound)]
    }

    fn actions(&self, state: &Machine, actions: &mut Vec<Action>) {
        state.actions(self.omission, actions);
    }

    fn next_state(&self, last: &Machine, action: Action) -> Option<Machine> {
        let mut next = last.clone();
        let forged = self.omission == Omission::Checks;
        next.step(action, self.omission, Facts { bound: self.bound, forged });
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        type Condition = fn(&KeeperModel, &Machine) -> bool;
        let always = |name, condition: Condition| Property::always(name, condition);
        let sometimes = |name, condition: Condition| Property::sometimes(name, condition);
        vec![
            always(ACKNOWLEDGED, |_, it| acknowledged(it)),
            always(NUMBERS, |_, it| numbers(it)),
            always(ONE_AGENT, |_, it| it.agents.iter().filter(|it| !it.is_unlocked).count() <= 1),
            always(VERDICT, |model, it| !is_completed(it) || is_proven(it, model.bound.changes)),
            always(STOP, |_, it| stops(it)),
            always(READABLE, |_, it| it.disk.damage.is_none()),
            always(WEAKENED, |_, it| !is_completed(it) || it.tree.weakenings == 0),
            always(RESTORED, |_, it| it.states().all(resolves_restored)),
            always(LIMIT, |model, it| it.starts.len() <= model.bound.iterations as usize),
            sometimes("a loop completes", |_, it| is_completed(it)),
            sometimes("an iteration in flight is taken over", |_, it| it.takeovers > 0),
            sometimes("a write is torn", |_, it| it.disk.is_torn()),
            sometimes("a request is answered", |_, it| !it.acknowledged.is_empty()),
            sometimes("a loop completes after a rollback", |_, it| is_completed(it) && is_rolled_back(it)),
        ]
    }
}

fn records(state: &Machine) -> impl Iterator<Item = &Record> {
    state.disk.entries.iter().map(|it| &it.record)
}

fn acknowledged(state: &Machine) -> bool {
    let is_written = |request: &Request| {
        records(state).any(|it| match (request, it) {
            (Request::Steer, Record::Steered { text, .. }) => text == Request::TEXT,
            (Request::Stop | Request::StopNow, Record::Stopping { .. } | Record::Ended { .. }) => true,
            // Their effect does not have to last.
            (Request::Resume | Request::RollBack { .. } | Request::RestoreTest, _) => true,
            _ => false,
        })
    };
    let last = state.disk.entries.last().map_or(0, |it| it.seq);
    last >= state.published && state.acknowledged.iter().all(|it| is_written(&it.0))
}

/// Of the starts as well as of the records; every start is on record.
fn numbers(state: &Machine) -> bool {
    let intended: Vec<u32> = records(state)
        .filter_map(|it| match it {
            Record::IterationIntended { iteration, .. } => Some(*iteration),
            _ => None,
        })
        .collect();
    let distinct = |numbers: &[u32]| numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len();
    distinct(&intended) && distinct(&state.starts) && state.starts.iter().all(|it| intended.contains(it))
}

fn stops(state: &Machine) -> bool {
    let mut stops = state.acknowledged.iter().filter(|it| matches!(it.0, Request::Stop | Request::StopNow));
    stops.all(|(_, starts)| state.starts.len() == *starts)
}

fn is_completed(state: &Machine) -> bool {
    let last = state.disk.entries.last().map(|it| &it.record);
    matches!(last, Some(Record::Ended { outcome }) if outcome.kind == OutcomeKind::Completed)
}

/// The tree is what the task needs, and a verdict on it follows the last start.
fn is_proven(state: &Machine, changes: u8) -> bool {
    let last = |is_it: fn(&Record) -> bool| {
        state.disk.entries.iter().rposition(|it: &std::sync::Arc<Entry>| is_it(&it.record))
    };
    let start = last(|it| matches!(it, Record::IterationIntended { .. }));
    let verdict = last(|it| matches!(it, Record::FinalVerdict { .. }));
    state.tree.changes >= changes && (start.is_none() || verdict > start)
}

fn is_rolled_back(state: &Machine) -> bool {
    records(state).any(|it| matches!(it, Record::RolledBack { .. }))
}

fn resolves_restored(state: &LoopState) -> bool {
    state.tree.is_unjudged || state.weakening.restored.is_empty()
}

/// The violated properties, each with a path, and the number of states.
type Findings = (Vec<(&'static str, Vec<Action>)>, usize);

fn explore(bound: Bound, omission: Omission) -> Findings {
    let builder = KeeperModel { bound, omission }.checker().finish_when(HasDiscoveries::AnyFailures);
    if is_full() && omission == Omission::Nothing {
        // Many states: depth first, few of them are pending at a time.
        findings(bound, &builder.spawn_dfs().join())
    } else {
        // Breadth first, the paths are the shortest. Depth first, a control may look for hours at paths without its
        // violation.
        findings(bound, &builder.spawn_bfs().join())
    }
}

fn findings(bound: Bound, checker: &impl Checker<KeeperModel>) -> Findings {
    let states = checker.unique_state_count();
    let properties = checker.model().properties();
    let failures = properties.iter().filter(|it| it.expectation == Expectation::Always);
    let found = failures.filter_map(|it| Some((it.name, checker.discovery(it.name)?.into_actions())));
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let examples = properties.iter().filter(|it| it.expectation == Expectation::Sometimes);
        for it in examples {
            let is_possible = match it.name {
                "an iteration in flight is taken over" => {
                    bound.kills + bound.power_cuts + bound.lock_losses > 0
                }
                "a write is torn" => bound.power_cuts > 0,
                "a request is answered" => bound.steers + bound.stops + bound.resumes > 0,
                "a loop completes after a rollback" => bound.rollbacks > 0,
                _ => true,
            };
            assert_eq!(checker.discovery(it.name).is_some(), is_possible, "{}", it.name);
        }
    }
    (found, states)
}

#[track_caller]
fn holds(bound: Bound) {
    let (found, states) = explore(bound, Omission::Nothing);
    assert!(found.is_empty(), "{found:#?}");
    assert!(states > 1_000, "only {states} states");
}

/// Control: with this left out, this property fails.
#[track_caller]
fn fails(bound: Bound, omission: Omission, property: &str) {
    let (found, _) = explore(bound, omission);
    assert!(found.iter().any(|it| it.0 == property), "{omission:?}: {found:#?}");
}

fn is_full() -> bool {
    std::env::var("LOOPKEEPER_RIGS").is_ok_and(|it| it == "full")
}

#[test]
fn kills_and_power_cuts_break_no_invariant() {
    if is_full() {
        holds(SMALL);
        holds(Bound { kills: 2, steers: 0, power_cuts: 0, iterations: 3, changes: 2, ..SMALL });
    }
    for bound in [Bound { steers: 0, ..SMALL }, Bound { kills: 0, ..SMALL }, Bound { power_cuts: 0, ..SMALL }]
    {
        holds(bound);
    }
}

#[test]
fn a_stop_holds_over_kills() {
    holds(Bound { steers: 0, stops: 1, kills: 1, power_cuts: u8::from(is_full()), ..SMALL });
}

/// The keeper that lost its lock may write one more turn, after its successor has written. That makes no journal
/// unreadable, and the records of its successor hold.
#[test]
fn a_keeper_that_lost_its_lock_damages_nothing() {
    let iterations = if is_full() { 2 } else { 1 };
    holds(Bound { kills: 0, power_cuts: 0, steers: 0, lock_losses: 1, iterations, ..SMALL });
}

#[test]
fn a_weakened_test_is_restored_or_reported() {
    let bound = WEAKENING;
    holds(bound);
    holds(Bound { kills: 1, weakenings: if is_full() { 3 } else { 2 }, ..bound });
}

#[test]
fn control_without_the_lock_two_agents_work() {
    fails(Bound { kills: 0, power_cuts: 0, steers: 0, ..SMALL }, Omission::Lock, ONE_AGENT);
}

#[test]
fn control_without_the_sync_a_record_is_lost() {
    fails(Bound { kills: 0, ..SMALL }, Omission::Sync, ACKNOWLEDGED);
}

#[test]
fn control_without_the_epoch_the_journal_is_unreadable() {
    fails(Bound { steers: 0, power_cuts: 0, lock_losses: 1, ..SMALL }, Omission::Epoch, READABLE);
}

#[test]
fn control_without_the_cleanup_the_agent_of_a_killed_keeper_works_on() {
    fails(Bound { power_cuts: 0, steers: 0, ..SMALL }, Omission::Cleanup, ONE_AGENT);
}

#[test]
fn control_without_the_checks_nothing_is_proven() {
    fails(Bound { changes: 2, ..SMALL }, Omission::Checks, VERDICT);
}

#[test]
fn control_without_the_origin_of_rollbacks_a_weakened_test_passes() {
    fails(WEAKENING, Omission::RollbackOrigin, WEAKENED);
}

#[test]
fn control_without_interrupted_rollbacks_a_weakened_test_passes() {
    fails(Bound { kills: 1, ..WEAKENING }, Omission::Interruption, WEAKENED);
}

#[test]
fn control_without_the_round_on_them_restored_files_stay_weakened() {
    fails(WEAKENING, Omission::RestoredFiles, RESTORED);
}
