//! The names of the criteria of one loop, from its records: later records contain only ids.

use std::collections::{BTreeMap, BTreeSet};

use loopkeeper_core::check::{CheckResult, CriteriaTally, Status};
use loopkeeper_core::journal::{Record, Round};
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::sanitize;

#[derive(Debug, Clone, Default)]
pub struct CriterionNames {
    names: BTreeMap<CriterionId, String>,
    optional: BTreeSet<CriterionId>,
    /// The criteria with a check that count now.
    checked: BTreeSet<CriterionId>,
}

impl CriterionNames {
    /// Adds the criteria that a record introduces.
    pub fn observe(&mut self, record: &Record) {
        match record {
            Record::LoopStarted { spec, .. } => self.replace(spec.criteria.iter()),
            Record::Baseline { criteria, .. } => self.replace(criteria.iter().map(|it| &it.criterion)),
            _ => {}
        }
    }

    fn replace<'a>(&mut self, criteria: impl Iterator<Item = &'a Criterion> + Clone) {
        self.checked = criteria.clone().filter(|it| it.check.is_some()).map(|it| it.id.clone()).collect();
        self.add(criteria);
    }

    /// How many criteria with a check have no result in a round.
    pub fn judged_elsewhere(&self, round: &Round) -> usize {
        self.checked.iter().filter(|it| round.result(it).is_none()).count()
    }

    pub fn add<'a>(&mut self, criteria: impl IntoIterator<Item = &'a Criterion>) {
        for it in criteria {
            if !it.required {
                self.optional.insert(it.id.clone());
            }
            self.names.insert(it.id.clone(), sanitize::line(&it.name));
        }
    }

    pub fn name(&self, id: &CriterionId) -> &str {
        self.names.get(id).map_or("?", String::as_str)
    }

    /// How many criteria of a round pass; `None` if it has no check.
    pub fn tally(&self, round: &Round) -> Option<CriteriaTally> {
        let is_required = |it: &CheckResult| !self.optional.contains(&it.criterion);
        let checked = round.results.iter().filter(|it| it.status != Status::Unverified);
        let mut checked = checked.map(|it| (is_required(it), Some(it.status))).peekable();
        checked.peek()?;
        Some(CriteriaTally::of(checked))
    }
}
