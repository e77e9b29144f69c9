//! Multi-valued columns: the lists of all documents end to end, and the offset at which each begins.
//!
//! ```text
//! documents with a value     0       1   2
//! offsets                    0       3   4       6
//! values                     7 8 9   5   1 2
//! ```

use std::hint::select_unpredictable;
use std::ops::{Range, RangeInclusive};

use docvalues_column::{Batch, BatchDocs, DocId, DocRange, Each, Lists, Pruning, Slices, View};
use docvalues_format::bits::{Work, multiversioned};
use docvalues_format::error::{Error, ErrorKind};
use docvalues_format::id::MAX_VALUES_PER_DOC;
use docvalues_format::numeric::NumericReader;
use docvalues_format::presence::NO_VALUE;
use docvalues_format::source::SectionBytes;
use docvalues_storage::Section;

use crate::column::{BATCH, ColumnCore, FormatResult};
use crate::element::Stored;

/// The most values of a scan's batch, unless a single document has more.
const SCAN_VALUES: u64 = 1 << 16;

/// The longest list whose numbers are read one by one, or gathered with those of other lists. Longer lists are decoded.
const SHORT_LIST: usize = 8;

/// Numbers of a long list that are decoded at once.
const DECODE_BATCH: usize = 64;

/// Documents whose offsets a filter decodes at once.
const FILTER_DOCS: u32 = 4096;

/// Values that a filter compares at once.
const FILTER_VALUES: u32 = 1 << 16;

/// The lists of an open multi-valued column.
#[derive(Clone, Copy)]
pub(crate) struct ListReader<'c> {
    pub(crate) core: &'c ColumnCore,
    pub(crate) offsets: &'c NumericReader<Section>,
    pub(crate) values: &'c NumericReader<Section>,
}

