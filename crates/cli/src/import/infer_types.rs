//! Infers a column's type from a sample of its values.
//!
//! Each value has a set of types that hold it, and print it as it was written if the column has one format. A column's
//! type is the first one that all of its values have in common.

use crate::api::LogicalType;

use super::column_type::ColumnType;
use super::odd_cells::OddCells;
use super::parse_cell::{is_canonical, parse_bool};
use super::row::Form;
use crate::text::fit::char_start;
use crate::text::number::{float_keeps, is_canonical_integer, parse_float};
use crate::text::time::{Rfc3339, is_timestamp, parse_date, timestamp_for, to_units};

/// A set of types, the preferred one in the lowest bit.
type Types = u16;

/// The bytes of a value that are looked at.
const MAX_TEXT: usize = 4096;

const BOOL: Types = 1;
const I64: Types = 2;
const U64: Types = 4;
const F64: Types = 8;
const DATE: Types = 16;
const TIMESTAMP: Types = 32;
const IP: Types = 64;
const UUID: Types = 128;
const STRING: Types = 256;
const ANY: Types = 511;

/// The evidence of a sample on the type of a column.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// One entry for each class of JSON value; entry 0 is CSV.
    classes: [Class; 4],
    /// The first element of an array, or empty array.
    array: Option<Found>,
    /// The types that some value does not fit, with the first such value.
    refused: Vec<(Types, Found)>,
    /// Whether a CSV file has the column.
    pub(crate) in_csv: bool,
    /// The first value.
    pub(crate) example: Option<String>,
    digits: u8,
    /// Whether some timestamps do not fit nanoseconds in an `i64`.
    beyond_nanos: bool,
    /// The first number that a double rounds.
    rounded: Option<Found>,
    /// The offset of the first timestamp, in seconds; `Some(None)` if it has none.
    offset: Option<Option<i32>>,
    mixed_offsets: bool,
    /// Cells of CSV that keep the column from another type.
    pub(crate) odd_cells: OddCells,
}

/// A value, and its file, line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) text: String,
    pub(crate) place: (String, u64, u64),
}

