//! Existing files of another format are not replaced.

use crate::sandbox::{Run, Sandbox};

const HINT: &str =
    "    hint: the name after -o is that of the file to write; use another name, or remove this file first\n";

fn refused(name: &str, expected: &str) -> String {
    format!("dv: {name}: expected {expected} to replace, found another file\n{HINT}")
}

/// A shell makes this of `dv build -o *.csv`.
#[test]
fn a_segment_replaces_only_a_segment() {
    let sandbox = Sandbox::with("feb.csv", "a\n1\n");
    sandbox.write("jan.csv", "a\n2\n");
    sandbox.ok(&["build", "jan.csv", "-o", "jan.dv", "-q"]);
    sandbox.ok(&["build", "feb.csv", "-o", "feb.dv", "-q"]);
    let others: [(&str, &[u8]); 7] = [
        ("feb.csv", b"a\n1\n"),
        ("line.csv", b"\n"),
        ("a.ndjson", b"{\"a\":1}\n"),
        ("a.parquet", b"PAR1\x15\x00\x15\x02PAR1"),
        ("a.csv.gz", b"\x1f\x8b\x08\x08\0\0\0\0"),
        ("latin.csv", b"caf\xe9\n1\n"),
        ("cut.dv", b"\x89DV\r\n"),
    ];
    for (name, bytes) in others {
        sandbox.write(name, bytes);
        for command in [&["build", "-o", name, "jan.csv"][..], &["merge", "-o", name, "jan.dv"]] {
            let run = sandbox.dv(command);
            assert_eq!((run.code, run.err), (2, refused(name, "a segment")), "{command:?}");
            assert_eq!(sandbox.read(name), bytes, "{command:?}");
            sandbox.write(name, sandbox.read("feb.dv"));
            sandbox.ok(&[command, &["-q"]].concat());
            assert_eq!(sandbox.read(name), sandbox.read("jan.dv"), "{command:?}");
            sandbox.write(name, bytes);
        }
    }
    // The file that `mktemp` makes, and a damaged segment.
    sandbox.write("empty", "");
    let mut damaged = sandbox.read("jan.dv");
    damaged[70] ^= 1;
    sandbox.write("damaged.dv", damaged);
    for name in ["empty", "damaged.dv"] {
        sandbox.ok(&["build", "feb.csv", "-o", name, "-q"]);
        sandbox.ok(&["check", name]);
    }
}

#[test]
fn an_export_replaces_only_a_file_of_its_format() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    sandbox.ok(&["build", "a.csv", "-o", "b.dv", "-q"]);
    let segment = sandbox.read("b.dv");
    for format in ["csv", "tsv", "ndjson"] {
        for (name, bytes) in [
            ("b.dv", &segment[..]),
            ("b.parquet", b"PAR1\x15\x00\x15\x02PAR1"),
            ("b.packed", b"\x1f\x8b\x08\x08abcd"),
        ] {
            sandbox.write(name, bytes);
            let command = ["export", "a.dv", "--format", format, "-o", name];
            let run = sandbox.dv(&command);
            assert_eq!((run.code, run.err), (2, refused(name, "a text file")), "{command:?}");
            assert_eq!(sandbox.read(name), bytes, "{command:?}");
        }
    }
    // The last character of what is looked at may be cut.
    for text in ["", "a\n1\n", &format!("x{}", "é".repeat(300))] {
        sandbox.write("b.csv", text);
        sandbox.ok(&["export", "a.dv", "-o", "b.csv"]);
        assert_eq!(sandbox.read("b.csv"), b"a\n1\n");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_and_arrow_replace_their_own() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    for (name, kind) in [("b.parquet", "a Parquet file"), ("b.arrow", "an Arrow file")] {
        sandbox.write(name, "a\n1\n");
        let run = sandbox.dv(&["export", "a.dv", "-o", name]);
        assert_eq!((run.code, run.err), (2, refused(name, kind)));
        std::fs::remove_file(sandbox.path(name)).unwrap();
        sandbox.ok(&["export", "a.dv", "-o", name]);
        sandbox.ok(&["export", "a.dv", "-o", name]);
    }
}

#[cfg(feature = "man")]
#[test]
fn a_page_of_the_manual_replaces_only_a_page() {
    let sandbox = Sandbox::with("dv-build.1", "notes");
    let run = sandbox.dv(&["man", "-o", "."]);
    assert_eq!((run.code, run.err), (2, refused("./dv-build.1", "a page of the manual")));
    assert_eq!(sandbox.read("dv-build.1"), b"notes");
    std::fs::remove_file(sandbox.path("dv-build.1")).unwrap();
    sandbox.ok(&["man", "-o", "."]);
    sandbox.ok(&["man", "-o", "."]);
}

