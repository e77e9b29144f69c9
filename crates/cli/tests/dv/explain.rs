//! `--explain`: what each index skipped.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Twenty thousand rows, five zones of each column: numbers in order, by and by, and anywhere.
fn rows() -> Sandbox {
    let mut csv = String::from("id,near,any,some\n");
    let mut random = 7_u64;
    for id in 0..20_000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let any = (random >> 33) % 10_000;
        let some = if id % 4 == 0 { id.to_string() } else { String::new() };
        csv.push_str(&format!("{id},{},{any},{some}\n", id / 4 + any % 100));
    }
    let sandbox = Sandbox::with("t.csv", csv);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    sandbox.ok(&["build", "t.csv", "-o", "sorted.dv", "-q", "--sort-by", "id"]);
    sandbox
}

/// The line and the index statistics of the only clause.
#[track_caller]
fn explained(sandbox: &Sandbox, file: &str, query: &str) -> (String, Value) {
    let text = sandbox.dv(&["count", file, "--where", query, "--explain"]);
    let json = sandbox.dv(&["count", file, "--where", query, "--explain", "--json"]);
    assert_eq!((text.code, json.code), (0, 0), "{text:?} {json:?}");
    assert!(json.out.contains(&format!("\"matching\": {}", text.out.trim())), "{json:?}");
    let json: Value = serde_json::from_str(&json.err).unwrap();
    assert_eq!(json["query"]["clause"], query);
    assert_eq!(json["query"]["matched"].to_string(), text.out.trim());
    assert!(json["nanoseconds"]["query"].as_u64().unwrap() > 0);
    let line = text.err.lines().find(|line| line.contains("values read")).unwrap_or_default();
    (line.trim().to_owned(), json["query"]["index"].clone())
}

fn zones(index: &Value) -> [u64; 3] {
    ["skipped", "taken_whole", "looked_into"].map(|key| index["zones"][key].as_u64().unwrap())
}

#[test]
fn zones_are_counted_for_ascending_nearly_ascending_and_unordered_values() {
    let sandbox = rows();
    let (line, index) = explained(&sandbox, "t.dv", "id in 5000..=12300");
    // Values 4,096 to 8,192 and 12,288 to 16,384 have an end; 8,192 to 12,288 lie between.
    assert_eq!(zones(&index), [2, 1, 2]);
    assert!(line.starts_with("zones: 2 of 5 skipped, 1 taken whole; fine zones: "), "{line}");
    assert_eq!((index["zone_values"].as_u64(), index["missing"].as_u64()), (Some(4096), Some(0)));
    assert!(index["fine_zones"]["skipped"].as_u64().unwrap() > 0, "{index}");

    let (_, index) = explained(&sandbox, "t.dv", "near in 2500..2600");
    assert_eq!(zones(&index), [4, 0, 1]);
    let (line, index) = explained(&sandbox, "t.dv", "any in 2500..2600");
    assert_eq!((zones(&index), index["values_read"].as_u64()), ([0, 0, 5], Some(20_000)));
    assert!(line.contains("zones: 0 of 5 skipped, 0 taken whole; "), "{line}");
    assert!(line.ends_with("values read: 20,000"), "{line}");

    let (line, index) = explained(&sandbox, "t.dv", "some in 100..200");
    assert_eq!((zones(&index), index["missing"].as_u64()), ([1, 0, 1], Some(15_000)));
    assert!(line.starts_with("without a value: 15,000 documents; zones: 1 of 2 skipped"), "{line}");
    let (line, index) = explained(&sandbox, "sorted.dv", "id in 5000..=12300");
    assert_eq!((zones(&index), index["order"].as_u64()), ([0, 0, 0], Some(20_000)));
    assert_eq!(line, "decided by the index sort: 20,000 documents; values read: 0");
}

