//! What the columns of all kinds have in common: a field, documents, and which of them have a value.

use std::ops::Range;
use std::sync::Arc;

use docvalues_column::{DocId, Error, ErrorKind, Field, Result, words};
use docvalues_format::binary::BinaryReader;
use docvalues_format::bits;
use docvalues_format::dictionary::DictionaryReader;
use docvalues_format::file::column::Statistics;
use docvalues_format::id::{BLOCK_DOCS, ValueIndex};
use docvalues_format::numeric::{FilterCounts, NumericReader, NumericWalk};
use docvalues_format::presence::{Indices, NO_VALUE, PresenceReader, PresenceWalk};
use docvalues_storage::Section;

use crate::leading::Leading;

/// Documents that a batch looks at together. Their numbers, value indices and values stay in the
/// first-level cache.
pub(crate) const BATCH: usize = 1024;

/// Documents with a value in a scan's window, if they lie evenly: so many are asked for at once.
const WINDOW: u64 = 2048;

/// Documents of a filter's window: a block of presence, so that value bits take 8 KiB at most. A
/// multiple of 64: every window begins with a whole word of the result.
const FILTER_WINDOW: u32 = 1 << 16;

/// Field, documents and presence of an open column.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) file: Arc<str>,
    pub(crate) field: Field,
    pub(crate) docs: u32,
    pub(crate) presence: PresenceReader<Section>,
    pub(crate) statistics: Statistics,
    /// Set if the documents are sorted by this column first.
    pub(crate) leading: Option<Leading>,
}

/// What a column is made of.
pub(crate) struct Parts<'c> {
    pub(crate) core: &'c Core,
    pub(crate) offsets: Option<&'c NumericReader<Section>>,
    pub(crate) numbers: Option<&'c NumericReader<Section>>,
    pub(crate) binary: Option<&'c BinaryReader<Section>>,
    pub(crate) terms: Option<&'c DictionaryReader<Section>>,
}

/// Positions in a column's chains of blocks; see [`Cursor`](crate::Cursor).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Walks {
    pub(crate) presence: PresenceWalk,
    pub(crate) offsets: NumericWalk,
    pub(crate) values: NumericWalk,
}

/// What the formats return.
pub(crate) type FormatResult<T> = docvalues_format::error::Result<T>;

impl Core {
    /// Adds the names of file and column to an error of their bytes.
    #[cold]
    pub(crate) fn corrupt(&self, source: docvalues_format::error::Error) -> Error {
        corrupt(&self.file, Some(&self.field.name), source)
    }

    /// The same for the error in a result.
    #[inline]
    pub(crate) fn named<T>(&self, result: FormatResult<T>) -> Result<T> {
        result.map_err(|source| self.corrupt(source))
    }

    /// Adds the documents of `docs` that have a value.
    pub(crate) fn exists(&self, docs: Range<u32>, bits: &mut [u64]) -> Result<()> {
        check_words(&docs, bits);
        let docs = self.clip(docs);
        self.named(self.presence.exists(docs, bits, &mut PresenceWalk::default()))
    }

    /// Whether every document has a value, so that its number is its value's index.
    pub(crate) fn is_dense(&self) -> bool {
        self.presence.values() == self.docs
    }

    /// The number of `doc`, if it has one.
    #[inline]
    pub(crate) fn number(
        &self,
        numbers: &NumericReader<Section>,
        doc: DocId,
        walks: &mut Walks,
    ) -> FormatResult<Option<i64>> {
        if self.presence.is_all()
            && let Some(number) = numbers.known(doc.get().into())
        {
            return Ok(Some(number));
        }
        self.find_number(numbers, doc, walks)
    }

    /// The same where there is more to find, or an error to be made.
    // Apart, so that the usual way needs no registers of the caller's.
    #[inline(never)]
    fn find_number(
        &self,
        numbers: &NumericReader<Section>,
        doc: DocId,
        walks: &mut Walks,
    ) -> FormatResult<Option<i64>> {
        match self.presence.rank(doc, &mut walks.presence)? {
            Some(index) => numbers.get(index.get().into(), &mut walks.values).map(Some),
            None => Ok(None),
        }
    }

    /// `docs`, without those past the last one.
    pub(crate) fn clip(&self, docs: Range<u32>) -> Range<u32> {
        let end = docs.end.min(self.docs);
        docs.start.min(end)..end
    }

