//! Bad input of every kind: the place, message and hint of the error, and no file left over.

use crate::sandbox::Sandbox;

/// Builds from one file, which must fail with this exit code, message and hint, and leave no segment.
#[track_caller]
fn refused(name: &str, text: impl AsRef<[u8]>, more: &[&str], code: i32, message: &str, advice: &str) {
    let sandbox = Sandbox::with(name, text);
    let run = sandbox.dv(&[&["build", name, "-o", "out.dv"], more].concat());
    assert_eq!(run.code, code, "{run:?}");
    assert_eq!(run.out, "");
    let (first, rest) = run.err.split_once('\n').unwrap();
    assert_eq!(first, format!("dv: {message}"));
    assert!(rest.contains(advice), "{rest:?} has no {advice:?}");
    assert_eq!(sandbox.names(), [name], "files were left behind");
}

/// The same from a pipe, with a sample of one row, whose types it cannot change.
#[track_caller]
fn refused_in_pipe(format: &str, text: &str, message: &str, advice: &str) {
    let sandbox = Sandbox::new();
    let args = ["build", "-", "--input-format", format, "-o", "out.dv", "--sample", "1"];
    let run = sandbox.dv_with(&args, text.as_bytes());
    assert_eq!((run.code, run.out.as_str()), (1, ""), "{run:?}");
    let (first, rest) = run.err.split_once('\n').unwrap();
    assert_eq!(first, format!("dv: {message}"));
    assert!(rest.contains(advice), "{rest:?} has no {advice:?}");
    assert!(sandbox.names().is_empty(), "files were left behind");
}

#[test]
fn rows_of_csv_that_are_refused() {
    refused("a.csv", "a,b\n1,2\n3\n", &[], 1, "a.csv:3:1: expected 2 cells, found 1: \"3\"", "--skip-bad");
    let message = "a.csv:2:5: expected 2 cells, found 3: \"1,2,3\"";
    refused("a.csv", "a,b\n1,2,3\n", &[], 1, message, "in quotes");
    let message = "a.csv:2:1: unclosed quote: \"\"x,1\"";
    refused("a.csv", "a,b\n\"x,1\ny,2\n", &[], 1, message, "--no-quotes");
    let message = "a.csv:2:4: text after a closing quote: \"y,1\"";
    refused("a.csv", "a,b\n\"x\"y,1\n", &[], 1, message, "twice");
    let message = "a.csv:2:4: the text is not UTF-8: \"\u{fffd}\"";
    refused("a.csv", b"a\ncaf\xe9\n", &[], 1, message, "--encoding, such as latin-1");
    let message = "a.csv: the text is not UTF-16LE";
    refused("a.csv", b"\xff\xfea\0\n\0\x00\xdc", &[], 3, message, "");
    let message = "all 2 rows are bad; the first: a.csv:2:3: expected 1 cell, found 2: \"1,2\"";
    refused("a.csv", "a\n1,2\n3,4\n", &["--skip-bad"], 1, message, "--delimiter");
}

#[test]
fn json_that_is_refused() {
    let message = "a.ndjson:2:9: invalid JSON: trailing comma: \"{\"a\": 1,}\"";
    refused("a.ndjson", "{\"a\": 1}\n{\"a\": 1,}\n", &[], 1, message, "");
    let text = "{\"a\": 1}\n{\n  \"a\": 1\n}\n";
    let message = "a.ndjson:2:2: invalid JSON: EOF while parsing an object: \"{\"";
    refused("a.ndjson", text, &[], 1, message, "jq -c .");
    let message = "a.json:2:8: expected the end of the array, found the end of the file";
    refused("a.json", "[\n{\"a\":1}", &[], 1, message, "--skip-bad");
    let message = "a.json:4:13: invalid JSON: expected value: \"  \"tags\": x\"";
    refused("a.json", "{\n  \"a\": {\n    \"b\": 1,\n    \"tags\": x\n  }\n}\n", &[], 1, message, "");
    let message = "a.ndjson:1:8: column \"a\": no column stores an array of objects: \"{\"b\":1}\"";
    refused("a.ndjson", "{\"a\": [{\"b\":1}]}", &[], 1, message, "--exclude a");
    let message = "a.ndjson:1:12: duplicate key \"a\" in one object";
    refused("a.ndjson", "{\"a\":1,\"a\":2}", &[], 1, message, "array");
    let message = "a.ndjson:1:6: column \"a\" holds JSON numbers and, at a.ndjson:3:6, JSON strings";
    refused("a.ndjson", "{\"a\":1}\n{\"a\":2}\n{\"a\":\"x\"}\n", &[], 1, message, "--type a=string");
}

