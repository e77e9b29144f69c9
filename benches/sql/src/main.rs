//! SQL over a segment beside the same SQL over Parquet, both by DataFusion: `cargo run --release -- [DOCS] [FOLDER]
//! [SOME]`, which runs the queries that contain SOME.
//!
//! Parquet has groups of 1 M rows, zstd, a page index, and a column of the numbers of documents; its better time of
//! `pushdown_filters` on and off counts. Prints the milliseconds of CPU time of each query, medians of five rounds in turn,
//! after one that does not count.

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchReader as _};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use docvalues::search::{DocsByPart, Search};
use docvalues::{Segment, WriterOptions};
use docvalues_benches::segment;
use docvalues_datafusion::{DocvaluesTable, GroupByOrds};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use rustix::time::{ClockId, clock_gettime};

const COLUMNS: [&str; 6] = ["ts", "size", "status", "price60", "uni24", "host"];

const ROUNDS: usize = 5;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let docs: u32 = arguments.next().map_or(Ok(10_000_000), |docs| docs.replace('_', "").parse())?;
    let folder = arguments.next().unwrap_or_else(|| "target/sql".to_owned());
    let some = arguments.next().unwrap_or_default();
    std::fs::create_dir_all(&folder)?;
    let (file, parquet) = (format!("{folder}/{docs}.dv"), format!("{folder}/{docs}.parquet"));
    if !Path::new(&file).exists() {
        std::fs::write(&file, segment::write(docs, &COLUMNS, WriterOptions::default()).bytes)?;
    }
    let segment = Segment::open(&file)?;
    if !Path::new(&parquet).exists() {
        write_parquet(&segment, &parquet)?;
    }
    println!(
        "{docs} documents; bytes: {} and {}",
        std::fs::metadata(&file)?.len(),
        std::fs::metadata(&parquet)?.len()
    );
    let ours = context(false);
    ours.register_table("t", Arc::new(DocvaluesTable::of_segments([segment])?.with_places()?))?;
    let (plain, pushing) = (context(false), context(true));
    for context in [&plain, &pushing] {
        context.register_parquet("t", &parquet, ParquetReadOptions::default()).await?;
    }
    println!(
        "| query | docvalues | Parquet | with `pushdown_filters` | times as long |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for sql in queries(docs).into_iter().filter(|sql| sql.contains(&some)) {
        let mut times = [const { Vec::new() }; 3];
        let expected = answer(&plain, &sql).await?.0;
        for round in 0..=ROUNDS {
            for (context, times) in [&ours, &plain, &pushing].into_iter().zip(&mut times) {
                let (found, time) = answer(context, &sql).await?;
                assert_eq!(found, expected, "{sql}");
                if round > 0 {
                    times.push(time);
                }
            }
        }
        let [ours, plain, pushing] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2]
        });
        let sql = sql.replace(&some_numbers(docs), "…");
        println!("| `{sql}` | {ours:.1} | {plain:.1} | {pushing:.1} | {:.1} |", plain.min(pushing) / ours);
    }
    Ok(())
}

fn queries(docs: u32) -> Vec<String> {
    let later = 1_500_000_000_000 + u64::from(docs) * 900;
    [
        &format!("select ts, size, host from t where _doc in ({})", some_numbers(docs)),
        "select ts, host from t where size between 9000 and 9300",
        "select host, sum(size) as bytes from t group by host order by bytes desc, host limit 10",
        "select status, sum(size) from t group by status order by status",
        "select size, ts from t order by size desc, ts limit 20",
        "select ts from t order by ts desc limit 20",
        &format!("select count(*) from t where ts between {later} and {}", later + u64::from(docs) * 50),
        "select count(*) from t where size between 9000 and 9300",
        "select sum(ts), sum(size), sum(status), sum(uni24) from t",
        "select sum(price60), count(price60) from t",
        "select count(*) from t where host like 'a%'",
        "select count(*), min(ts), max(size) from t",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Twenty documents.
fn some_numbers(docs: u32) -> String {
    let numbers: Vec<String> = (0..20_u32).map(|at| (at * (docs / 21) + 7 * at).to_string()).collect();
    numbers.join(", ")
}

fn context(pushdown: bool) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(2);
    // Else the table takes no filter that comes late, as some of these are wrong.
    let config = config.set_bool("datafusion.optimizer.enable_aggregate_dynamic_filter_pushdown", false);
    let config = config.set_bool("datafusion.execution.parquet.pushdown_filters", pushdown);
    let state = SessionStateBuilder::new().with_default_features().with_config(config);
    SessionContext::new_with_state(state.with_physical_optimizer_rule(Arc::new(GroupByOrds)).build())
}

/// The answer in order, and the milliseconds of CPU time.
async fn answer(context: &SessionContext, sql: &str) -> Result<(Vec<String>, f64), Box<dyn Error>> {
    let start = cpu();
    let batches: Vec<RecordBatch> = context.sql(sql).await?.collect().await?;
    let time = (cpu() - start) * 1e3;
    let text = pretty_format_batches(&batches)?.to_string();
    let mut lines: Vec<String> =
        text.lines().filter(|line| line.starts_with("| ")).map(str::to_owned).collect();
    lines.sort_unstable();
    Ok((lines, time))
}

/// The seconds of CPU time of the process.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn write_parquet(segment: &Segment, path: &str) -> Result<(), Box<dyn Error>> {
    let batches = Search::new(segment).export(DocsByPart::All, &COLUMNS)?.batches();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(1_000_000))
        .build();
    let fields = batches.schema().fields().iter().cloned().collect::<Vec<_>>();
    let numbers = Arc::new(Field::new("_doc", DataType::Int64, false));
    let schema = Arc::new(Schema::new([fields, vec![numbers]].concat()));
    let mut writer = ArrowWriter::try_new(File::create(path)?, schema.clone(), Some(properties))?;
    let mut doc = 0;
    for batch in batches {
        let batch = batch?;
        let end = doc + batch.num_rows() as i64;
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(doc..end));
        doc = end;
        let columns = batch.columns().iter().cloned().chain([numbers]).collect();
        writer.write(&RecordBatch::try_new(schema.clone(), columns)?)?;
    }
    writer.close()?;
    Ok(())
}
