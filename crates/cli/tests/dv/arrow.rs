//! Parquet and Arrow IPC: values survive a round trip, and errors name what does not fit.

mod int96;
mod samples;

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, Fields, Schema};
use docvalues_cli::{Console, Exit};
use serde_json::Value;

use crate::sandbox::{Sandbox, gzip, packages};
use samples::{FORMATS, Sample, batch, files, ipc_file, ipc_stream, lists, parquet, scalars};

fn one(name: &str, array: impl Array + 'static) -> RecordBatch {
    several(vec![(name, Arc::new(array))])
}

fn several(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// What the rows of `samples` are as NDJSON.
fn ndjson(samples: &[Sample]) -> String {
    let row = |row: usize| {
        let there = samples.iter().filter(|sample| !sample.rows[row].is_empty());
        let cells: Vec<_> =
            there.map(|Sample { name, rows, .. }| format!("{name:?}:{}", rows[row])).collect();
        format!("{{{}}}\n", cells.join(","))
    };
    (0..4).map(row).collect()
}

#[test]
fn every_type_comes_out_as_it_went_in() {
    for make in [scalars, lists] {
        for (name, write) in FORMATS {
            let mut samples = make();
            samples.retain(|sample| sample.in_parquet || name != "a.parquet");
            let sandbox = Sandbox::with(name, write(&batch(&samples)));
            sandbox.ok(&["build", name, "-o", "a.dv"]);
            sandbox.ok(&["check", "a.dv"]);
            assert_eq!(sandbox.ok(&["export", "a.dv"]), ndjson(&samples), "{name}");
            let info: Value = serde_json::from_str(&sandbox.ok(&["info", "a.dv", "--json"])).unwrap();
            let columns = info["columns"].as_array().unwrap();
            let types: Vec<_> = columns.iter().map(|column| column["type"].as_str().unwrap()).collect();
            let expected: Vec<_> = samples.iter().map(|sample| sample.ty).collect();
            assert_eq!(types, expected, "{name}");
        }
    }
}

#[test]
fn a_stream_comes_from_a_pipe_and_other_files_do_not() {
    let rows = one("n", Int64Array::from(vec![7, 8]));
    let sandbox = Sandbox::new();
    for bytes in [ipc_stream(&rows), gzip(ipc_stream(&rows))] {
        let run = sandbox.dv_with(&["build", "-", "-o", "a.dv"], &bytes);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{\"n\":7}\n{\"n\":8}\n");
    }
    for bytes in [parquet(&rows), ipc_file(&rows)] {
        let run = sandbox.dv_with(&["build", "-", "-o", "b.dv"], &bytes);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.contains("<stdin>: this format cannot be read from a pipe"), "{run:?}");
        sandbox.write("a.gz", gzip(&bytes));
        let run = sandbox.dv(&["build", "a.gz", "-o", "b.dv"]);
        assert!(run.err.contains("a.gz: this format cannot be read from a compressed file"), "{run:?}");
    }
    assert!(!sandbox.exists("b.dv"));
}

#[test]
fn ids_are_found_and_what_cannot_be_one_is_refused() {
    let ids = StringArray::from(vec![Some("b"), None, Some("a")]);
    let rows = several(vec![("n", Arc::new(Int64Array::from(vec![7, 8, 9]))), ("id", Arc::new(ids))]);
    for (name, bytes) in files(&rows) {
        let sandbox = Sandbox::with(name, bytes);
        sandbox.ok(&["build", name, "-o", "a.dv", "--id-field", "id"]);
        sandbox.ok(&["check", "a.dv"]);
        assert_eq!(sandbox.ok(&["lookup", "a.dv", "a", "b", "--columns", "n"]), "{\"n\":9}\n{\"n\":7}\n");
        let run = sandbox.dv(&["build", name, "-o", "b.dv", "--id-field", "n"]);
        assert!(run.code == 1 && run.err.contains("found i64 in column"), "{run:?}");
        let run = sandbox.dv(&["build", name, name, "-o", "b.dv", "--id-field", "id"]);
        let twice = "documents 2 and 5 (from 0, in the order of the input) have the same id: \"a\"";
        assert!(run.code == 1 && run.err.contains(twice), "{run:?}");
        assert!(!sandbox.exists("b.dv"));
    }
}