/// The reason why a column of numbers or timestamps is kept as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeptAsText {
    /// A double rounds this number.
    Rounded(String),
    /// The timestamps differ in their UTC offsets.
    MixedOffsets,
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
        // No longer text is of another type than string.
        let text = &text[..char_start(text, MAX_TEXT)];
        let found = || Found { text: text.to_owned(), place: place() };
        let (class, allowed) = match form {
            Form::Bare | Form::Quoted => (0, ANY),
            Form::Str => (1, DATE | TIMESTAMP | IP | UUID | STRING),
            Form::Number => (2, I64 | U64 | F64),
            Form::Bool => (3, BOOL),
            Form::Null => return,
            Form::EmptyArray => {
                self.array.get_or_insert_with(found);
                return;
            }
        };
        if element {
            self.array.get_or_insert_with(found);
        }
        if class == 0 {
            self.odd_cells.add(text, &place);
        }
        let still = allowed & !self.classes[class].others;
        let types =
            if class == 2 { self.number_types(text, found) } else { self.text_types(text, still, found) };
        let refused = still & !types;
        if refused != 0 {
            self.refused.push((refused, found()));
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
    fn text_types(&mut self, text: &str, still: Types, found: impl Fn() -> Found) -> Types {
        let mut types = STRING;
        if still & BOOL != 0 && parse_bool(text).is_some() {
            types |= BOOL;
        }
        if still & (I64 | U64 | F64) != 0 && (is_canonical_integer(text) || parse_float(text).is_some()) {
            types |= self.number_types(text, found);
        }
        if still & DATE != 0 && parse_date(text).is_some() {
            types |= DATE;
        }
        if still & TIMESTAMP != 0 && self.is_timestamp(text) {
            types |= TIMESTAMP;
        }
        if still & IP != 0 && is_canonical(LogicalType::Ip, text) {
            types |= IP;
        }
        if still & UUID != 0 && is_canonical(LogicalType::Uuid, text) {
            types |= UUID;
        }
        types
    }

    fn is_timestamp(&mut self, text: &str) -> bool {
        let Some(parsed) = Rfc3339::parse(text) else { return false };
        self.digits = self.digits.max(parsed.digits);
        self.beyond_nanos |= to_units(parsed.moment, LogicalType::TimestampNanos).is_none();
        let offset = (!parsed.suffix.is_empty()).then(|| parsed.offset.seconds());
        self.mixed_offsets |= *self.offset.get_or_insert(offset) != offset;
        true
    }

    /// Whether the timestamps of the sample have no offset. They are read as UTC.
    pub(crate) fn has_no_offsets(&self) -> bool {
        self.offset == Some(None)
    }

    /// The types of a number.
    fn number_types(&mut self, text: &str, found: impl Fn() -> Found) -> Types {
        if self.rounded.is_none() && !float_keeps(text) {
            self.rounded = Some(found());
        }
        integer_types(text) | F64
    }

    /// The type with the unit that the timestamps of the sample need.
    pub(crate) fn timestamp(&self) -> LogicalType {
        timestamp_for(self.digits)
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
            let text = ColumnType { logical: LogicalType::Utf8, multi: self.array.is_some(), layout: None };
            return Ok(self.in_csv.then_some(text));
        }
        let first = self.first_type(majority)?;
        let logical = match first {
            _ if self.reason_for_text(first).is_some() => LogicalType::Utf8,
            BOOL => LogicalType::Bool,
            I64 => LogicalType::I64,
            U64 => LogicalType::U64,
            F64 => LogicalType::F64,
            DATE => LogicalType::Date,
            TIMESTAMP => self.timestamp(),
            IP => LogicalType::Ip,
            UUID => LogicalType::Uuid,
            _ => LogicalType::Utf8,
        };
        Ok(Some(ColumnType { logical, multi: self.array.is_some(), layout: None }))
    }

    /// The reason why the decided type is a string, if the values have another type in common.
    pub(crate) fn kept_as_text(&self) -> Option<KeptAsText> {
        self.first_type(true).ok().and_then(|first| self.reason_for_text(first))
    }

    fn reason_for_text(&self, first: Types) -> Option<KeptAsText> {
        match first {
            F64 => self.rounded.as_ref().map(|number| KeptAsText::Rounded(number.text.clone())),
            TIMESTAMP => self.mixed_offsets.then_some(KeptAsText::MixedOffsets),
            _ => None,
        }
    }

    /// The first value that does not fit a type, if it is known.
    pub(crate) fn misfit(&self, ty: ColumnType) -> Option<&Found> {
        if !ty.multi && self.array.is_some() {
            return self.array.as_ref();
        }
        let types = match ty.logical {
            LogicalType::Bool => BOOL,
            LogicalType::I64 => I64,
            LogicalType::U64 => U64,
            LogicalType::F64 => F64,
            LogicalType::Date => DATE,
            LogicalType::Ip => IP,
            LogicalType::Uuid => UUID,
            logical if is_timestamp(logical) => TIMESTAMP,
            _ => 0,
        };
        let refused = self.refused.iter().find(|(refused, _)| refused & types != 0).map(|(_, found)| found);
        refused.or(self.rounded.as_ref().filter(|_| types == F64))
    }

    /// The first type that the values have in common.
    fn first_type(&self, majority: bool) -> Result<Types, Box<Conflict>> {
        let mut types = self.classes.iter().fold(ANY, |types, class| types & !class.others);
        if types & TIMESTAMP != 0 && self.timestamp() == LogicalType::TimestampNanos && self.beyond_nanos {
            types &= !TIMESTAMP;
        }
        if types == 0 {
            let (one, other) = self.conflict();
            if !majority {
                let name = |class: usize| {
                    (CLASS_NAMES[class], self.classes[class].first.clone().unwrap_or_default())
                };
                return Err(Box::new(Conflict { one: name(one), other: name(other) }));
            }
            types = ANY & !self.classes[one].others;
        }
        Ok(types & types.wrapping_neg())
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
    match integer_types(text) {
        types if types & I64 != 0 => LogicalType::I64,
        types if types & U64 != 0 => LogicalType::U64,
        _ => LogicalType::F64,
    }
}

/// The types of integers that a number fits.
fn integer_types(text: &str) -> Types {
    let of = |fits: bool, types: Types| if fits && is_canonical_integer(text) { types } else { 0 };
    of(text.parse::<i64>().is_ok(), I64) | of(text.parse::<u64>().is_ok(), U64)
}

#[cfg(test)]
#[path = "infer_types/tests.rs"]
mod tests;
