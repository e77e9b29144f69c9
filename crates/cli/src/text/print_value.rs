//! Prints stored values as CSV cells and JSON, the inverse of `import`.
//!
//! | type | CSV | JSON |
//! | --- | --- | --- |
//! | `i64` `u64` `bool` | `-5`, `true` | the same |
//! | `f64` | the fewest digits that identify the double, with a point: `32.0`, `0.01`, `NaN`; in tables `32` | the same; NaN and infinity are `null` in documents, and in answers `"NaN"`, `"inf"`, `"-inf"` |
//! | `date` `timestamp` | in the format of the input, or ISO 8601; years before 0 and after 9999 have a sign | the same, a string |
//! | `ip` | RFC 5952; mapped IPv4 addresses as such | the same, a string |
//! | `uuid` | 8-4-4-4-12 lower-case digits | the same, a string |
//! | `string` | itself | a string |
//! | `bytes` | lower-case hexadecimal | the same, a string |
//! | several values | a JSON array, or with the input's separator | an array |
//! | missing | empty, or the input's token | no key, or as in the input |

use std::net::Ipv6Addr;

use serde_json::value::RawValue;

use crate::api::{Field, LogicalType, to_f64, to_u64};

use super::json::{Json, is_rounded};
use super::number::FloatStyle;
use super::quoting;
use super::stored_ref::StoredRef;
use super::text_format::TextFormat;
use super::time::{TimeFormat, from_units, is_timestamp};

/// Prints the values of one column.
#[derive(Clone, Debug)]
pub(crate) struct Printer {
    logical: LogicalType,
    /// Whether a document can have several values.
    multi: bool,
    text_format: TextFormat,
    time: TimeFormat,
}

impl Printer {
    /// A printer for a column with the text format `format`.
    pub(crate) fn new(logical: LogicalType, multi: bool, format: Option<&str>) -> Printer {
        let text_format = format.map(TextFormat::parse).unwrap_or_default();
        let time = text_format.time.clone().unwrap_or_else(|| match logical {
            LogicalType::Date => TimeFormat::iso_date(),
            _ => TimeFormat::canonical(),
        });
        Printer { logical, multi, text_format, time }
    }

    /// A printer for single values of a column.
    pub(crate) fn of(field: &Field) -> Printer {
        Printer::new(field.logical, false, field.format.as_deref())
    }

