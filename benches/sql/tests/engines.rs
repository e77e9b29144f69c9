//! Generated queries over docvalues, and over the same rows in Parquet: by DataFusion and, if `python3` has it, by DuckDB.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../../crates/datafusion/tests/it/generated.rs"]
mod generated;

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray as _, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use docvalues::search::{DocsByPart, MissingColumns};
use docvalues::store::Snapshot;
use docvalues_datafusion::{DocvaluesTable, functions};
use docvalues_testkit::rng::SplitMix64;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

#[tokio::test]
async fn answers_equal_those_over_parquet() {
    for is_changed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = generated::store(&folder.path().join("store"), is_changed);
        let parquet = folder.path().join("t.parquet");
        write_parquet(&store.snapshot(), &parquet);
        let config = || SessionConfig::new().with_target_partitions(2);
        let [ours, theirs] = [(); 2].map(|()| SessionContext::new_with_config(config()));
        for context in [&ours, &theirs] {
            functions().into_iter().for_each(|function| context.register_udf(function));
        }
        let table = DocvaluesTable::of_snapshot(&store.snapshot()).unwrap();
        ours.register_table("t", Arc::new(table)).unwrap();
        let path = parquet.to_str().unwrap();
        theirs.register_parquet("t", path, ParquetReadOptions::default()).await.unwrap();

        let mut random = SplitMix64::new(u64::from(is_changed) + 300);
        let mut lines = Vec::new();
        for _ in 0..300 {
            let sql = generated::query(&mut random);
            let found = answer(&ours, &sql).await;
            assert_eq!(found, answer(&theirs, &sql).await, "{sql}");
            lines.push(format!("{sql}\t[{}]\n", found.join(", ")));
        }
        assert!(lines.iter().filter(|line| !line.ends_with("\t[]\n")).count() > 200);
        compare_with_duckdb(folder.path(), &lines.concat());
    }
}

fn write_parquet(snapshot: &Snapshot, path: &Path) {
    let names: Vec<String> = snapshot.schema().fields().iter().map(|field| field.name.clone()).collect();
    let export = snapshot.search().missing_columns(MissingColumns::NoValues);
    let batches: Vec<RecordBatch> =
        export.export(DocsByPart::All, &names).unwrap().batches().collect::<Result<_, _>>().unwrap();
    // From statistics, which leave out NaN, DataFusion would answer `max` without it.
    let properties = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None).build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    assert_eq!(writer.close().unwrap().file_metadata().num_rows() as u64, snapshot.docs());
}

/// The rows of an answer as JSON arrays: dates and times as numbers, bytes in hexadecimal digits, NaN and infinities as strings.
async fn answer(context: &SessionContext, sql: &str) -> Vec<String> {
    let found = context.sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batches = found.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<ArrayRef> = batch.columns().iter().map(comparable).collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = columns.iter().map(|column| cell(column, row)).collect();
            rows.push(format!("[{}]", cells.join(", ")));
        }
    }
    rows
}

fn comparable(column: &ArrayRef) -> ArrayRef {
    let to = match column.data_type() {
        DataType::Date32 => DataType::Int32,
        DataType::Timestamp(..) => DataType::Int64,
        _ => return column.clone(),
    };
    cast(column, &to).unwrap()
}

fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return "null".to_owned();
    }
    match column.data_type() {
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<String> = (0..items.len()).map(|item| cell(&items, item)).collect();
            format!("[{}]", items.join(", "))
        }
        DataType::Float64 => match column.as_primitive::<Float64Type>().value(row) {
            number if number.is_finite() => format!("{number:?}"),
            number => format!("\"{number}\""),
        },
        _ => {
            let text =
                ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap().value(row).to_string();
            if column.data_type().is_numeric() || text == "true" || text == "false" {
                text
            } else {
                format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
        }
    }
}

/// Each line is a query and its answer.
fn compare_with_duckdb(folder: &Path, lines: &str) {
    std::fs::write(folder.join("answers.tsv"), lines).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compare_with_duckdb.py");
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let ran = Command::new(python).arg(script).arg(folder).output();
    match ran {
        Ok(ran) if ran.status.code() == Some(77) => println!("SKIPPED: Python has no module duckdb"),
        Ok(ran) => {
            print!("{}", String::from_utf8_lossy(&ran.stdout));
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        }
        Err(error) => println!("SKIPPED: no Python: {error}"),
    }
}
