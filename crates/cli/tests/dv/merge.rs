//! `dv merge`: parts of a segment merge to the same documents.

use std::io::Read as _;

use crate::round_trip::data_of_full_sweep;
use crate::sandbox::{Sandbox, packages};

/// The types of a segment's columns, and how byte strings are kept, as `--type` has them.
fn types(sandbox: &Sandbox, segment: &str) -> Vec<String> {
    let info: serde_json::Value = serde_json::from_str(&sandbox.ok(&["info", segment, "--json"])).unwrap();
    let of = |column: &serde_json::Value| {
        let [name, kind, ty] = ["name", "kind", "type"].map(|key| column[key].as_str().unwrap().to_owned());
        match kind.as_str() {
            "binary" | "sorted" => format!("--type={name}={ty}:{kind}"),
            "sorted-set" | "sorted-numeric" => format!("--type={name}={ty}[]"),
            _ => format!("--type={name}={ty}"),
        }
    };
    info["columns"].as_array().unwrap().iter().map(of).collect()
}

/// Builds the documents of a file at once, and 40 segments of as many each, which are merged.
#[track_caller]
fn forty_become_one(sandbox: &Sandbox, name: &str) {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(sandbox.read(name).as_slice()).read_to_string(&mut text).unwrap();
    let lines: Vec<_> = text.lines().collect();
    sandbox.ok(&["build", name, "-o", "whole.dv", "-q"]);
    let types = types(sandbox, "whole.dv");
    let types: Vec<_> = types.iter().map(String::as_str).collect();
    let mut parts = Vec::new();
    for (i, lines) in lines.chunks(lines.len().div_ceil(40)).enumerate() {
        let (input, output) = (format!("{i}.ndjson"), format!("{i}.dv"));
        sandbox.write(&input, lines.join("\n") + "\n");
        sandbox.ok(&[&["build", &input, "-o", &output, "-q"], &types[..]].concat());
        parts.push(output);
    }
    assert_eq!(parts.len(), 40);
    let parts: Vec<_> = parts.iter().map(String::as_str).collect();
    sandbox.ok(&[&["merge", "-o", "merged.dv", "-q"], &parts[..]].concat());
    sandbox.ok(&["check", "merged.dv"]);
    sandbox.ok(&["diff", "whole.dv", "merged.dv"]);
    let columns = |name| {
        let info: serde_json::Value = serde_json::from_str(&sandbox.ok(&["info", name, "--json"])).unwrap();
        info["columns"].clone()
    };
    let (whole, merged) = (columns("whole.dv"), columns("merged.dv"));
    for (whole, merged) in whole.as_array().unwrap().iter().zip(merged.as_array().unwrap()) {
        for key in ["name", "kind", "type", "encodings", "docs_with_value", "bytes"] {
            assert_eq!(whole[key], merged[key], "{key} of {}", whole["name"]);
        }
    }
}

#[test]
fn forty_segments_of_the_shipped_packages_become_one() {
    forty_become_one(&Sandbox::with("p.ndjson.gz", packages()), "p.ndjson.gz");
}

#[test]
fn forty_segments_of_all_packages_become_one() {
    let Some(sandbox) = data_of_full_sweep("debian-packages.ndjson.gz") else { return };
    forty_become_one(&sandbox, "debian-packages.ndjson.gz");
}

/// Segments of two inputs.
fn two(a: &str, b: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in [("a", a), ("b", b)] {
        sandbox.write(&format!("{name}.csv"), text);
        sandbox.ok(&["build", &format!("{name}.csv"), "-o", &format!("{name}.dv"), "-q"]);
    }
    sandbox
}

