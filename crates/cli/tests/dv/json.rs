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
    assert_eq!(group["groups"][2]["metrics"], json!({"max": {"x": "inf"}}));
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

/// Numbers that many readers of JSON round are text, in every answer; documents keep them as exports do.
#[test]
fn integers_above_2_to_53_are_text_in_answers() {
    let sandbox = Sandbox::with("t.csv", "n,m,at\n9007199254740992,1,1970-01-01\n9007199254740993,2,\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let (most, more) = (json!(9_007_199_254_740_992_u64), json!("9007199254740993"));
    let counted = json!([{"value": most, "count": 1}, {"value": more, "count": 1}]);
    let facet = ask(&sandbox, &["facet", "t.dv", "n", "--by", "value", "--json"]);
    assert_eq!(facet["facets"][0]["values"], counted);
    let args =
        ["group", "t.dv", "n", "--by", "value", "--min", "n,at", "--max", "n", "--mean", "m", "--json"];
    let group = ask(&sandbox, &args);
    let of = |n: &Value, at: Value, mean: f64| json!({"min": {"n": n, "at": at}, "max": {"n": n}, "mean": {"m": mean}});
    assert_eq!(group["groups"][0]["metrics"], of(&most, json!("1970-01-01"), 1.0));
    assert_eq!(group["groups"][1]["metrics"], of(&more, Value::Null, 2.0));
    let histogram = ask(&sandbox, &["histogram", "t.dv", "n", "--edges=0,9007199254740993", "--json"]);
    assert_eq!(histogram["ranges"], json!([{"from": 0, "count": 1}, {"from": more, "count": 1}]));
    for column in [
        &ask(&sandbox, &["stats", "t.dv", "n", "--percentiles", "0,100", "--json"])["columns"][0],
        &ask(&sandbox, &["query", "t.dv", r#"{"stats": [{"column": "n", "percentiles": [0, 100]}]}"#])["stats"]
            [0],
    ] {
        assert_eq!([&column["min"], &column["max"]], [&most, &more]);
        assert_eq!(column["sum"], "18014398509481985");
        assert_eq!(column["percentiles"], json!({"0": most, "100": more}));
    }
    let info = ask(&sandbox, &["info", "t.dv", "--json"]);
    let column = |name: &str| info["columns"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap();
    assert_eq!([&column("n")["min"], &column("n")["max"]], [&most, &more]);
    assert_eq!([&column("m")["min"], &column("at")["max"]], [&json!(1), &json!("1970-01-01")]);
    let got = sandbox.ok(&["get", "t.dv", "1", "--columns", "n"]);
    assert_eq!(got, "{\"n\":9007199254740993}\n");
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
    assert_eq!(distinct(&["-n", "1"]), 3);
    assert_eq!(distinct(&["--min-count", "2"]), 1);
    assert_eq!(distinct(&["--prefix", "web"]), 2);
}
