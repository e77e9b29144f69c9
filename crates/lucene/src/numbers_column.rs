//! Open columns of numbers or ords, with at most one value a document or any number.
//!
//! A column of single values may be one of lists: each document has a list of one, or none.

mod filter;
mod stored;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use docvalues_column::{
    Batch, BatchDocs, Bounds, Column, ColumnInfo, DocId, DocRange, Each, Gathered, Lists, Pruning, Rows,
    SkipIndex, Slices, Values, View, Zone, bits, filter_by_scan,
};
use docvalues_format::numeric::Lookup;
use docvalues_format::presence::NO_VALUE;
use docvalues_storage::SharedBytes;

use stored::Stored;

use crate::dictionary::Dictionary;
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::monotonic::Monotonic;
use crate::numeric::{FEW, Numbers};
use crate::packed::BATCH;
use crate::presence::Presence;
use crate::skip_index::Zones;
use crate::types::Form;
use crate::windows::{each_batch, each_window, words};

/// The most values of a scan's batch, unless a single document has more.
const SCAN_VALUES: u64 = 1 << 16;

/// An open column of numbers or ords.
#[derive(Debug)]
pub(crate) struct NumbersColumn {
    pub(crate) info: ColumnInfo,
    pub(crate) presence: Presence,
    pub(crate) numbers: Numbers,
    /// The look-ups of single documents, if each of them has one number, which is its value.
    pub(crate) lookup: Option<Lookup<SharedBytes>>,
    /// The form and the bounds of the numbers.
    pub(crate) form: Form,
    pub(crate) bounds: Bounds,
    /// Where the numbers of each document with a value begin, if it may have several.
    pub(crate) addresses: Option<Addresses>,
    /// The dictionary, if the numbers are ords.
    pub(crate) terms: Option<Dictionary>,
    pub(crate) zones: Option<Zones>,
}

/// The address of the first number of each document with a value, and the end of the last one.
#[derive(Debug)]
pub(crate) struct Addresses {
    pub(crate) data: Arc<Body>,
    pub(crate) numbers: Monotonic,
    /// The most numbers of a document.
    pub(crate) most: i64,
}

impl NumbersColumn {
    /// Adds the name of the column to an error.
    fn named<T>(&self, result: Result<T>) -> docvalues_column::Result<T> {
        result.map_err(|error| error.of_column(Some(&self.info.field.name)))
    }

    /// The places of the numbers of the document whose value has this index.
    #[inline(always)]
    fn places(&self, index: u32) -> Result<Range<u64>> {
        let index = u64::from(index);
        match &self.addresses {
            Some(addresses) => addresses.of(index, &self.numbers),
            None => Ok(index..index + 1),
        }
    }

    /// Reads the values of `docs`, in a single-valued column.
    fn gather_one<T: Stored>(&self, docs: &[DocId], out: &mut Gathered<T>) -> Result<()> {
        let fill = out.fill();
        let (values, mut presence) = out.begin_one(docs.len());
        each_batch(&self.presence, docs, |place, indices, are_all| {
            if !are_all {
                presence.mark_words(place.start, words(indices));
            }
            self.gather_at(indices, are_all, fill, &mut values[place])
        })
    }

    /// Reads the lists of `docs`.
    fn gather_lists<T: Stored>(&self, docs: &[DocId], lists: &mut Lists<T>) -> Result<()> {
        let count = self.numbers.count();
        let is_short = count / u64::from(self.presence.values().max(1)) < FEW as u64;
        if is_short && count <= u64::from(u32::MAX) {
            return self.gather_short_lists(docs, lists);
        }
        each_batch(&self.presence, docs, |_, indices, _| {
            indices.iter().try_for_each(|index| {
                lists.push_with(|list| match *index {
                    NO_VALUE => Ok(()),
                    // At most `addresses.most`.
                    index => self.append(self.places(index)?, list),
                })
            })
        })
    }

    /// Reads the lists of `docs`: all numbers of a batch together.
    fn gather_short_lists<T: Stored>(&self, docs: &[DocId], lists: &mut Lists<T>) -> Result<()> {
        let (mut lens, mut places) = (Vec::new(), Vec::new());
        each_batch(&self.presence, docs, |_, indices, _| {
            lens.clear();
            places.clear();
            for index in indices {
                let list = match *index {
                    NO_VALUE => 0..0,
                    index => self.places(index)?,
                };
                lens.push(list.end - list.start);
                // Places of numbers, of which there are no more.
                places.extend(list.map(|place| u32::try_from(place).unwrap_or(u32::MAX)));
            }
            lists.extend_with(lens.iter().copied(), |items| {
                let start = items.len();
                items.resize(start + places.len(), T::default());
                self.gather_at(&places, true, T::default(), &mut items[start..])
            })
        })
    }

