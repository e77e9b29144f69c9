//! Columns of an import: their types, and the formats in which their values are written.

use std::sync::Arc;

use jiff::tz::Offset;

use crate::api::LogicalType;

use super::column_type::ColumnType;
use super::infer_types::{Found, KeptAsText};
use super::parse_cell::{CellParser, ValueStyle};
use super::row::Form;
use super::schema::{ColumnRequest, TimeRequest};
use super::spellings::{Joined, Spellings};
use crate::text::number::{ALL_STYLES, FloatStyle};
use crate::text::text_format::TextFormat;
use crate::text::time::{Rfc3339, TimeFormat, is_time};

/// The CSV cells that stand for a missing value.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingTokens {
    tokens: Vec<String>,
    /// The indexes of `NA` and `null`, unless the user names them.
    defaults: Vec<usize>,
    /// The length of the longest token.
    longest: usize,
}

impl MissingTokens {
    /// The empty cell; `NA` and `null`, unless `plain`; and the tokens in `more`.
    pub(crate) fn new(plain: bool, more: &[String]) -> MissingTokens {
        let common: &[&str] = if plain { &[""] } else { &["", "NA", "null"] };
        let is_default = |index: &usize| !more.iter().any(|token| token == common[*index]);
        let tokens: Vec<_> = common.iter().map(|&t| t.to_owned()).chain(more.iter().cloned()).collect();
        MissingTokens {
            longest: tokens.iter().map(String::len).max().unwrap_or(0),
            tokens,
            defaults: (1..common.len()).filter(is_default).collect(),
        }
    }

    /// The tokens of a set of indexes that are there by default.
    pub(crate) fn defaults(&self, seen: u32) -> impl Iterator<Item = &str> {
        let seen = self.defaults.iter().filter(move |index| seen >> **index & 1 == 1);
        seen.filter_map(|index| self.tokens.get(*index)).map(String::as_str)
    }

    /// The index of the token that equals a CSV cell.
    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        if text.len() > self.longest {
            return None;
        }
        self.tokens.iter().position(|token| token == text)
    }
}

/// The way in which the input writes a missing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A CSV cell: the index of its token.
    Token(usize),
    Null,
    EmptyArray,
}

/// A column of the segment to build.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// `None` until the sample or the first value decides.
    pub(crate) ty: Option<ColumnType>,
    /// Whether the user requested the type.
    pub(crate) explicit: bool,
    pub(crate) time: Option<TimeRequest>,
    pub(crate) separator: Option<String>,
    /// Whether the column is left out.
    pub(crate) excluded: bool,
    /// Whether the header of a file names the column, so that it exists even without values.
    pub(crate) in_header: bool,
    /// The type in the schema of a Parquet or Arrow file.
    pub(crate) declared: Option<DeclaredType>,
    /// The reason why the type is string although the sample has another type in common.
    pub(crate) kept_as_text: Option<KeptAsText>,
    /// A note on cells of the sample that keep the column from another type than string.
    pub(crate) odd_cells: Option<String>,
    /// Whether the type is inferred from timestamps without an offset, which are read as UTC.
    pub(crate) has_no_offsets: bool,
    /// The type of the sample, if all rows have another one in common.
    pub(crate) widened: Option<Widened>,
    /// Whether the sample had no value, so that the type is a guess.
    pub(crate) unsampled: bool,
    /// The first value of the sample.
    pub(crate) example: Option<String>,
    /// Documents with a value.
    pub(crate) documents: u64,
    pub(crate) values: u64,
    /// Whether the values of some document were sorted, or equal strings among them stored once.
    pub(crate) reordered: bool,
    /// The most numbers whose spellings are remembered.
    pub(crate) most_spellings: usize,
    observed: ObservedStyle,
}

/// The change of a type by values after the sample.
#[derive(Clone, Debug)]
pub(crate) struct Widened {
    /// The type of the sample.
    pub(crate) from: ColumnType,
    /// The first value that does not fit it, if it is known.
    pub(crate) misfit: Option<Found>,
}

/// The type of a column in the schema of a file.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredType {
    pub(crate) ty: ColumnType,
    /// The file's name for the type.
    pub(crate) called: String,
    pub(crate) file: Arc<str>,
}