    /// Appends a CSV cell with the values of a document, quoted if necessary.
    pub(crate) fn csv(&self, values: &[StoredRef<'_>], delimiter: char, out: &mut String) {
        let start = out.len();
        match values {
            [] => {
                out.push_str(self.text_format.missing.as_deref().unwrap_or(""));
                quoting::quote_csv(out, start, delimiter, |_| false);
                return;
            }
            [value] if !self.multi => self.cell(*value, out),
            values => match &self.text_format.separator {
                Some(separator) => {
                    quoting::joined(values, separator, out, |value, out| self.cell(*value, out))
                }
                None => self.json_array(values, true, out),
            },
        }
        quoting::quote_csv_value(out, start, delimiter, self.text_format.missing.as_deref());
    }

    /// Appends a value of a CSV cell. Doubles have a point, so that they are no integers when they are read again.
    fn cell(&self, value: StoredRef<'_>, out: &mut String) {
        match (self.logical, value, self.text_format.float) {
            (LogicalType::F64, StoredRef::Number(stored), None) => {
                FloatStyle::Point.print(to_f64(stored), out);
            }
            _ => self.text(value, out),
        }
    }

    /// Appends the values without quotes, separated by commas.
    pub(crate) fn plain(&self, values: &[StoredRef<'_>], out: &mut String) {
        quoting::joined(values, ", ", out, |value, out| self.text(*value, out));
    }

    /// Whether some of the values are `null` in JSON: NaN and infinity.
    pub(crate) fn has_nulls(&self, values: &[StoredRef<'_>]) -> bool {
        let is_finite = |value: &StoredRef<'_>| match value {
            StoredRef::Number(stored) => to_f64(*stored).is_finite(),
            StoredRef::Bytes(_) => true,
        };
        self.logical == LogicalType::F64 && !values.iter().all(is_finite)
    }

    /// Appends the JSON of the values. Returns `false` and appends nothing if the key is left out.
    pub(crate) fn json(&self, values: &[StoredRef<'_>], out: &mut String) -> bool {
        self.json_or_text(values, false, out)
    }

    /// As [`json`](Self::json); NaN and infinity are strings if `nulls_as_text`.
    pub(crate) fn json_or_text(
        &self,
        values: &[StoredRef<'_>],
        nulls_as_text: bool,
        out: &mut String,
    ) -> bool {
        match values {
            [] => match self.text_format.json_missing {
                None => return false,
                Some(json) => out.push_str(json),
            },
            [value] if !self.multi => self.json_item(*value, nulls_as_text, out),
            values => self.json_array(values, nulls_as_text, out),
        }
        true
    }

    /// A value of an answer as JSON. NaN and infinity are strings, because `null` would be ambiguous, and so are integers
    /// that many JSON readers round.
    pub(crate) fn json_value<'v>(&self, value: impl Into<StoredRef<'v>>) -> Json {
        let value = value.into();
        let mut text = String::new();
        self.json_scalar(value, &mut text);
        let is_integer = self.logical != LogicalType::F64;
        if self.has_nulls(&[value]) || is_integer && text.parse().is_ok_and(is_rounded) {
            text = quoting::json_text(&self.to_text(value));
        }
        // It is JSON.
        Json::Raw(RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// Appends an array. In a CSV cell, NaN and infinities are strings: `dv` reads no array with `null`.
    fn json_array(&self, values: &[StoredRef<'_>], nulls_as_text: bool, out: &mut String) {
        out.push('[');
        quoting::joined(values, ",", out, |value, out| self.json_item(*value, nulls_as_text, out));
        out.push(']');
    }

    fn json_item(&self, value: StoredRef<'_>, nulls_as_text: bool, out: &mut String) {
        match nulls_as_text && self.has_nulls(&[value]) {
            true => quoting::json_string(&self.to_text(value), out),
            false => self.json_scalar(value, out),
        }
    }

    fn json_scalar(&self, value: StoredRef<'_>, out: &mut String) {
        match (self.logical, value) {
            (LogicalType::F64, StoredRef::Number(stored)) => match to_f64(stored) {
                double if double.is_finite() => {
                    let style = self.text_format.float.filter(|style| *style != FloatStyle::Cell);
                    style.unwrap_or(FloatStyle::Point).print(double, out);
                }
                _ => out.push_str("null"),
            },
            (LogicalType::I64 | LogicalType::U64 | LogicalType::Bool, _) => self.text(value, out),
            (logical, _) if self.text_format.epoch && is_timestamp(logical) => self.text(value, out),
            _ => quoting::json_string(&self.to_text(value), out),
        }
    }

    /// A value without quotes of any kind.
    pub(crate) fn to_text<'v>(&self, value: impl Into<StoredRef<'v>>) -> String {
        let mut text = String::new();
        self.text(value.into(), &mut text);
        text
    }

    /// Appends a value without quotes of any kind.
    pub(crate) fn text(&self, value: StoredRef<'_>, out: &mut String) {
        match value {
            StoredRef::Number(stored) => self.number(stored, out),
            StoredRef::Bytes(bytes) => match (self.logical, <[u8; 16]>::try_from(bytes)) {
                (LogicalType::Utf8, _) => out.push_str(&String::from_utf8_lossy(bytes)),
                (LogicalType::Ip, Ok(octets)) => out.push_str(&print_ip(octets)),
                (LogicalType::Uuid, Ok(octets)) => {
                    for (index, byte) in octets.iter().enumerate() {
                        out.push_str(if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" });
                        quoting::hex(*byte, out);
                    }
                }
                _ => bytes.iter().for_each(|byte| quoting::hex(*byte, out)),
            },
        }
    }

    fn number(&self, stored: i64, out: &mut String) {
        use std::fmt::Write as _;
        let is_printed = match (self.logical, from_units(stored, self.logical)) {
            (LogicalType::Date, _) => self.time.print_day(stored, out),
            (_, Some(moment)) if !self.text_format.epoch => match &self.text_format.zone {
                Some(zone) => self.time.print_in(zone, moment, out),
                None => self.time.print(moment, out),
            },
            _ => false,
        };
        if is_printed {
            return;
        }
        // Writing to a string cannot fail.
        let _ = match self.logical {
            LogicalType::U64 => write!(out, "{}", to_u64(stored)),
            LogicalType::Bool => out.write_str(if stored == 0 { "false" } else { "true" }),
            LogicalType::F64 => {
                self.text_format.float.unwrap_or(FloatStyle::Shortest).print(to_f64(stored), out);
                Ok(())
            }
            _ => write!(out, "{stored}"),
        };
    }
}

/// The canonical text of a stored address (RFC 5952); IPv4-mapped addresses are printed as IPv4.
pub(crate) fn print_ip(octets: [u8; 16]) -> String {
    Ipv6Addr::from(octets).to_canonical().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{from_f64, from_u64};
    use StoredRef::{Bytes, Number};

    fn both(logical: LogicalType, format: &str, values: &[StoredRef<'_>]) -> (String, String) {
        let printer = Printer::new(logical, values.len() > 1, Some(format));
        let (mut csv, mut json) = (String::new(), String::new());
        printer.csv(values, ',', &mut csv);
        if !printer.json(values, &mut json) {
            json.push('-');
        }
        (csv, json)
    }

    #[track_caller]
    fn check(logical: LogicalType, format: &str, value: StoredRef<'_>, csv: &str, json: &str) {
        assert_eq!(both(logical, format, &[value]), (csv.to_owned(), json.to_owned()));
    }

    #[test]
    fn every_type_prints() {
        use LogicalType as T;
        check(T::I64, "", Number(-5), "-5", "-5");
        check(T::U64, "", Number(from_u64(u64::MAX)), "18446744073709551615", "18446744073709551615");
        check(T::F64, "", Number(from_f64(32.0)), "32.0", "32.0");
        check(T::F64, "float=shortest", Number(from_f64(-0.0)), "-0.0", "-0.0");
        check(T::F64, "float=2", Number(from_f64(32.0)), "32.00", "32.00");
        check(T::F64, "float=shortest", Number(from_f64(32.0)), "32", "32");
        check(T::F64, "float=cell", Number(from_f64(32.0)), "32", "32.0");
        check(T::F64, "", Number(from_f64(1e300)), "1e300", "1e300");
        check(T::F64, "", Number(from_f64(f64::NAN)), "NaN", "null");
        check(T::F64, "float=2", Number(from_f64(f64::NEG_INFINITY)), "-inf", "null");
        check(T::Bool, "", Number(1), "true", "true");
        check(T::Date, "", Number(-1), "1969-12-31", "\"1969-12-31\"");
        check(T::Date, "%d.%m.%Y", Number(0), "01.01.1970", "\"01.01.1970\"");
        check(T::Date, "", Number(1 << 40), "+3010362559-12-15", "\"+3010362559-12-15\"");
        check(T::Date, "", Number(i64::MIN), "-25252734927764585-06-07", "\"-25252734927764585-06-07\"");
        check(T::Date, "%d.%m.%Y", Number(1 << 40), "1099511627776", "\"1099511627776\"");
        let last = "+292278994-08-17T07:12:55.807Z";
        check(T::TimestampMillis, "", Number(i64::MAX), last, &format!("\"{last}\""));
        check(T::TimestampMillis, "", Number(1500), "1970-01-01T00:00:01.5Z", "\"1970-01-01T00:00:01.5Z\"");
        check(T::TimestampMicros, "epoch", Number(1500), "1500", "1500");
        check(
            T::Ip,
            "",
            Bytes(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1]),
            "10.0.0.1",
            "\"10.0.0.1\"",
        );
        let id = "01010101-0101-0101-0101-010101010101";
        check(T::Uuid, "", Bytes(&[1; 16]), id, &format!("\"{id}\""));
        check(T::Utf8, "", Bytes("a\"b,c\n".as_bytes()), "\"a\"\"b,c\n\"", r#""a\"b,c\n""#);
        check(T::Bytes, "", Bytes(&[0, 255]), "00ff", "\"00ff\"");
    }

    #[test]
    fn missing_values_are_spelled_as_they_were() {
        let none = |format: &str| both(LogicalType::Utf8, format, &[]);
        assert_eq!(none(""), (String::new(), "-".to_owned()));
        assert_eq!(none("missing=NA"), ("NA".to_owned(), "-".to_owned()));
        assert_eq!(none("json-missing=null"), (String::new(), "null".to_owned()));
        assert_eq!(none("json-missing=[]"), (String::new(), "[]".to_owned()));
    }

    #[test]
    fn text_that_would_be_read_as_missing_is_quoted() {
        for token in ["", "NA", "null", "-"] {
            let (csv, _) = both(LogicalType::Utf8, "missing=-", &[Bytes(token.as_bytes())]);
            assert_eq!(csv, format!("\"{token}\""));
        }
    }

    #[test]
    fn several_values_are_an_array_or_separated() {
        let values = [Bytes(b"a"), Bytes(b"b,c")];
        assert_eq!(
            both(LogicalType::Utf8, "", &values),
            (r#""[""a"",""b,c""]""#.into(), r#"["a","b,c"]"#.into())
        );
        assert_eq!(both(LogicalType::Utf8, "separator=|", &values).0, "\"a|b,c\"");
        let numbers = [Number(1), Number(2)];
        assert_eq!(both(LogicalType::I64, "", &numbers), ("\"[1,2]\"".to_owned(), "[1,2]".to_owned()));
    }

    #[test]
    fn hostile_numbers_do_not_panic() {
        for logical in LogicalType::ALL {
            for stored in [i64::MIN, -1, 0, i64::MAX] {
                both(logical, "%Y-%m-%dT%H:%M:%S%:z;offset=+23:59", &[Number(stored)]);
                both(logical, "", &[Number(stored), Bytes(b"\xff")]);
            }
        }
    }
}
