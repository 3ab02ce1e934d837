//! The last run of the checks on mutants.

use std::collections::HashSet;

use crate::journal::{HollowTest, Record, SurvivingMutant};
use loopkeeper_text::clauses;
use loopkeeper_text::tr;
use loopkeeper_text::words::counted;
use serde::{Deserialize, Serialize};

/// Maximum number of places of survivors in a sentence.
const MAX_NAMED: usize = 3;

/// The last run in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantRun {
    /// The tree that was mutated.
    pub tree: String,
    pub tried: u64,
    pub noticed: u64,
    pub survivors: Vec<SurvivingMutant>,
    pub hollow: Vec<HollowTest>,
    /// Why none was tried.
    pub skipped: Option<String>,
}

/// The first run that left the fewest survivors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FewestSurvivors {
    pub count: u64,
    pub iteration: u32,
}

impl MutantRun {
    pub fn of_record(record: &Record) -> Option<Self> {
        let Record::Mutants { tree, tried, noticed, survivors, hollow, skipped, .. } = record else {
            return None;
        };
        Some(Self {
            tree: tree.clone(),
            tried: *tried,
            noticed: *noticed,
            survivors: survivors.clone(),
            hollow: hollow.clone(),
            skipped: skipped.clone(),
        })
    }

    pub fn survived(&self) -> u64 {
        self.tried.saturating_sub(self.noticed)
    }

    /// `no check notices 2 of 14 mutants: calc.py:3, calc.py:9`; `None` where all are noticed.
    pub fn describe_survivors(&self) -> Option<String> {
        if self.survived() == 0 {
            return None;
        }
        let mut places: Vec<String> =
            self.survivors.iter().map(|it| format!("{}:{}", it.path, it.line)).collect();
        // A line may have several.
        let mut named = HashSet::new();
        places.retain(|it| named.insert(it.clone()));
        let rest = if places.len() > MAX_NAMED { " …" } else { "" };
        places.truncate(MAX_NAMED);
        let places = clauses::list(&places) + rest;
        let (survived, all) = (self.survived(), counted(self.tried, "mutant"));
        Some(tr!("no check notices {survived} of {all}: {places}", survived, all, places))
    }

    /// `12 of 14 noticed`
    pub fn summary(&self) -> String {
        match &self.skipped {
            Some(why) => tr!("none tried, {why}", why),
            None if self.tried == 0 => tr!("none, no changed line can be mutated").to_owned(),
            None => tr!("{noticed} of {tried} noticed", noticed = self.noticed, tried = self.tried),
        }
    }
}
