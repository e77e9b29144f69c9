//! `dv diff`: equal segments, different ones, and ones that cannot be read.

use serde_json::{Value, from_str, json};

use crate::sandbox::{Run, Sandbox, packages, words};

/// Builds `a.dv` and `b.dv` from CSV and compares them.
fn diff(a: &str, b: &str, more: &[&str]) -> (Sandbox, Run) {
    let sandbox = Sandbox::with("a.csv", a);
    sandbox.write("b.csv", b);
    for name in ["a", "b"] {
        sandbox.ok(&["build", &format!("{name}.csv"), "-o", &format!("{name}.dv"), "-q"]);
    }
    let run = sandbox.dv(&[&["diff", "a.dv", "b.dv"], more].concat());
    (sandbox, run)
}

/// A column of so many numbers, some of them others.
fn numbers(docs: u32, other: &[(u32, &str)]) -> String {
    let number = |doc: u32| {
        let other = other.iter().find(|(other, _)| *other == doc);
        format!("{}\n", other.map_or(doc.to_string(), |(_, text)| (*text).to_owned()))
    };
    format!("n\n{}", (0..docs).map(number).collect::<String>())
}

#[test]
fn the_same_documents_are_no_difference_however_they_are_kept() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    for (name, ty) in [("a.dv", "package=string:binary"), ("b.dv", "package=string:raw")] {
        sandbox.ok(&["build", "p.ndjson.gz", "-o", name, "-q", "--type", ty]);
    }
    assert_ne!(sandbox.read("a.dv"), sandbox.read("b.dv"));
    let run = sandbox.dv(&["diff", "a.dv", "b.dv"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
    assert_eq!(sandbox.ok(&["diff", "a.dv", "b.dv", "--json"]), "[]\n");
    assert_eq!(sandbox.dv(&["diff", "a.dv", "b.dv", "--quiet"]).code, 0);
    // Values are compared though the kinds differ, which is a difference of the columns.
    sandbox.ok(&words("build p.ndjson.gz -o c.dv -q --type section=string:binary,package=string:binary"));
    let run = sandbox.dv(&["diff", "a.dv", "c.dv"]);
    let columns = "- column section: sorted string\n+ column section: binary string\n";
    assert!(run.code == 1 && run.out.ends_with(columns), "{run:?}");
}

#[test]
fn documents_are_compared_to_the_last() {
    let last = 10_000;
    let (_, run) = diff(&numbers(last, &[]), &numbers(last, &[(4096, "7"), (last - 1, "")]), &[]);
    let expected = "\
--- a.dv: 10,000 documents, 1 column
+++ b.dv: 10,000 documents, 1 column
@ document 4096
- n: 4096
+ n: 7
@ document 9999
- n: 9999
2 of 10,000 documents differ: n in 2
";
    assert_eq!((run.code, run.out.as_str()), (1, expected));
}

#[test]
fn documents_that_one_segment_has_are_shown_with_their_values() {
    let (sandbox, run) = diff(&numbers(9000, &[]), &numbers(4095, &[]), &["--limit", "2"]);
    let expected = "\
--- a.dv: 9,000 documents, 1 column
+++ b.dv: 4,095 documents, 1 column
@ document 4095, only in a.dv
- n: 4095
@ document 4096, only in a.dv
- n: 4096
4,905 of 9,000 documents differ; --limit shows 2
";
    assert_eq!((run.code, run.out.as_str()), (1, expected));
    let run = sandbox.dv(&["diff", "b.dv", "a.dv", "--json", "--limit", "1"]);
    let row = json!([{"document": 4095, "only_in": "b", "column": "n", "a": null, "b": 4095}]);
    assert_eq!((run.code, from_str::<Value>(&run.out).unwrap()), (1, row));
    assert_eq!(run.err, "note: 4,905 of 9,000 documents differ; --limit shows 1\n");
    let run = sandbox.dv(&["diff", "b.dv", "a.dv", "--limit", "0"]);
    // Two lines of each, a heading, and the count.
    assert_eq!(run.out.lines().count(), 2 + 2 * 4905 + 1, "{run:?}");
}

#[test]
fn differences_are_rows_with_the_same_columns() {
    let (a, b) = ("n,m\n1,5\n2,6\n", "n,m\n1,7\n2,6\n3,8\n");
    let (sandbox, run) = diff(a, b, &["--format", "csv"]);
    let expected = "document,only_in,column,a,b\n0,,m,5,7\n2,b,n,,3\n2,b,m,,8\n";
    assert_eq!((run.code, run.out.as_str()), (1, expected));
    let run = sandbox.dv(&["diff", "a.dv", "b.dv", "-o", "d.tsv"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert_eq!(sandbox.read("d.tsv"), expected.replace(',', "\t").as_bytes());
    assert_eq!(sandbox.ok(&["diff", "a.dv", "a.dv", "--format", "csv"]), "");
    assert_eq!(sandbox.dv(&["diff", "a.dv", "b.dv", "-q", "--format", "csv"]).code, 2);
    // Columns come first. They have no document.
    let (_, run) = diff("n,m\n1,5\n", "n,k\n1,7\n", &["--format", "csv"]);
    let expected = "document,only_in,column,a,b\n,a,m,numeric i64,\n,b,k,,numeric i64\n";
    assert_eq!((run.code, run.out.as_str()), (1, expected));
    let (_, run) = diff("n,m\n1,5\n", "n,m\n1,7\n", &["--format", "csv", "--by", "n"]);
    assert_eq!(run.out, "value,only_in,column,a,b\n1,,m,5,7\n");
    // Documents beyond the limit are counted.
    let more = ["--limit", "1", "--format", "ndjson"];
    let (_, run) = diff(&numbers(3, &[]), &numbers(3, &[(0, "7"), (2, "9")]), &more);
    assert_eq!(run.out, "{\"document\":0,\"only_in\":null,\"column\":\"n\",\"a\":0,\"b\":7}\n");
    assert_eq!(run.err, "note: 2 of 3 documents differ: n in 2; --limit shows 1\n");
}

#[test]
fn values_that_are_not_there_are_told_from_those_that_look_like_it() {
    let (_, run) = diff("f,s\n1.5,x\nNaN,\ninf,\"\"\n2.5,y\n", "f,s\nNaN,x\n,\"\"\nNaN,\n2.5,y\n", &[]);
    let documents = run.out.split_once('@').unwrap().1;
    let expected = " document 0
- f: 1.5
+ f: \"NaN\"
@ document 1
- f: \"NaN\"
+ s: \"\"
@ document 2
- f: \"inf\"
+ f: \"NaN\"
- s: \"\"
3 of 4 documents differ: f in 3, s in 2
";
    assert_eq!(documents, expected);
    // Also among several values.
    let [a, b] = ["NaN", "inf"].map(|value| format!("{{\"l\":[1.5,\"{value}\"]}}\n"));
    let sandbox = Sandbox::with("a.ndjson", a);
    sandbox.write("b.ndjson", b);
    for name in ["a", "b"] {
        let [input, output] = [format!("{name}.ndjson"), format!("{name}.dv")];
        sandbox.ok(&["build", &input, "-o", &output, "-q", "--type", "l=f64[]"]);
    }
    let expected = "document,only_in,column,a,b\n0,,l,\"[1.5,\"\"NaN\"\"]\",\"[1.5,\"\"inf\"\"]\"\n";
    assert_eq!(sandbox.dv(&["diff", "a.dv", "b.dv", "--format", "csv"]).out, expected);
}

#[test]
fn only_the_columns_asked_for_are_compared() {
    let (sandbox, run) = diff("a,b,c\n1,2,3\n", "a,b,d\n1,9,3\n", &["--columns", "a"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    let run = sandbox.dv(&["diff", "a.dv", "b.dv", "--columns", "c,b"]);
    assert!(run.code == 1 && run.out.contains("- column c: numeric i64\n@ document 0\n- b: 2\n+ b: 9\n"));
    let run = sandbox.dv(&["diff", "a.dv", "b.dv", "--columns", "size"]);
    assert_eq!((run.code, run.out.as_str()), (3, ""));
    assert!(run.err.starts_with("dv: a.dv, b.dv: no column \"size\"\n"), "{}", run.err);
}

#[test]
fn trouble_is_not_taken_for_a_difference() {
    let (sandbox, _) = diff(&numbers(10_000, &[]), &numbers(10_000, &[]), &[]);
    let mut damaged = sandbox.read("a.dv");
    damaged[64] ^= 1;
    sandbox.write("damaged.dv", damaged);
    sandbox.write("cut.dv", &sandbox.read("a.dv")[..100]);
    for other in ["damaged.dv", "cut.dv", "a.csv", "nothing.dv"] {
        for more in [&[][..], &["--json"], &["--quiet"]] {
            let run = sandbox.dv(&[&["diff", "a.dv", other], more].concat());
            assert_eq!((run.code, run.out.as_str()), (3, ""), "{other}: {run:?}");
            assert!(run.err.starts_with(&format!("dv: {other}: ")), "{run:?}");
        }
    }
    assert_eq!(sandbox.dv(&["diff", "a.dv", "b.dv", "--quiet", "--json"]).code, 2);
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let (_, run) = diff("s\n\"a\u{1b}[2J\"\nx\n", "s\n\"b\u{9b}2J\u{7f}\"\nx\n", &[]);
    assert!(run.code == 1 && !run.out.contains(['\u{1b}', '\u{9b}', '\u{7f}']), "{run:?}");
}
