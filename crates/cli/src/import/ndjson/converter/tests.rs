use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::api::LogicalType;
use crate::import::Exclude;
use crate::import::column_type::ColumnType;
use crate::import::ndjson::NdjsonRows;
use crate::import::row::Row;

/// For each row, its values: the index of their field, and their text.
type Texts = Vec<Vec<(usize, String)>>;

/// Rows that serde_json parsed, and all fields up to a mistake; `None` if there is one.
fn parsed(text: &str, exclude: &Exclude) -> (Option<Texts>, Fields) {
    let reader = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let mut rows = NdjsonRows::of_lines(&"a.ndjson".into(), reader, exclude, 1);
    let (mut fields, mut row, mut texts) = (Fields::default(), Row::default(), Texts::new());
    loop {
        match rows.next(&mut fields, &mut row) {
            Ok(true) => {}
            Ok(false) => return (Some(texts), fields),
            Err(_) => return (None, fields),
        }
        let values = row.cells.iter().filter(|cell| !matches!(cell.form, Form::Null | Form::EmptyArray));
        let mut values: Vec<_> = values.map(|cell| (cell.field.index(), row.text(cell).to_owned())).collect();
        values.sort_by_key(|(field, _)| *field);
        texts.push(values);
    }
}

/// The same by a converter that knows the fields.
fn converted(text: &str, fields: &Fields, exclude: &Exclude, multi: bool) -> Option<Texts> {
    let mut columns: Vec<Column> = fields.names().map(|name| Column::new(name, None)).collect();
    for column in &mut columns {
        column.ty = Some(ColumnType { multi, ..ColumnType::single(LogicalType::Utf8) });
        // Numbers and booleans become text.
        column.explicit = true;
        column.excluded = exclude.has(&column.name);
    }
    let mut batch = RowBatch::default();
    batch.clear(columns.len());
    let line_ends = NdjsonConverter::new(fields).rows(text, &mut columns, &mut batch)?;
    assert_eq!(line_ends, text.matches('\n').count() as u64);
    let mut texts = vec![Vec::new(); batch.docs as usize];
    let place = |end: u64| usize::try_from(end).unwrap();
    for (index, (values, column)) in batch.columns.iter().zip(&columns).enumerate() {
        let text = |at: usize| {
            let text = std::str::from_utf8(values.strings.get(at)).unwrap();
            (index, text.to_owned())
        };
        let mut with_value = 0;
        for (row, texts) in texts.iter_mut().enumerate().filter(|_| values.has_values()) {
            let found = match multi {
                true => place(values.lists[row])..place(values.lists[row + 1]),
                false => row..row + usize::from(values.validity[row / 64] >> (row % 64) & 1 == 1),
            };
            with_value += u64::from(!found.is_empty());
            texts.extend(found.map(text));
        }
        assert_eq!(column.documents, with_value);
    }
    Some(texts)
}

/// Whether a converter takes the rows, which then have no mistake.
fn is_converted(text: &str, exclude: &[&str], multi: bool) -> bool {
    let exclude = Exclude::new(&exclude.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    let (expected, fields) = parsed(text, &exclude);
    let found = converted(text, &fields, &exclude, multi);
    if let Some(found) = &found {
        assert_eq!(Some(found), expected.as_ref(), "{text}");
    }
    found.is_some()
}

#[test]
fn usual_rows_are_converted() {
    for text in [
        "",
        "\n \n",
        "{}",
        "{\"a\":1}\n{\"a\":2}\r\n\n{ \"a\" :\t3 } ",
        "{\"a\":\"x\",\"b\":true,\"c\":null,\"d\":-0.5e+10}\n",
        "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n{\"b\":5}\n{\"c\":6,\"a\":7}\n",
        "{\"a\":{\"b\":1,\"c\":{\"d\":2}},\"e\":{}}\n{\"a\":{\"c\":{\"d\":3},\"b\":4}}\n{\"a\":{},\"e\":{}}\n",
        "{\"a\":{\"b\":1}}\n{\"a\":2}\n",
        "{\"a.b\":1}\n{\"a.b\":2}\n",
        // Eight bytes, and the bytes around them, before a quote and a backslash.
        "{\"a\":\"\"}\n{\"a\":\"1234567\"}\n{\"a\":\"12345678\"}\n{\"a\":\"123456789\\n\"}\n{\"a\":\"é€😀\u{7f}\"}\n",
        "{\"a\":\"\\u00e9\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\"}\n{\"\\u0061\":\"\\\\\"}\n",
        "{\"a\\\"b\":1,\"é\":2}\n{\"a\\\"b\":1,\"é\":2}\n{\"a\\u0022b\":3,\"\\u00e9\":4}\n",
        "{\"a\":123456789012345678901234567890,\"b\":1E5,\"c\":-0}\n",
        // Keys of up to 16 bytes with their quotes, and longer ones.
        "{\"abcdefghijklm\":1,\"abcdefghijklmn\":2,\"abcdefghijklmno\":3,\"abcdefghijklmnop\":4,\"x\":5}\n\
         {\"abcdefghijklm\":1,\"abcdefghijklmn\":2,\"abcdefghijklmno\":3,\"abcdefghijklmnop\":4,\"x\":5}\n\
         {\"abcdefghijklmo\":1,\"abcdefghijklmnop\":2,\"abcdefghijklmnoq\":3,\"abcdefghijklmn\":4}\n",
    ] {
        assert!(is_converted(text, &[], false), "{text}");
        assert!(is_converted(text, &[], true), "{text}");
    }
    let lists = "{\"a\":[1,\"x\" , true]}\n{\"a\":[ ]}\n{\"a\":\"y\"}\n{\"b\":[2]}\n{\"a\":[\"\\n\"]}\n";
    assert!(is_converted(lists, &[], true));
    let excluded = "{\"a\":[{\"x\":[1]},null],\"b\":{\"c\":[[]],\"d\":1}}\n{\"a\":\"\",\"b\":{\"d\":2}}\n";
    assert!(is_converted(excluded, &["a", "b.c"], false));
}

#[test]
fn other_rows_are_left() {
    for row in [
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"a\":{\"b\":1},\"a\":{\"c\":1}}",
        "{\"a\":{},\"a\":1}",
        "{\"x\":{},\"x\":{}}",
        "{\"a\":{\"b\":1},\"a.b\":2}",
        "{\"\":{}}",
        "{\"\":1}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":+1}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":nul}",
        "{\"a\":truefalse}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\t\"}",
        "{\"a\":\"12345678\u{1f}12345678\"}",
        "{\"a\":\"12345678",
        "{\"a\":1,}",
        "{,\"a\":1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\" 1}",
        "{a:1}",
        "{\"a\":1} {\"a\":2}",
        "{\"a\":1},",
        "[{\"a\":1}]",
        "{\"a\":[1,null]}",
        "{\"a\":[[1]]}",
        "{\"a\":[1,]}",
        "{\"a\":[1",
        "{\"a\":\n1}",
        "1",
        "\u{b}",
    ] {
        // The fields are known from the first row.
        let text = format!("{{\"a\":1,\"b\":2}}\n{row}\n{{\"a\":3}}\n");
        assert!(!is_converted(&text, &[], true), "{row}");
    }
    // An array that ends on another line.
    assert!(!is_converted("{\"a\":[[1],\n[2]]}\n", &["a"], true));
    // A column of single values.
    assert!(!is_converted("{\"a\":[1]}\n", &[], false));
}

