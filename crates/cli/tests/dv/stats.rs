//! `dv stats`: numbers computed by hand, and again from the documents.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, packages};

/// The columns of `dv stats --json`.
fn stats(sandbox: &Sandbox, more: &[&str]) -> Vec<Value> {
    let report = sandbox.ok(&[&["stats", "a.dv", "--json"], more].concat());
    let report: Value = serde_json::from_str(&report).unwrap();
    report["columns"].as_array().unwrap().clone()
}

/// Builds from NDJSON and compares what is known of the values of the one column.
#[track_caller]
fn check(rows: &str, ty: &str, expected: &Value) {
    let sandbox = Sandbox::with("a.ndjson", rows);
    sandbox.ok(&["build", "a.ndjson", "-o", "a.dv", "--type", ty, "-q"]);
    let mut column = stats(&sandbox, &[])[0].clone();
    for key in ["name", "kind", "type", "bytes"] {
        column.as_object_mut().unwrap().remove(key).unwrap();
    }
    assert_eq!(&column, expected, "{rows}");
}

#[test]
fn every_type_has_its_facts() {
    check(
        "{\"a\":-3}\n{\"a\":10}\n{}\n{\"a\":0}\n",
        "a=i64",
        &json!({
            "documents": 3, "missing": 1, "values": 3,
            "min": -3, "max": 10, "sum": 7, "mean": 2.3333333333333335,
        }),
    );
    check(
        "{\"a\":18446744073709551615}\n{\"a\":18446744073709551613}\n",
        "a=u64",
        &json!({
            "documents": 2, "missing": 0, "values": 2, "distinct": 2,
            "min": "18446744073709551613", "max": "18446744073709551615",
            "sum": "36893488147419103228", "mean": 1.8446744073709552e19,
        }),
    );
    check(
        "{\"a\":true}\n{\"a\":false}\n{\"a\":true}\n{\"a\":true}\n",
        "a=bool",
        &json!({
            "documents": 4, "missing": 0, "values": 4,
            "min": false, "max": true, "sum": 3, "mean": 0.75,
        }),
    );
    check(
        "{\"a\":\"2013-01-01\"}\n{\"a\":\"2013-01-03\"}\n",
        "a=date",
        &json!({
            "documents": 2, "missing": 0, "values": 2, "distinct": 2,
            "min": "2013-01-01", "max": "2013-01-03", "mean": "2013-01-02",
        }),
    );
    check(
        "{\"a\":\"10.0.0.2\"}\n{\"a\":\"10.0.0.10\"}\n",
        "a=ip:binary",
        &json!({
            "documents": 2, "missing": 0, "values": 2, "min": "10.0.0.2", "max": "10.0.0.10",
        }),
    );
    check(
        "{\"a\":\"b\"}\n{\"a\":\"\"}\n{\"a\":\"b\"}\n",
        "a=string:sorted",
        &json!({
            "documents": 3, "missing": 0, "values": 3, "distinct": 2, "min": "", "max": "b",
        }),
    );
    check(
        "{\"a\":[\"b\",\"c\"]}\n{\"a\":[\"a\",\"b\"]}\n{}\n",
        "a=string[]",
        &json!({
            "documents": 2, "missing": 1, "values": 4, "distinct": 3, "min": "a", "max": "c",
        }),
    );
    check(
        "{\"a\":[1,2]}\n{\"a\":[2]}\n",
        "a=i64[]",
        &json!({
            "documents": 2, "missing": 0, "values": 3,
            "min": 1, "max": 2, "sum": 5, "mean": 1.6666666666666667,
        }),
    );
}

#[test]
fn sums_of_floats_lose_nothing_they_need_not() {
    let float = |values: &[&str]| {
        let sandbox = Sandbox::with("a.csv", format!("a\n{}\n", values.join("\n")));
        sandbox.ok(&["build", "a.csv", "-o", "a.dv", "--type", "a=f64", "-q"]);
        let column = &stats(&sandbox, &[])[0];
        json!([column["sum"], column["mean"]])
    };
    assert_eq!(float(&["0.1"; 10]), json!([1.0, 0.1]));
    assert_eq!(float(&["1e100", "1", "-1e100"]), json!([1.0, 0.3333333333333333]));
    assert_eq!(float(&["inf", "1"]), json!(["inf", "inf"]));
    assert_eq!(float(&["inf", "-inf"]), json!(["NaN", "NaN"]));
    // What is no number is in no sum.
    assert_eq!(float(&["NaN", "1", "2"]), json!([3.0, 1.5]));
}

