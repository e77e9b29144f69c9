//! Answers as CSV, TSV, NDJSON, JSON and Markdown, also in compressed files.

use std::io::Read as _;

use crate::sandbox::{Sandbox, words};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("t.csv", "host,size\na,1\nb,2\na,\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    sandbox
}

fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn an_answer_has_rows_in_each_format() {
    let sandbox = sandbox();
    let facet = |format: &str| sandbox.ok(&["facet", "t.dv", "host", "--format", format]);
    assert_eq!(facet("csv"), "column,value,count\nhost,a,2\nhost,b,1\n");
    assert_eq!(facet("tsv"), "column\tvalue\tcount\nhost\ta\t2\nhost\tb\t1\n");
    let line =
        |value: &str, count: u8| format!("{{\"column\":\"host\",\"value\":\"{value}\",\"count\":{count}}}\n");
    assert_eq!(facet("ndjson"), line("a", 2) + &line("b", 1));
    let json = sandbox.ok(&["facet", "t.dv", "host", "--json"]);
    assert_eq!(facet("json"), json);
    sandbox.ok(&["facet", "t.dv", "host", "--format", "json", "-o", "a.csv"]);
    assert_eq!(sandbox.read("a.csv"), json.as_bytes());
    assert_eq!(
        facet("markdown"),
        "| column | value | count |\n| --- | --- | --- |\n| host | a | 2 |\n| host | b | 1 |\n"
    );
    for (command, expected) in [
        (&["group", "t.dv", "host", "--sum", "size"][..], "host,count,sum.size\na,2,1\nb,1,2\n"),
        (&["group", "t.dv", "size", "--missing", "-n", "1", "--by", "value"], "size,count\n"),
        (&["histogram", "t.dv", "size", "--step", "1"], "from,count\n1,1\n2,1\n"),
        (&["count", "t.dv", "--where", "size > 1"], "file,documents,matching\nt.dv,3,1\n"),
        (&["stats", "t.dv"], "name,kind,type,documents,missing,values,"),
        (&["info", "t.dv"], "name,kind,type,"),
        (&["schema", "t.csv"], "name,type,"),
    ] {
        let csv = sandbox.ok(&[command, &["--format", "csv"]].concat());
        assert!(csv.starts_with(expected), "{command:?}: {csv}");
    }
    sandbox.ok(&["store", "create", "st", "--id-field", "host"]);
    assert!(sandbox.ok(&["commits", "st", "--format", "csv"]).starts_with("commit,epoch,"));
    assert_eq!(sandbox.ok(&["log", "st", "--format", "ndjson"]), "");
    let run = sandbox.dv(&["put", "st", "t.csv", "--format", "csv"]);
    assert!(run.code == 2 && run.err.contains("--format"), "{run:?}");
    let head = sandbox.ok(&["head", "t.dv", "-n", "1", "--format", "markdown"]);
    assert_eq!(head, "| host | size |\n| --- | --- |\n| a | 1 |\n");
}

/// Programs that render Markdown show a value as it is.
#[test]
fn no_value_is_markup() {
    let texts = ["<script>", "*a* _b_ `c` ~d~", "[l](x)", "a|b", "a\nb", "a\\nb", "&lt;", "\u{1b}[2J"];
    let rows: String = texts.iter().map(|text| format!("{}\n", serde_json::json!({ "x_y": text }))).collect();
    let sandbox = Sandbox::with("t.ndjson", rows);
    sandbox.ok(&["build", "t.ndjson", "-o", "t.dv", "-q"]);
    let markdown = sandbox.ok(&["export", "t.dv", "--format", "markdown"]);
    let lines: Vec<&str> = markdown.lines().collect();
    let cells = [
        r"x\_y",
        "---",
        r"\<script>",
        r"\*a\* \_b\_ \`c\` \~d\~",
        r"\[l](x)",
        r"a\|b",
        "a<br>b",
        r"a\\nb",
        r"\&lt;",
        r"\u{1b}\[2J",
    ];
    assert_eq!(lines, cells.map(|cell| format!("| {cell} |")));
}

