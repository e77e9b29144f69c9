//! Stores: what is put, removed and merged is what every command reads.

use std::collections::BTreeMap;

use docvalues::store::{Durability, KeepCommits, Store, StoreOptions};
use serde_json::Value;

use crate::sandbox::{Run, Sandbox, id, json, packages, words};

/// The shipped packages, one JSON object a line.
fn lines() -> Vec<String> {
    let sandbox = Sandbox::with("packages.ndjson.gz", packages());
    sandbox.ok(&["build", "packages.ndjson.gz", "-o", "packages.dv", "-q"]);
    sandbox.ok(&["cat", "packages.dv"]).lines().map(str::to_owned).collect()
}

/// A store `st` of the packages, put in `runs` overlapping runs, and its documents by id.
fn store(runs: usize) -> (Sandbox, BTreeMap<String, String>) {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let lines = lines();
    let size = lines.len() / runs + 1;
    let mut expected = BTreeMap::new();
    for start in (0..lines.len()).step_by(size) {
        // Some of the run before once more, with a change.
        let again = lines[start.saturating_sub(20)..start]
            .iter()
            .map(|line| line.replace("\"priority\":\"", "\"priority\":\"re-"));
        let run: Vec<String> =
            again.chain(lines[start..lines.len().min(start + size)].iter().cloned()).collect();
        let put =
            sandbox.dv_with(&["put", "st", "-", "--input-format", "ndjson", "-q"], run.join("\n").as_bytes());
        assert_eq!((put.code, put.out.as_str(), put.err.as_str()), (0, "", ""));
        expected.extend(run.into_iter().map(|line| (id(&line), line)));
    }
    (sandbox, expected)
}

/// The documents of a store by id, of `dv cat`.
fn contents(sandbox: &Sandbox, more: &[&str]) -> BTreeMap<String, String> {
    let found = sandbox.ok(&[&["cat", "st"], more].concat());
    let documents: BTreeMap<String, String> = found.lines().map(|line| (id(line), line.to_owned())).collect();
    assert_eq!(documents.len(), found.lines().count(), "one document for each id");
    documents
}

#[test]
fn documents_are_put_replaced_removed_and_merged() {
    let (sandbox, mut expected) = store(9);
    assert_eq!(contents(&sandbox, &[]), expected);
    let gone: Vec<String> = expected.keys().step_by(10).cloned().collect();
    let removed = sandbox.dv_with(&["rm", "st", "-", "--json"], gone.join("\n").as_bytes());
    assert_eq!((removed.code, json(&removed.out)["deleted"].as_u64()), (0, Some(gone.len() as u64)));
    gone.iter().for_each(|id| drop(expected.remove(id)));
    assert_eq!(contents(&sandbox, &[]), expected);
    let games = sandbox.ok(&["rm", "st", "--where", "section = \"games\""]);
    expected.retain(|_, line| !line.contains("\"section\":\"games\""));
    assert!(games.contains(&format!("has {}", thousands(expected.len()))), "{games}");
    assert_eq!(contents(&sandbox, &[]), expected);
    sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
    assert_eq!(contents(&sandbox, &[]), expected);
    let info = json(&sandbox.ok(&["info", "st", "--json"]));
    assert_eq!((&info["documents"], info["segments"].as_array().unwrap().len()), (&expected.len().into(), 1));
    assert_eq!(info["segments"][0]["deleted"], 0);
    let check = json(&sandbox.ok(&["check", "st", "--json"]));
    assert_eq!((&check["clean"], &check["store"]["unnamed"]), (&true.into(), &Value::Array(Vec::new())));
}

fn thousands(number: usize) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

