//! Whether the time of a function grows in proportion to its input. The time is that of this thread on a processor, and
//! only ratios of it are compared, so that other processes and slow machines have little influence.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const SMALLEST: usize = 4 << 10;
const LARGEST: usize = 64 << 10;
/// Below this a comparison would be one of noise.
const MEASURABLE: Duration = Duration::from_millis(12);
const STEP: usize = 4;
/// Linear time has the ratio [`STEP`], quadratic time its square; sorting and caches are in between.
const MOST: f64 = 9.0;
const TRIES: usize = 3;

/// The times of an input and of one that is [`STEP`] times as large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearTime {
    size: usize,
    small: Duration,
    large: Duration,
}

impl LinearTime {
    pub fn holds(&self) -> bool {
        self.large < MEASURABLE || self.large.as_secs_f64() < MOST * self.small.as_secs_f64()
    }
}

/// Measures growing inputs until the time can be compared.
pub fn is_linear(make: &impl Fn(usize) -> Vec<u8>, target: &impl Fn(&[u8])) -> LinearTime {
    let mut size = SMALLEST;
    loop {
        let (small, large) = (make(size), make(size * STEP));
        let mut time = LinearTime {
            size: size * STEP,
            small: cpu_time(&small, target),
            large: cpu_time(&large, target),
        };
        // The shortest of several measurements is the one that was disturbed least.
        for _ in 0..TRIES {
            if time.holds() {
                break;
            }
            time.small = time.small.max(cpu_time(&small, target));
            time.large = time.large.min(cpu_time(&large, target));
        }
        if !time.holds() || time.large >= MEASURABLE || size * STEP >= LARGEST {
            return time;
        }
        size *= 2;
    }
}

/// The time that this thread spends in the target.
pub fn cpu_time(input: &[u8], target: &impl Fn(&[u8])) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
    };
    let before = now();
    target(input);
    now().saturating_sub(before)
}
