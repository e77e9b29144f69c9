//! Commands over several files: the answers are those of one file with the same documents.

use serde_json::{Value, json};

use crate::round_trip::data_of_full_sweep;
use crate::sandbox::{Run, Sandbox, packages};

/// The documents of each file of [`cut`].
const CUTS: [&str; 4] = ["0..1000", "1000..1400", "1400..3000", "3000..3525"];

/// The shipped packages in one file, and the same cut into several, each with types and formats of its own.
fn cut() -> Sandbox {
    let sandbox = Sandbox::with("packages.ndjson.gz", packages());
    cut_at(&sandbox, "packages.ndjson.gz", &CUTS.map(str::to_owned));
    sandbox
}

/// Builds `one.dv` of a file of rows, and the files `parts/*.dv` of ranges of its documents.
fn cut_at(sandbox: &Sandbox, rows: &str, cuts: &[String]) {
    sandbox.ok(&["build", rows, "-o", "one.dv", "-q"]);
    std::fs::create_dir(sandbox.path("parts")).unwrap();
    // Patterns match in alphabetical order.
    let digits = cuts.len().to_string().len();
    for (i, docs) in cuts.iter().enumerate() {
        let rows = sandbox.ok(&["export", "one.dv", "--docs", docs]);
        build(sandbox, &format!("parts/{i:0digits$}.dv"), &rows);
    }
}

/// Builds a segment of rows.
fn build(sandbox: &Sandbox, name: &str, rows: &str) {
    let run = sandbox.dv_with(&["build", "-", "-o", name, "-q"], rows.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
}

/// Files of rows, and `one.dv` with all of them.
fn files(rows: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    rows.iter().for_each(|(name, rows)| build(&sandbox, name, rows));
    build(&sandbox, "one.dv", &rows.iter().map(|(_, rows)| *rows).collect::<String>());
    sandbox
}

/// Runs a command on `one.dv`, and on these files; both must print the same.
#[track_caller]
fn same(sandbox: &Sandbox, files: &[&str], command: &str, more: &[&str]) {
    let one = sandbox.ok(&[&[command, "one.dv"], more].concat());
    let several = sandbox.ok(&[&[command], files, more].concat());
    assert!(one == several, "{command} {more:?}: expected\n{one}\nfound\n{several}");
    assert!(!one.is_empty());
}

#[track_caller]
fn failed(run: &Run, code: i32, message: &str) {
    assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (code, message, ""));
}

#[test]
fn answers_are_those_of_one_file() {
    answers_are_those_of_one(&cut(), &["parts/0.dv", "parts/1.dv", "parts/[23].dv"]);
}

#[test]
fn answers_from_forty_files_are_those_of_one() {
    let name = "debian-packages.ndjson.gz";
    let Some(sandbox) = data_of_full_sweep(name) else { return };
    let cuts = (0..40).map(|i| format!("{}..{}", i * 1_586, (i + 1) * 1_586)).collect::<Vec<_>>();
    cut_at(&sandbox, name, &cuts);
    answers_are_those_of_one(&sandbox, &["parts/0?.dv", "parts/[123]?.dv"]);
}

/// Compares the commands on `one.dv`, and on all files that these patterns match, of which `parts/*.dv` matches all.
fn answers_are_those_of_one(sandbox: &Sandbox, files: &[&str]) {
    let query = ["--where", "size > 20kB and not section = \"doc\""];
    let commands: [(&str, &[&str]); 14] = [
        ("count", &[]),
        ("facet", &["section", "tags", "priority", "-n", "0"]),
        ("facet", &["multi_arch", "--by", "value"]),
        ("group", &["section", "--sum", "size", "--max", "installed_size_kib", "--by", "metric"]),
        ("group", &["source", "-n", "0", "--by", "value"]),
        ("histogram", &["size", "--step", "1000000"]),
        ("histogram", &["size", "--edges", "0,1kB,1MB", "--facet", "section", "--mean", "depends_count"]),
        ("sort", &["--by=-size", "--columns", "package,size"]),
        ("sort", &["--by=section,package", "-n", "0"]),
        ("export", &["--sort=-depends_count,package", "--limit", "700", "--format", "csv"]),
        ("export", &["--columns", "package,tags,size", "--format", "csv"]),
        ("export", &["--format", "tsv"]),
        ("export", &[]),
        ("export", &["--limit", "1500"]),
    ];
    for (command, more) in commands {
        same(sandbox, &["parts/*.dv"], command, more);
        same(sandbox, files, command, &[more, &query].concat());
    }
}