#[test]
fn top_documents_report_skipped_zones() {
    let sandbox = rows();
    let sort = |more: &[&str]| {
        let args = ["sort", "t.dv", "-n", "5", "--columns", "id", "--threads", "1", "--explain"];
        let run = sandbox.dv(&[&args, more].concat());
        assert_eq!(run.code, 0, "{run:?}");
        run.err
    };
    let text = sort(&["--by=-any"]);
    let line = text.lines().find(|line| line.starts_with("first documents: ")).unwrap();
    assert!(line.contains(" documents visited"), "{text}");
    let json: Value = serde_json::from_str(&sort(&["--by=-any", "--json"])).unwrap();
    assert!(json["top"]["seen"].as_u64().unwrap() >= 5, "{json}");
    // All documents lie in this order: the first are the first.
    let run =
        sandbox.dv(&["sort", "sorted.dv", "-n", "5", "--by=id", "--columns", "id", "--explain", "--json"]);
    let json: Value = serde_json::from_str(&run.err).unwrap();
    assert_eq!(json["top"]["seen"].as_u64(), Some(0), "{json}");
    let run =
        sandbox.dv(&["query", "t.dv", r#"{"sort": ["-any"], "top": 5, "columns": ["id"]}"#, "--explain"]);
    assert!(run.err.contains("\nfirst documents: "), "{}", run.err);
}

/// Steps that were not asked for have no times.
#[test]
fn only_steps_that_were_asked_for_are_timed() {
    let sandbox = rows();
    let check = |args: &[&str], line: &str, keys: &[&str]| {
        let text = sandbox.dv(&[args, &["--explain"]].concat());
        let json = sandbox.dv(&[args, &["--explain", "--json"]].concat());
        assert_eq!((text.code, json.code), (0, 0), "{text:?} {json:?}");
        let last = text.err.lines().last().unwrap().split(' ');
        let words: Vec<_> = last.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect();
        assert_eq!(words.join(" "), line);
        let json: Value = serde_json::from_str(&json.err).unwrap();
        let mut times = json["nanoseconds"].as_object().unwrap().clone();
        let of = |key: &str| times.get(key).and_then(Value::as_u64);
        if let Some(answer) = of("answer").filter(|_| args[0] == "query") {
            assert_eq!(["pass", "groups", "top"].into_iter().filter_map(of).sum::<u64>(), answer);
        }
        times.retain(|_, time| time.is_u64());
        assert_eq!(times.keys().map(String::as_str).collect::<Vec<_>>(), keys);
    };
    check(&["count", "t.dv", "--where", "id > 7"], "documents found in", &["query"]);
    check(&["facet", "t.dv", "any"], "documents found in values counted in", &["answer", "query"]);
    check(&["query", "t.dv", "{}"], "documents found in", &["query"]);
    check(
        &["query", "t.dv", r#"{"facets": ["any"]}"#],
        "documents found in facets, histograms and statistics in",
        &["answer", "pass", "query"],
    );
    check(
        &["query", "t.dv", r#"{"where": "false", "groups": [{"column": "any"}], "top": 1}"#],
        "documents found in groups in put in order in",
        &["answer", "groups", "query", "top"],
    );
}

/// Some documents are looked at where the best value is, and again when their turn comes.
#[test]
fn looks_at_documents_are_counted_and_not_documents() {
    let mut csv = String::from("size\n");
    (0..3_000).for_each(|doc| csv.push_str(&format!("{}\n", doc * 7_919 % 3_001)));
    let sandbox = Sandbox::with("t.csv", csv);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let args = ["sort", "t.dv", "--by=-size", "-n", "1", "--columns", "size", "--explain"];
    let text = sandbox.dv(&args).err;
    let json: Value = serde_json::from_str(&sandbox.dv(&[&args[..], &["--json"]].concat()).err).unwrap();
    let seen = json["top"]["seen"].as_u64().unwrap();
    assert!(seen > 3_000, "{json}");
    let (thousands, rest) = (seen / 1_000, seen % 1_000);
    assert!(text.contains(&format!("first documents: {thousands},{rest:03} documents visited")), "{text}");
}