/// The format that all values so far have in common.
#[derive(Clone, Debug, Default)]
struct ObservedStyle {
    /// Whether some value will be printed in a format other than that of the input.
    lost: bool,
    /// The float styles that at least one value does not have, as a bit set.
    other_styles: u32,
    json_float: bool,
    separator: Common<char>,
    suffix: Common<[u8; Rfc3339::MAX_SUFFIX]>,
    /// The fraction styles that at least one value does not have, as a bit set.
    other_fractions: u16,
    /// The offset of values in the user's format.
    offset: Common<Offset>,
    missing: Common<Missing>,
    missing_count: u64,
    /// The indexes of the first tokens for missing values, as a bit set.
    tokens: u32,
    /// The spellings of CSV cells in a column of inferred type.
    spellings: Spellings,
}

/// `None` before the first value, `Some(Some(_))` while all values are equal, `Some(None)` once two differ.
type Common<T> = Option<Option<T>>;

/// Updates `agreed` with those that other values have in common.
fn agree_all<T: PartialEq>(agreed: &mut Common<T>, other: Common<T>) {
    match other {
        None => {}
        Some(None) => *agreed = Some(None),
        Some(Some(seen)) => agree(agreed, seen),
    }
}

/// Updates `agreed` with one more value.
fn agree<T: PartialEq>(agreed: &mut Common<T>, seen: T) {
    match agreed {
        None => *agreed = Some(Some(seen)),
        // Nearly all values are equal, which writes nothing.
        Some(Some(known)) if *known == seen => {}
        Some(_) => *agreed = Some(None),
    }
}

impl Column {
    pub(crate) fn new(name: &str, request: Option<&ColumnRequest>) -> Column {
        Column {
            name: name.to_owned(),
            explicit: request.is_some(),
            time: request.and_then(|request| request.time.clone()),
            separator: request.and_then(|request| request.separator.clone()),
            ..Column::default()
        }
    }

    /// The same column before its first value.
    pub(crate) fn unobserved(&self) -> Column {
        let (documents, values, reordered, observed) = Default::default();
        Column { documents, values, reordered, observed, ..self.clone() }
    }

    /// Takes what was observed in another column, as if its values had been in this one.
    pub(crate) fn absorb(&mut self, other: &mut Column) {
        self.documents += std::mem::take(&mut other.documents);
        self.values += std::mem::take(&mut other.values);
        self.reordered |= std::mem::take(&mut other.reordered);
        self.observed.absorb(std::mem::take(&mut other.observed), self.most_spellings);
    }

