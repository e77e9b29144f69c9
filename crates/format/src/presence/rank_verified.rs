//! Fast paths of rank look-ups, in bytes whose checksums were compared.
//!
//! In verified bytes, a look-up reads a jump entry, and then a rank entry and a line of bitmap, or a bucket. This
//! module does only that, in few instructions. Everything else is left to the general code: lists and runs, bytes that are
//! not verified yet, and damage, which the general code reports. Batches leave full and empty blocks to it as well.
//!
//! [`rank`] looks up one document, in a column whose bytes are all verified. Of a full or an empty block, it reads only
//! the jump entry. It calls no function and creates no error, so that a caller that goes on to read the value spills no
//! registers for it. Whether a document has a value is a branch that CPUs often mispredict, so the bit that decides it is
//! read first, before the values before it are counted. [`probe_in`] leaves the branch to its caller.
//! [`VerifiedBlocks`] looks up many documents, without that branch, so that the CPU overlaps the loads of many look-ups.

use std::ops::Range;

use super::chain::{Blocks, Last};
use super::header::{BlockEntry, Kind};
use super::kernel::{AnyCpu, Kernel};
use super::{NO_VALUE, dense, sparse};
use crate::id::{BLOCK_DOCS, DocId};
use crate::jump::{Chain, Jump};
use crate::prefetch::prefetch;
use crate::source::{PartlyVerified, SectionBytes};

/// The rank of `doc`, a document of the segment, if it has a value. The outer `None` means that the fast path does not
/// apply.
#[inline(always)]
#[expect(clippy::option_option, reason = "whether that is known, and whether there is one")]
pub(super) fn rank<B: SectionBytes>(
    chain: &Blocks<B>,
    jump: &Jump<B, BlockEntry>,
    doc: DocId,
) -> Option<Option<u64>> {
    rank_in(chain, jump.verified()?, chain.bytes.verified()?, doc)
}

/// [`rank`] in the verified bytes of the `chain` and of its jump table.
#[inline(always)]
#[expect(clippy::option_option, reason = "whether that is known, and whether there is one")]
pub(super) fn rank_in<B>(chain: &Blocks<B>, table: &[u8], bytes: &[u8], doc: DocId) -> Option<Option<u64>> {
    let (number, low) = doc.split();
    let (before, payload, values, kind) = BlockEntry::fields(table.as_chunks().0.get(number as usize)?);
    let rank = match kind {
        DENSE => dense::rank_verified(bytes, payload, chain.last.ranks(number), low)?,
        SPARSE => {
            let (rank, present) =
                sparse::probe_verified(bytes, payload, chain.last.starts(number), low, AnyCpu)?;
            present.then_some(rank)
        }
        // The general code refuses other counts of such blocks.
        FULL if values == chain.docs_in(number) => Some(low.into()),
        EMPTY if values == 0 => None,
        _ => return None,
    };
    Some(rank.map(|rank| u64::from(before) + u64::from(rank)))
}

/// The rank of `doc`, or any number if it has no value, and whether it has one. In a dense block, that takes no branch.
///
/// `None` as [`rank_in`].
#[inline(always)]
pub(super) fn probe_in<B>(chain: &Blocks<B>, table: &[u8], bytes: &[u8], doc: DocId) -> Option<(u64, bool)> {
    let (number, low) = doc.split();
    let (before, payload, _, kind) = BlockEntry::fields(table.as_chunks().0.get(number as usize)?);
    if kind != DENSE {
        let rank = rank_in(chain, table, bytes, doc)?;
        return Some((rank.unwrap_or(0), rank.is_some()));
    }
    let (rank, present) = dense::probe_verified(bytes, payload, chain.last.ranks(number), low)?;
    Some((u64::from(before) + u64::from(rank), present))
}

/// Documents of a batch that are processed together. If they lie in one block, it is located only once.
pub(super) const TOGETHER: usize = 32;

/// The blocks of a column and their jump table.
#[derive(Clone, Copy)]
pub(super) struct VerifiedBlocks<'a> {
    pub(super) docs: u32,
    pub(super) values: u32,
    pub(super) table: PartlyVerified<'a>,
    /// Entries of the table.
    pub(super) blocks: usize,
    pub(super) bytes: PartlyVerified<'a>,
    pub(super) last: Last,
}

