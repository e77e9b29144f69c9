//! CPU time of the measuring thread, and wall time.

use std::ops::{Add, Sub};
use std::time::{Duration, Instant};

/// A point in time on both clocks.
#[derive(Clone, Copy)]
pub struct Moment {
    cpu: Duration,
    wall: Instant,
}

/// The time between two moments, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elapsed {
    pub cpu: f64,
    pub wall: f64,
}

impl Moment {
    pub fn now() -> Moment {
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        // Such a clock begins at 0.
        Moment { cpu: Duration::try_from(cpu).unwrap_or_default(), wall: Instant::now() }
    }
}

impl Sub for Moment {
    type Output = Elapsed;

    fn sub(self, earlier: Moment) -> Elapsed {
        let ns = |time: Duration| time.as_nanos() as f64;
        Elapsed {
            cpu: ns(self.cpu.saturating_sub(earlier.cpu)),
            wall: ns(self.wall.saturating_duration_since(earlier.wall)),
        }
    }
}

impl Add for Elapsed {
    type Output = Elapsed;

    fn add(self, other: Elapsed) -> Elapsed {
        Elapsed { cpu: self.cpu + other.cpu, wall: self.wall + other.wall }
    }
}
