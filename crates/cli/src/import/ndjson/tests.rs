use std::cell::Cell;
use std::io::{BufRead, BufReader, Cursor};
use std::rc::Rc;

use proptest::prelude::*;

use super::*;
use crate::import::chunks::Chunks;
use crate::import::open_input::Rows;
use crate::import::tests::PausingReader;

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
                    format!(
                        "{}{element} {:?} {} {line}:{column}",
                        fields.names().nth(c.field.index()).unwrap(),
                        c.form,
                        row.text(c)
                    )
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
fn chunks_begin_with_a_line_even_after_a_pause() {
    let text = b"{\"a\":1}\n{\"a\":2}\n";
    // A call reads a row, or up to the next pause.
    for calls in 0..40 {
        let pausing = PausingReader::new(text, Rc::new(Cell::new(true)));
        let mut rows = NdjsonRows::open(&"a.ndjson".into(), Box::new(pausing), &Exclude::new(&[]));
        let (mut fields, mut row, mut count) = (Fields::default(), Row::default(), 0);
        for call in 0.. {
            if call == calls && rows.are_lines() {
                let Rows::Ndjson(rest) = Chunks::after(Rows::Ndjson(rows), 100).into_rows(2) else {
                    panic!()
                };
                rows = rest;
            }
            match rows.next(&mut fields, &mut row) {
                Ok(true) => count += 1,
                Ok(false) => break,
                Err(error) => assert!(error.is_pause(), "{error}"),
            }
        }
        assert_eq!(count, 2, "{calls}");
    }
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
        (b"{", r#"a.ndjson:1:2: invalid JSON: EOF while parsing an object: "{""#),
        (br#"{"a":tru}"#, r#"a.ndjson:1:9: invalid JSON: expected ident: "{"a":tru}""#),
        (br#"{"a":01}"#, r#"a.ndjson:1:7: invalid JSON: invalid number: "{"a":01}""#),
        (b" 17", r#"a.ndjson:1:2: expected a JSON object, found "17""#),
        (b"{\"a\":\"x", r#"a.ndjson:1:8: invalid JSON: EOF while parsing a string: "{"a":"x""#),
        (br#"{"a":1,"a":2}"#, r#"a.ndjson:1:12: duplicate key "a" in one object"#),
        (br#"{"a":{"b":1,"b":2}}"#, r#"a.ndjson:1:17: duplicate key "a.b" in one object"#),
        (br#"{"a":{"b":1},"a":{"c":2}}"#, r#"a.ndjson:1:18: duplicate key "a" in one object"#),
        (br#"{"a":{"b":1},"a":5}"#, r#"a.ndjson:1:18: duplicate key "a" in one object"#),
        (br#"{"a":5,"b":1,"a":{"b":1}}"#, r#"a.ndjson:1:18: duplicate key "a" in one object"#),
        (br#"{"a":{},"a":{}}"#, r#"a.ndjson:1:13: duplicate key "a" in one object"#),
        (br#"{"a":null,"a":{}}"#, r#"a.ndjson:1:15: duplicate key "a" in one object"#),
        (br#"{"a":[],"\u0061":{"b":1}}"#, r#"a.ndjson:1:18: duplicate key "a" in one object"#),
        (br#"{"x":{"a":{"b":1},"c":2,"a":"s"}}"#, r#"a.ndjson:1:29: duplicate key "x.a" in one object"#),
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
        (
            br#"{"a":"\ud800"}"#,
            r#"a.ndjson:1:6: column "a": expected the second half of a surrogate pair, found none: ""\ud800"""#,
        ),
        (b"{\"a\":\"\xff\"}", "a.ndjson:1:7: the text is not UTF-8: \"\u{fffd}\"}\""),
    ] {
        assert_eq!(error(text), message);
        let both = [text, b"\n{\"ok\":1}"].concat();
        assert_eq!(rows_of(&both)[1], Ok(vec!["ok Number 1 2:7".to_owned()]));
    }
}

#[test]
fn a_file_of_lines_has_one_object_a_line() {
    for (line, message) in [
        ("{\"a\":1} {", r#"a.ndjson:2:9: invalid JSON: trailing characters: "{"a":1} {""#),
        ("[{\"a\":1}]", r#"a.ndjson:2:1: expected a JSON object, found an array: "[{"a":1}]""#),
        ("{\"a\":", r#"a.ndjson:2:6: invalid JSON: EOF while parsing a value: "{"a":""#),
    ] {
        let rows = rows_of(format!("{{}}\n{line}\n{{\"b\":1}}\n").as_bytes());
        assert_eq!(rows, [Ok(vec![]), Err(message.to_owned()), Ok(vec!["b Number 1 3:6".to_owned()])]);
    }
}

#[test]
fn a_first_line_that_is_cut_is_one_bad_row() {
    for (first, problem) in [
        ("{\"a\":", r#"a.ndjson:1:6: invalid JSON: EOF while parsing a value: "{"a":""#),
        ("{\"a\":[", r#"a.ndjson:1:7: invalid JSON: EOF while parsing a list: "{"a":[""#),
        ("{\"a\":[1,", r#"a.ndjson:1:9: invalid JSON: EOF while parsing a value: "{"a":[1,""#),
    ] {
        for (last, rows) in [("", 1), ("{\"b\":2}", 2), ("{\"b\":{\"c\":\n", 2)] {
            let text = format!("\n{first}\n{{\"b\":1}}\n{last}");
            let found = rows_of(text.as_bytes());
            assert_eq!(found.len(), rows + 1, "{text} {found:?}");
            assert_eq!(found[0], Err(problem.replace(":1:", ":2:")), "{text}");
            assert_eq!(found[1], Ok(vec!["b Number 1 3:6".to_owned()]), "{text}");
            let pausing = PausingReader::new(text.as_bytes(), Rc::new(Cell::new(true)));
            assert_eq!(rows_of_reader(Box::new(pausing)), found, "{text}");
        }
    }
    // An object over several lines, without the last one.
    let unfinished = r#"a.ndjson:2:10: invalid JSON: EOF while parsing an object: "  {"b":1}""#;
    assert_eq!(rows_of(b"{\"a\":\n  {\"b\":1}\n"), [Err(unfinished.to_owned())]);
}

#[test]
fn a_value_of_too_many_lines_is_refused() {
    let text = [&b"{"[..], &vec![b'\n'; 33 << 20], b"}"].concat();
    let found = rows_of_reader(Box::new(BufReader::new(Cursor::new(text)))).remove(0).unwrap_err();
    assert!(found.ends_with(": the value has more than 33,554,432 lines"), "{found}");
}

#[test]
fn elements_of_an_array_and_objects_over_several_lines_are_rows() {
    let rows = |text: &str| {
        let pausing = PausingReader::new(text.as_bytes(), Rc::new(Cell::new(true)));
        let rows = rows_of(text.as_bytes());
        assert_eq!(rows_of_reader(Box::new(pausing)), rows, "{text}");
        rows.into_iter().map(|row| row.unwrap().join("; ")).collect::<Vec<_>>()
    };
    assert_eq!(rows("[{\"a\":1},{\"a\":2}]"), ["a Number 1 1:7", "a Number 2 1:15"]);
    assert_eq!(rows("[\n{\"a\":1},\n{\"a\":2}\n]\n"), ["a Number 1 2:6", "a Number 2 3:6"]);
    assert_eq!(
        rows(
            "[\r\n  {\r\n    \"a\": \"]}\\\"{\",\r\n    \"b\": [\r\n      1,\r\n      2\r\n    ]\r\n  }\r\n]"
        ),
        ["a Str ]}\"{ 3:10; b* Number 1 5:7; b* Number 2 6:7"]
    );
    let pretty = "{\n  \"a\": 1\n}\n{\n  \"a\": {\n    \"b\": 2}}\n {\"c\": 3}";
    assert_eq!(rows(pretty), ["a Number 1 2:8", "a.b Number 2 6:10", "c Number 3 7:8"]);
    assert_eq!(
        rows("{\"a\":1}{\"a\":2} {\"a\":3}\n"),
        ["a Number 1 1:6", "a Number 2 1:13", "a Number 3 1:21"]
    );
    assert_eq!(rows("[]"), [""; 0]);
    assert_eq!(rows("[{}][{\"a\":1}]"), ["", "a Number 1 1:11"]);
}

#[test]
fn bad_values_say_where_and_the_next_value_is_read() {
    let ok = |place: &str| Ok(vec![format!("ok Number 1 {place}")]);
    for (text, message, next) in [
        ("[{\"a\":\n1,}, {\"ok\":1}]", r#"a.ndjson:2:3: invalid JSON: trailing comma: "1,}""#, "2:12"),
        ("[{\"a\":\n [1}, {\"ok\":1}]", r#"a.ndjson:2:4: invalid JSON: expected `,` or `]`: " [1}""#, "2:13"),
        ("[7, {\"ok\":1}]", r#"a.ndjson:1:2: expected a JSON object, found "7""#, "1:11"),
        ("[[1,2],{\"ok\":1}]", r#"a.ndjson:1:2: expected a JSON object, found an array: "[1,2]""#, "1:14"),
        ("[\"x,\",{\"ok\":1}]", r#"a.ndjson:1:2: expected a JSON object, found ""x,"""#, "1:13"),
        ("[,{\"ok\":1}]", "a.ndjson:1:3: expected a JSON object, found a comma", "1:9"),
        (
            "{\"a\":\n\"x\n\"}\n{\"ok\":1}",
            r#"a.ndjson:2:3: invalid JSON: EOF while parsing a string: ""x""#,
            "",
        ),
        (
            "{\n\"a\": 1\n{\"ok\":1}",
            r#"a.ndjson:2:7: invalid JSON: EOF while parsing an object: ""a": 1""#,
            "3:7",
        ),
        (
            "[{\"a\":[[1]]},{\"ok\":1}]",
            r#"a.ndjson:1:8: column "a": no column stores an array of arrays: "[1]""#,
            "1:20",
        ),
    ] {
        let rows = rows_of(text.as_bytes());
        assert_eq!(rows[0], Err(message.to_owned()), "{text}");
        if !next.is_empty() {
            assert_eq!(rows[1..], [ok(next)], "{text}");
        }
    }
    for (text, message) in [
        ("[{}", "a.ndjson:1:4: expected the end of the array, found the end of the file"),
        ("[{} {}]", "a.ndjson:1:5: expected a comma or the end of the array"),
        ("[{},]", "a.ndjson:1:6: expected a JSON object after the comma, found the end of the array"),
    ] {
        assert!(
            rows_of(text.as_bytes()).contains(&Err(message.to_owned())),
            "{:?}",
            rows_of(text.as_bytes())
        );
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
    let rows = rows_of(format!("{{\"a\":{}", "[".repeat(100_000)).as_bytes());
    assert!(rows[0].as_ref().unwrap_err().contains("invalid JSON"));
}

proptest! {
    #[test]
    fn any_bytes_end_without_a_panic(text in prop::collection::vec(prop::sample::select(b"{}[]\":,\\u1ae.-n\n\xff ".to_vec()), 0..40)) {
        rows_of(&text);
    }
}
