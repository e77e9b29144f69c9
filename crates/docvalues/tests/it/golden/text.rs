//! A source as text: one JSON object per document, byte for byte as `docs/read_dv.py` prints it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::Ipv6Addr;

use docvalues::column::{Element, Lists, Values};
use docvalues::format::file::kind::{to_f64, to_u64};
use docvalues::{Column, ColumnSource, DocId, DocRange, LogicalType, Rows};

/// A line per document, with its values in the order of the column names.
pub(crate) fn of(source: &dyn ColumnSource) -> String {
    let fields = source.fields().unwrap();
    let columns: Vec<_> = fields.iter().map(|field| source.column(&field.name).unwrap()).collect();
    let mut out = String::new();
    for doc in DocRange::new(0, source.docs()).iter() {
        let cells = columns.iter().filter_map(|column| {
            Some(format!("{}: {}", string(&column.info().field.name), cell(&**column, doc)?))
        });
        writeln!(out, "{{{}}}", cells.collect::<Vec<_>>().join(", ")).unwrap();
    }
    out
}

/// A line per id of `column`, with the id and its document, in the order of the ids.
pub(crate) fn of_ids(column: &dyn Column) -> String {
    let (rows, mut ids) = (column.values().bytes().expect("ids are bytes"), BTreeMap::new());
    for doc in DocRange::new(0, column.info().docs).iter() {
        let id = row(rows, doc);
        assert!(id.is_none_or(|id| ids.insert(id, doc).is_none()), "an id comes twice");
    }
    ids.iter().map(|(shown, doc)| id(shown, Some(*doc))).collect()
}

/// The line of one id.
pub(crate) fn id(id: &[u8], doc: Option<DocId>) -> String {
    let doc = doc.map_or("null".to_owned(), |doc| doc.to_string());
    format!("{{\"id\": {}, \"doc\": {doc}}}\n", bytes(id, LogicalType::Bytes))
}

/// The value or the list of values that `doc` has in `column`.
fn cell(column: &dyn Column, doc: DocId) -> Option<String> {
    let logical = column.info().field.logical;
    let mut values: Vec<String> = match column.values() {
        Values::Numbers(rows) => row(rows, doc)?.into_iter().map(|stored| number(stored, logical)).collect(),
        Values::Ords(rows, terms) => {
            let mut found = Lists::new();
            terms.gather_terms(&row(rows, doc)?, &mut found).unwrap();
            found.slices().iter().map(|term| bytes(term, logical)).collect()
        }
        Values::Bytes(rows) => vec![bytes(&row(rows, doc)?, logical)],
    };
    if column.info().is_multi_valued() { Some(format!("[{}]", values.join(", "))) } else { values.pop() }
}

/// The row of `doc`, if it has a value.
fn row<T: Element>(rows: &dyn Rows<T>, doc: DocId) -> Option<Vec<T>> {
    let mut row = Vec::new();
    rows.get(doc, &mut row).unwrap().then_some(row)
}

fn number(stored: i64, logical: LogicalType) -> String {
    match logical {
        LogicalType::U64 => to_u64(stored).to_string(),
        LogicalType::F64 => double(to_f64(stored)),
        LogicalType::Bool => (stored == 1).to_string(),
        _ => stored.to_string(),
    }
}

/// The shortest decimal that parses to the same double, as Python prints it.
fn double(value: f64) -> String {
    if !value.is_finite() {
        return format!("{{\"bits\": \"{:016x}\"}}", value.to_bits());
    }
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => format!("{digits}e{:+03}", exponent.parse::<i32>().unwrap()),
        None => text,
    }
}

fn bytes(value: &[u8], logical: LogicalType) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match logical {
        LogicalType::Ip => {
            let ip = Ipv6Addr::from(<[u8; 16]>::try_from(value).unwrap());
            string(&ip.to_ipv4_mapped().map_or(ip.to_string(), |ip| ip.to_string()))
        }
        LogicalType::Uuid => {
            let hex = hex(value);
            let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
            string(&parts.join("-"))
        }
        _ => match str::from_utf8(value) {
            Ok(text) => string(text),
            Err(_) => format!("{{\"hex\": \"{}\"}}", hex(value)),
        },
    }
}

/// A JSON string with only the required escapes.
fn string(text: &str) -> String {
    let mut out = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\0'..' ' => write!(out, "\\u{:04x}", u32::from(char)).unwrap(),
            _ => out.push(char),
        }
    }
    out.push('"');
    out
}
