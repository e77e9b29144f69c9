//! The index of ids in `build` and `merge`, and `dv lookup`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use docvalues::reader::{IdForm, Segment};
use docvalues::writer::{IdOptions, Merger, WriterOptions};
use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox, id, packages, words};

/// The shipped packages, one JSON text each.
fn rows() -> Vec<String> {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(packages().as_slice()).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The packages as a segment with an index of their ids.
fn segment(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&[&["build", "p.ndjson.gz", "-o", "p.dv", "-q", "--id-field", "id"], more].concat());
    sandbox
}

/// A segment of a CSV file, with an index of its column `id`.
fn of_csv(text: &str, more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::with("a.csv", text);
    sandbox.ok(&[&["build", "a.csv", "-o", "a.dv", "-q", "--id-field", "id"], more].concat());
    sandbox
}

/// Gives a segment another index of its column `id`, which `dv` does not build but reads and merges.
fn index(sandbox: &Sandbox, file: &str, form: IdForm, filter_bits: u8) {
    let segment = Segment::open(sandbox.path(file)).unwrap();
    let options = IdOptions::new().form(form).filter_bits(filter_bits);
    let mut merger = Merger::new(WriterOptions::new()).id_field("id", options);
    merger.add(file, &segment);
    let (bytes, _) = merger.finish_bytes().unwrap();
    sandbox.write(file, bytes);
}

fn info(sandbox: &Sandbox, file: &str) -> Value {
    serde_json::from_str(&sandbox.ok(&["info", file, "--json"])).unwrap()
}

/// What a run printed, which must have ended so.
#[track_caller]
fn ended(run: Run, code: i32) -> (String, String) {
    let beginning: String = run.out.chars().take(1000).collect();
    assert_eq!(run.code, code, "{beginning}\n{}", run.err);
    (run.out, run.err)
}

#[test]
fn every_id_is_found_among_forty_segments() {
    let (sandbox, rows) = (Sandbox::new(), rows());
    let mut files = Vec::new();
    for (i, rows) in rows.chunks(rows.len().div_ceil(40)).enumerate() {
        sandbox.write("part.ndjson", rows.join("\n") + "\n");
        files.push(format!("{i}.dv"));
        sandbox.ok(&["build", "part.ndjson", "-o", &files[i], "-q", "--id-field", "id"]);
    }
    assert_eq!(files.len(), 40);
    let files: Vec<_> = files.iter().map(String::as_str).collect();
    let lookup = |more: &[&str], input: &str| {
        let args = [&["lookup"], &files[..], &["-"], more].concat();
        sandbox.dv_with(&args, input.as_bytes())
    };

    // In any order, each at its place, and more ids than are looked up together.
    let ids: Vec<_> = rows.iter().map(|row| id(row)).collect();
    let asked: Vec<_> = ids.iter().rev().chain(&ids).map(String::as_str).collect();
    let (found, _) = ended(lookup(&["--columns", "id", "--format", "csv"], &(asked.join("\n") + "\n")), 0);
    assert!(found.lines().skip(1).eq(asked.iter().copied()));
    let (places, _) = ended(lookup(&["--doc"], &asked.join("\r\n")), 0);
    let each = rows.len().div_ceil(40);
    let place = |i: usize| format!("{}.dv\t{}\t{}\n", i / each, i % each, ids[i]);
    let expected: String = (0..ids.len()).rev().chain(0..ids.len()).map(place).collect();
    assert!(places == expected);

    // Absent ids are reported after the others, and nothing else is.
    let (out, err) = ended(lookup(&["--doc", "--json"], &format!("none\n\n{}\nfff\n", ids[3000])), 1);
    let found: Value = serde_json::from_str(&out).unwrap();
    let file = format!("{}.dv", 3000 / each);
    assert_eq!(found, json!({"id": ids[3000], "file": file, "doc": 3000 % each}));
    assert_eq!(err, "dv: no document has the id \"none\"\ndv: no document has the id \"fff\"\n");
    let quiet = lookup(&["--quiet"], &"none\n".repeat(10_000));
    assert_eq!(ended(quiet, 1), (String::new(), String::new()));
    let (_, err) = ended(lookup(&[], &"none\n".repeat(10_000)), 1);
    assert_eq!(err.lines().count(), 10_000);
    assert_eq!(ended(lookup(&[], ""), 0), (String::new(), String::new()));

    // Merged, they are those of one segment.
    sandbox.ok(&[&["merge", "-o", "merged.dv", "-q"], &files[..]].concat());
    sandbox.write("p.ndjson", rows.join("\n") + "\n");
    sandbox.ok(&["build", "p.ndjson", "-o", "p.dv", "-q", "--id-field", "id"]);
    sandbox.ok(&["check", "merged.dv"]);
    let ids_of = |file| {
        let mut ids = info(&sandbox, file)["ids"].take();
        ids["sections"].as_array_mut().unwrap().iter_mut().for_each(|section| section["offset"] = json!(0));
        ids
    };
    assert_eq!(ids_of("merged.dv"), ids_of("p.dv"));
    assert_eq!(sandbox.ok(&["diff", "p.dv", "merged.dv"]), "");
    let all = |file| sandbox.ok(&["terms", file, "--id", "--json"]);
    assert_eq!(all("merged.dv"), all("p.dv"));
}

