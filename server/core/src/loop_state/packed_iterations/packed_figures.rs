//! Numbers of an old iteration, stored as an array without names: ten thousand of them are read with every stored state.

use loopkeeper_text::moment::Moment;
use serde::{Deserialize, Serialize};

use super::super::{Iteration, IterationFigures, IterationOutline};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FiguresArray", into = "FiguresArray")]
pub(super) struct PackedFigures {
    pub(super) figures: IterationFigures,
    /// Indices of its results and of its failure.
    pub(super) results: u32,
    pub(super) failing: Option<u32>,
}

/// Number; wall and awake milliseconds of its start and of its end; duration, cost, tokens, bytes of output; items done,
/// denials; results, failure; the facts as bits.
type FiguresArray = (u32, [u64; 4], u64, Option<u64>, Option<u64>, u64, u32, u32, u32, Option<u32>, u8);

impl From<PackedFigures> for FiguresArray {
    fn from(packed: PackedFigures) -> Self {
        let PackedFigures { figures: it, results, failing } = packed;
        let (start, end) = (it.started_at, it.ended_at);
        (
            it.number,
            [start.wall, start.awake, end.wall, end.awake],
            it.duration_ms,
            it.cost_micros,
            it.tokens,
            it.output_bytes,
            it.items_done,
            it.denials,
            results,
            failing,
            facts_to_bits(&it),
        )
    }
}

impl From<FiguresArray> for PackedFigures {
    fn from(array: FiguresArray) -> Self {
        let (number, times, duration_ms, cost_micros, tokens, output_bytes, items_done, denials, ..) = array;
        let (.., results, failing, bits) = array;
        let [start_wall, start_awake, end_wall, end_awake] = times;
        let is_set = |fact: u8| bits & 1 << fact != 0;
        let figures = IterationFigures {
            number,
            started_at: Moment { wall: start_wall, awake: start_awake },
            ended_at: Moment { wall: end_wall, awake: end_awake },
            duration_ms,
            cost_micros,
            tokens,
            output_bytes,
            items_done,
            denials,
            has_ended: is_set(0),
            is_provider_failure: is_set(1),
            failed_by_itself: is_set(2),
            has_progress: is_set(3),
            has_claim: is_set(4),
            has_milestones: is_set(5),
            test_only: is_set(6),
            rolled_back: is_set(7),
        };
        Self { figures, results, failing }
    }
}

fn facts_to_bits(figures: &IterationFigures) -> u8 {
    let facts = [
        figures.has_ended,
        figures.is_provider_failure,
        figures.failed_by_itself,
        figures.has_progress,
        figures.has_claim,
        figures.has_milestones,
        figures.test_only,
        figures.rolled_back,
    ];
    facts.iter().rev().fold(0, |bits, fact| bits << 1 | u8::from(*fact))
}

/// Removes from a row what its figures contain.
pub(super) fn strip(row: &mut Iteration) {
    (row.number, row.started_at, row.ended_at) = (0, Moment::default(), Moment::default());
    (row.duration_ms, row.cost_micros, row.tokens) = (0, None, None);
    (row.output_bytes, row.items_done, row.denials) = (0, 0, 0);
    (row.test_only, row.rolled_back) = (false, false);
    (row.row, row.failing) = (Vec::new(), None);
}

/// Restores it.
pub(super) fn complete(row: &mut Iteration, outline: &IterationOutline<'_>) {
    let it = outline.figures;
    (row.number, row.started_at, row.ended_at) = (it.number, it.started_at, it.ended_at);
    (row.duration_ms, row.cost_micros, row.tokens) = (it.duration_ms, it.cost_micros, it.tokens);
    (row.output_bytes, row.items_done, row.denials) = (it.output_bytes, it.items_done, it.denials);
    (row.test_only, row.rolled_back) = (it.test_only, it.rolled_back);
    (row.row, row.failing) = (outline.results.to_vec(), outline.failing.cloned());
}