#[test]
fn columns_with_few_values_are_left() {
    let rows = |names: usize, rows: usize| {
        let first: Vec<_> = (0..names).map(|name| format!("\"{name}\":0")).collect();
        format!("{{{}}}\n{}", first.join(","), "{}\n".repeat(rows))
    };
    assert!(is_converted(&rows(5, 100), &[], false));
    assert!(!is_converted(&rows(50, 10_000), &[], false));
    assert!(!is_converted(&rows(50, 10_000), &[], true));
    // A long line makes a chunk longer, which has no more such rows for that.
    let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(2 * CHUNK));
    assert!(is_converted(&format!("{long}{}", rows(50, 10_000)), &[], false));
    assert!(!is_converted(&format!("{long}{}", rows(110, 10_000)), &[], false));
}

/// Values, some of them wrong.
fn value() -> impl Strategy<Value = String> {
    let others = [
        "null", "true", "false", "nul", "[]", "{}", "{ }", "01", "-", "1.", "1e", "\"a", "\"\t\"", "[null]",
        "[[1]]",
    ];
    let scalar = prop_oneof![
        8 => "-?[1-9][0-9]{0,25}",
        4 => "-?(0|[1-9][0-9]{0,2})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?",
        8 => "\"[a-c é😀]{0,20}\"",
        4 => "\"(a|\\\\(n|\"|/|\\\\|u00e9|ud83d\\\\ude00)){0,9}\"",
        1 => "\"\\\\(u12|ud800|x)\"",
        4 => prop::sample::select(others.to_vec()).prop_map(str::to_owned),
    ];
    scalar.prop_recursive(3, 12, 4, |value| {
        prop_oneof![
            prop::collection::vec(value.clone(), 1..4).prop_map(|values| format!("[{}]", values.join(" , "))),
            object(value),
        ]
    })
}

/// An object of values.
fn object(value: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = String> {
    let keys = ["a", "b", "c", "a.b", "\\u0061", "é", "d\\\"e"];
    let key = prop_oneof![20 => prop::sample::select(keys.to_vec()), 1 => Just("")];
    let entry = (key, prop::sample::select(vec!["", " ", "\t", "\r"]), value);
    prop::collection::vec(entry, 0..4).prop_map(|entries| {
        let entries =
            entries.into_iter().map(|(key, blank, value)| format!("\"{key}\"{blank}:{blank}{value}"));
        format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Rows with just such values are converted, which serde_json parses without a mistake.
    #[test]
    fn rows_are_those_of_serde_json(
        rows in prop::collection::vec(object(value()), 1..5),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        excluded in prop::option::weighted(0.2, prop::sample::select(vec!["a", "b", "c.a"])),
    ) {
        let mut text = rows.join("\n");
        if let Some(cut) = cut {
            let at = cut.index(text.len());
            if text.is_char_boundary(at) {
                text.remove(at);
            }
        }
        let exclude = Exclude::new(&Vec::from_iter(excluded.map(str::to_owned)));
        let (expected, fields) = parsed(&text, &exclude);
        let found = converted(&text, &fields, &exclude, true);
        // Text that is left out is not unescaped, many columns may have too few values, and objects of empty objects are left.
        let has_nested = text.split_whitespace().collect::<String>().contains("{}}");
        let is_usual = excluded.is_none() && fields.len() <= 4 && !has_nested;
        if found.is_some() || expected.is_none() || is_usual {
            prop_assert_eq!(&found, &expected, "{}", text);
        }
        let single = converted(&text, &fields, &exclude, false);
        prop_assert!(single.is_none() || single == expected, "{}", text);
    }
}