/// Two metrics of a column have headings of their own, and so has a column with the name of another one.
#[test]
fn headings_are_unique() {
    let sandbox = Sandbox::with("t.csv", "count,x,y,n\na,1,9,10\na,2,8,20\nb,3,7,30\n");
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    let args = ["group", "t.dv", "count", "--metric", "last(n by x), last(n by y), first(n by x)"];
    let group = |format: &str| sandbox.ok(&[&args[..], &["--format", format]].concat());
    let csv = "count,count (2),last.n by x,last.n by y,first.n by x\na,2,20,10,10\nb,1,30,30,30\n";
    assert_eq!(group("csv"), csv);
    assert_eq!(group("tsv"), csv.replace(',', "\t"));
    assert!(
        group("markdown").starts_with("| count | count (2) | last.n by x | last.n by y | first.n by x |\n")
    );
    assert!(
        group("ndjson")
            .starts_with("{\"count\":\"a\",\"count (2)\":2,\"last.n by x\":20,\"last.n by y\":10,")
    );
    assert!(group("table").starts_with("count  count (2)  last.n by x  last.n by y  first.n by x\n"));
    let table = sandbox.ok(&args);
    assert!(
        table.starts_with("count  documents  last of n by x  last of n by y  first of n by x\n"),
        "{table}"
    );
    let request = r#"{"groups": [{"column": "count", "metric": ["last(n by x)", "last(n by y)"]}]}"#;
    let answer: serde_json::Value = serde_json::from_str(&sandbox.ok(&["query", "t.dv", request])).unwrap();
    let metrics = serde_json::json!({ "last": { "n by x": 20, "n by y": 10 } });
    assert_eq!(answer["groups"][0]["groups"][0]["metrics"], metrics);
}

/// As in an export.
#[test]
fn an_empty_string_is_no_missing_value() {
    let sandbox = Sandbox::with("d.csv", "b,n\n,1\n\"\",2\nx,3\n\"NA\",4\n");
    sandbox.ok(&["build", "d.csv", "-o", "d.dv", "-q", "--type", "b=string"]);
    assert_eq!(sandbox.ok(&["export", "d.dv", "--format", "csv"]), "b,n\n,1\n\"\",2\nx,3\n\"NA\",4\n");
    let args = ["group", "d.dv", "b", "--missing", "--by", "value", "--format"];
    let group = |format: &str| sandbox.ok(&[&args[..], &[format]].concat());
    let csv = "b,count\n\"\",1\n\"NA\",1\nx,1\n,1\n";
    assert_eq!(group("csv"), csv);
    assert_eq!(group("tsv"), csv.replace(',', "\t"));
    let rows = "| b | count |\n| --- | --- |\n|  | 1 |\n| NA | 1 |\n| x | 1 |\n| (missing) | 1 |\n";
    assert_eq!(group("markdown"), rows);
    let facet = sandbox.ok(&["facet", "d.dv", "b", "--by", "value", "--format", "csv"]);
    assert_eq!(facet, "column,value,count\nb,\"\",1\nb,\"NA\",1\nb,x,1\n");
}

/// A group with its best documents has a row for each of them.
#[test]
fn the_best_documents_of_groups_are_rows() {
    let sandbox = sandbox();
    let args = ["group", "t.dv", "host", "--docs", "2", "--sort=-size", "--format", "csv", "--columns"];
    let csv = sandbox.ok(&[&args[..], &["size"]].concat());
    assert_eq!(csv, "host,count,documents._doc,documents.size\na,2,0,1\na,2,2,\nb,1,1,2\n");
    let csv = sandbox.ok(&[&args[..], &["host,size", "-n", "1"]].concat());
    assert_eq!(csv, "host,count,documents._doc,documents.host,documents.size\na,2,0,a,1\na,2,2,a,\n");
    let args = ["group", "t.dv", "host", "--docs", "1", "--sort=-size", "-o", "x.ndjson"];
    sandbox.ok(&args);
    let first =
        "{\"host\":\"a\",\"count\":2,\"documents._doc\":0,\"documents.host\":\"a\",\"documents.size\":1}\n";
    assert!(String::from_utf8(sandbox.read("x.ndjson")).unwrap().starts_with(first));
}

