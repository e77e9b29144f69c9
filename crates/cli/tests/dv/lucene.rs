//! Indexes of Lucene: commands that read take one as a segment, `dv import` makes a segment or a store of it, and no command
//! changes it.

use docvalues_testkit::lucene::{LuceneColumn, lucene_index};
use serde_json::Value;

use crate::sandbox::{Sandbox, words};

/// A sandbox with an index in the folder `index`, as Solr writes it.
fn solr() -> Sandbox {
    use LuceneColumn::{Numbers, Terms};
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("index")).unwrap();
    let prices = [1.5_f64, -2.0, 0.25, 8.0].map(|price| price.to_bits().cast_signed());
    let columns = [
        ("_version_", Numbers(vec![7, 8, 9, 10])),
        ("host", Terms(vec!["b", "a", "b", "c"])),
        ("is_new_b", Terms(vec!["T", "F", "F", "T"])),
        ("key", Terms(vec!["k0", "k1", "k2", "k3"])),
        ("price_d", Numbers(prices.to_vec())),
        ("size", Numbers(vec![500, 20, 3_000, 1])),
        ("sold_dt", Numbers(vec![0, 1_000, 86_400_000, 5])),
    ];
    for (name, bytes) in lucene_index(4, &columns, &[("commitTimeMSec", "1")]) {
        sandbox.write(&format!("index/{name}"), bytes);
    }
    sandbox
}

#[test]
fn commands_read_an_index_as_they_read_its_segment() {
    let sandbox = solr();
    sandbox.ok(&["import", "index", "-o", "same.dv", "-q"]);
    let commands: [&[&str]; 12] = [
        &["count", "", "--where", "price_d < 1 and is_new_b = false"],
        &["facet", "", "host", "is_new_b"],
        &["group", "", "host", "--sum", "size"],
        &["histogram", "", "size", "--step", "100"],
        &["terms", "", "host"],
        &["head", "", "-n", "2"],
        &["cat", ""],
        &["export", "", "--sort=-price_d", "--format", "csv"],
        &["query", "", r#"{"where": "size > 10", "facets": ["host"]}"#],
        &["sort", "", "--by=-size", "--columns", "key,size"],
        &["diff", "", "same.dv"],
        &["facet", "", "host", "--no-mmap"],
    ];
    for command in commands {
        let [index, segment] = ["index", "same.dv"].map(|file| {
            let words: Vec<&str> =
                command.iter().map(|word| if word.is_empty() { file } else { *word }).collect();
            sandbox.dv(&words)
        });
        assert_eq!((index.code, segment.code), (0, 0), "{command:?}: {index:?}, {segment:?}");
        assert_eq!(index.out.replace("index", "same.dv"), segment.out, "{command:?}");
    }
    assert!(sandbox.ok(&["stats", "index"]).contains("sold_dt"));
    assert_eq!(sandbox.ok(&["count", "index", "same.dv", "--where", "size > 10"]), "6\n");
    let exported = sandbox.ok(&["export", "index"]);
    let first = "{\"host\":\"b\",\"is_new_b\":true,\"key\":\"k0\",\"price_d\":1.5,\"size\":500,\
                 \"sold_dt\":\"1970-01-01T00:00:00Z\"}";
    assert_eq!(exported.lines().next(), Some(first));
    // Fields that Solr keeps for itself are read if they are named.
    assert_eq!(
        sandbox.ok(&["export", "index", "--columns", "_version_", "--where", "key = \"k2\""]),
        "{\"_version_\":9}\n"
    );
}

#[test]
fn columns_have_the_types_that_were_asked_for() {
    let sandbox = solr();
    let typed = |types: &str, column: &str| {
        sandbox.dv(&[
            "export",
            "index",
            "--where",
            "key = \"k1\"",
            "--lucene-type",
            types,
            "--columns",
            column,
        ])
    };
    assert_eq!(
        typed("size=timestamp[ms],sold_dt=i64", "size").out,
        "{\"size\":\"1970-01-01T00:00:00.02Z\"}\n"
    );
    assert_eq!(typed("is_new_b=string", "is_new_b").out, "{\"is_new_b\":\"F\"}\n");
    assert_eq!(typed("sold_dt=i64", "sold_dt").out, "{\"sold_dt\":1000}\n");
    let refused = typed("size=ip", "size");
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("column \"size\": expected doc values of type ip, found NUMERIC"),
        "{refused:?}"
    );
    assert_eq!(typed("size", "size").code, 2);
    assert_eq!(typed("size=double", "size").code, 2);
}