/// Commands over a store with deleted documents print what they print over a segment of the others.
#[test]
fn commands_read_a_store_as_a_segment_of_its_documents() {
    let (sandbox, expected) = store(5);
    let gone: Vec<String> = expected.keys().step_by(7).cloned().collect();
    sandbox.dv_with(&["rm", "st", "-", "-q"], gone.join("\n").as_bytes());
    // The same documents in the same order.
    let live = sandbox.ok(&["cat", "st"]);
    let types = ["package", "version", "filename", "description", "source", "built_using"]
        .map(|name| format!("{name}=string:sorted"))
        .join(",");
    let args = format!("build - -o one.dv --id-field id --input-format ndjson -q --type {types}");
    assert_eq!(sandbox.dv_with(&words(&args), live.as_bytes()).code, 0);
    let an_id = expected.keys().nth(3).unwrap().as_str();
    let commands: &[&[&str]] = &[
        &["count"],
        &["count", "--where", "section = \"libs\" and size > 100kB"],
        &["head", "-n", "3"],
        &["get", "0", "17", "1999"],
        &["sample", "-n", "5", "--seed", "3"],
        &["export", "--format", "csv"],
        &["export", "--docs", "1000..1010"],
        &["export", "--where", "size > 1MB", "--sort", "-size", "--limit", "9"],
        &["sort", "--by", "section,-size", "-n", "20"],
        &["facet", "section", "tags", "-n", "5"],
        &["facet", "priority", "--by", "value", "--where", "size > 1MB"],
        &["group", "section", "--by", "value"],
        &["histogram", "size", "--step", "1MB"],
        &["terms", "section"],
        &["terms", "tags", "--prefix", "role::"],
        &["terms", "--id", "--limit", "50"],
        &["lookup", an_id, "--columns", "package,size"],
        &["query", r#"{"facets": ["section"], "stats": ["size"], "groups": ["priority"]}"#],
    ];
    for command in commands {
        let run = |file: &str| {
            let (name, rest) = command.split_first().unwrap();
            let run = sandbox.dv(&[&[*name, file], rest].concat());
            // The name of the file, and the numbers of documents within it.
            let out = run.out.replace(&format!("\"{file}\""), "\"F\"");
            let err = run.err.split_once(" --after").map_or(run.err.as_str(), |(note, _)| note);
            (run.code, out, err.to_owned())
        };
        let [store, file] = [run("st"), run("one.dv")];
        assert_eq!(file.0, 0, "{command:?}: {}", file.2);
        assert!(store == file, "{command:?}\n{}\n{}\n---\n{}\n{}", store.1, store.2, file.1, file.2);
    }
    // Statistics but the number of bytes, which deleted documents have as well.
    let stats = |file: &str| {
        let mut stats = json(&sandbox.ok(&["stats", file, "--json", "--distinct", "--percentiles", "50"]));
        let columns = stats["columns"].as_array_mut().unwrap();
        columns.iter_mut().for_each(|column| drop(column.as_object_mut().unwrap().remove("bytes")));
        stats["columns"].clone()
    };
    assert_eq!(stats("st"), stats("one.dv"));
    assert_eq!(sandbox.ok(&["diff", "st", "one.dv"]), "");
    assert_eq!(sandbox.ok(&["diff", "one.dv", "st", "--by", "id"]), "");
    sandbox.ok(&["merge", "st", "-o", "two.dv", "-q"]);
    assert_eq!(sandbox.ok(&["diff", "two.dv", "one.dv"]), "");
    // A store beside a file, and beside itself.
    let both: u64 = 2 * live.lines().count() as u64;
    assert_eq!(sandbox.ok(&["count", "st", "one.dv"]), format!("{both}\n"));
    assert_eq!(sandbox.ok(&["count", "st", "st"]), format!("{both}\n"));
}

#[test]
fn documents_are_compared_by_a_column() {
    let sandbox = Sandbox::with("a.csv", "id,n,day\n1,5,2013-01-01\n2,6,\n3,7,2013-01-03\n");
    sandbox.write("b.csv", "id,n,day\n3,7,2013-01-03\n4,1,\n1,5,2013-01-02\n");
    for name in ["a", "b"] {
        sandbox.ok(&["build", &format!("{name}.csv"), "-o", &format!("{name}.dv"), "-q"]);
    }
    let run = sandbox.dv(&["diff", "a.dv", "b.dv", "--by", "id"]);
    let expected = "\
--- a.dv: 3 documents, 3 columns
+++ b.dv: 3 documents, 3 columns
@ id 1
- day: \"2013-01-01\"
+ day: \"2013-01-02\"
@ id 2, only in a.dv
- id: 2
- n: 6
@ id 4, only in b.dv
+ id: 4
+ n: 1
3 of 4 documents differ: day in 1
";
    assert_eq!((run.code, run.out.as_str()), (1, expected));
    let rows = json(&sandbox.dv(&["diff", "a.dv", "b.dv", "--by", "id", "--json"]).out);
    assert_eq!((&rows[1]["value"], &rows[1]["only_in"]), (&2.into(), &"a".into()));
    let run = sandbox.dv(&["diff", "a.dv", "b.dv", "--by", "day"]);
    assert_eq!((run.code, run.err.as_str()), (3, "dv: --by: document 1 has no value in column \"day\"\n"));
    sandbox.write("c.csv", "id,n\n1,5\n1,6\n");
    sandbox.ok(&["build", "c.csv", "-o", "c.dv", "-q"]);
    let run = sandbox.dv(&["diff", "a.dv", "c.dv", "--by", "id"]);
    let expected = "dv: --by: documents 0 and 1 have the same value in column \"id\": 1\n";
    assert_eq!((run.code, run.err.as_str()), (3, expected));
}

#[test]
fn types_are_fixed_by_the_first_put() {
    let sandbox = Sandbox::new();
    sandbox.ok(&words("store create st --id-field id --type at=timestamp[ms] --sort-by -at"));
    let put = |rows: &str, more: &[&str]| {
        sandbox.dv_with(&[&["put", "st", "-", "--input-format", "csv", "-q"], more].concat(), rows.as_bytes())
    };
    let code = |run: Run| (run.code, run.err);
    assert_eq!(
        code(put("id,at,size,name\na,2013-01-01T06:00:00Z,5,x\nb,2013-01-02T06:00:00Z,6,y\n", &[])).0,
        0
    );
    let (exit, err) = code(put("id,size\nc,many\n", &[]));
    assert!(exit == 1 && err.contains("<stdin>:2:3: column \"size\"") && err.contains("i64"), "{err}");
    let (exit, err) = code(put("id,size\nc,7\n", &["--type", "size=f64"]));
    let expected = "dv: column \"size\": the store has type i64, asked for is f64\n    \
                    hint: `dv store alter st --type size=f64` makes the column wider\n";
    assert_eq!((exit, err.as_str()), (1, expected));
    let (exit, err) = code(put("id,size\n,7\nd,1\n", &[]));
    assert!(exit == 1 && err.contains("<stdin>:2:1: column \"id\": expected an id, found none"), "{err}");
    let (exit, err) = code(put("id\nc\n", &["--type", "size=i64"]));
    assert!(exit == 1 && err.contains("--type: no input has a column \"size\""), "{err}");
    assert_eq!(sandbox.ok(&["count", "st"]), "2\n", "what fails changes nothing");
    let args = ["put", "st", "-", "--input-format", "ndjson", "--type", "siez=i64"];
    let noted =
        sandbox.dv_with(&args, b"{\"id\":\"a\",\"at\":\"2013-01-01T06:00:00Z\",\"size\":5,\"name\":\"x\"}\n");
    assert_eq!((noted.code, noted.err.as_str()), (0, "note: --type: no input has a column \"siez\"\n"));
    // A new column; the others keep their types though the values would give others.
    let (exit, err) = code(put("size,id,more\n7,3,true\n", &[]));
    assert_eq!((exit, err.as_str()), (0, ""));
    let info = json(&sandbox.ok(&["info", "st", "--json"]));
    let types: Vec<String> = info["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| format!("{} {}", column["name"].as_str().unwrap(), column["kind"].as_str().unwrap()))
        .collect();
    let expected = ["at numeric", "id binary", "size numeric", "name sorted", "more numeric"];
    assert_eq!(types, expected);
    let cat = "{\"at\":\"2013-01-02T06:00:00Z\",\"id\":\"b\",\"size\":6,\"name\":\"y\"}\n\
               {\"at\":\"2013-01-01T06:00:00Z\",\"id\":\"a\",\"size\":5,\"name\":\"x\"}\n\
               {\"id\":\"3\",\"size\":7,\"more\":true}\n";
    assert_eq!(sandbox.ok(&["cat", "st"]), cat);
    sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
    assert_eq!(sandbox.ok(&["cat", "st"]), cat, "the order of columns and their formats stay");
}

#[test]
fn what_is_refused_says_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("rows.csv", "id,n\na,1\n");
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let fails = |args: &[&str], code: i32, parts: &[&str]| {
        let run = sandbox.dv(args);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        parts.iter().for_each(|part| assert!(run.err.contains(part), "{args:?}: {}", run.err));
    };
    for command in
        [&["put", "empty", "rows.csv"][..], &["count", "empty"], &["check", "empty"], &["rm", "empty", "a"]]
    {
        let run = sandbox.dv(command);
        assert!(
            run.code == 3 && (run.err + &run.out).contains("expected a store, found no commit"),
            "{command:?}"
        );
    }
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    fails(&["store", "create", "st"], 1, &["found commit-00000001", "`dv put` adds documents"]);
    fails(&["store", "create", "x", "--sort-by", "n"], 1, &["no column \"n\""]);
    fails(&["store", "create", "x", "--type", "t=timestamp"], 2, &["timestamp[ms]"]);
    fails(&["store", "create", "x", "--type", "t=string:fsst"], 2, &["a store chooses the compression"]);
    fails(&["store", "create", "x", "--type", "id=u64", "--id-field", "id"], 1, &["column \"id\""]);
    for ty in ["timestamp", "timestamp[ms]", "date"] {
        let ty = format!("at={ty}");
        let args = ["store", "create", "x", "--id-field", "id", "--version-field", "at", "--type", &ty];
        fails(&args, 2, &["expected whole numbers (i64 or u64), found times", "dv export FILE.dv --sort at"]);
    }
    fails(&["put", "nostore", "rows.csv"], 3, &["nostore: expected the folder of a store, found nothing"]);
    sandbox.ok(&["build", "rows.csv", "-o", "rows.dv", "-q"]);
    fails(&["put", "st", "rows.dv"], 1, &["found a segment", "`dv export rows.dv | dv put STORE -`"]);
    sandbox.write("keys.csv", "key,n\na,1\n");
    fails(
        &["put", "st", "keys.csv"],
        1,
        &["the rows so far have no column \"id\", but columns \"key\", \"n\""],
    );
    sandbox.ok(&["put", "st", "rows.csv", "-q"]);
    fails(&["rm", "st", "b"], 1, &["no document has the id \"b\""]);
    fails(&["rm", "st", "--where", "nn = 1"], 1, &["nn"]);
    fails(&["count", "st", "--commit", "77"], 1, &["expected one of the commits 1, 2, found commit 77"]);
    fails(&["count", "rows.csv", "--commit", "1"], 2, &["--commit: expected the folder of a store"]);
    fails(&["put", "st", "rows.csv", "--commit", "1"], 2, &["--commit"]);
    fails(&["merge", "st", "--sort-by", "n"], 2, &["a store has its own columns"]);
    fails(&["merge", "rows.csv"], 2, &["-o"]);
    fails(&["recover", "st", "--to", "2"], 1, &["expected an older commit, found the newest, 2"]);
    fails(&["info", "st", "--sections"], 2, &["found a store"]);
}

#[test]
fn a_damaged_store_is_checked_and_recovered() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    for (name, rows) in [("a.csv", "id,n\na,1\nb,2\n"), ("b.csv", "id,n\na,3\nc,4\n")] {
        sandbox.write(name, rows);
        sandbox.ok(&["put", "st", name, "-q", "--keep-commits", "3"]);
    }
    assert_eq!(sandbox.ok(&["count", "st", "--commit", "2"]), "2\n");
    sandbox.write("st/commit-00000003", "{}");
    sandbox.write("st/seg-0000ff.dv", "left");
    let run = sandbox.dv(&["check", "st"]);
    assert!(
        run.code == 1
            && run.out.contains("st/commit-00000003: ")
            && run.out.contains("no commit names seg-0000ff.dv"),
        "{run:?}"
    );
    let run = sandbox.dv(&["commits", "st"]);
    assert!(run.code == 1 && run.out.contains("damaged") && run.err.contains("commit-00000003"), "{run:?}");
    let run = sandbox.dv(&["count", "st"]);
    assert!(run.code == 1 && run.err.contains("`dv commits`"), "{run:?}");
    let recovered = json(&sandbox.ok(&["recover", "st", "--to", "2", "--json"]));
    assert_eq!((&recovered["now"]["commit"], &recovered["lost"][0]["damaged"]), (&4.into(), &true.into()));
    assert_eq!(sandbox.ok(&["cat", "st"]), "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n");
    sandbox.ok(&["put", "st", "b.csv", "-q", "--keep-commits", "1"]);
    assert!(!sandbox.exists("st/commit-00000003") && !sandbox.exists("st/seg-0000ff.dv"));
    let check = json(&sandbox.ok(&["check", "st", "--json"]));
    assert_eq!((&check["clean"], &check["documents"]), (&true.into(), &3.into()));
}

