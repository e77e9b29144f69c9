//! Standard input and output, and readers that close a pipe.

use std::io::Read as _;
use std::process::Stdio;

use crate::sandbox::{Run, Sandbox, packages};

#[test]
fn standard_input_is_read_whatever_it_is() {
    let sandbox = Sandbox::new();
    for (input, more) in [
        (&b"a,b\n1,x\n"[..], &[][..]),
        (b"a\tb\n1\tx\n", &[]),
        (b"{\"a\":1,\"b\":\"x\"}\n", &[]),
        (b"a;b\n1;x\n", &["--input-format", "csv", "--delimiter", ";"]),
    ] {
        let run = sandbox.dv_with(&[&["build", "-", "-o", "a.dv"], more].concat(), input);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(sandbox.ok(&["export", "a.dv"]), "{\"a\":1,\"b\":\"x\"}\n");
    }
}

#[test]
fn the_same_rows_give_the_same_segment_by_file_and_by_pipe() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "file.dv", "-q"]);
    for more in [&[][..], &["--sample", "all"], &["--sample", "100"]] {
        let args = [&["build", "-", "-o", "pipe.dv", "-q"], more].concat();
        let run = sandbox.dv_with(&args, &packages());
        assert_eq!((run.code, run.err.as_str()), (0, ""));
        assert_eq!(sandbox.read("pipe.dv"), sandbox.read("file.dv"), "{more:?}");
    }
}

#[test]
fn document_numbers_come_from_standard_input() {
    let sandbox = Sandbox::with("a.csv", "a\n10\n11\n12\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv"]);
    let args = ["export", "a.dv", "--docs", "-", "--format", "csv"];
    let run = sandbox.dv_with(&args, b"2\n0, 0\n");
    assert_eq!((run.code, run.out.as_str()), (0, "a\n12\n10\n10\n"));
    let run = sandbox.dv_with(&args, b"0\nx\n");
    assert_eq!((run.code, run.err.as_str()), (1, "dv: <stdin>:2: expected a document number, found \"x\"\n"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "--id-field", "id"]);
    for args in [
        &["export", "p.dv"][..],
        &["export", "p.dv", "--format", "csv"],
        &["head", "p.dv", "-n", "3000"],
        &["cat", "p.dv", "p.dv"],
        &["sample", "p.dv", "-n", "3000"],
        &["terms", "p.dv", "depends"],
        &["terms", "p.dv", "--id"],
        &["build", "p.ndjson.gz", "-o", "-"],
        &["merge", "p.dv", "p.dv", "-o", "-", "--no-ids"],
    ] {
        let mut child = sandbox.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Dropped after a few bytes: the pipe is closed while the program writes.
        child.stdout.take().unwrap().read_exact(&mut [0; 16]).unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// Whoever did not read the report does not learn from the exit code that all is well.
#[test]
fn a_report_without_a_reader_is_no_good_news() {
    let sandbox = Sandbox::with("a.csv", "a\n1\n");
    sandbox.write("b.csv", "a\n2\n");
    for name in ["a", "b"] {
        sandbox.ok(&["build", &format!("{name}.csv"), "-o", &format!("{name}.dv"), "-q"]);
    }
    for (args, code) in
        [(["diff", "a.dv", "b.dv"], 1), (["check", "a.dv", "a.csv"], 3), (["stats", "a.dv", "a"], 0)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = Run::new(sandbox.command(&args).stdout(writer).output().unwrap());
        assert_eq!((run.code, run.err.as_str()), (code, ""), "{args:?}");
    }
}

/// The commands whose output has a name.
const WITH_OUTPUT: &[&str] = &[
    "build",
    "schema",
    "merge",
    #[cfg(feature = "lucene")]
    "import",
    "info",
    "stats",
    "terms",
    "count",
    "facet",
    "histogram",
    "group",
    "sort",
    "sql",
    "report",
    "get",
    "lookup",
    "head",
    "sample",
    "cat",
    "export",
    "diff",
    "check",
    "commits",
    "log",
    "man",
];

#[test]
fn a_dash_as_the_output_is_standard_output() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    let help = sandbox.ok(&["--help"]);
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands =
        commands.map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help");
    let with_output: Vec<&str> =
        commands.filter(|name| sandbox.ok(&[name, "--help"]).contains("-o, --output")).collect();
    assert_eq!(with_output, WITH_OUTPUT);

    for (file, command) in [
        ("p.dv", &["build", "p.ndjson.gz", "--id-field", "id"][..]),
        ("sorted.dv", &["build", "p.ndjson.gz", "--sort-by", "section", "--memory", "1MiB"]),
        ("two.dv", &["merge", "p.dv", "sorted.dv", "--no-ids"]),
        ("p.csv", &["export", "p.dv", "--format", "csv"]),
    ] {
        sandbox.ok(&[command, &["-o", file]].concat());
        let run = sandbox.command(&[command, &["-o", "-"]].concat()).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        assert!(run.stdout == sandbox.read(file), "{command:?}");
        let quiet = command[0] == "export";
        assert_eq!(String::from_utf8(run.stderr).unwrap().starts_with("<stdout>: "), !quiet, "{command:?}");
    }
    let run = sandbox.dv(&["build", "p.ndjson.gz", "-o", "-", "--json"]);
    let expected = "dv: --json: the segment goes to standard output\n    hint: name a file with -o\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (2, "", expected));
    assert_eq!(sandbox.names(), ["p.csv", "p.dv", "p.ndjson.gz", "sorted.dv", "two.dv"]);
}
