//! Values of every type, exported and built again: the same values, of the same type.

use std::net::Ipv6Addr;

use docvalues::format::file::kind::{from_f64, from_u64};
use docvalues::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
use docvalues_testkit::damage::cases;
use proptest::prelude::*;
use serde_json::Value;

use crate::sandbox::Sandbox;

const FORMATS: [&str; 3] = ["csv", "tsv", "ndjson"];

/// A column: its type, and the values of each document.
#[derive(Clone, Debug)]
struct Column {
    ty: LogicalType,
    multi: bool,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
enum Cell {
    /// A number as the segment stores it.
    Number(i64),
    Bytes(Vec<u8>),
}

/// Writes a segment with the columns `c0`, `c1` …
fn write(sandbox: &Sandbox, columns: &[Column]) {
    let mut schema = Schema::new();
    let fields: Vec<_> = (0..)
        .zip(columns)
        .map(|(at, column)| {
            let spec = FieldSpec::new(format!("c{at}"), column.ty);
            schema.add(if column.multi { spec.multi_valued() } else { spec }).unwrap()
        })
        .collect();
    let mut writer = SegmentWriter::create(sandbox.path("a.dv"), schema, WriterOptions::default()).unwrap();
    for row in 0..columns[0].rows.len() {
        let mut document = writer.document();
        for (field, column) in fields.iter().zip(columns) {
            for cell in &column.rows[row] {
                match cell {
                    Cell::Number(number) => document.stored(*field, *number).unwrap(),
                    Cell::Bytes(bytes) => document.stored_bytes(*field, bytes).unwrap(),
                };
            }
        }
        document.finish().unwrap();
    }
    writer.finish().unwrap();
}

/// The types that `dv info` prints.
fn types(sandbox: &Sandbox, segment: &str) -> Vec<String> {
    let info: Value = serde_json::from_str(&sandbox.ok(&["info", segment, "--json"])).unwrap();
    let columns = info["columns"].as_array().unwrap().iter();
    let mut types: Vec<_> = columns.map(|column| format!("{} {}", column["name"], column["type"])).collect();
    types.sort();
    types
}

/// Exports, builds again with these options, and compares.
fn check(columns: &[Column], format: &str, options: &[String]) {
    let sandbox = Sandbox::new();
    write(&sandbox, columns);
    let file = format!("a.{format}");
    sandbox.ok(&["export", "a.dv", "-o", &file]);
    let options = options.iter().map(String::as_str);
    sandbox.ok(&["build", &file, "-o", "b.dv", "-q"].into_iter().chain(options).collect::<Vec<_>>());
    let text = || String::from_utf8_lossy(&sandbox.read(&file)).into_owned();
    assert_eq!(types(&sandbox, "b.dv"), types(&sandbox, "a.dv"), "{}", text());
    // The new segment has formats, which the one of the writer has not.
    let diff = sandbox.dv(&["diff", "a.dv", "b.dv"]).out;
    let of_values = diff.lines().filter(|line| !line.contains(" column c") && !line.contains(" documents, "));
    assert_eq!(of_values.count(), 0, "{diff}\n{}", text());
}

fn double(value: f64) -> Cell {
    Cell::Number(from_f64(value))
}

fn unsigned(value: u64) -> Cell {
    Cell::Number(from_u64(value))
}

/// Any value of a type; doubles are finite if JSON is to have them.
fn cell(ty: LogicalType, is_finite: bool) -> BoxedStrategy<Cell> {
    let ends = || prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]);
    let number = || {
        prop_oneof![
            any::<i64>(),
            -2_000_000_000_000_000..2_000_000_000_000_000_i64,
            -1_000..1_000_i64,
            ends()
        ]
    };
    let short = prop::sample::select(vec![0.0, -0.0, 0.5, 32.0, -7.0, 1e15, 1e16, 1e300, 5e-324, f64::MAX]);
    match ty {
        LogicalType::F64 => {
            let any =
                any::<u64>().prop_map(f64::from_bits).prop_filter("a number", |value| value.is_finite());
            let other = prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
            let finite = prop_oneof![any, short, (-1_000..1_000_i32).prop_map(f64::from)];
            let value = if is_finite { finite.boxed() } else { prop_oneof![4 => finite, 1 => other].boxed() };
            value.prop_map(double).boxed()
        }
        LogicalType::U64 => prop_oneof![any::<u64>(), 0..10_u64, Just(u64::MAX)].prop_map(unsigned).boxed(),
        LogicalType::Bool => (0..2_i64).prop_map(Cell::Number).boxed(),
        LogicalType::Ip => prop_oneof![
            any::<u128>(),
            any::<u32>().prop_map(|four| u128::from(four) | 0xffff << 32),
            any::<u32>().prop_map(u128::from),
            0..3_u128,
        ]
        .prop_map(|bits| Cell::Bytes(Ipv6Addr::from_bits(bits).octets().to_vec()))
        .boxed(),
        LogicalType::Uuid => any::<[u8; 16]>().prop_map(|bytes| Cell::Bytes(bytes.to_vec())).boxed(),
        LogicalType::Bytes => prop::collection::vec(any::<u8>(), 0..5).prop_map(Cell::Bytes).boxed(),
        LogicalType::Utf8 => {
            let odd = [
                "",
                "NA",
                "null",
                "\"",
                "\"\"",
                ",",
                "\t",
                "\n",
                "\r\n",
                "\r",
                " a ",
                "[]",
                "[1]",
                "\u{feff}",
                "\\",
                "é\u{0}",
                "-0",
                "nan",
                "2020-01-01",
            ];
            let text = prop_oneof![
                "\\PC{0,5}",
                "[a-c\",\t\r\n\\\\]{0,5}",
                prop::sample::select(odd.to_vec()).prop_map(str::to_owned)
            ];
            text.prop_map(|text| Cell::Bytes(text.into_bytes())).boxed()
        }
        _ => number().prop_map(Cell::Number).boxed(),
    }
}