/// Batches of the log are applied to the older commit, or named before they are lost.
#[test]
fn recovering_keeps_the_log_unless_it_is_discarded() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let put = |names: &[&str]| {
        let options =
            StoreOptions::new().durability(Durability::EachBatch).keep_commits(KeepCommits::Newest(3));
        let store = Store::open(sandbox.path("st"), options).unwrap();
        for id in names {
            let mut batch = store.batch().unwrap();
            let field = batch.field("id").unwrap();
            let mut doc = batch.upsert();
            doc.str(field, id).unwrap();
            doc.finish().unwrap();
            store.apply(batch).unwrap();
        }
    };
    put(&["a", "b"]);
    std::fs::remove_file(sandbox.path("st/commit-00000002")).unwrap();
    for command in [&["rm", "st", "a"][..], &["log", "st"], &["check", "st"]] {
        let run = sandbox.dv(command);
        let text = run.err.clone() + &run.out;
        assert!(
            run.code == 1 && text.contains("expected the commit that names this log, found commit 1"),
            "{run:?}"
        );
    }
    let out = sandbox.ok(&["recover", "st", "--to", "1"]);
    assert_eq!(out, "st: commit 2 has 2 documents: those of commit 1, after 2 batches of the log\n");
    put(&["c", "d"]);
    put(&["e"]);
    // Commit 3 has no log any more, and 4 is damaged.
    sandbox.write("st/commit-00000004", "{}");
    let run = sandbox.dv(&["recover", "st", "--to", "3"]);
    let expected = "found 3 batches that cannot be applied to it, 3 to 5: the log begins after batch 4";
    assert!(run.code == 1 && run.err.contains(expected) && run.err.contains("--discard-log=3 "), "{run:?}");
    let lost = json(&sandbox.ok(&["recover", "st", "--to", "3", "--discard-log", "--json"]));
    assert_eq!((&lost["discarded"]["first"], &lost["discarded"]["last"]), (&3.into(), &5.into()));
    assert_eq!(sandbox.ok(&["count", "st"]), "2\n");
}

