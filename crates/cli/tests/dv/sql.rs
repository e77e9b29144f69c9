//! `dv sql`: its tables, its output, and what it refuses.

use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::{Run, Sandbox, packages};

const HITS: &str = "\
host,size,ratio,tags,at,ip
a.example,512,0.5,\"[\"\"x\"\",\"\"y\"\"]\",2013-01-01T06:00:00.5Z,10.0.0.1
b.example,9007199254740993,NaN,,2013-01-02T06:00:00Z,::1
a.example,,inf,\"[\"\"z\"\"]\",,
";

const HOSTS: &str = "name,owner\na.example,\"Ann, A.\"\nb.example,Bob\n";

/// Segments `hits.dv` and `hosts.dv`.
fn hits() -> Sandbox {
    let sandbox = Sandbox::with("hits.csv", HITS);
    sandbox.write("hosts.csv", HOSTS);
    let types = ["--type", "tags=string[]", "--type", "ratio=f64", "--type", "ip=ip"];
    sandbox.ok(&[&["build", "hits.csv", "-o", "hits.dv", "-q"][..], &types].concat());
    sandbox.ok(&["build", "hosts.csv", "-o", "hosts.dv", "-q"]);
    sandbox
}

/// Builds a segment of rows of CSV.
#[track_caller]
fn build(sandbox: &Sandbox, name: &str, rows: &str) {
    let run = sandbox.dv_with(&["build", "-", "--input-format", "csv", "-o", name, "-q"], rows.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
}

#[track_caller]
pub(crate) fn failed(run: &Run, code: i32, message: &str) {
    assert_eq!((run.code, run.out.as_str()), (code, ""), "{run:?}");
    assert!(run.err.starts_with(message), "{}", run.err);
}

#[test]
fn an_answer_goes_to_a_file() {
    let sandbox = hits();
    let query = ["sql", "select name, owner from hosts order by name", "hosts.csv"];
    let sql = |more: &[&str]| sandbox.dv(&[&query[..], more].concat());
    assert_eq!(sql(&["-o", "x.csv"]).out, "");
    assert_eq!(sandbox.read("x.csv"), HOSTS.as_bytes());
    sql(&["-o", "x.txt", "--json"]);
    assert_eq!(sandbox.read("x.txt"), sql(&["--json"]).out.as_bytes());
    failed(&sql(&["-o", "hosts.csv"]), 2, "dv: \"hosts.csv\" is both an input and the output\n");
    failed(&sql(&["-o", "x.xlsx"]), 2, "dv: x.xlsx: unknown extension \".xlsx\"\n");
    failed(&sql(&["-o", "x.parquet"]), 2, "dv: only `dv export` writes Parquet");
    assert_eq!(sandbox.read("hosts.csv"), HOSTS.as_bytes());
}

#[test]
fn rows_are_found_by_the_numbers_of_documents() {
    let sandbox = hits();
    let query = "select _part, _doc, host from hits where _doc in (0, 1) order by _doc desc";
    assert_eq!(
        sandbox.ok(&["sql", query, "hits.dv", "--format", "csv"]),
        "_part,_doc,host\n0,1,b.example\n0,0,a.example\n"
    );
    let all = sandbox.ok(&["sql", "select * from hosts", "hosts.dv"]);
    assert!(!all.contains("_doc"), "{all}");
    // Only where the query names a column.
    for query in ["select * from hosts where name like '%_doc%'", "select 1 as spare_part from hosts"] {
        let found = sandbox.ok(&["sql", query, "hosts.dv", "--format", "csv"]);
        assert!(!found.contains("_part,") && !found.contains(",_doc"), "{found}");
    }
    build(&sandbox, "named.dv", "_doc\n7\n");
    let found = sandbox.ok(&[
        "sql",
        "select named._DOC, size from named, hits where hits._doc = 0",
        "named.dv",
        "hits.dv",
    ]);
    assert_eq!(found, "{\"_doc\":7,\"size\":512}\n");
    let found = sandbox.ok(&["sql", "select named._doc from named", "named.dv"]);
    assert_eq!(found, "{\"_doc\":7}\n");
}

#[test]
fn addresses_are_compared_by_a_function() {
    let sandbox = hits();
    let query = "select host, ip from hits where ip >= to_ip('10.0.0.1') and ip < to_ip('10.0.0.9')";
    assert_eq!(sandbox.ok(&["sql", query, "hits.dv"]), "{\"host\":\"a.example\",\"ip\":\"10.0.0.1\"}\n");
    let plan = sandbox.ok(&["sql", &format!("explain {query}"), "hits.dv"]);
    assert!(!plan.contains("FilterExec"), "{plan}");
    let run = sandbox.dv(&["sql", "select host from hits where ip = to_ip('10.0.0')", "hits.dv"]);
    assert!(run.code != 0 && run.err.contains("to_ip: expected an IP address, found \"10.0.0\""), "{run:?}");
}

#[test]
fn single_precision_prints_as_short_as_it_is() {
    let query = "select 0.1::real as a, (-1e30)::real as b, 'NaN'::real as c from hits limit 1";
    assert_eq!(hits().ok(&["sql", query, "hits.dv"]), "{\"a\":0.1,\"b\":-1e30,\"c\":null}\n");
}

#[test]
fn values_that_cannot_be_printed_are_errors() {
    let run = hits().dv(&["sql", "select to_timestamp_seconds(1700000000000000) from hits", "hits.dv"]);
    failed(&run, 1, "dv: cannot print the answer: ");
}

/// Groups are printed as slices of one batch.
#[test]
fn lists_of_slices_are_whole() {
    let sandbox = Sandbox::new();
    let rows: String = (0..20_000).map(|number| format!("{},{number}\n", number / 2)).collect();
    build(&sandbox, "t.dv", &format!("a,b\n{rows}"));
    let query = "select a, array_agg(b order by b) as all, array_agg(struct(b) order by b) as s, \
                 first_value(map(['k', 'l'], [b, a]) order by b) as m from t group by a order by a";
    let found = sandbox.ok(&["sql", query, "t.dv"]);
    for (number, line) in found.lines().enumerate() {
        let (b, c) = (number * 2, number * 2 + 1);
        let structs = format!("[{{\"c0\":{b}}},{{\"c0\":{c}}}]");
        let map = format!("{{\"k\":{b},\"l\":{number}}}");
        assert_eq!(line, format!("{{\"a\":{number},\"all\":[{b},{c}],\"s\":{structs},\"m\":{map}}}"));
    }
    assert_eq!(found.lines().count(), 10_000);
}

#[test]
fn values_print_as_in_export() {
    let sandbox = hits();
    let columns = "host,size,ratio,tags,at,ip";
    let query = format!("select {columns} from hits");
    assert_eq!(sandbox.ok(&["sql", &query, "hits.dv"]), "\
{\"host\":\"a.example\",\"size\":512,\"ratio\":0.5,\"tags\":[\"x\",\"y\"],\"at\":\"2013-01-01T06:00:00.5Z\",\"ip\":\"10.0.0.1\"}
{\"host\":\"b.example\",\"size\":9007199254740993,\"ratio\":null,\"at\":\"2013-01-02T06:00:00Z\",\"ip\":\"::1\"}
{\"host\":\"a.example\",\"ratio\":null,\"tags\":[\"z\"]}
");
    assert_eq!(
        sandbox.ok(&["sql", &query, "hits.dv", "--format", "csv"]),
        "\
host,size,ratio,tags,at,ip
a.example,512,0.5,\"[\"\"x\"\",\"\"y\"\"]\",2013-01-01T06:00:00.5Z,10.0.0.1
b.example,9007199254740993,NaN,,2013-01-02T06:00:00Z,::1
a.example,,inf,\"[\"\"z\"\"]\",,
"
    );
    let table = sandbox.ok(&["sql", &query, "hits.dv", "--format", "table"]);
    assert_eq!(
        table,
        "\
host                   size  ratio  tags  at                      ip
──────────────────────────────────────────────────────────────────────────
a.example               512    0.5  x, y  2013-01-01T06:00:00.5Z  10.0.0.1
b.example  9007199254740993    NaN        2013-01-02T06:00:00Z    ::1
a.example                      inf  z
"
    );
}

#[test]
fn types_that_docvalues_does_not_have_print_too() {
    let query = "select null as n, 1.50::decimal(5, 2) as d, interval '1 day' as i, 'NA' as s, '' as e, \
                 [1, null] as l, timestamp '2020-01-02T03:04:05' as t, 255::tinyint unsigned as b";
    let sandbox = hits();
    let json = r#"{"d":1.50,"i":"1 days","s":"NA","e":"","l":[1,null],"t":"2020-01-02T03:04:05","b":255}"#;
    assert_eq!(sandbox.ok(&["sql", query, "hits.dv", "--json"]), format!("{json}\n"));
    let tsv = "n\td\ti\ts\te\tl\tt\tb\n\t1.50\t1 days\t\"NA\"\t\"\"\t[1,null]\t2020-01-02T03:04:05\t255\n";
    assert_eq!(sandbox.ok(&["sql", query, "hits.dv", "--format", "tsv"]), tsv);
}

#[test]
fn structs_and_maps_are_objects() {
    let query = "select named_struct('h', host, 'all', tags, 'at', at, 'in', struct(size)) as s, \
                 map([host, 'a\"b'], [size, 1]) as m, map([1.5], [tags]) as k, \
                 make_array(named_struct('x', ratio), null) as l, [[1, null], []] as ll, \
                 case when size > 0 then struct(1) end as o from hits limit 2 offset 1";
    let sandbox = hits();
    let args = ["sql", query, "hits.dv", "--threads", "1"];
    let json = sandbox.ok(&[&args[..], &["--json"]].concat());
    let lines = [
        "{\"s\":{\"h\":\"b.example\",\"at\":\"2013-01-02T06:00:00Z\",\"in\":{\"c0\":9007199254740993}},\
         \"m\":{\"b.example\":9007199254740993,\"a\\\"b\":1},\"k\":{\"1.5\":null},\
         \"l\":[{\"x\":null},null],\"ll\":[[1,null],[]],\"o\":{\"c0\":1}}\n",
        "{\"s\":{\"h\":\"a.example\",\"all\":[\"z\"],\"in\":{}},\"m\":{\"a.example\":null,\"a\\\"b\":1},\
         \"k\":{\"1.5\":[\"z\"]},\"l\":[{\"x\":null},null],\"ll\":[[1,null],[]]}\n",
    ];
    assert_eq!(json, lines.concat());
    for line in json.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row["m"]["a\"b"], 1);
    }
    let query = "select struct(1) as s, [struct('a'), null] as l, [[1], [2]] as ll, map([[1]], ['x']) as m";
    let args = ["sql", query, "hits.dv", "--format"];
    let table = sandbox.ok(&[&args[..], &["table"]].concat());
    assert_eq!(table.lines().last(), Some("{\"c0\":1}  {\"c0\":\"a\"}, null  [1], [2]  {\"1\":\"x\"}"));
    let tsv = sandbox.ok(&[&args[..], &["tsv"]].concat());
    let cells = [r#""{""c0"":1}""#, r#""[{""c0"":""a""},null]""#, "[[1],[2]]", r#""{""1"":""x""}""#];
    assert_eq!(tsv, format!("s\tl\tll\tm\n{}\n", cells.join("\t")));
}

#[test]
fn a_table_is_a_file_a_pattern_or_a_folder() {
    let sandbox = hits();
    std::fs::create_dir(sandbox.path("Web Logs")).unwrap();
    build(&sandbox, "Web Logs/a-1.dv", "n\n1\n2\n");
    build(&sandbox, "Web Logs/a-2.dv", "n,m\n3,x\n");
    build(&sandbox, "Web Logs/b.dv", "n\n2.5\n");
    let sum = |table: &str, path: &str| {
        sandbox.ok(&["sql", &format!("select sum(n) s, count(m) m from {table}"), path, "--format", "csv"])
    };
    assert_eq!(sum("web_logs", "Web Logs"), "s,m\n8.5,1\n");
    assert_eq!(sum("web_logs", "Web Logs/*.dv"), "s,m\n8.5,1\n");
    assert_eq!(sum("a", "Web Logs/a-*.dv"), "s,m\n6,1\n");
    assert_eq!(sum("t", "T=Web Logs/"), "s,m\n8.5,1\n");
    let run = sandbox.dv(&["sql", "select 1", "no-*.dv"]);
    failed(&run, 3, "dv: no-*.dv: no file matches this pattern\n");
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    failed(&sandbox.dv(&["sql", "select 1", "empty"]), 3, "dv: empty: ");
}

#[test]
fn segments_of_a_table_agree() {
    let sandbox = hits();
    build(&sandbox, "t-1.dv", "n\n1\n");
    build(&sandbox, "t-2.dv", "n\nx\n");
    let run = sandbox.dv(&["sql", "select 1", "t-*.dv"]);
    failed(&run, 1, "dv: column \"n\": numeric of type i64 in t-1.dv, ");
    assert!(run.err.contains("    hint: build the files with the same"), "{}", run.err);
}

#[test]
fn a_store_has_its_deletes_and_updates() {
    let sandbox = hits();
    sandbox.write("rows.csv", "id,size,section\na,1,x\nb,2,y\nc,3,z\nd,4,x\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "rows.csv", "-q"]);
    sandbox.ok(&["rm", "st", "a"]);
    sandbox.ok(&["set", "st", "b", "size=20"]);
    let query = "select count(*) n, sum(size) s, min(size) a, max(size) z from st";
    assert_eq!(sandbox.ok(&["sql", query, "st/", "--json"]), "{\"n\":3,\"s\":27,\"a\":3,\"z\":20}\n");
    let query = "select id, section from st where size > 3 order by id";
    assert_eq!(sandbox.ok(&["sql", query, "st/", "--format", "csv"]), "id,section\nb,y\nd,x\n");
    let query = "select sum(size) s from st";
    assert_eq!(sandbox.ok(&["--commit", "3", "sql", query, "st"]), "{\"s\":9}\n");
}

#[test]
fn two_tables_join() {
    let sandbox = hits();
    let query =
        "select owner, count(*) as hits from hits join hosts on host = name group by owner order by 2 desc";
    let out = "owner,hits\n\"Ann, A.\",2\nBob,1\n";
    assert_eq!(sandbox.ok(&["sql", query, "hits.dv", "hosts.dv", "--format", "csv"]), out);
    let query = query.replace("join hosts", "join h");
    assert_eq!(sandbox.ok(&["sql", &query, "hits.dv", "h=hosts.dv", "--format", "csv"]), out);
    let run = sandbox.dv(&["sql", &query, "hits.dv", "hosts.dv"]);
    failed(&run, 2, "dv: no table \"h\"\n    hint: the tables are: hits, hosts\n");
    let run = sandbox.dv(&["sql", "select 1", "hits.dv", "./hits.dv"]);
    let expected = "dv: \"hits.dv\" and \"./hits.dv\" both are table hits\n    \
                    hint: name one of them, such as hits_2=./hits.dv\n";
    failed(&run, 2, expected);
    let twice = "select a.host, b.host from hits a, hits b";
    failed(&sandbox.dv(&["sql", twice, "hits.dv"]), 2, "dv: two columns are named \"host\", ");
    assert!(sandbox.ok(&["sql", twice, "hits.dv", "--format", "csv"]).starts_with("host,host\n"));
}

#[test]
fn queries_only_read() {
    let sandbox = hits();
    for query in [
        "create table t as select * from hits",
        "create external table t stored as csv location 'hits.csv'",
        "drop table hits",
        "insert into hits select * from hits",
        "copy hits to 'copy.csv'",
        "set datafusion.execution.batch_size = 1",
        "explain analyze insert into hits select * from hits",
    ] {
        let run = sandbox.dv(&["sql", query, "hits.dv"]);
        failed(&run, 2, "dv: expected a query that only reads (");
    }
    assert_eq!(sandbox.names(), ["hits.csv", "hits.dv", "hosts.csv", "hosts.dv"]);
}

#[test]
fn bad_queries() {
    let sandbox = hits();
    for (query, message) in [
        ("selct 1", "dv: sql parser error: "),
        ("select nope(host) from hits", "dv: Invalid function 'nope'."),
        ("select 'a' + host from hits", "dv: "),
        ("", "dv: "),
    ] {
        failed(&sandbox.dv(&["sql", query, "hits.dv"]), 2, message);
    }
    build(&sandbox, "upper.dv", "Host,size\na,1\n");
    let column = |query| sandbox.dv(&["sql", query, "upper.dv"]);
    let expected = "dv: no column \"sizes\"\n    hint: did you mean \"size\"?\n";
    failed(&column("select sizes from upper"), 1, expected);
    let expected = "dv: no column \"host\"\n    hint: write it in double quotes: \"Host\"\n";
    failed(&column("select Host from upper"), 1, expected);
    failed(&sandbox.dv(&["sql", "select 1 / (size - 512) from hits", "hits.dv"]), 1, "dv: ");
    failed(&sandbox.dv(&["sql", "select 1", "none.csv"]), 3, "dv: none.csv: ");
    std::fs::copy(sandbox.path("hits.csv"), sandbox.path("hits.txt")).unwrap();
    failed(&sandbox.dv(&["sql", "select 1", "hits.txt"]), 3, "dv: hits.txt: ");
    failed(&sandbox.dv(&["sql", "select 1", "hits.dv", "--format", "parquet"]), 2, "dv: only `dv export`");
}

#[test]
fn names_of_tables_that_sql_reads_differently() {
    let sandbox = hits();
    for name in ["order", "table", "my-hits"] {
        std::fs::copy(sandbox.path("hits.dv"), sandbox.path(&format!("{name}.dv"))).unwrap();
    }
    let count = |table: &str, file| sandbox.dv(&["sql", &format!("select count(*) n from {table}"), file]);
    for (table, file) in [
        ("order", "order.dv"),
        ("my_hits", "my-hits.dv"),
        ("\"order\"", "order.dv"),
        ("\"table\"", "table.dv"),
    ] {
        assert_eq!(count(table, file).out, "{\"n\":3}\n", "{table}");
    }
    let hint = |run: Run| {
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        run.err.split_once('\n').unwrap().1.to_owned()
    };
    let quote = "    hint: table is a keyword of SQL: write the table's name in double quotes, \"table\"\n";
    assert_eq!(hint(count("Table", "table.dv")), quote);
    let quote = quote.replace("table", "user").replace("the user", "the table");
    assert_eq!(hint(sandbox.dv(&["sql", "select user.size from user", "user=hits.dv"])), quote);
    let dash = "    hint: write my_hits: names of tables have `_` for `-`\n";
    assert_eq!(hint(count("My-hits where size > 1", "my-hits.dv")), dash);
    assert_eq!(hint(count("\"my-hits\"", "my-hits.dv")), "    hint: the tables are: my_hits\n");
    // Other errors have no such hint.
    assert_eq!(hint(count("hits where (size > 1", "my-hits.dv")), "");
    assert_eq!(hint(count("\"table\" where (size", "table.dv")), "");
}

#[test]
fn a_query_comes_from_standard_input() {
    let sandbox = hits();
    let query = b"select count(*) as n\nfrom hits;\n";
    let run = sandbox.dv_with(&["sql", "-", "hits.dv"], query);
    assert_eq!((run.code, run.out.as_str()), (0, "{\"n\":3}\n"), "{run:?}");
    // The file that it comes from is not replaced.
    if cfg!(unix) {
        sandbox.write("q", query);
        let query = std::fs::File::open(sandbox.path("q")).unwrap();
        let run = sandbox.command(&["sql", "-", "hits.dv", "-o", "q"]).stdin(query).output().unwrap();
        failed(&Run::new(run), 2, "dv: \"-\" is both an input and the output\n");
    }
}

#[test]
fn damage_is_an_error_that_names_the_file() {
    let sandbox = Sandbox::new();
    let rows: String = (0..200_000).map(|n| format!("{n},{}\n", n * 7 % 1000)).collect();
    sandbox.write("a.csv", format!("n,m\n{rows}"));
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    let info: Value = serde_json::from_str(&sandbox.ok(&["info", "a.dv", "--json"])).unwrap();
    let sections = info["columns"][1]["sections"].as_array().unwrap();
    let largest = sections.iter().max_by_key(|section| section["bytes"].as_u64()).unwrap();
    let offset = largest["offset"].as_u64().unwrap() + largest["bytes"].as_u64().unwrap() / 2;
    let mut bytes = sandbox.read("a.dv");
    bytes[usize::try_from(offset).unwrap()] ^= 1;
    sandbox.write("a.dv", bytes);
    for query in
        ["select sum(m) from a", "select n, m from a order by m", "select m, count(*) from a group by m"]
    {
        for threads in ["1", "4"] {
            let run = sandbox.dv(&["sql", query, "a.dv", "--threads", threads]);
            failed(&run, 1, "dv: a.dv: ");
            assert!(run.err.contains("\"m\""), "{}", run.err);
        }
    }
    assert_eq!(sandbox.ok(&["sql", "select count(distinct n) c from a", "a.dv"]), "{\"c\":200000}\n");
}

#[test]
fn plans_are_lines() {
    let sandbox = hits();
    let plan = sandbox.ok(&["sql", "explain select host from hits where size = 512", "hits.dv"]);
    assert!(plan.contains("DocvaluesScan: partitions=1, columns=[host], filter=size = 512\n"), "{plan}");
    let plan = sandbox.ok(&["sql", "explain analyze select host from hits where size = 512", "hits.dv"]);
    assert!(plan.contains("docs_matched=1"), "{plan}");
    let json = sandbox.ok(&["sql", "explain select host from hits", "hits.dv", "--json"]);
    assert!(json.lines().count() == 2 && json.starts_with("{\"plan_type\":\"logical_plan\","), "{json}");
    // Text goes to a file of text, and rows do not.
    sandbox.ok(&["sql", "explain select host from hits", "hits.dv", "-o", "plan.txt"]);
    assert!(sandbox.read("plan.txt").starts_with(b"logical_plan\n  "));
    let rows = sandbox.dv(&["sql", "select host from hits", "hits.dv", "-o", "rows.txt"]);
    failed(&rows, 2, "dv: rows.txt: unknown extension \".txt\"\n");
    assert!(!sandbox.exists("rows.txt"));
    let tables = sandbox.ok(&["sql", "show tables", "hits.dv", "hosts.dv"]);
    assert!(tables.contains("\"table_name\":\"hosts\""), "{tables}");
}

#[test]
fn a_reader_that_goes_away_or_a_signal_ends_a_query() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "-q"]);
    // 44 thousand million rows.
    let query = "select a.id from p a, p b, p c";
    for signal in [None, Some(("-INT", 130)), Some(("-TERM", 143))] {
        let mut command = sandbox.command(&["sql", query, "p.dv", "--format", "csv"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        std::io::Read::read_exact(&mut out, &mut [0; 100]).unwrap();
        let code = signal.map_or(0, |(signal, code)| {
            let id = child.id().to_string();
            assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
            std::io::copy(&mut out, &mut std::io::sink()).unwrap();
            code
        });
        drop(out);
        let run = Run::new(child.wait_with_output().unwrap());
        assert_eq!((run.code, run.err.as_str()), (code, ""));
    }
}

#[test]
fn other_files_are_tables_beside_segments() {
    let sandbox = hits();
    let join = "select owner, size from hits h join hosts o on h.host = o.name where size = 512";
    let found = "{\"owner\":\"Ann, A.\",\"size\":512}\n";
    assert_eq!(sandbox.ok(&["sql", join, "hits.dv", "hosts.csv"]), found);
    for (file, format) in [("hosts.ndjson", "ndjson"), ("hosts.tsv", "tsv"), ("odd [1]*.CSV", "csv")] {
        let text = sandbox.ok(&["export", "hosts.dv", "--format", format]);
        sandbox.write(file, text);
        assert_eq!(sandbox.ok(&["sql", join, "hits.dv", &format!("hosts={file}")]), found, "{file}");
    }
    // A line break in a cell, and an empty one.
    sandbox.write("cells.csv", "a,b\n1,\"x\ny\"\n2,\n");
    let cells = sandbox.ok(&["sql", "select * from cells order by a", "cells.csv"]);
    assert_eq!(cells, "{\"a\":1,\"b\":\"x\\ny\"}\n{\"a\":2}\n");
    // A segment is one under any name.
    std::fs::copy(sandbox.path("hosts.dv"), sandbox.path("segment.csv")).unwrap();
    assert_eq!(sandbox.ok(&["sql", join, "hits.dv", "hosts=segment.csv"]), found);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_tables_beside_segments() {
    let sandbox = hits();
    sandbox.ok(&["export", "hosts.dv", "-o", "hosts.parquet"]);
    let join = "select owner, size from hits h join hosts o on h.host = o.name where size = 512";
    let found = sandbox.ok(&["sql", join, "hits.dv", "hosts.parquet"]);
    assert_eq!(found, "{\"owner\":\"Ann, A.\",\"size\":512}\n");
}

#[test]
fn a_pattern_of_other_files_is_one_table() {
    let sandbox = hits();
    sandbox.write("part-1.csv", "a,b\n1,x\n");
    sandbox.write("part-2.csv", "a,b\n2,y\n");
    let found = sandbox.ok(&["sql", "select * from part order by a", "part-*.csv"]);
    assert_eq!(found, "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n");
    // Values of NDJSON have names, those of CSV places.
    sandbox.write("line-1.ndjson", "{\"a\":1,\"b\":\"x\"}\n");
    sandbox.write("line-2.ndjson", "{\"c\":true,\"a\":2}\n");
    let found = sandbox.ok(&["sql", "select a, b, c from line order by a", "line-*.ndjson"]);
    assert_eq!(found, "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"c\":true}\n");
    sandbox.write("part-3.csv", "b,a\nz,3\n");
    let expected = "dv: part-3.csv: expected the columns of \"part-1.csv\", found others\n";
    failed(&sandbox.dv(&["sql", "select 1", "part-*.csv"]), 2, expected);
    failed(
        &sandbox.dv(&["sql", "select 1", "t=h*s.*"]),
        2,
        "dv: expected files of one format in a table, found \"hits.csv\" and \"hits.dv\"\n",
    );
}

#[test]
fn text_without_the_type_of_its_column_is_an_error_with_a_hint() {
    let sandbox = Sandbox::new();
    let rows: String = (0..100_000).map(|n| format!("{n}\n")).collect();
    sandbox.write("a.csv", format!("n\n{rows}x\n"));
    let run = sandbox.dv(&["sql", "select sum(n) from a", "a.csv"]);
    assert!(run.code == 1 && run.err.contains("'x'") && run.err.contains("hint: types of CSV"), "{run:?}");
}
