//! Files that are built and exported again are the same.

use std::path::PathBuf;

use docvalues_testkit::damage::cases;

use crate::sandbox::{Sandbox, packages};

/// Builds, checks and exports; the text must be the same.
#[track_caller]
fn same(name: &str, text: &str, more: &[&str]) {
    let sandbox = Sandbox::with(name, text);
    sandbox.ok(&[&["build", name, "-o", "a.dv"], more].concat());
    sandbox.ok(&["check", "a.dv"]);
    let format = name.rsplit_once('.').unwrap().1;
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", format]), text);
}

#[test]
fn every_type_of_a_csv_file() {
    let text = "\
i,u,f,b,d,t,ip,id,hex,s,tags,numbers
-1,18446744073709551615,1.5,true,2013-01-31,2013-01-31T06:00:00.120+02:00,10.0.0.1,f81d4fae-7dec-11d0-a765-00a0c91e6bf6,00ff,x,\"[\"\"a\"\",\"\"b\"\"]\",\"[-1,-1,5]\"
,,,,,,,,,,,
9223372036854775807,0,1e300,false,0001-01-01,1969-12-31T23:59:59.999+02:00,2001:db8::1,00000000-0000-0000-0000-000000000000,\"\",\"\",\"[\"\"\"\"]\",[7]
";
    same("a.csv", text, &["--type", "ip=ip,id=uuid,hex=bytes,tags=string[],numbers=i64[]"]);
}

#[test]
fn every_type_of_an_ndjson_file() {
    let text = r#"{"i":-1,"u":18446744073709551615,"f":1.5,"b":true,"d":"2013-01-31","t":"2013-01-31 06:00:00Z","s":"a\"\\\n\u0001é","tags":["a","b"],"n":[1,1,2],"f s":[-0.5,2.0],"a.b":7}
{"i":9007199254740993,"u":0,"f":100.0,"b":false,"s":""}
{"a.b":8}
{}
"#;
    same("a.ndjson", text, &[]);
}

#[test]
fn spellings() {
    same("a.csv", "price,t\n1.50,2013-01-01 00:00:00.000000Z\n20.00,2013-01-01 00:00:00.000001Z\n", &[]);
    same("a.csv", "x\n1e3\n1012.3\n", &[]);
    same("a.csv", "x,y\nNA,-\n1,-\nNA,z\n", &["--missing", "-"]);
    same("a.ndjson", "{\"a\":null,\"b\":[]}\n{\"a\":1,\"b\":[\"x\"]}\n", &[]);
    same("a.tsv", "a b\tc\n\"x\ty\"\t\"\"\"q\"\"\"\n\t\"NA\"\n", &[]);
}

/// A name that begins a file as a mark of how it is read.
#[test]
fn names_that_are_no_marks() {
    for name in ["sep=;", "\u{feff}a"] {
        let sandbox = Sandbox::with("a.ndjson", serde_json::json!({ name: 1 }).to_string());
        sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "-q"]);
        sandbox.ok(&["export", "a.dv", "-o", "b.csv"]);
        sandbox.ok(&["build", "b.csv", "-o", "b.dv", "-q"]);
        sandbox.ok(&["diff", "a.dv", "b.dv"]);
    }
}

#[test]
fn a_schema_file() {
    let sandbox = Sandbox::with("a.csv", "day,tags,at\n31.01.2013,a|b,1700000000\n01.02.2013,c,-1\n");
    let schema = "
        [columns.day]
        type = \"date\"
        format = \"%d.%m.%Y\"
        [columns.tags]
        type = \"string[]\"
        separator = \"|\"
        [columns.at]
        type = \"timestamp[ms]\"
        format = \"epoch\"
        [columns.elsewhere]
        type = \"i64\"
    ";
    sandbox.write("s.toml", schema);
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "--schema", "s.toml"]);
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]).into_bytes(), sandbox.read("a.csv"));
    let first = sandbox.ok(&["head", "a.dv", "-n", "1"]);
    assert_eq!(first, "{\"day\":\"31.01.2013\",\"tags\":[\"a\",\"b\"],\"at\":1700000000}\n");
    let info = sandbox.ok(&["info", "a.dv"]);
    assert!(info.contains("timestamp[ms]") && info.contains("sorted-set"), "{info}");
}