/// The position of a block: the fields of its jump entry.
#[derive(Clone, Copy, Default)]
struct Located {
    number: u32,
    before: u32,
    payload: usize,
    values: u32,
    kind: u32,
}

pub(super) const DENSE: u32 = Kind::Dense as u32;
pub(super) const SPARSE: u32 = Kind::Sparse as u32;
const FULL: u32 = Kind::Full as u32;
const EMPTY: u32 = Kind::Empty as u32;

/// A kernel that may look up eight documents of dense blocks at once.
pub(super) trait BatchKernel: Kernel {
    /// The state of those look-ups.
    type DenseBatch<'a>;

    /// Starts such look-ups; `None` if the CPU or the blocks do not allow them.
    fn dense_batch<'a>(self, blocks: VerifiedBlocks<'a>) -> Option<Self::DenseBatch<'a>>;

    /// Writes the ranks of `docs` to `out`, eight at a time, and stops at the first eight that are not all in dense
    /// blocks or need the general code. Returns the number of ranks written.
    fn ranks(self, batch: &mut Self::DenseBatch<'_>, docs: &[DocId], out: &mut [u32]) -> usize;
}

impl BatchKernel for AnyCpu {
    type DenseBatch<'a> = ();

    #[inline(always)]
    fn dense_batch<'a>(self, _: VerifiedBlocks<'a>) -> Option<()> {
        None
    }

    #[inline(always)]
    fn ranks(self, (): &mut (), _: &[DocId], _: &mut [u32]) -> usize {
        0
    }
}