#[test]
fn the_later_file_is_the_newer_one() {
    let sandbox = of_csv("id,v\na,1\nb,2\n", &[]);
    sandbox.write("b.csv", "id,v,w\nc,3,\nb,4,x\n");
    sandbox.ok(&["build", "b.csv", "-o", "b.dv", "-q"]);
    index(&sandbox, "b.dv", IdForm::Fst, 16);
    assert_eq!(sandbox.ok(&["lookup", "a.dv", "b.dv", "b", "--doc"]), "b.dv\t1\tb\n");
    assert_eq!(sandbox.ok(&["lookup", "b.dv", "a.dv", "b", "--doc"]), "a.dv\t1\tb\n");
    let found = sandbox.ok(&["lookup", "a.dv", "b.dv", "b", "a", "c", "b"]);
    let expected = "{\"id\":\"b\",\"v\":4,\"w\":\"x\"}\n{\"id\":\"a\",\"v\":1}\n{\"id\":\"c\",\"v\":3}\n";
    assert_eq!(found, format!("{expected}{{\"id\":\"b\",\"v\":4,\"w\":\"x\"}}\n"));
    // Numbers come with their files.
    let args = ["lookup", "a.dv", "b.dv", "b", "a", "--columns", "v", "--doc-ids"];
    let expected = "{\"_file\":\"b.dv\",\"_doc\":1,\"v\":4}\n{\"_file\":\"a.dv\",\"_doc\":0,\"v\":1}\n";
    assert_eq!(sandbox.ok(&args), expected);
    let args = ["lookup", "a.dv", "b.dv", "b", "a", "--doc"];
    for (name, expected) in [
        ("x.csv", "file,doc,id\nb.dv,1,b\na.dv,0,a\n"),
        ("x.tsv", "file\tdoc\tid\nb.dv\t1\tb\na.dv\t0\ta\n"),
        ("x.txt", "b.dv\t1\tb\na.dv\t0\ta\n"),
        ("x", "b.dv\t1\tb\na.dv\t0\ta\n"),
        (
            "x.json",
            "{\"file\":\"b.dv\",\"doc\":1,\"id\":\"b\"}\n{\"file\":\"a.dv\",\"doc\":0,\"id\":\"a\"}\n",
        ),
    ] {
        sandbox.ok(&[&args[..], &["-o", name]].concat());
        assert_eq!(String::from_utf8(sandbox.read(name)).unwrap(), expected, "{name}");
    }
    let run = sandbox.dv(&[&args[..], &["-o", "x.xlsx"]].concat());
    assert!(run.code == 2 && run.err.starts_with("dv: x.xlsx: unknown extension"), "{run:?}");
    // Both cannot be in one segment.
    let (out, err) = ended(sandbox.dv(&["merge", "a.dv", "b.dv", "-o", "c.dv"]), 1);
    assert_eq!((out.as_str(), sandbox.exists("c.dv")), ("", false));
    assert!(
        err.starts_with(
            "dv: column \"id\": document 1 of \"a.dv\" and document 1 of \"b.dv\" have the same id: \"b\"\n    hint: --no-ids"
        ),
        "{err}"
    );
    sandbox.ok(&["merge", "a.dv", "b.dv", "-o", "c.dv", "--no-ids", "-q"]);
    assert_eq!(info(&sandbox, "c.dv")["ids"], Value::Null);
}