#[test]
fn columns_are_united_and_keep_their_spelling_and_order() {
    let sandbox = two(
        "z,at,n\nx,2013-01-01 00:00:00.000Z,1.50\ny,,NA\n",
        "z,at,n,new\n,2014-01-01 00:00:00.000Z,20.00,7\n",
    );
    let report = sandbox.ok(&["merge", "a.dv", "b.dv", "-o", "c.dv"]);
    assert!(report.contains("c.dv: ") && report.contains("of 2 segments"), "{report}");
    let text = "\
z,at,n,new
x,2013-01-01 00:00:00.000Z,1.50,
y,,,
,2014-01-01 00:00:00.000Z,20.00,7
";
    assert_eq!(sandbox.ok(&["export", "c.dv", "--format", "csv"]), text);
    sandbox.ok(&["merge", "c.dv", "-o", "d.dv", "-q"]);
    sandbox.ok(&["diff", "c.dv", "d.dv"]);
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.ok(&["merge", "c.dv", "c.dv", "-o", "e.dv", "--json"])).unwrap();
    assert_eq!(json["documents"], 6);
}

#[test]
fn columns_that_differ_are_named_and_nothing_is_written() {
    let sandbox = two("n\n1\n", "n\nx\n");
    sandbox.write("c.dv", sandbox.read("a.dv"));
    let run = sandbox.dv(&["merge", "a.dv", "b.dv", "-o", "c.dv"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert_eq!(
        run.err,
        "dv: column \"n\": numeric values of type i64 in \"a.dv\", binary values of type string in \"b.dv\"\n    \
         hint: build the segments with the same --type for this column\n"
    );
    assert_eq!(sandbox.read("c.dv"), sandbox.read("a.dv"));
}

#[test]
fn numbers_are_promoted_on_request() {
    let sandbox = two("n,m\n1,2\n", "n,m\n2.5,3\n");
    let run = sandbox.dv(&["merge", "a.dv", "b.dv", "-o", "c.dv"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.err,
        "dv: column \"n\": numeric values of type i64 in \"a.dv\", numeric values of type f64 in \"b.dv\"\n    \
         hint: --promote converts them to one type if no value changes\n"
    );
    sandbox.ok(&["merge", "a.dv", "b.dv", "-o", "c.dv", "--promote", "--sort-by=-n"]);
    assert_eq!(sandbox.ok(&["export", "c.dv", "--format", "csv"]), "n,m\n2.5,3\n1.0,2\n");

    let sandbox = two("n\n9007199254740993\n", "n\n2.5\n");
    let run = sandbox.dv(&["merge", "a.dv", "b.dv", "-o", "c.dv", "--promote"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.err,
        "dv: column \"n\": a.dv: expected a number that is exact as f64, found 9007199254740993 of type i64\n"
    );
}

#[test]
fn a_damaged_segment_is_named_and_nothing_is_written() {
    let rows: String = (0..3000).map(|i| format!("{},name {},x{i}\n", i * i, i % 7)).collect();
    let sandbox = two(&format!("n,name,some\n{rows}"), &format!("n,name,some\n{rows}"));
    let info: serde_json::Value = serde_json::from_str(&sandbox.ok(&["info", "b.dv", "--json"])).unwrap();
    let (good, mut damaged) = (sandbox.read("b.dv"), 0);
    for column in info["columns"].as_array().unwrap() {
        for section in column["sections"].as_array().unwrap() {
            let mut bytes = good.clone();
            bytes[usize::try_from(section["offset"].as_u64().unwrap()).unwrap()] ^= 0x10;
            sandbox.write("b.dv", bytes);
            let run = sandbox.dv(&["merge", "a.dv", "b.dv", "-o", "c.dv"]);
            let what = section["section"].as_str().unwrap();
            // What is not read is made anew.
            if run.code == 0 {
                assert!(
                    what.contains("jump table") || what.contains("keys") || what.contains("zone"),
                    "{what}"
                );
                sandbox.ok(&["check", "c.dv"]);
                std::fs::remove_file(sandbox.path("c.dv")).unwrap();
                continue;
            }
            let name = column["name"].as_str().unwrap();
            assert_eq!((run.code, run.out.as_str()), (1, ""));
            assert!(
                run.err.starts_with(&format!("dv: b.dv: column \"{name}\": {what}")),
                "{what}: {}",
                run.err
            );
            damaged += 1;
        }
    }
    assert!(damaged >= 5, "{damaged} sections were damaged");
    let mut left: Vec<_> =
        std::fs::read_dir(sandbox.path(".")).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.csv", "a.dv", "b.csv", "b.dv"], "no temporary file is left");
}
