//! Two executors of one CPU each against one: the wall time of a group by over 40 segments, best of five.
//!
//! `cargo bench --bench executors [DOCUMENTS]`, on a machine with two CPUs or more that does nothing else.
#![expect(clippy::unwrap_used, reason = "a benchmark")]

#[expect(dead_code, reason = "tests also kill processes and read their logs")]
#[path = "../tests/cluster/processes.rs"]
mod processes;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use docvalues::prelude::*;
use docvalues::store::Dataset;
use docvalues_datafusion::DocvaluesTable;
use processes::Cluster;

const SEGMENTS: u32 = 40;

const QUERY: &str =
    "select host, count(*) as n, sum(size) as s from hits where size >= 1000 group by host order by host";

/// Segments with as many documents in all.
fn files(folder: &Path, docs: u32) -> Vec<PathBuf> {
    let each = docs / SEGMENTS;
    let file = |number: u32| {
        let mut schema = Schema::new();
        let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
        let host = schema.add(FieldSpec::new("host", LogicalType::Utf8)).unwrap();
        let path = folder.join(format!("{number:02}.dv"));
        let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default()).unwrap();
        for i in number * each..(number + 1) * each {
            let random = i.wrapping_mul(2_654_435_761) >> 7;
            let mut doc = writer.document();
            doc.i64(size, i64::from(random % 100_000)).unwrap();
            doc.str(host, &format!("host-{}.example.com", random % 997)).unwrap();
            doc.finish().unwrap();
        }
        writer.finish().unwrap();
        path
    };
    (0..SEGMENTS).map(file).collect()
}

/// The answer, and the shortest of five times.
async fn best_of_five(context: &SessionContext, hits: &Dataset) -> (String, Duration) {
    let table = DocvaluesTable::of_dataset(hits.clone()).unwrap();
    context.register_table("hits", Arc::new(table)).unwrap();
    let (mut answer, mut best) = (String::new(), Duration::MAX);
    // The first one opens the files.
    for round in 0..6 {
        let began = Instant::now();
        let batches = context.sql(QUERY).await.unwrap().collect().await.unwrap();
        let took = began.elapsed();
        answer = pretty_format_batches(&batches).unwrap().to_string();
        best = if round == 0 { best } else { best.min(took) };
    }
    (answer, best)
}

#[tokio::main]
async fn main() {
    let docs = std::env::args().skip(1).find_map(|argument| argument.replace('_', "").parse().ok());
    let docs: u32 = docs.unwrap_or(40_000_000);
    let folder = tempfile::tempdir().unwrap();
    let hits = Dataset::of_files(files(folder.path(), docs)).unwrap();
    let config = datafusion::prelude::SessionConfig::new().with_target_partitions(1);
    let (expected, local) = best_of_five(&SessionContext::new_with_config(config), &hits).await;
    println!("{docs} documents in {SEGMENTS} segments, best of five");
    println!("in this process, one partition: {local:.2?}");
    let mut times = Vec::new();
    for executors in [1, 2] {
        let cluster = Cluster::start(executors, 1);
        let context = docvalues_ballista::connect(&cluster.url).await.unwrap();
        let (answer, best) = best_of_five(&context, &hits).await;
        assert_eq!(answer, expected, "{executors} executors");
        println!("{executors} executors of one vcore: {best:.2?}");
        times.push(best.as_secs_f64());
    }
    println!("ratio: {:.2}", times[0] / times[1]);
}