#[test]
fn documents_print_as_get_prints_them() {
    let sandbox = segment(&["--sort-by", "section,-size"]);
    let exported = sandbox.ok(&["export", "p.dv", "--columns", "id", "--format", "csv"]);
    let ids: Vec<_> = exported.lines().skip(1).collect();
    let (a, b) = (ids[1304], ids[7]);
    for more in [
        &[][..],
        &["--json"],
        &["--columns", "package,tags", "--doc-ids"],
        &["--format", "csv", "--doc-ids"],
        &["--format", "tsv", "--columns", "size"],
        &["--format", "table", "--columns", "package,size"],
    ] {
        let got = sandbox.ok(&[&["get", "p.dv", "1304", "7"], more].concat());
        assert_eq!(sandbox.ok(&[&["lookup", "p.dv", a, b], more].concat()), got);
    }
    let run = sandbox.dv(&["lookup", "p.dv", a, "--columns", "packages"]);
    let (_, err) = ended(run, 1);
    assert_eq!(err, "dv: p.dv: no column \"packages\"\n    hint: did you mean \"package\"?\n");
    for more in [&["--columns", "size"][..], &["--doc-ids"]] {
        ended(sandbox.dv(&[&["lookup", "p.dv", a, "--doc"], more].concat()), 2);
    }
}

