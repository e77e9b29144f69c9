//! CPU time of the measuring thread, without that of other processes.
//!
//! Other processes still use caches and memory bandwidth, so only ratios within one run are meaningful.

use std::time::Duration;

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};

/// CPU time of the thread, in user mode and in the kernel, or wall time if the system has no such clock.
///
/// Reading the clock is a system call of a few hundred nanoseconds. Criterion reads it twice for each sample of
/// thousands of iterations.
#[derive(Clone, Copy, Debug)]
pub struct ThreadTime;

/// The CPU time of this thread, as [`ThreadTime`] measures it.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // Such a clock begins at 0.
    Duration::try_from(now).unwrap_or_default()
}

/// The wall time of the process: this system has no clock of a thread.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

impl Measurement for ThreadTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        cpu_time()
    }

    fn end(&self, start: Duration) -> Duration {
        cpu_time().saturating_sub(start)
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

/// Formats nanoseconds like criterion.
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_values(typical, values)
    }

    fn scale_throughputs(&self, typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_throughputs(typical, throughput, values)
    }

    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_for_machines(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sleeping takes no CPU time.
    #[test]
    #[cfg(unix)]
    fn only_this_thread_is_counted() {
        let start = ThreadTime.start();
        std::thread::sleep(Duration::from_millis(50));
        let slept = ThreadTime.end(start);
        let start = ThreadTime.start();
        let mut rounds = 0_u64;
        while ThreadTime.end(start) < Duration::from_millis(5) {
            rounds += 1;
        }
        assert!(slept < Duration::from_millis(40) && rounds > 0, "{slept:?} asleep");
    }
}
