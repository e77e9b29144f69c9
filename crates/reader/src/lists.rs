//! Several numbers a document: what sorted-numeric and sorted-set columns have in common.

use std::ops::{ControlFlow, Range, RangeInclusive};

use docvalues_column::{Batch, BatchDocs, DocId, Lists, Slices};
use docvalues_format::error::{Error, ErrorKind};
use docvalues_format::id::MAX_VALUES_PER_DOC;
use docvalues_format::numeric::{NumericReader, NumericWalk};
use docvalues_format::source::SectionBytes;
use docvalues_storage::Section;

use crate::core::{Core, FormatResult, Parts, Walks, check_words};

/// Values that a scan hands out together, if they are not one document's.
const SCAN_VALUES: u64 = 1 << 16;

/// Documents whose offsets a filter looks at together.
const FILTER_DOCS: u32 = 4096;

/// Values that a filter looks at together.
const FILTER_VALUES: u32 = 1 << 16;

/// Lists of numbers: where each document's begin, and the numbers end to end.
#[derive(Debug)]
pub(crate) struct NumberLists {
    pub(crate) core: Core,
    pub(crate) offsets: NumericReader<Section>,
    pub(crate) values: NumericReader<Section>,
}

impl NumberLists {
    pub(crate) fn parts(&self) -> Parts<'_> {
        let NumberLists { core, offsets, values } = self;
        Parts { core, offsets: Some(offsets), numbers: Some(values), binary: None, terms: None }
    }

    /// Appends the numbers of `doc`.
    pub(crate) fn read(&self, doc: DocId, walks: &mut Walks, out: &mut Vec<i64>) -> FormatResult<()> {
        match self.core.presence.rank(doc, &mut walks.presence)? {
            Some(index) => self.append(index.get(), walks, out),
            None => Ok(()),
        }
    }

    /// Replaces `out` by the numbers of `docs`.
    pub(crate) fn gather(&self, docs: &[DocId], out: &mut Lists<i64>) -> FormatResult<()> {
        let mut walks = Walks::default();
        let mut presence = walks.presence;
        out.clear();
        self.core.ranked(docs, &mut presence, |_, indices| {
            for &index in indices {
                out.push_with(|items| match index {
                    u32::MAX => Ok(()),
                    index => self.append(index, &mut walks, items),
                })?;
            }
            Ok(())
        })
    }

    fn append(&self, index: u32, walks: &mut Walks, out: &mut Vec<i64>) -> FormatResult<()> {
        let (start, end) = self.offsets.get_pair(index.into(), &mut walks.offsets)?;
        let (start, end) = (start.cast_unsigned(), end.cast_unsigned());
        let (len, at) = (self.list_len(start, end)?, out.len());
        out.resize(at + len, 0);
        self.values.decode(start..end, &mut out[at..], &mut walks.values)
    }

    /// The length of a document's list, refused if it cannot be one.
    fn list_len(&self, start: u64, end: u64) -> FormatResult<usize> {
        let refuse = |kind| Err(Error::at(self.place(), 0, kind));
        if start >= end || end > self.values.count() {
            return refuse(ErrorKind::Broken(
                "a document's values end before they begin, or behind the last",
            ));
        }
        match end - start {
            len if len <= u64::from(MAX_VALUES_PER_DOC) => Ok(usize::try_from(len).unwrap_or(usize::MAX)),
            found => refuse(ErrorKind::OutOfRange {
                what: "number of a document's values",
                found,
                max: MAX_VALUES_PER_DOC.into(),
            }),
        }
    }

    pub(crate) fn place(&self) -> docvalues_format::error::Place {
        let nowhere =
            docvalues_format::error::Place { section: docvalues_format::error::Section::Offsets, offset: 0 };
        self.offsets.meta().blocks.as_ref().map_or(nowhere, SectionBytes::place)
    }

    /// Replaces `out` by the offsets of the documents with value indices `indices`, one more than
    /// those, each list checked.
    pub(crate) fn read_offsets(
        &self,
        indices: Range<u64>,
        walk: &mut NumericWalk,
        numbers: &mut Vec<i64>,
        out: &mut Vec<u64>,
    ) -> FormatResult<()> {
        let len = usize::try_from(indices.end - indices.start).unwrap_or(usize::MAX) + 1;
        numbers.resize(len, 0);
        self.offsets.decode(indices.start..indices.end + 1, numbers, walk)?;
        out.clear();
        out.extend(numbers.iter().map(|offset| offset.cast_unsigned()));
        for pair in out.windows(2) {
            self.list_len(pair[0], pair[1])?;
        }
        Ok(())
    }

    /// Checks every list's place and length.
    pub(crate) fn check_offsets(&self) -> FormatResult<()> {
        let (mut walk, mut numbers, mut offsets) = (NumericWalk::default(), Vec::new(), Vec::new());
        let (mut at, end) = (0, u64::from(self.core.presence.values()));
        while at < end {
            let stop = at.saturating_add(FILTER_DOCS.into()).min(end);
            self.read_offsets(at..stop, &mut walk, &mut numbers, &mut offsets)?;
            at = stop;
        }
        Ok(())
    }

    /// Hands out the lists of `docs`, batch by batch.
    pub(crate) fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, i64>>) -> ControlFlow<()>,
    ) -> FormatResult<()> {
        let mut walks = Walks::default();
        let (mut numbers, mut offsets, mut values) = (Vec::new(), Vec::new(), Vec::new());
        self.core.windows(docs, |docs, first| {
            let first = u64::from(first.get());
            let indices = first..first + docs.len() as u64;
            self.read_offsets(indices, &mut walks.offsets, &mut numbers, &mut offsets)?;
            let mut at = 0;
            while at < docs.len() {
                let limit = offsets[at].saturating_add(SCAN_VALUES);
                let len = offsets[at + 1..].partition_point(|&end| end <= limit).max(1);
                let offsets = &offsets[at..=at + len];
                let span = offsets[0]..offsets[len];
                values.resize(usize::try_from(span.end - span.start).unwrap_or(usize::MAX), 0);
                self.values.decode(span, &mut values, &mut walks.values)?;
                let docs = BatchDocs::List(&docs[at..at + len]);
                if each(Batch { docs, values: Slices::new(offsets, &values) }).is_break() {
                    return Ok(false);
                }
                at += len;
            }
            Ok(true)
        })
    }

    /// Adds the documents of `docs` of whose numbers at least one lies in `range`.
    pub(crate) fn filter(
        &self,
        docs: Range<u32>,
        range: &RangeInclusive<i64>,
        bits: &mut [u64],
    ) -> FormatResult<()> {
        check_words(&docs, bits);
        let meta = self.values.meta();
        if meta.count == 0 || range.is_empty() || *range.start() > meta.max || *range.end() < meta.min {
            return Ok(());
        }
        if *range.start() <= meta.min && meta.max <= *range.end() {
            return self.core.presence.exists(self.core.clip(docs), bits, &mut Default::default());
        }
        let mut search = Search {
            lists: self,
            range,
            walks: Walks::default(),
            numbers: Vec::new(),
            offsets: Vec::new(),
            hits: vec![0; (FILTER_VALUES / 64) as usize],
        };
        self.core.filtered(docs, bits, |indices, found| {
            let mut at = indices.start;
            while at < indices.end {
                let end = at.saturating_add(FILTER_DOCS).min(indices.end);
                search.mark(at..end, (at - indices.start) as usize, found)?;
                at = end;
            }
            Ok(())
        })
    }
}