#[test]
fn segments_and_ids_are_told_apart() {
    let sandbox = of_csv("id,v\na,1\n-7,2\nx.dv,3\n\"\",4\n-,5\n--id,6\n", &[]);
    sandbox.write("b.dv", sandbox.read("a.dv"));
    sandbox.write("no ending", sandbox.read("a.dv"));
    sandbox.write("here", "");
    let places = |args: &[&str]| {
        let places = sandbox.ok(&[&["lookup", "--doc"], args].concat());
        let places: Vec<_> =
            places.lines().map(|line| line.rsplit_once('\t').unwrap().0.to_owned()).collect();
        places.join(" ").replace('\t', ":")
    };
    assert_eq!(places(&["a.dv", "b.dv", "a"]), "b.dv:0");
    assert_eq!(places(&["no ending", "a"]), "no ending:0");
    assert_eq!(places(&["a.dv", "--", "-7", "x.dv", "-", "--id", ""]), "a.dv:1 a.dv:2 a.dv:4 a.dv:5 a.dv:3");
    assert_eq!(places(&["a.dv", "b.dv", "--", "x.dv", "-7", ""]), "b.dv:2 b.dv:1 b.dv:3");
    let run = sandbox.dv_with(&["lookup", "--doc", "a.dv", "a", "-", "a", "--quiet"], b"-7\nnone\n");
    assert_eq!(ended(run, 1).0, "a.dv\t0\ta\na.dv\t1\t-7\na.dv\t0\ta\n");
    let run = sandbox.dv_with(&["lookup", "--doc", "a.dv", "-", "--", "a"], b"-7");
    assert_eq!(ended(run, 0).0, "a.dv\t1\t-7\na.dv\t0\ta\n");

    for args in [&["lookup"][..], &["lookup", "a.dv"], &["lookup", "a.dv", "b.dv"]] {
        let run = sandbox.dv(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
    }
    // What is neither a file nor ends so is no segment, but the first argument must be one.
    let (_, err) = ended(sandbox.dv(&["lookup", "nothing", "a"]), 3);
    assert!(err.starts_with("dv: nothing: No such file"), "{err}");
    ended(sandbox.dv(&["lookup", "nothing.dv", "a"]), 3);
    ended(sandbox.dv(&["lookup", "a.dv", "here", "a"]), 3);
    let (_, err) = ended(sandbox.dv_with(&["lookup", "-", "a"], b""), 2);
    assert!(err.contains("cannot be read from standard input"), "{err}");
}

#[test]
fn ids_are_written_as_their_type_prints_them() {
    for (ty, ids, others, odd) in [
        (
            "uuid",
            ["0193e1c0-0000-7000-8000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
            ["0193E1C000007000800000000000000 1".replace(' ', ""), "f".repeat(32)],
            "expected a UUID",
        ),
        (
            "ip",
            ["10.0.0.1", "2001:db8::1"],
            ["::ffff:10.0.0.1".into(), "2001:0db8::0001".into()],
            "expected an IP address",
        ),
        ("bytes", ["00ff", "ab"], ["00FF".into(), "AB".into()], "expected bytes in hexadecimal"),
    ] {
        let text = format!("id,v\n{},1\n{},2\n", ids[0], ids[1]);
        let sandbox = of_csv(&text, &["--type", &format!("id={ty}")]);
        sandbox.ok(&["check", "a.dv"]);
        let values = |ids: [&str; 2]| {
            sandbox.ok(&["lookup", "a.dv", ids[0], ids[1], "--columns", "id,v", "--format", "csv"])
        };
        assert_eq!(values(ids), text);
        assert_eq!(values([others[0].as_str(), others[1].as_str()]), text);
        assert_eq!(sandbox.ok(&["terms", "a.dv", "--id"]), format!("{}\n{}\n", ids[0], ids[1]));
        let (out, err) = ended(sandbox.dv(&["lookup", "a.dv", "xyz", ids[1], "--doc"]), 1);
        assert_eq!(out, format!("a.dv\t1\t{}\n", ids[1]));
        assert_eq!(err, format!("dv: no document has the id \"xyz\": {odd}\n"));
        // An id that comes twice, too.
        sandbox.write("b.csv", format!("{text}{},3\n", others[0]));
        let ty = format!("id={ty}:raw");
        let run = sandbox.dv(&["build", "b.csv", "-o", "b.dv", "--id-field", "id", "--type", &ty]);
        let (_, err) = ended(run, 1);
        let expected = format!(
            "dv: column \"id\": documents 0 and 2 (from 0, in the order of the input) have the same id: \"{}\"\n",
            ids[0]
        );
        assert!(err.starts_with(&expected), "{err}");
    }
    let sandbox = of_csv("id\n\"tab\tquote\"\"\\ ä\x1b\"\n", &[]);
    assert_eq!(sandbox.ok(&["terms", "a.dv", "--id"]), "tab\\tquote\"\\ ä\\u{1b}\n");
    let json: Value = serde_json::from_str(&sandbox.ok(&["terms", "a.dv", "--id", "--json"])).unwrap();
    assert_eq!(json, json!({"id": "tab\tquote\"\\ ä\x1b", "doc": 0}));
    let run = sandbox.dv_with(&["lookup", "a.dv", "-", "--doc"], b"tab\tquote\"\\ \xc3\xa4\x1b\n\xff\n");
    let (out, err) = ended(run, 1);
    assert_eq!(out, "a.dv\t0\ttab\\tquote\"\\ ä\\u{1b}\n");
    assert_eq!(err, "dv: no document has the id \"\u{fffd}\": not UTF-8\n");
    sandbox.write("b.csv", "id\n\"tab\tquote\"\"\\ ä\x1b\"\n".to_owned() + "\"tab\tquote\"\"\\ ä\x1b\"\n");
    let (_, err) = ended(sandbox.dv(&["build", "b.csv", "-o", "b.dv", "--id-field", "id"]), 1);
    assert!(err.contains("have the same id: \"tab\\tquote\"\\ ä\\u{1b}\"\n"), "{err}");
}

#[test]
fn every_form_and_filter_finds_all() {
    let ids: String = rows().iter().map(|row| id(row) + "\n").collect();
    let sandbox = segment(&[]);
    for (form, bits) in [(IdForm::Blocks, 0), (IdForm::Exact, 8), (IdForm::Fst, 32)] {
        index(&sandbox, "p.dv", form, bits);
        let form = form.name();
        sandbox.ok(&["check", "p.dv"]);
        let info = info(&sandbox, "p.dv");
        let index = &info["ids"];
        assert_eq!((&index["column"], &index["term_index"]), (&json!("id"), &json!(form)));
        assert_eq!((&index["packed_as"], &index["ids"]), (&json!("hex"), &json!(3525)));
        assert_eq!(index["filter_bits"], json!(bits));
        let sum = |sections: &Value| -> u64 {
            sections.as_array().unwrap().iter().map(|section| section["bytes"].as_u64().unwrap()).sum()
        };
        assert_eq!(index["bytes"], sum(&index["sections"]));
        let whole =
            sum(&info["columns"]) + sum(&index["sections"]) + info["overhead_bytes"].as_u64().unwrap();
        assert_eq!(info["bytes"], whole);
        let filter = if bits == 0 { "no filter".to_owned() } else { format!("filter of {bits} bits") };
        let line = format!("\nids in id: {form}, packed as hex, {filter}; ");
        let text = sandbox.ok(&["info", "p.dv", "--sections"]);
        assert!(text.contains(&line) && text.contains("\nindex of ids "), "{text}");
        let sections = text.lines().filter(|line| line.starts_with("id  ") && line.contains(" id")).count();
        assert!(sections >= 2, "{text}");
        let run =
            sandbox.dv_with(&["lookup", "p.dv", "-", "--columns", "id", "--format", "csv"], ids.as_bytes());
        assert_eq!(ended(run, 0).0, format!("id\n{ids}"));
    }
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "-q"]);
    assert_eq!(info(&sandbox, "p.dv")["ids"], Value::Null);
    assert!(!sandbox.ok(&["info", "p.dv"]).contains("ids"));
}