/// Values of some documents, of which some have none.
fn column(ty: LogicalType, multi: bool, is_finite: bool) -> impl Strategy<Value = Column> {
    let most = if multi { 4 } else { 2 };
    let row = prop::collection::vec(cell(ty, is_finite), 0..most);
    prop::collection::vec(row, 6).prop_map(move |rows| Column { ty, multi, rows })
}

/// A value whose text no other type has, or that the type needs the most digits for.
fn telling(ty: LogicalType) -> Option<Cell> {
    match ty {
        LogicalType::U64 => Some(unsigned(u64::MAX)),
        LogicalType::I64 => Some(Cell::Number(-1)),
        LogicalType::TimestampMicros | LogicalType::TimestampNanos => Some(Cell::Number(1)),
        LogicalType::Utf8 | LogicalType::Bytes => None,
        LogicalType::F64 => Some(double(1.0)),
        LogicalType::Bool => Some(Cell::Number(0)),
        LogicalType::Ip | LogicalType::Uuid => Some(Cell::Bytes(vec![1; 16])),
        _ => Some(Cell::Number(0)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(10, 24)))]

    /// The types that `dv` infers again from text: all but strings, which may hold any text, and bytes.
    #[test]
    fn types_are_inferred_again(
        columns in LogicalType::ALL.into_iter().filter(|ty| telling(*ty).is_some())
            .map(|ty| column(ty, false, true)).collect::<Vec<_>>(),
        format in prop::sample::select(FORMATS.to_vec()),
    ) {
        let mut columns = columns;
        for column in &mut columns {
            column.rows.push(telling(column.ty).into_iter().collect());
        }
        check(&columns, format, &[]);
    }

    #[test]
    fn types_that_are_given_hold_every_value(
        csv in LogicalType::ALL.into_iter().flat_map(|ty| [column(ty, false, false), column(ty, true, false)]).collect::<Vec<_>>(),
        ndjson in LogicalType::ALL.into_iter().flat_map(|ty| [column(ty, false, true), column(ty, true, true)]).collect::<Vec<_>>(),
        format in prop::sample::select(FORMATS.to_vec()),
    ) {
        let mut columns = if format == "ndjson" { ndjson } else { csv };
        // A field that no document has is no column in JSON.
        for column in &mut columns {
            column.rows.push(vec![telling(column.ty).unwrap_or(Cell::Bytes(b"x".to_vec()))]);
        }
        let brackets = |column: &Column| if column.multi { "[]" } else { "" };
        let types = (0..).zip(&columns).map(|(at, column): (usize, _)| format!("c{at}={}{}", column.ty.name(), brackets(column)));
        check(&columns, format, &["--type".to_owned(), types.collect::<Vec<_>>().join(",")]);
    }
}

#[test]
fn whole_doubles_and_zeros_stay_doubles() {
    for values in [
        vec![1.0, 2.0],
        vec![-0.0],
        vec![0.0, -0.0],
        vec![1e15, 1e22],
        vec![f64::NAN],
        vec![f64::INFINITY, 3.0],
    ] {
        let rows = values.iter().map(|value| vec![double(*value)]).collect();
        for format in ["csv", "tsv"] {
            check(&[Column { ty: LogicalType::F64, multi: false, rows: Vec::clone(&rows) }], format, &[]);
        }
    }
}

#[test]
fn numbers_and_timestamps_of_other_programs_are_read() {
    let sandbox = Sandbox::new();
    for (cells, ty) in [
        // DuckDB and NumPy, pandas, PostgreSQL, R.
        ("nan inf -inf 1.5", "f64"),
        ("NaN inf -inf 1.5", "f64"),
        ("NaN Infinity -Infinity 1.5", "f64"),
        ("NaN Inf -Inf 1.5", "f64"),
        ("nan 1 2", "f64"),
        ("nan x", "string"),
        // PostgreSQL and DuckDB, Ruby and Git, BigQuery, pandas.
        ("2024-01-02T03:04:05.5+00 2024-01-02T03:04:05+00", "timestamp[ms]"),
        ("2024-01-02T03:04:05.123456-07", "timestamp[us]"),
        ("2024-01-02T03:04:05+05:30", "timestamp[ms]"),
        ("2024-01-02T03:04:05_+0200", "timestamp[ms]"),
        ("2024-01-02T03:04:05+0200", "timestamp[ms]"),
        ("2024-01-02T03:04:05_UTC 2024-01-02T03:04:05.123456_UTC", "timestamp[us]"),
        ("2024-01-02T03:04:05_CET", "string"),
        ("-0044-03-15 +12000-01-01 2024-01-01", "date"),
    ] {
        let text = format!("x\n{}\n", cells.replace(' ', "\n").replace('_', " "));
        for text in [text.clone(), if ty.starts_with('t') { text.replace("02T03", "02 03") } else { text }] {
            sandbox.write("a.csv", &text);
            sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
            assert_eq!(types(&sandbox, "a.dv"), [format!("\"x\" {ty:?}")], "{text}");
            let exported = sandbox.ok(&["export", "a.dv", "--format", "csv"]);
            if ty != "f64" {
                assert_eq!(exported, text);
            }
        }
    }
    let count = |condition: &str| sandbox.ok(&["count", "a.dv", "--where", condition]);
    sandbox.write("a.csv", "t,x\n2024-01-02 03:04:05 +0200,-Infinity\n2024-01-02 01:04:05 +0200,nan\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    assert_eq!(count("t = \"2024-01-02T01:04:05Z\" and x < -1e308"), "1\n");
}