/// The buffers of a filter over lists.
struct Search<'a> {
    lists: &'a NumberLists,
    range: &'a RangeInclusive<i64>,
    walks: Walks,
    numbers: Vec<i64>,
    offsets: Vec<u64>,
    hits: Vec<u64>,
}

impl Search<'_> {
    /// Sets a bit, counted from `bit`, for each of `indices` whose list has a number in the range.
    fn mark(&mut self, indices: Range<u32>, bit: usize, found: &mut [u64]) -> FormatResult<()> {
        let Search { lists, range, walks, numbers, offsets, hits } = self;
        let indices = indices.start.into()..indices.end.into();
        lists.read_offsets(indices, &mut walks.offsets, numbers, offsets)?;
        let (mut at, end) = (offsets[0], offsets[offsets.len() - 1]);
        let mut list = 0;
        while at < end {
            let stop = at.saturating_add(FILTER_VALUES.into()).min(end);
            hits.fill(0);
            lists.values.filter(at..stop, (*range).clone(), hits, &mut walks.values)?;
            // The lists that begin before `stop`; the last of them may go on behind it.
            while list + 1 < offsets.len() && offsets[list] < stop {
                // Both are at most FILTER_VALUES.
                let [start, end] = [offsets[list].max(at), offsets[list + 1].min(stop)]
                    .map(|place| usize::try_from(place - at).unwrap_or(usize::MAX));
                if any_set(hits, start..end) {
                    found[(bit + list) / 64] |= 1 << ((bit + list) % 64);
                }
                if offsets[list + 1] > stop {
                    break;
                }
                list += 1;
            }
            at = stop;
        }
        Ok(())
    }
}

/// Whether one of the bits `range` is set.
fn any_set(bits: &[u64], range: Range<usize>) -> bool {
    let Range { start, end } = range;
    (start / 64..end.div_ceil(64)).any(|word| {
        let from = start.saturating_sub(word * 64);
        let upto = (end - word * 64).min(64);
        bits[word] & (u64::MAX << from) & (u64::MAX >> (64 - upto)) != 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_set_looks_at_its_range_alone() {
        let bits = [1 << 5 | 1 << 63, 1];
        for (range, expected) in
            [(0..5, false), (5..6, true), (6..63, false), (6..64, true), (64..65, true), (65..128, false)]
        {
            assert_eq!(any_set(&bits, range.clone()), expected, "{range:?}");
        }
        assert!(!any_set(&bits, 5..5));
    }
}
