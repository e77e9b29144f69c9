//! Damaged segments, and files that are not segments.

use crate::sandbox::Sandbox;

/// A small segment with columns of several kinds.
fn sandbox() -> Sandbox {
    let rows: String =
        (0..3000).map(|i| format!("{i},name {},{}\n", i % 7, if i % 3 == 0 { "" } else { "x" })).collect();
    let sandbox = Sandbox::with("a.csv", format!("n,name,some\n{rows}"));
    sandbox.ok(&["build", "a.csv", "-o", "a.dv"]);
    sandbox
}

#[test]
fn check_names_column_section_and_offset() {
    let sandbox = sandbox();
    let sections = sandbox.ok(&["info", "a.dv", "--json"]);
    let info: serde_json::Value = serde_json::from_str(&sections).unwrap();
    let mut damaged = 0;
    for column in info["columns"].as_array().unwrap() {
        for section in column["sections"].as_array().unwrap() {
            let mut bytes = sandbox.read("a.dv");
            let offset = usize::try_from(section["offset"].as_u64().unwrap()).unwrap();
            bytes[offset] ^= 0x10;
            sandbox.write("b.dv", bytes);
            let run = sandbox.dv(&["check", "b.dv", "--json"]);
            assert_eq!(run.code, 1);
            let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
            assert_eq!(report["clean"], false);
            let problem = &report["problems"][0];
            assert_eq!((&problem["column"], &problem["section"]), (&column["name"], &section["section"]));
            let found = usize::try_from(problem["offset"].as_u64().unwrap()).unwrap();
            assert!(found <= offset && offset < found + 4096, "{problem}");
            damaged += 1;
        }
    }
    assert!(damaged >= 5, "{damaged} sections were damaged");
}