#[test]
fn files_are_known_by_their_first_bytes_or_their_names() {
    let rows = one("n", Int64Array::from(vec![7]));
    for (_, bytes) in files(&rows) {
        let sandbox = Sandbox::with("data", bytes);
        sandbox.ok(&["build", "data", "-o", "a.dv"]);
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{\"n\":7}\n");
    }
    for name in ["a.parquet", "a.pq", "a.arrow", "a.arrows", "a.feather"] {
        let sandbox = Sandbox::with(name, "a,b\n1,2\n");
        let run = sandbox.dv(&["build", name, "-o", "a.dv"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.starts_with(&format!("dv: {name}: ")), "{run:?}");
        sandbox.ok(&["build", name, "-o", "a.dv", "--input-format", "csv"]);
    }
}

#[test]
fn structs_are_columns_with_dotted_names() {
    let inner =
        Fields::from(vec![Field::new("x", DataType::Int64, true), Field::new("y", DataType::Utf8, true)]);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let nulls = vec![true, true, false].into();
    let structs = StructArray::new(inner, vec![numbers, texts], Some(nulls));
    let rows = several(vec![("s", Arc::new(structs)), ("nothing", Arc::new(NullArray::new(3)))]);
    for (name, bytes) in files(&rows) {
        let sandbox = Sandbox::with(name, bytes);
        sandbox.ok(&["build", name, "-o", "a.dv"]);
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{\"s.x\":1,\"s.y\":\"a\"}\n{\"s.y\":\"b\"}\n{}\n");
        assert!(sandbox.ok(&["info", "a.dv"]).contains("nothing"));
        sandbox.ok(&["build", name, "-o", "a.dv", "--exclude", "s,nothing"]);
        assert!(!sandbox.ok(&["info", "a.dv"]).contains("s.x"));
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{}\n{}\n{}\n");
    }
}

/// Columns that no segment has, among others.
fn unmappable() -> RecordBatch {
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    map.keys().append_value("k");
    map.values().append_value(1);
    map.append(true).unwrap();
    let mut nested = ListBuilder::new(ListBuilder::new(Int64Builder::new()));
    nested.values().append(true);
    nested.append(true);
    several(vec![
        ("n", Arc::new(Int64Array::from(vec![7]))),
        ("m", Arc::new(map.finish())),
        ("two, three", Arc::new(nested.finish())),
        ("wide", new_null_array(&DataType::Decimal256(76, 0), 1)),
        ("span", Arc::new(IntervalYearMonthArray::from(vec![1]))),
        ("last", Arc::new(StringArray::from(vec!["x"]))),
    ])
}

#[test]
fn what_does_not_map_is_named_and_can_be_left_out() {
    for (name, bytes) in files(&unmappable()) {
        let sandbox = Sandbox::with(name, bytes);
        let run = sandbox.dv(&["build", name, "-o", "a.dv"]);
        assert_eq!(run.code, 1, "{run:?}");
        for part in [
            "columns that are of types no segment has",
            "\"m\" (Map(",
            "\"two, three\" (List(",
            "\"wide\" (Decimal256(",
            "\"span\" (Interval(",
        ] {
            assert!(run.err.contains(part), "{part}: {}", run.err);
        }
        // A name with a comma is an option of its own.
        assert!(run.err.ends_with(": --exclude m,wide,span --exclude 'two, three'\n"), "{}", run.err);
        let left_out = ["build", name, "-o", "a.dv", "--exclude", "m,wide,span", "--exclude", "two, three"];
        sandbox.ok(&left_out);
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{\"n\":7,\"last\":\"x\"}\n");
        let run = sandbox.dv(&[&left_out[..], &["--exclude", "lost"]].concat());
        assert!(run.err.contains("--exclude: no input has a column \"lost\""), "{run:?}");
    }
}

#[test]
fn numbers_that_are_too_large_are_named_by_their_row() {
    let rows = one("u", UInt64Array::from(vec![Some(1), None, Some(u64::MAX), Some(i64::MAX as u64)]));
    for (name, bytes) in files(&rows) {
        let sandbox = Sandbox::with(name, bytes);
        sandbox.ok(&["build", name, "-o", "a.dv"]);
        assert!(sandbox.ok(&["export", "a.dv"]).contains("18446744073709551615"));
        let run = sandbox.dv(&["build", name, "-o", "a.dv", "--type", "u=i64"]);
        let expected = format!(
            "dv: {name}: row 2 (from 0): column \"u\" (i64): expected an i64 (-2^63 to 2^63-1), found \"18446744073709551615\"\n"
        );
        assert!(run.err.starts_with(&expected), "{}", run.err);
        let run = sandbox.dv(&["build", name, "-o", "a.dv", "--type", "u=i64", "--skip-bad"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.err.contains("skipped 1 bad row"), "{run:?}");
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{\"u\":1}\n{}\n{\"u\":9223372036854775807}\n");
    }
}

#[test]
fn values_that_would_not_come_out_again_are_refused() {
    let long =
        Decimal128Array::from(vec![1, 1_234_567_890_123_456_789]).with_precision_and_scale(38, 18).unwrap();
    let seconds = TimestampSecondArray::from(vec![0, i64::MAX]);
    let noon = Date64Array::from(vec![0, 43_200_000]);
    let mut list = ListBuilder::new(Int64Builder::new());
    list.append_value([Some(1), Some(2)]);
    list.append_value([Some(1), None]);
    for (array, problem, advice) in [
        (
            Arc::new(long) as ArrayRef,
            "the number has more digits than an f64 keeps: \"1.234567890123456789\"",
            "--type c=string",
        ),
        (Arc::new(seconds), "does not fit 64 bits", "--type c=string"),
        (Arc::new(noon), "expected the start of a day, found \"1970-01-01\"", "--type c=timestamp[ms]"),
        (Arc::new(list.finish()), "an array holds null, which no column stores", "--skip-bad"),
    ] {
        let sandbox = Sandbox::with("a.arrow", ipc_file(&several(vec![("c", array)])));
        let run = sandbox.dv(&["build", "a.arrow", "-o", "a.dv"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.starts_with("dv: a.arrow: row 1 (from 0): column \"c\""), "{}", run.err);
        assert!(run.err.contains(problem) && run.err.replace('\'', "").contains(advice), "{}", run.err);
        sandbox.ok(&["build", "a.arrow", "-o", "a.dv", "--skip-bad", "-q"]);
        assert_eq!(sandbox.ok(&["export", "a.dv"]).lines().count(), 1);
        if let Some(ty) = advice.strip_prefix("--type ") {
            sandbox.ok(&["build", "a.arrow", "-o", "a.dv", "--type", ty]);
            assert_eq!(sandbox.ok(&["export", "a.dv"]).lines().count(), 2);
        }
    }
}

#[test]
fn columns_that_cannot_be_are_refused_before_anything_is_read() {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value([Some("a"), Some("b")]);
    let rows = several(vec![("tags", Arc::new(list.finish()))]);
    for (name, bytes) in files(&rows) {
        let sandbox = Sandbox::with(name, bytes);
        let run = sandbox.dv(&["build", name, "-o", "a.dv", "--type", "tags=string"]);
        assert!(
            run.err.contains("column \"tags\": expected one value a document, found lists in "),
            "{run:?}"
        );
        assert!(run.err.contains("--type 'tags=string[]'"), "{run:?}");
        sandbox.ok(&["build", name, "-o", "a.dv", "--type", "tags=string[]"]);
    }
    let twice =
        Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("a", DataType::Utf8, true)]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int64Array::from(vec![1])), Arc::new(StringArray::from(vec!["x"]))];
    let rows = RecordBatch::try_new(Arc::new(twice), columns).unwrap();
    let sandbox = Sandbox::with("a.arrow", ipc_file(&rows));
    let run = sandbox.dv(&["build", "a.arrow", "-o", "a.dv"]);
    assert!(run.err.contains("a.arrow: two columns are named \"a\""), "{run:?}");
    for (name, problem) in [("", "a column has no name"), (&"x".repeat(70_000), "a name of 70000 bytes")] {
        sandbox.write("a.arrow", ipc_file(&one(name, Int64Array::from(vec![1]))));
        let run = sandbox.dv(&["build", "a.arrow", "-o", "a.dv"]);
        assert!(run.err.starts_with(&format!("dv: a.arrow: {problem}")), "{run:?}");
    }
}

