//! Every reader of text that loopkeeper did not write itself.

#![cfg(test)]

mod agents;
mod checks;
mod documents;
mod journals;
mod proxy;
mod settings;

use loopkeeper_fuzz::Fuzzer;

/// The control: what the fuzzer has to find.
mod control_targets {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::Fuzzer;

    fn fails(run: impl Fn(&Fuzzer)) -> bool {
        let fuzzer = Fuzzer::new("control", &["{", "\"do\""], &[]);
        catch_unwind(AssertUnwindSafe(|| run(&fuzzer))).is_err()
    }

    /// A slice in the middle of a character.
    #[test]
    fn control_a_panic_is_found() {
        assert!(fails(|it| it.run(|input| {
            let text = String::from_utf8_lossy(input);
            let _ = &text[..text.len().min(10)];
        })));
    }

    #[test]
    fn control_growing_memory_is_found() {
        let kept = std::cell::RefCell::new(Vec::new());
        assert!(fails(|it| it.run(|input| kept.borrow_mut().push(vec![1_u8; 800_000 + input.len()]))));
    }

    #[test]
    fn control_quadratic_time_is_found() {
        let quadratic = |input: &[u8]| {
            let same = (0..input.len()).filter(|at| input[*at..].iter().all(|it| *it == input[0]));
            std::hint::black_box(same.count());
        };
        let linear = |input: &[u8]| {
            std::hint::black_box(input.iter().map(|it| u64::from(*it)).sum::<u64>());
        };
        assert!(fails(|it| it.run_growing(quadratic)));
        assert!(!fails(|it| it.run_growing(linear)));
    }
}
