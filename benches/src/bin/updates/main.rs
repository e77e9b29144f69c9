//! Measures changed values: reads of columns in which some rows changed, and what a change costs.
//!
//! Prints a table for each work. Times are CPU time of the thread, medians of seven rounds.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

mod counters;
mod reads;
mod sets;

use clap::{Parser, ValueEnum};
use criterion::measurement::Measurement as _;
use docvalues_benches::clock::ThreadTime;
use docvalues_testkit::rng::SplitMix64;

/// Measure changed values
#[derive(Parser)]
struct Args {
    /// Number of documents
    #[arg(long, value_name = "N", default_value = "1_000_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Works to measure
    #[arg(long, value_name = "WORK,…", value_delimiter = ',', value_enum, default_values_t = [Work::Reads, Work::Sets])]
    only: Vec<Work>,
}

/// A work to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Work {
    /// Scans, gathers, filters and top 20 of columns with changed rows
    Reads,
    /// Changes of rows, and the column that is made of them
    Sets,
    /// Numbers of a store that are added to, beside numbers that are set
    Counters,
}

fn main() {
    let args = Args::parse();
    for work in &args.only {
        match work {
            Work::Reads => reads::measure(args.docs),
            Work::Sets => sets::measure(args.docs),
            Work::Counters => counters::measure(args.docs),
        }
    }
}

/// Rounds, of which the median counts.
const ROUNDS: usize = 7;

/// The milliseconds of CPU time that `run` takes.
fn millis(run: impl FnOnce()) -> f64 {
    let start = ThreadTime.start();
    run();
    ThreadTime.end(start).as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A share of the documents below `docs`, ascending, at least one.
fn share(docs: u32, share: f64, rng: &mut SplitMix64) -> Vec<u32> {
    let count = (f64::from(docs) * share).round().max(1.0);
    let mut some = std::collections::BTreeSet::new();
    while (some.len() as f64) < count {
        some.insert(rng.below_u32(docs));
    }
    some.into_iter().collect()
}

/// A time of change: 39 bits.
fn number(rng: &mut SplitMix64) -> i64 {
    (rng.next_u64() >> 25).cast_signed()
}

/// A title of 25 bytes.
fn text(rng: &mut SplitMix64) -> String {
    const WORDS: [&str; 16] = [
        "salt", "road", "moon", "rain", "fish", "gold", "wind", "fire", "lake", "bird", "rose", "iron",
        "snow", "leaf", "star", "milk",
    ];
    let mut words = (0..5).map(|_| WORDS[rng.below_u32(16) as usize]);
    let mut text = words.by_ref().take(4).collect::<Vec<_>>().join(" ");
    text.push_str(&format!(" {:05}", rng.below_u32(100_000)));
    text
}