#[test]
fn types_can_be_asked_for() {
    let rows = several(vec![
        ("ip", Arc::new(StringArray::from(vec![Some("10.0.0.1"), None]))),
        ("id", Arc::new(FixedSizeBinaryArray::try_from_iter([[1; 16], [2; 16]].iter()).unwrap())),
        ("day", Arc::new(StringArray::from(vec!["31.01.2013", "01.02.2013"]))),
        ("price", Arc::new(Decimal64Array::from(vec![150, 200]).with_precision_and_scale(10, 2).unwrap())),
        ("n", Arc::new(Int32Array::from(vec![1, -2]))),
        ("at", Arc::new(Int64Array::from(vec![1_500, 2_000]))),
        ("text", Arc::new(BinaryArray::from_vec(vec![b"a", b"b"]))),
        ("time", Arc::new(Time64NanosecondArray::from(vec![0, 3_723_500_000_000]))),
    ]);
    let schema = "
        [columns.day]
        type = \"date\"
        format = \"%d.%m.%Y\"
        [columns.at]
        type = \"timestamp[ms]\"
        format = \"epoch\"
    ";
    let types = "ip=ip,id=uuid,price=string,n=f64,text=string,time=string";
    let expected = concat!(
        r#"{"ip":"10.0.0.1","id":"01010101-0101-0101-0101-010101010101","day":"31.01.2013","price":"1.50","n":1,"at":1500,"text":"a","time":"00:00:00"}"#,
        "\n",
        r#"{"id":"02020202-0202-0202-0202-020202020202","day":"01.02.2013","price":"2.00","n":-2,"at":2000,"text":"b","time":"01:02:03.5"}"#,
        "\n",
    );
    for (name, bytes) in files(&rows) {
        let sandbox = Sandbox::with(name, bytes);
        sandbox.write("s.toml", schema);
        sandbox.ok(&["build", name, "-o", "a.dv", "--schema", "s.toml", "--type", types]);
        let exported = sandbox.ok(&["export", "a.dv"]).replace(":1.0,", ":1,").replace(":-2.0,", ":-2,");
        assert_eq!(exported, expected, "{name}");
    }
}

