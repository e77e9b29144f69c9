//! What the columns of all kinds have in common: a field, documents, and which of them have a value.

use std::ops::Range;
use std::sync::Arc;

use docvalues_column::{ColumnInfo, DocId, DocRange, Error, ErrorKind, Result, bits};
use docvalues_format::id::{BLOCK_DOCS, ValueIndex};
use docvalues_format::numeric::{NumericReader, Pruning};
use docvalues_format::presence::{Indices, NO_VALUE, PresenceReader};
use docvalues_storage::{Section, Source};

use crate::sort_key::PrimarySortKey;

/// Documents that a batch looks at together. Their numbers, value indices and values stay in the
/// first-level cache.
pub(crate) const BATCH: usize = 1024;

/// Documents of a small call: to clear room for a [`BATCH`] would take longer than to look so many up, and would keep the
/// processor from overlapping the misses of one call with those of the next.
const SMALL: usize = 64;

/// Documents with a value in a scan's window, if they lie evenly: so many are asked for at once.
const WINDOW: u64 = 2048;

/// Documents whose bytes are requested together.
const REQUESTED: usize = 4096;

/// Documents of a filter's window: a block of presence, so that value bits take 8 KiB at most. A
/// multiple of 64: every window begins with a whole word of the result.
const FILTER_WINDOW: u32 = 1 << 16;

/// Field, documents and presence of an open column.
#[derive(Debug)]
pub(crate) struct ColumnCore {
    pub(crate) file: Arc<str>,
    pub(crate) source: Arc<Source>,
    pub(crate) info: ColumnInfo,
    pub(crate) docs: u32,
    pub(crate) presence: PresenceReader<Section>,
    /// Set if the documents are sorted by this column first.
    pub(crate) sort_key: Option<PrimarySortKey>,
}

/// What the formats return.
pub(crate) type FormatResult<T> = docvalues_format::error::Result<T>;

impl ColumnCore {
    /// Adds the names of file and column to an error of their bytes.
    #[cold]
    pub(crate) fn corrupt(&self, source: docvalues_format::error::Error) -> Error {
        corrupt(&self.file, Some(&self.info.field.name), source)
    }

    /// The same for the error in a result.
    #[inline(always)]
    pub(crate) fn named<T>(&self, result: FormatResult<T>) -> Result<T> {
        result.map_err(|source| self.corrupt(source))
    }

    /// Requests what `read` touches, in waves for many of `these` together, if the segment's bytes are requested.
    pub(crate) fn request<D: Copy>(&self, these: &[D], read: impl FnMut(D)) {
        request(&self.source, these, read);
    }

    /// Adds the documents of `docs` that have a value.
    pub(crate) fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        bits::check(docs, bits);
        let docs = docs.clip(self.docs);
        self.named(self.presence.exists(docs.into(), bits))
    }

    /// Whether every document has a value, so that its number is its value's index.
    pub(crate) fn is_dense(&self) -> bool {
        self.presence.values() == self.docs
    }

    /// The number of `doc`, if it has one.
    #[inline(always)]
    pub(crate) fn number(&self, numbers: &NumericReader<Section>, doc: DocId) -> FormatResult<Option<i64>> {
        if self.presence.is_all()
            && let Some(number) = numbers.known(doc.get().into())
        {
            return Ok(Some(number));
        }
        match self.find_number(numbers, doc) {
            Some(number) => Ok(number),
            None => self.careful_number(numbers, doc),
        }
    }

    /// The same of a column with gaps.
    // Apart, so that the usual way needs no registers of the caller's.
    #[inline(never)]
    fn find_number(&self, numbers: &NumericReader<Section>, doc: DocId) -> Option<Option<i64>> {
        let Some(index) = self.presence.known(doc)? else { return Some(None) };
        numbers.quickly(index).map(Some)
    }

    /// The same where there is more to find, or an error to be made.
    #[inline(never)]
    fn careful_number(&self, numbers: &NumericReader<Section>, doc: DocId) -> FormatResult<Option<i64>> {
        match self.presence.rank(doc)? {
            Some(index) => numbers.get(index.get().into()).map(Some),
            None => Ok(None),
        }
    }

    /// Splits `docs` into batches and hands each one's value indices to `each`, with the place of the
    /// batch in `docs`.
    pub(crate) fn ranked(
        &self,
        docs: &[DocId],
        mut each: impl FnMut(Range<usize>, Indices<'_>) -> FormatResult<()>,
    ) -> FormatResult<()> {
        with_buffer(docs.len().min(BATCH), |buffer| {
            for (i, docs) in docs.chunks(BATCH).enumerate() {
                let indices = self.presence.indices(docs, buffer)?;
                each(i * BATCH..i * BATCH + docs.len(), indices)?;
            }
            Ok(())
        })
    }

    /// Splits `docs` into windows, each with the documents that have a value and the index of the
    /// first of those, and hands them to `each`, which says whether to go on.
    ///
    /// Windows are as long as the column is sparse, up to a block of presence, and grow while they are
    /// nearly empty: a sparse column hands out full batches, too.
    pub(crate) fn windows(
        &self,
        docs: DocRange,
        mut each: impl FnMut(&[DocId], ValueIndex) -> FormatResult<bool>,
    ) -> FormatResult<()> {
        let mut found = Vec::new();
        let DocRange { mut start, end } = docs.clip(self.docs);
        let even = WINDOW * u64::from(self.docs) / u64::from(self.presence.values().max(1));
        let window = u32::try_from(even).unwrap_or(u32::MAX).min(BLOCK_DOCS).next_multiple_of(64);
        while start < end {
            found.clear();
            let mut first = None;
            while start < end && found.len() < BATCH {
                let stop = start.saturating_add(window).min(end);
                let index = self.presence.collect(start..stop, &mut found)?;
                first.get_or_insert(index);
                start = stop;
            }
            let Some(first) = first.filter(|_| !found.is_empty()) else { continue };
            if !each(&found, first)? {
                break;
            }
        }
        Ok(())
    }

    /// Adds to `bits` the documents of `docs` that `matching` finds: given value indices, it sets a
    /// bit for each that matches, counted from the first. Both note in `pruned` what they did.
    pub(crate) fn filtered(
        &self,
        docs: DocRange,
        bits: &mut [u64],
        pruned: &mut Pruning,
        mut matching: impl FnMut(Range<u32>, &mut [u64], &mut Pruning) -> FormatResult<()>,
    ) -> FormatResult<()> {
        let docs = docs.clip(self.docs);
        if self.is_dense() {
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

/// What `work` makes of room for `len` numbers, at most a [`BATCH`].
#[inline(always)]
pub(crate) fn with_buffer<T: Copy + Default, R>(len: usize, work: impl FnOnce(&mut [T]) -> R) -> R {
    if len <= SMALL {
        work(&mut [T::default(); SMALL][..len])
    } else {
        work(&mut [T::default(); BATCH][..len])
    }
}

/// Requests what `read` touches, in waves for many of `these` together, if bytes of `source` are requested.
pub(crate) fn request<D: Copy>(source: &Source, these: &[D], mut read: impl FnMut(D)) {
    if source.is_requested() {
        let mut wave = |these: &[D]| source.in_waves(|| these.iter().copied().for_each(&mut read));
        these.chunks(REQUESTED).for_each(&mut wave);
    }
}

/// Adds the names of file and column to an error of their bytes.
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

/// The words of presence of the documents with these indices: a bit for each that has a value.
pub(crate) fn present(indices: Indices<'_>) -> impl Iterator<Item = u64> {
    indices.each.chunks(64).map(|indices| docvalues_format::bits::others(indices, NO_VALUE))
}
