//! The time that a step takes.

use std::time::{Duration, Instant};

/// The time since its start. On `wasm32-unknown-unknown`, which has no clock, it is zero: to ask for it would panic.
pub(crate) struct Stopwatch(Option<Instant>);

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        Stopwatch(has_clock.then(Instant::now))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |start| start.elapsed())
    }
}
