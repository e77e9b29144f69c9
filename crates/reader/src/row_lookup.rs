//! Rows of single documents, in columns with gaps or lists whose bytes are all verified.

use std::hint::select_unpredictable;
use std::ops::Range;

use docvalues_column::DocId;
use docvalues_format::bits::{Work, multiversioned};
use docvalues_format::numeric::{Lookup, NumericReader, RUN};
use docvalues_format::presence::{PresenceReader, RankLookup};
use docvalues_format::source::SectionBytes as _;
use docvalues_storage::{Section, SharedBytes};

use crate::element::Stored;

/// The look-ups of a column with gaps or lists: a document's rank, the places of its values, and the values.
#[derive(Debug)]
pub(crate) struct RowLookup {
    ranks: RankLookup<SharedBytes>,
    /// `None` in a single-valued column, where a value's place is its document's rank.
    offsets: Option<Lookup<SharedBytes>>,
    values: Lookup<SharedBytes>,
}

impl RowLookup {
    /// `None` unless all bytes are verified, and each reader has look-ups.
    #[inline(never)]
    pub(crate) fn of(
        presence: &PresenceReader<Section>,
        offsets: Option<&NumericReader<Section>>,
        values: &NumericReader<Section>,
    ) -> Option<RowLookup> {
        // This is called after each look-up until it returns a `RowLookup`, so first come checks that neither allocate nor
        // count shares of the bytes. The values before all: most of the bytes are theirs.
        values.meta().blocks.as_ref()?.verified()?;
        presence.lookup(check_verified)?;
        if let Some(offsets) = offsets {
            offsets.lookup(check_verified)?;
        }
        let values = values.lookup(Section::verified_bytes)?;
        let offsets = match offsets {
            Some(offsets) => Some(offsets.lookup(Section::verified_bytes)?),
            None => None,
        };
        let ranks = presence.lookup(Section::verified_bytes)?;
        Some(RowLookup { ranks, offsets, values })
    }

    /// The value of `doc` in a single-valued column. The outer `None` means that it takes the general code.
    #[inline(always)]
    pub(crate) fn get(&self, doc: DocId) -> Option<Option<i64>> {
        multiversioned(ReadOne { lookup: self, doc })
    }

    /// Replaces `out` by the values of `doc`, and returns the places of those that it leaves: all of a list of more than
    /// [`RUN`], otherwise none. `None` for rows that take the general code; `out` may then hold any values.
    #[inline(always)]
    pub(crate) fn read<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> Option<Range<u64>> {
        out.clear();
        let Some(index) = self.ranks.get(doc)? else { return Some(0..0) };
        let Some(offsets) = &self.offsets else {
            out.push(T::of(self.values.get(index)?));
            return Some(0..0);
        };
        let [start, end] = offsets.pair(index)?.map(i64::cast_unsigned);
        let len = usize::try_from(end.checked_sub(start)?).ok()?;
        if len > RUN {
            return Some(start..end);
        }
        // The general code refuses a list without values.
        if len == 0 {
            return None;
        }
        // A fixed length, so that there is one check of the capacity, and the values are written in place.
        out.extend_from_slice(&[T::default(); RUN]);
        self.values.run(start, len, out.first_chunk_mut()?, T::of)?;
        out.truncate(len);
        Some(0..0)
    }
}

/// One look-up of a value. Compiled for several CPUs, because counting the bits of a line of presence takes most of its
/// instructions on one that has none for that. It fits two registers.
struct ReadOne<'c> {
    lookup: &'c RowLookup,
    doc: DocId,
}

impl Work for ReadOne<'_> {
    type Output = Option<Option<i64>>;

    #[inline(always)]
    fn run(self) -> Option<Option<i64>> {
        let RowLookup { ranks, values, .. } = self.lookup;
        let (rank, has_value) = ranks.probe(self.doc)?;
        // A branch would be mispredicted for many documents. Without a value, the first one of the column is read: it stays
        // in the cache.
        let value = values.get(select_unpredictable(has_value, rank, 0))?;
        Some(has_value.then_some(value))
    }
}

/// `None` unless all bytes of `section` are verified.
fn check_verified(section: &Section, _: usize) -> Option<()> {
    section.verified().map(|_| ())
}
