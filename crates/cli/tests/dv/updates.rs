//! Updates of a store: every command prints the values that documents have now.

use docvalues::search::Query;
use docvalues::store::{Store, StoreOptions, Update};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, json, without_bars};

const ROWS: &str = "\
id,size,price,section,tags,at
a,1,1.50,games,x,2013-01-01T06:00:00Z
b,2,2.50,libs,\"[\"\"x\"\",\"\"y\"\"]\",2013-01-02T06:00:00Z
c,3,3.50,games,,2013-01-03T06:00:00Z
d,4,4.50,net,z,2013-01-04T06:00:00Z
";

/// The documents of [`updated`], as `dv cat` prints them.
const UPDATED: &str = r#"{"tags":["new","x"],"id":"a","size":100,"price":1.125,"section":"zoo","at":"2013-01-01T06:00:00Z"}
{"tags":["y"],"id":"b","size":2,"price":2.5,"at":"2013-01-02T06:00:00Z"}
{"id":"c","size":3,"price":3.5,"section":"libs","at":"2013-01-03T06:00:00Z","stars":5}
{"tags":["z"],"id":"d","size":4,"price":4.5,"section":"net","at":"2013-01-04T06:00:00Z"}
"#;

/// A store `st` of rows in a committed segment.
fn store() -> Sandbox {
    let sandbox = Sandbox::with("rows.csv", ROWS);
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--type", "tags=string[]"]);
    sandbox.ok(&["put", "st", "rows.csv", "-q"]);
    sandbox
}

/// The same store after updates of each kind: of a number, to a term that the dictionary has and to one that it lacks, of
/// a set, of a column that the segment lacks, and a value that is removed.
fn updated() -> Sandbox {
    let sandbox = store();
    let options = StoreOptions::new().keep_commits(docvalues::store::KeepCommits::Newest(2));
    let store = Store::open(sandbox.path("st"), options).unwrap();
    let stars = docvalues::Field::new("stars", docvalues::Kind::Numeric, docvalues::LogicalType::I64);
    // As `dv set` does, because 1.125 does not have two decimals.
    let mut price = store.snapshot().schema().field("price").unwrap().clone();
    price.format = None;
    store.set_fields([stars, price]).unwrap();
    let mut batch = store.batch().unwrap();
    let field = |name| batch.field(name).unwrap();
    let [id, size, price, section, tags, stars] =
        ["id", "size", "price", "section", "tags", "stars"].map(field);
    let mut doc = batch.update_with(&Update::new().add_to(tags));
    doc.str(id, "a").unwrap().i64(size, 100).unwrap().f64(price, 1.125).unwrap();
    doc.str(section, "zoo").unwrap().str(tags, "new").unwrap();
    doc.finish().unwrap();
    let mut doc = batch.update_with(&Update::new().remove_from(tags).unset(section));
    doc.str(id, "b").unwrap().str(tags, "x").unwrap();
    doc.finish().unwrap();
    let mut doc = batch.update();
    doc.str(id, "c").unwrap().str(section, "libs").unwrap().i64(stars, 5).unwrap();
    doc.finish().unwrap();
    store.apply(batch).unwrap();
    store.commit().unwrap();
    sandbox
}

