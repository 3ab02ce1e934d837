//! Sample records that affect whether a loop is verified.

use super::round;
use crate::check::Status;
use crate::journal::{CheckProgram, CleanRoomCopy, HollowTest, OutsideFiles, Record, SurvivingMutant};
use loopkeeper_task::criterion::CriterionId;

pub(super) fn final_verdict() -> Record {
    Record::FinalVerdict {
        iteration: 1,
        tree: "bb".repeat(20),
        final_round: Some(Box::new(round(Status::Pass))),
        pinned: Some(Box::new(round(Status::Pass))),
        judges: vec!["tests/a.rs".to_owned()],
        judge_count: 1,
        weakened: Vec::new(),
        basis: "1 test file changed".to_owned(),
        unproven: true,
        programs: vec![CheckProgram {
            name: "python3".to_owned(),
            path: "/usr/bin/python3.11".to_owned(),
            version: Some("Python 3.11.2".to_owned()),
            sha256: Some("cc".repeat(32)),
        }],
        copied: Some(Box::new(CleanRoomCopy {
            why: "no mount namespace can be made".to_owned(),
            linked: vec!["node_modules".to_owned()],
            is_writable: true,
        })),
        seeds: vec!["PYTHONHASHSEED=7".to_owned()],
        outside: Some(Box::new(OutsideFiles {
            count: 3,
            is_partial: false,
            visible: Some("no mount namespace can be made".to_owned()),
        })),
        unavailable: None,
    }
}

pub(super) fn mutants() -> Record {
    Record::Mutants {
        iteration: 1,
        tree: "bb".repeat(20),
        tried: 14,
        noticed: 13,
        survivors: vec![SurvivingMutant {
            path: "calc.py".to_owned(),
            line: 2,
            before: "return a + b".to_owned(),
            after: "return a - b".to_owned(),
        }],
        hollow: vec![HollowTest {
            path: "tests/test_calc.py".to_owned(),
            line: 7,
            name: "test_runs".to_owned(),
        }],
        skipped: Some("no".to_owned()),
    }
}

pub(super) fn weakening_accepted() -> Record {
    Record::WeakeningAccepted {
        paths: vec!["tests/a.rs".to_owned()],
        criteria: vec![CriterionId("0123456789".to_owned())],
        tree: "aa".repeat(20),
        by: Some("alice in a terminal".to_owned()),
    }
}