/// The bits that the filter has: half of those of other forms.
#[test]
fn the_filter_of_ids_in_a_column() {
    let mixed = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let ids: String = (0..300).map(|i| format!("{:016x}{:016x}\n", mixed(i), mixed(!i))).collect();
    let sandbox = of_csv(&format!("id\n{ids}"), &["--type", "id=bytes:raw"]);
    let index = info(&sandbox, "a.dv")["ids"].take();
    assert_eq!((&index["term_index"], &index["filter_bits"]), (&json!("column"), &json!(8)));
    let text = sandbox.ok(&["info", "a.dv"]);
    assert!(text.contains("\nids in id: column, filter of 8 bits; "), "{text}");
}

#[test]
fn what_cannot_be_an_id_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::with("a.csv", "id,n,tags,name\nx,1,\"[\"\"a\"\"]\",p\ny,2,,q\n");
    sandbox.write("rows.ndjson", "{\"a\":\"1\"}\n{\"a\":\"2\",\"b\":[\"x\"]}\n{\"a\":\"3\",\"c\":4}\n");
    let refused = |input: &str, more: &[&str], code: i32| {
        let run = sandbox.dv(&[&["build", input, "-o", "s.dv", "--type", "tags=string[]"], more].concat());
        let (out, err) = ended(run, code);
        assert_eq!((out.as_str(), sandbox.exists("s.dv")), ("", false));
        err
    };
    let name = |column| ["--id-field", column];
    assert_eq!(
        refused("a.csv", &name("names"), 1),
        "dv: --id-field: no column \"names\"\n    hint: did you mean \"name\"?\n"
    );
    assert!(
        refused("a.csv", &name("colour"), 1).contains("the columns are \"id\", \"n\", \"tags\", \"name\"")
    );
    assert_eq!(
        refused("a.csv", &name("n"), 1),
        "dv: --id-field: expected a column of string, bytes, ip or uuid, found i64 in column \"n\"\n    \
         hint: build with --type n=string:binary to keep their text\n"
    );
    assert!(refused("a.csv", &name("tags"), 1).contains("one value a document, found several"));
    assert_eq!(
        refused("a.csv", &["--id-field", "name", "--type", "name=string:sorted"], 1),
        "dv: --id-field: column \"name\" has a dictionary, but ids are stored without one\n    \
         hint: use --type name=string:binary\n"
    );
    assert!(
        refused("a.csv", &["--id-field", "name", "--exclude", "name"], 1).contains("--id-field: no column ")
    );
    // Rows of JSON bring their columns as they come.
    for sample in ["all", "1"] {
        let refused = |column: &str| refused("rows.ndjson", &["--id-field", column, "--sample", sample], 1);
        assert!(refused("b").contains("one value a document, found several"));
        assert!(refused("c").contains("found i64 in column"));
        assert!(refused("d").contains("--id-field: no column "));
    }
    let long = format!("id\n{}\n", "x".repeat(70_000));
    sandbox.write("long.csv", long);
    let (_, err) = ended(sandbox.dv(&["build", "long.csv", "-o", "s.dv", "--id-field", "id"]), 1);
    assert!(
        err.contains("column \"id\": the id of document 0 has 70000 bytes, and 65535 is the most"),
        "{err}"
    );
    // Rows that are left out are not counted, and sorted documents neither: the input is.
    sandbox.write("twice.csv", "id,n\na,3\nbad\nb,2\nc,9\na,1\n");
    let args = ["build", "twice.csv", "-o", "s.dv", "--id-field", "id", "--skip-bad", "--sort-by", "n"];
    let (_, err) = ended(sandbox.dv(&args), 1);
    assert!(!sandbox.exists("s.dv"));
    assert!(
        err.contains("documents 0 and 3 (from 0, in the order of the input) have the same id: \"a\""),
        "{err}"
    );
    assert!(err.contains("hint: leave one of them out"), "{err}");
}

