//! Infers a column's type from a sample of its values.
//!
//! Each value has a set of types that print it exactly as it was written. A column's type is the first one that all of
//! its values have in common.

use crate::api::LogicalType;

use super::column_type::{ColumnType, timestamp};
use super::row::Form;
use crate::number::{integer_fits_float, is_canonical_integer, parse_float};
use crate::time::{Rfc3339, Unit, parse_date};

/// A set of types, the preferred one in the lowest bit.
type Types = u8;

const BOOL: Types = 1;
const I64: Types = 2;
const U64: Types = 4;
const F64: Types = 8;
const DATE: Types = 16;
const TIMESTAMP: Types = 32;
const STRING: Types = 64;
const ANY: Types = 127;

/// The evidence of a sample on the type of a column.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// One entry for each class of JSON value; entry 0 is CSV.
    classes: [Class; 4],
    multi: bool,
    /// Whether a CSV file has the column.
    pub(crate) in_csv: bool,
    /// The first value.
    pub(crate) example: Option<String>,
    digits: u8,
    /// Whether some timestamps do not fit nanoseconds in an `i64`.
    beyond_nanos: bool,
}

#[derive(Clone, Debug, Default)]
struct Class {
    /// Types that some value does not fit.
    others: Types,
    count: u64,
    /// The place of the first value.
    first: Option<(String, u64, u64)>,
}