#[test]
fn inputs_of_all_formats_are_united_by_name() {
    let sandbox = Sandbox::with(
        "a.parquet",
        parquet(&several(vec![
            ("id", Arc::new(Int64Array::from(vec![-1, 2]))),
            ("at", Arc::new(TimestampMillisecondArray::from(vec![0, 1]).with_timezone("UTC"))),
        ])),
    );
    sandbox.write(
        "b.arrow",
        ipc_file(&several(vec![
            ("x", Arc::new(StringArray::from(vec!["b"]))),
            ("id", Arc::new(UInt8Array::from(vec![3]))),
            ("at", Arc::new(TimestampMicrosecondArray::from(vec![1_500]).with_timezone("UTC"))),
        ])),
    );
    sandbox.write("c.csv", "x,id\nc,4\n");
    sandbox.write("d.ndjson", "{\"id\":5,\"late\":true}\n");
    sandbox.ok(&["build", "a.parquet", "b.arrow", "c.csv", "d.ndjson", "-o", "a.dv"]);
    let expected = "id,at,x,late\n-1,1970-01-01T00:00:00Z,,\n2,1970-01-01T00:00:00.001Z,,\n\
                    3,1970-01-01T00:00:00.0015Z,b,\n4,,c,\n5,,,true\n";
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), expected);

    sandbox.write("e.arrow", ipc_file(&one("id", StringArray::from(vec!["five"]))));
    let run = sandbox.dv(&["build", "a.parquet", "e.arrow", "-o", "b.dv"]);
    assert!(run.err.contains("column \"id\" is Int64 in \"a.parquet\" and Utf8 in \"e.arrow\""), "{run:?}");
    assert!(run.err.contains("--type id=string"), "{run:?}");
    sandbox.ok(&["build", "a.parquet", "e.arrow", "-o", "b.dv", "--type", "id=string"]);
    assert_eq!(sandbox.ok(&["export", "b.dv", "--columns", "id", "--format", "csv"]), "id\n-1\n2\nfive\n");
}

