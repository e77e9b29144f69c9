//! Values after the sample that do not fit the type of the sample.

use crate::sandbox::Sandbox;

/// Builds a file with a sample of one row, and returns the note and the export.
#[track_caller]
fn build(name: &str, text: &str) -> (String, String) {
    let sandbox = Sandbox::with(name, text);
    let run = sandbox.dv(&["build", name, "-o", "a.dv", "--sample", "1"]);
    assert_eq!(run.code, 0, "{run:?}");
    sandbox.ok(&["check", "a.dv"]);
    let mut left = [name, "a.dv"];
    left.sort_unstable();
    assert_eq!(sandbox.names(), left, "files were left behind");
    // A pipe cannot be read again.
    let format = name.rsplit('.').next().unwrap();
    let args = ["build", "-", "--input-format", format, "-o", "b.dv", "--sample", "1"];
    let piped = sandbox.dv_with(&args, text.as_bytes());
    assert_eq!(piped.code, 1, "{piped:?}");
    (run.err, sandbox.ok(&["export", "a.dv", "--format", "csv"]))
}

fn note(place: &str, text: &str, to: &str, from: &str) -> String {
    format!(
        "note: column \"n\": {place} has {text:?}, so the type is {to} and not the {from} of the sample; the input was read \
         again\n"
    )
}

#[test]
fn the_type_widens_and_every_cell_stays() {
    for (first, late, to, from) in [
        ("1", "1.5", "f64", "i64"),
        ("1", "x", "string", "i64"),
        ("1", "007", "string", "i64"),
        ("1", "9223372036854775808", "u64", "i64"),
        ("1.5", "x", "string", "f64"),
        ("true", "maybe", "string", "bool"),
        ("2024-01-01", "2024-02-30", "string", "date"),
        ("2024-01-01T00:00:00Z", "yesterday", "string", "timestamp[ms]"),
        ("10.0.0.1", "localhost", "string", "ip"),
        ("10.0.0.1", "::ffff:10.0.0.1", "string", "ip"),
        ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "string", "uuid"),
    ] {
        let text = format!("k,n\na,{first}\nb,\nc,{late}\n");
        assert_eq!(build("a.csv", &text), (note("a.csv:4:3", late, to, from), text));
    }
}

#[test]
fn integers_beside_a_late_fraction_stay_exact() {
    let text = "n\n9007199254740993\n1.5\n";
    let (notes, exported) = build("a.csv", text);
    let rounded = "note: column \"n\": a double rounds 9007199254740993, so the type is string (--type n=f64 rounds it)\n";
    assert_eq!((notes, exported.as_str()), (note("a.csv:3:1", "1.5", "string", "i64") + rounded, text));
}

#[test]
fn finer_timestamps_and_arrays_widen_as_well() {
    let text = "n\n2024-01-01T00:00:00Z\n2024-01-01T00:00:00.000001Z\n";
    let (notes, exported) = build("a.csv", text);
    assert!(notes.contains("after all rows, the type is timestamp[us] and not the timestamp[ms]"), "{notes}");
    assert_eq!(exported, text);
    let (notes, exported) = build("a.ndjson", "{\"n\":1}\n{\"n\":[2,3]}\n");
    assert_eq!(notes, note("a.ndjson:2:7", "2", "i64[]", "i64"));
    assert_eq!(exported, "n\n[1]\n\"[2,3]\"\n");
}

#[test]
fn several_columns_widen_at_once_over_several_files() {
    let sandbox = Sandbox::with("a.csv", "a,b\n1,2\n");
    sandbox.write("b.csv", "b,a\n3,4\n5.5,6\n7,x\n");
    let run = sandbox.dv(&["build", "a.csv", "b.csv", "-o", "a.dv", "--sample", "1", "--sort-by", "b"]);
    let noted: Vec<_> = run.err.lines().map(|line| line.split(';').next().unwrap()).collect();
    let expected = [
        "note: column \"a\": b.csv:4:3 has \"x\", so the type is string and not the i64 of the sample",
        "note: column \"b\": b.csv:3:1 has \"5.5\", so the type is f64 and not the i64 of the sample",
    ];
    assert_eq!((run.code, &noted[..]), (0, &expected[..]), "{run:?}");
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), "a,b\n1,2\n4,3\n6,5.5\nx,7\n");
}

#[test]
fn a_pipe_and_a_store_name_the_option_to_use() {
    let expected = "column \"n\" (i64): expected an i64 (-2^63 to 2^63-1), found \"1.5\"\n    \
                    hint: use --type n=f64, or --sample all to infer the type from all rows; or skip bad rows with \
                    --skip-bad\n";
    let sandbox = Sandbox::with("a.csv", "n\n1\n1.5\n");
    let build = ["build", "-", "-o", "a.dv", "--sample", "1", "--input-format", "csv"];
    let run = sandbox.dv_with(&build, b"n\n1\n1.5\n");
    assert_eq!((run.code, run.err), (1, format!("dv: <stdin>:3:1: {expected}")));
    sandbox.ok(&["store", "create", "st"]);
    let run = sandbox.dv(&["put", "st", "a.csv", "--sample", "1"]);
    let of_store =
        "all rows; if the store has the column already, `dv store alter st --type n=f64` makes it wider;";
    let expected = expected.replace("all rows;", of_store);
    assert_eq!((run.code, run.err), (1, format!("dv: a.csv:3:1: {expected}")));
}

#[test]
fn with_skip_bad_the_types_stay() {
    let sandbox = Sandbox::with("a.csv", "n\n1\n1.5\n2\n");
    let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv", "--sample", "1", "--skip-bad"]);
    assert!(run.err.starts_with("skipped 1 bad row:\n"), "{run:?}");
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), "n\n1\n2\n");
}

#[test]
fn values_of_several_kinds_are_an_error_in_json() {
    let sandbox = Sandbox::with("a.ndjson", "{\"n\":1}\n{\"n\":\"x\"}\n");
    let run = sandbox.dv(&["build", "a.ndjson", "-o", "a.dv", "--sample", "1"]);
    assert_eq!(run.code, 1);
    assert!(
        run.err.contains("column \"n\" holds JSON strings and, at a.ndjson:1:6, JSON numbers"),
        "{run:?}"
    );
    assert!(run.err.contains("--type n=string"), "{run:?}");
}
