//! Doc values in metadata: the file `.dvm`, with an entry for each field.
//!
//! Entries have no length, so each is parsed to reach the next one.

use std::collections::BTreeMap;

use docvalues_column::Kind;

use crate::binary::BinaryEntry;
use crate::cursor::Cursor;
use crate::dictionary::{TermsEntry, TermsLayout};
use crate::envelope::Contents;
use crate::error::{ErrorKind, Result};
use crate::field_infos::{FieldInfo, KINDS};
use crate::file::Body;
use crate::monotonic::AddressEntry;
use crate::numeric::NumericEntry;
use crate::order::Order;
use crate::presence::PresenceEntry;
use crate::skip_index::SkipEntry;

/// The layouts of doc values. Their order is that of releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layout {
    /// Lucene 7.
    V70,
    /// Lucene 8: jump tables, and byte strings that may be compressed.
    V80,
    /// Lucene 9 and later: little-endian; ords are numbers as others.
    V90,
}

impl Layout {
    /// The layout of a format of doc values; `None` if it is not read.
    pub(crate) fn of_format(name: &str) -> Option<Layout> {
        match name {
            "Lucene70" => Some(Layout::V70),
            "Lucene80" => Some(Layout::V80),
            "Lucene90" => Some(Layout::V90),
            _ => None,
        }
    }

    fn contents(self, [v70, v80, v90]: [&'static str; 3]) -> Contents {
        let (name, newest, order) = match self {
            Layout::V70 => (v70, 0, Order::Big),
            Layout::V80 => (v80, 2, Order::Big),
            Layout::V90 => (v90, 3, Order::Little),
        };
        Contents { name, oldest: 0, newest, order }
    }

    /// The contents of `.dvm`.
    pub(crate) fn metadata(self) -> Contents {
        self.contents(["Lucene70DocValuesMetadata", "Lucene80DocValuesMetadata", "Lucene90DocValuesMetadata"])
    }

    /// The contents of `.dvd`.
    pub(crate) fn data(self) -> Contents {
        self.contents(["Lucene70DocValuesData", "Lucene80DocValuesData", "Lucene90DocValuesData"])
    }

    fn has_tables(self) -> bool {
        self > Layout::V70
    }

    fn terms(self) -> TermsLayout {
        if self < Layout::V90 { TermsLayout::Coded } else { TermsLayout::V90 }
    }
}

/// The contents of `.dvs`, from version 1 of Lucene 9's doc values on.
pub(crate) const SKIP_INDEXES: Contents =
    Contents { name: "Lucene90DocValuesSkipIndex", oldest: 0, newest: 3, order: Order::Little };

/// The contents of `.dvp`, from version 3 on.
pub(crate) const PRESENCE: Contents =
    Contents { name: "Lucene90DocValuesDISI", oldest: 0, newest: 3, order: Order::Little };

/// The doc values of a field in metadata.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) skip: Option<SkipEntry>,
    pub(crate) values: Values,
}

impl Entry {
    /// Bytes of the field in the files, as metadata has them.
    pub(crate) fn bytes(&self) -> u64 {
        let mut lens = vec![self.skip.as_ref().map_or(0, SkipEntry::bytes)];
        match &self.values {
            Values::Numbers(entry) => {
                lens.extend([entry.numbers.presence.bytes(), entry.numbers.bytes()]);
                lens.extend(entry.addresses.as_ref().map(AddressEntry::bytes));
                lens.extend(entry.terms.iter().flat_map(TermsEntry::bytes));
            }
            Values::Bytes(entry) => {
                lens.push(entry.presence.bytes());
                lens.extend(entry.bytes());
            }
        }
        let lens = lens.into_iter().map(|len| u64::try_from(len).unwrap_or(0));
        lens.fold(0, u64::saturating_add)
    }
}

#[derive(Debug)]
pub(crate) enum Values {
    Numbers(NumbersEntry),
    Bytes(BinaryEntry),
}

/// Numbers or ords, at most one a document or any number.
#[derive(Debug)]
pub(crate) struct NumbersEntry {
    pub(crate) numbers: NumericEntry,
    pub(crate) docs_with_value: i64,
    /// Where the numbers of each document begin, if it may have several.
    pub(crate) addresses: Option<AddressEntry>,
    /// Whether only the last address tells how many numbers there are.
    pub(crate) is_count_in_addresses: bool,
    /// The dictionary, if they are ords.
    pub(crate) terms: Option<TermsEntry>,
}

