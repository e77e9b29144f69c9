//! `dv terms`: dictionaries.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sandbox::{Sandbox, packages};

fn segment() -> Sandbox {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "-q"]);
    sandbox
}

#[test]
fn terms_and_counts_are_those_of_the_documents() {
    let sandbox = segment();
    let exported = sandbox.ok(&["export", "p.dv", "--columns", "tags,section"]);
    for column in ["tags", "section"] {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in exported.lines() {
            let document: Value = serde_json::from_str(line).unwrap();
            let values = match &document[column] {
                Value::Array(values) => values.clone(),
                Value::Null => Vec::new(),
                value => vec![value.clone()],
            };
            for value in values {
                *counts.entry(value.as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
        let terms: String = counts.keys().map(|term| format!("{term}\n")).collect();
        assert_eq!(sandbox.ok(&["terms", "p.dv", column]), terms);
        let rows = counts.iter().map(|(term, count)| format!("{column}\t{term}\t{count}\n"));
        let with_counts = format!("column\tvalue\tcount\n{}", rows.collect::<String>());
        let facet = ["facet", "p.dv", column, "--by", "value", "-n", "0", "--format", "tsv"];
        assert_eq!(sandbox.ok(&facet), with_counts);
        let some = counts.keys().filter(|term| term.starts_with("ro")).take(4);
        let some: String = some.map(|term| format!("{term}\n")).collect();
        assert_eq!(sandbox.ok(&["terms", "p.dv", column, "--prefix", "ro", "--limit", "4"]), some);
    }
}

#[test]
fn json_is_an_object_a_line() {
    let sandbox = Sandbox::with("a.ndjson", "{\"a\":\"x\\ny\"}\n{\"a\":\"\"}\n{\"a\":\"\"}\n{}\n");
    sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "--type", "a=string:sorted", "-q"]);
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a"]), "\nx\\ny\n");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--json"]), "{\"term\":\"\"}\n{\"term\":\"x\\ny\"}\n");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--limit", "0"]), "");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--prefix", "z"]), "");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--prefix", "-"]), "");
}

#[test]
fn terms_and_ids_have_rows_in_each_format() {
    let sandbox = Sandbox::with("a.csv", "id,tag\nk2,\"x,y\"\nk1,\"\"\n");
    let types = ["--type", "tag=string:sorted,id=string"];
    sandbox.ok(&[&["build", "a.csv", "-o", "a.dv", "-q", "--id-field", "id"][..], &types].concat());
    let terms = |more: &[&str]| sandbox.ok(&[&["terms", "a.dv", "tag"], more].concat());
    let ids = |more: &[&str]| sandbox.ok(&[&["terms", "a.dv", "--id"], more].concat());
    assert_eq!(terms(&["--format", "csv"]), "term\n\"\"\n\"x,y\"\n");
    assert_eq!(terms(&["--format", "markdown"]), "| term |\n| --- |\n|  |\n| x,y |\n");
    assert_eq!(terms(&["--format", "ndjson"]), terms(&["--json"]));
    assert_eq!(ids(&[]), "k1\nk2\n");
    assert_eq!(ids(&["--format", "tsv"]), "id\tdoc\nk1\t1\nk2\t0\n");
    assert_eq!(ids(&["--json", "-n", "1"]), "{\"id\":\"k1\",\"doc\":1}\n");
    assert!(ids(&["--format", "table"]).starts_with("id  doc\n"));
    assert_eq!(ids(&["-o", "ids.csv"]), "");
    assert_eq!(sandbox.read("ids.csv"), b"id,doc\nk1,1\nk2,0\n");
    // Lines, as without a file.
    assert_eq!(terms(&["-o", "tags.txt"]), "");
    assert_eq!(sandbox.read("tags.txt"), b"\nx,y\n");
    let run = sandbox.dv(&["terms", "a.dv", "tag", "--format", "parquet"]);
    assert!(run.code == 2 && run.err.contains("only `dv export`"), "{run:?}");
    // Of a store, too.
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "a.csv", "-q"]);
    assert_eq!(sandbox.ok(&["terms", "st", "tag", "--format", "csv"]), "term\n\"\"\n\"x,y\"\n");
    // Numbers of several segments come with their files.
    sandbox.write("b.csv", "id,tag\nk0,z\n");
    sandbox.ok(&["put", "st", "b.csv", "-q"]);
    let [first, second] = ["st/seg-000000.dv", "st/seg-000001.dv"];
    let expected = format!("id,file,doc\nk0,{second},0\nk1,{first},1\nk2,{first},0\n");
    assert_eq!(sandbox.ok(&["terms", "st", "--id", "--format", "csv"]), expected);
    assert_eq!(sandbox.ok(&["terms", "st", "--id"]), "k0\nk1\nk2\n");
}

/// All terms of a large dictionary would not fit into memory.
#[test]
fn a_table_of_terms_is_printed_in_parts() {
    let terms: String = (0..2_000).map(|number| format!("t{number:04}\n")).collect();
    let sandbox = Sandbox::with("a.csv", format!("tag\n{terms}"));
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q", "--type", "tag=string:sorted"]);
    for (count, headings) in [(1, 1), (1_000, 1), (1_001, 2), (2_000, 2)] {
        let limit = count.to_string();
        let shown = sandbox.ok(&["terms", "a.dv", "tag", "--format", "table", "-n", &limit]);
        let lines = shown.lines().map(str::trim_end);
        assert_eq!(lines.clone().filter(|line| *line == "term").count(), headings, "{count}");
        assert_eq!(lines.filter(|line| line.starts_with('t') && *line != "term").count(), count);
    }
}

#[test]
fn prefixes_of_bytes_are_hexadecimal_and_other_types_have_none() {
    let sandbox = Sandbox::with("a.csv", "b,ip\nff00,10.0.0.1\nff01,10.0.0.2\n00,::1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "--type", "b=bytes:sorted,ip=ip:sorted", "-q"]);
    assert_eq!(sandbox.ok(&["terms", "a.dv", "b", "--prefix", "FF"]), "ff00\nff01\n");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "ip"]), "::1\n10.0.0.1\n10.0.0.2\n");
    for (column, prefix, message) in [
        ("b", "f", "--prefix: expected pairs of hexadecimal digits, found \"f\""),
        ("b", "zz", "--prefix: expected pairs of hexadecimal digits, found \"zz\""),
        ("ip", "10.", "--prefix: expected a column of string or bytes, found ip"),
    ] {
        let run = sandbox.dv(&["terms", "a.dv", column, "--prefix", prefix]);
        assert_eq!((run.code, run.err), (2, format!("dv: {message}\n")));
    }
}

#[test]
fn columns_without_a_dictionary_say_so() {
    let sandbox = segment();
    for (column, kind) in [("size", "numeric"), ("id", "binary")] {
        let run = sandbox.dv(&["terms", "p.dv", column]);
        assert_eq!((run.code, run.out.as_str()), (1, ""));
        let message = format!("dv: p.dv: column {column:?} has no dictionary: its kind is {kind}\n");
        assert!(run.err.starts_with(&message), "{}", run.err);
    }
    let run = sandbox.dv(&["terms", "p.dv", "tag"]);
    assert_eq!(run.err, "dv: p.dv: no column \"tag\"\n    hint: did you mean \"tags\"?\n");
}
