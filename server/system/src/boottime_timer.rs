//! A timer on `CLOCK_BOOTTIME`, the clock of all deadlines. It advances during system sleep, so that a deadline that
//! passed during sleep fires on wake-up; tokio's timers would be late by the time slept.

use std::future::pending;
use std::io;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::net::unix::pipe::Receiver;

/// Causes no wake-ups until it expires. The runtime's pipe reader can read timers, too.
#[derive(Debug)]
pub struct BoottimeTimer(Receiver);

impl BoottimeTimer {
    /// Needs a tokio runtime.
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Receiver::from_owned_fd_unchecked(timer).map(Self)
    }

    /// Waits until the machine has been up for this many milliseconds, suspend included; indefinitely for `None`.
    /// Cancel safe; only the latest waiter is woken.
    pub async fn sleep_until(&self, awake: Option<u64>) {
        let Some(awake) = awake else { return pending().await };
        // Zero would disarm the timer.
        let awake = awake.max(1);
        let at = Timespec { tv_sec: (awake / 1000) as i64, tv_nsec: (awake % 1000 * 1_000_000) as i64 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        // The timer accepts every valid time.
        let _ = timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &once);
        while self.0.readable().await.is_ok() {
            // Otherwise it expired for a deadline that has been replaced since.
            if self.0.try_read(&mut [0; 8]).is_ok() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::BoottimeTimer;
    use crate::clock;

    #[tokio::test]
    async fn the_timer_fires_when_it_is_due() {
        let timer = BoottimeTimer::new().unwrap();
        let due = clock::now().awake + 60;
        timer.sleep_until(Some(due)).await;
        assert!(clock::now().awake >= due);
        // Times in the past, including the machine's first moment.
        for past in [due, 1, 0] {
            timer.sleep_until(Some(past)).await;
        }
        let far = due + 60_000;
        assert!(timeout(Duration::from_millis(50), timer.sleep_until(Some(far))).await.is_err());
        assert!(timeout(Duration::from_millis(50), timer.sleep_until(None)).await.is_err());
    }

    #[tokio::test]
    async fn a_deadline_that_was_cancelled_does_not_end_the_next_one() {
        let timer = BoottimeTimer::new().unwrap();
        let soon = clock::now().awake + 1_000;
        tokio::select! {
            biased;
            () = timer.sleep_until(Some(soon)) => panic!("not yet"),
            () = std::future::ready(()) => {}
        }
        // It still expires.
        timer.0.readable().await.unwrap();
        let due = clock::now().awake + 60;
        timer.sleep_until(Some(due)).await;
        assert!(clock::now().awake >= due);
    }

    /// A test cannot suspend the machine, but it can show that the timer uses the right clock.
    #[tokio::test]
    async fn the_timer_counts_suspended_time() {
        let timer = BoottimeTimer::new().unwrap();
        let due = clock::now().awake + 60_000;
        assert!(timeout(Duration::from_millis(10), timer.sleep_until(Some(due))).await.is_err());
        let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", timer.0.as_raw_fd())).unwrap();
        // `CLOCK_BOOTTIME`, an absolute time, no interval.
        for line in ["clockid: 7", "settime flags: 01", "it_interval: (0, 0)"] {
            assert!(info.contains(line), "{info}");
        }
        let left = info.lines().find_map(|it| it.strip_prefix("it_value: (")?.split(',').next()).unwrap();
        assert!((50..=60).contains(&left.parse::<u64>().unwrap()), "{info}");
    }
}
