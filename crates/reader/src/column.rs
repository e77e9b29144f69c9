//! The part that columns of all kinds share: the field, and the presence of values.
//!
//! Presence maps a document to the index of its value. [`ColumnCore`] turns lists, ranges and filters over documents
//! into the same over value indices:
//!
//! ```text
//! documents      0   1   2   3   4   5   6   7
//! has a value    x       x   x           x
//! value index    0       1   2           3
//! ```

use std::ops::Range;
use std::sync::Arc;

use docvalues_column::{ColumnInfo, DocId, DocRange, Error, ErrorKind, Result, bits};
use docvalues_format::id::{BLOCK_DOCS, ValueIndex};
use docvalues_format::numeric::Pruning;
use docvalues_format::presence::{Indices, NO_VALUE, PresenceReader};
use docvalues_storage::{Section, Source};

use crate::sort_key::PrimarySortKey;

/// Documents of a batch. Their ids, value indices and values fit in the first-level cache.
pub(crate) const BATCH: usize = 1024;

/// Documents of a small call. Clearing a buffer for a whole [`BATCH`] would take longer than looking these up, and
/// would keep the processor from overlapping the cache misses of one call with those of the next.
const SMALL: usize = 64;

/// Documents with a value in a window of a scan, if they are spread evenly.
const SCAN_WINDOW: u64 = 2048;

/// Documents whose bytes are requested in one wave.
const REQUEST_BATCH: usize = 4096;

/// Documents in a window of a filter: one block of presence, so that the bits of its values take 8 KiB at most. A
/// multiple of 64, so that every window begins with a whole word of the result.
const FILTER_WINDOW: u32 = 1 << 16;

/// The field, the documents and the presence of an open column.
#[derive(Debug)]
pub(crate) struct ColumnCore {
    pub(crate) file: Arc<str>,
    pub(crate) source: Arc<Source>,
    pub(crate) info: ColumnInfo,
    pub(crate) docs: u32,
    pub(crate) presence: PresenceReader<Section>,
    /// The order of the values, if this column is the primary key of the index sort.
    pub(crate) sort_key: Option<PrimarySortKey>,
}

/// A result of the decoders, whose error names a section and an offset, but no file.
pub(crate) type FormatResult<T> = docvalues_format::error::Result<T>;

/// Sets the bits of the matching values of a range, and counts those that it skipped.
pub(crate) type Matching<'m> = &'m mut dyn FnMut(Range<u32>, &mut [u64], &mut Pruning) -> FormatResult<()>;

impl ColumnCore {
    /// Adds the names of the file and the column to a decoder's error.
    #[cold]
    pub(crate) fn corrupt(&self, source: docvalues_format::error::Error) -> Error {
        corrupt(&self.file, Some(&self.info.field.name), source)
    }

    /// Adds the names of the file and the column to the error of a result.
    #[inline(always)]
    pub(crate) fn named<T>(&self, result: FormatResult<T>) -> Result<T> {
        result.map_err(|source| self.corrupt(source))
    }

