//! Notes on standard error about values that come out otherwise than they went in.

use crate::sandbox::Sandbox;

/// Builds `a.dv` and returns the notes.
#[track_caller]
fn notes(sandbox: &Sandbox, args: &[&str]) -> String {
    let run = sandbox.dv(&[&["build"], args, &["-o", "a.dv"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.err
}

#[test]
fn numbers_that_a_double_rounds_are_kept_as_text() {
    let note = |number| {
        format!(
            "note: column \"x\": a double rounds {number}, so the type is string (--type x=f64 rounds it)\n"
        )
    };
    for number in ["9007199254740993.0", "123456789012345678.5", "0.12345678901234567890", "1e-400"] {
        let text = format!("x\n1.5\n{number}\n");
        let sandbox = Sandbox::with("a.csv", &text);
        assert_eq!(notes(&sandbox, &["a.csv"]), note(number));
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
        sandbox.write("a.ndjson", format!("{{\"x\":1.5}}\n{{\"x\":{number}}}\n"));
        assert_eq!(notes(&sandbox, &["a.ndjson"]), note(number));
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
        notes(&sandbox, &["a.csv", "--type", "x=f64"]);
        assert_eq!(sandbox.ok(&["count", "a.dv", "--where", "x >= 0"]).trim(), "2");
    }
    let sandbox = Sandbox::with("a.csv", "x\n1.5\n6.904679999999999\n9007199254740992.0\n");
    assert_eq!(notes(&sandbox, &["a.csv"]), "");
    assert!(sandbox.ok(&["info", "a.dv"]).contains("f64"));
}

#[test]
fn cells_that_become_one_number_are_noted() {
    for (cells, joined) in [
        ("2.5 2.50", Some(("2.5", "2.50", 2))),
        ("3.1 3.2 3.10 3.1 3.20 3.3", Some(("3.1", "3.10", 5))),
        ("1 2.5 1.0", Some(("1", "1.0", 2))),
        ("1e3 1000", Some(("1e3", "1000", 2))),
        ("1E5 100000 1e+05", Some(("1E5", "100000", 3))),
        (".5 0.5", Some((".5", "0.5", 2))),
        ("5. 5", Some(("5.", "5", 2))),
        ("-2.0 -2.00 7", Some(("-2.0", "-2.00", 2))),
        ("2.50 1.50", None),
        ("2.5 1.50", None),
        ("1e3 2e3", None),
        ("0.0 -0.0", None),
        ("nan NaN 1.5", None),
    ] {
        let text = format!("x\n{}\n", cells.replace(' ', "\n"));
        let sandbox = Sandbox::with("a.csv", &text);
        let note = joined.map_or(String::new(), |(first, other, count)| {
            format!(
                "note: column \"x\": \"{first}\" and \"{other}\" became one number; {count} cells were joined with other spellings (--type x=string keeps text)\n"
            )
        });
        let noted = notes(&sandbox, &["a.csv"]);
        assert_eq!(noted.contains("became one number"), joined.is_some(), "{cells}: {noted}");
        assert!(joined.is_none() || noted == note, "{cells}: {noted}");
        assert_eq!(notes(&sandbox, &["a.csv", "-q"]), note, "{cells}");
        assert!(sandbox.ok(&["info", "a.dv"]).contains("f64"), "{cells}");
        // In a pipe, row by row, and in a store.
        let run = sandbox.dv_with(&["build", "-", "--input-format", "csv", "-qo", "b.dv"], text.as_bytes());
        assert_eq!((run.code, run.err), (0, note.clone()), "{cells}");
        sandbox.ok(&["store", "create", "st"]);
        let run = sandbox.dv(&["put", "st", "a.csv", "-q"]);
        assert_eq!((run.code, run.err), (0, note), "{cells}");
        assert_eq!(notes(&sandbox, &["a.csv", "--type", "x=string"]), "");
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
        assert!(!notes(&sandbox, &["a.csv", "--type", "x=f64", "-q"]).contains("one number"), "{cells}");
    }
    for text in ["x\n007\n8\n", "x\n+5\n6\n", "x\n1.5\n02.5\n", "x\n2.5\n+2.50\n"] {
        let sandbox = Sandbox::with("a.csv", text);
        notes(&sandbox, &["a.csv"]);
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
    }
    let sandbox = Sandbox::with("a.ndjson", "{\"x\":2.5}\n{\"x\":2.50}\n");
    assert_eq!(notes(&sandbox, &["a.ndjson", "-q"]), "");
    assert!(sandbox.ok(&["info", "a.dv"]).contains("f64"));
}

#[test]
fn joined_cells_are_counted_over_chunks_and_files() {
    // More than a chunk of text, and more numbers than are remembered.
    let many =
        |numbers: std::ops::Range<u32>| -> String { numbers.map(|number| format!("{number}.5\n")).collect() };
    let sandbox = Sandbox::with("a.csv", format!("x,y\n{}", many(0..100_000).replace('\n', ",0.5\n")));
    sandbox.write("b.csv", format!("x\n{}{}", many(0..10), many(90_000..90_010)).replace(".5", ".50"));
    let report = |threads: &str| {
        let args = ["build", "a.csv", "b.csv", "-o", "a.dv", "--json", "--threads", threads];
        let report: serde_json::Value = serde_json::from_str(&sandbox.ok(&args)).unwrap();
        report["notes"].as_array().unwrap().clone()
    };
    let expected = "column \"x\": \"0.5\" and \"0.50\" became one number; at least 20 cells were joined with other \
                    spellings (--type x=string keeps text)";
    assert_eq!(report("1"), [expected]);
    assert_eq!(report("4"), [expected]);
}

#[test]
fn a_late_number_that_a_double_rounds_is_an_error() {
    let text = b"x\n1.5\n123456789012345678.5\n";
    let args = ["build", "-", "--input-format", "csv", "-o", "a.dv", "--sample", "1"];
    let run = Sandbox::new().dv_with(&args, text);
    let expected = "dv: <stdin>:3:1: column \"x\" (f64): a double rounds this number: \"123456789012345678.5\"\n    \
                    hint: use --type x=f64 to round it, or --type x=string to keep its text; or skip bad rows with \
                    --skip-bad\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
}

#[test]
fn timestamps_with_different_offsets_are_kept_as_text() {
    let text = "t\n2013-01-01T06:00:00+01:00\n2013-07-01T06:00:00+02:00\n";
    let sandbox = Sandbox::with("a.csv", text);
    let expected = "note: column \"t\": the UTC offsets of its timestamps differ, so the type is string \
                    (--type t=timestamp stores them in UTC)\n";
    assert_eq!(notes(&sandbox, &["a.csv"]), expected);
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
    notes(&sandbox, &["a.csv", "--type", "t=timestamp"]);
    let moments = "t\n2013-01-01T05:00:00Z\n2013-07-01T04:00:00Z\n";
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), moments);
}

#[test]
fn text_that_counts_as_missing_is_noted() {
    let sandbox = Sandbox::with("a.csv", "country,n\nNA,1\nDE,null\n");
    let expected = "note: columns \"country\", \"n\": NA and null are missing values (--no-default-missing reads text)\n";
    assert_eq!(notes(&sandbox, &["a.csv"]), expected);
    assert_eq!(notes(&sandbox, &["a.csv", "--missing", "null", "--exclude", "country"]), "");
    assert_eq!(notes(&sandbox, &["a.csv", "-q"]), "");
    assert_eq!(notes(&sandbox, &["a.csv", "--no-default-missing"]), "");
    assert_eq!(sandbox.ok(&["count", "a.dv", "--where", "country = \"NA\""]).trim(), "1");
    sandbox.write("b.csv", "country\nDE\n\"NA\"\n\n");
    assert_eq!(notes(&sandbox, &["b.csv"]), "");
}

#[test]
fn sorted_and_deduplicated_values_are_noted() {
    let sandbox = Sandbox::with("a.ndjson", "{\"tags\":[\"a\",\"b\"],\"n\":[1,1,2]}\n");
    assert_eq!(notes(&sandbox, &["a.ndjson"]), "");
    let expected = |columns, how| {
        format!(
            "note: {columns}: the values of a document are stored in ascending order, and equal strings once \
             ({how} keeps text)\n"
        )
    };
    for (tags, n) in [("[\"b\",\"a\"]", "[1]"), ("[\"a\",\"a\"]", "[1,2]")] {
        sandbox.write("a.ndjson", format!("{{\"tags\":{tags},\"n\":{n}}}\n"));
        assert_eq!(notes(&sandbox, &["a.ndjson"]), expected("column \"tags\"", "jq -c '.tags |= tojson'"));
    }
    sandbox.write("a.ndjson", "{\"tags\":[\"b\",\"a\"],\"n\":[2.5,-1]}\n");
    let both = expected("columns \"tags\", \"n\"", "jq -c '.tags |= tojson'");
    assert_eq!(notes(&sandbox, &["a.ndjson"]), both);
    assert_eq!(notes(&sandbox, &["a.ndjson", "-q"]), "");
    // The values of one document only.
    sandbox.write("a.ndjson", "{\"n\":[3,4]}\n{\"n\":[1,2]}\n");
    assert_eq!(notes(&sandbox, &["a.ndjson"]), "");
    let text = "tags\n\"[\"\"b\"\",\"\"a\"\"]\"\n";
    sandbox.write("a.csv", text);
    let noted = notes(&sandbox, &["a.csv", "--type", "tags=string[]"]);
    assert_eq!(noted, expected("column \"tags\"", "--type tags=string"));
    assert_eq!(notes(&sandbox, &["a.csv", "--type", "tags=string"]), "");
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
}

#[test]
fn fields_without_a_value_are_noted_and_kept_on_request() {
    let text = "{\"a\":1,\"b\":null,\"c\":[]}\n{\"a\":2,\"b\":null,\"c\":[]}\n";
    let sandbox = Sandbox::with("a.ndjson", text);
    let expected = |columns, column| {
        format!(
            "note: {columns}: no document has a value, so the segment has no such column (--type {column}=string adds it)\n"
        )
    };
    assert_eq!(notes(&sandbox, &["a.ndjson"]), expected("columns \"b\", \"c\"", "b"));
    assert_eq!(notes(&sandbox, &["a.ndjson", "--type", "b=i64"]), expected("column \"c\"", "c"));
    assert_eq!(notes(&sandbox, &["a.ndjson", "-q"]), "");
    assert_eq!(notes(&sandbox, &["a.ndjson", "--type", "b=i64,c=string[]"]), "");
    assert_eq!(sandbox.ok(&["export", "a.dv"]), text);
    sandbox.ok(&["check", "a.dv"]);
    let many: Vec<String> = (0..5).map(|n| format!("\"f{n}\":null")).collect();
    sandbox.write("a.ndjson", format!("{{{}}}\n", many.join(",")));
    assert_eq!(notes(&sandbox, &["a.ndjson"]), expected("columns \"f0\", \"f1\", \"f2\" and 2 more", "f0"));
}

#[test]
fn an_empty_input_is_noted() {
    let sandbox = Sandbox::with("a.csv", "");
    assert_eq!(notes(&sandbox, &["a.csv"]), "note: empty input: a.csv, so the segment has no columns\n");
    assert_eq!(notes(&sandbox, &["a.csv", "-q"]), "");
    sandbox.write("b.csv", "x\n1\n");
    assert_eq!(notes(&sandbox, &["a.csv", "b.csv"]), "note: empty input: a.csv\n");
    assert_eq!(notes(&sandbox, &["b.csv"]), "");
    let run = sandbox.dv_with(&["build", "-", "-o", "a.dv", "--json", "--input-format", "csv"], b"");
    let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert!(report["notes"][0].as_str().unwrap().starts_with("empty input: "), "{run:?}");
}

#[test]
fn doubles_that_are_null_in_ndjson_are_noted() {
    let sandbox = Sandbox::with("a.csv", "x,y\n1.5,1\nNaN,2\n-inf,3.5\n");
    notes(&sandbox, &["a.csv"]);
    let note = "note: column \"x\": NaN and infinity are null in NDJSON (--format csv keeps them)\n";
    for command in [&["export"][..], &["export", "--format", "ndjson"], &["cat"], &["head"]] {
        let run = sandbox.dv(&[command, &["a.dv"]].concat());
        assert_eq!((run.code, run.err.as_str()), (0, note), "{command:?}");
    }
    for more in [&["--format", "csv"][..], &["--columns", "y"], &["--docs", "0..1"], &["--where", "x = 1.5"]]
    {
        let run = sandbox.dv(&[&["export", "a.dv"], more].concat());
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{more:?}");
    }
}

#[test]
fn a_store_notes_what_a_segment_does() {
    let sandbox = Sandbox::with("a.csv", "id,x\na,NA\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let noted = |args: &[&str]| sandbox.dv(&[&["put", "st"], args].concat()).err;
    let expected = "note: column \"x\": NA is a missing value (--no-default-missing reads text)\n";
    assert_eq!(noted(&["a.csv"]), expected);
    assert_eq!(noted(&["a.csv", "-q"]), "");
    sandbox.write("a.ndjson", "{\"id\":\"a\",\"x\":null,\"z\":null}\n");
    let run = noted(&["a.ndjson"]);
    assert!(run.starts_with("note: column \"z\": no document has a value"), "{run}");
    assert_eq!(noted(&["a.ndjson", "--partial"]), "");
}

#[test]
fn timestamps_without_offsets_are_read_as_utc() {
    for (first, second) in [
        ("2024-01-02 03:04:05", "2024-01-02 23:59:59"),
        ("2024-01-02T03:04:05.250", "2024-01-02T03:04:05.001"),
        ("2024-01-02T03:04:05.25", "2024-01-02T03:04:05"),
    ] {
        let text = format!("t\n{first}\n{second}\n");
        let sandbox = Sandbox::with("a.csv", &text);
        let expected = "note: column \"t\": its timestamps have no UTC offset, so they are read as UTC (--type t=string \
                        keeps text)\n";
        assert_eq!(notes(&sandbox, &["a.csv"]), expected);
        assert!(sandbox.ok(&["info", "a.dv"]).contains("timestamp[ms]"));
        assert_eq!(sandbox.ok(&["count", "a.dv", "--where", "t >= \"2024-01-02T00:00:00Z\""]), "2\n");
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
        assert_eq!(notes(&sandbox, &["a.csv", "--type", "t=timestamp"]), "");
        assert_eq!(notes(&sandbox, &["a.csv", "--type", "t=string"]), "");
        sandbox.write("a.ndjson", format!("{{\"t\":\"{first}\"}}\n{{\"t\":\"{second}\"}}\n"));
        assert_eq!(notes(&sandbox, &["a.ndjson"]), expected);
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
    }
}

#[test]
fn booleans_of_python_and_r_are_noted() {
    let expected = "note: column \"b\": its values are booleans, which export prints as true and false (--type b=string \
                    keeps text)\n";
    for [yes, no] in [["True", "False"], ["TRUE", "FALSE"]] {
        let text = format!("b\n{yes}\nNA\n{no}\n{yes}\n");
        let sandbox = Sandbox::with("a.csv", &text);
        assert!(notes(&sandbox, &["a.csv"]).starts_with(expected));
        assert_eq!(sandbox.ok(&["count", "a.dv", "--where", "b = true"]), "2\n");
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), "b\ntrue\nNA\nfalse\ntrue\n");
        notes(&sandbox, &["a.csv", "--type", "b=string"]);
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
    }
    let sandbox = Sandbox::with("a.csv", "b\ntrue\nfalse\n");
    assert_eq!(notes(&sandbox, &["a.csv"]), "");
    sandbox.write("a.csv", "b\nyes\nno\n");
    assert_eq!(notes(&sandbox, &["a.csv"]), "");
    assert!(sandbox.ok(&["info", "a.dv"]).contains("string"));
}