#[test]
fn info_shows_segments_and_columns() {
    let sandbox = solr();
    let text = sandbox.ok(&["info", "index"]);
    let (own, internal) = text.split_once("internal columns").unwrap();
    assert!(own.starts_with("index: 4 documents, 6 columns, "), "{text}");
    assert!(own.contains("written by Solr, with Lucene 10.4.0") && own.contains("timestamp[ms]"), "{text}");
    assert!(
        internal.contains("_version_") && internal.contains("Lucene104") && !own.contains("_version_"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&sandbox.ok(&["info", "index", "--json"])).unwrap();
    assert_eq!((&json["engine"], &json["documents"]), (&"Solr".into(), &4.into()));
    assert_eq!(json["columns"][0]["name"], "_version_");
    assert_eq!(json["columns"][5]["bytes"], 32);
    assert_eq!(json["segments"][0]["name"], "_0");
    assert_eq!(sandbox.dv(&["info", "index", "--sections"]).code, 2);
    let lookup = sandbox.dv(&["lookup", "index", "key", "k0"]);
    assert!(lookup.code == 1 && lookup.err.contains("index: no indexed field \"key\""), "{lookup:?}");
    assert_eq!(sandbox.dv(&["count", "index", "--commit", "1"]).code, 2);
}

/// Of an index of Elasticsearch in the mode `logsdb`.
#[test]
fn columns_that_are_not_read_are_named_once() {
    let index =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../lucene/fixtures/engines/data/elasticsearch-8.19-logsdb");
    if !std::path::Path::new(index).exists() {
        println!("SKIPPED: no {index}");
        return;
    }
    let sandbox = Sandbox::new();
    let commands: [(&str, &[&str]); 4] = [
        ("dv: not read: ", &["info", index]),
        ("dv: left out: ", &["import", index, "-o", "logs.dv"]),
        ("dv: left out: ", &["export", index]),
        (": note: not read: ", &["check", index]),
    ];
    for (how, command) in commands {
        let run = sandbox.dv(command);
        assert_eq!(run.code, 0, "{run:?}");
        // `check` reports on standard output.
        let text = [run.err.as_str(), run.out.as_str()].concat();
        let named = |column: &str| text.matches(&format!("column \"{column}\": unsupported")).count();
        assert_eq!((named("host"), named("size")), (1, 1), "{run:?}");
        assert!(text.contains(how), "{run:?}");
    }
    let json =
        |command: &str| -> Value { serde_json::from_str(&sandbox.ok(&[command, index, "--json"])).unwrap() };
    for not_read in [&json("check")["not_read"], &json("info")["segments"][0]["not_read"]] {
        assert!(not_read.as_array().is_some_and(|columns| columns.len() > 10), "{not_read}");
    }
    assert_eq!(sandbox.ok(&["check", index, "--quiet"]), "");
    let exported = sandbox.ok(&["export", index]);
    assert!(!exported.is_empty() && exported.lines().all(|document| document == "{}"), "{exported}");
    // Nobody asked for the others.
    let run = sandbox.dv(&["export", index, "--columns", "_seq_no"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
}

#[test]
fn an_index_becomes_a_segment_or_a_store() {
    let sandbox = solr();
    let report = sandbox.ok(&words("import index -o sorted.dv --sort-by=-size --lucene-type sold_dt=i64"));
    assert!(report.contains("of 4 documents in 1 segment of index"), "{report}");
    let keys = sandbox.ok(&["export", "sorted.dv", "--columns", "key,sold_dt"]);
    assert_eq!(
        keys,
        "{\"key\":\"k2\",\"sold_dt\":86400000}\n{\"key\":\"k0\",\"sold_dt\":0}\n\
         {\"key\":\"k1\",\"sold_dt\":1000}\n{\"key\":\"k3\",\"sold_dt\":5}\n"
    );
    // A file of the user, which is not the one that dv removes.
    sandbox.write("store.import.dv", "mine");
    // Of documents with the same id, the later ones replace the earlier ones.
    for (arguments, commit) in [(&["--id-field", "key"][..], 2), (&[][..], 3)] {
        let printed = sandbox.ok(&[&["import", "index", "-o", "store"], arguments].concat());
        assert!(printed.starts_with(&format!("store: commit {commit} has 4 documents")), "{printed}");
    }
    assert!(sandbox.ok(&["lookup", "store", "k2", "--columns", "size"]).contains("3000"));
    let duplicates = sandbox.dv(&["import", "index", "-o", "hosts.dv", "--id-field", "host"]);
    assert!(duplicates.code == 1 && duplicates.err.contains("have the same id: \"b\""), "{duplicates:?}");
    assert_eq!(sandbox.dv(&["import", "index", "-o", "store", "--id-field", "host"]).code, 2);
    assert_eq!(sandbox.dv(&["import", "sorted.dv", "-o", "again.dv"]).code, 3);
    assert_eq!(sandbox.dv(&["import", "index", "-o", "index"]).code, 2);
    // Lucene has no files of this name.
    sandbox.ok(&["import", "index", "-o", "index/all.dv"]);
    // A folder of that name is not the command's, either.
    std::fs::create_dir(sandbox.path(".other.import.dv")).unwrap();
    sandbox.write(".other.import.dv/mine", "mine");
    assert_ne!(sandbox.dv(&["import", "index", "-o", "other"]).code, 0);
    assert_eq!(sandbox.read(".other.import.dv/mine"), b"mine");
    std::fs::remove_dir_all(sandbox.path(".other.import.dv")).unwrap();
    assert_eq!(sandbox.read("store.import.dv"), b"mine");
    assert_eq!(sandbox.names(), ["index", "sorted.dv", "store", "store.import.dv"]);
}

#[test]
fn no_command_changes_an_index() {
    let sandbox = solr();
    sandbox.write("a.csv", "size\n1\n");
    let before: Vec<String> = names(&sandbox);
    let commands: [&[&str]; 7] = [
        &["put", "index", "a.csv"],
        &["rm", "index", "k0"],
        &["set", "index", "k0", "size=1"],
        &["merge", "index"],
        &["recover", "index", "--to", "1"],
        &["store", "create", "index"],
        &["store", "alter", "index", "--type", "size=f64"],
    ];
    for command in commands {
        let run = sandbox.dv(command);
        assert_eq!(run.code, 3, "{command:?}: {run:?}");
        assert!(run.err.contains("found an index of Lucene") && run.err.contains("`dv import`"), "{run:?}");
    }
    assert_eq!(names(&sandbox), before);
}

/// The names of the files of the index.
fn names(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.path("index")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn damage_is_found() {
    let sandbox = solr();
    let clean = sandbox.ok(&["check", "index"]);
    assert!(clean.starts_with("index: clean: 4 documents, 6 columns, "), "{clean}");
    let mut bytes = sandbox.read("index/_0_Lucene90_0.dvd");
    bytes[70] ^= 1;
    sandbox.write("index/_0_Lucene90_0.dvd", bytes);
    let damaged = sandbox.dv(&["check", "index"]);
    assert!(damaged.code == 1 && damaged.out.contains("expected checksum"), "{damaged:?}");
    assert_eq!(sandbox.dv(&["count", "index", "--where", "size > 1"]).code, 1);
    std::fs::remove_file(sandbox.path("index/_0.fnm")).unwrap();
    assert_eq!(sandbox.dv(&["count", "index"]).code, 3);
}
