//! Data, clock and settings of the benchmarks. Each file in `benches/` asks one question;
//! `docs/benchmarks.md` has the answers.
//!
//! | module | holds |
//! | --- | --- |
//! | [`data`] | columns and documents, from fixed seeds |
//! | [`archive`] | documents of a web archive, any number of them |
//! | [`ids`] | ids of documents, random, by time, and one after the other |
//! | [`lucene`] | versions of Lucene that can run here |
//! | [`given`] | these columns as a caller has them, handed to a writer |
//! | [`segment`] | these columns written to a segment in memory |
//! | [`clock`] | CPU time of the thread, as criterion's measurement |
#![forbid(unsafe_code)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "only benches use this crate, and their numbers are small"
)]

pub mod archive;
pub mod clock;
pub mod data;
pub mod given;
pub mod ids;
pub mod lucene;
pub mod segment;

use std::num::ParseIntError;
use std::time::Duration;

use criterion::Criterion;

pub use clock::ThreadTime;

/// Criterion, as all benches use it.
pub type Bench = Criterion<ThreadTime>;

/// CPU time, and no longer than it takes to tell 5 % from noise.
pub fn criterion() -> Bench {
    Criterion::default()
        .with_measurement(ThreadTime)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(20)
        .nresamples(10_000)
}

/// The same in wall time, for what several threads do.
pub fn wall_time() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(4))
        .sample_size(20)
        .nresamples(10_000)
}

/// How many documents: `DOCVALUES_BENCH_DOCS`, or a million.
pub fn docs() -> u32 {
    match std::env::var("DOCVALUES_BENCH_DOCS") {
        Ok(docs) => count(&docs).expect("DOCVALUES_BENCH_DOCS is a number of documents"),
        Err(_) => 1_000_000,
    }
}

/// A number of documents, as people write it: 3000000 or 3_000_000.
///
/// # Errors
///
/// When it is none, or too great.
pub fn count(text: &str) -> Result<u32, ParseIntError> {
    text.replace('_', "").parse()
}
