//! `dv group` by several columns, with conditions on groups and distinct values, and the same in requests.

use serde_json::{Value, from_str, json};

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let csv = "host,status,size,agent,\"a,b\"\n\
        a.example,200,10,curl,x\n\
        a.example,200,20,wget,y\n\
        a.example,404,5,curl,x\n\
        b.example,200,7,,y\n\
        b.example,,1,curl,x\n\
        ,200,1000,curl,y\n";
    let sandbox = Sandbox::with("t.csv", csv);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    sandbox
}

#[test]
fn groups_of_several_columns_are_tables_and_json() {
    let sandbox = sandbox();
    let args = ["group", "t.dv", "host,status", "--sum", "size", "--distinct", "agent"];
    let expected = "\
host       status  documents  sum of size  distinct of agent
────────────────────────────────────────────────────────────
a.example  200             2           30                  2
a.example  404             1            5                  1
b.example  200             1            7                  0
3 groups, 6 documents, 2 without a value in one of the columns
";
    assert_eq!(sandbox.ok(&args), expected);
    let json: Value =
        from_str(&sandbox.ok(&[&args[..], &["--json", "--docs", "1", "--columns", "size"]].concat()))
            .unwrap();
    assert_eq!(json["columns"], json!(["host", "status"]));
    let first = json!({
        "values": { "host": "a.example", "status": 200 },
        "count": 2,
        "metrics": { "sum": { "size": 30 }, "distinct": { "agent": 2 } },
        "documents": [{ "_doc": 0, "size": 10 }],
    });
    assert_eq!(json["groups"][0].to_string(), first.to_string());
    // A name with a comma is one column.
    assert!(sandbox.ok(&["group", "t.dv", "a,b"]).contains("\n2 groups, 6 documents, 0 without a value\n"));
}

#[test]
fn one_document_is_no_plural() {
    let sandbox = sandbox();
    let one = ["--where", "size = 5"];
    let groups = sandbox.ok(&[&["group", "t.dv", "host"][..], &one].concat());
    assert!(groups.ends_with("\n1 group, 1 document, 0 without a value\n"), "{groups}");
    let ranges =
        sandbox.ok(&[&["histogram", "t.dv", "size", "--step", "10", "--sum", "size"][..], &one].concat());
    assert!(ranges.ends_with("\n1 document, 0 without a value\n"), "{ranges}");
}

#[test]
fn having_filters_groups_and_shows_what_it_needs() {
    let sandbox = sandbox();
    let having = "count >= 2 and sum(size) < 50";
    let text = sandbox.ok(&["group", "t.dv", "host", "--having", having]);
    let expected = "\
host       documents  sum of size
─────────────────────────────────
a.example          3           35
b.example          2            8
2 groups, 6 documents, 1 without a value
";
    assert_eq!(text, expected);
    let request =
        json!({ "groups": [{ "column": ["host", "status"], "having": "distinct(agent) > 1" }] }).to_string();
    let json: Value = from_str(&sandbox.ok(&["query", "t.dv", &request])).unwrap();
    assert_eq!(json["groups"][0]["distinct"], 1);
    assert_eq!(json["groups"][0]["groups"][0]["metrics"], json!({ "distinct": { "agent": 2 } }));

    // The order is that of the first metric that was asked for, and a condition on one of a list adds none.
    let groups = |args: &[&str]| sandbox.ok(&[&["group", "t.dv", "status", "--by", "metric"], args].concat());
    let by_mean = groups(&["--mean", "size"]);
    assert!(
        groups(&["--mean", "size", "--having", "sum(size) > 0"])
            .starts_with("status  documents  mean of size  sum of size\n")
    );
    let first = |text: &str| text.lines().nth(2).unwrap().split_whitespace().next().unwrap().to_owned();
    assert_eq!(first(&groups(&["--mean", "size", "--having", "sum(size) > 0"])), first(&by_mean));
    let both = groups(&["--sum", "size,status", "--having", "sum(size) > 0 and mean(size) > 0"]);
    assert!(both.starts_with("status  documents  sum of size  sum of status  mean of size\n"), "{both}");

    let request = r#"{"groups": [{"column": "host", "columns": ["size"]}]}"#;
    assert_eq!(sandbox.dv(&["query", "t.dv", request]).code, 2);
    let wrong = |args: &[&str], said: &str| {
        let run = sandbox.dv(&[&["group", "t.dv"], args].concat());
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(said), "{}", run.err);
    };
    wrong(
        &["host", "--having", "size > 5"],
        "expected `count` or a metric such as `sum(size)`, found `size`",
    );
    wrong(&["host", "--having", "count like 5"], "found `like`");
    wrong(
        &["host", "--having", "count > 1", "--by", "best"],
        "expected order count, value or metric with a condition on groups, found best",
    );
    wrong(&["host,host"], "named twice");
}