    /// Splits `docs` into batches and hands each one's value indices to `each`, with the place of the
    /// batch in `docs`.
    pub(crate) fn ranked(
        &self,
        docs: &[DocId],
        walk: &mut PresenceWalk,
        mut each: impl FnMut(Range<usize>, Indices<'_>) -> FormatResult<()>,
    ) -> FormatResult<()> {
        let mut buffer = [0; BATCH];
        for (i, docs) in docs.chunks(BATCH).enumerate() {
            let indices = self.presence.indices(docs, &mut buffer, walk)?;
            each(i * BATCH..i * BATCH + docs.len(), indices)?;
        }
        Ok(())
    }

    /// Splits `docs` into windows, each with the documents that have a value and the index of the
    /// first of those, and hands them to `each`, which says whether to go on.
    ///
    /// Windows are as long as the column is sparse, up to a block of presence, and grow while they are
    /// nearly empty: a sparse column hands out full batches, too.
    pub(crate) fn windows(
        &self,
        docs: Range<u32>,
        mut each: impl FnMut(&[DocId], ValueIndex) -> FormatResult<bool>,
    ) -> FormatResult<()> {
        let (mut found, mut walk) = (Vec::new(), PresenceWalk::default());
        let Range { mut start, end } = self.clip(docs);
        let even = WINDOW * u64::from(self.docs) / u64::from(self.presence.values().max(1));
        let window = u32::try_from(even).unwrap_or(u32::MAX).min(BLOCK_DOCS).next_multiple_of(64);
        while start < end {
            found.clear();
            let mut first = None;
            while start < end && found.len() < BATCH {
                let stop = start.saturating_add(window).min(end);
                let index = self.presence.collect(start..stop, &mut found, &mut walk)?;
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
    /// bit for each that matches, counted from the first. Both note in `counts` what they did.
    pub(crate) fn filtered(
        &self,
        docs: Range<u32>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
        mut matching: impl FnMut(Range<u32>, &mut [u64], &mut FilterCounts) -> FormatResult<()>,
    ) -> FormatResult<()> {
        let docs = self.clip(docs);
        if self.is_dense() {
            return matching(docs, bits, counts);
        }
        let (mut walk, mut found) = (PresenceWalk::default(), [0; FILTER_WINDOW as usize / 64]);
        let mut start = docs.start;
        for bits in bits.chunks_mut(found.len()) {
            let window = start..start.saturating_add(FILTER_WINDOW).min(docs.end);
            if window.is_empty() {
                break;
            }
            start = window.end;
            let values = self.presence.values_in(window.clone(), &mut walk)?;
            counts.missing += window.len().saturating_sub(values.len()) as u64;
            if values.is_empty() {
                continue;
            }
            let found = &mut found[..values.len().div_ceil(64)];
            found.fill(0);
            matching(values, found, counts)?;
            if found.iter().any(|&word| word != 0) {
                self.presence.expand(window, found, bits, &mut walk)?;
            }
        }
        Ok(())
    }
}

/// Holds a caller to what the traits ask of a bitset, whatever would be written to it.
///
/// # Panics
///
/// If `bits` has too few words for `docs`.
pub(crate) fn check_words(docs: &Range<u32>, bits: &[u64]) {
    let words = words(docs.clone());
    assert!(bits.len() >= words, "{} words for the documents {docs:?}, {words} are needed", bits.len());
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

/// Reads the numbers of `docs` into `out`, `fill` for those that have none, and sets the bits of
/// those that have one in `present`.
///
/// # Panics
///
/// If `out` is not as long as `docs`, or `present` has too few words for them.
pub(crate) fn gather_numbers(
    core: &Core,
    values: &NumericReader<Section>,
    docs: &[DocId],
    out: &mut [i64],
    fill: i64,
    mut present: Option<&mut [u64]>,
) -> Result<()> {
    assert_eq!(docs.len(), out.len(), "a number for each document");
    let mut walks = Walks::default();
    clear_present(docs, present.as_deref_mut());
    core.named(core.ranked(docs, &mut walks.presence, |place, indices| {
        mark_present(place.start, indices, present.as_deref_mut());
        gather_or(values, indices, &mut out[place], fill, &mut walks.values)
    }))
}

/// The numbers at `indices` of a batch, `fill` for documents that have none.
pub(crate) fn gather_or(
    values: &NumericReader<Section>,
    indices: Indices<'_>,
    out: &mut [i64],
    fill: i64,
    walk: &mut NumericWalk,
) -> FormatResult<()> {
    if indices.all {
        return values.gather(indices.each, out, walk);
    }
    let mut there = [0; BATCH];
    let there = &mut there[..out.len()];
    let count = bits::together(indices.each, NO_VALUE, there);
    values.gather(&there[..count], &mut out[..count], walk)?;
    bits::spread(indices.each, NO_VALUE, count, fill, out);
    Ok(())
}

/// Clears the bits of all of `docs`.
///
/// # Panics
///
/// If `present` has too few words for `docs`.
pub(crate) fn clear_present(docs: &[DocId], present: Option<&mut [u64]>) {
    if let Some(present) = present {
        let words = docs.len().div_ceil(64);
        assert!(present.len() >= words, "{} words for {} documents", present.len(), docs.len());
        present[..words].fill(0);
    }
}

/// Sets the bits of the documents, `at` and following, that have a value; `at` is where a batch begins.
pub(crate) fn mark_present(at: usize, indices: Indices<'_>, present: Option<&mut [u64]>) {
    debug_assert!(at.is_multiple_of(BATCH), "batches begin with a word");
    let Some(present) = present else { return };
    for (word, indices) in present[at / 64..].iter_mut().zip(indices.each.chunks(64)) {
        *word = (0..).zip(indices).fold(0, |word, (i, &index)| word | u64::from(index != NO_VALUE) << i);
    }
}
