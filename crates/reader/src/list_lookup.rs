//! Lists of single documents, in columns whose bytes are all verified.

use std::ops::Range;

use docvalues_column::DocId;
use docvalues_format::numeric::{Lookup, RUN};
use docvalues_format::presence::RankLookup;
use docvalues_format::source::SectionBytes as _;
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
        let ListReader { core, offsets, values } = lists;
        // This is called after each look-up until it returns a `ListLookup`, so first come checks that neither allocate nor
        // count shares of the bytes. The values before all: most of the bytes are theirs.
        values.meta().blocks.as_ref()?.verified()?;
        core.presence.lookup(check_verified)?;
        offsets.lookup(check_verified)?;
        let values = values.lookup(Section::verified_bytes)?;
        let offsets = offsets.lookup(Section::verified_bytes)?;
        let ranks = core.presence.lookup(Section::verified_bytes)?;
        Some(ListLookup { ranks, offsets, values })
    }

    /// Replaces `out` by the values of `doc`, and returns the places of those that it leaves: all of a list of more than
    /// [`RUN`], otherwise none. `None` for lists that take the general code; `out` may then hold any values.
    #[inline(always)]
    pub(crate) fn read<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> Option<Range<u64>> {
        out.clear();
        let Some(index) = self.ranks.get(doc)? else { return Some(0..0) };
        let [start, end] = self.offsets.pair(index)?.map(i64::cast_unsigned);
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

/// `None` unless all bytes of `section` are verified.
fn check_verified(section: &Section, _: usize) -> Option<()> {
    section.verified().map(|_| ())
}
