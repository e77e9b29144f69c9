//! `dv histogram`, and histograms in requests.

use serde_json::Value;

use crate::sandbox::{Sandbox, without_bars};

fn sandbox() -> Sandbox {
    let csv = "size,at,day,price,name\n\
        -3,2024-01-31T10:00:00Z,2024-01-31,0.5,a\n\
        0,2024-02-01T00:00:00Z,2024-02-01,1.5,b\n\
        99,2024-02-01T00:00:01Z,2024-02-02,1.25,c\n\
        100,2024-03-01T12:00:00Z,2024-03-01,2.0,d\n\
        999,2024-03-31T12:00:00Z,2024-03-31,9.75,e\n\
        50000,2024-05-01T00:00:00Z,2024-05-01,0.75,f\n\
        ,,,,\n";
    let sandbox = Sandbox::with("t.csv", csv);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    sandbox
}

/// Where ranges begin and how many values they have, as JSON has it; and how many are in none.
fn ranges(found: &Value) -> (Vec<(String, u64)>, u64) {
    let range = |range: &Value| {
        let from = range["from"].as_str().map_or_else(|| range["from"].to_string(), str::to_owned);
        (from, range["count"].as_u64().unwrap())
    };
    (found["ranges"].as_array().unwrap().iter().map(range).collect(), found["outside"].as_u64().unwrap())
}

fn of<const N: usize>(ranges: [(&str, u64); N], outside: u64) -> (Vec<(String, u64)>, u64) {
    (ranges.map(|(from, count)| (from.to_owned(), count)).to_vec(), outside)
}

#[test]
fn edges_are_numbers_days_and_moments() {
    let sandbox = sandbox();
    let histogram = |column: &str, edges: &str| {
        let json = sandbox.ok(&["histogram", "t.dv", column, "--edges", edges, "--json"]);
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((json["matching"].as_u64(), json["missing"].as_u64()), (Some(7), Some(1)));
        ranges(&json)
    };
    // Empty ranges are there, at the ends, too.
    let expected = of([("-10", 1), ("0", 2), ("100", 2), ("1000", 0), ("10240", 1), ("1000000", 0)], 0);
    assert_eq!(histogram("size", "-10,0,1e2,1_000,10KiB,1MB"), expected);
    assert_eq!(histogram("size", "0.5,99"), of([("1", 0), ("99", 4)], 2));
    assert_eq!(histogram("price", "0.75,1.5,1e9"), of([("0.75", 2), ("1.5", 3), ("1000000000.0", 0)], 1));
    let expected = of([("2024-02-01", 2), ("2024-03-01", 2), ("2024-04-01", 1)], 1);
    assert_eq!(histogram("day", "2024-02-01,2024-03-01,2024-04-01"), expected);
    let expected = of([("2024-02-01T00:00:00Z", 1), ("2024-02-01T00:00:01Z", 4)], 1);
    assert_eq!(histogram("at", "2024-02-01,2024-02-01T00:00:01Z"), expected);

    let text = sandbox.ok(&["histogram", "t.dv", "size", "--edges=0,100,1000", "--where", "size < 1000"]);
    let expected =
        "size: 5 documents, 0 without a value, 1 value in no range\n     0  2\n   100  2\n  1000  0\n";
    assert_eq!(without_bars(&text), expected);
}