#[test]
fn documents_without_an_id_are_documents() {
    let sandbox =
        Sandbox::with("r.ndjson", "{\"v\":0}\n{\"v\":1,\"k\":\"b\"}\n{\"v\":2}\n{\"v\":3,\"k\":\"a\"}\n");
    for sample in ["all", "1"] {
        sandbox.ok(&["build", "r.ndjson", "-o", "r.dv", "-q", "--id-field", "k", "--sample", sample]);
        sandbox.ok(&["check", "r.dv"]);
        assert_eq!(sandbox.ok(&["lookup", "r.dv", "a", "b", "--columns", "v"]), "{\"v\":3}\n{\"v\":1}\n");
        assert_eq!(
            sandbox.ok(&["terms", "r.dv", "--id", "--json"]),
            "{\"id\":\"a\",\"doc\":3}\n{\"id\":\"b\",\"doc\":1}\n"
        );
    }
    // None at all has an index, too.
    let sandbox = of_csv("id,v\n,1\n", &[]);
    sandbox.ok(&["check", "a.dv"]);
    assert!(sandbox.ok(&["info", "a.dv"]).contains("\nids in id: trie, filter of 16 bits\n"));
    assert_eq!(sandbox.ok(&["terms", "a.dv", "--id"]), "");
    ended(sandbox.dv(&["lookup", "a.dv", "x"]), 1);
}

#[test]
fn terms_begin_with_a_prefix_and_end_with_a_limit() {
    let sandbox = segment(&[]);
    let mut ids: Vec<_> = rows().iter().map(|row| id(row)).zip(0..).collect();
    ids.sort();
    let lines = |ids: &[(String, i32)]| ids.iter().map(|(id, _)| format!("{id}\n")).collect::<String>();
    assert_eq!(sandbox.ok(&["terms", "p.dv", "--id"]), lines(&ids));
    assert_eq!(sandbox.ok(&["terms", "p.dv", "--id", "--limit", "3"]), lines(&ids[..3]));
    assert_eq!(sandbox.ok(&["terms", "p.dv", "--id", "--limit", "0"]), "");
    let some: Vec<_> = ids.iter().filter(|(id, _)| id.starts_with("5d")).cloned().collect();
    assert!(some.len() > 3);
    assert_eq!(sandbox.ok(&["terms", "p.dv", "--id", "--prefix", "5d"]), lines(&some));
    let json: String =
        some[..2].iter().map(|(id, doc)| format!("{{\"id\":\"{id}\",\"doc\":{doc}}}\n")).collect();
    assert_eq!(sandbox.ok(&["terms", "p.dv", "--id", "--prefix", "5d", "--limit", "2", "--json"]), json);
    assert_eq!(sandbox.ok(&["terms", "p.dv", "--id", "--prefix", "zz"]), "");
    for args in [&["--id", "id"][..], &[]] {
        ended(sandbox.dv(&[&["terms", "p.dv"], args].concat()), 2);
    }
    let sandbox = of_csv("id\n01\n02\n", &["--type", "id=bytes"]);
    assert_eq!(sandbox.ok(&["terms", "a.dv", "--id", "--prefix", "02"]), "02\n");
    ended(sandbox.dv(&["terms", "a.dv", "--id", "--prefix", "2"]), 2);
}