impl ListReader<'_> {
    /// Appends the values of `doc`.
    pub(crate) fn read<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> FormatResult<()> {
        let len = out.len();
        match multiversioned(ReadVerified { lists: *self, doc, out }) {
            Some(left) if left.is_empty() => Ok(()),
            Some(left) => self.read_long(left, out),
            None => {
                out.truncate(len);
                self.read_checked(doc, out)
            }
        }
    }

    /// [`read`](Self::read) of a long list, whose values are at `places`.
    #[inline(never)]
    pub(crate) fn read_long<T: Stored>(&self, places: Range<u64>, out: &mut Vec<T>) -> FormatResult<()> {
        self.list_len(places.start, places.end)?;
        self.append(places, out)
    }

    /// [`read`](Self::read) of a list that the fast path does not return.
    #[inline(never)]
    fn read_checked<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> FormatResult<()> {
        let Some(index) = self.core.presence.rank(doc)? else { return Ok(()) };
        let (start, end) = self.offsets.get_pair(index.get().into())?;
        let (start, end) = (start.cast_unsigned(), end.cast_unsigned());
        if self.list_len(start, end)? > SHORT_LIST {
            return self.append(start..end, out);
        }
        for place in start..end {
            out.push(T::of(self.values.get(place)?));
        }
        Ok(())
    }

    /// Appends the lists of `docs`.
    ///
    /// It reads the ranks of a whole batch, then the offsets, then the values. Within each step no read depends on
    /// another, so their cache misses overlap.
    pub(crate) fn gather<T: Stored>(&self, docs: &[DocId], out: &mut Lists<T>) -> FormatResult<()> {
        let (mut pairs, mut places) = ([[0; 2]; BATCH], [[0; 2]; BATCH]);
        self.core.each_batch(docs, &mut |_, indices| {
            let mut count = 0;
            for &index in indices.each {
                // The entry of a document without a value is overwritten by the next one.
                pairs[count % BATCH] = [index, index.wrapping_add(1)];
                count += usize::from(index != NO_VALUE);
            }
            let (pairs, places) = (pairs[..count].as_flattened(), places[..count].as_flattened_mut());
            self.offsets.gather(pairs, places)?;
            let places: &[[i64; 2]] = places.as_chunks().0;
            let mut next = 0;
            let lens = indices.each.iter().map(|&index| {
                // Without a branch, which would be mispredicted for most documents without a list.
                let has_list = index != NO_VALUE;
                let [start, end] = places.get(next).copied().unwrap_or_default();
                next += usize::from(has_list);
                select_unpredictable(has_list, end.abs_diff(start), 0)
            });
            out.extend_with(lens, |items| self.fill(places, items))
        })
    }

    /// Appends the values of `lists`, each a start and an end.
    fn fill<T: Stored>(&self, lists: &[[i64; 2]], out: &mut Vec<T>) -> FormatResult<()> {
        let (mut places, mut numbers, mut count) = ([0; BATCH], [0; BATCH], 0);
        let mut flush = |places: &[u32], out: &mut Vec<T>| {
            let numbers = &mut numbers[..places.len()];
            self.values.gather(places, numbers)?;
            out.extend(numbers.iter().map(|&number| T::of(number)));
            Ok(())
        };
        for list in lists {
            let [start, end] = list.map(i64::cast_unsigned);
            let len = self.list_len(start, end)?;
            match u32::try_from(end) {
                Ok(end) if len <= SHORT_LIST => {
                    // Writes SHORT_LIST places for each list, without a branch; the next list overwrites the surplus.
                    let from = end - u32::try_from(len).unwrap_or(0);
                    let to = &mut places[count..count + SHORT_LIST];
                    (0..).zip(to).for_each(|(i, place)| *place = from.wrapping_add(i));
                    count += len;
                }
                _ => {
                    flush(&places[..count], out)?;
                    count = 0;
                    self.append(start..end, out)?;
                }
            }
            if count > BATCH - SHORT_LIST {
                flush(&places[..count], out)?;
                count = 0;
            }
        }
        flush(&places[..count], out)
    }

    /// Appends the values at `places`.
    fn append<T: Stored>(&self, places: Range<u64>, out: &mut Vec<T>) -> FormatResult<()> {
        let (mut numbers, mut at) = ([0; DECODE_BATCH], places.start);
        while at < places.end {
            let len = DECODE_BATCH.min(usize::try_from(places.end - at).unwrap_or(usize::MAX));
            let numbers = &mut numbers[..len];
            self.values.decode(at..at + len as u64, numbers)?;
            out.extend(numbers.iter().map(|&number| T::of(number)));
            at += len as u64;
        }
        Ok(())
    }

    /// The length of the list from `start` to `end`, or an error if there is no such list.
    fn list_len(&self, start: u64, end: u64) -> FormatResult<usize> {
        let refuse = |kind| Err(Error::at(self.place(), 0, kind));
        if start >= end || end > self.values.count() {
            return refuse(ErrorKind::Broken(
                "a document's list of values ends before it begins, or after the last value",
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

    /// The place of the offsets in the file, for errors.
    pub(crate) fn place(&self) -> docvalues_format::error::Place {
        let nowhere =
            docvalues_format::error::Place { section: docvalues_format::error::Section::Offsets, offset: 0 };
        self.offsets.meta().blocks.as_ref().map_or(nowhere, SectionBytes::place)
    }

    /// Replaces the contents of `out` by the offsets of the lists `indices`, and the end of the last. Checks each list.
    pub(crate) fn read_offsets(
        &self,
        indices: Range<u64>,
        numbers: &mut Vec<i64>,
        out: &mut Vec<u64>,
    ) -> FormatResult<()> {
        let len = usize::try_from(indices.end - indices.start).unwrap_or(usize::MAX) + 1;
        numbers.resize(len, 0);
        self.offsets.decode(indices.start..indices.end + 1, numbers)?;
        out.clear();
        out.extend(numbers.iter().map(|offset| offset.cast_unsigned()));
        // A check of all lists without a branch: none is empty or too long, and the last one ends within the values.
        let mut beyond = 0;
        for (start, end) in out.iter().zip(&out[1..]) {
            beyond |= end.wrapping_sub(*start).wrapping_sub(1) / u64::from(MAX_VALUES_PER_DOC);
        }
        // Each step is at most MAX_VALUES_PER_DOC, so the offsets do not wrap around in between.
        let (first, last) = (out[0], out[len - 1]);
        if beyond != 0 || first > last || last > self.values.count() {
            for pair in out.windows(2) {
                self.list_len(pair[0], pair[1])?;
            }
        }
        Ok(())
    }

    /// Checks the offsets of all lists.
    pub(crate) fn check_offsets(&self) -> FormatResult<()> {
        let (mut numbers, mut offsets) = (Vec::new(), Vec::new());
        let (mut at, end) = (0, u64::from(self.core.presence.values()));
        while at < end {
            let stop = at.saturating_add(FILTER_DOCS.into()).min(end);
            self.read_offsets(at..stop, &mut numbers, &mut offsets)?;
            at = stop;
        }
        Ok(())
    }

    /// Calls `each` with the lists of `docs`, batch by batch.
    pub(crate) fn scan<T: Stored>(&self, docs: DocRange, each: &mut Each<'_, T>) -> FormatResult<()> {
        let (mut numbers, mut offsets, mut values) = (Vec::new(), Vec::new(), Vec::new());
        self.core.each_window(docs, &mut |docs, first| {
            let first = u64::from(first.get());
            let indices = first..first + docs.len() as u64;
            self.read_offsets(indices, &mut numbers, &mut offsets)?;
            let mut at = 0;
            while at < docs.len() {
                let limit = offsets[at].saturating_add(SCAN_VALUES);
                let len = offsets[at + 1..].partition_point(|&end| end <= limit).max(1);
                let offsets = &offsets[at..=at + len];
                let span = offsets[0]..offsets[len];
                values.resize(usize::try_from(span.end - span.start).unwrap_or(usize::MAX), T::default());
                T::decode(self.values, span, &mut values)?;
                let docs = BatchDocs::List(&docs[at..at + len]);
                let values = View::Many(Slices::new(offsets, &values));
                if each(Batch { docs, values }).is_break() {
                    return Ok(false);
                }
                at += len;
            }
            Ok(true)
        })
    }

    /// Adds to `bits` the documents of `docs` with at least one number in `range`.
    pub(crate) fn filter(
        &self,
        docs: DocRange,
        range: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> FormatResult<()> {
        let meta = self.values.meta();
        let docs = docs.clip(self.core.docs);
        let asked = docs.len() as u64;
        if meta.count == 0 || range.is_empty() || *range.start() > meta.max || *range.end() < meta.min {
            pruned.directory += asked;
            return Ok(());
        }
        if *range.start() <= meta.min && meta.max <= *range.end() {
            pruned.directory += asked;
            return self.core.presence.exists(docs.into(), bits);
        }
        let mut filter = ListFilter {
            lists: *self,
            range,
            numbers: Vec::new(),
            offsets: Vec::new(),
            hits: vec![0; (FILTER_VALUES / 64) as usize],
        };
        self.core.filter_values(docs, bits, pruned, &mut |indices, found, pruned| {
            let mut at = indices.start;
            while at < indices.end {
                let end = at.saturating_add(FILTER_DOCS).min(indices.end);
                filter.mark(at..end, (at - indices.start) as usize, found, pruned)?;
                at = end;
            }
            Ok(())
        })
    }
}

/// One look-up in verified bytes. It returns the places of the values that it leaves: all of a long list, or none. Before
/// `None`, it may have appended some of the values.
///
/// Compiled for several CPUs, as that of a single value is.
struct ReadVerified<'a, T> {
    lists: ListReader<'a>,
    doc: DocId,
    out: &'a mut Vec<T>,
}

impl<T: Stored> Work for ReadVerified<'_, T> {
    type Output = Option<Range<u64>>;

    #[inline(always)]
    fn run(self) -> Option<Range<u64>> {
        let ListReader { core, offsets, values } = self.lists;
        let Some(index) = core.presence.rank_verified(self.doc)? else { return Some(0..0) };
        let (start, end) = offsets.pair_verified(index)?;
        let (start, end) = (start.cast_unsigned(), end.cast_unsigned());
        match end.checked_sub(start)? {
            // The general code refuses a list without values.
            0 => return None,
            len if len > SHORT_LIST as u64 => return Some(start..end),
            _ => {}
        }
        for place in start..end {
            self.out.push(T::of(values.get_verified(place)?));
        }
        Some(0..0)
    }
}

/// A filter over lists, with its buffers.
struct ListFilter<'a> {
    lists: ListReader<'a>,
    range: &'a RangeInclusive<i64>,
    numbers: Vec<i64>,
    offsets: Vec<u64>,
    hits: Vec<u64>,
}

impl ListFilter<'_> {
    /// Sets a bit of `found` for each of `indices` whose list has a number in the range. Their bits begin at `bit`.
    fn mark(
        &mut self,
        indices: Range<u32>,
        bit: usize,
        found: &mut [u64],
        pruned: &mut Pruning,
    ) -> FormatResult<()> {
        let ListFilter { lists, range, numbers, offsets, hits } = self;
        let indices = indices.start.into()..indices.end.into();
        lists.read_offsets(indices, numbers, offsets)?;
        let (mut at, end) = (offsets[0], offsets[offsets.len() - 1]);
        let mut list = 0;
        while at < end {
            let stop = at.saturating_add(FILTER_VALUES.into()).min(end);
            hits.fill(0);
            lists.values.filter(at..stop, (*range).clone(), hits, pruned)?;
            // The lists that begin before `stop`. The last of them may continue after it.
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
    fn any_set_ignores_bits_outside_the_range() {
        let bits = [1 << 5 | 1 << 63, 1];
        for (range, expected) in
            [(0..5, false), (5..6, true), (6..63, false), (6..64, true), (64..65, true), (65..128, false)]
        {
            assert_eq!(any_set(&bits, range.clone()), expected, "{range:?}");
        }
        assert!(!any_set(&bits, 5..5));
    }
}