/// The values of a sample have no type in common.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// A class such as `JSON numbers`, and the place of its first value.
    pub(crate) one: (&'static str, (String, u64, u64)),
    pub(crate) other: (&'static str, (String, u64, u64)),
}

const CLASS_NAMES: [&str; 4] = ["CSV cells", "JSON strings", "JSON numbers", "JSON booleans"];

impl Evidence {
    /// Adds a value that is not missing. Messages on conflicts show `place`.
    pub(crate) fn add(
        &mut self,
        form: Form,
        element: bool,
        text: &str,
        place: impl Fn() -> (String, u64, u64),
    ) {
        let (class, allowed) = match form {
            Form::Bare | Form::Quoted => (0, ANY),
            Form::Str => (1, DATE | TIMESTAMP | STRING),
            Form::Number => (2, I64 | U64 | F64),
            Form::Bool => (3, BOOL),
            Form::Null => return,
            Form::EmptyArray => {
                self.multi = true;
                return;
            }
        };
        self.multi |= element;
        let still = allowed & !self.classes[class].others;
        let types = if class == 2 { number_types(text, json_fits) } else { self.text_types(text, still) };
        if types == 0 {
            // No type fits, as for 1e400. The second pass reports it.
            return;
        }
        let entry = &mut self.classes[class];
        entry.others = ANY & !(still & types);
        entry.count += 1;
        if entry.first.is_none() {
            entry.first = Some(place());
            self.example.get_or_insert_with(|| text.to_owned());
        }
    }

    /// Whether there was no value.
    pub(crate) fn is_empty(&self) -> bool {
        self.classes.iter().all(|class| class.count == 0)
    }

    /// The types of `still` that a text fits.
    fn text_types(&mut self, text: &str, still: Types) -> Types {
        let mut types = STRING;
        if still & BOOL != 0 && matches!(text, "true" | "false") {
            types |= BOOL;
        }
        if still & (I64 | U64 | F64) != 0 {
            types |= number_types(text, |text| parse_float(text).is_some());
        }
        if still & DATE != 0 && parse_date(text).is_some() {
            types |= DATE;
        }
        if still & TIMESTAMP != 0 && self.is_timestamp(text) {
            types |= TIMESTAMP;
        }
        types
    }

    fn is_timestamp(&mut self, text: &str) -> bool {
        // RFC 3339 requires an offset. A time without one is ambiguous.
        let Some(parsed) = Rfc3339::parse(text).filter(|parsed| !parsed.suffix.is_empty()) else {
            return false;
        };
        self.digits = self.digits.max(parsed.digits);
        self.beyond_nanos |= Unit::Nanos.count(parsed.moment).is_none();
        true
    }

    /// The unit that the timestamps of the sample need.
    pub(crate) fn unit(&self) -> Unit {
        Unit::for_digits(self.digits).unwrap_or(Unit::Nanos)
    }

    /// The type of the column; `None` if the sample had no value. With `majority`, the most frequent class of JSON
    /// values decides conflicts.
    ///
    /// # Errors
    ///
    /// Returns [`Conflict`] if values have no type in common and `majority` is not set.
    pub(crate) fn decide(&self, majority: bool) -> Result<Option<ColumnType>, Box<Conflict>> {
        if self.is_empty() {
            // Text is always exact. In JSON, the first value decides.
            let text = ColumnType { logical: LogicalType::Utf8, multi: self.multi, layout: None };
            return Ok(self.in_csv.then_some(text));
        }
        let mut types = self.classes.iter().fold(ANY, |types, class| types & !class.others);
        if types & TIMESTAMP != 0 && self.unit() == Unit::Nanos && self.beyond_nanos {
            types &= !TIMESTAMP;
        }
        if types == 0 {
            let (one, other) = self.conflict();
            if !majority || one == other {
                let name = |class: usize| {
                    (CLASS_NAMES[class], self.classes[class].first.clone().unwrap_or_default())
                };
                return Err(Box::new(Conflict { one: name(one), other: name(other) }));
            }
            types = ANY & !self.classes[one].others;
        }
        let logical = match types & types.wrapping_neg() {
            BOOL => LogicalType::Bool,
            I64 => LogicalType::I64,
            U64 => LogicalType::U64,
            F64 => LogicalType::F64,
            DATE => LogicalType::Date,
            TIMESTAMP => timestamp(self.unit()),
            _ => LogicalType::Utf8,
        };
        Ok(Some(ColumnType { logical, multi: self.multi, layout: None }))
    }

    /// The two classes with the most values; the same one twice if there is only one.
    fn conflict(&self) -> (usize, usize) {
        let mut order: Vec<usize> = (0..4).filter(|class| self.classes[*class].count > 0).collect();
        order.sort_by_key(|class| std::cmp::Reverse(self.classes[*class].count));
        let one = order.first().copied().unwrap_or(0);
        (one, order.get(1).copied().unwrap_or(one))
    }
}

/// The first type that a JSON number fits.
pub(super) fn narrowest_number(text: &str) -> LogicalType {
    match number_types(text, json_fits) {
        types if types & I64 != 0 => LogicalType::I64,
        types if types & U64 != 0 => LogicalType::U64,
        _ => LogicalType::F64,
    }
}

/// The types that print a number exactly. `fits` decides for f64 if the number is not an integer.
fn number_types(text: &str, fits: impl Fn(&str) -> bool) -> Types {
    if !is_canonical_integer(text) {
        return if fits(text) { F64 } else { 0 };
    }
    let of = |fits: bool, types: Types| if fits { types } else { 0 };
    of(text.parse::<i64>().is_ok(), I64)
        | of(text.parse::<u64>().is_ok(), U64)
        | of(integer_fits_float(text), F64)
}

/// Whether an f64 stores a JSON number.
fn json_fits(text: &str) -> bool {
    text.parse().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(form: Form, texts: &[&str]) -> Evidence {
        let mut evidence = Evidence::default();
        add(&mut evidence, form, texts);
        evidence
    }

    fn add(evidence: &mut Evidence, form: Form, texts: &[&str]) {
        for text in texts {
            evidence.add(form, false, text, || ("f".to_owned(), 1, 1));
        }
    }

    fn csv(texts: &[&str]) -> String {
        evidence(Form::Bare, texts).decide(false).unwrap().unwrap().to_string()
    }

    fn json(form: Form, texts: &[&str]) -> String {
        evidence(form, texts).decide(false).unwrap().unwrap().to_string()
    }

    #[test]
    fn csv_columns_take_the_narrowest_type_that_loses_nothing() {
        assert_eq!(csv(&["true", "false"]), "bool");
        assert_eq!(csv(&["True", "false"]), "string");
        assert_eq!(csv(&["1", "-5", "9223372036854775807"]), "i64");
        assert_eq!(csv(&["1", "18446744073709551615"]), "u64");
        assert_eq!(csv(&["-1", "18446744073709551615"]), "string");
        assert_eq!(csv(&["1", "18446744073709551616"]), "f64");
        assert_eq!(csv(&["1", "18446744073709551617"]), "string");
        assert_eq!(csv(&["1", "2.5", "-inf", "NaN"]), "f64");
        assert_eq!(csv(&["9007199254740993", "2.5"]), "string");
        assert_eq!(csv(&["007", "8"]), "string");
        assert_eq!(csv(&["+5"]), "string");
        assert_eq!(csv(&["-0"]), "string");
        assert_eq!(csv(&["0", "1"]), "i64");
        assert_eq!(csv(&["1", "true"]), "string");
        assert_eq!(csv(&["2013-01-31"]), "date");
        assert_eq!(csv(&["2013-01-31", "2013-02-30"]), "string");
        assert_eq!(csv(&["2013-01-31", "2013"]), "string");
        assert_eq!(csv(&[" 1"]), "string");
    }

    #[test]
    fn timestamps_take_the_unit_of_their_digits() {
        assert_eq!(csv(&["2013-01-01T06:00:00Z"]), "timestamp[ms]");
        assert_eq!(csv(&["2013-01-01T06:00:00Z", "2013-01-01 06:00:00.123456+02:00"]), "timestamp[us]");
        assert_eq!(csv(&["2013-01-01T06:00:00.1234567Z"]), "timestamp[ns]");
        assert_eq!(csv(&["2013-01-01T06:00:00.1234567Z", "1600-01-01T00:00:00Z"]), "string");
        assert_eq!(csv(&["2013-01-01T06:00:00"]), "string");
        assert_eq!(csv(&["2013-01-01T06:00:00Z", "2013-01-01"]), "string");
    }

    #[test]
    fn json_values_keep_their_kind() {
        assert_eq!(json(Form::Str, &["1", "2"]), "string");
        assert_eq!(json(Form::Str, &["true"]), "string");
        assert_eq!(json(Form::Str, &["2013-01-31"]), "date");
        assert_eq!(json(Form::Str, &["2013-01-31T00:00:00Z"]), "timestamp[ms]");
        assert_eq!(json(Form::Number, &["1", "-2"]), "i64");
        assert_eq!(json(Form::Number, &["1", "18446744073709551615"]), "u64");
        assert_eq!(json(Form::Number, &["1", "2.0"]), "f64");
        assert_eq!(json(Form::Number, &["-0"]), "f64");
        assert_eq!(json(Form::Bool, &["true"]), "bool");
    }

    #[test]
    fn conflicts_name_both_sides_or_the_majority_decides() {
        let mut mixed = evidence(Form::Number, &["1", "2"]);
        add(&mut mixed, Form::Str, &["x"]);
        let conflict = mixed.decide(false).unwrap_err();
        assert_eq!((conflict.one.0, conflict.other.0), ("JSON numbers", "JSON strings"));
        assert_eq!(mixed.decide(true), Ok(Some(ColumnType::single(LogicalType::I64))));
        let wide = evidence(Form::Number, &["-1", "18446744073709551615"]);
        assert!(wide.decide(true).is_err());
    }

    #[test]
    fn csv_and_json_files_meet_in_one_column() {
        let mut both = evidence(Form::Number, &["1"]);
        add(&mut both, Form::Bare, &["2.5"]);
        assert_eq!(both.decide(false).unwrap().unwrap().logical, LogicalType::F64);
        add(&mut both, Form::Bare, &["x"]);
        assert!(both.decide(false).is_err());
    }

    #[test]
    fn columns_without_values_are_text_in_csv_and_open_in_json() {
        let mut none = Evidence::default();
        assert_eq!(none.decide(false), Ok(None));
        none.in_csv = true;
        assert_eq!(none.decide(false), Ok(Some(ColumnType::single(LogicalType::Utf8))));
    }
}
