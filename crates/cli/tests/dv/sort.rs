//! `--sort-by` in `build` and `merge`.

use docvalues::column::{Lists, bits};
use docvalues::prelude::*;

use crate::sandbox::{Sandbox, packages};

const SIZES: &str = "\
name,section,size,tags
a,net,7,\"[\"\"x\"\"]\"
b,doc,,\"[\"\"y\"\",\"\"z\"\"]\"
c,,5,[]
d,net,9,[]
e,doc,1,[]
f,net,,[]
";

fn sizes() -> Sandbox {
    Sandbox::with("sizes.csv", SIZES)
}

/// The names of the documents of `sizes.csv`, sorted by `keys`.
#[track_caller]
fn names(sandbox: &Sandbox, keys: &[&str]) -> String {
    let keys: Vec<_> = keys.iter().flat_map(|key| ["--sort-by", key]).collect();
    sandbox.ok(&[&["build", "sizes.csv", "-o", "s.dv", "-q", "--type", "tags=string[]"], &keys[..]].concat());
    sandbox.ok(&["check", "s.dv"]);
    let names = sandbox.ok(&["export", "s.dv", "--columns", "name", "--format", "csv"]);
    names.lines().skip(1).collect()
}

#[test]
fn documents_are_sorted_by_columns_up_or_down_and_missing_values_where_they_are_wanted() {
    let sandbox = sizes();
    assert_eq!(names(&sandbox, &[]), "abcdef");
    assert_eq!(names(&sandbox, &["section"]), "beadfc");
    assert_eq!(names(&sandbox, &["-section"]), "adfbec");
    assert_eq!(names(&sandbox, &["section:missing-first"]), "cbeadf");
    assert_eq!(names(&sandbox, &["section,-size"]), "ebdafc");
    assert_eq!(names(&sandbox, &["section", "-size:missing-first"]), "befdac");
    assert_eq!(names(&sandbox, &["-name"]), "fedcba");
    let info = sandbox.ok(&["info", "s.dv"]);
    assert!(info.contains("\nsorted by name (descending)\n"), "{info}");
    names(&sandbox, &["section:missing-first,-size:missing-last"]);
    let info: serde_json::Value = serde_json::from_str(&sandbox.ok(&["info", "s.dv", "--json"])).unwrap();
    let expected = serde_json::json!([
        {"column": "section", "descending": false, "missing_first": true},
        {"column": "size", "descending": true, "missing_first": false},
    ]);
    assert_eq!(info["sort"], expected);
    names(&sandbox, &[]);
    assert!(!sandbox.ok(&["info", "s.dv"]).contains("sorted by"));
}

#[test]
fn what_cannot_be_sorted_by_is_named_and_nothing_is_written() {
    let sandbox = sizes();
    sandbox.write("rows.ndjson", "{\"a\":1}\n{\"a\":2,\"b\":[1,2]}\n");
    let refused = |input: &str, key: &str| {
        let run = sandbox.dv(&["build", input, "-o", "s.dv", "--sort-by", key, "--type", "tags=string[]"]);
        assert_eq!((run.out.as_str(), sandbox.exists("s.dv")), ("", false));
        (run.code, run.err)
    };
    let (code, message) = refused("sizes.csv", "section,sizes");
    let hint = "dv: --sort-by: no column \"sizes\"\n    hint: did you mean \"size\"?\n";
    assert_eq!((code, message.as_str()), (1, hint));
    let (code, message) = refused("sizes.csv", "tags");
    let several =
        "dv: --sort-by: expected a column with one value a document, found several in column \"tags\"\n";
    assert_eq!((code, message.as_str()), (1, several));
    assert_eq!(refused("sizes.csv", "size,-size").0, 2);
    assert!(refused("sizes.csv", "size:first").1.contains("NAME:missing-first or NAME:missing-last"));
    for key in ["b", "c"] {
        let run = sandbox.dv(&["build", "rows.ndjson", "-o", "s.dv", "--sort-by", key]);
        assert_eq!((run.code, sandbox.exists("s.dv")), (1, false), "{}", run.err);
    }
}

