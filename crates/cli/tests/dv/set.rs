//! `dv set`: changes of some columns of documents.

use crate::sandbox::{Run, Sandbox, json, words};

const ROWS: &str = "\
id,size,price,section,tags,at,day,ip,ok
a,1,1.50,games,x,2013-01-01T06:00:00Z,01/02/2013,10.0.0.1,true
b,2,2.50,libs,\"[\"\"x\"\",\"\"y\"\"]\",2013-01-02T06:00:00Z,02/02/2013,10.0.0.2,false
c,3,3.50,games,,2013-01-03T06:00:00Z,03/02/2013,10.0.0.3,true
";

/// A store `st` of three documents.
fn store() -> Sandbox {
    let sandbox = Sandbox::with("rows.csv", ROWS);
    sandbox.write("types.toml", "[columns.day]\ntype = \"date\"\nformat = \"%d/%m/%Y\"\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let types = "tags=string[],sizes=i64[],ip=ip,note=string";
    sandbox.write("more.csv", "id,sizes,note\na,4,\n");
    sandbox.ok(&["put", "st", "rows.csv", "more.csv", "-q", "--type", types, "--schema", "types.toml"]);
    // The document of rows.csv again.
    sandbox.ok(&["put", "st", "rows.csv", "-q"]);
    sandbox
}

fn cells(sandbox: &Sandbox, id: &str, columns: &str) -> String {
    sandbox.ok(&["lookup", "st", id, "--columns", columns, "--format", "ndjson"]).trim_end().to_owned()
}

#[test]
fn values_are_read_by_the_types_of_columns() {
    let sandbox = store();
    let changes =
        "size=-7 price=1.125 section=zoo at=2013-05-01T06:00:00.25Z day=31/12/2012 ip=::1 ok=false note=";
    let out = sandbox.ok(&words(&format!("set st a {changes}")));
    assert!(
        out.starts_with("st: 1 document updated; commit ")
            && out.ends_with(" has 3 documents in 1 segment\n"),
        "{out}"
    );
    let expected = r#"{"size":-7,"price":1.125,"section":"zoo","at":"2013-05-01T06:00:00.25Z","day":"31/12/2012","ip":"::1","ok":false,"note":""}"#;
    assert_eq!(cells(&sandbox, "a", "size,price,section,at,day,ip,ok,note"), expected);
    // All values are printed exactly, also those that were there.
    assert_eq!(cells(&sandbox, "b", "price,at"), r#"{"price":2.5,"at":"2013-01-02T06:00:00Z"}"#);
    sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
    assert_eq!(cells(&sandbox, "a", "size,price,section,at,day,ip,ok,note"), expected);
    assert_eq!(json(&sandbox.ok(&["check", "st", "--json"]))["clean"], true);
}

#[test]
fn a_time_without_seconds_is_read_as_in_a_query() {
    let sandbox = store();
    for text in ["2013-05-01 06:30", "2013-05-01T06:30"] {
        sandbox.ok(&["set", "st", "a", &format!("at={text}"), "-q"]);
        assert_eq!(cells(&sandbox, "a", "at"), r#"{"at":"2013-05-01T06:30:00Z"}"#);
        assert_eq!(sandbox.ok(&["count", "st", "--where", &format!("at = \"{text}\"")]), "1\n");
        sandbox.ok(&["set", "st", "a", "at=2013-01-01T06:00:00Z", "-q"]);
    }
    for text in ["06:30", "2013-05-01", "2013-05-01T06"] {
        let run = sandbox.dv(&["set", "st", "a", &format!("at={text}")]);
        assert!(run.code == 2 && run.err.contains(&format!("\"{text}\"")), "{run:?}");
    }
}

#[test]
fn a_format_stays_that_fits_the_new_value() {
    let sandbox = store();
    sandbox.ok(&["set", "st", "a", "price=7.25", "at=2013-05-01T06:00:00Z", "-q"]);
    let prices = sandbox.ok(&["export", "st", "--columns", "price", "--format", "csv", "--sort", "price"]);
    assert_eq!(prices, "price\n2.50\n3.50\n7.25\n");
}

#[test]
fn values_of_several_are_set_added_and_removed() {
    let sandbox = store();
    let tags = || cells(&sandbox, "b", "tags,sizes");
    sandbox.ok(&["set", "st", "b", "tags+=a", "tags+=x", "sizes+=5", "-q"]);
    assert_eq!(tags(), r#"{"tags":["a","x","y"],"sizes":[5]}"#);
    sandbox.ok(&["set", "st", "b", "tags-=x", "tags-=none", "-q"]);
    assert_eq!(tags(), r#"{"tags":["a","y"],"sizes":[5]}"#);
    sandbox.ok(&["set", "st", "b", "tags=q", "tags=p", "--unset", "sizes", "-q"]);
    assert_eq!(tags(), r#"{"tags":["p","q"]}"#);
    sandbox.ok(&["set", "st", "b", "--unset", "tags", "--unset", "section", "-q"]);
    assert_eq!(cells(&sandbox, "b", "section,tags,size"), r#"{"size":2}"#);
    assert_eq!(sandbox.ok(&["count", "st", "--where", "tags missing"]), "2\n");
}

#[test]
fn a_list_keeps_its_duplicates_when_a_value_is_added() {
    for is_committed in [false, true] {
        let sandbox = Sandbox::new();
        sandbox.ok(&words("store create st --id-field id --type n=i64[],u=u64[],f=f64[],b=bool[]"));
        let row = "{\"id\":\"a\",\"n\":[2,2,5],\"u\":[18446744073709551615,1,1],\"f\":[-0.0,0.0,0.0,1.5],\"b\":[true,true]}\n";
        sandbox.write("rows.ndjson", row);
        sandbox.ok(&["put", "st", "rows.ndjson", "-q"]);
        if is_committed {
            sandbox.ok(&["merge", "st", "--to", "1", "-q"]);
        }
        sandbox.ok(&["set", "st", "a", "n+=7", "n+=2", "n+=7", "u+=0", "f+=2.5", "b+=false", "-q"]);
        let expected = r#"{"n":[2,2,5,7],"u":[0,1,1,18446744073709551615],"f":[-0.0,0.0,0.0,1.5,2.5],"b":[false,true,true]}"#;
        assert_eq!(cells(&sandbox, "a", "n,u,f,b"), expected);
        sandbox.ok(&["set", "st", "a", "n-=2", "f-=0", "-q"]);
        assert_eq!(cells(&sandbox, "a", "n,f"), r#"{"n":[5,7],"f":[-0.0,1.5,2.5]}"#);
    }
}

#[test]
fn documents_are_chosen_by_a_query_or_by_many_ids() {
    let sandbox = store();
    let out = sandbox.ok(&["set", "st", "--where", "section = \"games\"", "section=play", "size=0"]);
    assert!(out.starts_with("st: 2 documents updated; "), "{out}");
    assert_eq!(sandbox.ok(&["count", "st", "--where", "section = \"play\" and size = 0"]), "2\n");
    let run = sandbox.dv_with(&["set", "st", "-", "size=9", "--json"], b"c\nnone\r\n\nb\nc\n");
    let report = json(&run.out);
    assert_eq!((run.code, &report["updated"], &report["not_found"][0]), (1, &2.into(), &"none".into()));
    assert_eq!(sandbox.ok(&["count", "st", "--where", "size = 9"]), "2\n");
    // As it is printed.
    let out = sandbox.ok(&["set", "st", "--where", "day = \"01/02/2013\"", "size=8"]);
    assert!(out.starts_with("st: 1 document updated; "), "{out}");
    assert_eq!(cells(&sandbox, "a", "size,day"), r#"{"size":8,"day":"01/02/2013"}"#);
    let out = sandbox.ok(&["set", "st", "--where", "size = 77", "size=1"]);
    assert!(out.starts_with("st: 0 documents updated; "), "{out}");
    let run = sandbox.dv(&["set", "st", "none", "size=9"]);
    assert_eq!((run.code, run.err.as_str()), (1, "dv: no document has the id \"none\"\n"));
    let run = sandbox.dv(&["set", "st", "none", "size=9", "-q"]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (1, "", ""));
}

#[test]
fn a_stale_version_is_reported() {
    let sandbox = Sandbox::with("users.csv", "key,changed,name\nann,7,Ann\nbob,9,Bob\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "key", "--version-field", "changed"]);
    sandbox.ok(&["put", "st", "users.csv", "-q"]);
    sandbox.ok(&["set", "st", "ann", "name=Anne", "changed=8", "-q"]);
    assert_eq!(cells(&sandbox, "ann", "changed,name"), r#"{"changed":8,"name":"Anne"}"#);
    let run = sandbox.dv(&["set", "st", "bob", "name=Rob", "changed=8"]);
    let message = "dv: the document with the id \"bob\" has version 9 already\n";
    assert_eq!((run.code, run.err.as_str()), (1, message));
    assert_eq!(cells(&sandbox, "bob", "changed,name"), r#"{"changed":9,"name":"Bob"}"#);
    let report = json(&sandbox.dv(&["set", "st", "bob", "name=Rob", "changed=9", "--json"]).out);
    assert_eq!((&report["updated"], &report["stale"]), (&0.into(), &json(r#"[{"id":"bob","version":9}]"#)));
    // Without a version, it stays as it is.
    sandbox.ok(&["set", "st", "bob", "name=Rob", "-q"]);
    assert_eq!(cells(&sandbox, "bob", "changed,name"), r#"{"changed":9,"name":"Rob"}"#);
    let out = sandbox.ok(&["set", "st", "--where", "name exists", "changed=9", "name=Both"]);
    assert!(out.starts_with("st: 1 document updated"), "{out}");
    let Run { code, err, .. } = sandbox.dv(&["set", "st", "bob", "--unset", "changed"]);
    assert_eq!(
        (code, err.as_str()),
        (1, "dv: column \"changed\": expected a column that documents may lack, found that of versions\n")
    );
}

#[test]
fn what_is_refused_says_what_to_do() {
    let sandbox = store();
    sandbox.ok(&["store", "create", "sorted", "--type", "at=i64,n=i64", "--sort-by", "at"]);
    let before = sandbox.ok(&["commits", "st"]);
    let fails = |args: &str, code: i32, parts: &[&str]| {
        let run = sandbox.dv(&words(&format!("set {args}")));
        assert_eq!(run.code, code, "{args}: {run:?}");
        parts.iter().for_each(|part| assert!(run.err.contains(part), "{args}: {}", run.err));
    };
    fails("st a size=many", 2, &["column \"size\" (i64): expected an i64", ", found \"many\""]);
    fails("st a size=", 2, &["column \"size\" (i64): expected", "found nothing", "--unset size removes"]);
    fails("st a at=yesterday", 2, &["column \"at\""]);
    fails("st a sise=1", 1, &["no column \"sise\"", "did you mean \"size\"?"]);
    fails("st a --unset sise", 1, &["did you mean \"size\"?"]);
    fails("st a colour=red", 1, &["no column \"colour\"", "`dv put --partial` adds new ones"]);
    fails(
        "st a id=b",
        1,
        &[
            "column \"id\": expected a column that can be changed, found the column of ids",
            "`dv put` replaces the whole document",
        ],
    );
    fails("sorted --where n=1 at=5", 1, &["column \"at\"", "one by which documents are sorted"]);
    fails("sorted a n=5", 1, &["no column of ids", "--where updates by a query"]);
    fails("st a size=1 size=2", 2, &["column \"size\" (i64): expected one value a document, found several"]);
    fails(
        "st a section+=1",
        1,
        &["column \"section\": expected a number, or a column with several values a document, for +="],
    );
    fails("st a tags*=2", 1, &["column \"tags\": expected a number for *="]);
    fails("st a size+=1.5", 2, &["column \"size\": expected an integer after +=, found \"1.5\""]);
    fails("st a price*=", 2, &["column \"price\": expected a number after *=, found nothing"]);
    fails("st a size+=1 size*=2", 2, &["found += and *="]);
    fails("st a tags=1 tags+=2", 2, &["column \"tags\": expected one kind of change, found = and +="]);
    fails("st a size=1 --unset size", 2, &["found = and --unset"]);
    fails("st a", 2, &["expected a change such as FIELD=VALUE", "--where QUERY"]);
    fails("st size=1", 2, &["expected a change such as FIELD=VALUE", "write the id before"]);
    fails("st", 2, &["expected an id or --where QUERY"]);
    fails("st a b size=1", 2, &["expected FIELD=VALUE, found \"b\"", "standard input"]);
    fails("st --where nn=1 size=1", 1, &["nn"]);
    fails("rows.csv a size=1", 3, &["rows.csv"]);
    assert_eq!(sandbox.ok(&["commits", "st"]), before, "what fails changes nothing");
}

#[test]
fn numbers_are_computed_from_those_before() {
    let sandbox = store();
    sandbox.ok(&["set", "st", "b", "size-=5", "price*=1.5", "-q"]);
    assert_eq!(cells(&sandbox, "b", "size,price"), r#"{"size":-3,"price":3.75}"#);
    // 4.125 has more decimals than the column had.
    sandbox.ok(&["set", "st", "b", "size*=2.5", "price+=0.375", "-q"]);
    assert_eq!(cells(&sandbox, "b", "size,price"), r#"{"size":-8,"price":4.125}"#);
    sandbox.ok(&["set", "st", "b", "--unset", "size", "-q"]);
    sandbox.ok(&["set", "st", "b", "size*=2", "-q"]);
    assert_eq!(cells(&sandbox, "b", "size"), "{}");
    sandbox.ok(&["set", "st", "b", "size+=9223372036854775807", "-q"]);
    let run = sandbox.dv(&["set", "st", "b", "size+=1"]);
    let expected =
        "dv: the document with the id \"b\" stays as it is: the result in column \"size\" is out of range\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
    let report = json(&sandbox.dv(&["set", "st", "b", "size+=1", "--json"]).out);
    let overflows = json(r#"[{"id":"b","column":"size"}]"#);
    assert_eq!((&report["updated"], &report["overflows"]), (&0.into(), &overflows));
    let run = sandbox.dv(&["set", "st", "--where", "size exists", "size+=1"]);
    assert!(run.code == 1 && run.err.contains("\"size\" of document \"b\""), "{run:?}");
    assert_eq!(cells(&sandbox, "b", "size"), "{\"size\":9223372036854775807}");
}

#[test]
fn names_may_have_the_signs_of_changes() {
    let sandbox = Sandbox::with("rows.ndjson", "{\"id\":\"a\",\"c+\":1,\"x=y\":2,\"d\":[3,4]}\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "rows.ndjson", "-q"]);
    sandbox.ok(&["set", "st", "a", "c+=5", "x=y=6", "d+=7", "-q"]);
    assert_eq!(sandbox.ok(&["cat", "st"]), "{\"id\":\"a\",\"c+\":5,\"x=y\":6,\"d\":[3,4,7]}\n");
}