#[test]
fn a_segment_without_an_index_says_how_to_get_one() {
    let sandbox = of_csv("id\na\n", &[]);
    sandbox.ok(&["build", "a.csv", "-o", "plain.dv", "-q"]);
    for args in [
        &["lookup", "plain.dv", "a"][..],
        &["lookup", "a.dv", "plain.dv", "a"],
        &["terms", "plain.dv", "--id"],
    ] {
        let (out, err) = ended(sandbox.dv(args), 1);
        assert_eq!(out, "");
        assert!(
            err.starts_with(
                "dv: plain.dv: the segment has no index of ids\n    hint: `dv build --id-field NAME`"
            ),
            "{err}"
        );
    }
    sandbox.ok(&["merge", "plain.dv", "-o", "new.dv", "-q", "--id-field", "id"]);
    assert_eq!(sandbox.ok(&["lookup", "new.dv", "a", "--doc"]), "new.dv\t0\ta\n");
    sandbox.ok(&words("build a.csv -o bytes.dv -q --id-field id --type id=bytes --missing a"));
    let (_, err) = ended(sandbox.dv(&["lookup", "a.dv", "bytes.dv", "a"]), 1);
    let message = "dv: \"a.dv\" has ids in column \"id\" (string), and \"bytes.dv\" in \"id\" (bytes)\n";
    assert!(err.starts_with(message), "{err}");
}

#[test]
fn merge_keeps_changes_or_drops_the_index() {
    let sandbox = of_csv("id,k,n\na,p,1\nb,q,2\n", &[]);
    index(&sandbox, "a.dv", IdForm::Fst, 8);
    for (name, text, more) in [
        ("b", "id,k,n\nc,r,3\n", &["--id-field", "id"][..]),
        ("plain", "id,k,n\nd,s,4\n", &[]),
        ("other", "id,k,n\ne,t,5\n", &["--id-field", "k"]),
        ("empty", "id,k,n\n", &["--type", "n=i64"]),
    ] {
        sandbox.write(&format!("{name}.csv"), text);
        sandbox.ok(&[&["build", &format!("{name}.csv"), "-o", &format!("{name}.dv"), "-q"], more].concat());
    }
    let merge = |args: &[&str]| {
        let run = sandbox.dv(&[&["merge", "-o", "m.dv"], args].concat());
        let (_, err) = ended(run, 0);
        sandbox.ok(&["check", "m.dv"]);
        let ids = &info(&sandbox, "m.dv")["ids"];
        let known =
            ["column", "term_index", "filter_bits", "ids"].map(|key| ids[key].to_string().replace('"', ""));
        (known.join(" "), err)
    };
    let kept = |args: &[&str], expected: &str| {
        assert_eq!(merge(args), (expected.to_owned(), String::new()), "{args:?}");
    };
    kept(&["a.dv", "b.dv"], "id fst 8 3");
    kept(&["b.dv", "a.dv"], "id trie 16 3");
    // A segment without documents has nothing to say.
    kept(&["empty.dv", "a.dv", "b.dv"], "id fst 8 3");
    kept(&["a.dv", "plain.dv", "--id-field", "id"], "id fst 8 3");
    kept(&["a.dv", "plain.dv", "--id-field", "k"], "k trie 16 3");
    kept(&["a.dv", "b.dv", "--sort-by", "-n"], "id fst 8 3");
    assert_eq!(sandbox.ok(&["lookup", "m.dv", "a", "c", "--doc"]), "m.dv\t2\ta\nm.dv\t0\tc\n");
    let none = "null null null null";
    kept(&["a.dv", "b.dv", "--no-ids"], none);
    kept(&["plain.dv"], none);
    // A note says that an index of a source is lost.
    assert_eq!(
        merge(&["a.dv", "plain.dv"]),
        (
            none.to_owned(),
            "note: the result has no index of ids: \"a.dv\" has one, \"plain.dv\" has none (build one with --id-field id)\n".into()
        )
    );
    let note = "note: the result has no index of ids: the index is of column \"id\" in \"a.dv\", and of column \"k\" in \"other.dv\" (choose with --id-field)\n";
    assert_eq!(merge(&["a.dv", "other.dv"]), (none.to_owned(), note.into()));
    let json: Value = serde_json::from_str(&sandbox.ok(&["merge", "a.dv", "-o", "m.dv", "--json"])).unwrap();
    assert_eq!(json["ids"], info(&sandbox, "m.dv")["ids"]);

    std::fs::remove_file(sandbox.path("m.dv")).unwrap();
    for (args, code, part) in [
        (&["a.dv", "--id-field", "ids"][..], 1, "did you mean \"id\"?"),
        (&["a.dv", "--id-field", "n"], 1, "found i64 in column"),
        (&["a.dv", "--no-ids", "--id-field", "id"], 2, "cannot be used with"),
        (
            &["a.dv", "b.dv", "a.dv"],
            1,
            "document 0 of \"a.dv\" and document 0 of \"a.dv\" have the same id: \"a\"",
        ),
    ] {
        let (out, err) = ended(sandbox.dv(&[&["merge", "-o", "m.dv"], args].concat()), code);
        assert_eq!((out.as_str(), sandbox.exists("m.dv")), ("", false));
        assert!(err.contains(part), "{err}");
    }
}