#[test]
fn values_that_contradict_their_type() {
    let message = "<stdin>:3:1: column \"size\" (i64): expected an i64 (-2^63 to 2^63-1), found \"12.5\"";
    refused_in_pipe("csv", "size\n1\n12.5\n", message, "--type size=f64");
    let message = "<stdin>:2:7: column \"a\" (i64): expected one value a document, found an array: \"1\"";
    refused_in_pipe("ndjson", "{\"a\":1}\n{\"a\":[1]}\n", message, "--type 'a=i64[]'");
    let message = "a.csv:2:3: column \"size\" (u64): expected a u64 (0 to 2^64-1), found \"-5\"";
    refused("a.csv", "a,size\nx,-5\n", &["--type", "size=u64"], 1, message, "--missing");
    let message =
        "a.csv:2:1: column \"at\" (timestamp[ms]): expected a timestamp (2013-01-31T06:00:00Z), found \"17\"";
    let more = ["--type", "at=timestamp[ms]"];
    let advice = "use --type 'at=timestamp[ms]:epoch' for numbers of ms since 1970";
    refused("a.csv", "at,n\n17,1\n", &more, 1, message, advice);
    let message =
        "column \"id\": documents 0 and 1 (from 0, in the order of the input) have the same id: \"a\"";
    let advice = "or `dv put` the input into a store, which keeps the last one";
    refused("a.csv", "id,n\na,1\na,2\n", &["--id-field", "id"], 1, message, advice);
}

#[test]
fn files_that_are_not_read() {
    let mut packages = crate::sandbox::packages();
    packages.truncate(100_000);
    let message = "p.ndjson.gz: incomplete deflate stream";
    refused("p.ndjson.gz", packages, &[], 3, message, "");
    let message = "a.csv.xz: compressed with xz, which dv cannot read";
    refused("a.csv.xz", b"\xfd7zXZ\0\0", &[], 1, message, "xz -dc a.csv.xz | dv build -");
    let message = "notes.txt: unknown format: neither the name nor the first line gives it";
    refused("notes.txt", "hello\n", &[], 1, message, "--input-format");
}

#[test]
fn types_that_are_refused() {
    let message = "--type a=integer: unknown type \"integer\"; did you mean i64?";
    refused("a.csv", "a\n1\n", &["--type", "a=integer"], 2, message, "");
    let message = "--type: no input has a column \"sise\"";
    refused("a.csv", "size\n1\n", &["--type", "sise=u64"], 1, message, "did you mean \"size\"?");
}

#[test]
fn a_header_with_empty_and_repeated_names() {
    let sandbox = Sandbox::with("a.csv", ",a,a\n1,2,3\n");
    sandbox.write("b.csv", ",a,a\n4,5,6\n");
    let run = sandbox.dv(&["build", "a.csv", "b.csv", "-o", "out.dv"]);
    let note = "note: a.csv: the header has empty or repeated names: column 1 is \"c1\", column 3 is \"a_2\"; \
        if the first row is data, use --header no\n";
    assert_eq!((run.code, run.err.as_str()), (0, note), "{run:?}");
    assert_eq!(sandbox.ok(&["export", "out.dv", "--format", "csv"]), "c1,a,a_2\n1,2,3\n4,5,6\n");
}

#[test]
fn a_schema_file_with_a_typing_error() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n");
    sandbox.write("schema.toml", "[columns.a]\ntyp = \"i64\"\n");
    let run = sandbox.dv(&["build", "a.csv", "-o", "out.dv", "--schema", "schema.toml"]);
    assert_eq!(run.code, 2);
    assert!(run.err.starts_with("dv: schema.toml: TOML parse error at line 2, column 1"), "{}", run.err);
    assert!(run.err.contains("unknown field `typ`, expected one of `type`, `format`"), "{}", run.err);
}

