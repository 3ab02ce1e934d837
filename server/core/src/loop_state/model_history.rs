//! The models that the agents of a loop reported, by iteration. Consecutive iterations with the same model share an entry,
//! so that a long loop of one model needs a single one.

use loopkeeper_text::{sanitize, truncate};
use serde::{Deserialize, Serialize};

/// Maximum length of the name of a model, which comes from an agent's output.
const NAME_BYTES: usize = 80;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelHistory {
    /// In ascending order.
    spans: Vec<ModelSpan>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ModelSpan {
    first: u32,
    last: u32,
    model: String,
}

impl ModelHistory {
    /// An agent that takes several turns in one iteration reports its model after each; the last one counts.
    pub(crate) fn record(&mut self, iteration: u32, model: Option<&str>) {
        let Some(model) = model else { return };
        let model = truncate::first_bytes(&sanitize::line(model), NAME_BYTES).to_owned();
        match self.spans.last_mut() {
            Some(span) if iteration < span.last => return,
            Some(span) if span.model == model && iteration - span.last <= 1 => {
                span.last = iteration;
                return;
            }
            Some(span) if span.first == iteration => {
                self.spans.pop();
            }
            Some(span) if span.last == iteration => span.last -= 1,
            Some(_) | None => {}
        }
        self.spans.push(ModelSpan { first: iteration, last: iteration, model });
    }

    /// The model of an iteration, sanitised; `None`: its agent reported none.
    pub fn find(&self, iteration: u32) -> Option<&str> {
        let next = self.spans.partition_point(|it| it.first <= iteration);
        let span = self.spans.get(next.checked_sub(1)?)?;
        (iteration <= span.last).then_some(&*span.model)
    }
}

#[cfg(test)]
mod tests {
    use super::ModelHistory;

    #[test]
    fn each_iteration_has_the_model_that_was_reported_last() {
        let check = |reports: &[(u32, &str)], expect: &[Option<&str>], spans: usize| {
            let mut models = ModelHistory::default();
            for (iteration, model) in reports {
                models.record(*iteration, Some(*model).filter(|it| !it.is_empty()));
            }
            let found: Vec<_> = (0..expect.len() as u32).map(|it| models.find(it)).collect();
            assert_eq!((found.as_slice(), models.spans.len()), (expect, spans), "{reports:?}");
        };
        let (a, b) = (Some("a"), Some("b"));
        check(&[], &[None, None], 0);
        check(&[(1, "a"), (2, "a"), (3, "a")], &[None, a, a, a, None], 1);
        check(&[(1, "a"), (2, "b"), (3, "a")], &[None, a, b, a], 3);
        // Iteration 2 reported none.
        check(&[(1, "a"), (2, ""), (3, "a")], &[None, a, None, a], 2);
        check(&[(1, "a"), (3, "a")], &[None, a, None, a], 2);
        // Several turns.
        check(&[(1, "a"), (1, "a"), (1, "")], &[None, a], 1);
        check(&[(1, "a"), (1, "b")], &[None, b], 1);
        check(&[(1, "a"), (2, "a"), (2, "b")], &[None, a, b], 2);
        // A number that no keeper writes changes nothing.
        check(&[(3, "a"), (1, "b")], &[None, None, None, a], 1);
        check(&[(1, "a\u{1b}[31m")], &[None, a], 1);
    }

    #[test]
    fn a_long_name_is_cut() {
        let mut models = ModelHistory::default();
        models.record(1, Some(&"x".repeat(1_000_000)));
        assert_eq!(models.find(1).map(str::len), Some(80));
    }
}