#[test]
fn a_log_is_listed() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    assert_eq!(json(&sandbox.ok(&["log", "st", "--json"])), Value::Array(Vec::new()));
    assert!(sandbox.dv(&["log", "st"]).err.contains("--keep-frames"));
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::open(sandbox.path("st"), options).unwrap();
    for id in ["a", "b"] {
        let mut batch = store.batch().unwrap();
        let field = batch.field("id").unwrap();
        let mut doc = batch.upsert();
        doc.str(field, id).unwrap();
        doc.finish().unwrap();
        store.apply(batch).unwrap();
    }
    drop(store);
    let listed = json(&sandbox.ok(&["log", "st", "--json"]));
    let durable: Vec<&Value> =
        listed.as_array().unwrap().iter().map(|frame| &frame["known_durable"]).collect();
    assert_eq!(durable, [true, false]);
    let table = sandbox.ok(&["log", "st"]);
    assert!(table.starts_with("batch") && table.lines().count() >= 3, "{table}");
    // The next writer applies them.
    assert_eq!(sandbox.ok(&["count", "st"]), "0\n");
    sandbox.write("c.csv", "id\nc\n");
    sandbox.ok(&["put", "st", "c.csv", "-q"]);
    assert_eq!(sandbox.ok(&["count", "st"]), "3\n");
    assert_eq!(sandbox.dv(&["log", "nothing"]).code, 3);
}