#[test]
fn commands_print_updated_values() {
    let sandbox = updated();
    let lines: Vec<&str> = UPDATED.lines().collect();
    let all: &[(&[&str], &str)] = &[
        (&["cat", "st"], UPDATED),
        (&["head", "st"], UPDATED),
        (&["export", "st"], UPDATED),
        (&["get", "st", "0"], lines[0]),
        (&["lookup", "st", "a"], lines[0]),
        (&["export", "st", "--where", "section = \"zoo\""], lines[0]),
        (
            &["export", "st", "--format", "csv", "--docs", "0..2", "--columns", "stars,size,tags"],
            "stars,size,tags\n,100,\"[\"\"new\"\",\"\"x\"\"]\"\n,2,\"[\"\"y\"\"]\"",
        ),
        (
            &["sort", "st", "--by=-size", "-n", "2", "--columns", "id,size"],
            "{\"id\":\"a\",\"size\":100}\n{\"id\":\"d\",\"size\":4}",
        ),
        (&["sort", "st", "--by", "section", "-n", "1", "--columns", "section"], "{\"section\":\"libs\"}"),
        (&["terms", "st", "section"], "libs\nnet\nzoo"),
        (&["terms", "st", "tags"], "new\nx\ny\nz"),
        (&["count", "st", "--where", "size = 100 and tags = \"new\" and tags = \"x\""], "1"),
        (&["count", "st", "--where", "size = 1 or section = \"games\""], "0"),
        (&["count", "st", "--where", "stars exists"], "1"),
        (&["count", "st", "--where", "section missing"], "1"),
        (
            &["facet", "st", "section"],
            "section: 4 documents, 1 without a value, 3 values\n  libs  1   25.0 %\n  net   1   25.0 %\n  zoo   1   25.0 %",
        ),
        (
            &["histogram", "st", "size", "--edges", "0,10"],
            "size: 4 documents, 0 without a value\n   0  3\n  10  1",
        ),
    ];
    for (command, expected) in all {
        assert_eq!(without_bars(&sandbox.ok(command)).trim_end(), expected.trim_end(), "{command:?}");
    }
    let mut sampled: Vec<String> =
        sandbox.ok(&["sample", "st", "-n", "4"]).lines().map(str::to_owned).collect();
    sampled.sort();
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(sampled, sorted);
}

