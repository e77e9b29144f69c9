//! `dv export` to Parquet and Arrow, and back.

use arrow_array::{Array as _, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::round_trip::data_of_full_sweep;
use crate::sandbox::{Sandbox, packages, words};

const EVERY_TYPE: &str = "\
i,u,f,b,d,t,us,ns,ip,id,hex,s,tags,numbers,days
-1,18446744073709551615,1.5,true,2013-01-31,2013-01-31T06:00:00.12Z,2013-01-31T06:00:00.000001Z,1969-12-31T23:59:59.999999999Z,10.0.0.1,f81d4fae-7dec-11d0-a765-00a0c91e6bf6,00ff,x,\"[\"\"a\"\",\"\"b\"\"]\",\"[-1,-1,5]\",\"[\"\"2013-01-31\"\"]\"
,,,,,,,,,,,,,,
9223372036854775807,0,1e300,false,0001-01-01,1969-12-31T23:59:59.999Z,1969-12-31T23:59:59.5Z,2013-01-31T06:00:00.25Z,2001:db8::1,00000000-0000-0000-0000-000000000000,\"\",\"\",\"[\"\"\"\"]\",[7],
";

const TYPES: &str =
    "ip=ip,id=uuid,hex=bytes,tags=string[],numbers=i64[],us=timestamp[us],ns=timestamp[ns],days=date[]";

/// Exports a segment in each form and builds it again; no document and no column may differ.
#[track_caller]
fn comes_back(sandbox: &Sandbox, more: &[&str]) {
    for name in ["b.parquet", "b.arrow"] {
        sandbox.ok(&["export", "a.dv", "-o", name]);
        assert!(!sandbox.exists(&format!(".{name}.tmp")));
        sandbox.ok(&[&["build", name, "-o", "b.dv"], more].concat());
        assert_eq!(sandbox.ok(&["diff", "a.dv", "b.dv"]), "", "{name}");
    }
}

#[test]
fn every_type_comes_back() {
    let sandbox = Sandbox::with("a.csv", EVERY_TYPE);
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "--type", TYPES]);
    comes_back(&sandbox, &[]);
}

#[test]
fn packages_come_back() {
    let sandbox = Sandbox::with("a.ndjson.gz", packages());
    sandbox.ok(&["build", "a.ndjson.gz", "-o", "a.dv"]);
    comes_back(&sandbox, &[]);
}

#[test]
fn all_packages_come_back() {
    let Some(sandbox) = data_of_full_sweep("debian-packages.ndjson.gz") else { return };
    sandbox.ok(&["build", "debian-packages.ndjson.gz", "-o", "a.dv"]);
    comes_back(&sandbox, &[]);
    assert_eq!(batches(&sandbox, "b.parquet").iter().map(RecordBatch::num_rows).sum::<usize>(), 63_440);
}

fn batches(sandbox: &Sandbox, name: &str) -> Vec<RecordBatch> {
    let file = std::fs::File::open(sandbox.path(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

#[test]
fn others_see_types_and_what_is_missing() {
    let sandbox = Sandbox::with("a.csv", EVERY_TYPE);
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "--type", TYPES]);
    sandbox.ok(&words("export a.dv -o a.parquet --docs 1.. --columns d,id,tags --doc-ids"));
    let batches = batches(&sandbox, "a.parquet");
    let [batch] = &batches[..] else { panic!("one batch") };
    let schema = batch.schema();
    let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(types[..3], [DataType::UInt32, DataType::Date32, DataType::FixedSizeBinary(16)]);
    assert!(matches!(&types[3], DataType::List(item) if *item.data_type() == DataType::Utf8));
    let nulls: Vec<_> = batch.columns().iter().map(|column| column.null_count()).collect();
    assert_eq!((batch.num_rows(), nulls), (2, vec![0, 1, 1, 1]));
}

#[test]
fn documents_come_in_the_order_of_a_list() {
    let sandbox = Sandbox::with("a.csv", "n,s\n0,a\n1,b\n2,c\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv"]);
    sandbox.write("docs", "2 0 2\n1");
    for name in ["b.parquet", "b.arrow", "b.csv", "b.ndjson"] {
        sandbox.ok(&["export", "a.dv", "-o", name, "--docs", "docs"]);
        sandbox.ok(&["build", name, "-o", "b.dv"]);
        assert_eq!(sandbox.ok(&["export", "b.dv", "--format", "csv"]), "n,s\n2,c\n0,a\n2,c\n1,b\n", "{name}");
    }
}

#[test]
fn a_stream_goes_through_a_pipe() {
    let sandbox = Sandbox::with("a.csv", "n,s\n0,a\n1,b\n2,c\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv"]);
    let stream = sandbox.command(&["export", "a.dv", "--format", "arrow"]).output().unwrap().stdout;
    let run = sandbox.dv_with(&["build", "-", "-o", "b.dv"], &stream);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(sandbox.ok(&["diff", "a.dv", "b.dv"]), "");
    // Through any pipe.
    #[cfg(unix)]
    {
        let stdout = ["export", "a.dv", "--format", "arrow", "-o", "/dev/stdout"];
        assert_eq!(sandbox.command(&stdout).output().unwrap().stdout, stream);
        let line = format!("{} export a.dv --format arrow -o /dev/fd/3 3>piped", env!("CARGO_BIN_EXE_dv"));
        let ran =
            std::process::Command::new("sh").args(["-c", &line]).current_dir(sandbox.path(".")).status();
        assert!(ran.unwrap().success());
        assert_eq!(sandbox.read("piped"), stream);
    }
    let parquet = sandbox.command(&["export", "a.dv", "--format", "parquet", "-o", "-"]).output().unwrap();
    sandbox.write("a.parquet", parquet.stdout);
    assert_eq!(batches(&sandbox, "a.parquet")[0].num_rows(), 3);
    let reader = arrow_ipc::reader::StreamReader::try_new(&stream[..], None).unwrap();
    assert_eq!(reader.schema().fields().len(), 2);
}

#[test]
fn nothing_is_left_of_a_file_that_failed() {
    let sandbox = Sandbox::with("a.csv", "d\n0001-01-01\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv"]);
    let run = sandbox.dv(&["export", "a.dv", "-o", "b.parquet", "--columns", "none"]);
    assert!(run.code == 1 && run.err.contains("no column \"none\""), "{run:?}");
    let run = sandbox.dv(&["export", "a.dv", "-o", "no/such/folder/b.parquet"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(!sandbox.exists("b.parquet") && !sandbox.exists(".b.parquet.tmp"));
    let run = sandbox.dv(&["head", "a.dv", "--format", "parquet"]);
    assert!(run.code == 2 && run.err.contains("only `dv export`"), "{run:?}");
}
