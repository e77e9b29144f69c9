//! INT96 columns of Parquet: every moment is the one that was written, or refused.

use std::sync::Arc;

use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use crate::sandbox::Sandbox;

/// Days since 1970 of 0001-01-01, 1677-09-21, 2020-01-01, 2262-04-12, 9999-12-31 and a day of the year 299,999.
const DAYS: [i64; 6] = [-719_162, -106_752, 18_262, 106_752, 2_932_896, 108_853_000];

const NANOS_PER_DAY: i64 = 86_400_000_000_000;

fn int96(day: i64, nanos: i64) -> Int96 {
    let mut value = Int96::new();
    let day = u32::try_from(day + 2_440_588).unwrap();
    let word = |bits: i64| u32::try_from(bits & 0xffff_ffff).unwrap();
    value.set_data(word(nanos), word(nanos >> 32), day);
    value
}

/// The values of the only column of a file, with their levels, in one or two row groups.
struct Values {
    schema: &'static str,
    values: Vec<Int96>,
    levels: Option<(Vec<i16>, Vec<i16>)>,
}

impl Values {
    fn of(values: Vec<Int96>) -> Values {
        Values { schema: "message m { required int96 at; }", values, levels: None }
    }

    fn file(&self, groups: usize) -> Vec<u8> {
        let schema = Arc::new(parse_message_type(self.schema).unwrap());
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default())).unwrap();
        for _ in 0..groups {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let levels = self.levels.as_ref();
            let definitions = levels.map(|(definitions, _)| &definitions[..]);
            let repetitions = levels.map(|(_, repetitions)| &repetitions[..]).filter(|r| !r.is_empty());
            column.typed::<Int96Type>().write_batch(&self.values, definitions, repetitions).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.into_inner().unwrap()
    }
}

/// The type of the only column, and the rows.
fn built(values: &Values) -> (String, String) {
    let sandbox = Sandbox::with("a.parquet", values.file(1));
    sandbox.ok(&["build", "a.parquet", "-o", "a.dv"]);
    let info: Value = serde_json::from_str(&sandbox.ok(&["info", "a.dv", "--json"])).unwrap();
    (info["columns"][0]["type"].as_str().unwrap().to_owned(), sandbox.ok(&["export", "a.dv"]))
}

#[test]
fn moments_are_read_in_a_unit_that_holds_them() {
    let second = 1_000_000_000;
    for (values, ty, rows) in [
        (
            vec![int96(DAYS[0], 0), int96(DAYS[4], NANOS_PER_DAY - 1_000)],
            "timestamp[us]",
            [r#""0001-01-01T00:00:00""#, r#""9999-12-31T23:59:59.999999""#],
        ),
        (
            vec![int96(DAYS[1], 3_600 * second), int96(DAYS[3], 0)],
            "timestamp[us]",
            [r#""1677-09-21T01:00:00""#, r#""2262-04-12T00:00:00""#],
        ),
        (
            vec![int96(DAYS[2], 1), int96(DAYS[2], 2 * second)],
            "timestamp[ns]",
            [r#""2020-01-01T00:00:00.000000001""#, r#""2020-01-01T00:00:02""#],
        ),
    ] {
        let expected = rows.map(|row| format!("{{\"at\":{row}}}\n")).concat();
        assert_eq!(built(&Values::of(values)), (ty.to_owned(), expected));
    }
    // Beyond microseconds.
    let (ty, rows) = built(&Values::of(vec![int96(DAYS[5], 0)]));
    assert_eq!((ty.as_str(), rows), ("timestamp[ms]", "{\"at\":\"+299999-05-24T00:00:00\"}\n".to_owned()));
}

#[test]
fn lists_and_structs_have_moments_of_all_years() {
    let values = vec![int96(DAYS[0], 0), int96(DAYS[4], 0), int96(DAYS[2], 0)];
    let (ty, rows) = built(&Values {
        schema: "message m { optional group at (LIST) { repeated group list { optional int96 element; } } }",
        values: values.clone(),
        // Two values, no list, an empty list, one value.
        levels: Some((vec![3, 3, 0, 1, 3], vec![0, 1, 0, 0, 0])),
    });
    assert_eq!(ty, "timestamp[us]");
    assert_eq!(
        rows,
        "{\"at\":[\"0001-01-01T00:00:00\",\"9999-12-31T00:00:00\"]}\n{}\n{}\n{\"at\":[\"2020-01-01T00:00:00\"]}\n"
    );
    let (ty, rows) = built(&Values {
        schema: "message m { optional group a { optional int96 at; } }",
        values,
        levels: Some((vec![2, 1, 2, 2], vec![])),
    });
    assert_eq!(ty, "timestamp[us]");
    assert_eq!(
        rows,
        "{\"a.at\":\"0001-01-01T00:00:00\"}\n{}\n{\"a.at\":\"9999-12-31T00:00:00\"}\n{\"a.at\":\"2020-01-01T00:00:00\"}\n"
    );
}

#[test]
fn a_moment_that_no_unit_holds_is_named_by_its_row() {
    let list = "message m { optional group at (LIST) { repeated group list { optional int96 element; } } }";
    let (early, fine) = (int96(DAYS[0], 0), int96(DAYS[2], 1));
    for (values, row, found) in [
        (Values::of(vec![fine, int96(DAYS[2], 0), early]), 2, "0001-01-01T00:00:00Z"),
        (Values::of(vec![early, fine]), 1, "2020-01-01T00:00:00.000000001Z"),
        (Values::of(vec![int96(DAYS[0], 1)]), 0, "0001-01-01T00:00:00.000000001Z"),
        (Values::of(vec![int96(DAYS[5], 1_000)]), 0, "+299999-05-24T00:00:00.000001Z"),
        (
            Values {
                schema: list,
                values: vec![early, early, fine],
                levels: Some((vec![3, 0, 1, 3, 3], vec![0, 0, 0, 0, 1])),
            },
            3,
            "2020-01-01T00:00:00.000000001Z",
        ),
    ] {
        let sandbox = Sandbox::with("a.parquet", values.file(1));
        let run = sandbox.dv(&["build", "a.parquet", "-o", "a.dv"]);
        let expected = format!(
            "dv: a.parquet: row {row} (from 0): column \"at\": expected a moment that one unit holds with those before it, found \"{found}\"\n    hint: leave the column out: --exclude at\n"
        );
        assert_eq!((run.code, run.err), (1, expected));
        sandbox.ok(&["build", "a.parquet", "-o", "a.dv", "--exclude", "at"]);
    }
    // A later row group counts on.
    let both = Values::of(vec![int96(DAYS[2], 1), int96(DAYS[2], 2)]);
    let mut last = both.file(2);
    let sandbox = Sandbox::with("a.parquet", &last);
    sandbox.ok(&["build", "a.parquet", "-o", "a.dv"]);
    last.truncate(20);
    sandbox.write("a.parquet", &last);
    assert_eq!(sandbox.dv(&["build", "a.parquet", "-o", "a.dv"]).code, 1);
}