/// Values of the best documents that JSON has no numbers for are in their rows, and missing ones are empty.
#[test]
fn rows_of_the_best_documents_keep_nan() {
    let rows = "{\"x\":null,\"h\":\"a\"}\n{\"x\":1.5,\"h\":\"a\"}\n";
    let sandbox = Sandbox::with("t.csv", "h,x\na,NaN\nb,-inf\nc,\nd,1.5\n");
    sandbox.write("n.ndjson", rows);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    sandbox.ok(&["build", "n.ndjson", "-o", "n.dv", "-q"]);
    let group = |file: &str, format: &str| {
        let args = ["--by", "value", "--docs", "2", "--columns", "x", "--format", format];
        sandbox.ok(&[&["group", file, "h"][..], &args].concat())
    };
    let csv = "h,count,documents._doc,documents.x\na,1,0,NaN\nb,1,1,-inf\nc,1,2,\nd,1,3,1.5\n";
    assert_eq!(group("t.dv", "csv"), csv);
    let markdown = group("n.dv", "markdown");
    assert!(markdown.ends_with("| a | 2 | 0 |  |\n| a | 2 | 1 | 1.5 |\n"), "{markdown}");
}

/// No command guesses a format, so that a name such as `x.xlsx` does not get NDJSON.
#[track_caller]
fn is_refused(sandbox: &Sandbox, command: &[&str]) {
    for name in ["y.xlsx", "y.txt.gz"] {
        let run = sandbox.dv(&[command, &["-o", name]].concat());
        let extension = if name == "y.xlsx" { "xlsx" } else { "txt" };
        let expected = format!("dv: {name}: unknown extension \".{extension}\"\n    hint: set --format, ");
        assert!(run.code == 2 && run.err.starts_with(&expected), "{command:?} {run:?}");
        assert!(!sandbox.exists(name), "{command:?}");
    }
}

#[test]
fn documents_go_to_a_file() {
    let sandbox = sandbox();
    sandbox.ok(&words("build t.csv -o ids.dv -q --skip-bad --type size=string --id-field size"));
    for command in [
        &["sort", "t.dv", "--by", "size"][..],
        &["head", "t.dv", "-n", "2"],
        &["head", "t.csv"],
        &["get", "t.dv", "1"],
        &["sample", "t.dv", "-n", "2"],
        &["cat", "t.dv", "t.dv"],
        &["lookup", "ids.dv", "2"],
    ] {
        let printed = |more: &[&str]| sandbox.ok(&[command, more].concat());
        let csv = printed(&["--format", "csv"]);
        assert!(csv.starts_with("host,size\n") && csv.lines().count() > 1, "{command:?} {csv}");
        assert_eq!(printed(&["-o", "x.csv.gz"]), "");
        assert_eq!(unpacked(&sandbox.read("x.csv.gz")), csv, "{command:?}");
        printed(&["-o", "x.txt", "--json"]);
        assert_eq!(sandbox.read("x.txt"), printed(&["--json"]).as_bytes(), "{command:?}");
        printed(&["-o", "x"]);
        assert_eq!(sandbox.read("x"), printed(&["--json"]).as_bytes(), "{command:?}");
        is_refused(&sandbox, command);
        assert_eq!(printed(&["-o", "-", "--format", "csv"]), csv);
    }
    for (command, file) in
        [(["head", "t.csv", "-o", "t.csv"], "t.csv"), (["head", "t.dv", "-o", "t.dv"], "t.dv")]
    {
        let before = sandbox.read(file);
        assert_eq!(sandbox.dv(&command).code, 2);
        assert_eq!(sandbox.read(file), before);
    }
    let run = sandbox.dv(&["sort", "t.dv", "--by", "size", "-o", "x.parquet"]);
    assert!(run.code == 2 && run.err.contains("only `dv export` writes Parquet"), "{run:?}");
    assert!(!sandbox.exists("x.parquet"));
}

