//! `dv put --partial`: documents that change some columns of others.

use crate::sandbox::{Run, Sandbox, json};

const ROWS: &str = "\
id,size,price,tags
a,1,1.50,x
b,2,2.50,\"[\"\"x\"\",\"\"y\"\"]\"
c,3,NA,
";

/// A store `st` of three documents.
fn store(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::with("rows.csv", ROWS);
    sandbox.ok(&[&["store", "create", "st", "--id-field", "id"], more].concat());
    sandbox.ok(&["put", "st", "rows.csv", "-q", "--type", "tags=string[]"]);
    sandbox
}

/// Puts a part of documents from a pipe.
fn put(sandbox: &Sandbox, format: &str, rows: &str, more: &[&str]) -> Run {
    let args = [&["put", "st", "-", "--partial", "--input-format", format], more].concat();
    sandbox.dv_with(&args, rows.as_bytes())
}

#[test]
fn columns_that_documents_lack_stay() {
    for batch in ["1", "2", "1000"] {
        let sandbox = store(&[]);
        sandbox.write("part.csv", "id,price,size\nb,NA,20\na,1.125,\n");
        let out = sandbox.ok(&["put", "st", "part.csv", "--partial", "--batch", batch]);
        assert!(out.starts_with("st: 2 documents updated; commit 3 has 3 documents in 1 segment\n"), "{out}");
        let expected = "{\"id\":\"a\",\"size\":1,\"price\":1.125,\"tags\":[\"x\"]}\n\
                        {\"id\":\"b\",\"size\":20,\"price\":2.5,\"tags\":[\"x\",\"y\"]}\n\
                        {\"id\":\"c\",\"size\":3}\n";
        assert_eq!(sandbox.ok(&["cat", "st"]), expected);
        // A new column, null, and several values. The last change of a document wins.
        let rows = "{\"id\":\"c\",\"stars\":5,\"tags\":[\"q\",\"p\"]}\n\
                    {\"id\":\"a\",\"tags\":null,\"size\":7}\n{\"id\":\"c\",\"stars\":4}\n";
        let run = put(&sandbox, "ndjson", rows, &["--json", "--batch", batch]);
        let report = json(&run.out);
        assert_eq!((run.code, &report["updated"], &report["not_found"]), (0, &3.into(), &0.into()));
        assert!(report.get("put").is_none() && report.get("first_not_found").is_none(), "{report}");
        let expected = "{\"id\":\"a\",\"size\":7,\"price\":1.125,\"tags\":[\"x\"]}\n\
                        {\"id\":\"b\",\"size\":20,\"price\":2.5,\"tags\":[\"x\",\"y\"]}\n\
                        {\"id\":\"c\",\"size\":3,\"tags\":[\"p\",\"q\"],\"stars\":4}\n";
        assert_eq!(sandbox.ok(&["cat", "st"]), expected);
        sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
        assert_eq!(sandbox.ok(&["cat", "st"]), expected);
    }
}

