//! Errors of queries and their options, and requests of `dv query`.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, without_bars, words};

fn sandbox() -> Sandbox {
    let csv = "size,host,price\n5,a,1.5\n1000,b,-0.0\n70,a,\n999999999,c,2.5\n";
    let sandbox = Sandbox::with("t.csv", csv);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    sandbox
}

/// Runs what must end so, with nothing on standard output.
#[track_caller]
fn refused(sandbox: &Sandbox, args: &[&str], code: i32, expected: &str) {
    let run = sandbox.dv(args);
    assert_eq!((run.code, run.out.as_str()), (code, ""), "{run:?}");
    assert!(run.err.contains(expected), "{}", run.err);
}

#[test]
fn a_column_that_there_is_none_of_is_pointed_at() {
    let sandbox = sandbox();
    let query = "host = \"a\" and sise > 1";
    let close = "dv: character 16 of the query: there is no column \"sise\"\n\
        host = \"a\" and sise > 1\n               ^\n    hint: did you mean \"size\"?\n";
    let request = json!({ "where": query }).to_string();
    let commands = "count t.dv;facet t.dv host;histogram t.dv size --step 1e6;group t.dv host;\
        sort t.dv --by size;stats t.dv;export t.dv;query t.dv {}";
    for command in commands.split(';') {
        refused(&sandbox, &[&words(command)[..], &["--where", query]].concat(), 1, close);
    }
    refused(&sandbox, &["query", "t.dv", &request], 1, close);
    let lists = "hint: `dv info t.dv` lists all columns";
    refused(&sandbox, &["count", "t.dv", "--where", "zzzzzz exists"], 1, lists);
    let did_you_mean = "no column \"hots\"\n    hint: did you mean \"host\"?";
    for part in [r#"{"facets": ["hots"]}"#, r#"{"groups": [{"column": "hots"}]}"#] {
        refused(&sandbox, &["query", "t.dv", part], 1, did_you_mean);
    }
}

/// In backticks they are columns like others.
#[test]
fn columns_that_are_called_like_keywords() {
    let sandbox = Sandbox::with("k.csv", "and,not,true\n1,2,3\n1,5,6\n");
    sandbox.ok(&["build", "k.csv", "-o", "k.dv", "-q"]);
    for (query, quoted, count) in
        [("and = 1", "`and` = 1", "2\n"), ("not = 2", "`not` = 2", "1\n"), ("true < 4", "`true` < 4", "1\n")]
    {
        let hint = "write a column of that name in backticks";
        refused(&sandbox, &["count", "k.dv", "--where", query], 2, hint);
        assert_eq!(sandbox.ok(&["count", "k.dv", "--where", quoted]), count);
    }
}

#[test]
fn what_makes_no_sense_is_a_wrong_command_line() {
    let sandbox = sandbox();
    for percentile in ["101", "-1", "nan"] {
        let expected = "expected a percentile from 0 to 100";
        refused(&sandbox, &["stats", "t.dv", "size", "--percentiles", percentile], 2, expected);
    }
    for step in ["0", "-5", "nan", "2.5"] {
        let expected = "expected a whole number of at least 1 as bucket width";
        refused(&sandbox, &["histogram", "t.dv", "size", "--step", step], 2, expected);
    }
    refused(&sandbox, &["histogram", "t.dv", "size", "--step", "1"], 2, "more than 65536 buckets");
    refused(&sandbox, &["histogram", "t.dv", "size"], 2, "<--step <STEP>|--edges <VALUE,…>>");
    // Columns are of documents, which are not in tables.
    let of_none = "required arguments were not provided";
    for (more, said) in
        [(&["--json"][..], of_none), (&[], of_none), (&["--docs", "2"], "expected --json, --format")]
    {
        let args = [&["group", "t.dv", "host", "--columns", "size"][..], more].concat();
        refused(&sandbox, &args, 2, said);
    }
    for command in ["count", "stats"] {
        refused(&sandbox, &[command, "t.dv", "--threads", "0"], 2, "0 is not in 1..=65535");
    }
}

