//! A column and its entry in the directory: field, presence, values and statistics.
//!
//! [`Column`] is generic over its sections: the bytes from an encoder (`Vec<u8>`), references to a file (`SectionRef`,
//! in the directory), or sections of an open file. [`Column::try_map`] converts between them.
//!
//! # Entry in a directory page
//!
//! | offset | bytes | field | meaning |
//! |-------:|------:|-------|---------|
//! |  0 | 8 | `sections_end` | u64: end of the column's sections in the file; they begin at the end of those of the column before |
//! |  8 | 4 | `name_len`     | u32: 1 to 65,536 |
//! | 12 | … | `name`         | the field's name, UTF-8 |
//! |  … | 1 | `kind`         | see [`Kind`] |
//! |  … | 1 | `logical`      | see [`LogicalType`] |
//! |  … | 1 | `format_len`   | u8: 0 for none |
//! |  … | … | `format`       | the spelling of the values, UTF-8 |
//! |  … | … | `presence`     | see [`presence`](crate::presence) |
//! |  … | … | `offsets`      | kinds with several values: [`numeric`](crate::numeric), one more than documents with a value |
//! |  … | … | `values`       | [`numeric`](crate::numeric), or [`binary`](crate::binary) for kind binary |
//! |  … | … | `terms`        | kinds with a dictionary: see [`dictionary`](crate::dictionary) |
//! |  … | … | `statistics`   | see [`Statistics`] |

use std::convert::Infallible;

use crate::binary::{Binary, BinaryOffsets, Coding};
use crate::cursor::{Cursor, Put};
use crate::dictionary::Dictionary;
use crate::error::{ErrorKind, Result, Section};
use crate::file::field::{Field, MAX_NAME};
use crate::file::frame::FEATURE_ONPAIR;
use crate::file::kind::{Kind, LogicalType};
use crate::granule::SectionRef;
use crate::numeric::{Numeric, Role, Transform};
use crate::presence::Presence;

/// One column: its field, its parts and its statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column<S> {
    /// Name, kind and type.
    pub field: Field,
    /// The documents with a value.
    pub presence: Presence<S>,
    /// The values.
    pub values: Values<S>,
    /// Facts about all values together.
    pub statistics: Statistics,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values<S> {
    /// A byte string for each document with a value.
    Binary(Binary<S>),
    /// Numbers, or the ords of terms.
    Numbers {
        /// If documents may have several values, where those of each begin: one more offset than documents with a
        /// value; the last one is the number of values.
        offsets: Option<Numeric<S>>,
        /// The numbers, ascending in each document, or the ords, strictly ascending in each document.
        values: Numeric<S>,
        /// The terms of ords.
        terms: Option<Dictionary<S>>,
    },
}

/// Statistics of a column's numbers, which the writer collects in one pass. For columns of terms, the numbers are ords.
///
/// | offset | bytes | field | meaning |
/// |-------:|------:|-------|---------|
/// | 0 |  1 | `flags`    | bit 0: `sum` is known · 1: `distinct` is known · 2: the values ascend in document order (equal ones allowed) · 3: they descend |
/// | 1 |  7 | `zero`     | 0 |
/// | 8 | 16 | `sum`      | i128: of the stored numbers; 0 if not known |
/// | 24 | 8 | `distinct` | u64: different values; 0 if not known |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The sum of the stored numbers; `None` for doubles and terms, where it is meaningless. The sum of dates and
    /// timestamps yields their mean.
    pub sum: Option<i128>,
    /// The number of different values, if it was cheap to count: for terms, constants, tables, and values that ascend
    /// or descend.
    pub distinct: Option<u64>,
    /// Whether the values ascend in document order; equal neighbours are allowed. Always false for columns with several
    /// values a document, and for byte strings without a dictionary.
    pub ascending: bool,
    /// Whether the values descend, for the same columns.
    pub descending: bool,
}

impl Statistics {
    /// Bytes in a column's entry.
    pub const ENCODED_LEN: usize = 32;

    fn encode(&self, out: &mut Vec<u8>) {
        let flags = [self.sum.is_some(), self.distinct.is_some(), self.ascending, self.descending];
        out.put_u8(flags.iter().rev().fold(0, |all, &flag| all << 1 | u8::from(flag)));
        out.put(&[0; 7]);
        out.put(&self.sum.unwrap_or(0).to_le_bytes());
        out.put_u64(self.distinct.unwrap_or(0));
    }