#[test]
fn answers_in_json_name_all_files() {
    let sandbox = cut();
    let ask = |args: &[&str]| serde_json::from_str::<Value>(&sandbox.ok(args)).unwrap();
    let names: Vec<String> = (0..CUTS.len()).map(|i| format!("parts/{i}.dv")).collect();
    let request = r#"{"facets": ["section", "tags"], "stats": [{"column": "size", "percentiles": [50, 99]}],
        "groups": [{"column": "section", "sum": ["size"], "docs": 2, "sort": ["-size"], "columns": ["package"]}],
        "histograms": [{"column": "size", "step": 1000000}], "sort": ["-size"], "top": 5}"#;
    // The kind of `built_using`, which few documents have, depends on their number.
    let numbers = "size,installed_size_kib,depends_count,essential";
    let strings = "id,package,version,section,filename,description,tags,depends,source,multi_arch";
    let commands: [&[&str]; 6] = [
        &["count", "--json"],
        &["facet", "section", "--json"],
        &["group", "section", "--docs", "2", "--sort=-size", "--json"],
        &["stats", "--columns", numbers, "--percentiles", "1,50", "--distinct", "--json"],
        &["stats", "--columns", strings, "--distinct", "--json"],
        &["query", request],
    ];
    for more in [&[][..], &["--where", "size > 20kB"]] {
        for command in commands {
            let [one, several] = ["one.dv", "parts/*.dv"]
                .map(|file| ask(&[&command[..1], &[file], &command[1..], more].concat()));
            assert_eq!((&one["file"], &several["files"]), (&json!("one.dv"), &json!(names)));
            let [one, several] = [one, several].map(in_one_file);
            assert_eq!(one, several, "{command:?}");
        }
    }
}

