//! `dv head` of files that are no segments.

use crate::sandbox::Sandbox;

const CSV: &str = "id,at,size,note\n7,2024-02-29,1.5,x\n8,2024-03-01,2.25,\n9,2024-03-02,,\"a, b\"\n";

#[test]
fn the_first_rows_have_the_types_of_a_build() {
    let sandbox = Sandbox::with("a.csv", CSV);
    let run = sandbox.dv(&["head", "a.csv", "-n", "2"]);
    let expected = "{\"id\":7,\"at\":\"2024-02-29\",\"size\":1.5,\"note\":\"x\"}\n\
                    {\"id\":8,\"at\":\"2024-03-01\",\"size\":2.25}\n";
    assert_eq!((run.code, run.out.as_str()), (0, expected), "{run:?}");
    assert_eq!(run.err, "note: types by 3 rows: id i64, at date, size f64, note string\n");
    let csv = sandbox.ok(&["head", "a.csv", "--columns", "note,id", "--format", "csv"]);
    assert_eq!(csv, "note,id\nx,7\n,8\n\"a, b\",9\n");
    let run = sandbox.dv(&["head", "a.csv", "--columns", "nte"]);
    assert!(run.code > 0 && run.err.contains("did you mean"), "{run:?}");
    assert_eq!(sandbox.names(), ["a.csv"]);
}

#[test]
fn any_input_of_a_build_has_a_head() {
    let sandbox = Sandbox::with("a.ndjson", "{\"a\":1,\"tags\":[\"y\",\"x\"]}\n{\"a\":2}\n");
    let run = sandbox.dv(&["head", "a.ndjson", "-n", "1"]);
    assert_eq!(run.out, "{\"a\":1,\"tags\":[\"x\",\"y\"]}\n");
    assert_eq!(run.err, "note: types by 2 rows: a i64, tags string[]\n");
    let run = sandbox.dv_with(&["head", "-", "-n", "1"], CSV.as_bytes());
    assert!(run.code == 0 && run.out.starts_with("{\"id\":7,") && run.err.contains("at date"), "{run:?}");
    // Neither the name nor the first line gives the format.
    sandbox.write("a", "x\n1\n");
    let run = sandbox.dv(&["head", "a"]);
    assert!(run.code > 0 && run.err.contains("--input-format"), "{run:?}");
    assert_eq!(sandbox.ok(&["head", "a", "--input-format", "csv"]), "{\"x\":1}\n");
    let run = sandbox.dv(&["head", "nothing.csv"]);
    assert!(run.code == 3 && run.err.contains("nothing.csv: No such file"), "{run:?}");
    // A segment is one under any name.
    sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "-q"]);
    std::fs::copy(sandbox.path("a.dv"), sandbox.path("b.csv")).unwrap();
    let run = sandbox.dv(&["head", "b.csv", "-n", "1"]);
    assert_eq!((run.out.lines().count(), run.err.as_str()), (1, ""), "{run:?}");
}

/// Types are of the first 2,000 rows, or of as many as are printed; a row after them is not looked at.
#[test]
fn the_rest_of_the_file_is_not_read() {
    let numbers: String = (0..3_000).map(|n| format!("{n}\n")).collect();
    let sandbox = Sandbox::with("a.csv", format!("n\n{numbers}x\n"));
    let run = sandbox.dv(&["head", "a.csv"]);
    assert_eq!(run.out.lines().last(), Some("{\"n\":9}"));
    assert_eq!(run.err, "note: types by 2,000 rows: n i64\n");
    assert!(sandbox.dv(&["head", "a.csv", "-n", "4000"]).err.contains("types by 3,001 rows: n string"));
    assert_eq!(sandbox.ok(&["head", "a.csv", "-n", "0"]), "");
    let all = sandbox.ok(&["head", "a.csv", "-n", "3000"]);
    assert_eq!(all.lines().last(), Some("{\"n\":2999}"));
}

#[test]
fn bad_rows_are_left_out_and_named() {
    let sandbox = Sandbox::with("a.csv", "a,b\n1,2\n3\n4,5\n");
    let run = sandbox.dv(&["head", "a.csv"]);
    assert_eq!((run.code, run.out.as_str()), (0, "{\"a\":1,\"b\":2}\n{\"a\":4,\"b\":5}\n"));
    assert!(run.err.starts_with("skipped 1 bad row:\n  a.csv:3:"), "{run:?}");
    assert!(run.err.ends_with("note: types by 2 rows: a i64, b i64\n"), "{run:?}");
    sandbox.write("b.csv", "a;b\n1;2\n3;4\n");
    assert!(sandbox.dv(&["head", "b.csv"]).err.contains("';' separates its cells"));
    let run = sandbox.dv(&["head", "a.csv", "--commit", "1"]);
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn a_file_without_rows_has_the_columns_of_its_header() {
    let sandbox = Sandbox::with("a.csv", "");
    let head = |name: &str| {
        let run = sandbox.dv(&["head", name]);
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{run:?}");
        run.err
    };
    assert_eq!(head("a.csv"), "note: types by 0 rows: no columns\n");
    sandbox.write("a.csv", "a,b");
    assert_eq!(head("a.csv"), "note: types by 0 rows: a string, b string\n");
}

#[cfg(feature = "parquet")]
#[test]
fn the_types_of_a_parquet_file_are_those_it_declares() {
    let sandbox = Sandbox::with("a.csv", CSV);
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    sandbox.ok(&["export", "a.dv", "-o", "a.parquet"]);
    let run = sandbox.dv(&["head", "a.parquet", "-n", "2", "--columns", "id,at"]);
    assert_eq!(run.out, "{\"id\":7,\"at\":\"2024-02-29\"}\n{\"id\":8,\"at\":\"2024-03-01\"}\n");
    assert_eq!(run.err, "note: types: id i64, at date, size f64, note string\n");
}