#[test]
fn metrics_by_name() {
    let sandbox = sandbox();
    let metrics = "p50(size), P99 ( size ),first(agent by size)";
    let expected = "\
host       documents  p50 of size  p99 of size  first of agent by size  last of a,b by size  last of size by size
─────────────────────────────────────────────────────────────────────────────────────────────────────────────────
a.example          3           10           20                    curl                    y                    20
b.example          2            1            7                    curl                    y                     7
2 groups, 6 documents, 1 without a value
";
    let args = ["group", "t.dv", "host", "--metric", metrics, "--metric", "last(`a,b` by size)"];
    let args = [&args[..], &["--having", "p99(size) < 1kB and last(size by size) exists"]].concat();
    assert_eq!(sandbox.ok(&args), expected);
    let json: Value = from_str(&sandbox.ok(&[&args[..], &["--json"]].concat())).unwrap();
    let first = json!({
        "p50": { "size": 10 }, "p99": { "size": 20 },
        "first": { "agent by size": "curl" }, "last": { "a,b by size": "y", "size by size": 20 },
    });
    assert_eq!(json["groups"][0]["metrics"].to_string(), first.to_string());
    let request = json!({
        "groups": [{ "column": "host", "metric": ["p99(size)"], "by": "metric", "having": "p99(size) > 7" }]
    });
    let json: Value = from_str(&sandbox.ok(&["query", "t.dv", &request.to_string()])).unwrap();
    assert_eq!(json["groups"][0]["groups"].as_array().unwrap().len(), 1);
    let best = ["--by", "best", "--sort=-size", "--metric", "last(agent by size)"];
    let text = sandbox.ok(&[&["group", "t.dv", "host"][..], &best].concat());
    let rows: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[..2], [["a.example", "3", "wget"], ["b.example", "2", "curl"]]);
    let run = sandbox.dv(&["group", "t.dv", "host", "--by", "metric", "--metric", "last(agent by size)"]);
    assert!(run.code == 2 && run.err.contains("is a number, found last(agent by size)"), "{run:?}");
    // Control characters of a cell are escaped.
    sandbox.write("c.csv", "name,text,n\nx,\"a\u{1b}[2J\",1\n");
    sandbox.ok(&["build", "c.csv", "-o", "c.dv", "-q"]);
    let text = sandbox.ok(&["group", "c.dv", "name", "--metric", "first(text by n)"]);
    assert!(text.contains("a\\u{1b}[2J"), "{text}");

    for (metric, code, said) in [
        ("size", 2, "--metric: expected the name of a metric, found \"size\""),
        ("p50(size),", 0, ""),
        ("p101(size)", 2, "--metric: expected the name of a metric, found \"p101(size)\""),
        ("p50(a:b)", 2, "unusual names in backticks"),
        ("p50(size) = 1 or p50(size)", 2, "--metric: expected the name of a metric"),
        ("first(agent)", 2, "--metric: expected the name of a metric"),
        ("p50(siz)", 1, "siz"),
        ("last(size by siz)", 1, "siz"),
        ("p50(agent)", 1, "no numbers"),
    ] {
        let run = sandbox.dv(&["group", "t.dv", "host", "--metric", metric]);
        assert!(run.code == code && run.err.contains(said), "{metric}: {run:?}");
    }
    let run = sandbox.dv(&["histogram", "t.dv", "agent", "--step", "hour"]);
    assert!(run.code == 2 && run.err.contains("--type agent=timestamp stores times in UTC"), "{run:?}");
    for (column, code, said) in [
        ("size:foo", 1, "no column \"size:foo\", and as a step of \"size\": expected "),
        ("siz:hour", 1, "siz"),
        ("agent:hour", 2, "--type agent=timestamp stores times in UTC"),
    ] {
        let run = sandbox.dv(&["group", "t.dv", column]);
        assert!(run.code == code && run.err.contains(said), "{column}: {run:?}");
    }
    let having = ["--metric", "last(agent by size)", "--having", "last(agent by size) = \"curl\""];
    let run = sandbox.dv(&[&["group", "t.dv", "host"][..], &having].concat());
    assert!(run.code == 2 && run.err.contains("expected a metric that is a number"), "{run:?}");
}