#[test]
fn a_check_has_a_row_for_each_problem() {
    let sandbox = sandbox();
    let info: serde_json::Value = serde_json::from_str(&sandbox.ok(&["info", "a.dv", "--json"])).unwrap();
    let section = &info["columns"][1]["sections"][0];
    let mut bytes = sandbox.read("a.dv");
    bytes[usize::try_from(section["offset"].as_u64().unwrap()).unwrap()] ^= 0x10;
    sandbox.write("b.dv", bytes);
    let run = sandbox.dv(&["check", "a.dv", "b.dv", "--format", "csv"]);
    let lines: Vec<&str> = run.out.lines().collect();
    let problem = "problem.column,problem.section,problem.offset,problem.message";
    assert_eq!(lines[0], format!("file,clean,documents,columns,bytes,{problem}"));
    let size = sandbox.read("a.dv").len();
    assert_eq!(lines[1], format!("a.dv,true,3000,3,{size},,,,"));
    // The columns are the same if all files are clean.
    let clean = sandbox.ok(&["check", "a.dv", "--format", "csv"]);
    assert_eq!(clean.lines().collect::<Vec<_>>(), &lines[..2]);
    let damaged = format!("b.dv,false,3000,3,{size},name,{},", section["section"].as_str().unwrap());
    assert!(run.code == 1 && lines[2].starts_with(&damaged), "{run:?}");
    let run = sandbox.dv(&["check", "a.dv", "b.dv", "-o", "check.ndjson"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(sandbox.read("check.ndjson").starts_with(b"{\"file\":\"a.dv\",\"clean\":true,"));
    // Without a format, an object a file with its list of problems.
    sandbox.dv(&["check", "a.dv", "b.dv", "-o", "check.json"]);
    assert_eq!(sandbox.read("check.json"), sandbox.dv(&["check", "a.dv", "b.dv", "--json"]).out.as_bytes());
    assert_eq!(sandbox.dv(&["check", "a.dv", "-q", "--format", "csv"]).code, 2);
}

#[test]
fn other_columns_of_a_damaged_segment_can_be_read() {
    let sandbox = sandbox();
    let info: serde_json::Value = serde_json::from_str(&sandbox.ok(&["info", "a.dv", "--json"])).unwrap();
    let column = &info["columns"][1];
    let offset = usize::try_from(column["sections"][0]["offset"].as_u64().unwrap()).unwrap();
    let mut bytes = sandbox.read("a.dv");
    bytes[offset] ^= 1;
    sandbox.write("b.dv", bytes);
    let run = sandbox.dv(&["export", "b.dv", "--format", "csv"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("column \"name\"") && run.err.contains("--columns"), "{}", run.err);
    let printing = [&["cat", "a.dv", "b.dv"][..], &["head", "b.dv"], &["get", "b.dv", "7"]];
    let others = [
        &["stats", "b.dv"][..],
        &["count", "b.dv", "--where", "name = \"name 3\""],
        &["facet", "b.dv", "name"],
        &["group", "b.dv", "name"],
        &["sort", "b.dv", "--by", "name", "--columns", "n"],
        &["query", "b.dv", r#"{"facets": ["name"]}"#],
        &["query", "b.dv", r#"{"sort": ["n"]}"#],
    ];
    for (commands, helps) in [(&printing[..], true), (&others[..], false)] {
        for command in commands {
            let run = sandbox.dv(command);
            assert!(run.code == 1 && run.err.contains("column \"name\""), "{run:?}");
            assert!(run.err.contains("hint: other columns can still be read"), "{run:?}");
            // It takes the option, and reads the column for nothing else.
            assert_eq!(run.err.contains("--columns"), helps, "{run:?}");
        }
    }
    let run = sandbox.dv(&["diff", "a.dv", "b.dv"]);
    assert!(run.code == 3 && run.err.contains("--columns"), "{run:?}");
    let good = sandbox.ok(&["export", "b.dv", "--columns", "n,some"]);
    assert_eq!(good, sandbox.ok(&["export", "a.dv", "--columns", "n,some"]));
}

/// It is not damaged: the error says what to do.
#[test]
fn a_layout_that_is_no_longer_read() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docvalues/tests/golden/retired/binary-deflate.dv");
    let run = Sandbox::new().dv(&["export", file, "--format", "ndjson"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.err.contains("the strings are DEFLATE blocks") && run.err.contains("dv export"), "{run:?}");
    assert!(!run.err.contains("hint:"), "{run:?}");
}

#[test]
fn a_segment_that_is_cut_is_damaged() {
    let sandbox = sandbox();
    let bytes = sandbox.read("a.dv");
    for len in [0, 1, 63, 64, 100, bytes.len() / 2, bytes.len() - 1] {
        sandbox.write("b.dv", &bytes[..len]);
        let run = sandbox.dv(&["check", "b.dv"]);
        assert_eq!(run.code, 1, "{len}: {run:?}");
        assert!(run.out.starts_with("b.dv: "), "{}", run.out);
        let run = sandbox.dv(&["head", "b.dv"]);
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{len}: {run:?}");
        let expected = match len {
            0..64 => format!("header at byte 0: expected 64 bytes, found {len}"),
            64..128 => {
                format!("footer at byte 64: the file is cut off: expected at least 128 bytes, found {len}")
            }
            _ => format!("footer at byte {}: the file is cut off or its end is damaged: ", len - 8),
        };
        assert!(run.err.starts_with(&format!("dv: b.dv: {expected}")), "{}", run.err);
    }
}

#[test]
fn files_that_are_no_segment_are_unreadable() {
    let sandbox = sandbox();
    for command in ["info", "stats", "terms", "sample", "cat", "export", "check"] {
        let column = if command == "terms" { &["n"][..] } else { &[] };
        let run = sandbox.dv(&[&[command, "a.csv"], column].concat());
        assert_eq!(run.code, 3, "{command}: {run:?}");
        let run = sandbox.dv(&[&[command, "nothing.dv"], column].concat());
        assert_eq!(run.code, 3, "{command}: {run:?}");
        assert!(format!("{}{}", run.out, run.err).contains("nothing.dv: No such file"), "{run:?}");
    }
    let mut newer = sandbox.read("a.dv");
    newer[8] = 200;
    sandbox.write("newer.dv", newer);
    let run = sandbox.dv(&["info", "newer.dv"]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("found 200"), "{}", run.err);
}

#[test]
fn the_worst_file_decides_the_exit_code() {
    let sandbox = sandbox();
    let mut bytes = sandbox.read("a.dv");
    bytes[64] ^= 1;
    sandbox.write("b.dv", bytes);
    assert_eq!(sandbox.dv(&["check", "a.dv", "b.dv"]).code, 1);
    assert_eq!(sandbox.dv(&["check", "b.dv", "nothing.dv", "a.dv"]).code, 3);
}

#[test]
fn a_small_file_that_says_it_has_many_documents_is_refused_unless_the_user_insists() {
    let sandbox = Sandbox::with("a.dv", docvalues_testkit::claims::claims(i32::MAX.unsigned_abs()));
    let commands: [&[&str]; 16] = [
        &["info", "a.dv"],
        &["stats", "a.dv", "--percentiles", "50"],
        &["count", "a.dv", "--where", "five = 5"],
        &["facet", "a.dv", "five"],
        &["histogram", "a.dv", "five", "--step", "10"],
        &["group", "a.dv", "five", "--sum", "seven"],
        &["sort", "a.dv", "--by", "five", "-n", "0"],
        &["query", "a.dv", "{}"],
        &["get", "a.dv", "7"],
        &["head", "a.dv"],
        &["sample", "a.dv"],
        &["cat", "a.dv"],
        &["export", "a.dv"],
        &["diff", "a.dv", "a.dv"],
        &["check", "a.dv"],
        &["merge", "a.dv", "a.dv", "-o", "b.dv"],
    ];
    for command in commands {
        let run = sandbox.dv(command);
        let said = format!("{}{}", run.out, run.err);
        let is_named =
            said.contains("number of documents: expected at most ") && said.contains("found 2147483647");
        assert!(run.code > 0 && is_named, "{command:?}: {run:?}");
        assert!(command[0] == "check" || said.contains("--any-docs"), "{command:?}: {run:?}");
    }
    assert!(!sandbox.exists("b.dv"));
    assert!(sandbox.ok(&["info", "a.dv", "--any-docs"]).contains("2,147,483,647 documents"));
    let count = sandbox.ok(&["count", "a.dv", "--where", "five = 5", "--any-docs"]);
    assert_eq!(count.trim(), "2147483647");
    assert_eq!(sandbox.ok(&["get", "a.dv", "2147483646", "--any-docs"]).trim(), r#"{"five":5,"seven":7}"#);
}