#[test]
fn a_schema_says_what_the_file_says() {
    let rows = several(vec![
        ("n", Arc::new(Int64Array::from(vec![7]))),
        ("t", Arc::new(TimestampMicrosecondArray::from(vec![7]))),
    ]);
    let sandbox = Sandbox::with("a.parquet", parquet(&rows));
    let schema = sandbox.ok(&["schema", "a.parquet"]);
    let expected = "# 2 columns. Pass this file to dv build --schema; dv schema --help explains its keys.\n\n\
                    [columns.n] # Int64\ntype = \"i64\"\n\n\
                    [columns.t] # Timestamp(µs)\ntype = \"timestamp[us]\"\n";
    assert_eq!(schema, expected);
    sandbox.write("s.toml", &schema);
    sandbox.ok(&["build", "a.parquet", "-o", "a.dv"]);
    sandbox.ok(&["build", "a.parquet", "-o", "b.dv", "--schema", "s.toml"]);
    assert_eq!(sandbox.read("a.dv"), sandbox.read("b.dv"));
}

/// The packages as rows of Arrow, by the types that `dv schema` sees.
fn packages_as_rows(sandbox: &Sandbox) -> RecordBatch {
    let schema: Value = serde_json::from_str(&sandbox.ok(&["schema", "p.ndjson.gz", "--json"])).unwrap();
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv"]);
    let exported = sandbox.ok(&["export", "p.dv"]);
    let documents: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let column = |entry: &Value| {
        let name = entry["name"].as_str().unwrap();
        let values = documents.iter().map(|document| document.get(name));
        let array: ArrayRef = match entry["type"].as_str().unwrap() {
            "i64" => Arc::new(values.map(|value| value?.as_i64()).collect::<Int64Array>()),
            "f64" => Arc::new(values.map(|value| value?.as_f64()).collect::<Float64Array>()),
            "bool" => Arc::new(values.map(|value| value?.as_bool()).collect::<BooleanArray>()),
            // A dictionary here, text there: a segment keeps them alike.
            "string" if name == "section" => {
                Arc::new(values.map(|value| value?.as_str()).collect::<DictionaryArray<Int32Type>>())
            }
            "string" => Arc::new(values.map(|value| value?.as_str()).collect::<StringArray>()),
            "string[]" => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for value in values {
                    let texts = value.and_then(Value::as_array);
                    texts
                        .into_iter()
                        .flatten()
                        .for_each(|text| lists.values().append_value(text.as_str().unwrap()));
                    lists.append(texts.is_some());
                }
                Arc::new(lists.finish())
            }
            other => panic!("a column of type {other}"),
        };
        (name.to_owned(), array, true)
    };
    let columns: Vec<_> = schema["columns"].as_array().unwrap().iter().map(column).collect();
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

#[test]
fn packages_are_the_same_segment_whatever_file_they_came_in() {
    use ::parquet::arrow::ArrowWriter;
    use ::parquet::basic::Compression;
    use ::parquet::file::properties::WriterProperties;
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    let rows = packages_as_rows(&sandbox);
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ] {
        // Row groups and pages that end within batches.
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(1_000))
            .set_data_page_row_count_limit(77)
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
        writer.write(&rows).unwrap();
        sandbox.write("p.parquet", writer.into_inner().unwrap());
        sandbox.ok(&["build", "p.parquet", "-o", "q.dv"]);
        sandbox.ok(&["diff", "p.dv", "q.dv"]);
    }
    for compression in
        [None, Some(arrow_ipc::CompressionType::LZ4_FRAME), Some(arrow_ipc::CompressionType::ZSTD)]
    {
        let options =
            arrow_ipc::writer::IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let mut writer =
            arrow_ipc::writer::FileWriter::try_new_with_options(Vec::new(), &rows.schema(), options).unwrap();
        for start in (0..rows.num_rows()).step_by(500) {
            writer.write(&rows.slice(start, 500.min(rows.num_rows() - start))).unwrap();
        }
        sandbox.write("p.arrow", writer.into_inner().unwrap());
        // In so little memory, rows come one by one.
        sandbox.ok(&["build", "p.arrow", "-o", "q.dv", "--memory", "600KiB"]);
        sandbox.ok(&["diff", "p.dv", "q.dv"]);
    }
}