/// Reads the entries of the fields of a `.dvm`, by their numbers. `fields` are those that it was written for.
pub(crate) fn read(meta: &Body, layout: Layout, fields: &[FieldInfo]) -> Result<BTreeMap<i32, Entry>> {
    let (mut cursor, mut entries) = (Cursor::new(meta), BTreeMap::new());
    let fields: BTreeMap<i32, &FieldInfo> = fields.iter().map(|field| (field.number, field)).collect();
    loop {
        let number = cursor.i32()?;
        if number == -1 {
            break;
        }
        let Some(field) = fields.get(&number) else {
            return Err(cursor.refuse(ErrorKind::Broken("doc values of an unknown field")));
        };
        let entry = entry(&mut cursor, layout, meta.version, field)?;
        cursor.rule(entries.insert(number, entry).is_none(), "two entries of one field")?;
    }
    cursor.end()?;
    Ok(entries)
}

fn entry(cursor: &mut Cursor<'_>, layout: Layout, version: i32, field: &FieldInfo) -> Result<Entry> {
    let kind = KINDS.get(usize::from(cursor.u8()?)).copied();
    cursor.rule(kind.is_some() && kind == field.doc_values, "doc values of another type than the field")?;
    let has_skip_index = layout == Layout::V90 && field.has_skip_index;
    let skip = has_skip_index.then(|| SkipEntry::read(cursor, version)).transpose()?;
    let values = match kind {
        Some(Kind::Binary) => {
            let is_compressed = layout == Layout::V80
                && match (version, field.is_compressed) {
                    (1, _) => true,
                    (2, Some(is_compressed)) => is_compressed,
                    (2, None) => {
                        return Err(cursor.body().broken(cursor.position(), "a field without its mode"));
                    }
                    _ => false,
                };
            Values::Bytes(BinaryEntry::read(cursor, layout.has_tables(), is_compressed)?)
        }
        Some(Kind::Sorted) => Values::Numbers(sorted(cursor, layout)?),
        Some(Kind::SortedSet) => {
            let has_lists = cursor.flag()?;
            Values::Numbers(if has_lists { sorted_set(cursor, layout)? } else { sorted(cursor, layout)? })
        }
        Some(Kind::SortedNumeric) => Values::Numbers(sorted_numeric(cursor, layout)?),
        _ => {
            let numbers = NumericEntry::read(cursor, layout.has_tables())?;
            Values::Numbers(NumbersEntry::single(numbers, None))
        }
    };
    Ok(Entry { skip, values })
}

impl NumbersEntry {
    /// The entry of at most one number a document.
    fn single(numbers: NumericEntry, terms: Option<TermsEntry>) -> NumbersEntry {
        let docs_with_value = numbers.count;
        NumbersEntry { numbers, docs_with_value, addresses: None, is_count_in_addresses: false, terms }
    }
}

/// Reads the entry of at most one ord a document.
fn sorted(cursor: &mut Cursor<'_>, layout: Layout) -> Result<NumbersEntry> {
    let ords = match layout {
        Layout::V90 => NumericEntry::read(cursor, true)?,
        _ => {
            let presence = PresenceEntry::read(cursor, layout.has_tables())?;
            let count = docs_with_value(cursor)?;
            NumericEntry::ords(presence, count, cursor.u8()?, (cursor.i64()?, cursor.i64()?))
        }
    };
    Ok(NumbersEntry::single(ords, Some(TermsEntry::read(cursor, layout.terms())?)))
}

/// Reads the entry of sets of ords.
fn sorted_set(cursor: &mut Cursor<'_>, layout: Layout) -> Result<NumbersEntry> {
    if layout == Layout::V90 {
        let numbers = sorted_numeric(cursor, layout)?;
        return Ok(NumbersEntry { terms: Some(TermsEntry::read(cursor, layout.terms())?), ..numbers });
    }
    let presence = PresenceEntry::read(cursor, layout.has_tables())?;
    let (width, place) = (cursor.u8()?, (cursor.i64()?, cursor.i64()?));
    let docs = docs_with_value(cursor)?;
    let addresses = Some(AddressEntry::read(cursor, docs.unsigned_abs() + 1)?);
    let terms = Some(TermsEntry::read(cursor, layout.terms())?);
    let numbers = NumericEntry::ords(presence, docs, width, place);
    Ok(NumbersEntry { numbers, docs_with_value: docs, addresses, is_count_in_addresses: true, terms })
}

/// Reads the entry of lists of numbers.
fn sorted_numeric(cursor: &mut Cursor<'_>, layout: Layout) -> Result<NumbersEntry> {
    let numbers = NumericEntry::read(cursor, layout.has_tables())?;
    let docs = docs_with_value(cursor)?;
    let has_lists = docs != numbers.count;
    let addresses = has_lists.then(|| AddressEntry::read(cursor, docs.unsigned_abs() + 1)).transpose()?;
    Ok(NumbersEntry { numbers, docs_with_value: docs, addresses, is_count_in_addresses: false, terms: None })
}

/// Takes a number of documents.
fn docs_with_value(cursor: &mut Cursor<'_>) -> Result<i64> {
    Ok(cursor.natural("documents with a value")?.into())
}