#[test]
fn a_delimiter_other_than_a_comma_is_noted() {
    let note =
        |delimiter| format!("note: a.csv: {delimiter} separates its cells (--delimiter , reads commas)\n");
    let number = "note: column \"a\": its numbers are written as \"1,5\", so the type is string (dv reads numbers such as \
                  1234.50, without commas and signs)\n";
    let note = |delimiter| note(delimiter) + number;
    for (text, delimiter) in
        [("a;b\n1,5;x\n", "';'"), ("a\tb\n\"1,5\"\tx\n", "'\\t'"), ("a|b\n\"1,5\"|x\n", "'|'")]
    {
        let sandbox = Sandbox::with("a.csv", text);
        assert_eq!(notes(&sandbox, &["a.csv"]), note(delimiter));
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), "a,b\n\"1,5\",x\n");
        let run = sandbox.dv_with(&["build", "-", "--input-format", "csv", "-o", "a.dv"], text.as_bytes());
        assert_eq!(run.err, note(delimiter).replace("a.csv", "<stdin>"));
    }
    let sandbox = Sandbox::with("a.csv", "a;b\nx;y\n");
    assert_eq!(notes(&sandbox, &["a.csv", "--delimiter", ";"]), "");
    let noted = notes(&sandbox, &["a.csv", "--delimiter", ","]);
    assert!(noted.starts_with("note: the input has a single column, \"a;b\""), "{noted}");
}
