//! Properties of all answers in JSON: NaN and infinity, and the names of counts.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[track_caller]
fn ask(sandbox: &Sandbox, args: &[&str]) -> Value {
    serde_json::from_str(&sandbox.ok(args)).unwrap()
}

/// Doubles that JSON has no numbers for are told apart by their names; documents have null, as exports do.
#[test]
fn doubles_that_are_not_finite_have_names_in_answers() {
    let sandbox = Sandbox::with("t.csv", "x,y\nNaN,1\ninf,2\n-inf,3\n1.5,4\n,5\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let values = |counts: &Value| {
        let values = counts.as_array().unwrap().iter().map(|count| count["value"].clone());
        values.collect::<Value>()
    };
    let expected = json!(["-inf", 1.5, "inf", "NaN"]);
    let facet = ask(&sandbox, &["facet", "t.dv", "x", "--by", "value", "--json"]);
    assert_eq!(values(&facet["facets"][0]["values"]), expected);
    let group = ask(&sandbox, &["group", "t.dv", "x", "--by", "value", "--max", "x", "--json"]);
    assert_eq!(values(&group["groups"]), expected);
    assert_eq!(group["groups"][2]["metrics"], json!(["inf"]));
    let histogram = ask(&sandbox, &["histogram", "t.dv", "x", "--edges=-inf,0,+inf", "--json"]);
    let expected =
        json!([{"from": "-inf", "count": 1}, {"from": 0.0, "count": 1}, {"from": "inf", "count": 1}]);
    assert_eq!(histogram["ranges"], expected);
    let stats = ask(&sandbox, &["stats", "t.dv", "x", "--percentiles", "0,100", "--json"]);
    let column = &stats["columns"][0];
    assert_eq!([&column["min"], &column["max"], &column["sum"]], ["-inf", "inf", "NaN"]);
    assert_eq!(column["percentiles"], json!({"0": "-inf", "100": "inf"}));

    let request = r#"{"facets": [{"column": "x", "by": "value"}], "sort": ["-x"], "top": 2, "columns": ["x"],
        "groups": [{"column": "x", "by": "value", "docs": 1, "columns": ["x"]}]}"#;
    let answer = ask(&sandbox, &["query", "t.dv", request]);
    assert_eq!(answer["facets"][0]["values"], facet["facets"][0]["values"]);
    assert_eq!(values(&answer["groups"][0]["groups"]), values(&group["groups"]));
    // What is a document reads like those of `get` and `export`.
    assert_eq!(answer["top"][0], json!({"_doc": 1, "x": null}));
    assert_eq!(answer["groups"][0]["groups"][0]["documents"][0], json!({"_doc": 2, "x": null}));
    for command in [&["get", "t.dv", "1"][..], &["export", "t.dv", "--docs", "1..2"]] {
        assert_eq!(ask(&sandbox, &[command, &["--columns", "x"]].concat()), json!({"x": null}));
    }
}

/// As docs/search.md has it.
#[test]
fn counts_are_of_what_they_are_said_to_be() {
    let sandbox = Sandbox::with("t.csv", "host,size\nweb1,1\nweb1,2\nweb2,\ndb1,3\n,4\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q", "--type", "host=string:sorted"]);
    for (more, matching) in [(&[][..], 5), (&["--where", "not size = 3"], 4)] {
        let args = [&["t.dv", "host", "--json"], more].concat();
        let [facet, stats, group] =
            ["facet", "stats", "group"].map(|c| ask(&sandbox, &[&[c], &args[..]].concat()));
        for answer in [&facet, &stats, &group] {
            assert_eq!(
                [&answer["documents"], &answer["matching"]],
                [&json!(5), &json!(matching)],
                "{answer}"
            );
        }
        // Of a facet, those without a value are among the documents; of statistics they are not.
        let (facet, stats) = (&facet["facets"][0], &stats["columns"][0]);
        assert_eq!([&facet["documents"], &facet["missing"]], [&json!(matching), &json!(1)]);
        assert_eq!([&stats["documents"], &stats["missing"]], [&json!(matching - 1), &json!(1)]);
    }
    // Values that are left out are not counted.
    let distinct = |more: &[&str]| {
        let facet = ask(&sandbox, &[&["facet", "t.dv", "host", "--json"], more].concat());
        facet["facets"][0]["distinct"].clone()
    };
    assert_eq!(distinct(&[]), 3);
    assert_eq!(distinct(&["--top", "1"]), 3);
    assert_eq!(distinct(&["--min-count", "2"]), 1);
    assert_eq!(distinct(&["--prefix", "web"]), 2);
}