/// An answer without files, sizes and standard deviations (whose last digit depends on the order of the sums), and with the numbers that documents have in one file.
fn in_one_file(answer: Value) -> Value {
    match answer {
        Value::Object(mut entries) => {
            ["file", "files", "bytes", "deviation"].iter().for_each(|key| drop(entries.remove(*key)));
            if let (Some(file), Some(doc)) = (entries.remove("_file"), entries.get("_doc")) {
                let part = (0..CUTS.len()).find(|i| file == format!("parts/{i}.dv")).unwrap();
                let first: u64 = CUTS[part].split_once("..").unwrap().0.parse().unwrap();
                entries.insert("_doc".into(), (first + doc.as_u64().unwrap()).into());
            }
            Value::Object(entries.into_iter().map(|(key, value)| (key, in_one_file(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(in_one_file).collect(),
        other => other,
    }
}

/// One file has integers, single values or terms; another has decimals, lists or strings.
#[test]
fn columns_of_different_types_are_read_together() {
    let many: String = (0..3000).map(|i| format!("{{\"host\":\"h{}\",\"n\":{i}}}\n", i * 7 % 3000)).collect();
    let few: String =
        (0..300).map(|i| format!("{{\"host\":\"h{}\",\"n\":{}.5,\"l\":[{i}]}}\n", i % 3, i)).collect();
    let lists = "{\"l\":[3,1],\"t\":[\"a\",\"b\"],\"n\":7}\n{\"l\":[]}\n";
    let single: String =
        (0..300).map(|i| format!("{{\"l\":{},\"t\":\"t{}\",\"new\":true}}\n", i % 9, i % 3)).collect();
    let sandbox = files(&[("a.dv", &many), ("b.dv", &few), ("c.dv", lists), ("d.dv", &single)]);
    let kind = |file| {
        let info: Value = serde_json::from_str(&sandbox.ok(&["info", file, "--json"])).unwrap();
        info["columns"].as_array().unwrap().iter().find(|column| column["name"] == "host").unwrap()["kind"]
            .clone()
    };
    assert_eq!((kind("a.dv"), kind("b.dv")), (json!("binary"), json!("sorted")));
    let files = ["a.dv", "b.dv", "c.dv", "d.dv"];
    let commands: [(&str, &[&str]); 10] = [
        ("count", &["--where", "n > 2.25"]),
        ("count", &["--where", "host = \"h2\" or l = 3 or t ^= \"b\""]),
        ("facet", &["host", "l", "t", "n", "new", "-n", "7"]),
        ("group", &["host", "--max", "n", "--sum", "n", "--by", "value"]),
        ("histogram", &["n", "--edges", "0,0.5,100"]),
        ("histogram", &["l", "--step", "2"]),
        ("sort", &["--by=n,host", "-n", "20"]),
        ("sort", &["--by=-host", "-n", "20", "--where", "host < \"h2\""]),
        ("export", &["--format", "csv"]),
        ("export", &[]),
    ];
    for (command, more) in commands {
        same(&sandbox, &files, command, more);
    }
    let stats = |file: &[&str]| {
        let args = [&["stats"], file, &["--columns", "host,n,l,t", "--distinct", "--json"]].concat();
        in_one_file(serde_json::from_str(&sandbox.ok(&args)).unwrap())
    };
    // A dictionary is made for the small file without one.
    let with_kind = |mut stats: Value, kind: &str| {
        stats["columns"][0]["kind"] = json!(kind);
        stats
    };
    assert_eq!(stats(&files)["columns"][0]["kind"], json!("sorted"));
    assert_eq!(with_kind(stats(&["one.dv"]), "sorted"), stats(&files));
}

#[test]
fn columns_that_have_no_type_in_common_are_named_with_their_files() {
    let sandbox = Sandbox::new();
    build(&sandbox, "a.dv", "{\"n\":1,\"x\":1}\n");
    build(&sandbox, "b.dv", "{\"n\":2,\"x\":2}\n");
    build(&sandbox, "c.dv", "{\"n\":3,\"x\":\"three\"}\n");
    let message = "dv: column \"x\": numeric of type i64 in a.dv, binary of type string in c.dv\n    \
                   hint: build the files with the same --type for this column, or search them one by one\n";
    let files = ["a.dv", "b.dv", "c.dv"];
    let commands: [&[&str]; 9] = [
        &["count", "--where", "x = 1"],
        &["facet", "x"],
        &["group", "x"],
        &["group", "n", "--max", "x"],
        &["histogram", "x", "--step", "1"],
        &["stats"],
        &["sort", "--by=x"],
        &["query", "{\"facets\": [\"x\"]}"],
        &["export"],
    ];
    for command in commands {
        failed(&sandbox.dv(&[&command[..1], &files, &command[1..]].concat()), 1, message);
    }
    // Other columns can be searched.
    assert_eq!(sandbox.ok(&["count", "a.dv", "b.dv", "c.dv", "--where", "n > 1"]), "2\n");
    assert_eq!(sandbox.ok(&["export", "?.dv", "--columns", "n"]), "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");

    build(&sandbox, "large.dv", "{\"n\":9007199254740993}\n");
    build(&sandbox, "half.dv", "{\"n\":0.5}\n");
    let run = sandbox.dv(&["facet", "large.dv", "half.dv", "n"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("column \"n\": 9007199254740993 has no equal of type f64"), "{run:?}");
}

#[test]
fn patterns_name_files_and_columns_come_after_them() {
    let sandbox = Sandbox::new();
    for (name, rows) in [("b.dv", "{\"n\":2}\n"), ("a.dv", "{\"n\":1}\n"), (".hidden.dv", "{\"n\":9}\n")] {
        build(&sandbox, name, rows);
    }
    std::fs::rename(sandbox.path("b.dv"), sandbox.path("b.segment")).unwrap();
    sandbox.write("note.segment.txt", "text");
    build(&sandbox, "c[1].dv", "{\"n\":3}\n");
    let n =
        |files: &[&str]| sandbox.ok(&[&["export"], files, &["--columns", "n", "--format", "csv"]].concat());
    assert_eq!(n(&["*.dv"]), "n\n1\n3\n");
    assert_eq!(n(&["*.segment", "?.dv"]), "n\n2\n1\n");
    // An existing file is no pattern.
    assert_eq!(n(&["c[1].dv"]), "n\n3\n");
    let facet = |args: &[&str]| sandbox.dv(&[&["facet"], args].concat());
    for files in [&["a.dv", "b.segment"][..], &["a.dv", "*.segment"], &["*.segment", "a.dv"]] {
        let run = facet(&[files, &["n"]].concat());
        assert!(run.out.starts_with("n: 2 documents"), "{files:?}: {run:?}");
    }
    let stats = sandbox.ok(&["stats", "*.dv", "b.segment", "n", "--json"]);
    assert_eq!(stats, sandbox.ok(&["stats", "*.dv", "b.segment", "--columns", "n", "--json"]));
    failed(
        &facet(&["a.dv", "b.segment"]),
        2,
        "dv: no column to count\n    hint: name columns after the files\n",
    );
    failed(&facet(&["nothing*.dv", "n"]), 3, "dv: nothing*.dv: no file matches this pattern\n");
    failed(
        &facet(&["[.dv", "n"]),
        2,
        "dv: [.dv: expected a file or a pattern, found one with invalid range pattern\n",
    );
    let run = facet(&["a.dv", "nothing.dv", "n"]);
    assert!(run.code == 3 && run.err.contains("nothing.dv: No such file"), "{run:?}");
    // Any other argument is a column.
    let run = facet(&["a.dv", "note.segment.txt", "n"]);
    assert!(run.code == 1 && run.err.contains("a.dv: no column \"note.segment.txt\""), "{run:?}");
    let run = sandbox.dv(&["export", "*.dv", "-o", "a.dv", "--format", "csv"]);
    assert!(run.code == 2 && run.err.contains("\"a.dv\" is both an input and the output"), "{run:?}");
}

#[test]
fn documents_are_named_by_file_and_number() {
    let sandbox = files(&[("a.dv", "{\"n\":1}\n{\"n\":4}\n"), ("b,c.dv", "{\"n\":3}\n")]);
    let sort = |more: &[&str]| sandbox.ok(&[&["sort", "a.dv", "b,c.dv", "--by=-n"], more].concat());
    assert_eq!(
        sort(&["--doc-ids"]),
        "{\"_file\":\"a.dv\",\"_doc\":1,\"n\":4}\n{\"_file\":\"b,c.dv\",\"_doc\":0,\"n\":3}\n\
         {\"_file\":\"a.dv\",\"_doc\":0,\"n\":1}\n"
    );
    assert_eq!(
        sort(&["-n", "2", "--doc-ids", "--format", "csv"]),
        "_file,_doc,n\na.dv,1,4\n\"b,c.dv\",0,3\n"
    );
    let table = sort(&["-n", "2", "--format", "table"]);
    assert!(table.starts_with("_file   _doc  n\n") && table.ends_with("b,c.dv     0  3\n"), "{table}");
    let group = sandbox.ok(&["group", "a.dv", "b,c.dv", "n", "--docs", "1", "--by", "value"]);
    assert!(group.contains("a.dv:0\n") && group.contains("b,c.dv:0\n"), "{group}");
    // Numbers of --docs count on over all files.
    sandbox.write("docs.txt", "2 0");
    for (docs, expected) in [("1..3", [4, 3]), ("docs.txt", [3, 1])] {
        let [a, b] = expected.map(|n| format!("{{\"n\":{n}}}\n"));
        assert_eq!(sandbox.ok(&["export", "a.dv", "b,c.dv", "--docs", docs]), a + &b);
    }
    let run = sandbox.dv(&["export", "a.dv", "b,c.dv", "--docs", "2..4"]);
    failed(&run, 1, "dv: a.dv, b,c.dv: no document 3\n    hint: there are 3, numbered from 0 to 2\n");
}

#[test]
fn a_damaged_file_is_named() {
    let sandbox = cut();
    let info: Value = serde_json::from_str(&sandbox.ok(&["info", "parts/2.dv", "--json"])).unwrap();
    let column = info["columns"].as_array().unwrap().iter().find(|column| column["name"] == "size").unwrap();
    let offset = column["sections"][0]["offset"].as_u64().unwrap();
    let mut bytes = sandbox.read("parts/2.dv");
    bytes[usize::try_from(offset).unwrap()] ^= 1;
    sandbox.write("parts/2.dv", &bytes);
    for command in
        [&["facet", "size"][..], &["export", "--columns", "size"], &["count", "--where", "size = 33548"]]
    {
        let run = sandbox.dv(&[&command[..1], &["parts/*.dv"], &command[1..]].concat());
        assert!(run.code == 1 && run.err.starts_with("dv: parts/2.dv: column \"size\""), "{run:?}");
    }
    same(&sandbox, &["parts/*.dv"], "facet", &["section"]);
    sandbox.write("parts/2.dv", &bytes[..1000]);
    let run = sandbox.dv(&["facet", "parts/*.dv", "section"]);
    assert!(run.code == 1 && run.err.starts_with("dv: parts/2.dv: "), "{run:?}");
}

#[test]
fn damaged_files_are_left_out_on_request() {
    let sandbox = cut();
    let bytes = sandbox.read("parts/1.dv");
    sandbox.write("parts/1.dv", &bytes[..1000]);
    sandbox.write("parts/2.dv", "text");
    let args = ["count", "parts/*.dv", "missing.dv", "--skip-damaged", "--where", "size > 0"];
    let run = sandbox.dv(&args);
    assert_eq!((run.code, run.out.as_str()), (0, "1525\n"));
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!(lines.len(), 3, "{run:?}");
    for (line, file) in lines.iter().zip(["parts/1.dv", "parts/2.dv", "missing.dv"]) {
        assert!(line.starts_with(&format!("dv: left out: {file}: ")), "{line}");
    }
    // The answer is still one of several files.
    let json = sandbox.ok(&["count", "parts/[01].dv", "--skip-damaged", "--json"]);
    assert!(json.contains("\"files\": [\n    \"parts/0.dv\"\n  ]"), "{json}");
    let run = sandbox.dv(&["count", "parts/[12].dv", "--skip-damaged"]);
    assert!(run.code == 1 && run.out.is_empty(), "{run:?}");
    let explain =
        ["count", "parts/[01].dv", "--skip-damaged", "--explain", "--where", "tags exists and size > 1"];
    let run = sandbox.dv(&explain);
    assert!(run.err.contains("\nparts/0.dv:\n  tags exists and size > 1\n    = all of these; "), "{run:?}");
}

#[test]
fn files_that_were_excluded_are_explained() {
    let sandbox = cut();
    let args = ["count", "parts/*.dv", "--where", "size > 200MB", "--explain"];
    let text = sandbox.dv(&args).err;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "size > 200000000");
    assert!(lines[1].starts_with("  = 1 of 4 files are searched; 1 of 525 documents, "), "{text}");
    let excluded = |i: usize, docs: &str| {
        let at = lines.iter().position(|line| *line == format!("parts/{i}.dv:")).unwrap();
        lines[at + 2]
            .starts_with(&format!("    = no document can match: {docs} documents, excluded by the bounds"))
    };
    assert!(excluded(0, "1,000") && excluded(2, "1,600") && !excluded(3, "525"), "{text}");
}

#[test]
fn names_of_columns_without_a_header() {
    let sandbox = Sandbox::with("a.csv", "1,x\n2,y\n");
    let export = |header: &str| {
        sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q", "--header", header]);
        sandbox.ok(&["export", "a.dv", "--format", "csv"])
    };
    assert_eq!(export("no"), "c1,c2\n1,x\n2,y\n");
    assert_eq!(export("id,\"last, first\""), "id,\"last, first\"\n1,x\n2,y\n");
    sandbox.write("one.csv", "1\n2\n");
    sandbox.ok(&["build", "one.csv", "-o", "a.dv", "-q", "--header", "\"no\""]);
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), "no\n1\n2\n");
    let run = sandbox.dv(&["build", "a.csv", "-o", "b.dv", "--header", "id,name,size"]);
    let expected = "dv: a.csv:1: expected 3 columns, as --header names, found 2 cells\n    \
                    hint: name each column of the file, or set --delimiter\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
}