#[test]
fn a_damaged_index_is_found_and_mended() {
    let sandbox = segment(&[]);
    let good = sandbox.read("p.dv");
    let info = info(&sandbox, "p.dv");
    let exported = sandbox.ok(&["export", "p.dv"]);
    let ids: String = rows().iter().map(|row| id(row) + "\n").collect();
    let sections = info["ids"]["sections"].as_array().unwrap();
    assert!(sections.len() >= 5);
    for section in sections {
        let name = section["section"].as_str().unwrap();
        let mut bytes = good.clone();
        bytes[usize::try_from(section["offset"].as_u64().unwrap()).unwrap()] ^= 0x10;
        sandbox.write("p.dv", bytes);
        let (out, _) = ended(sandbox.dv(&["check", "p.dv"]), 1);
        assert!(out.starts_with(&format!("p.dv: column \"id\": {name} at byte ")), "{out}");
        let json: Value =
            serde_json::from_str(&ended(sandbox.dv(&["check", "p.dv", "--json"]), 1).0).unwrap();
        assert_eq!(
            (&json["problems"][0]["column"], &json["problems"][0]["section"]),
            (&json!("id"), &json!(name))
        );
        // Among many, the damaged one is named.
        sandbox.ok(&["merge", "p.dv", "-o", "good.dv", "-q", "--id-field", "id"]);
        let run = sandbox.dv_with(&["lookup", "good.dv", "p.dv", "-"], ids.as_bytes());
        let (_, err) = ended(run, 1);
        assert!(err.starts_with(&format!("dv: p.dv: column \"id\": {name}")), "{err}");
        assert!(err.contains("`dv merge --id-field` rebuilds the index"), "{err}");
        // All else can be read.
        assert_eq!(sandbox.ok(&["export", "p.dv"]), exported);
        sandbox.ok(&["check", "good.dv"]);
        sandbox.ok(&["merge", "p.dv", "-o", "good.dv", "-q", "--no-ids"]);
        sandbox.ok(&["check", "good.dv"]);
    }
}

#[test]
fn ids_come_and_documents_go_through_pipes() {
    let sandbox = segment(&[]);
    let (ids, rows) = (sandbox.ok(&["terms", "p.dv", "--id"]), rows());
    let mut child = sandbox
        .command(&["lookup", "p.dv", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // Who reads the documents goes away, and then who reads these.
        let _ = (0..20).try_for_each(|_| stdin.write_all(ids.as_bytes()));
    });
    let mut line = String::new();
    BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(rows.iter().any(|row| id(row) == id(&line)));
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
    writer.join().unwrap();
}
