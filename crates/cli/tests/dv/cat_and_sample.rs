//! `dv cat` and `dv sample`.

use crate::sandbox::{Sandbox, packages};

#[test]
fn segments_follow_each_other_and_columns_are_united() {
    let sandbox = Sandbox::with("a.csv", "id,x\n1,a\n2,\n");
    sandbox.write("b.csv", "y,id\ntrue,\"v,w\"\n");
    for (name, more) in [("a", &[][..]), ("b", &["--type", "id=string"])] {
        sandbox.ok(&[&["build", &format!("{name}.csv"), "-o", &format!("{name}.dv"), "-q"], more].concat());
    }
    let json = "{\"id\":1,\"x\":\"a\"}\n{\"id\":2}\n{\"id\":\"v,w\",\"y\":true}\n";
    assert_eq!(sandbox.ok(&["cat", "a.dv", "b.dv"]), json);
    let csv = "id,x,y\n1,a,\n2,,\n\"v,w\",,true\n";
    assert_eq!(sandbox.ok(&["cat", "a.dv", "b.dv", "--format", "csv"]), csv);
    let table = sandbox.ok(&["cat", "b.dv", "a.dv", "--format", "table", "--columns", "x,y"]);
    assert_eq!(table, "_doc  x  y\n─────────────\n   0     true\n   0  a\n   1\n");
    let numbered = sandbox.ok(&["cat", "a.dv", "b.dv", "--doc-ids", "--columns", "id", "--format", "csv"]);
    assert_eq!(numbered, "_doc,id\n0,1\n1,2\n0,\"v,w\"\n");
    let run = sandbox.dv(&["cat", "a.dv", "b.dv", "--columns", "z"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.starts_with("dv: a.dv, b.dv: no column \"z\""), "{}", run.err);
    let run = sandbox.dv(&["cat", "a.dv", "nothing.dv"]);
    assert_eq!((run.code, run.out.as_str()), (3, ""), "{run:?}");
}

#[test]
fn one_segment_comes_out_as_export_has_it() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "-q"]);
    let exported = sandbox.ok(&["export", "p.dv"]);
    assert_eq!(sandbox.ok(&["cat", "p.dv"]), exported);
    assert_eq!(sandbox.ok(&["cat", "p.dv", "p.dv"]), exported.repeat(2));
}

#[test]
fn samples_are_documents_in_order_each_at_most_once() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "-q"]);
    let sample = |more: &[&str]| sandbox.ok(&[&["sample", "p.dv"], more].concat());
    let exported = sandbox.ok(&["export", "p.dv", "--doc-ids"]);
    let drawn = sample(&["-n", "500", "--seed", "3", "--doc-ids"]);
    assert_eq!(drawn.lines().count(), 500);
    // In the order of the export.
    let mut all = exported.lines();
    assert!(drawn.lines().all(|line| all.any(|other| other == line)));
    assert_eq!(sample(&["-n", "500", "--seed", "3", "--doc-ids"]), drawn);
    assert_ne!(sample(&["-n", "500", "--seed", "4", "--doc-ids"]), drawn);
    assert_eq!(sample(&["-n", "4000", "--doc-ids"]), exported);
    assert_eq!(sample(&["-n", "0", "--format", "csv", "--columns", "size"]), "size\n");
    assert_eq!(sample(&[]).lines().count(), 10);
}
