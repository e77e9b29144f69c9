use std::cell::Cell;
use std::io::{BufRead, Cursor};
use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::input::source::PausingReader;

/// Every row as `name form text line:column` words, or its error.
fn rows_of(text: &[u8]) -> Vec<Result<Vec<String>, String>> {
    rows_of_reader(Box::new(Cursor::new(text.to_vec())))
}

fn rows_of_reader(reader: Box<dyn BufRead>) -> Vec<Result<Vec<String>, String>> {
    rows_without(reader, &[])
}

fn rows_without(reader: Box<dyn BufRead>, exclude: &[String]) -> Vec<Result<Vec<String>, String>> {
    let mut fields = Fields::default();
    let mut rows = NdjsonRows::open(&"a.ndjson".into(), reader, &Exclude::new(exclude));
    let mut row = Row::default();
    let mut out = Vec::new();
    loop {
        match rows.next(&mut fields, &mut row) {
            Ok(false) => return out,
            Ok(true) => out.push(Ok(row
                .cells
                .iter()
                .map(|c| {
                    let (line, column) = row.place(c);
                    let element = if c.element { "*" } else { "" };
                    format!("{}{element} {:?} {} {line}:{column}", fields.name(c.field), c.form, row.text(c))
                })
                .collect())),
            Err(error) if error.is_pause() => {}
            Err(error) => out.push(Err(error.to_string())),
        }
    }
}

#[test]
fn a_pause_within_a_row_loses_nothing() {
    let text = b"{\"a\":1}\n\n{\"a\":[1,2],\"b\":\"x\"}\n{\"a\":\n{\"b\":null}";
    let pausing = PausingReader::new(text, Rc::new(Cell::new(true)));
    assert_eq!(rows_of_reader(Box::new(pausing)), rows_of(text));
}

#[test]
fn values_of_excluded_fields_fit_no_column() {
    let text = br#"{"o":[{"x":1}],"a":1,"p":{"q":[[1]],"r":2},"s":[null]}"#;
    let rows = |exclude: &str| rows_without(Box::new(Cursor::new(text.to_vec())), &[exclude.to_owned()]);
    assert_eq!(rows("o,p.q,s"), [Ok(vec!["a Number 1 1:20".to_owned(), "p.r Number 2 1:41".to_owned()])]);
    assert_eq!(rows("o,p,s"), [Ok(vec!["a Number 1 1:20".to_owned()])]);
    assert!(rows("o,p")[0].is_err());
}

fn cells(text: &str) -> Vec<String> {
    let mut rows = rows_of(text.as_bytes());
    assert_eq!(rows.len(), 1);
    rows.remove(0).unwrap()
}

fn error(text: &[u8]) -> String {
    rows_of(text).pop().unwrap().unwrap_err()
}

#[test]
fn values_keep_their_text_and_place() {
    assert_eq!(
        cells(r#"{"i": 18446744073709551617, "f": 1.50e2, "s": "x\n", "b": true, "n": null}"#),
        [
            "i Number 18446744073709551617 1:7",
            "f Number 1.50e2 1:34",
            "s Str x\n 1:47",
            "b Bool true 1:59",
            "n Null null 1:70",
        ]
    );
}

#[test]
fn arrays_are_elements_and_objects_dotted_names() {
    assert_eq!(
        cells(r#"{"t":["a","b"],"e":[],"one":[1]}"#),
        ["t* Str a 1:7", "t* Str b 1:11", "e EmptyArray [] 1:20", "one* Number 1 1:30",]
    );
    assert_eq!(
        cells(r#" {"a":{"b":{"c":1},"d":[2]},"x":{},"e":3}"#),
        ["a.b.c Number 1 1:17", "a.d* Number 2 1:25", "e Number 3 1:40",]
    );
}

#[test]
fn blank_lines_are_skipped_and_counted() {
    let rows = rows_of(b"\n{\"a\":1}\r\n  \n{\"a\":2}");
    assert_eq!(rows, [Ok(vec!["a Number 1 2:6".to_owned()]), Ok(vec!["a Number 2 4:6".to_owned()])]);
}

#[test]
fn bad_rows_say_where_and_the_next_row_is_read() {
    for (text, message) in [
        (&br#"{"a":1,}"#[..], r#"a.ndjson:1:8: invalid JSON: trailing comma: "{"a":1,}""#),
        (br#"{"a":1} {"#, r#"a.ndjson:1:9: invalid JSON: trailing characters: "{"a":1} {""#),
        (b"{", r#"a.ndjson:1:2: invalid JSON: EOF while parsing an object: "{""#),
        (br#"{"a":tru}"#, r#"a.ndjson:1:9: invalid JSON: expected ident: "{"a":tru}""#),
        (br#"{"a":01}"#, r#"a.ndjson:1:7: invalid JSON: invalid number: "{"a":01}""#),
        (br#"[{"a":1}]"#, r#"a.ndjson:1:1: expected a JSON object, found an array: "[{"a":1}]""#),
        (b" 17", r#"a.ndjson:1:2: expected a JSON object, found "17""#),
        (br#"{"a":1,"a":2}"#, r#"a.ndjson:1:12: duplicate key "a" in one object"#),
        (br#"{"a":{"b":1,"b":2}}"#, r#"a.ndjson:1:17: duplicate key "a.b" in one object"#),
        (br#"{"":1}"#, r#"a.ndjson:1:5: a key is empty: "1""#),
        (
            br#"{"a":[{"b":1}]}"#,
            r#"a.ndjson:1:7: column "a": no column stores an array of objects: "{"b":1}""#,
        ),
        (br#"{"a":[[1]]}"#, r#"a.ndjson:1:7: column "a": no column stores an array of arrays: "[1]""#),
        (
            br#"{"a":[1, null]}"#,
            r#"a.ndjson:1:10: column "a": an array holds null, which no column stores: "null""#,
        ),
        (br#"{"a":"\ud800"}"#, r#"a.ndjson:1:6: column "a": unexpected end of hex escape: ""\ud800"""#),
        (b"{\"a\":\"\xff\"}", "a.ndjson:1:7: the text is not UTF-8: \"\u{fffd}\"}\""),
    ] {
        assert_eq!(error(text), message);
        let both = [text, b"\n{\"ok\":1}"].concat();
        assert_eq!(rows_of(&both)[1], Ok(vec!["ok Number 1 2:7".to_owned()]));
    }
}

#[test]
fn a_dotted_key_and_a_nested_one_clash_across_rows() {
    let rows = rows_of(b"{\"a\":{\"b\":1}}\n{\"a.b\":2}\n{\"a\":{\"b\":3}}");
    assert!(rows[0].is_ok() && rows[2].is_ok());
    let message = r#"a.ndjson:2:8: the keys "a" → "b" and "a.b" both give the column "a.b""#;
    assert_eq!(rows[1], Err(message.to_owned()));
}

#[test]
fn depth_is_bounded() {
    let deep = |n: usize| format!("{}1{}", r#"{"a":"#.repeat(n), "}".repeat(n));
    assert_eq!(cells(&deep(64)).len(), 1);
    assert!(error(deep(70).as_bytes()).contains("nested deeper than 64"));
    assert!(error(format!("{{\"a\":{}", "[".repeat(100_000)).as_bytes()).contains("invalid JSON"));
}

proptest! {
    #[test]
    fn any_bytes_end_without_a_panic(text in prop::collection::vec(prop::sample::select(b"{}[]\":,\\u1ae.-n\n\xff ".to_vec()), 0..40)) {
        rows_of(&text);
    }
}