/// Whatever a command reads it for, and whatever its name.
#[cfg(unix)]
#[test]
fn no_input_is_replaced() {
    let sandbox = Sandbox::with("a.csv", "id\na\nb\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q", "--id-field", "id"]);
    sandbox.write("docs", "1 0\n");
    sandbox.write("ids", "a\n");
    sandbox.write("s.toml", "[columns.id]\ntype = \"string\"\n");
    std::os::unix::fs::symlink("docs", sandbox.path("link")).unwrap();
    std::os::unix::fs::symlink("a.dv", sandbox.path("link.dv")).unwrap();
    std::fs::copy(sandbox.path("a.dv"), sandbox.path("b.dv")).unwrap();
    for (input, link) in [("a.csv", "hard.csv"), ("a.dv", "hard.dv")] {
        std::fs::hard_link(sandbox.path(input), sandbox.path(link)).unwrap();
    }
    for (command, input) in [
        (&["export", "a.dv", "--docs", "docs", "-o", "docs"][..], "docs"),
        (&["export", "a.dv", "--docs", "docs", "-o", "link"], "docs"),
        (&["schema", "a.csv", "--schema", "s.toml", "-o", "./s.toml"], "s.toml"),
        (&["build", "a.csv", "--schema", "s.toml", "-o", "s.toml"], "s.toml"),
        (&["build", "a.csv", "-o", "./a.csv"], "a.csv"),
        (&["build", "a.csv", "-o", "hard.csv"], "a.csv"),
        (&["merge", "a.dv", "b.dv", "-o", "./b.dv"], "b.dv"),
        (&["export", "a.dv", "--format", "csv", "-o", "a.dv"], "a.dv"),
        (&["export", "a.dv", "--format", "csv", "-o", "./a.dv"], "a.dv"),
        (&["export", "a.dv", "--format", "csv", "-o", "hard.dv"], "a.dv"),
        (&["export", "a.dv", "--format", "csv", "-o", "link.dv"], "a.dv"),
        (&["check", "a.dv", "a.csv", "-o", "a.csv"], "a.csv"),
        (&["count", "?.csv", "a.dv", "--skip-damaged", "-o", "a.csv"], "a.csv"),
        // Standard input.
        (&["lookup", "a.dv", "-", "-o", "ids"], "ids"),
        (&["export", "a.dv", "--docs", "-", "-o", "docs"], "docs"),
    ] {
        let before = sandbox.read(input);
        let stdin = std::fs::File::open(sandbox.path(input)).unwrap();
        let run = Run::new(sandbox.command(command).stdin(stdin).output().unwrap());
        let shown = if command.contains(&"-") { "-" } else { input };
        let message = format!("dv: \"{shown}\" is both an input and the output\n");
        let expected = message + "    hint: name another file with -o\n";
        assert!(run.code == 2 && run.err.starts_with(&expected), "{command:?}: {run:?}");
        assert_eq!(sandbox.read(input), before, "{command:?}");
        assert_eq!(sandbox.read(command[command.len() - 1]), before, "{command:?}");
    }
}

/// Columns, ids, numbers and conditions are no files, whatever files there are.
#[test]
fn text_may_be_the_name_of_the_output() {
    let sandbox = Sandbox::with("a.csv", "id,n\na,1\nb,2\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q", "--id-field", "id"]);
    for (command, name) in [
        (&["facet", "a.dv", "n"][..], "n"),
        (&["stats", "a.dv", "n"], "n"),
        (&["group", "a.dv", "n", "--docs", "1"], "1"),
        (&["get", "a.dv", "1"], "1"),
        (&["count", "a.dv", "--where", "n = 1"], "n = 1"),
        (&["sort", "a.dv", "--by", "n"], "n"),
        (&["export", "a.dv", "--docs", "0..", "--format", "csv"], "0.."),
    ] {
        sandbox.write(name, "older");
        sandbox.ok(&[command, &["-o", name]].concat());
        assert_ne!(sandbox.read(name), b"older", "{command:?}");
    }
    sandbox.write("b", "older");
    sandbox.ok(&["lookup", "-o", "b", "a.dv", "--", "b"]);
    assert_ne!(sandbox.read("b"), b"older");
}

#[test]
fn no_segment_of_a_store_is_replaced_by_its_merge() {
    let sandbox = Sandbox::with("a.csv", "id\na\nb\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "a.csv", "-q"]);
    sandbox.ok(&["rm", "st", "a", "-q"]);
    let run = sandbox.dv(&["merge", "st", "-o", "st/seg-000000.dv"]);
    let expected = "dv: st/seg-000000.dv: expected a file outside of the input \"st\"\n";
    assert!(run.code == 2 && run.err.starts_with(expected), "{run:?}");
    sandbox.ok(&["check", "st"]);
}
