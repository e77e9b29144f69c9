//! Measures locks and look-ups of versioned upserts: stripes locked for a whole add, as Solr does (SOLR-6820,
//! SOLR-7332), beside one short lock, as in docs/benchmarks/store.md.
//!
//! Every document has a new id and a version, ascending, but for documents that are moved. A version above the highest
//! one of its stripe needs no look-up. Threads take batches in turn, and write segments of their own.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

mod index;
mod load;

use clap::Parser;
use docvalues_testkit::rng::SplitMix64;

use index::Index;
use load::{Load, Locks, Round, run};

/// Measure locks and look-ups of versioned upserts
#[derive(Parser)]
struct Args {
    /// Number of documents that are there, in 13 segments
    #[arg(long, value_name = "N", default_value = "1_000_000", value_parser = docvalues_benches::count)]
    docs: u32,

    /// Number of documents of a round
    #[arg(long, value_name = "N", default_value = "200_000", value_parser = docvalues_benches::count)]
    operations: u32,

    /// Number of documents of a batch
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    batch: usize,

    /// Number of documents that all threads buffer: each writes a segment of its share
    #[arg(long, value_name = "N", default_value = "80_000", value_parser = docvalues_benches::count)]
    flush: u32,

    /// Numbers of threads
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16])]
    threads: Vec<usize>,

    /// Numbers of stripes
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [256, 65_536])]
    stripes: Vec<usize>,

    /// Rounds, of which the medians count
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,

    /// Also print a line of JSON for each row
    #[arg(long)]
    json: bool,
}

/// The percentage of documents that are moved, and by up to how many places.
const MOVED: [(u64, u32); 5] = [(0, 0), (1, 1_000), (10, 1_000), (1, 100_000), (10, 100_000)];

fn main() {
    let args = Args::parse();
    let index = Index::new(&args);
    println!("| locked | stripes | seeded | moved | threads | docs/s | CPU ns/doc | skipped | blocked |");
    println!("| --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (percent, places) in MOVED {
        let order = order(args.operations, percent, places);
        // Look-ups of stripes that are not seeded do not depend on the order.
        let kinds = if percent == 0 { &[true, false][..] } else { &[true] };
        for &stripes in &args.stripes {
            for (seeded, locks) in kinds.iter().flat_map(|&seeded| Locks::ALL.map(|l| (seeded, l))) {
                for &threads in &args.threads {
                    let load = Load { order: &order, stripes, seeded, locks, threads };
                    let moved = match percent {
                        0 => "none".to_owned(),
                        _ => format!("{percent} %, {places}"),
                    };
                    measure(&args, &index, &load, &moved);
                }
            }
        }
    }
}

fn measure(args: &Args, index: &Index, load: &Load<'_>, moved: &str) {
    let mut rounds: Vec<Round> = (0..args.rounds).map(|_| run(args, index, load)).collect();
    let mut median = |value: fn(&Round) -> f64| {
        rounds.sort_by(|a, b| value(a).total_cmp(&value(b)));
        value(&rounds[rounds.len() / 2])
    };
    let (rate, cpu) = (median(|round| round.docs_per_second), median(|round| round.cpu_ns));
    let (skipped, blocked) = (median(|round| round.skipped), median(|round| round.blocked));
    let Load { stripes, seeded, locks, threads, .. } = load;
    let (locks, yes) = (locks.name(), if *seeded { "yes" } else { "no" });
    println!(
        "| {locks} | {stripes} | {yes} | {moved} | {threads} | {rate:.0} | {cpu:.0} | {:.2} % | {:.2} % |",
        100.0 * skipped,
        100.0 * blocked
    );
    if args.json {
        println!(
            "{{\"locked\":\"{locks}\",\"stripes\":{stripes},\"seeded\":{seeded},\"moved\":\"{moved}\",\
             \"threads\":{threads},\"docs_s\":{rate:.0},\"ns_cpu\":{cpu:.1},\"skipped\":{skipped:.5},\
             \"blocked\":{blocked:.5}}}"
        );
    }
}

/// The order in which documents arrive: some of them up to `places` earlier or later than they were sent.
fn order(count: u32, percent: u64, places: u32) -> Vec<u32> {
    let mut random = SplitMix64::named("moved");
    let arrival = |doc: u32| {
        let by = if random.chance(percent, 100) { 1 + i64::from(random.below_u32(places)) } else { 0 };
        (i64::from(doc) + if random.chance(1, 2) { by } else { -by }, doc)
    };
    let mut order: Vec<(i64, u32)> = (0..count).map(arrival).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, doc)| doc).collect()
}
