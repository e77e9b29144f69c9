//! Hints that can be followed: options and names in them are quoted for the shell, a query and jq.

use serde_json::{Value, from_str, json};

use crate::readme::run;
use crate::sandbox::{Sandbox, packages};

/// Names with blanks, and with signs that a shell, an option or a query reads in another way.
const NAMES: [&str; 18] = [
    "my col", "a=b", "a,b", "-a", "it's", "$HOME", "a`b", "é ü", "a\"b", "a;b", "a&b|c", "#h", "*", "a\\b",
    "[x]", "a:b", "~", "2x",
];

/// The part of an error between two texts.
#[track_caller]
fn between<'e>(err: &'e str, before: &str, after: &str) -> &'e str {
    let (_, rest) = err.split_once(before).unwrap_or_else(|| panic!("{err}"));
    rest.split_once(after).unwrap_or_else(|| panic!("{err}")).0
}

/// Runs a line in a shell, as a user who follows a hint would.
#[track_caller]
fn follow(sandbox: &Sandbox, line: &str) -> String {
    let (printed, well) = run(sandbox, line);
    assert!(well, "{line}\n{printed}");
    printed
}

#[test]
fn options_of_hints_name_any_column() {
    for name in NAMES {
        let sandbox =
            Sandbox::with("x.ndjson", format!("{}\n{}\n", json!({ name: 1 }), json!({ name: "x" })));
        let run = sandbox.dv(&["build", "x.ndjson", "-o", "x.dv"]);
        let option = between(&run.err, "use ", " to keep the text of both");
        follow(&sandbox, &format!("dv build x.ndjson -o x.dv -q {option}"));
        assert_eq!(
            sandbox.ok(&["cat", "x.dv"]),
            format!("{}\n{}\n", json!({ name: "1" }), json!({ name: "x" }))
        );

        sandbox.write("y.ndjson", format!("{}\n", json!({ "n": 1, name: [{ "x": 1 }] })));
        let run = sandbox.dv(&["build", "y.ndjson", "-o", "y.dv"]);
        let option = between(&run.err, "or leave it out: ", "; or skip");
        follow(&sandbox, &format!("dv build y.ndjson -o y.dv -q {option}"));
        assert_eq!(sandbox.ok(&["cat", "y.dv"]), "{\"n\":1}\n");
    }
}

#[test]
fn names_of_hints_are_quoted_for_the_shell_and_for_queries() {
    for name in NAMES {
        let sandbox = Sandbox::with("x.ndjson", format!("{}\n", json!({ name: 7, "another one": 8 })));
        sandbox.ok(&["build", "x.ndjson", "-o", "my x.dv", "-q"]);
        let quoted = format!("`{}`", name.replace('`', "``"));
        let run = sandbox.dv(&["count", "my x.dv", &format!("--where={name} = 7")]);
        // Some names are read as they are.
        let is_quoted =
            [format!("{quoted}\n"), format!("{quoted}?\n")].iter().any(|end| run.err.ends_with(end));
        assert!(run.out == "1\n" || is_quoted, "{name} {run:?}");
        assert_eq!(sandbox.ok(&["count", "my x.dv", "--where", &format!("{quoted} = 7")]), "1\n");
        let run = sandbox.dv(&["stats", "my x.dv", &format!("--columns={name}x")]);
        if name.len() > 2 && !name.contains(',') {
            let close = between(&run.err, "did you mean ", "?\n");
            assert!(
                follow(&sandbox, &format!("dv stats 'my x.dv' --columns={close} --json"))
                    .contains("\"min\": 7")
            );
        }
        let run = sandbox.dv(&["stats", "my x.dv", "no such column"]);
        assert!(follow(&sandbox, between(&run.err, "hint: `", "` lists")).contains("another one"));
    }
}

#[test]
fn no_note_recommends_what_was_given() {
    let sandbox = Sandbox::with("x.ndjson", "{\"t\":\"a\"}\n{\"t\":1}\n");
    let note = "note: column \"t\": its JSON values are of different types, so export prints all of them as strings\n";
    for rows in ["{\"t\":\"a\"}\n{\"t\":1}\n", "{\"t\":1}\n{\"t\":true}\n", "{\"t\":1.50}\n{\"t\":\"x\"}\n"] {
        sandbox.write("x.ndjson", rows);
        for ty in ["t=string", "t=string:sorted", "t=string[]"] {
            let run = sandbox.dv(&["build", "x.ndjson", "-o", "x.dv", "--type", ty]);
            assert_eq!((run.code, run.err.as_str()), (0, note), "{ty} {rows}");
        }
    }
    // A cell of CSV may stand for a missing value, and a JSON value not.
    for (file, rows, has_missing) in [("a.csv", "n\nx\n", true), ("a.ndjson", "{\"n\":\"x\"}\n", false)] {
        sandbox.write(file, rows);
        let run = sandbox.dv(&["build", file, "-o", "x.dv", "--type", "n=i64"]);
        assert!(run.code == 1 && run.err.contains("--skip-bad"), "{run:?}");
        assert_eq!(run.err.contains("--missing"), has_missing, "{run:?}");
    }
}