/// Builds a segment of a file within this process; what it says of an error.
fn build(sandbox: &Sandbox, name: &str) -> (Exit, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (input, output) = (sandbox.path(name), sandbox.path("x.dv"));
    let args = ["dv".into(), "build".into(), "-q".into(), input.into(), "-o".into(), output.into()];
    let exit = docvalues_cli::run(args, &mut Console::plain(&mut out, &mut err));
    (exit, String::from_utf8(err).unwrap())
}

#[test]
fn lengths_that_are_not_there_take_no_memory() {
    let rows = one("n", Int64Array::from(vec![7]));
    // The length of the first message, and the body that it says it has.
    let mut endless = ipc_stream(&rows);
    endless[4..8].copy_from_slice(&i32::MAX.to_le_bytes());
    let sandbox = Sandbox::with("a.arrows", endless);
    assert!(build(&sandbox, "a.arrows").1.contains("it is cut off"));
    let mut footer = ipc_file(&rows);
    let at = footer.len() - 10;
    footer[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let sandbox = Sandbox::with("a.arrow", footer);
    assert!(build(&sandbox, "a.arrow").1.contains("its end is missing"));
    // That there is nothing is no error.
    let empty = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let sandbox = Sandbox::with("a.arrow", ipc_file(&empty));
    assert_eq!(build(&sandbox, "a.arrow").0, Exit::Ok);
}

#[test]
fn sorted_and_deduplicated_lists_are_noted() {
    for (name, write) in FORMATS {
        for (rows, is_noted) in [
            ([["a", "b"], ["a", "c"]], false),
            ([["a", "b"], ["c", "a"]], true),
            ([["a", "a"], ["b", "c"]], true),
        ] {
            let (mut strings, mut numbers) =
                (ListBuilder::new(StringBuilder::new()), ListBuilder::new(Int64Builder::new()));
            for row in rows {
                strings.append_value(row.map(Some));
                numbers.append_value([Some(1), Some(1)]);
            }
            let rows = several(vec![("s", Arc::new(strings.finish())), ("n", Arc::new(numbers.finish()))]);
            let sandbox = Sandbox::with(name, write(&rows));
            let run = sandbox.dv(&["build", name, "-o", "a.dv"]);
            let note = "note: column \"s\": the values of a document are stored in ascending order, and equal strings once\n";
            assert_eq!((run.code, run.err.as_str()), (0, if is_noted { note } else { "" }), "{name}");
        }
    }
}

/// Not damaged, but compressed in a way that dv cannot read; only columns that are read count.
#[test]
fn codecs_that_are_not_compiled_in_are_named() {
    let rows = several(vec![
        ("n", Arc::new(Int64Array::from(vec![7])) as ArrayRef),
        ("s", Arc::new(StringArray::from(vec!["a"]))),
    ]);
    let bytes = parquet(&rows);
    // The codec of a column comes after its path.
    let path = b"\x01n\x15\x00";
    let at = bytes.windows(path.len()).position(|window| window == path).unwrap();
    for (codec, name) in [(4, "brotli"), (3, "LZO")] {
        let mut bytes = bytes.clone();
        bytes[at + 3] = codec << 1;
        let sandbox = Sandbox::with("a.parquet", bytes);
        let run = sandbox.dv(&["build", "a.parquet", "-o", "a.dv"]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(
            run.err.starts_with(&format!("dv: a.parquet: compressed with {name}, which dv cannot read\n")),
            "{run:?}"
        );
        assert!(run.err.contains("is not damaged") && !sandbox.exists("a.dv"), "{run:?}");
        sandbox.ok(&["build", "a.parquet", "-o", "a.dv", "--exclude", "n"]);
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{\"s\":\"a\"}\n");
    }
}