    /// Adds to `bits` the documents of `docs` that have a value.
    pub(crate) fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        bits::check(docs, bits);
        let docs = docs.clip(self.docs);
        self.named(self.presence.exists(docs.into(), bits))
    }

    /// Splits `docs` into batches, and calls `each` with the position of each batch in `docs` and its value indices.
    pub(crate) fn each_batch(
        &self,
        docs: &[DocId],
        each: &mut dyn FnMut(Range<usize>, Indices<'_>) -> FormatResult<()>,
    ) -> FormatResult<()> {
        let (mut at, mut rest) = (0, docs);
        // Without gaps, documents are their own indices: no buffer has to be cleared.
        while !rest.is_empty() {
            let (docs, after) = rest.split_at(rest.len().min(BATCH));
            let Some(own) = self.presence.own_indices(docs) else { break };
            each(at..at + docs.len(), Indices { each: own, all: true })?;
            (at, rest) = (at + docs.len(), after);
        }
        if rest.is_empty() {
            return Ok(());
        }
        with_buffer(rest.len().min(BATCH), |buffer| {
            for docs in rest.chunks(BATCH) {
                let indices = self.presence.indices(docs, buffer)?;
                each(at..at + docs.len(), indices)?;
                at += docs.len();
            }
            Ok(())
        })
    }

    /// Splits `docs` into windows, and calls `each` with the documents of a window that have a value and the index of
    /// the first value. `each` returns whether to continue.
    ///
    /// Windows are longer in sparse columns, up to a block of presence, and short ones are merged. So a sparse column
    /// also gets full batches.
    pub(crate) fn each_window(
        &self,
        docs: DocRange,
        each: &mut dyn FnMut(&[DocId], ValueIndex) -> FormatResult<bool>,
    ) -> FormatResult<()> {
        let (mut buffer, mut found) = (Vec::new(), 0);
        let DocRange { mut start, end } = docs.clip(self.docs);
        let even = SCAN_WINDOW * u64::from(self.docs) / u64::from(self.presence.values().max(1));
        let window = u32::try_from(even).unwrap_or(u32::MAX).min(BLOCK_DOCS).next_multiple_of(64);
        while start < end {
            let mut first = None;
            while start < end && found < BATCH {
                let stop = start.saturating_add(window).min(end);
                let index = self.presence.collect(start..stop, &mut buffer, &mut found)?;
                first.get_or_insert(index);
                start = stop;
            }
            let found = &buffer[..std::mem::take(&mut found)];
            let Some(first) = first.filter(|_| !found.is_empty()) else { continue };
            if !each(found, first)? {
                break;
            }
        }
        Ok(())
    }

    /// Adds to `bits` the documents of `docs` whose values match.
    ///
    /// `matching` gets a range of value indices, and sets a bit for each value that matches, counted from the start of
    /// the range. Both count in `pruned` the values that they skipped.
    pub(crate) fn filter_values(
        &self,
        docs: DocRange,
        bits: &mut [u64],
        pruned: &mut Pruning,
        matching: Matching<'_>,
    ) -> FormatResult<()> {
        let docs = docs.clip(self.docs);
        if self.presence.is_all() {
            return matching(docs.into(), bits, pruned);
        }
        let mut found = [0; FILTER_WINDOW as usize / 64];
        let mut start = docs.start;
        for bits in bits.chunks_mut(found.len()) {
            let window = start..start.saturating_add(FILTER_WINDOW).min(docs.end);
            if window.is_empty() {
                break;
            }
            start = window.end;
            let values = self.presence.values_in(window.clone())?;
            pruned.missing += window.len().saturating_sub(values.len()) as u64;
            if values.is_empty() {
                continue;
            }
            let found = &mut found[..values.len().div_ceil(64)];
            found.fill(0);
            matching(values, found, pruned)?;
            if found.iter().any(|&word| word != 0) {
                self.presence.expand(window, found, bits)?;
            }
        }
        Ok(())
    }
}

/// Calls `work` with a buffer on the stack for `len` numbers, at most a [`BATCH`].
#[inline(always)]
pub(crate) fn with_buffer<T: Copy + Default, R>(len: usize, work: impl FnOnce(&mut [T]) -> R) -> R {
    if len <= SMALL {
        work(&mut [T::default(); SMALL][..len])
    } else {
        work(&mut [T::default(); BATCH][..len])
    }
}

/// Requests the bytes that `read` touches for all of `these`, a wave for many at a time, if `source` is read by
/// requests.
pub(crate) fn request<D: Copy>(source: &Source, these: &[D], read: &mut dyn FnMut(D)) {
    if source.is_requested() {
        let mut wave = |these: &[D]| source.in_waves(|| these.iter().copied().for_each(&mut *read));
        these.chunks(REQUEST_BATCH).for_each(&mut wave);
    }
}

/// Adds the names of the file and the column to a decoder's error.
#[cold]
pub(crate) fn corrupt(file: &str, field: Option<&str>, source: docvalues_format::error::Error) -> Error {
    let (file, field) = (file.to_owned(), field.map(str::to_owned));
    match source.kind() {
        docvalues_format::error::ErrorKind::Io(kind) => {
            ErrorKind::Io { file, source: std::io::Error::new(*kind, source.to_string()) }.into()
        }
        _ => ErrorKind::Corrupt { file, field, source }.into(),
    }
}

/// The presence bits of the documents with these value indices: a bit for each document that has a value.
pub(crate) fn presence_words(indices: Indices<'_>) -> impl Iterator<Item = u64> {
    indices.each.chunks(64).map(|indices| docvalues_format::bits::not_equal(indices, NO_VALUE))
}