    /// The parser of the cells of this column, as type `ty`.
    pub(crate) fn cell_parser(&self, ty: ColumnType) -> CellParser<'_> {
        // Text kept from numbers takes JSON numbers.
        let explicit = self.explicit || self.kept_as_text.is_some();
        let has_no_offsets = self.has_no_offsets;
        CellParser { logical: ty.logical, explicit, has_no_offsets, time: self.time.as_ref() }
    }

    /// Returns how a cell writes a missing value, or `None` if the cell has a value.
    pub(crate) fn missing(&self, form: Form, text: &str, tokens: &MissingTokens) -> Option<Missing> {
        match form {
            Form::Null => Some(Missing::Null),
            Form::EmptyArray => Some(Missing::EmptyArray),
            Form::Bare => tokens.find(text).map(Missing::Token),
            // A quoted NA is text in a column of text. In other columns it is a missing value, because some writers
            // quote every cell.
            Form::Quoted if !self.is_text() => tokens.find(text).map(Missing::Token),
            Form::Quoted | Form::Str | Form::Number | Form::Bool => None,
        }
    }

    fn is_text(&self) -> bool {
        self.ty.is_some_and(|ty| !ty.multi && matches!(ty.logical, LogicalType::Utf8 | LogicalType::Bytes))
    }

    /// Records the format of a value that was added to a document.
    #[inline(always)]
    pub(crate) fn observe(&mut self, mark: ValueStyle) {
        let observed = &mut self.observed;
        self.values += 1;
        match mark {
            ValueStyle::Canonical => {}
            ValueStyle::Lost => observed.lost = true,
            ValueStyle::Float { styles, json } => {
                observed.other_styles |= !styles;
                observed.json_float |= json;
            }
            ValueStyle::Time { separator, fractions, suffix } => {
                observed.other_fractions |= !fractions;
                agree(&mut observed.separator, separator);
                agree(&mut observed.suffix, suffix);
            }
            ValueStyle::Formatted(offset) => agree(&mut observed.offset, offset),
        }
    }

    /// Records the text of a value that was added, if it is a number that may be spelled in several ways.
    pub(crate) fn observe_spelling(&mut self, stored: i64, mark: ValueStyle, text: &str) {
        if let ValueStyle::Float { json: false, .. } = mark
            && !self.explicit
            && text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
        {
            let is_alike = self.observed.styles() != 0;
            self.observed.spellings.add(stored, text, self.most_spellings, is_alike);
        }
    }

    /// The cells that became one number although they differ, if there are any.
    pub(crate) fn joined(&self) -> Option<Joined<'_>> {
        self.observed.spellings.joined().filter(|_| self.observed.styles() == 0)
    }

    /// Records several values with the same format.
    #[cfg(feature = "parquet")]
    pub(crate) fn observe_alike(&mut self, mark: ValueStyle, values: u64) {
        if let Some(others) = values.checked_sub(1) {
            self.observe(mark);
            self.values += others;
        }
    }

    /// Records a missing value and how it was written.
    pub(crate) fn observe_missing(&mut self, missing: Missing) {
        self.observed.missing_count += 1;
        agree(&mut self.observed.missing, missing);
        if let Missing::Token(index @ ..32) = missing {
            self.observed.tokens |= 1 << index;
        }
    }

    /// The indexes of the first tokens for missing values that cells had, as a bit set.
    pub(crate) fn missing_tokens_seen(&self) -> u32 {
        self.observed.tokens
    }

    /// Whether the segment has the column: a column that a header or the user names exists even without values.
    pub(crate) fn is_stored(&self) -> bool {
        !self.excluded && (self.values > 0 || self.in_header || self.explicit)
    }

    /// The text format to store, after all `documents`; and whether some values will be printed in another format
    /// than that of the input.
    pub(crate) fn text_format(&self, documents: u64, tokens: &MissingTokens) -> (TextFormat, bool) {
        let observed = &self.observed;
        let mut text_format = TextFormat { separator: self.separator.clone(), ..TextFormat::default() };
        let mut lost = observed.lost;
        match self.ty.map(|ty| ty.logical) {
            Some(LogicalType::F64) if self.values > 0 => {
                let styles = observed.styles();
                let style = FloatStyle::choose(styles);
                lost |= style.is_none();
                let has_point = styles & 2 != 0;
                // Without a style, text has a point.
                text_format.float = match (style, observed.json_float) {
                    (Some(FloatStyle::Shortest), _) | (_, true) if has_point => None,
                    (Some(FloatStyle::Shortest), false) => Some(FloatStyle::Cell),
                    (style, _) => style,
                };
            }
            Some(logical) if is_time(logical) => match &self.time {
                Some(TimeRequest::Epoch) => text_format.epoch = true,
                Some(TimeRequest::Format(format)) => {
                    let offset = observed.offset.flatten().unwrap_or(format.offset);
                    text_format.time = Some(TimeFormat { offset, ..format.clone() });
                    lost |= observed.offset == Some(None);
                }
                None if logical == LogicalType::Date => {}
                None => {
                    let (format, differs) = observed.timestamp();
                    text_format.time = Some(format);
                    lost |= differs;
                }
            },
            _ => {}
        }
        // Stored only if every missing value was written in the same way.
        if observed.missing_count == documents - self.documents {
            match observed.missing.flatten() {
                Some(Missing::Token(0)) | None => {}
                Some(Missing::Token(token)) => text_format.missing = tokens.tokens.get(token).cloned(),
                Some(Missing::Null) => text_format.json_missing = Some("null"),
                Some(Missing::EmptyArray) => text_format.json_missing = Some("[]"),
            }
        }
        (text_format, lost)
    }
}

impl ObservedStyle {
    /// The float styles of all values, as a bit set.
    fn styles(&self) -> u32 {
        ALL_STYLES & !self.other_styles
    }

    fn absorb(&mut self, other: ObservedStyle, most_spellings: usize) {
        self.lost |= other.lost;
        self.other_styles |= other.other_styles;
        self.json_float |= other.json_float;
        agree_all(&mut self.separator, other.separator);
        agree_all(&mut self.suffix, other.suffix);
        self.other_fractions |= other.other_fractions;
        agree_all(&mut self.offset, other.offset);
        agree_all(&mut self.missing, other.missing);
        self.missing_count += other.missing_count;
        self.tokens |= other.tokens;
        self.spellings.absorb(other.spellings, most_spellings, self.styles() != 0);
    }