#[test]
fn files_that_are_not_there() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n");
    let run = sandbox.dv(&["build", "b.csv", "-o", "out.dv"]);
    assert_eq!((run.code, run.err.as_str()), (3, "dv: b.csv: No such file or directory (os error 2)\n"));
    let run = sandbox.dv(&["build", "a.csv", "-o", "no/out.dv"]);
    assert_eq!(run.code, 3, "{run:?}");
    let run = sandbox.dv(&["build", "a.csv", "-o", "out.dv", "--schema", "s.toml"]);
    assert_eq!((run.code, run.err.as_str()), (3, "dv: s.toml: No such file or directory (os error 2)\n"));
}

#[test]
fn a_budget_that_is_too_small() {
    let cell = "long ".repeat(20_000);
    let message = "the values of a row take more memory than --memory allows";
    refused("a.csv", format!("a\n{cell}\n"), &["--memory", "64KiB"], 1, message, "--memory 8GiB");
}

#[test]
fn a_failed_build_leaves_what_stood_there() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv"]);
    let before = sandbox.read("a.dv");
    sandbox.write("a.csv", "a,b\n1\n");
    assert_eq!(sandbox.dv(&["build", "a.csv", "-o", "a.dv"]).code, 1);
    assert_eq!(sandbox.read("a.dv"), before);
    assert!(!sandbox.exists(".a.dv.tmp"));
}

#[test]
fn bad_rows_are_skipped_counted_and_shown() {
    let text = "a,b\n1,x\n2\n3,y\n\"4,\n5,z,\n6,w\n";
    let sandbox = Sandbox::with("a.csv", text);
    let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv", "--skip-bad"]);
    assert_eq!(run.code, 0);
    let expected = "\
skipped 3 bad rows:
  a.csv:3:1: expected 2 cells, found 1: \"2\"
  a.csv:5:1: unclosed quote: \"\"4,\"
  a.csv:6:5: expected 2 cells, found 3: \"5,z,\"
";
    assert_eq!(run.err, expected);
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), "a,b\n1,x\n3,y\n6,w\n");
}

/// Rows of several chunks, of which one has a quoted line end and one is bad.
fn many_rows(bad: &str) -> String {
    let mut text = String::from("at,name,size\n");
    for i in 0..60_000 {
        match i {
            30_000 => text += "2024-01-01T00:00:00Z,\"two\n\"\"lines\"\"\",1\n",
            50_000 => text += bad,
            _ => text += &format!("2024-01-01T00:00:{:02}Z,name {i},{}\n", i % 60, i * 7 % 1000),
        }
    }
    text
}

#[test]
fn any_number_of_threads_writes_the_same_file() {
    let sandbox = Sandbox::with("a.csv", many_rows("\n2024-01-01T00:00:00.5Z,,\n"));
    sandbox.ok(&["build", "a.csv", "-o", "1.dv", "--threads", "1"]);
    for threads in ["2", "3"] {
        for memory in ["64KiB", "1MiB", "256MiB"] {
            sandbox.ok(&["build", "a.csv", "-o", "n.dv", "--threads", threads, "--memory", memory]);
            assert!(sandbox.read("n.dv") == sandbox.read("1.dv"), "{threads} {memory}");
        }
    }
}

#[test]
fn a_bad_row_of_a_later_chunk_has_its_line() {
    for (bad, at) in
        [("x,y\n", "50003:3: expected 3 cells, found 2"), ("x,\"y,1\n", "50003:3: unclosed quote")]
    {
        let sandbox = Sandbox::with("a.csv", many_rows(bad));
        for threads in ["1", "2"] {
            let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv", "--threads", threads]);
            assert!(run.err.starts_with(&format!("dv: a.csv:{at}")), "{run:?}");
            let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv", "--threads", threads, "--skip-bad"]);
            assert!(run.err.contains(&format!("skipped 1 bad row:\n  a.csv:{at}")), "{run:?}");
            assert_eq!(sandbox.ok(&["count", "a.dv"]), "59999\n");
        }
    }
}
