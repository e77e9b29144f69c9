//! A field whose doc values are read: its files, and its open column.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use docvalues_column::{
    AbsentColumn, Bounds, Changes, Column, ColumnInfo, Count, DocId, DocRange, Element, Field, Kind, Lists,
    LogicalType, Overlay,
};
use docvalues_format::id::MAX_VALUES_PER_DOC;

use crate::binary::ByteStrings;
use crate::bytes_column::BytesColumn;
use crate::dictionary::Dictionary;
use crate::doc_values::{Entry, NumbersEntry, Values};
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::file_set::FileSet;
use crate::numbers_column::{Addresses, NumbersColumn};
use crate::numeric::Numbers;
use crate::options::Options;
use crate::presence::Presence;
use crate::skip_index::Zones;
use crate::types::Form;

/// Documents of an overlay that are read at once: a block of [`Changes`], which copies a block that changes again.
const AT_ONCE: usize = 1 << 14;

/// The most values of an overlay, and the most bytes of all overlays of a column, which are kept in memory: a few bytes of a file
/// may stand for any number of values. Values that a later overlay replaces are dropped.
const MOST_VALUES: u64 = 1 << 26;
const MOST_HEAP: usize = 1 << 30;

/// A field whose doc values are read.
pub(crate) struct Readable {
    pub(crate) field: Field,
    form: Form,
    /// The values of all documents; `None` if overlays added the field.
    base: Option<Layer>,
    /// Later values of some documents, the oldest first.
    overlays: Vec<Layer>,
    /// The open column, with the tables that were built for it.
    column: OnceLock<Arc<dyn Column>>,
}

/// Doc values of a field in some files.
pub(crate) struct Layer {
    pub(crate) files: Arc<FileSet>,
    pub(crate) entry: Entry,
}

impl Readable {
    /// The field `name` of values that are stored in this form, and of later ones, the oldest first. `None` if the kinds of
    /// overlays are not those of numbers or byte strings below.
    pub(crate) fn new(
        name: &str,
        (logical, form): (LogicalType, Form),
        base: Option<Layer>,
        overlays: Vec<Layer>,
    ) -> Option<Readable> {
        let kinds = base.iter().chain(&overlays).map(|layer| layer.kind(form));
        let kind = kinds.clone().find(|kind| kind.is_multi_valued()).or(kinds.clone().next())?;
        let fits = |other: Kind| match kind {
            Kind::Numeric | Kind::SortedNumeric => matches!(other, Kind::Numeric | Kind::SortedNumeric),
            Kind::Binary => other == Kind::Binary,
            Kind::Sorted | Kind::SortedSet => overlays.is_empty(),
        };
        if !kinds.clone().all(fits) || !logical.fits(kind) {
            return None;
        }
        let field = Field::new(name, kind, logical);
        Some(Readable { field, form, base, overlays, column: OnceLock::new() })
    }

    /// Reads single values as lists of one.
    pub(crate) fn read_as_lists(&mut self) {
        self.field.kind = of_lists(self.field.kind);
    }

    /// All doc values, the oldest first.
    pub(crate) fn layers(&self) -> impl Iterator<Item = &Layer> {
        self.base.iter().chain(&self.overlays)
    }

    /// Opens the column of a segment of `docs` documents, once.
    pub(crate) fn open(&self, docs: u32, options: &Options) -> docvalues_column::Result<Arc<dyn Column>> {
        if let Some(column) = self.column.get() {
            return Ok(Arc::clone(column));
        }
        let mut column: Arc<dyn Column> = match &self.base {
            Some(base) => self.open_layer(base, docs, options)?,
            None => Arc::new(AbsentColumn::of(self.field.clone(), docs)),
        };
        if !self.overlays.is_empty() {
            column = match self.field.kind {
                Kind::Binary => Arc::new(Overlay::<u8>::new(column, self.changes(docs, true, options)?)),
                kind => {
                    let changes = self.changes(docs, kind.is_multi_valued(), options)?;
                    Arc::new(Overlay::<i64>::new(column, changes))
                }
            };
        }
        Ok(Arc::clone(self.column.get_or_init(|| column)))
    }

    /// The rows of all overlays.
    fn changes<T: Element>(
        &self,
        docs: u32,
        is_many: bool,
        options: &Options,
    ) -> docvalues_column::Result<Changes<T>> {
        let mut changes = Changes::new(docs, is_many);
        let (mut changed, mut rows) = (Vec::<DocId>::new(), Lists::<T>::new());
        for layer in &self.overlays {
            let column = self.open_layer(layer, docs, options)?;
            if column.info().value_count.most() > MOST_VALUES || changes.heap() > MOST_HEAP {
                let kind = ErrorKind::Overlays { field: self.field.name.clone() };
                return Err(layer.files.data.error(0, kind).into());
            }
            let Some(all) = T::rows_of(column.values()) else { continue };
            for docs in DocRange::new(0, docs).chunks(AT_ONCE) {
                changed.clear();
                rows.clear();
                all.scan(docs, &mut |batch| {
                    for (at, doc) in batch.docs.iter().enumerate() {
                        changed.push(doc);
                        rows.push(batch.values.row(at));
                    }
                    ControlFlow::Continue(())
                })?;
                changes.set(changed.iter().copied().zip(rows.slices().iter().map(Some)));
            }
        }
        Ok(changes)
    }

    fn open_layer(
        &self,
        layer: &Layer,
        docs: u32,
        options: &Options,
    ) -> docvalues_column::Result<Arc<dyn Column>> {
        let opened = layer.open((&self.field, self.form), docs, options);
        opened.map_err(|error| error.of_column(Some(&self.field.name)))
    }
}