/// No double is 2^53 + 1.
#[test]
fn steps_of_whole_numbers_are_exact() {
    let sandbox = Sandbox::with("t.csv", "v\n9007199254740993\n9007199254740992\n-5\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let expected = of([("-9007199254740993", 1), ("0", 1), ("9007199254740993", 1)], 0);
    let json = sandbox.ok(&["histogram", "t.dv", "v", "--step", "9_007_199_254_740_993", "--json"]);
    assert_eq!(ranges(&serde_json::from_str(&json).unwrap()), expected);
    let request = r#"{"histograms":[{"column":"v","step":9007199254740993}]}"#;
    let json: Value = serde_json::from_str(&sandbox.ok(&["query", "t.dv", request])).unwrap();
    assert_eq!(ranges(&json["histograms"][0]), expected);
}

/// Steps are written as edges are.
#[test]
fn steps_have_the_units_of_numbers() {
    let sandbox = sandbox();
    let by = |step: &str| sandbox.ok(&["histogram", "t.dv", "size", "--step", step]);
    for (step, plain) in [("10kB", "10000"), ("10KiB", "10240"), ("1.5kB", "1_500"), ("1mb", "1e6")] {
        assert_eq!(by(step), by(plain), "{step}");
        let request = |step: &str| {
            sandbox.ok(&[
                "query",
                "t.dv",
                &format!(r#"{{"histograms": [{{"column": "size", "step": {step}}}]}}"#),
            ])
        };
        assert_eq!(request(&format!("{step:?}")), request(&plain.replace('_', "")), "{step}");
    }
    for (step, expected) in [
        ("1XB", "expected a step that is a number or one of second, "),
        ("kB", "expected a step that is a number or one of second, "),
        ("-1kB", "expected a whole number of at least 1 as bucket width"),
        ("0.0001kB", "expected a whole number of at least 1 as bucket width"),
    ] {
        let run = sandbox.dv(&["histogram", "t.dv", "size", "--step", step]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(expected), "{}", run.err);
    }
}

/// The double of 0.3 is below three times that of 0.1.
#[test]
fn steps_of_decimals_begin_at_decimals() {
    let sandbox = Sandbox::with("t.csv", "v\n0.3\n0.29\n0.7\n0.6\n-0.1\n1.1\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let json = sandbox.ok(&["histogram", "t.dv", "v", "--step", "0.1", "--json"]);
    let (mut found, outside) = ranges(&serde_json::from_str(&json).unwrap());
    let labels = "-0.1 0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0 1.1";
    assert!(found.iter().map(|(from, _)| from.as_str()).eq(labels.split(' ')), "{found:?}");
    found.retain(|(_, count)| *count > 0);
    let expected = of([("-0.1", 1), ("0.2", 1), ("0.3", 1), ("0.6", 1), ("0.7", 1), ("1.1", 1)], 0);
    assert_eq!((found, outside), expected);
}

#[test]
fn what_is_wrong_with_edges_is_said() {
    let sandbox = sandbox();
    let wrong = |column: &str, edges: &str, expected: &str| {
        let run = sandbox.dv(&["histogram", "t.dv", column, "--edges", edges]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(expected), "{edges}: {}", run.err);
    };
    wrong("size", "0,1000,100", "edge 3, 100, is not above the one before it, 1000");
    wrong("size", "0,5,5", "edge 3, 5, is not above the one before it, 5");
    wrong("size", "7", "expected 2 to 65536 edges, found 1");
    wrong("size", "0,ten", "edge 2, \"ten\", is not a number: column \"size\" is i64");
    wrong("size", "0,", "edge 2, \"\", is not a number");
    wrong("size", "0,1e300", "edge 2, 1e300, is above every i64");
    wrong("day", "2024-01-01,2024-13-01", "edge 2, \"2024-13-01\", is not a day or a time");
    wrong("day", "2024-03-01,2024-01-01", "edge 2, \"2024-01-01\", is not above the one before it");
    let run = sandbox.dv(&["histogram", "t.dv", "name", "--edges", "a,b"]);
    assert_eq!(run.code, 2, "{run:?}");
    for more in [&["--edges", "1,2", "--step", "5"][..], &[]] {
        let run = sandbox.dv(&[&["histogram", "t.dv", "size"], more].concat());
        assert_eq!(run.code, 2, "{run:?}");
    }
    let run = sandbox.dv(&["histogram", "t.dv", "sise", "--edges", "1,2"]);
    assert_eq!(run.code, 1, "{run:?}");
}

#[test]
fn requests_have_the_same_histograms() {
    let sandbox = sandbox();
    let json = r#"{"where": "size >= 0", "facets": ["name"], "histograms": [
        {"column": "size", "step": 50}, {"column": "size", "edges": [0, 99.5, "1kB"]},
        {"column": "at", "step": "month"}, {"column": "day", "edges": ["2024-01-01", "2024-03-01"]}],
        "stats": ["size"]}"#;
    let toml = "where = 'size >= 0'\nfacets = ['name']\nstats = ['size']\n\
        [[histograms]]\ncolumn = 'size'\nstep = 50\n\
        [[histograms]]\ncolumn = 'size'\nedges = [0, 99.5, '1kB']\n\
        [[histograms]]\ncolumn = 'at'\nstep = 'month'\n\
        [[histograms]]\ncolumn = 'day'\nedges = ['2024-01-01', '2024-03-01']\n";
    sandbox.write("request.toml", toml);
    let answer = sandbox.ok(&["query", "t.dv", json]);
    assert_eq!(sandbox.ok(&["query", "t.dv", "request.toml"]), answer);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let asked = [
        ["size", "--step", "50"],
        ["size", "--edges", "0,99.5,1kB"],
        ["at", "--step", "month"],
        ["day", "--edges", "2024-01-01,2024-03-01"],
    ];
    let found = answer["histograms"].as_array().unwrap();
    assert_eq!(found.len(), asked.len());
    for (found, asked) in found.iter().zip(asked) {
        let alone =
            sandbox.ok(&[&["histogram", "t.dv"], &asked[..], &["--where", "size >= 0", "--json"]].concat());
        let alone: Value = serde_json::from_str(&alone).unwrap();
        assert_eq!((&found["column"], &found["missing"]), (&alone["column"], &alone["missing"]));
        assert_eq!(ranges(found), ranges(&alone), "{asked:?}");
    }
    assert_eq!(ranges(&found[1]), of([("0", 2), ("100", 2), ("1000", 1)], 0));
    assert_eq!(answer["facets"][0]["documents"], 5);

    for (request, expected) in [
        (
            r#"{"histograms": [{"column": "size"}]}"#,
            "histogram of \"size\": expected 2 to 65536 edges, found 0",
        ),
        (r#"{"histograms": [{"column": "size", "step": 5, "edges": [1, 2]}]}"#, "either a step or edges"),
        (r#"{"histograms": [{"column": "size", "edges": [2, 1]}]}"#, "edge 2, 1, is not above"),
        (r#"{"histograms": [{"column": "size", "step": "fortnight"}]}"#, "or auto, found \"fortnight\""),
    ] {
        let run = sandbox.dv(&["query", "t.dv", request]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(expected), "{}", run.err);
    }
}

#[test]
fn documents_of_a_range_are_looked_at_in_other_columns() {
    let sandbox = sandbox();
    let by_month = ["histogram", "t.dv", "at", "--step", "month", "--facet", "day", "-n", "1"];
    let asked = [&by_month[..], &["--sum", "size,price", "--max", "day"]].concat();
    let expected = "                  at  documents  sum of size  sum of price  max of day  day
────────────────────────────────────────────────────────────────────────────────────
2024-01-01T00:00:00Z          1           -3           0.5  2024-01-31  2024-01-31 1
2024-02-01T00:00:00Z          2           99          2.75  2024-02-02  2024-02-01 1
2024-03-01T00:00:00Z          2         1099         11.75  2024-03-31  2024-03-01 1
2024-04-01T00:00:00Z          0
2024-05-01T00:00:00Z          1        50000          0.75  2024-05-01  2024-05-01 1
7 documents, 1 without a value
";
    assert_eq!(sandbox.ok(&asked), expected);

    let json: Value = serde_json::from_str(&sandbox.ok(&[&asked[..], &["--json"]].concat())).unwrap();
    let february = &json["ranges"][1];
    assert_eq!(
        february["metrics"],
        serde_json::json!({"sum": {"size": 99, "price": 2.75}, "max": {"day": "2024-02-02"}})
    );
    assert_eq!(february["facet"]["distinct"], 2);
    // No document, so no values; the sum of none is missing, too.
    let april = serde_json::json!({"sum": {"size": null, "price": null}, "max": {"day": null}});
    assert_eq!(json["ranges"][3]["metrics"], april);
    let request = r#"{"histograms": [{"column": "at", "step": "month", "facet": "day", "top": 1, "sum": ["size", "price"],
        "max": ["day"]}]}"#;
    let answer: Value = serde_json::from_str(&sandbox.ok(&["query", "t.dv", request])).unwrap();
    assert_eq!(answer["histograms"][0]["ranges"], json["ranges"]);
}

#[test]
fn a_document_in_several_ranges_is_refused_in_other_columns() {
    let sandbox = Sandbox::with("t.ndjson", "{\"v\":[1,2],\"w\":3}\n{\"v\":[4],\"w\":5}\n");
    sandbox.ok(&["build", "t.ndjson", "-o", "t.dv", "-q"]);
    let run = sandbox.dv(&["histogram", "t.dv", "v", "--step", "1", "--sum", "w"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("may have several values a document"), "{}", run.err);
}
