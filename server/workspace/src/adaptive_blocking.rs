//! Runs work inline if its input is small and its last runs were fast, otherwise on a worker thread, because
//! switching threads costs more than most of the work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::worker_thread::WorkerThread;

/// Time for which blocking everything else is acceptable.
const MAX_BLOCKING_TIME: Duration = Duration::from_millis(2);
/// The cost of a thread switch is negligible for a larger input, and its memory belongs in the worker's arena of the
/// allocator. The duration of the last run does not show how long the next one takes: text that is equal to the file
/// on disk is not parsed.
const SMALL_BYTES: usize = 64 << 10;

/// Predicts the duration of work from that of earlier work.
pub struct AdaptiveBlocking {
    /// The longest duration; half of it is forgotten with each run, so that work that alternates between a full and a
    /// cached result is slow, and one slow access to a disk is not remembered.
    expected: Duration,
    worker: WorkerThread,
}

impl AdaptiveBlocking {
    pub fn new(worker: WorkerThread) -> Self {
        Self { expected: Duration::MAX, worker }
    }

    /// Runs `work` on an input of `size` bytes. `None`: it panicked, which is a bug.
    pub async fn run<T: Send + 'static>(
        &mut self,
        size: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let timed = move || {
            let begin = Instant::now();
            let done = work();
            (done, begin.elapsed())
        };
        let done = if self.is_quick(size) {
            catch_unwind(AssertUnwindSafe(timed)).ok()
        } else {
            self.worker.run(timed).await
        };
        let (done, took) = done.unzip();
        // `MAX` means unknown, not slow.
        let known = Some(self.expected).filter(|it| *it != Duration::MAX).unwrap_or_default();
        self.expected = took.map_or(Duration::MAX, |took| took.max(known / 2));
        done
    }

    fn is_quick(&self, size: usize) -> bool {
        self.expected <= MAX_BLOCKING_TIME && size <= SMALL_BYTES
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::{AdaptiveBlocking, MAX_BLOCKING_TIME, SMALL_BYTES, WorkerThread};

    fn expecting(expected: Duration) -> AdaptiveBlocking {
        AdaptiveBlocking { expected, ..AdaptiveBlocking::new(WorkerThread::start("test")) }
    }

    #[tokio::test]
    async fn only_quick_work_runs_in_place() {
        let here = thread::current().id();
        let mut quick = expecting(Duration::MAX);
        let mut after = async |last: Duration, size: usize| {
            quick.expected = last;
            quick.run(size, || thread::current().id()).await == Some(here)
        };
        assert!(!after(Duration::MAX, 0).await, "nothing is known of the first");
        assert!(after(MAX_BLOCKING_TIME, 0).await);
        assert!(!after(MAX_BLOCKING_TIME + Duration::from_nanos(1), 0).await);
        assert!(after(MAX_BLOCKING_TIME, SMALL_BYTES).await);
        assert!(!after(MAX_BLOCKING_TIME, SMALL_BYTES + 1).await, "a large input");
    }

    #[tokio::test]
    async fn one_quick_run_does_not_hide_a_slow_one() {
        let mut quick = expecting(MAX_BLOCKING_TIME * 16);
        let mut expected = Vec::new();
        for _ in 0..5 {
            quick.run(0, || ()).await;
            expected.push(quick.expected <= MAX_BLOCKING_TIME);
        }
        assert_eq!(expected, [false, false, false, true, true]);
    }

    #[tokio::test]
    async fn a_panic_is_caught_and_its_kind_no_longer_runs_in_place() {
        for last in [Duration::ZERO, Duration::MAX] {
            let mut quick = expecting(last);
            assert_eq!(quick.run(0, || assert_eq!(1, 2)).await, None);
            assert_eq!(quick.expected, Duration::MAX);
        }
    }
}