    fn decode(cursor: &mut Cursor<'_>) -> Result<Statistics> {
        let flags = cursor.u8()?;
        cursor.at_most("flags of the statistics", flags.into(), 0b1111)?;
        cursor.zeros(7)?;
        let sum = u128::from(cursor.u64()?) | u128::from(cursor.u64()?) << 64;
        let distinct = cursor.u64()?;
        Ok(Statistics {
            sum: (flags & 1 != 0).then_some(sum.cast_signed()),
            distinct: (flags & 2 != 0).then_some(distinct),
            ascending: flags & 4 != 0,
            descending: flags & 8 != 0,
        })
    }
}

/// The first fields of an entry, which are enough to find a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryHead<'a> {
    pub(crate) sections_end: u64,
    pub(crate) name: &'a str,
}

impl<'a> EntryHead<'a> {
    pub(crate) fn decode(cursor: &mut Cursor<'a>) -> Result<EntryHead<'a>> {
        Ok(EntryHead { sections_end: cursor.u64()?, name: name(cursor)? })
    }

    /// Decodes the rest of the field, which follows.
    pub(crate) fn field(self, cursor: &mut Cursor<'a>) -> Result<Field> {
        let (kind, logical) =
            (cursor.tag("kind", &Kind::ALL)?, cursor.tag("logical type", &LogicalType::ALL)?);
        cursor.rule(logical.fits(kind), "the logical type does not fit the kind")?;
        let format_len = cursor.u8()?;
        let format = text(cursor, format_len.into())?;
        let format = (!format.is_empty()).then(|| format.to_owned());
        Ok(Field { name: self.name.to_owned(), kind, logical, format })
    }
}

/// Reads a column's name, which follows its length.
///
/// # Errors
///
/// When the name is empty, too long, truncated, or not UTF-8.
pub fn name<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str> {
    let len = cursor.u32()?;
    cursor.at_most("length of the name", len.into(), MAX_NAME as u64)?;
    cursor.rule(len > 0, "the field has no name")?;
    text(cursor, usize::try_from(len).unwrap_or(usize::MAX))
}

fn text<'a>(cursor: &mut Cursor<'a>, len: usize) -> Result<&'a str> {
    let bytes = cursor.take(len)?;
    std::str::from_utf8(bytes).map_err(|_| cursor.refuse(ErrorKind::Broken("the text is not UTF-8")))
}

impl<S> Column<S> {
    /// Maps every section of the column, in file order.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut dyn FnMut(Section, S) -> Result<T, E>) -> Result<Column<T>, E> {
        let presence = self.presence.try_map(f)?;
        let values = match self.values {
            Values::Binary(values) => Values::Binary(values.try_map(f)?),
            Values::Numbers { offsets, values, terms } => Values::Numbers {
                offsets: offsets.map(|offsets| offsets.try_map(f)).transpose()?,
                values: values.try_map(f)?,
                terms: terms.map(|terms| terms.try_map(f)).transpose()?,
            },
        };
        Ok(Column { field: self.field, presence, values, statistics: self.statistics })
    }
}

impl<S> Column<S> {
    /// The features without which the column cannot be read: bits of [`Footer::required`](super::frame::Footer).
    pub fn required_features(&self) -> u32 {
        match &self.values {
            Values::Binary(Binary { coding: Coding::OnPair { .. }, .. }) => FEATURE_ONPAIR,
            _ => 0,
        }
    }

    /// The section with the byte strings of all documents, end to end, if each document has one, all are of one length,
    /// and none is compressed.
    pub fn raw_bytes(&self) -> Option<&S> {
        match (&self.presence, &self.values) {
            (
                Presence::All,
                Values::Binary(Binary {
                    bytes, coding: Coding::Raw, offsets: BinaryOffsets::Fixed(_), ..
                }),
            ) => bytes.as_ref(),
            _ => None,
        }
    }
}

impl Column<SectionRef> {
    /// Appends the entry of a column whose sections end at byte `sections_end` of the file.
    pub fn encode(&self, sections_end: u64, out: &mut Vec<u8>) {
        out.put_u64(sections_end);
        // Writers refuse longer names and formats when they are set.
        out.put_u32(u32::try_from(self.field.name.len()).unwrap_or(u32::MAX));
        out.put(self.field.name.as_bytes());
        out.put_u8(self.field.kind as u8);
        out.put_u8(self.field.logical as u8);
        let format = self.field.format.as_deref().unwrap_or("");
        out.put_u8(u8::try_from(format.len()).unwrap_or(u8::MAX));
        out.put(format.as_bytes());
        self.presence.encode_meta(out);
        match &self.values {
            Values::Binary(values) => values.encode_meta(out),
            Values::Numbers { offsets, values, terms } => {
                offsets.iter().for_each(|offsets| offsets.encode_meta(out));
                values.encode_meta(out);
                terms.iter().for_each(|terms| terms.encode_meta(out));
            }
        }
        self.statistics.encode(out);
    }