/// Before a file or a pipe is opened.
#[test]
fn a_format_that_a_command_does_not_have_is_refused_first() {
    let sandbox = Sandbox::new();
    for command in [
        &["terms", "none.dv", "host"][..],
        &["sort", "none.dv", "--by", "size"],
        &["get", "none.dv", "1"],
        &["lookup", "none.dv", "2"],
        &["head", "none.dv"],
        &["sample", "none.dv"],
        &["cat", "none.dv"],
        &["count", "none.dv"],
        &["schema", "none.csv"],
    ] {
        for (more, expected) in [
            (["-o", "x.xlsx"], "dv: x.xlsx: unknown extension \".xlsx\"\n"),
            (["-o", "x.parquet"], "dv: only `dv export` writes Parquet and Arrow\n"),
            (["--format", "arrow"], "dv: only `dv export` writes Parquet and Arrow\n"),
        ] {
            let run = sandbox.dv(&[command, &more].concat());
            assert!(run.code == 2 && run.err.starts_with(expected), "{command:?} {run:?}");
        }
    }
    assert!(sandbox.names().is_empty());
}

#[test]
fn the_name_of_a_file_gives_its_format_and_compression() {
    let sandbox = sandbox();
    let csv = sandbox.ok(&["facet", "t.dv", "host", "--format", "csv"]);
    assert_eq!(sandbox.ok(&["facet", "t.dv", "host", "-o", "x.csv"]), "");
    assert_eq!(sandbox.read("x.csv"), csv.as_bytes());
    // One is replaced.
    for name in ["x.csv.gz", "x.csv.gz", "x.CSV.GZ"] {
        sandbox.ok(&["facet", "t.dv", "host", "-o", name]);
        assert_eq!(unpacked(&sandbox.read(name)), csv);
    }
    sandbox.ok(&["facet", "t.dv", "host", "-o", "x.txt", "--format", "csv"]);
    assert_eq!(sandbox.read("x.txt"), csv.as_bytes());
    assert_eq!(sandbox.ok(&["facet", "t.dv", "host", "-o", "-", "--format", "csv"]), csv);
    let json = sandbox.ok(&["count", "t.dv", "--json"]);
    for name in ["x", "x.json", "x.JSON"] {
        sandbox.ok(&["count", "t.dv", "-o", name]);
        assert_eq!(sandbox.read(name), json.as_bytes());
    }
    for name in ["z.txt", "z.csv"] {
        sandbox.ok(&["count", "t.dv", "-o", name, "--json"]);
        assert_eq!(sandbox.read(name), json.as_bytes());
    }
    for command in [
        &["count", "t.dv"][..],
        &["facet", "t.dv", "host"],
        &["histogram", "t.dv", "size", "--step", "1"],
        &["group", "t.dv", "host"],
        &["stats", "t.dv"],
        &["info", "t.dv"],
        &["schema", "t.csv"],
    ] {
        is_refused(&sandbox, command);
    }
    sandbox.ok(&["export", "t.dv", "-o", "e.csv.gz"]);
    assert_eq!(unpacked(&sandbox.read("e.csv.gz")), sandbox.ok(&["export", "t.dv", "--format", "csv"]));
    // Files of other formats stay.
    for (name, expected) in [("t.dv", "a text file"), ("y.csv.gz", "a gzip file")] {
        sandbox.write("y.csv.gz", "a\n1\n");
        let before = sandbox.read(name);
        let run = sandbox.dv(&["count", "t.dv", "-o", name]);
        assert!(run.code == 2 && run.err.contains(&format!("expected {expected} to replace")), "{run:?}");
        assert_eq!(sandbox.read(name), before);
    }
    // An error leaves nothing behind.
    assert_eq!(sandbox.dv(&["facet", "t.dv", "hots", "-o", "none.csv"]).code, 1);
    assert!(!sandbox.exists("none.csv"));
}