#[test]
fn ids_that_are_not_there_are_counted() {
    let sandbox = store(&[]);
    let rows = "id,size\na,5\nnone,6\nb,7\nneither,8\n";
    let run = put(&sandbox, "csv", rows, &[]);
    assert!(run.out.starts_with("st: 2 documents updated, 2 not found; commit 3 "), "{run:?}");
    let expected =
        "dv: document 2 of the input has an id that the store does not have, the first of 2: \"none\"\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
    assert_eq!(sandbox.ok(&["stats", "st", "size", "--json"]).matches("\"sum\": 15").count(), 1);
    let run = put(&sandbox, "csv", rows, &["--json", "--batch", "1"]);
    let report = json(&run.out);
    assert_eq!((run.code, &report["not_found"], &report["first_not_found"]), (1, &2.into(), &2.into()));
    let run = put(&sandbox, "csv", rows, &["-q"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (1, "", ""));
    let run = put(&sandbox, "csv", "id,size\n,5\n", &[]);
    assert!(run.code == 1 && run.err.contains("column \"id\": expected an id, found none"), "{run:?}");
}

#[test]
fn versions_and_durability_are_those_of_a_put() {
    let sandbox = Sandbox::with("users.csv", "id,at,name,town\nann,7,Ann,A\nbob,9,Bob,B\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--version-field", "at"]);
    sandbox.ok(&["put", "st", "users.csv", "-q"]);
    let rows = "id,at,name\nann,8,Anne\nbob,8,Rob\nann,,Annie\ncarl,1,Carl\n";
    let run = put(&sandbox, "csv", rows, &["--durability", "batch", "--batch", "2"]);
    assert!(
        run.code == 1 && run.out.starts_with("st: 2 documents updated, 1 not found, 1 stale; "),
        "{run:?}"
    );
    let expected = "{\"id\":\"ann\",\"at\":8,\"name\":\"Annie\",\"town\":\"A\"}\n{\"id\":\"bob\",\"at\":9,\"name\":\"Bob\",\"town\":\"B\"}\n";
    assert_eq!(sandbox.ok(&["cat", "st"]), expected);
    let more = ["--durability", "batch", "--batch", "2", "--commit-every", "end", "--progress", "json", "-q"];
    assert_eq!(put(&sandbox, "csv", rows, &more).code, 2, "--progress and --quiet");
    let run = put(&sandbox, "csv", rows, &[&more[..8], &["--json"]].concat());
    let lines: Vec<&str> = run.err.lines().collect();
    assert_eq!(lines, ["{\"documents\":2,\"skipped_rows\":0}", "{\"documents\":4,\"skipped_rows\":0}"]);
    // Durable documents stay after an error.
    let run = put(
        &sandbox,
        "csv",
        "id,at\nann,20\nbob,21\nann,x\n",
        &["--durability", "batch", "--batch", "2", "--commit-every", "end"],
    );
    assert!(run.code == 1 && run.err.contains("; 2 documents were applied before\n"), "{run:?}");
    assert_eq!(sandbox.ok(&["count", "st", "--where", "at >= 20"]), "2\n");
}

#[test]
fn what_is_refused_says_what_to_do() {
    let sandbox = store(&["--type", "size=i64,at=i64", "--sort-by", "at"]);
    let run = put(&sandbox, "csv", "id,size,at\na,5,\n", &["-q"]);
    assert_eq!(run.code, 0, "a column without values is not changed: {run:?}");
    let run = put(&sandbox, "csv", "id,at\na,5\n", &[]);
    assert!(
        run.code == 1
            && run.err.contains("column \"at\"")
            && run.err.contains("one by which documents are sorted"),
        "{run:?}"
    );
    let run = put(&sandbox, "csv", "id,size\na,many\n", &[]);
    assert!(
        run.code == 1 && run.err.contains("<stdin>:2:3: column \"size\" (i64): expected an i64"),
        "{run:?}"
    );
    sandbox.ok(&["store", "create", "plain", "--type", "n=i64"]);
    let run = sandbox.dv(&["put", "plain", "rows.csv", "--partial"]);
    let expected = "dv: plain: --partial: expected a store with ids, found one without\n    \
                    hint: `dv set --where` updates documents by a query\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
}

/// Files that are read column by column.
#[cfg(feature = "parquet")]
#[test]
fn columns_change_documents() {
    for format in ["parquet", "arrow"] {
        let sandbox = Sandbox::new();
        let rows: String = (0..100).map(|n| format!("x{n},{n},{}\n", n * 2)).collect();
        sandbox.write("rows.csv", format!("id,n,m\n{rows}"));
        sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
        sandbox.ok(&["put", "st", "rows.csv", "-q"]);
        let part: String =
            (90..110).map(|n| format!("x{n},{},7\n", if n % 2 == 0 { "1000" } else { "" })).collect();
        sandbox.write("part.csv", format!("id,n,new\n{part}"));
        sandbox.ok(&["build", "part.csv", "-o", "part.dv", "-q"]);
        let file = format!("part.{format}");
        sandbox.ok(&["export", "part.dv", "--format", format, "-o", &file]);
        let run =
            sandbox.dv(&["put", "st", &file, "--partial", "--batch", "7", "--durability", "batch", "--json"]);
        let report = json(&run.out);
        let counts =
            ["updated", "not_found", "first_not_found", "stale"].map(|key| report[key].as_u64().unwrap());
        assert_eq!((run.code, counts), (1, [10, 10, 11, 0]), "{run:?}");
        assert_eq!(sandbox.ok(&["count", "st", "--where", "n = 1000 and new = 7"]), "5\n");
        assert_eq!(sandbox.ok(&["count", "st", "--where", "n in 91..1000 and new = 7"]), "5\n");
        assert_eq!(sandbox.ok(&["count", "st", "--where", "m exists"]), "100\n");
    }
}
