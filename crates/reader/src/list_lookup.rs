//! Lists of single documents, in columns whose bytes are all verified.

use docvalues_column::DocId;
use docvalues_format::numeric::{Lookup, RUN};
use docvalues_format::presence::RankLookup;
use docvalues_storage::{Section, SharedBytes};

use crate::element::Stored;
use crate::lists::ListReader;

/// The look-ups of a multi-valued column: a document's rank, the places of its values, and the values.
#[derive(Debug)]
pub(crate) struct ListLookup {
    ranks: RankLookup<SharedBytes>,
    offsets: Lookup<SharedBytes>,
    values: Lookup<SharedBytes>,
}

impl ListLookup {
    /// `None` unless all bytes are verified, and each reader has look-ups.
    #[inline(never)]
    pub(crate) fn of(lists: ListReader<'_>) -> Option<ListLookup> {
        // Values first: most of the bytes are theirs, so that this costs little until they are verified.
        let values = lists.values.lookup(Section::verified_bytes)?;
        let offsets = lists.offsets.lookup(Section::verified_bytes)?;
        let ranks = lists.core.presence.lookup(Section::verified_bytes)?;
        Some(ListLookup { ranks, offsets, values })
    }

    /// Replaces `out` by the values of `doc`, and returns whether there are any. `None` for lists of more than [`RUN`] values
    /// and for illegal ones; `out` may then hold any values.
    #[inline(always)]
    pub(crate) fn read<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> Option<bool> {
        out.clear();
        let Some(index) = self.ranks.get(doc)? else { return Some(false) };
        let [start, end] = self.offsets.pair(index)?.map(i64::cast_unsigned);
        let len = usize::try_from(end.checked_sub(start)?).ok()?;
        if len == 0 || len > RUN {
            return None;
        }
        // A fixed length, so that there is one check of the capacity, and the values are written in place.
        out.extend_from_slice(&[T::default(); RUN]);
        self.values.run(start, len, out.first_chunk_mut()?, T::of)?;
        out.truncate(len);
        Some(true)
    }
}
