//! `dv sort --after`: pages of documents.

use crate::sandbox::Sandbox;

/// With ties, missing values, and text that CSV quotes.
const ROWS: &str = "\
name,size,price
\"a,1\",5,0.1
b,,2.5
\"say \"\"no\"\"\",5,NaN
\"\",7,
d,5,0.1
e,,-0.5
f,9,2.5
";

/// All pages of two documents, by the options that `dv` prints.
#[track_caller]
fn pages(sandbox: &Sandbox, files: &[&str], by: &str) -> String {
    let (mut all, mut after) = (String::new(), Vec::new());
    for _ in 0..10 {
        let by = format!("--by={by}");
        let args = [&["sort"], files, &[by.as_str(), "-n", "2", "--columns", "name"]].concat();
        let mut args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        args.append(&mut after);
        let run = sandbox.dv(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        all += &run.out;
        let Some(option) = run.err.strip_prefix("note: more documents follow: --after") else {
            assert_eq!(run.err, "");
            return all;
        };
        // A shell takes the quotes away.
        let value = option[1..].strip_suffix('\n').unwrap();
        let value = value.strip_prefix('\'').map_or(value, |value| value.strip_suffix('\'').unwrap());
        after.push(format!("--after={value}"));
    }
    panic!("ten pages of {all}");
}

#[test]
fn pages_make_all_documents_in_order() {
    let sandbox = Sandbox::with("rows.csv", ROWS);
    sandbox.ok(&["build", "rows.csv", "-o", "a.dv", "-q", "--type", "price=f64"]);
    sandbox.write("more.csv", "name,size,price\ng,5,0.1\nh,-3,7\n");
    sandbox.ok(&["build", "more.csv", "-o", "b.dv", "-q", "--type", "price=f64"]);
    for files in [&["a.dv"][..], &["a.dv", "b.dv"]] {
        for by in ["size", "-size", "size:missing-first", "name", "-name", "price", "-price", "price,-size"] {
            let by_all = format!("--by={by}");
            let args = [&["sort"], files, &[by_all.as_str(), "-n", "0", "--columns", "name"]].concat();
            let run = sandbox.dv(&args);
            assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
            assert_eq!(pages(&sandbox, files, by), run.out, "{files:?} by {by}");
        }
    }
}

#[test]
fn values_alone_are_a_position() {
    let sandbox = Sandbox::with("rows.csv", ROWS);
    sandbox.ok(&["build", "rows.csv", "-o", "a.dv", "-q", "--type", "price=f64"]);
    let after = |by: &str, after: &str| {
        let (by, after) = (format!("--by={by}"), format!("--after={after}"));
        sandbox.ok(&["sort", "a.dv", &by, &after, "-n", "1", "--columns", "name"])
    };
    assert_eq!(after("size", "5"), "{\"name\":\"\"}\n");
    assert_eq!(after("size", "5,0"), "{\"name\":\"say \\\"no\\\"\"}\n");
    assert_eq!(after("-size", "6"), "{\"name\":\"a,1\"}\n");
    assert_eq!(after("name", "c"), "{\"name\":\"d\"}\n");
    assert_eq!(after("size:missing-first", ""), "{\"name\":\"a,1\"}\n");
    assert_eq!(after("size,name", "5,\"a,1\""), "{\"name\":\"d\"}\n");
    assert_eq!(after("size", ""), "");
}

#[test]
fn other_positions_are_refused() {
    let sandbox = Sandbox::with("rows.csv", ROWS);
    sandbox.ok(&["build", "rows.csv", "-o", "a.dv", "-q", "--type", "price=f64"]);
    let refused = |by: &str, after: &str| {
        let run = sandbox.dv(&["sort", "a.dv", &format!("--by={by}"), &format!("--after={after}")]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        run.err
    };
    let hint = "    hint: `dv sort` prints the position of its last document if there are more\n";
    let message = refused("size", "x");
    assert!(
        message.starts_with("dv: --after: column \"size\" (i64): ") && message.ends_with(hint),
        "{message}"
    );
    let message = refused("size,name", "5");
    let expected = "dv: --after: expected 2 values, and a document if you like, found 1\n";
    assert_eq!(message, [expected, hint].concat());
    let message = refused("size", "5,b.dv:1");
    assert_eq!(message, ["dv: --after: expected a document of a.dv, found \"b.dv:1\"\n", hint].concat());
}
