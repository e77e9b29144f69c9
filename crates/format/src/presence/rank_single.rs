//! Fast path for a single rank look-up.
//!
//! [`verified`] calls no function and creates no error, so that a caller that goes on to read the value spills no
//! registers for it. [`partly_verified`] serves sections with some granules that are not verified yet. All else is
//! left to [`PresenceReader::rank`](super::PresenceReader::rank).
//!
//! Whether a document has a value is a branch that CPUs often mispredict. The bit that decides it is therefore read
//! first, before the values before it are counted.

use std::ops::Range;

use super::chain::Blocks;
use super::header::BlockEntry;
use super::kernel::AnyCpu;
use super::rank_verified::{DENSE, SPARSE, VerifiedBytes};
use super::{dense, sparse};
use crate::id::DocId;
use crate::jump::Jump;
use crate::source::SectionBytes;

/// The rank of `doc`, a document of the segment, if it has a value. The outer `None` means that the fast path does not
/// apply.
#[inline(always)]
#[expect(clippy::option_option, reason = "whether that is known, and whether there is one")]
pub(super) fn verified<B: SectionBytes>(
    chain: &Blocks<B>,
    jump: &Jump<B, BlockEntry>,
    doc: DocId,
) -> Option<Option<u64>> {
    let (table, bytes) = (jump.verified()?, chain.bytes.verified()?);
    let entry = table.as_chunks().0.get(doc.split().0 as usize)?;
    rank(chain, entry, bytes, doc)
}

/// As [`verified`], for sections of which not all bytes are verified.
#[inline(never)]
#[expect(clippy::option_option, reason = "as above")]
pub(super) fn partly_verified<B: SectionBytes>(
    chain: &Blocks<B>,
    jump: &Jump<B, BlockEntry>,
    doc: DocId,
) -> Option<Option<u64>> {
    let entry = jump.peek(doc.split().0 as usize * BlockEntry::LEN)?;
    rank(chain, entry, Single(&chain.bytes), doc)
}

/// The rank of a document in the block of the jump entry `entry`.
#[inline(always)]
#[expect(clippy::option_option, reason = "as above")]
fn rank<'a, B: SectionBytes>(
    chain: &Blocks<B>,
    entry: &[u8; BlockEntry::LEN],
    bytes: impl VerifiedBytes<'a>,
    doc: DocId,
) -> Option<Option<u64>> {
    let (number, low) = doc.split();
    let (before, payload, _, kind) = BlockEntry::fields(entry);
    let rank = match kind {
        DENSE => dense::rank_verified(bytes, payload, chain.last.ranks(number), low)?,
        SPARSE => {
            let starts = chain.last.starts(number);
            let (rank, present) = sparse::probe_verified(bytes, payload, starts, low, AnyCpu)?;
            present.then_some(rank)
        }
        _ => return None,
    };
    Some(rank.map(|rank| u64::from(before) + u64::from(rank)))
}

impl<'a> VerifiedBytes<'a> for &'a [u8] {
    #[inline(always)]
    fn array<const N: usize>(self, at: usize) -> Option<&'a [u8; N]> {
        self.get(at..at.wrapping_add(N))?.first_chunk()
    }

    // Buckets of more than `BUCKET_HEAD` values are rare, and the search in one would be a call.
    #[inline(always)]
    fn part(self, _: Range<usize>) -> Option<&'a [u8]> {
        None
    }
}

/// A partly verified section.
struct Single<'a, B>(&'a B);

// Not derived: a derive would require `B: Copy`, although `B` is only borrowed.
impl<B> Clone for Single<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Single<'_, B> {}

impl<'a, B: SectionBytes> VerifiedBytes<'a> for Single<'a, B> {
    #[inline(always)]
    fn array<const N: usize>(self, at: usize) -> Option<&'a [u8; N]> {
        self.0.peek(at)
    }

    fn part(self, range: Range<usize>) -> Option<&'a [u8]> {
        self.0.partly_verified()?.verified_range(range)
    }
}
