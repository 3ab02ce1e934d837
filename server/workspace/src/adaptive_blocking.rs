//! Runs work inline if it was fast the last times on input of about this size, otherwise on a worker thread, because
//! switching threads costs more than most of the work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::worker_thread::WorkerThread;

/// Time for which blocking everything else is acceptable.
const QUICK: Duration = Duration::from_millis(2);
/// Input that grew by less says nothing new: a keystroke, an inserted line.
const GROWTH_BYTES: usize = 4096;

/// Predicts the duration of work from that of earlier work.
pub struct AdaptiveBlocking {
    /// The longest duration; half of it is forgotten with each run, so that work that alternates between a full and a
    /// cached result is slow, and one slow access to a disk is not remembered.
    expected: Duration,
    /// Bytes of the last input.
    last_size: usize,
    worker: WorkerThread,
}

impl AdaptiveBlocking {
    pub fn new(worker: WorkerThread) -> Self {
        Self { expected: Duration::MAX, last_size: 0, worker }
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
        // `MAX` says that nothing is known, not that the work is slow.
        let known = Some(self.expected).filter(|it| *it != Duration::MAX).unwrap_or_default();
        self.expected = took.map_or(Duration::MAX, |took| took.max(known / 2));
        self.last_size = size;
        done
    }

    /// A large document that is opened after small ones would block everything else for its whole duration, and leave
    /// its memory in the caller's arena of the allocator.
    fn is_quick(&self, size: usize) -> bool {
        self.expected <= QUICK && size <= self.last_size.saturating_add(GROWTH_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::{AdaptiveBlocking, GROWTH_BYTES, QUICK, WorkerThread};

    fn expecting(expected: Duration) -> AdaptiveBlocking {
        AdaptiveBlocking { expected, ..AdaptiveBlocking::new(WorkerThread::start("test")) }
    }

    #[tokio::test]
    async fn in_place_is_only_what_was_quick_the_last_time() {
        let here = thread::current().id();
        let mut quick = expecting(Duration::MAX);
        let mut after = async |last: Duration, last_size: usize, size: usize| {
            (quick.expected, quick.last_size) = (last, last_size);
            quick.run(size, || thread::current().id()).await == Some(here)
        };
        assert!(!after(Duration::MAX, 0, 0).await, "nothing is known of the first");
        assert!(after(QUICK, 0, 0).await);
        assert!(!after(QUICK + Duration::from_nanos(1), 0, 0).await);
        assert!(after(QUICK, 100, 100 + GROWTH_BYTES).await, "about as large");
        assert!(after(QUICK, 1_000_000, 0).await, "smaller");
        assert!(!after(QUICK, 100, 101 + GROWTH_BYTES).await, "larger than what was quick");
    }

    #[tokio::test]
    async fn one_quick_run_does_not_hide_a_slow_one() {
        let mut quick = expecting(QUICK * 16);
        let mut expected = Vec::new();
        for _ in 0..5 {
            quick.run(0, || ()).await;
            expected.push(quick.expected <= QUICK);
        }
        assert_eq!(expected, [false, false, false, true, true]);
    }

    #[tokio::test]
    async fn what_panics_is_survived_and_trusted_no_more() {
        for last in [Duration::ZERO, Duration::MAX] {
            let mut quick = expecting(last);
            assert_eq!(quick.run(0, || assert_eq!(1, 2)).await, None);
            assert_eq!(quick.expected, Duration::MAX);
        }
    }
}
