//! -0.0 and 0.0: one value in queries, counts and groups, two in exports.

use serde_json::{Value, from_str, json};

use crate::sandbox::Sandbox;

#[test]
fn both_zeros_are_one_value() {
    let sandbox = Sandbox::with("t.csv", "x\n-0.0\n0.0\n-0.0\n1.5\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    assert_eq!(sandbox.ok(&["count", "t.dv", "--where", "x = 0"]), "3\n");
    let json = |args: &[&str]| from_str::<Value>(&sandbox.ok(&[args, &["--json"]].concat())).unwrap();
    // As text, because numbers of both signs are equal.
    let expected = json!([{ "value": 0.0, "count": 3 }, { "value": 1.5, "count": 1 }]).to_string();
    assert_eq!(json(&["facet", "t.dv", "x"])["facets"][0]["values"].to_string(), expected);
    let grouped = json!([
        { "value": 0.0, "values": { "x": 0.0 }, "count": 3 },
        { "value": 1.5, "values": { "x": 1.5 }, "count": 1 },
    ]);
    assert_eq!(json(&["group", "t.dv", "x"])["groups"].to_string(), grouped.to_string());
    assert_eq!(json(&["stats", "t.dv", "x", "--distinct"])["columns"][0]["distinct"], 2);
    // Stored as they came.
    assert_eq!(sandbox.ok(&["export", "t.dv", "--format", "csv"]), "x\n-0.0\n0.0\n-0.0\n1.5\n");
}