#[test]
fn stats_agree_with_the_documents() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "a.dv", "-q"]);
    let exported = sandbox.ok(&["export", "a.dv"]);
    let documents: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let columns = stats(&sandbox, &[]);
    assert_eq!(columns.len(), 17);
    for column in &columns {
        let values = documents.iter().filter_map(|document| document.get(column["name"].as_str().unwrap()));
        assert_eq!(column["documents"], values.clone().count());
        assert_eq!(column["missing"], 3525 - values.clone().count());
        let each = values.clone().flat_map(|value| value.as_array().cloned().unwrap_or(vec![value.clone()]));
        let each: Vec<Value> = each.collect();
        assert_eq!(column["values"], each.len());
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if column["type"] == "i64" {
            let numbers: Vec<i64> = each.iter().map(|value| value.as_i64().unwrap()).collect();
            assert_eq!(column["min"].as_i64(), numbers.iter().copied().min());
            assert_eq!(column["max"].as_i64(), numbers.iter().copied().max());
            assert_eq!(column["sum"].as_i64(), Some(numbers.iter().sum::<i64>()));
        } else {
            let mut texts: Vec<String> = each.iter().map(text).collect();
            texts.sort();
            assert_eq!(text(&column["min"]), texts[0]);
            assert_eq!(text(&column["max"]), *texts.last().unwrap());
        }
    }
}

#[test]
fn columns_are_shown_in_the_order_asked_for() {
    let sandbox = Sandbox::with("a.csv", "x,y,z\n1,2,3\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    let names: Vec<Value> =
        stats(&sandbox, &["z", "x"]).iter().map(|column| column["name"].clone()).collect();
    assert_eq!(names, ["z", "x"]);
    let run = sandbox.dv(&["stats", "a.dv", "xx"]);
    let expected = "dv: a.dv: no column \"xx\"\n    hint: did you mean \"x\"?\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
    let run = sandbox.dv(&["stats", "a.dv", "x", "x"]);
    assert_eq!((run.code, run.err.as_str()), (2, "dv: column \"x\" is named twice\n"));
}

#[test]
fn a_narrow_terminal_gets_two_tables() {
    let sandbox = Sandbox::with("a.csv", "x,y\n1,a\n2,b\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    let path = sandbox.path("a.dv");
    let on_terminal = |width| {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = docvalues_cli::Console::plain(&mut out, &mut err);
        console.out_width = Some(width);
        let args = ["dv".into(), "stats".into(), path.clone().into_os_string()];
        assert_eq!(docvalues_cli::run(args, &mut console), docvalues_cli::Exit::Ok);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(on_terminal(200), sandbox.ok(&["stats", "a.dv"]));
    let expected = "\
column  kind     type    with value  missing  values  distinct  bytes
─────────────────────────────────────────────────────────────────────
x       numeric  i64              2        0       2         2    128
y       binary   string           2        0       2              128

column  min  max  sum  mean
───────────────────────────
x       1    2      3   1.5
y       a    b
";
    assert_eq!(on_terminal(80), expected);
}

/// A bound that is NaN is no bound, and `dv stats` has the range of the numbers.
#[test]
fn info_shows_no_bound_that_is_nan() {
    let sandbox = Sandbox::with("n.csv", "id,x\na,0.5\nb,NaN\nc,1.5\n");
    sandbox.ok(&["build", "n.csv", "-o", "n.dv", "-q"]);
    sandbox.ok(&["store", "create", "st", "--type", "id=string,x=f64", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "n.csv", "-q"]);
    for file in ["n.dv", "st"] {
        let table = sandbox.ok(&["info", file]);
        let line = table.lines().find(|line| line.starts_with("x ")).unwrap();
        assert!(line.contains("0.5") && !line.contains("NaN"), "{table}");
        let info: Value = serde_json::from_str(&sandbox.ok(&["info", file, "--json"])).unwrap();
        let columns = info["columns"].as_array().unwrap();
        let column = columns.iter().find(|column| column["name"] == "x").unwrap();
        assert_eq!((&column["min"], &column["max"]), (&json!(0.5), &Value::Null), "{info}");
        let stats: Value = serde_json::from_str(&sandbox.ok(&["stats", file, "x", "--json"])).unwrap();
        assert_eq!(stats["columns"][0]["max"], json!(1.5), "{stats}");
    }
}
