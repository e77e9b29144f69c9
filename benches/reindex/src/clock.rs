//! Time, CPU time and written bytes of this process, and a source that takes its time.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// From here on, a wait spins: sleeping takes up to a tenth of a millisecond longer than asked for.
const SPIN: Duration = Duration::from_micros(100);

/// A moment of this process.
#[derive(Clone, Copy)]
pub struct Moment {
    time: Instant,
    cpu: Duration,
}

impl Moment {
    pub fn now() -> Moment {
        Moment { time: Instant::now(), cpu: cpu(ClockId::ProcessCPUTime) }
    }

    /// The milliseconds since an earlier moment, and those of CPU time of all threads.
    pub fn since(self, before: Moment) -> [f64; 2] {
        [self.time - before.time, self.cpu - before.cpu].map(|time| time.as_secs_f64() * 1e3)
    }
}

fn cpu(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).expect("such clocks begin at 0")
}

/// The bytes that this process has written to files.
pub fn written() -> u64 {
    let counts = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    counts.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok()).unwrap_or(0)
}

/// A source of documents, which takes a while to give one.
pub struct Source {
    wait: Duration,
    /// The milliseconds that it took so far.
    pub waited_ms: f64,
    /// Of these, CPU time.
    pub cpu_ms: f64,
}

impl Source {
    pub fn new(wait_ms: f64) -> Source {
        Source { wait: Duration::from_secs_f64(wait_ms / 1e3), waited_ms: 0.0, cpu_ms: 0.0 }
    }

    /// Waits as long as the source takes to give a document: sleeps until shortly before, then spins.
    pub fn wait(&mut self) {
        if self.wait.is_zero() {
            return;
        }
        let (start, start_cpu) = (Instant::now(), cpu(ClockId::ThreadCPUTime));
        if self.wait > 2 * SPIN {
            std::thread::sleep(self.wait - SPIN);
        }
        while start.elapsed() < self.wait {
            std::hint::spin_loop();
        }
        self.cpu_ms += (cpu(ClockId::ThreadCPUTime) - start_cpu).as_secs_f64() * 1e3;
        self.waited_ms += start.elapsed().as_secs_f64() * 1e3;
    }
}