    /// Calls `each` with the values of `docs`, of which each document has at most one.
    fn scan_one<T: Stored>(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()> {
        let (mut values, mut offsets) = (vec![T::default(); BATCH], Vec::new());
        let is_many = self.info.is_multi_valued();
        let mut each = |docs: BatchDocs<'_>, values: &[T]| {
            if !is_many {
                return each(Batch { docs, values: View::One(values) });
            }
            // Each list has one value, so list `i` begins at `i`.
            offsets.extend(offsets.len() as u64..=values.len() as u64);
            each(Batch { docs, values: View::Many(Slices::new(&offsets[..=values.len()], values)) })
        };
        if self.presence.is_all() {
            for docs in docs.clip(self.info.docs).chunks(BATCH) {
                let values = &mut values[..docs.len()];
                self.decode(docs.start.into()..docs.end.into(), values)?;
                if each(BatchDocs::Run(docs), values).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        each_window(&self.presence, docs, |docs, first| {
            values.resize(docs.len(), T::default());
            self.decode(first..first + docs.len() as u64, &mut values)?;
            Ok(each(BatchDocs::List(docs), &values).is_continue())
        })
    }

    /// Sets the bits of the documents of `docs` with a value in `wanted`, whose number is one of `stored`.
    fn filter_stored<T: Stored>(
        &self,
        docs: DocRange,
        (stored, wanted): (&RangeInclusive<i64>, &T::Range),
        out: &mut [u64],
        pruned: &mut Pruning,
    ) -> docvalues_column::Result<()> {
        let bounds = match &self.terms {
            Some(terms) => 0..=i64::from(terms.len()) - 1,
            None => self.bounds.range(),
        };
        if stored.is_empty() || *bounds.end() < *stored.start() || *stored.end() < *bounds.start() {
            pruned.directory += docs.len() as u64;
            return Ok(());
        }
        if stored.start() <= bounds.start() && bounds.end() <= stored.end() && self.terms.is_none() {
            pruned.directory += docs.len() as u64;
            return self.named(self.presence.exists(docs, out));
        }
        let read = |docs: DocRange, out: &mut [u64], pruned: &mut Pruning| match &self.addresses {
            None => self.named(self.filter_one(docs, stored, out, pruned)),
            Some(_) => filter_by_scan::<T>(self, docs, out, pruned, |row| T::is_within(row, wanted)),
        };
        match self.zones.as_ref().filter(|zones| zones.are_intervals()) {
            None => read(docs, out, pruned),
            Some(zones) => self.each_open_zone((zones, docs), stored, out, pruned, read),
        }
    }

    /// Calls `each` with the lists of `docs`.
    fn scan_lists<T: Stored>(
        &self,
        addresses: &Addresses,
        docs: DocRange,
        each: &mut Each<'_, T>,
    ) -> Result<()> {
        let (mut buffer, mut offsets, mut values) = (Vec::new(), Vec::new(), Vec::new());
        each_window(&self.presence, docs, |docs, first| {
            addresses.read(first..first + docs.len() as u64, &self.numbers, &mut buffer, &mut offsets)?;
            let mut at = 0;
            while at < docs.len() {
                let limit = offsets[at].saturating_add(SCAN_VALUES);
                let len = offsets[at + 1..].partition_point(|end| *end <= limit).max(1);
                let offsets = &offsets[at..=at + len];
                let span = offsets[0]..offsets[len];
                values.resize(usize::try_from(span.end - span.start).unwrap_or(usize::MAX), T::default());
                self.decode(span, &mut values)?;
                let docs = BatchDocs::List(&docs[at..at + len]);
                if each(Batch { docs, values: View::Many(Slices::new(offsets, &values)) }).is_break() {
                    return Ok(false);
                }
                at += len;
            }
            Ok(true)
        })
    }
}

impl Addresses {
    /// The places of the numbers of the document whose value has this index.
    fn of(&self, index: u64, numbers: &Numbers) -> Result<Range<u64>> {
        let [start, end] = self.numbers.pair(&self.data, index)?.map(i64::cast_unsigned);
        self.check(start, end, numbers)?;
        Ok(start..end)
    }

    /// Replaces `out` by the addresses of a range of documents with a value, and the end of the last one.
    fn read(
        &self,
        indices: Range<u64>,
        numbers: &Numbers,
        buffer: &mut Vec<i64>,
        out: &mut Vec<u64>,
    ) -> Result<()> {
        self.numbers.decode(&self.data, indices.start..indices.end + 1, buffer)?;
        out.clear();
        out.extend(buffer.iter().map(|address| address.cast_unsigned()));
        out.windows(2).try_for_each(|pair| self.check(pair[0], pair[1], numbers))
    }

    /// Fails if no list begins and ends at these places.
    fn check(&self, start: u64, end: u64, numbers: &Numbers) -> Result<()> {
        if start >= end || end > numbers.count() {
            let why = "a document's list of values ends before it begins, or after the last value";
            return Err(self.data.broken(self.numbers.start(&self.data), why));
        }
        let most = self.most;
        match i64::try_from(end - start) {
            Ok(found) if found <= most => Ok(()),
            found => {
                let (what, found) = ("number of a document's values", found.unwrap_or(i64::MAX));
                let kind = ErrorKind::OutOfRange { what, found, least: 1, most };
                Err(self.data.error(self.numbers.start(&self.data), kind))
            }
        }
    }
}

impl Column for NumbersColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, out: &mut [u64]) -> docvalues_column::Result<()> {
        bits::check(docs, out);
        self.named(self.presence.exists(docs, out))
    }