/// Keys that differ only after their beginning stay apart in a pipe.
#[test]
fn a_pipe_gets_whole_cells() {
    let long = "x".repeat(60);
    let sandbox = Sandbox::with("l.csv", format!("name\n{long}a\n{long}b\n{long}b\n"));
    sandbox.ok(&["build", "l.csv", "-o", "l.dv", "-q"]);
    for command in ["group", "facet"] {
        let run = sandbox.dv(&[command, "l.dv", "name"]);
        assert!(
            run.out.contains(&format!("{long}a  ")) && run.out.contains(&format!("{long}b  ")),
            "{run:?}"
        );
        assert!(run.err.is_empty(), "{run:?}");
    }
}

/// Duplicates of rows that have an empty cell are found, in tables, JSON and requests.
#[test]
fn documents_without_a_value_are_a_group_on_request() {
    let sandbox = Sandbox::with("d.csv", "a,b,c\n1,,x\n1,,x\n2,5,y\n,,\n,,\n3,\"\",z\n");
    sandbox.ok(&["build", "d.csv", "-o", "d.dv", "-q", "--type", "b=string"]);
    let args = ["group", "d.dv", "a,b,c", "--missing"];
    let duplicates = "\
a          b          c          documents
──────────────────────────────────────────
1          (missing)  x                  2
(missing)  (missing)  (missing)          2
2 groups, 6 documents
";
    let having = [&args[..], &["--having", "count > 1"]].concat();
    assert_eq!(sandbox.ok(&having), duplicates);
    let json: Value = from_str(&sandbox.ok(&[&having[..], &["--json"]].concat())).unwrap();
    assert_eq!((&json["distinct"], &json["missing"]), (&json!(2), &json!(0)));
    let values: Vec<&Value> =
        json["groups"].as_array().unwrap().iter().map(|group| &group["values"]).collect();
    assert_eq!(
        values,
        [&json!({ "a": 1, "b": null, "c": "x" }), &json!({ "a": null, "b": null, "c": null })]
    );
    let one: Value =
        from_str(&sandbox.ok(&["group", "d.dv", "b", "--missing", "--json", "--sum", "a"])).unwrap();
    let groups: Vec<(&Value, &Value)> =
        one["groups"].as_array().unwrap().iter().map(|group| (&group["value"], &group["count"])).collect();
    assert_eq!(groups, [(&Value::Null, &json!(4)), (&json!(""), &json!(1)), (&json!("5"), &json!(1))]);
    assert_eq!(one["groups"][0]["metrics"], json!({ "sum": { "a": 2 } }));

    let request = r#"{"groups": [{"column": ["a", "b", "c"], "missing": true, "having": "count > 1"}]}"#;
    let answer: Value = from_str(&sandbox.ok(&["query", "d.dv", request])).unwrap();
    assert_eq!(answer["groups"][0]["groups"], json["groups"]);
    // Parts of several files, one of which lacks columns.
    sandbox.write("e.csv", "a\n1\n");
    sandbox.ok(&["build", "e.csv", "-o", "e.dv", "-q"]);
    let text = sandbox.ok(&["group", "d.dv", "e.dv", "a,b", "--missing", "--by", "value"]);
    let rows: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    let expected = [
        &["1", "(missing)", "3"][..],
        &["2", "5", "1"],
        &["3", "1"],
        &["(missing)", "(missing)", "2"],
        &["4", "groups,", "7", "documents"],
    ];
    assert_eq!(rows, expected);
}