impl Layer {
    /// The kind of the column.
    fn kind(&self, form: Form) -> Kind {
        let Values::Numbers(NumbersEntry { addresses, terms, .. }) = &self.entry.values else {
            return Kind::Binary;
        };
        match (terms.is_some() && form != Form::Flags, addresses.is_some()) {
            (false, false) => Kind::Numeric,
            (false, true) => Kind::SortedNumeric,
            (true, false) => Kind::Sorted,
            (true, true) => Kind::SortedSet,
        }
    }

    /// The documents with a value.
    pub(crate) fn presence(&self, docs: u32, options: &Options) -> Result<Presence> {
        self.files.verify_once(options.verifies_all)?;
        let (entry, values) = match &self.entry.values {
            Values::Numbers(entry) => (entry.numbers.presence, entry.docs_with_value),
            Values::Bytes(entry) => (entry.presence, entry.docs_with_value.into()),
        };
        Presence::open(entry, docs, values, &self.files.presence, options.jump_tables)
    }

    /// Opens the column.
    fn open(&self, (field, form): (&Field, Form), docs: u32, options: &Options) -> Result<Arc<dyn Column>> {
        let (presence, kind) = (self.presence(docs, options)?, self.kind(form));
        let kind = if field.kind.is_multi_valued() { of_lists(kind) } else { kind };
        let field = Field { kind, ..field.clone() };
        match &self.entry.values {
            Values::Numbers(values) => self.open_numbers((field, form), values, presence, options),
            Values::Bytes(values) => {
                let strings = ByteStrings::open(values, &self.files.data)?;
                let with_value = presence.values().into();
                let info = info(field, docs, (with_value, with_value), Bounds::Unknown);
                Ok(Arc::new(BytesColumn { info, presence, strings }))
            }
        }
    }

    fn open_numbers(
        &self,
        (field, form): (Field, Form),
        entry: &NumbersEntry,
        presence: Presence,
        options: &Options,
    ) -> Result<Arc<dyn Column>> {
        let (docs, mode, data) = (presence.docs(), options.jump_tables, &self.files.data);
        let mut terms =
            entry.terms.as_ref().map(|terms| Dictionary::open(terms, &field.name, data)).transpose()?;
        // The ords of a document differ.
        let most: i64 = terms.as_ref().map_or(u32::MAX, Dictionary::len).min(MAX_VALUES_PER_DOC).into();
        let mut addresses = None;
        if let Some(entry) = &entry.addresses {
            addresses = Some(Addresses { data: Arc::clone(data), numbers: entry.open(data)?, most });
        }
        let with_value = u64::from(presence.values());
        let count = match &addresses {
            Some(addresses) if entry.is_count_in_addresses => addresses.numbers.get(data, with_value)?,
            Some(_) => entry.numbers.count,
            None => i64::from(presence.values()),
        };
        let most = i64::from(presence.values()) * most;
        if !(0..=most).contains(&count) {
            let (what, found) = ("numbers of a column", count);
            let kind = ErrorKind::OutOfRange { what, found, least: 0, most };
            return Err(data.error(entry.numbers.start(), kind));
        }
        let count = count.unsigned_abs();
        let mut numbers = Numbers::open(&entry.numbers, count, data, mode)?;
        let flags = terms.take_if(|_| form == Form::Flags);
        // Ords are numbers, unless `T` is the only term.
        if let Some(flags) = &flags
            && has_only_true(flags, &field.name, data)?
        {
            numbers = Numbers::constant(1, count, data);
        }
        let zones = match &self.entry.skip {
            _ if flags.is_some() => None,
            Some(skip) => Some(Zones::of_intervals(skip, docs, &self.files.skip_indexes)?),
            None if terms.is_none() && addresses.is_none() && presence.is_all() => {
                Zones::of_blocks(&numbers, docs)
            }
            None => None,
        };
        let bounds = match &self.entry.skip {
            _ if terms.is_some() => Bounds::Unknown,
            Some(skip) if flags.is_none() => skip.bounds(),
            _ => numbers.bounds(),
        };
        let info = info(field, docs, (with_value, count), form.bounds(&bounds));
        let is_plain = addresses.is_none() && presence.is_all() && form == Form::Same;
        let lookup = if is_plain { numbers.lookup() } else { None };
        Ok(Arc::new(NumbersColumn { info, presence, numbers, lookup, form, bounds, addresses, terms, zones }))
    }
}

/// The kind of lists of the values of a column.
fn of_lists(kind: Kind) -> Kind {
    match kind {
        Kind::Numeric => Kind::SortedNumeric,
        Kind::Sorted => Kind::SortedSet,
        Kind::Binary | Kind::SortedNumeric | Kind::SortedSet => kind,
    }
}

/// Whether a dictionary of flags has `T` and not `F`.
fn has_only_true(flags: &Dictionary, field: &str, data: &Body) -> Result<bool> {
    let (has_false, has_true) = (flags.has(b"F")?, flags.has(b"T")?);
    if u32::from(has_false) + u32::from(has_true) != flags.len() {
        let (field, found) = (field.to_owned(), "other terms than F and T");
        return Err(data.error(0, ErrorKind::Type { field, asked: LogicalType::Bool.name(), found }));
    }
    Ok(has_true && !has_false)
}

fn info(field: Field, docs: u32, (with_value, values): (u64, u64), bounds: Bounds) -> ColumnInfo {
    let (with_value, value_count) = (Count::Exact(with_value), Count::Exact(values));
    ColumnInfo { field, docs, with_value, value_count, bounds, sum: None }
}
