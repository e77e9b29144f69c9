//! `--explain`: what each index skipped.

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

/// The line of the index statistics of the only clause.
#[track_caller]
fn explained(sandbox: &Sandbox, file: &str, query: &str) -> String {
    let run = sandbox.dv(&["count", file, "--where", query, "--explain"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.err.lines().any(|line| line.starts_with(query)), "{run:?}");
    run.err.lines().find(|line| line.contains("values read")).unwrap_or_default().trim().to_owned()
}

#[test]
fn zones_are_counted_for_ascending_nearly_ascending_and_unordered_values() {
    let sandbox = rows();
    for (file, query, start, end) in [
        // Values 4,096 to 8,192 and 12,288 to 16,384 have an end; 8,192 to 12,288 lie between.
        ("t.dv", "id in 5000..=12300", "zones: 2 of 5 skipped, 1 taken whole; fine zones: ", ""),
        ("t.dv", "near in 2500..2600", "zones: 4 of 5 skipped, 0 taken whole", ""),
        ("t.dv", "any in 2500..2600", "zones: 0 of 5 skipped, 0 taken whole; ", "values read: 20,000"),
        ("t.dv", "some in 100..200", "without a value: 15,000 documents; zones: 1 of 2 skipped, 0 ", ""),
        (
            "sorted.dv",
            "id in 5000..=12300",
            "decided by the index sort: 20,000 documents; values read: 0",
            "values read: 0",
        ),
    ] {
        let line = explained(&sandbox, file, query);
        assert!(line.starts_with(start) && line.ends_with(end), "{query}: {line}");
    }
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
    // All documents lie in this order: the first are the first.
    let run = sandbox.dv(&["sort", "sorted.dv", "-n", "5", "--by=id", "--columns", "id", "--explain"]);
    assert!(run.err.contains("first documents: 0 documents visited"), "{}", run.err);
    let run =
        sandbox.dv(&["query", "t.dv", r#"{"sort": ["-any"], "top": 5, "columns": ["id"]}"#, "--explain"]);
    assert!(run.err.contains("\nfirst documents: "), "{}", run.err);
}

/// Steps that were not asked for have no times.
#[test]
fn only_steps_that_were_asked_for_are_timed() {
    let sandbox = rows();
    for (args, line) in [
        (&["count", "t.dv", "--where", "id > 7"][..], "documents found in"),
        (&["facet", "t.dv", "any"], "documents found in values counted in"),
        (&["query", "t.dv", "{}"], "documents found in"),
        (
            &["query", "t.dv", r#"{"facets": ["any"]}"#],
            "documents found in facets, histograms and statistics in",
        ),
        (
            &["query", "t.dv", r#"{"where": "false", "groups": [{"column": "any"}], "top": 1}"#],
            "documents found in groups in put in order in",
        ),
    ] {
        let run = sandbox.dv(&[args, &["--explain"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let last = run.err.lines().last().unwrap().split(' ');
        let words: Vec<_> = last.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect();
        assert_eq!(words.join(" "), line);
    }
}

/// Some documents are looked at where the best value is, and again when their turn comes.
#[test]
fn looks_at_documents_are_counted_and_not_documents() {
    let mut csv = String::from("size\n");
    (0..3_000).for_each(|doc| csv.push_str(&format!("{}\n", doc * 7_919 % 3_001)));
    let sandbox = Sandbox::with("t.csv", csv);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let text = sandbox.dv(&["sort", "t.dv", "--by=-size", "-n", "1", "--columns", "size", "--explain"]).err;
    let line = text.lines().find_map(|line| line.strip_prefix("first documents: ")).unwrap();
    let seen: u64 = line.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert!(seen > 3_000, "{text}");
}
