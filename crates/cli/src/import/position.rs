//! Positions in a sort order as text: the cells of a CSV line.

use super::csv::tokens::Tokenizer;
use super::parse_cell::CellParser;
use super::row::Form;
use crate::api::Field;
use crate::api::search::Value;
use crate::text::quoting::quote_csv;
use crate::text::words::{excerpt, with_text};
use crate::text::{Printer, StoredRef};

/// Prints a value for each of `fields`, and a document. No value is an empty cell.
pub(crate) fn print(fields: &[Field], values: &[Option<Value>], document: &str) -> String {
    let mut line = String::new();
    for (field, value) in fields.iter().zip(values) {
        if let Some(value) = value {
            Printer::new(field.logical, false, None).csv(&[StoredRef::from(value)], ',', &mut line);
        }
        line.push(',');
    }
    let start = line.len();
    line.push_str(document);
    quote_csv(&mut line, start, ',', |_| false);
    line
}

/// Parses a value for each of `fields`, and the document after them, if there is one.
///
/// # Errors
///
/// Returns a message if there are more or fewer values, or one is not of the type of its field.
pub(crate) fn parse(fields: &[Field], line: &str) -> Result<(Vec<Option<Value>>, Option<String>), String> {
    let mut cells = cells(line)?;
    let (found, expected) = (cells.len(), fields.len());
    let document = if found == expected + 1 { cells.pop().map(|(_, text)| text) } else { None };
    if cells.len() != expected {
        return Err(format!("expected {expected} values, and a document if you like, found {found}"));
    }
    let value = |(field, (form, text)): (&Field, &(Form, String))| {
        if *form == Form::Bare && text.is_empty() {
            return Ok(None);
        }
        let logical = field.logical;
        let parser = CellParser { logical, explicit: true, has_no_offsets: false, time: None };
        parser.value(*form, text).map(Some).map_err(|mismatch| {
            let problem = format!("column {:?} ({}): {}", field.name, logical.name(), mismatch.problem);
            with_text(&problem, &excerpt(text.as_bytes()))
        })
    };
    let values = fields.iter().zip(&cells).map(value).collect::<Result<_, String>>()?;
    Ok((values, document))
}

/// The cells of a line.
fn cells(line: &str) -> Result<Vec<(Form, String)>, &'static str> {
    match Tokenizer::COMMAS.record(line) {
        Ok((cells, end)) if end == line.len() => Ok(cells),
        Ok(_) => Err("expected one line"),
        Err(_) => Err("expected a comma after each pair of quotes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Kind, LogicalType, from_f64};

    fn field(name: &str, logical: LogicalType) -> Field {
        let kind = if logical.is_bytes() { Kind::Binary } else { Kind::Numeric };
        Field::new(name, kind, logical)
    }

    #[test]
    fn positions_are_read_as_they_are_printed() {
        let numbers = [
            (LogicalType::I64, i64::MIN),
            (LogicalType::U64, -7),
            (LogicalType::F64, from_f64(0.1)),
            (LogicalType::F64, from_f64(f64::NAN)),
            (LogicalType::F64, from_f64(f64::NEG_INFINITY)),
            (LogicalType::Bool, 1),
            (LogicalType::Date, -3),
            (LogicalType::TimestampMillis, 1_700_000_000_123),
            (LogicalType::TimestampNanos, -1),
        ];
        let mut all: Vec<_> =
            numbers.map(|(logical, stored)| (logical, Some(Value::of(logical, stored)))).to_vec();
        let texts = ["", "NA", "a,b", "say \"no\"", "two\nlines", " ü "];
        all.extend(texts.map(|text| (LogicalType::Utf8, Some(text.into()))));
        all.push((LogicalType::Uuid, Some(Value::Bytes(vec![7; 16]))));
        all.push((LogicalType::Bytes, Some(Value::Bytes(vec![0, 255]))));
        all.push((LogicalType::Utf8, None));
        let (types, values): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let fields: Vec<Field> = types.into_iter().map(|logical| field("it", logical)).collect();
        let line = print(&fields, &values, "b,c.dv:7");
        assert_eq!(parse(&fields, &line), Ok((values.clone(), Some("b,c.dv:7".to_owned()))), "{line}");
        let without = line.strip_suffix(",\"b,c.dv:7\"").unwrap();
        assert_eq!(parse(&fields, without), Ok((values, None)), "{without}");
    }

    #[test]
    fn other_values_are_refused() {
        let fields = [field("size", LogicalType::I64), field("name", LogicalType::Utf8)];
        let refused = |line| parse(&fields, line).unwrap_err();
        assert!(refused("1.5,a").starts_with("column \"size\" (i64): "), "{}", refused("1.5,a"));
        assert_eq!(refused("1"), "expected 2 values, and a document if you like, found 1");
        assert_eq!(refused("1,a,2,3"), "expected 2 values, and a document if you like, found 4");
        assert_eq!(refused("1,\"a"), "expected a comma after each pair of quotes");
        assert_eq!(refused("1,a\n2,b"), "expected one line");
    }
}