#[test]
fn what_is_no_store_is_named() {
    let sandbox = Sandbox::with("a.csv", "id,a\n1,1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    let hint = "\n    hint: a store is a folder, which `dv store create` makes\n";
    for [name, found] in
        [["a.dv", "file"], ["a.csv", "file"], ["nothing", ""], ["no/thing", ""], ["empty", "no commit"]]
    {
        for command in [
            &["put", name, "a.csv"][..],
            &["put", name, "a.csv", "--partial"],
            &["rm", name, "1"],
            &["set", name, "1", "a=2"],
            &["commits", name],
            &["log", name],
            &["changes", name],
            &["recover", name, "--to", "1"],
        ] {
            let run = sandbox.dv(command);
            assert!(
                run.code == 3 && run.err.contains(": expected ") && run.err.contains(found),
                "{command:?} {run:?}"
            );
            assert!(run.err.ends_with(hint), "{command:?} {run:?}");
        }
    }
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "empty"]);
}

#[test]
fn finer_times_make_a_column_of_a_store_wider() {
    let sandbox = Sandbox::with("ms.csv", "id,at\na,2024-03-30T23:30:00Z\n");
    sandbox.write("us.csv", "id,at\nb,2024-03-30T23:30:00.123456Z\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "ms.csv", "-q"]);
    let set = sandbox.dv(&["set", "st", "a", "at=2024-03-30T23:30:00.000001Z"]);
    let put = sandbox.dv(&["put", "st", "us.csv"]);
    let command = between(&put.err, "has the column already, `", "` makes it wider");
    assert_eq!(between(&set.err, "hint: `", "` makes the column wider"), command);
    follow(&sandbox, command);
    sandbox.ok(&["put", "st", "us.csv", "-q"]);
    let documents = "{\"id\":\"a\",\"at\":\"2024-03-30T23:30:00Z\"}\n{\"id\":\"b\",\"at\":\"2024-03-30T23:30:00.123456Z\"}\n";
    assert_eq!(sandbox.ok(&["cat", "st"]), documents);
}

#[test]
fn a_file_that_is_no_segment_gets_the_command_that_builds_one() {
    for name in ["log.csv", "my log.csv", "unknown"] {
        for rows in [2, 100] {
            let sandbox = Sandbox::with(name, format!("a,b\n{}", "1,2\n".repeat(rows)));
            let run = sandbox.dv(&["count", name]);
            assert!(run.code == 3 && run.err.starts_with(&format!("dv: {name}: not a segment\n")), "{run:?}");
            follow(&sandbox, between(&run.err, "hint: `", "` makes a segment of CSV"));
            let stem = name.trim_end_matches(".csv");
            assert_eq!(sandbox.ok(&["count", &format!("{stem}.dv")]), format!("{rows}\n"));
        }
    }
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    let run = sandbox.dv(&["count", "p.ndjson.gz"]);
    assert!(run.err.contains("`dv build p.ndjson.gz -o p.dv` makes"), "{run:?}");
    // A file that is called like a segment may be a damaged one.
    let sandbox = Sandbox::with("a.dv", "a,b\n".repeat(100));
    let run = sandbox.dv(&["count", "a.dv"]);
    assert!(
        run.code == 3 && run.err.contains("not a docvalues segment") && !run.err.contains("hint:"),
        "{run:?}"
    );
}

/// One shape of JSON, however many columns there are.
#[test]
fn groups_of_one_column_have_the_shape_of_several() {
    let sandbox = Sandbox::with("a.csv", "a,b\nx,1\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    let ask =
        |columns: &str| -> Value { from_str(&sandbox.ok(&["group", "a.dv", columns, "--json"])).unwrap() };
    let (one, two) = (ask("a"), ask("a,b"));
    assert_eq!((&one["columns"], &one["column"]), (&json!(["a"]), &json!("a")));
    assert_eq!(
        (&one["groups"][0]["values"], &one["groups"][0]["value"]),
        (&json!({ "a": "x" }), &json!("x"))
    );
    assert_eq!((&two["columns"], two.get("column")), (&json!(["a", "b"]), None));
    let group = &two["groups"][0];
    assert_eq!((&group["values"], group.get("value")), (&json!({ "a": "x", "b": 1 }), None));
}