#[test]
fn sorted_segments_of_the_shipped_packages_are_smaller_and_merge_as_they_are() {
    let sandbox = Sandbox::with("packages.ndjson.gz", packages());
    let by = |output: &str, more: &[&str]| {
        sandbox.ok(&[&["build", "packages.ndjson.gz", "-o", output, "-q"], more].concat());
    };
    by("plain.dv", &[]);
    by("sorted.dv", &["--sort-by", "section,-size"]);
    sandbox.ok(&["check", "sorted.dv"]);
    let bytes = |segment: &str| {
        let info = sandbox.ok(&["info", segment, "--json"]);
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        // Not compressed strings, whose bytes vary with the sample that trains the compression.
        let columns =
            || info["columns"].as_array().unwrap().iter().filter(|column| column["kind"] != "binary");
        let bytes = |column: &serde_json::Value| column["bytes"].as_u64().unwrap();
        let section = columns().find(|column| column["name"] == "section").unwrap();
        (bytes(section), columns().map(bytes).sum::<u64>())
    };
    let (plain, sorted) = (bytes("plain.dv"), bytes("sorted.dv"));
    assert!(
        4 * sorted.0 < 3 * plain.0 && sorted.1 < plain.1,
        "section and all columns but binary ones: {plain:?}, sorted {sorted:?}"
    );

    // Of what the documents of one section are called, few granules are touched.
    let touched = |name: &str| {
        let segment = Segment::open(sandbox.path(name)).unwrap();
        let section = segment.sorted("section").unwrap();
        let net = section.terms().seek_exact(b"net").unwrap().unwrap();
        let mut found = vec![0; DocRange::new(0, segment.docs()).words()];
        section.range(OrdRange::one(net)).collect_into(&mut found).unwrap();
        let docs: Vec<_> = bits::ones(&found).map(|doc| DocId::new(u32::try_from(doc).unwrap())).collect();
        let before = segment.bytes_touched();
        let ids = segment.binary("id").unwrap();
        ids.gather(&docs, &mut Lists::default(), &mut vec![0; docs.len().div_ceil(64)]).unwrap();
        (docs.len(), segment.bytes_touched() - before)
    };
    let (plain, sorted) = (touched("plain.dv"), touched("sorted.dv"));
    assert_eq!(plain.0, sorted.0);
    assert!(4 * sorted.1 < plain.1, "documents and bytes: {plain:?}, sorted {sorted:?}");

    // In pieces, each of which is sorted: the same documents in the same order.
    let rows = sandbox.ok(&["export", "plain.dv"]);
    let rows: Vec<_> = rows.lines().collect();
    for (piece, rows) in ["a", "b", "c"].iter().zip(rows.chunks(rows.len().div_ceil(3))) {
        sandbox.write(&format!("{piece}.ndjson"), rows.join("\n") + "\n");
        let (input, output) = (format!("{piece}.ndjson"), format!("{piece}.dv"));
        let types = "id=string:binary,section=string:sorted";
        sandbox.ok(&["build", &input, "-o", &output, "-q", "--sort-by", "section,-size", "--type", types]);
    }
    sandbox.ok(&["merge", "a.dv", "b.dv", "c.dv", "-o", "merged.dv", "-q"]);
    sandbox.ok(&["check", "merged.dv"]);
    let info = sandbox.ok(&["info", "merged.dv"]);
    assert!(info.contains("\nsorted by section, then size (descending)\n"), "{info}");
    let sorted = |segment: &str| sandbox.ok(&["export", segment, "--columns", "id,section,size"]);
    assert_eq!(sorted("merged.dv"), sorted("sorted.dv"));
    sandbox.ok(&["merge", "plain.dv", "-o", "merged.dv", "-q", "--sort-by", "section,-size"]);
    assert_eq!(sorted("merged.dv"), sorted("sorted.dv"));
    let run = sandbox.dv(&["merge", "plain.dv", "-o", "merged.dv", "--sort-by", "tags"]);
    assert_eq!((run.code, run.err.contains("found several in column \"tags\"")), (1, true));
}