    /// The format that the timestamps have in common, canonical in the parts in which they differ; and whether they
    /// differ.
    fn timestamp(&self) -> (TimeFormat, bool) {
        let separator = self.separator.flatten().unwrap_or('T');
        let suffix = self.suffix.flatten().unwrap_or(*b"Z\0\0\0\0\0\0");
        let len = suffix.iter().position(|b| *b == 0).unwrap_or(suffix.len());
        let suffix = suffix.get(..len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("Z");
        let digits = (0..=Rfc3339::SHORTEST).find(|digits| self.other_fractions >> digits & 1 == 0);
        let differs = self.separator == Some(None) || self.suffix == Some(None) || digits.is_none();
        let format = TimeFormat::rfc3339(separator, digits.unwrap_or(Rfc3339::SHORTEST), suffix);
        (format.unwrap_or_else(TimeFormat::canonical), differs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text format of a column with these cells, and whether some value will be printed in another one.
    fn text_format(logical: LogicalType, form: Form, cells: &[&str]) -> (String, bool) {
        let mut column = Column::new("c", None);
        let ty = ColumnType::single(logical);
        column.ty = Some(ty);
        let tokens = MissingTokens::new(false, &[]);
        for cell in cells {
            if let Some(missing) = column.missing(form, cell, &tokens) {
                column.observe_missing(missing);
            } else {
                let (_, mark) = column.cell_parser(ty).read(form, cell, &mut Vec::new()).unwrap();
                column.observe(mark);
                column.documents += 1;
            }
        }
        let (text_format, lost) = column.text_format(cells.len() as u64, &tokens);
        (text_format.to_string(), lost)
    }

    fn csv(logical: LogicalType, cells: &[&str]) -> (String, bool) {
        text_format(logical, Form::Bare, cells)
    }

    #[test]
    fn floats_remember_what_all_of_them_share() {
        assert_eq!(csv(LogicalType::F64, &["1", "2.5"]), ("float=cell".into(), false));
        assert_eq!(csv(LogicalType::F64, &["1.5", "2.5"]), (String::new(), false));
        assert_eq!(csv(LogicalType::F64, &["NaN"]), (String::new(), false));
        assert_eq!(csv(LogicalType::F64, &["1.0", "2.5"]), ("float=point".into(), false));
        assert_eq!(csv(LogicalType::F64, &["1.00", "2.50"]), ("float=2".into(), false));
        assert_eq!(csv(LogicalType::F64, &["1.00", "2.5"]), (String::new(), true));
        assert_eq!(text_format(LogicalType::F64, Form::Number, &["1.0", "2.5"]), (String::new(), false));
        assert_eq!(text_format(LogicalType::F64, Form::Number, &["1.5", "2.5"]), (String::new(), false));
        assert_eq!(
            text_format(LogicalType::F64, Form::Number, &["1", "2.5"]),
            ("float=shortest".into(), false)
        );
    }

    #[test]
    fn timestamps_remember_separator_digits_and_offset() {
        let ms = LogicalType::TimestampMillis;
        let format = |cells: &[&str]| csv(ms, cells);
        assert_eq!(format(&["2013-01-01T06:00:00Z"]), ("%Y-%m-%dT%H:%M:%SZ".into(), false));
        assert_eq!(
            format(&["2013-01-01 06:00:00.120+02:00", "2013-01-01 06:00:00.000+02:00"]),
            ("%Y-%m-%d %H:%M:%S%.3f%:z;offset=+02:00".into(), false)
        );
        assert_eq!(
            format(&["2013-01-01T06:00:00.12Z", "2013-01-01T06:00:00Z"]),
            ("%Y-%m-%dT%H:%M:%S%.fZ".into(), false)
        );
        assert_eq!(
            format(&["2013-01-01T06:00:00.120000Z", "2013-01-01T06:00:00Z"]),
            ("%Y-%m-%dT%H:%M:%S%.fZ".into(), true)
        );
        assert_eq!(
            format(&["2013-01-01T06:00:00.120Z", "2013-01-01 06:00:00.1+01:00"]),
            ("%Y-%m-%dT%H:%M:%S%.fZ".into(), true)
        );
    }

    #[test]
    fn a_token_is_remembered_where_every_missing_value_has_it() {
        assert_eq!(csv(LogicalType::I64, &["1", "NA", "NA"]).0, "missing=NA");
        assert_eq!(csv(LogicalType::I64, &["1", "", ""]).0, "");
        assert_eq!(csv(LogicalType::I64, &["1", "NA", ""]).0, "");
        assert_eq!(text_format(LogicalType::I64, Form::Quoted, &["1", "NA"]).0, "missing=NA");
        assert_eq!(text_format(LogicalType::Utf8, Form::Quoted, &["1", "NA", ""]).0, "");
    }
}