#[test]
fn reports_are_of_updated_values() {
    let sandbox = updated();
    let stats = json(&sandbox.ok(&["stats", "st", "--json"]));
    let column = |name: &str| {
        let columns = stats["columns"].as_array().unwrap();
        columns.iter().find(|column| column["name"] == name).unwrap().clone()
    };
    assert_eq!((&column("size")["max"], &column("size")["sum"]), (&100.into(), &109.into()));
    assert_eq!((&column("section")["documents"], &column("section")["max"]), (&3.into(), &"zoo".into()));
    assert_eq!((&column("stars")["documents"], &column("stars")["min"]), (&1.into(), &5.into()));
    let info = json(&sandbox.ok(&["info", "st", "--json"]));
    let with_value: Vec<u64> = info["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["documents"].as_u64().unwrap())
        .collect();
    // In the order of the columns: those of `store create` first.
    assert_eq!(
        info["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["tags", "id", "size", "price", "section", "at", "stars"]
    );
    assert_eq!(with_value, [3, 4, 4, 4, 3, 4, 1]);
    let groups = sandbox.ok(&["group", "st", "section", "--sum", "size", "--by", "value", "--json"]);
    assert!(groups.contains("\"zoo\"") && groups.contains("100"), "{groups}");
    let query = r#"{"facets": ["section"], "stats": ["size"], "sort": ["-size"], "top": 1, "columns": ["id", "size"]}"#;
    let answer = json(&sandbox.ok(&["query", "st", query]));
    assert_eq!((&answer["stats"][0]["max"], &answer["top"][0]["size"]), (&100.into(), &100.into()));
}

#[test]
fn a_merge_and_a_comparison_have_updated_values() {
    let sandbox = updated();
    sandbox.ok(&["merge", "st", "-o", "merged.dv", "-q"]);
    assert_eq!(
        sandbox.ok(&["cat", "merged.dv", "--columns", "tags,id,size,price,section,at,stars"]),
        UPDATED
    );
    assert_eq!(sandbox.ok(&["diff", "merged.dv", "st"]), "");
    let run = sandbox.dv(&["diff", "st", "st", "--by", "id", "--json"]);
    assert_eq!(run.code, 0);
    sandbox.ok(&["build", "rows.csv", "-o", "before.dv", "-q", "--type", "tags=string[]"]);
    let run = sandbox.dv(&["diff", "before.dv", "st", "--by", "id", "--columns", "size,section"]);
    assert!(run.out.contains("+ size: 100") && run.out.contains("- section: \"libs\""), "{}", run.out);
    // Neither a merge of the store nor the commit before changes what is printed.
    sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
    assert_eq!(sandbox.ok(&["cat", "st", "--columns", "tags,id,size,price,section,at,stars"]), UPDATED);
}

#[test]
fn an_older_commit_has_older_values() {
    let sandbox = updated();
    let sizes = |more: &[&str]| sandbox.ok(&[&["stats", "st", "size", "--json"], more].concat());
    assert!(sizes(&["--commit", "2"]).contains("\"max\": 4"));
    assert!(sizes(&[]).contains("\"max\": 100"));
}

#[test]
fn changes_are_lines_of_json() {
    let sandbox = Sandbox::with("a.csv", "id,size,price,tags,day\na,7,1.5,x,2013-01-01\nb,,,,\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--type", "tags=string[]"]);
    sandbox.ok(&["put", "st", "a.csv", "-q", "--keep-frames", "1MiB"]);
    let open = || Store::open(sandbox.path("st"), StoreOptions::new().keep_frames(1 << 20)).unwrap();
    let store = open();
    let mut batch = store.batch().unwrap();
    let [id, size, price, tags] = ["id", "size", "price", "tags"].map(|name| batch.field(name).unwrap());
    let mut doc = batch.update_with(&Update::new().add(size, -2).multiply(price, 1.5).add_to(tags));
    doc.str(id, "a").unwrap().str(tags, "y").unwrap();
    doc.finish().unwrap();
    let mut doc = batch.update_with(&Update::new().unset(tags));
    doc.str(id, "a").unwrap().i64(size, 9).unwrap();
    doc.finish().unwrap();
    batch.delete(b"b");
    let last = store.apply(batch).unwrap().sequence;
    drop(store);
    let list = |from: u64| -> Vec<Value> {
        let lines = sandbox.ok(&["changes", "st", "--from", &from.to_string()]);
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let document = json!({"id": "a", "size": 7, "price": 1.5, "tags": ["x"], "day": "2013-01-01"});
    let computed = json!({"size": "-2", "price": "*1.5"});
    let expected = [
        json!({"batch": last - 1, "change": "upsert", "id": "a", "document": document}),
        json!({"batch": last - 1, "change": "upsert", "id": "b", "document": {"id": "b"}}),
        json!({"batch": last, "change": "update", "id": "a", "add": {"tags": ["y"]}, "compute": computed}),
        json!({"batch": last, "change": "update", "id": "a", "set": {"size": 9, "tags": null}}),
        json!({"batch": last, "change": "delete", "id": "b"}),
    ];
    assert_eq!(list(0), expected);
    assert_eq!(list(last - 1), expected[2..]);
    assert!(list(last).is_empty());

    // The log does not hold a change by a query.
    open().delete_where(&Query::eq("id", "a")).unwrap();
    let run = sandbox.dv(&["changes", "st"]);
    assert!(run.code == 1 && run.out.is_empty(), "{run:?}");
    assert!(run.err.contains("scan a snapshot instead") && run.err.contains("`dv export`"), "{run:?}");
    let commits: Value = serde_json::from_str(&sandbox.ok(&["commits", "st", "--json"])).unwrap();
    let sequence = commits.as_array().unwrap().last().unwrap()["sequence"].as_u64().unwrap();
    assert!(sequence > last && list(sequence).is_empty());
    assert_eq!(sandbox.dv(&["changes", "st", "--from", "1000"]).code, 5);
    // A command without a log removes it.
    sandbox.ok(&["put", "st", "a.csv", "-q"]);
    let run = sandbox.dv(&["changes", "st"]);
    assert!(run.code == 1 && run.err.contains("--keep-frames"), "{run:?}");
}
