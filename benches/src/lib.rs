//! Data, clock and settings of the benchmarks. Each file in `benches/` is one experiment, and `docs/benchmarks.md` lists
//! their questions. The names of benchmarks are `GROUP/CONTENDER/SIZE`: a group begins with the name of its file, a
//! contender is a call of docvalues, a crate, or `vec` (plain values in memory), and the last part is a number or the
//! name of the input.
//!
//! | module | contents |
//! | --- | --- |
//! | [`data`] | columns and documents, from fixed seeds |
//! | [`archive`] | synthetic documents of a web archive |
//! | [`ids`] | random, time-based and consecutive ids |
//! | [`id_structures`] | structures that find the document of an id, and their names |
//! | [`ingest`] | documents of eight fields with an id |
//! | [`lucene`] | the versions of Lucene, and the JDKs that run them |
//! | [`jump_shapes`] | columns for comparisons of jump tables |
//! | [`layouts`] | the layouts of Lucene and of docvalues, read with and without tables |
//! | [`column_input`] | these columns as input of a writer |
//! | [`record`] | the record of a run, as JSON |
//! | [`line_plot`], [`dot_plot`] | plots, as SVG |
//! | [`segment`] | these columns in a segment in memory |
//! | [`record`] | records of measurements, from which pages get their tables |
//! | [`updated_docs`] | documents whose values are updated, and a store of them |
//! | [`clock`] | CPU time of the thread, as criterion's measurement |
//! | [`process`] | readings of the process: memory, page faults, mappings, open files |
#![expect(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "only benches use this crate, and their numbers are small"
)]

pub mod archive;
pub mod clock;
pub mod column_input;
pub mod data;
pub mod dot_plot;
pub mod id_structures;
pub mod ids;
pub mod ingest;
pub mod jump_shapes;
pub mod layouts;
pub mod line_plot;
pub mod lucene;
#[cfg(unix)]
pub mod process;
pub mod record;
pub mod segment;
pub mod updated_docs;

use std::fs::File;
use std::io;
use std::num::ParseIntError;
use std::path::Path;
use std::time::Duration;

use criterion::Criterion;

pub use clock::ThreadTime;

/// Criterion with CPU time.
pub type Bench = Criterion<ThreadTime>;

/// The configuration of all benches: CPU time, and just enough of it to tell 5 % from noise. `--measurement-time` is for
/// more.
pub fn criterion() -> Bench {
    Criterion::default()
        .with_measurement(ThreadTime)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .sample_size(20)
        .nresamples(10_000)
}

/// The same configuration with wall time, for several threads.
pub fn wall_time() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20)
        .nresamples(10_000)
}

/// The number of documents: `DOCVALUES_BENCH_DOCS`, or a million.
pub fn docs() -> u32 {
    match std::env::var("DOCVALUES_BENCH_DOCS") {
        Ok(docs) => count(&docs).expect("DOCVALUES_BENCH_DOCS is a number of documents"),
        Err(_) => 1_000_000,
    }
}

/// Parses a number of documents such as 3000000 or 3_000_000.
///
/// # Errors
///
/// If it is no number, or too large.
pub fn count(text: &str) -> Result<u32, ParseIntError> {
    text.replace('_', "").parse()
}

/// Drops a file from the page cache, apart from pages that a process has mapped. Does so on Linux only.
///
/// # Errors
///
/// If it cannot be opened or synced.
pub fn forget(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // Dirty pages cannot be dropped.
    file.sync_all()?;
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}