    /// Reads an entry of a segment with `docs` documents; its sections may begin at byte
    /// `sections_start` of the file.
    ///
    /// # Errors
    ///
    /// When a field has a value that the format does not allow, two fields disagree, or sections overlap.
    pub fn decode(cursor: &mut Cursor<'_>, docs: u32, sections_start: u64) -> Result<Column<SectionRef>> {
        let head = EntryHead::decode(cursor)?;
        let field = head.field(cursor)?;
        let (kind, logical) = (field.kind, field.logical);
        let presence = Presence::decode_meta(cursor, docs)?;
        let values = Values::decode(cursor, kind, presence.values(docs))?;
        let is_decimal = matches!(
            &values,
            Values::Numbers { values: Numeric { transform: Transform::Decimal(_), .. }, .. }
        );
        let fits = logical == LogicalType::F64 || !is_decimal;
        cursor.rule(fits, "decimal encoding in a column that is not f64")?;
        let statistics = Statistics::decode(cursor)?;
        cursor.equal("bytes after the entry", cursor.left() as u64, 0)?;
        let column = Column { field, presence, values, statistics };
        column.check_sections(cursor, sections_start..head.sections_end)?;
        Ok(column)
    }

    /// The sections of the column, in file order.
    pub fn sections(&self) -> Vec<(Section, SectionRef)> {
        let mut sections = Vec::new();
        let Ok(_) = self.clone().try_map(&mut |section, at| {
            sections.push((section, at));
            Ok::<_, Infallible>(())
        });
        sections
    }

    /// Checks that each section lies after the one before, inside `span`.
    fn check_sections(&self, cursor: &Cursor<'_>, span: std::ops::Range<u64>) -> Result<()> {
        let mut end = span.start;
        for (_, section) in self.sections() {
            cursor.at_most("end of the section before", end, section.offset)?;
            end = section.end().unwrap_or(u64::MAX);
            cursor.at_most("end of the section", end, span.end)?;
        }
        Ok(())
    }
}

impl Values<SectionRef> {
    /// Reads the values of a column of `kind` in which `with_value` documents have a value.
    fn decode(cursor: &mut Cursor<'_>, kind: Kind, with_value: u32) -> Result<Values<SectionRef>> {
        let with_value = u64::from(with_value);
        if kind == Kind::Binary {
            let values = Binary::decode_meta(cursor)?;
            cursor.equal("values", values.count, with_value)?;
            return Ok(Values::Binary(values));
        }
        let (mut offsets, mut total) = (None, with_value);
        if kind.is_multi_valued() {
            let count = if with_value == 0 { 0 } else { with_value + 1 };
            let found = numbers(cursor, Role::Offsets, "offsets", count)?;
            // Every document with a value has at least one, and the last offset is the number of values.
            total = found.max.cast_unsigned();
            let can_be = found.min == 0 && total >= with_value && found.max >= 0;
            cursor.rule(can_be, "the offsets do not fit the number of documents")?;
            offsets = Some(found);
        }
        let what = if kind.is_bytes() { "ords" } else { "values" };
        let values = numbers(cursor, Role::Values, what, total)?;
        let terms = kind.is_bytes().then(|| terms_of(cursor, &values)).transpose()?;
        Ok(Values::Numbers { offsets, values, terms })
    }
}

/// Reads numbers, of which there must be `count`.
fn numbers(
    cursor: &mut Cursor<'_>,
    role: Role,
    what: &'static str,
    count: u64,
) -> Result<Numeric<SectionRef>> {
    let numbers = Numeric::decode_meta(cursor, role)?;
    cursor.equal(what, numbers.count, count)?;
    Ok(numbers)
}

/// Reads the dictionary of `ords`. Every term is used, so the largest ord is the last term.
fn terms_of(cursor: &mut Cursor<'_>, ords: &Numeric<SectionRef>) -> Result<Dictionary<SectionRef>> {
    let terms = Dictionary::decode_meta(cursor)?;
    let used = if ords.count == 0 { Some(0) } else { ords.max.checked_add(1) };
    let are_all = ords.min >= 0 && used == Some(i64::from(terms.count));
    cursor.rule(are_all, "the ords do not fit the dictionary")?;
    Ok(terms)
}
