//! Combines the answers of several judges. A judge whose answer cannot change the result is not asked.

use super::JudgeAnswer;
use crate::check::{CheckResult, Location, MAX_LOCATIONS, Status};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

const FACT_CHARS: usize = 90;

/// The result of asking one judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vote {
    Answered(JudgeAnswer),
    /// It gave no valid answer; why, as text.
    Void(String),
    /// It was ended before it answered.
    Late(String),
}

/// The judges of one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteTally {
    needed: u32,
    asked: u32,
    cast: Vec<Vote>,
}

impl VoteTally {
    pub fn new((needed, asked): (u32, u32)) -> Self {
        Self { needed, asked, cast: Vec::new() }
    }

    pub fn add(&mut self, vote: Vote) {
        self.cast.push(vote);
    }

    /// Whether another judge has to be asked.
    pub fn is_open(&self) -> bool {
        let remaining = (self.asked as usize).saturating_sub(self.cast.len());
        let needed = self.needed as usize;
        self.holding_count() < needed && self.holding_count() + remaining >= needed
    }

    /// The result may still contain secrets: the caller redacts it.
    pub fn result(&self, criterion: &Criterion, duration_ms: u64) -> CheckResult {
        let (status, fact) = self.verdict();
        CheckResult {
            duration_ms,
            head: self.text(),
            locations: self.objection_locations(),
            ..CheckResult::new(criterion.id.clone(), status, fact)
        }
    }

    fn holding_count(&self) -> usize {
        self.answers().filter(|it| it.holds).count()
    }

    fn answers(&self) -> impl Iterator<Item = &JudgeAnswer> {
        self.cast.iter().filter_map(|it| match it {
            Vote::Answered(answer) => Some(answer),
            Vote::Void(_) | Vote::Late(_) => None,
        })
    }

    /// Unreadable answers count neither against the criterion nor for it.
    fn verdict(&self) -> (Status, String) {
        let holding = self.holding_count();
        if holding >= self.needed as usize {
            return (Status::Pass, self.vote_summary(holding));
        }
        let against: Vec<&JudgeAnswer> = self.answers().filter(|it| !it.holds).collect();
        if let Some(first) = against.first()
            && against.len() > self.asked.saturating_sub(self.needed) as usize
        {
            return (Status::Fail, self.objection_summary(against.len(), &first.reason));
        }
        let useless = self.cast.iter().rev().find_map(|it| match it {
            Vote::Void(why) => Some((Status::CouldNotRun, why)),
            Vote::Late(why) => Some((Status::TimedOut, why)),
            Vote::Answered(_) => None,
        });
        match useless {
            Some((status, why)) => (status, sanitize::line(why)),
            None => (Status::CouldNotRun, tr!("no judge was asked").to_owned()),
        }
    }

    fn vote_summary(&self, count: usize) -> String {
        let total = self.cast.len();
        match self.asked {
            1 => tr!("the judge found no convincing reason against it").to_owned(),
            _ => tr!("{count} of {total} judges found no convincing reason against it", count, total),
        }
    }

    fn objection_summary(&self, against: usize, reason: &str) -> String {
        let reason = sanitize::line_within(reason, FACT_CHARS);
        if self.asked == 1 {
            return reason;
        }
        let total = self.cast.len();
        tr!("{count} of {total} judges object: {reason}", count = against, total, reason)
    }

    /// All answers in full.
    fn text(&self) -> String {
        let line = |vote: &Vote| match vote {
            Vote::Answered(JudgeAnswer { holds: true, reason, .. }) if reason.is_empty() => {
                tr!("it holds").to_owned()
            }
            Vote::Answered(JudgeAnswer { holds: true, reason, .. }) => {
                tr!("it holds, against: {reason}", reason)
            }
            Vote::Answered(JudgeAnswer { reason, .. }) => tr!("it does not hold: {reason}", reason),
            Vote::Void(why) | Vote::Late(why) => sanitize::line(why),
        };
        let lines = self
            .cast
            .iter()
            .zip(1..)
            .map(|(vote, number)| tr!("judge {number}: {answer}", number, answer = line(vote)) + "\n");
        lines.collect()
    }

    /// The locations that objecting judges named.
    fn objection_locations(&self) -> Vec<Location> {
        let against = self.answers().filter(|it| !it.holds);
        let mut places: Vec<Location> = against.flat_map(|it| it.places.iter().cloned()).collect();
        places.sort();
        places.dedup();
        places.truncate(MAX_LOCATIONS);
        places
    }
}
