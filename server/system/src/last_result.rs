//! Caches the result for the last input: for files that are read before every use and rarely change.

use std::sync::{Mutex, PoisonError};

pub(super) struct LastResult<Input, Output>(Mutex<Option<(Input, Output)>>);

impl<Input: PartialEq, Output: Clone> LastResult<Input, Output> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The result for `input`; computed only if `input` differs from the last one that had a result.
    pub(super) fn get_or_compute<E>(
        &self,
        input: Input,
        compute: impl FnOnce(&Input) -> Result<Output, E>,
    ) -> Result<Output, E> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, output)) = last.as_ref().filter(|it| it.0 == input) {
            return Ok(output.clone());
        }
        let output = compute(&input)?;
        *last = Some((input, output.clone()));
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::LastResult;

    #[test]
    fn a_result_is_computed_again_only_for_another_input() {
        let last = LastResult::new();
        let calls = std::cell::Cell::new(0);
        let double = |input: &i32| {
            calls.set(calls.get() + 1);
            u32::try_from(*input).map(|it| it * 2).map_err(drop)
        };
        let results = [1, 1, -1, 1, 2, 1].map(|input| last.get_or_compute(input, double));
        assert_eq!(results, [Ok(2), Ok(2), Err(()), Ok(2), Ok(4), Ok(2)]);
        assert_eq!(calls.get(), 4, "1, -1, 2, 1: a failure keeps the last result");
    }
}
