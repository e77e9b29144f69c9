//! `dv schema`: its output builds the same segment as without it.

use crate::sandbox::{Sandbox, packages};

/// Builds with and without the printed schema, which must give the same bytes; returns the schema.
#[track_caller]
fn same_segment(sandbox: &Sandbox, name: &str, more: &[&str]) -> String {
    sandbox.ok(&[&["build", name, "-o", "plain.dv", "-q"], more].concat());
    let schema = sandbox.ok(&[&["schema", name], more].concat());
    sandbox.write("s.toml", &schema);
    sandbox.ok(&["build", name, "-o", "typed.dv", "--schema", "s.toml", "-q"]);
    assert!(sandbox.read("typed.dv") == sandbox.read("plain.dv"), "{name} {more:?}\n{schema}");
    schema
}

#[test]
fn the_printed_schema_of_every_inferred_type_builds_the_same_segment() {
    let text = "\
i,u,f,b,d,t,us,s,none
-1,18446744073709551615,1.5,true,2013-01-31,2013-01-31T06:00:00.120+02:00,2013-01-31T06:00:00.000001Z,x,
9,0,1e300,false,0001-01-01,1969-12-31T23:59:59.999+02:00,2013-01-31T06:00:00.000002Z,\"\",NA
";
    let schema = same_segment(&Sandbox::with("a.csv", text), "a.csv", &[]);
    for (column, ty) in [("i", "i64"), ("u", "u64"), ("f", "f64"), ("b", "bool"), ("d", "date")] {
        let table = format!("[columns.{column}] # such as ");
        let (_, rest) = schema.split_once(&table).unwrap();
        assert_eq!(rest.lines().nth(1), Some(format!("type = \"{ty}\"").as_str()));
    }
    assert!(schema.contains("type = \"timestamp[us]\""), "{schema}");
    assert!(schema.contains("[columns.none] # no value in the sample: guessed\ntype = \"string\"\n"));
}

#[test]
fn the_printed_schema_of_real_rows_builds_the_same_segment() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    let schema = same_segment(&sandbox, "p.ndjson.gz", &[]);
    assert!(schema.starts_with("# 17 columns of 3,525 sampled rows"), "{schema}");
    assert!(
        schema.contains("[columns.tags] # such as \"implemented-in::perl\"\ntype = \"string[]\"\n"),
        "{schema}"
    );
}

#[test]
fn a_schema_goes_to_a_file_that_is_no_input() {
    let csv = "a\n1\n";
    let sandbox = Sandbox::with("a.csv", csv);
    for name in ["a.toml", "b.TOML"] {
        assert_eq!(sandbox.ok(&["schema", "a.csv", "-o", name]), "");
        assert_eq!(sandbox.read(name), sandbox.ok(&["schema", "a.csv"]).as_bytes());
    }
    sandbox.ok(&["schema", "a.csv", "-o", "a.toml", "--json"]);
    assert_eq!(sandbox.read("a.toml"), sandbox.ok(&["schema", "a.csv", "--json"]).as_bytes());
    let run = sandbox.dv(&["schema", "a.csv", "-o", "a.csv"]);
    assert!(run.code == 2 && run.err.contains("\"a.csv\" is both an input and the output"), "{run:?}");
    assert_eq!(sandbox.read("a.csv"), csv.as_bytes());
}

#[test]
fn names_that_need_quotes_and_escapes_have_them() {
    let text = r#"{"a.b":1,"Flight Date":"2013-01-01","q\"\\\n\t\u007f é":[1.5],"x":{"y":true}}"#;
    let schema = same_segment(&Sandbox::with("a.ndjson", text), "a.ndjson", &[]);
    for key in [r#""a.b""#, r#""Flight Date""#, r#""q\"\\\n\t\u007f é""#, r#""x.y""#] {
        assert!(schema.contains(&format!("[columns.{key}] # ")), "{schema} has no {key}");
    }
}

#[test]
fn hostile_values_stay_in_their_comment() {
    let text = "{\"a\":\"x\\n[columns.b]\\u0000\\u007f\\u2028\"}\n";
    let schema = same_segment(&Sandbox::with("a.ndjson", text), "a.ndjson", &[]);
    assert_eq!(schema.lines().count(), 4, "{schema}");
}

#[test]
fn columns_of_which_nothing_is_known_are_left_open() {
    let sandbox = Sandbox::with("a.ndjson", "{\"a\":1,\"b\":null}\n{\"b\":5,\"c\":true}\n");
    let schema = sandbox.ok(&["schema", "a.ndjson", "--sample", "1"]);
    assert!(
        schema.contains("\n# [columns.b] has no value in the sample; its first value decides the type\n"),
        "{schema}"
    );
    assert!(!schema.contains("[columns.c]"), "{schema}");
    sandbox.write("s.toml", schema);
    sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "--schema", "s.toml", "--sample", "1"]);
    assert_eq!(sandbox.ok(&["export", "a.dv"]).into_bytes(), sandbox.read("a.ndjson"));
}

#[test]
fn what_is_asked_for_is_printed_again() {
    let sandbox = Sandbox::with("a.csv", "day,tags,at,host,n\n31.01.2013,a|b,1700000000,x,007\n");
    let given = "
        [columns.day]
        type = \"date\"
        format = \"%d.%m.%Y\"
        [columns.tags]
        type = \"string[]\"
        separator = \"|\"
        [columns.at]
        type = \"timestamp[ms]\"
        format = \"epoch\"
    ";
    sandbox.write("given.toml", given);
    let more = ["--schema", "given.toml", "--type", "host=string:fsst,n=i64"];
    let schema = same_segment(&sandbox, "a.csv", &more);
    let expected = "\
# 5 columns of 1 sampled row. Pass this file to dv build --schema; dv schema --help explains its keys.

[columns.day] # such as \"31.01.2013\"
type = \"date\"
format = \"%d.%m.%Y\"

[columns.tags] # such as \"a|b\"
type = \"string[]\"
separator = \"|\"

[columns.at] # such as \"1700000000\"
type = \"timestamp[ms]\"
format = \"epoch\"

[columns.host] # such as \"x\"
type = \"string:fsst\"

[columns.n] # such as \"007\"
type = \"i64\"
";
    assert_eq!(schema, expected);
    // As an option, too.
    let more = ["--type", "day=string,at=timestamp[ms]:epoch"];
    let schema = same_segment(&sandbox, "a.csv", &more);
    assert!(
        schema.contains(
            "[columns.at] # such as \"1700000000\"\ntype = \"timestamp[ms]\"\nformat = \"epoch\"\n"
        )
    );
}

#[test]
fn options_of_the_input_are_those_of_build() {
    let sandbox = Sandbox::with("a.txt", "1;x\n-;y\n;bad;row\n");
    let more =
        ["--input-format", "csv", "--delimiter", ";", "--header", "no", "--missing", "-", "--skip-bad"];
    let schema = sandbox.ok(&[&["schema", "a.txt"], &more[..]].concat());
    assert!(schema.starts_with("# 2 columns of 2 sampled rows"), "{schema}");
    assert!(schema.contains("[columns.c1] # such as \"1\"\ntype = \"i64\"\n"), "{schema}");
    let run = sandbox.dv(&[&["schema", "a.txt"], &more[..8]].concat());
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("a.txt:3:"), "{}", run.err);
    let run = sandbox.dv_with(&["schema", "-", "--json"], b"{\"a\":[1]}\n");
    let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "sampled_rows": 1,
            "columns": [{"name": "a", "type": "i64[]", "example": "1"}],
        })
    );
}
