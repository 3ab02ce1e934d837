//! Stages: criteria of `(stage 2)` become due when those of the earlier stages hold, so that requirements can increase.
//! All of them are judged in every round, and all must hold in the end; only the agent's current assignment differs.

use std::collections::BTreeSet;

use crate::check::Status;
use crate::journal::PinnedCriterion;
use loopkeeper_task::criterion::{CriterionId, FIRST_STAGE};

/// The current stage: the first with a required check that does not pass, else the last.
pub(crate) fn current_stage(
    pinned: &[PinnedCriterion],
    status: impl Fn(&CriterionId) -> Option<Status>,
) -> u32 {
    let stages: BTreeSet<u32> = pinned.iter().map(|it| it.criterion.stage_or_first()).collect();
    let fails = |it: &PinnedCriterion| {
        it.criterion.required
            && it.criterion.check.is_some()
            && status(&it.criterion.id) != Some(Status::Pass)
    };
    let open = stages
        .iter()
        .find(|stage| pinned.iter().any(|it| it.criterion.stage_or_first() == **stage && fails(it)));
    open.or(stages.last()).copied().unwrap_or(FIRST_STAGE)
}

#[cfg(test)]
mod tests {
    use super::current_stage;
    use crate::check::Status;
    use crate::decide::sim::criterion;
    use crate::journal::{PinnedCriterion, Role};
    use loopkeeper_task::criterion::Criterion;

    /// Criteria as `stage:result`; `-` means no stage.
    fn check(criteria: &str, expect: u32) {
        let parts: Vec<(Criterion, Option<Status>)> = criteria
            .split_whitespace()
            .enumerate()
            .map(|(n, part)| {
                let (stage, result) = part.split_once(':').expect("stage:result");
                let one = Criterion { stage: stage.parse().ok(), ..criterion(&n.to_string(), "make x") };
                (
                    one,
                    match result {
                        "p" => Some(Status::Pass),
                        "f" => Some(Status::Fail),
                        _ => None,
                    },
                )
            })
            .collect();
        let pinned: Vec<PinnedCriterion> =
            parts.iter().map(|(it, _)| PinnedCriterion { criterion: it.clone(), role: Role::Open }).collect();
        let status = |id: &_| parts.iter().find(|(it, _)| it.id == *id).and_then(|(_, status)| *status);
        assert_eq!(current_stage(&pinned, status), expect, "{criteria}");
    }

    #[test]
    fn the_first_stage_that_does_not_hold_is_due() {
        check("", 1);
        check("-:f", 1);
        check("-:p", 1);
        check("-:f 2:f", 1);
        check("-:p 2:f", 2);
        check("-:p 2:p", 2);
        check("1:p 2:p 3:f", 3);
        // An earlier stage that broke is due again.
        check("1:f 2:p 3:f", 1);
        // Without a result it does not hold.
        check("1:? 2:f", 1);
        check("2:f 5:f", 2);
    }
}