#[test]
fn sort_keys_of_a_store_are_objects_in_json() {
    let sandbox = Sandbox::new();
    let create =
        ["store", "create", "st", "--type", "id=string,size=i64", "--sort-by=-size:missing-first,id"];
    sandbox.ok(&create);
    let info = json(&sandbox.ok(&["info", "st", "--json"]));
    let expected = serde_json::json!([
        {"column": "size", "descending": true, "missing_first": true},
        {"column": "id", "descending": false, "missing_first": false},
    ]);
    assert_eq!(info["sort"], expected);
}

#[test]
fn encodings_and_sections_are_of_segments() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--type", "id=string"]);
    for option in ["--encodings", "--sections"] {
        let run = sandbox.dv(&["info", "st", option]);
        let expected = format!(
            "dv: {option}: expected a segment, found a store\n    hint: name one of the segments in its folder\n"
        );
        assert_eq!((run.code, run.err), (2, expected));
    }
}

#[test]
fn ranges_of_a_store_are_of_all_segments() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--type", "id=string,size=i64,day=date", "--id-field", "id"]);
    let range = |name: &str| {
        let info = json(&sandbox.ok(&["info", "st", "--json"]));
        let column =
            info["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap();
        [column["min"].clone(), column["max"].clone()]
    };
    assert_eq!(range("size"), [Value::Null, Value::Null]);
    for rows in ["id,size,day\na,7,2013-01-02\nb,9,2013-01-01\n", "id,size\nc,-2\n"] {
        sandbox.write("rows.csv", rows);
        sandbox.ok(&["put", "st", "rows.csv", "-q"]);
    }
    assert_eq!(range("size"), [serde_json::json!(-2), serde_json::json!(9)]);
    assert_eq!(range("day"), ["2013-01-01", "2013-01-02"]);
    assert_eq!(range("id"), [Value::Null, Value::Null]);
    let table = sandbox.ok(&["info", "st"]);
    let size = table.lines().find(|line| line.starts_with("size ")).unwrap();
    let cells: Vec<&str> = size.split_whitespace().collect();
    assert_eq!(cells[..6], ["size", "numeric", "i64", "3", "-2", "9"]);
    // The overwritten number was an end; what is left is not known without a look at all values.
    sandbox.ok(&["set", "st", "b", "size=8", "-q"]);
    assert_eq!(range("size"), [Value::Null, Value::Null]);
    let stats = json(&sandbox.ok(&["stats", "st", "size", "--json"]));
    assert_eq!([&stats["columns"][0]["min"], &stats["columns"][0]["max"]], [-2, 8]);
    sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
    assert_eq!(range("size"), [serde_json::json!(-2), serde_json::json!(8)]);
}
