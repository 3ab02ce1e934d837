//! Runs work inline if it was fast the last time, otherwise on a blocking thread, because switching threads costs more
//! than most of the work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Time for which blocking everything else is acceptable.
const QUICK: Duration = Duration::from_millis(2);

pub struct AdaptiveBlocking {
    last: Duration,
}

impl Default for AdaptiveBlocking {
    fn default() -> Self {
        Self { last: Duration::MAX }
    }
}

impl AdaptiveBlocking {
    /// `None`: it panicked, which is a bug.
    pub async fn run<T: Send + 'static>(&mut self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let timed = move || {
            let begin = Instant::now();
            let done = work();
            (done, begin.elapsed())
        };
        let done = if self.last <= QUICK {
            catch_unwind(AssertUnwindSafe(timed)).ok()
        } else {
            tokio::task::spawn_blocking(timed).await.ok()
        };
        let (done, took) = done.unzip();
        self.last = took.unwrap_or(Duration::MAX);
        done
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::{AdaptiveBlocking, QUICK};

    #[tokio::test]
    async fn in_place_is_only_what_was_quick_the_last_time() {
        let here = thread::current().id();
        let mut quick = AdaptiveBlocking::default();
        let mut after = async |last: Duration| {
            quick.last = last;
            quick.run(|| thread::current().id()).await == Some(here)
        };
        assert!(!after(Duration::MAX).await, "nothing is known of the first");
        assert!(after(QUICK).await);
        assert!(!after(QUICK + Duration::from_nanos(1)).await);
    }

    #[tokio::test]
    async fn what_panics_is_survived_and_trusted_no_more() {
        for last in [Duration::ZERO, Duration::MAX] {
            let mut quick = AdaptiveBlocking { last };
            assert_eq!(quick.run(|| assert_eq!(1, 2)).await, None);
            assert_eq!(quick.last, Duration::MAX);
        }
    }
}