#[test]
fn several_inputs_are_one_segment() {
    let sandbox = Sandbox::with("a.csv", "id,x\n1,a\n");
    sandbox.write("b.tsv", "x\tid\nb\t2.5\n");
    sandbox.write("c.jsonl", "{\"id\":3,\"y\":true}\n");
    sandbox.ok(&["build", "a.csv", "b.tsv", "c.jsonl", "-o", "a.dv"]);
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), "id,x,y\n1,a,\n2.5,b,\n3,,true\n");
    let info = sandbox.ok(&["info", "a.dv"]);
    assert!(["f64", "string", "bool"].iter().all(|logical| info.contains(logical)), "{info}");
}

#[test]
fn an_empty_input_has_no_percentage() {
    for name in ["a.csv", "a.ndjson"] {
        let sandbox = Sandbox::with(name, "");
        let report = sandbox.ok(&["build", name, "-o", "a.dv"]);
        assert!(report.ends_with("\na.dv: 128 bytes, from an empty input\n"), "{report}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "a.dv"]);
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "b.dv"]);
    assert_eq!(sandbox.read("a.dv"), sandbox.read("b.dv"));
    for threads in ["1", "3"] {
        sandbox.ok(&["build", "p.ndjson.gz", "-o", "b.dv", "--threads", threads]);
        assert_eq!(sandbox.read("a.dv"), sandbox.read("b.dv"));
        sandbox.ok(&["merge", "a.dv", "-o", "b.dv", "--threads", threads]);
        sandbox.ok(&["diff", "a.dv", "b.dv"]);
    }
    // Exported and built again as well: the documents and their spelling are the same.
    sandbox.write("c.ndjson", sandbox.ok(&["export", "a.dv"]));
    sandbox.ok(&["build", "c.ndjson", "-o", "c.dv"]);
    assert_eq!(sandbox.ok(&["export", "c.dv"]).into_bytes(), sandbox.read("c.ndjson"));
}

#[test]
fn the_shipped_packages_come_out_document_by_document() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    documents_come_out(&sandbox, "p.ndjson.gz", 3525);
}

#[track_caller]
fn documents_come_out(sandbox: &Sandbox, name: &str, documents: usize) {
    sandbox.ok(&["build", name, "-o", "p.dv"]);
    sandbox.ok(&["check", "p.dv"]);
    let mut text = String::new();
    let packed = sandbox.read(name);
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(packed.as_slice()), &mut text)
        .unwrap();
    let exported = sandbox.ok(&["export", "p.dv"]);
    let parse = |line| serde_json::from_str::<serde_json::Value>(line).unwrap();
    assert_eq!((exported.lines().count(), text.lines().count()), (documents, documents));
    for (out, expected) in exported.lines().zip(text.lines()) {
        assert!(parse(out) == parse(expected), "{out}\nis not\n{expected}");
    }
}

/// A sandbox with a file of the folder that `DOCVALUES_DATA` names.
fn data(name: &str) -> Option<Sandbox> {
    let path = std::env::var_os("DOCVALUES_DATA").map(|folder| PathBuf::from(folder).join(name));
    let Some(bytes) = path.and_then(|path| std::fs::read(path).ok()) else {
        eprintln!("SKIPPED: {name} is not there; set DOCVALUES_DATA to the folder that has it");
        return None;
    };
    Some(Sandbox::with(name, bytes))
}

/// As [`data`], but only in the full sweep: for what a test shows of the packages that the repository ships as well.
pub(crate) fn data_of_full_sweep(name: &str) -> Option<Sandbox> {
    if cases(true, false) {
        eprintln!("SKIPPED: {name} is for DOCVALUES_SWEEP=full");
        return None;
    }
    data(name)
}