/// What is better than another is asked of documents that are shown, or of groups in the order of their best ones.
#[test]
fn groups_are_sorted_only_where_that_shows() {
    let sandbox = sandbox();
    for by in [&[][..], &["--by", "value"], &["--sum", "size", "--by", "metric"], &["--docs", "0"]] {
        let args = [&["group", "t.dv", "host", "--sort", "size"], by].concat();
        refused(&sandbox, &args, 2, "group by host: --sort needs --docs or --by best");
    }
    let request = r#"{"groups": [{"column": "host", "sort": ["size"]}]}"#;
    refused(&sandbox, &["query", "t.dv", request], 2, "group by host: --sort needs --docs or --by best");
    sandbox.ok(&["group", "t.dv", "host", "--sort", "size", "--docs", "1"]);
    let values = |more: &[&str]| {
        let groups = sandbox.ok(&[&["group", "t.dv", "host", "--by", "best", "--json"], more].concat());
        let groups: Value = serde_json::from_str(&groups).unwrap();
        let groups = groups["groups"].as_array().unwrap().iter();
        groups.map(|group| group["value"].as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!(values(&["--sort=-size"]), "cba");
    // Without an order of its own, the first document of the segment is best.
    assert_eq!(values(&[]), "abc");
    assert_eq!(values(&["--where", "size > 50"]), "bac");
}

/// `-n` and `--limit` are the same option in all commands.
#[test]
fn options_have_the_names_of_other_commands() {
    let sandbox = sandbox();
    let same = |command: &[&str]| {
        let expected = sandbox.ok(&[command, &["--limit", "2"]].concat());
        assert_ne!(expected, sandbox.ok(&[command, &["--limit", "1"]].concat()));
        assert_eq!(sandbox.ok(&[command, &["-n", "2"]].concat()), expected, "{command:?}");
    };
    same(&["facet", "t.dv", "host"]);
    same(&["group", "t.dv", "host"]);
    same(&["sort", "t.dv", "--by", "size"]);
    same(&["export", "t.dv", "--sort=-size"]);
    same(&["head", "t.dv"]);
    same(&["sample", "t.dv"]);
    sandbox.write("terms.csv", "host\na\nb\nc\n");
    sandbox.ok(&["build", "terms.csv", "-o", "terms.dv", "-q", "--type", "host=string:sorted"]);
    same(&["terms", "terms.dv", "host"]);
    refused(&sandbox, &["export", "t.dv", "--docs", "0..2", "-n", "1"], 2, "cannot be used with");
}

/// Of all columns, those that have them show percentiles; of those that are named, all must.
#[test]
fn strings_have_no_percentiles() {
    let sandbox = sandbox();
    sandbox.ok(&["stats", "t.dv", "--percentiles", "50", "--spread"]);
    for (option, expected) in [("--percentiles=50", "no percentiles"), ("--spread", "no variance")] {
        let expected = format!("column \"host\" is binary, which has {expected}");
        refused(&sandbox, &["stats", "t.dv", "size", "host", option], 1, &expected);
    }
}

#[test]
fn a_histogram_of_few_documents_has_their_ranges() {
    let sandbox = sandbox();
    let text = sandbox.ok(&["histogram", "t.dv", "size", "--step", "500", "--where", "size < 1e6"]);
    assert_eq!(
        without_bars(&text),
        "size: 3 documents, 0 without a value\n     0  2\n   500  0\n  1000  1\n"
    );
    // -0 is 0, and is written so.
    let text = sandbox.ok(&["histogram", "t.dv", "price", "--edges", "-1,0,2"]);
    assert_eq!(without_bars(&text), "price: 4 documents, 1 without a value\n  -1  0\n   0  2\n   2  1\n");
    let text = sandbox.ok(&["histogram", "t.dv", "price", "--edges", "0,2", "--json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["ranges"][0].to_string(), r#"{"count":2,"from":0.0}"#);
}

#[test]
fn requests_take_the_options_of_other_commands() {
    let sandbox = sandbox();
    let request =
        r#"{"where": "size < 1e6", "facets": [{"column": "host", "top": 0}], "stats": ["size"], "top": 1}"#;
    let narrowed = sandbox.dv(&["query", "t.dv", request, "--where", "host = \"a\"", "--explain"]);
    assert_eq!(narrowed.code, 0, "{narrowed:?}");
    let answer: Value = serde_json::from_str(&narrowed.out).unwrap();
    assert_eq!((answer["matching"].as_u64(), answer["stats"][0]["sum"].as_u64()), (Some(2), Some(75)));
    assert_eq!(answer["facets"][0]["values"], json!([{"value": "a", "count": 2}]));
    assert!(narrowed.err.contains("\ndocuments found in "), "{narrowed:?}");
    // Without the option nothing changes.
    let answer: Value =
        serde_json::from_str(&sandbox.ok(&["query", "t.dv", request, "--threads", "2"])).unwrap();
    assert_eq!(answer["facets"][0]["values"].as_array().unwrap().len(), 2);
    let wrong = "dv: character 7 of the query: expected a number, text in quotes, `true` or `false`\nsize >\n      ^\n";
    for request in ["{}", r#"{"where": "size >"}"#] {
        refused(&sandbox, &["query", "t.dv", request, "--where", "size >"], 2, wrong);
    }
}

/// The name of a column alone stands for the defaults of the command.
#[test]
fn requests_take_names_of_columns() {
    let sandbox = sandbox();
    let answer =
        |request: &str| -> Value { serde_json::from_str(&sandbox.ok(&["query", "t.dv", request])).unwrap() };
    for what in ["facets", "stats", "groups"] {
        let [name, table] = [json!("host"), json!({ "column": "host" })]
            .map(|asked| answer(&json!({ what: [asked] }).to_string()));
        assert_eq!(name, table, "{what}");
    }
    let group: Value = serde_json::from_str(&sandbox.ok(&["group", "t.dv", "host", "--json"])).unwrap();
    assert_eq!(answer(r#"{"groups": ["host"]}"#)["groups"][0]["groups"], group["groups"]);
    sandbox.write("r.toml", "groups = ['host']\n");
    assert_eq!(answer("r.toml"), answer(r#"{"groups": ["host"]}"#));
}

/// A requested part of the answer is present even if it is empty.
#[test]
fn no_top_documents_are_an_empty_list() {
    let sandbox = sandbox();
    let top = |request: &str| {
        let answer: Value = serde_json::from_str(&sandbox.ok(&["query", "t.dv", request])).unwrap();
        answer.get("top").cloned()
    };
    for request in [
        r#"{"where": "false", "sort": ["-size"], "top": 3}"#,
        r#"{"where": "false", "columns": ["size"]}"#,
        r#"{"sort": ["-size"], "top": 0}"#,
        r#"{"top": 0}"#,
    ] {
        assert_eq!(top(request), Some(json!([])), "{request}");
    }
    assert_eq!(top(r#"{"facets": ["host"]}"#), None);
    assert_eq!(top(r#"{"top": 1, "columns": ["size"]}"#), Some(json!([{"_doc": 0, "size": 5}])));
}

#[test]
fn a_wrong_key_of_a_request_is_named() {
    let sandbox = sandbox();
    for (request, expected) in [
        (
            r#"{"facets": [{"column": "host", "tpo": 3}]}"#,
            "unknown field `tpo`, expected one of `column`, `top`",
        ),
        (r#"{"facets": [{"column": "host", "top": -3}]}"#, "invalid value: integer `-3`, expected usize"),
        (r#"{"facets": [{"top": 3}]}"#, "missing field `column`"),
        (r#"{"facets": [7]}"#, "expected the name of a column, or a table with `column` and more"),
        (r#"{"facets": "host"}"#, "invalid type: string \"host\", expected a sequence"),
        (
            r#"{"stats": [{"column": "size", "percentiles": 5}]}"#,
            "invalid type: integer `5`, expected a sequence",
        ),
        (r#"{"histograms": [{"column": "size", "step": [5]}]}"#, "expected a number or text"),
        (r#"{"facet": []}"#, "unknown field `facet`"),
        (r#"{"groups": [7]}"#, "expected the name of a column, or a table with `column` and more"),
        (
            r#"{"groups": [{"column": "host", "tpo": 3}]}"#,
            "unknown field `tpo`, expected one of `column`, `top`",
        ),
        (r#"{"histograms": ["size"]}"#, "expected a table with `column`, and `step` or `edges`"),
        ("{", "EOF while parsing"),
    ] {
        refused(&sandbox, &["query", "t.dv", request], 2, expected);
    }
    sandbox.write("r.toml", "[[facets]]\ncolumn = 'host'\ntpo = 3\n");
    refused(&sandbox, &["query", "t.dv", "r.toml"], 2, "unknown field `tpo`");
}

/// The same in every command that takes a condition.
#[test]
fn a_backslash_in_text_stands_for_itself() {
    let sandbox = Sandbox::with("p.csv", "path,say\n\"C:\\temp\\new\",\"a \"\"b\"\"\"\n");
    sandbox.ok(&["build", "p.csv", "-o", "p.dv", "-q"]);
    for condition in [
        r#"path = "C:\temp\new""#,
        r"path = 'C:\temp\new'",
        r#"path ^= "C:\t""#,
        r#"path $= "\new" and path *= "\""#,
        r#"path ~ "\\new$""#,
        r#"say = "a ""b""" and say = 'a "b"'"#,
    ] {
        assert_eq!(sandbox.ok(&["count", "p.dv", "--where", condition]), "1\n", "{condition}");
        let request = json!({ "where": condition }).to_string();
        let answer: Value = serde_json::from_str(&sandbox.ok(&["query", "p.dv", &request])).unwrap();
        assert_eq!(answer["matching"], 1, "{condition}");
    }
    let run = sandbox.dv(&["count", "p.dv", "--where", r#"say = "a \"b\"""#]);
    assert!(run.code == 2 && run.err.contains(r#"expected `""` for a quote in text, found `\"`"#), "{run:?}");
}