    fn values(&self) -> Values<'_> {
        match &self.terms {
            Some(terms) => Values::Ords(self, terms),
            None => Values::Numbers(self),
        }
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        let has_zones = self.terms.is_none() && self.zones.is_some() && !self.form.is_other();
        if has_zones { Some(self) } else { None }
    }
}

impl<T: Stored> Rows<T> for NumbersColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> docvalues_column::Result<()> {
        let is_many = self.info.is_multi_valued();
        match docs {
            BatchDocs::List(docs) if is_many => {
                let (lists, _) = out.begin_many(docs.len());
                self.named(self.gather_lists(docs, lists))
            }
            BatchDocs::List(docs) => self.named(self.gather_one(docs, out)),
            BatchDocs::Run(docs) if self.presence.is_all() && docs.end <= self.info.docs && !is_many => {
                let (values, _) = out.begin_one(docs.len());
                // An empty run may have an end below its start.
                let docs = docs.clip(docs.end);
                self.named(self.decode(docs.start.into()..docs.end.into(), values))
            }
            BatchDocs::Run(docs) => out.fill_by_scan(docs, is_many, |each| Rows::<T>::scan(self, docs, each)),
        }
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> docvalues_column::Result<()> {
        self.named(match &self.addresses {
            Some(addresses) => self.scan_lists(addresses, docs, each),
            None => self.scan_one(docs, each),
        })
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &T::Range,
        out: &mut [u64],
        pruned: &mut Pruning,
    ) -> docvalues_column::Result<()> {
        bits::check(docs, out);
        let docs = docs.clip(self.info.docs);
        let Some(stored) = self.form.stored(T::wanted(wanted)) else {
            return filter_by_scan::<T>(self, docs, out, pruned, |row| T::is_within(row, wanted));
        };
        let mut ranges = stored.into_iter().flatten();
        ranges.try_for_each(|stored| self.filter_stored::<T>(docs, (&stored, wanted), out, pruned))
    }

    fn get(&self, doc: DocId, out: &mut Vec<T>) -> docvalues_column::Result<bool> {
        out.clear();
        // Nothing else is tested in the common case: the fewer instructions, the more cache misses overlap.
        if let Some(number) = self.lookup.as_ref().and_then(|lookup| lookup.get(doc.get().into())) {
            out.push(T::of(number));
            return Ok(true);
        }
        self.named(self.append_row(doc, out))
    }
}

impl SkipIndex for NumbersColumn {
    fn levels(&self) -> &[u32] {
        match &self.zones {
            Some(zones) => zones.levels(),
            None => &[],
        }
    }

    fn zones(&self, _level: usize, docs: DocRange, out: &mut Vec<Zone>) -> docvalues_column::Result<()> {
        out.clear();
        if let Some(zones) = &self.zones {
            out.extend_from_slice(self.named(zones.of(docs, &self.numbers))?);
        }
        Ok(())
    }
}