#[test]
fn all_packages_come_out_document_by_document() {
    let Some(sandbox) = data_of_full_sweep("debian-packages.ndjson.gz") else { return };
    documents_come_out(&sandbox, "debian-packages.ndjson.gz", 63_440);
}

#[test]
fn weather_and_birdstrikes_come_out_cell_by_cell() {
    for (name, rows) in [("nyc-weather-2013.csv", 26_116), ("birdstrikes.csv", 10_001)] {
        let Some(sandbox) = data(name) else { continue };
        sandbox.ok(&["build", name, "-o", "a.dv"]);
        sandbox.ok(&["check", "a.dv"]);
        let exported = sandbox.ok(&["export", "a.dv", "--format", "csv"]);
        let (expected, found) = (cells(&sandbox.read(name)), cells(exported.as_bytes()));
        assert_eq!((expected.len(), found.len()), (rows, rows));
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected, found, "{name}");
        }
    }
}

fn cells(text: &[u8]) -> Vec<csv::StringRecord> {
    csv::ReaderBuilder::new().has_headers(false).from_reader(text).records().map(Result::unwrap).collect()
}

#[test]
fn json_arrays_and_objects_over_several_lines_are_documents() {
    let lines = "{\"a\":1,\"b.c\":\"x\"}\n{\"a\":2,\"b.c\":\"y\"}\n";
    let nested = "{\"a\":1,\"b\":{\"c\":\"x\"}}\n{\"a\":2,\"b\":{\"c\":\"y\"}}\n";
    let array = format!("[{}]", nested.trim_end().replace('\n', ", "));
    let pretty = nested.replace(",\"b\"", ",\n  \"b\"").replace('{', "{\n");
    for (name, text) in [("a.json", array), ("b.json", pretty), ("c.json", nested.to_owned())] {
        let sandbox = Sandbox::with(name, &text);
        let built = sandbox.dv(&["build", name, "-o", "a.dv"]);
        assert_eq!((built.code, built.err.as_str()), (0, ""), "{text}");
        assert_eq!(sandbox.ok(&["export", "a.dv"]), lines, "{text}");
        let built = sandbox.dv_with(&["build", "-", "-o", "a.dv", "--input-format", "json"], text.as_bytes());
        assert_eq!(built.code, 0, "{built:?}");
        assert_eq!(sandbox.ok(&["export", "a.dv"]), lines, "{text}");
    }
}

#[test]
fn addresses_and_uuids_are_inferred() {
    let id = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    let text = format!("host,id\n10.0.0.1,{id}\n2001:db8::1,\n");
    let sandbox = Sandbox::with("a.csv", &text);
    assert_eq!(sandbox.dv(&["build", "a.csv", "-o", "a.dv"]).err, "");
    let schema = sandbox.ok(&["schema", "a.csv"]);
    assert!(schema.contains("\"ip\"") && schema.contains("\"uuid\""), "{schema}");
    assert_eq!(sandbox.ok(&["count", "a.dv", "--where", "host = \"2001:DB8::1\""]), "1\n");
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
}

#[test]
fn encodings_are_decoded() {
    let text = "city,price\nZürich,viele €\n";
    let windows: Vec<u8> =
        text.chars().map(|c| if c == '€' { 0x80 } else { u8::try_from(u32::from(c)).unwrap() }).collect();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (bytes, more) in [
        (windows.clone(), &["--encoding", "windows-1252"][..]),
        (windows, &["--encoding", "latin-1"]),
        (utf16(text), &["--encoding", "utf-16"]),
        (utf16(&format!("\u{feff}{text}")), &[]),
        (format!("\u{feff}{text}").into_bytes(), &["--encoding", "latin-1"]),
    ] {
        let sandbox = Sandbox::with("a.csv", bytes);
        let built = sandbox.dv(&[&["build", "a.csv", "-o", "a.dv"], more].concat());
        assert_eq!((built.code, built.err.as_str()), (0, ""), "{more:?}");
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text, "{more:?}");
    }
}
