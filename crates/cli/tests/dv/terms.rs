//! `dv terms`: dictionaries and counts.

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
        let with_counts: String = counts.iter().map(|(term, count)| format!("{count}\t{term}\n")).collect();
        assert_eq!(sandbox.ok(&["terms", "p.dv", column, "--counts"]), with_counts);
        let some = counts.iter().filter(|(term, _)| term.starts_with("ro")).take(4);
        let some: String = some.map(|(term, count)| format!("{count}\t{term}\n")).collect();
        let found = sandbox.ok(&["terms", "p.dv", column, "--prefix", "ro", "--limit", "4", "--counts"]);
        assert_eq!(found, some);
    }
}

#[test]
fn json_is_an_object_a_line() {
    let sandbox = Sandbox::with("a.ndjson", "{\"a\":\"x\\ny\"}\n{\"a\":\"\"}\n{\"a\":\"\"}\n{}\n");
    sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "--type", "a=string:sorted", "-q"]);
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a"]), "\nx\\ny\n");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--json"]), "{\"term\":\"\"}\n{\"term\":\"x\\ny\"}\n");
    let counts = sandbox.ok(&["terms", "a.dv", "a", "--json", "--counts"]);
    assert_eq!(counts, "{\"term\":\"\",\"documents\":2}\n{\"term\":\"x\\ny\",\"documents\":1}\n");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--limit", "0"]), "");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--prefix", "z", "--counts"]), "");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "a", "--prefix", "-"]), "");
}

#[test]
fn prefixes_of_bytes_are_hexadecimal_and_other_types_have_none() {
    let sandbox = Sandbox::with("a.csv", "b,ip\nff00,10.0.0.1\nff01,10.0.0.2\n00,::1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "--type", "b=bytes:sorted,ip=ip:sorted", "-q"]);
    assert_eq!(sandbox.ok(&["terms", "a.dv", "b", "--prefix", "FF"]), "ff00\nff01\n");
    assert_eq!(sandbox.ok(&["terms", "a.dv", "ip", "--counts"]), "1\t::1\n1\t10.0.0.1\n1\t10.0.0.2\n");
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