impl<'a> VerifiedBlocks<'a> {
    /// The blocks of a column; `None` unless it is in memory and has a jump table, baked or built.
    #[inline(always)]
    pub(super) fn of<B: SectionBytes>(
        chain: &'a Blocks<B>,
        jump: &'a Jump<B, BlockEntry>,
    ) -> Option<VerifiedBlocks<'a>> {
        Some(VerifiedBlocks {
            docs: chain.docs,
            values: chain.values,
            table: jump.partly_verified()?,
            blocks: chain.blocks(),
            bytes: chain.bytes.partly_verified()?,
            last: chain.last,
        })
    }

    /// Writes the ranks of `docs` to `out`, up to one that needs the general code. Returns the number of ranks written.
    // No closures here and below: they would not inherit the target features, and would not be inlined.
    #[inline(always)]
    pub(super) fn ranks<K: BatchKernel>(self, docs: &[DocId], out: &mut [u32], kernel: K) -> usize {
        let mut batch = if docs.len() < TOGETHER { None } else { kernel.dense_batch(self) };
        for (i, (docs, out)) in docs.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)).enumerate() {
            let good = match self.find(docs[0]) {
                Some(found) if found.kind == DENSE && batch.is_some() => {
                    self.dense_batch_or_each(batch.as_mut(), docs, out, kernel)
                }
                Some(found) if self.all_in(found, docs) => self.together(found, docs, out, kernel),
                _ => self.scattered(docs, out, kernel),
            };
            if good.is_none() {
                return i * TOGETHER;
            }
        }
        docs.len()
    }

    /// The rank of a document of a block.
    #[inline(always)]
    fn rank_in(self, found: Located, low: u16, kernel: impl Kernel) -> Option<u32> {
        match found.kind {
            DENSE => self.dense(found, low),
            SPARSE => self.sparse(found, low, kernel),
            _ => None,
        }
    }

    /// Ranks of documents most of which are in dense blocks, eight at a time as far as possible.
    #[inline(always)]
    fn dense_batch_or_each<K: BatchKernel>(
        self,
        batch: Option<&mut K::DenseBatch<'a>>,
        docs: &[DocId],
        out: &mut [u32],
        kernel: K,
    ) -> Option<()> {
        let done = kernel.ranks(batch?, docs, out);
        self.scattered(&docs[done..], &mut out[done..], kernel)
    }

    /// Ranks of documents in different blocks, at most [`TOGETHER`]. Prefetches the lines of all before it reads the
    /// first.
    #[inline(always)]
    fn scattered(self, docs: &[DocId], out: &mut [u32], kernel: impl Kernel) -> Option<()> {
        let mut blocks = [Located::default(); TOGETHER];
        for (doc, found) in docs.iter().zip(&mut blocks) {
            *found = self.find(*doc)?;
            self.prefetch_for(*found, doc.split().1);
        }
        for ((doc, out), found) in docs.iter().zip(out).zip(&blocks) {
            *out = self.rank_in(*found, doc.split().1, kernel)?;
        }
        Some(())
    }

    /// Prefetches the bytes in which the rank of a document of the block is looked up.
    #[inline(always)]
    fn prefetch_for(self, found: Located, low: u16) {
        let payload = self.bytes.bytes.as_ptr().wrapping_add(found.payload);
        let [first, second] = match found.kind {
            DENSE => dense::prefetch_offsets(low),
            _ => sparse::prefetch_offsets(low, found.values),
        };
        prefetch(payload.wrapping_add(first));
        prefetch(payload.wrapping_add(second));
    }

    /// Ranks of documents in one block: one loop for each kind.
    #[inline(always)]
    fn together(self, found: Located, docs: &[DocId], out: &mut [u32], kernel: impl Kernel) -> Option<()> {
        match found.kind {
            DENSE => {
                for (doc, out) in docs.iter().zip(out) {
                    *out = self.dense(found, doc.split().1)?;
                }
            }
            SPARSE => {
                for (doc, out) in docs.iter().zip(out) {
                    *out = self.sparse(found, doc.split().1, kernel)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether all of `docs` lie in this block.
    #[inline(always)]
    fn all_in(self, found: Located, docs: &[DocId]) -> bool {
        let begin = found.number * BLOCK_DOCS;
        let size = (self.docs - begin).min(BLOCK_DOCS);
        // The last document decides in most cases.
        let mut all = docs[docs.len() - 1].get().wrapping_sub(begin) < size;
        if all {
            for doc in docs {
                all &= doc.get().wrapping_sub(begin) < size;
            }
        }
        all
    }

    /// The block of `doc`.
    #[inline(always)]
    fn find(self, doc: DocId) -> Option<Located> {
        let number = doc.split().0;
        if doc.get() >= self.docs || number as usize >= self.blocks {
            return None;
        }
        Some(Located::of(number, self.table.array(number as usize * BlockEntry::LEN)?))
    }

    #[inline(always)]
    fn dense(self, found: Located, low: u16) -> Option<u32> {
        let ranks = self.last.ranks(found.number);
        found.index(dense::probe_verified(self.bytes, found.payload, ranks, low)?, self.values)
    }

    #[inline(always)]
    fn sparse(self, found: Located, low: u16, kernel: impl Kernel) -> Option<u32> {
        let starts = self.last.starts(found.number);
        found.index(sparse::probe_verified(self.bytes, found.payload, starts, low, kernel)?, self.values)
    }
}

impl Located {
    #[inline(always)]
    fn of(number: u32, entry: &[u8; BlockEntry::LEN]) -> Located {
        let (before, payload, values, kind) = BlockEntry::fields(entry);
        Located { number, before, payload, values, kind }
    }

    /// The value index of a document with `before` values before it in the block, or [`NO_VALUE`] unless it is
    /// `present`. `None` if that exceeds the column's `values`.
    #[inline(always)]
    fn index(self, (before, present): (u32, bool), values: u32) -> Option<u32> {
        let index = u64::from(self.before) + u64::from(before);
        if index + u64::from(present) > values.into() {
            return None;
        }
        Some(if present { self.before.wrapping_add(before) } else { NO_VALUE })
    }
}

/// Access to those bytes of a section whose checksums were compared.
pub(super) trait VerifiedBytes<'a>: Copy {
    /// `N` bytes at `at`, if they are verified.
    fn array<const N: usize>(self, at: usize) -> Option<&'a [u8; N]>;

    /// The bytes of `range`, if they are verified.
    fn part(self, range: Range<usize>) -> Option<&'a [u8]>;
}

impl<'a> VerifiedBytes<'a> for PartlyVerified<'a> {
    #[inline(always)]
    fn array<const N: usize>(self, at: usize) -> Option<&'a [u8; N]> {
        PartlyVerified::array(&self, at)
    }

    fn part(self, range: Range<usize>) -> Option<&'a [u8]> {
        PartlyVerified::verified_range(self, range)
    }
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
