//! Look-ups in presence whose bytes are all verified: a [`RankLookup`] does not test whether they are.

use std::ops::Deref;

use super::chain::Blocks;
use super::{OpenBlocks, PresenceReader, rank_verified};
use crate::id::DocId;
use crate::source::SectionBytes;

/// All that a single look-up of a rank needs of a verified column, with bytes of the type `P`.
///
/// The bytes may be those of a mapped file, which can change, so every load is checked against their end.
#[derive(Debug)]
pub struct RankLookup<P> {
    docs: u32,
    /// The blocks and their jump table; `None` if every document has a value.
    blocks: Option<(Blocks<P>, P)>,
}

impl<P: Deref<Target = [u8]>> RankLookup<P> {
    /// As [`PresenceReader::rank_verified`].
    #[inline(always)]
    pub fn get(&self, doc: DocId) -> Option<Option<u64>> {
        if doc.get() >= self.docs {
            return Some(None);
        }
        match &self.blocks {
            Some((chain, table)) => rank_verified::rank_in(chain, table, &chain.bytes, doc),
            None => Some(Some(doc.get().into())),
        }
    }

    /// The rank of `doc`, or any number if it has no value, and whether it has one. In a dense block, that takes no branch.
    ///
    /// `None` as [`get`](Self::get).
    #[inline(always)]
    pub fn probe(&self, doc: DocId) -> Option<(u64, bool)> {
        if doc.get() >= self.docs {
            return Some((0, false));
        }
        match &self.blocks {
            Some((chain, table)) => rank_verified::probe_in(chain, table, &chain.bytes, doc),
            None => Some((doc.get().into(), true)),
        }
    }
}

impl<B: SectionBytes> PresenceReader<B> {
    /// All that look-ups need, if every byte is verified. O(1).
    ///
    /// `keep` returns the bytes of a section from a place on, if all of them are verified, including the tail. `None` is
    /// not an error: use [`rank`](Self::rank) then. A column without values has no `RankLookup`, and neither has one whose
    /// jump table was built on first use.
    pub fn lookup<'a, P>(&'a self, keep: impl Fn(&'a B, usize) -> Option<P>) -> Option<RankLookup<P>> {
        let blocks = match &self.blocks {
            Some(OpenBlocks { chain, jump }) => {
                let table = keep(jump.in_file()?, 0)?;
                Some((Blocks::new(chain.docs, chain.values, keep(&chain.bytes, 0)?), table))
            }
            None if self.is_all() => None,
            None => return None,
        };
        Some(RankLookup { docs: self.docs, blocks })
    }
}
