//! A fingerprint table: one hash table over the ids of many segments, which returns the segments that may hold an
//! id.
//!
//! A filter in each segment covers one segment, so a look-up reads a cache line for each segment. Here one cache
//! line covers all of them. An entry is a *fingerprint*, 16 bits of the id's hash, and a *slot*, 16 bits that stand
//! for a segment. Sixteen entries share a bucket of one cache line.
//!
//! ```text
//! bucket      | fingerprint 0 … fingerprint 15 | slot 0 … slot 15 |     64 bytes, aligned; fingerprint 0 and
//!               4 words of 64 bits               4 words of 64 bits     slot 0 mark a free entry
//! hash of id  | home: 32 bits | stride: 16 bits | fingerprint: 16 bits |     see [`hash`](crate::hash)
//! ```
//!
//! The home bucket of an id is `home * buckets / 2^32`. If it is full, the entry goes to the next bucket that is
//! not, in steps of `stride`. The number of buckets is a prime, so every stride visits all of them, and an id that
//! hundreds of segments hold fills scattered buckets instead of a run. At most 3/4 of the entries are used: one id
//! in 35 lies outside of its home bucket, and an id takes 5.3 bytes. A look-up reads buckets until one is not full,
//! and returns the slots of equal fingerprints. A bucket returns a false positive with a probability of 12 / 2^16;
//! the segment's dictionary then compares the id itself.
//!
//! Fingerprints are compared four at a time in 64-bit words (SWAR). SIMD is not an option: the words are atomic, so
//! they are loaded one by one, and compilers do not vectorize such loads.
//!
//! # One writer, many readers, no lock
//!
//! Entries are added, and neither changed nor removed before the whole table is dropped. All loads and stores of
//! entries are *relaxed*. That suffices for three reasons:
//!
//! 1. A table issues each slot once. So the meaning of an entry never changes while the table lives.
//! 2. A reader holds an immutable map from slots to segments. The map is made *after* all ids of these segments
//!    were inserted, and is published through a lock. So the stores of these entries, and of all entries that
//!    filled buckets before them, *happen before* the reader's loads, which see them or later values of the same
//!    words. Words only gain fields, so later values contain the same entries.
//! 3. Any other entry that a reader meets has a slot that its map lacks, or is half written: its fingerprint or its
//!    slot is still 0. The map contains neither, and the reader ignores the entry.
//!
//! So a reader misses no id of its segments, and gets no segment that it does not hold. The test `loom` explores
//! all interleavings, and all values that relaxed loads may see, with the model checker of that name.
//!
//! Sources: comparing adjacent fingerprints at once is from Abseil's *Swiss tables* (Kulukundis, CppCon 2017); a
//! stride from the hash is *double hashing* (Knuth, The Art of Computer Programming 3, 6.4).

mod atomic_word;
mod prime;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use docvalues_format::prefetch::prefetch;

pub(crate) use atomic_word::Word;

/// Entries in a bucket.
const ENTRIES: usize = 16;

/// Fingerprints, or slots, in a word.
const PER_WORD: usize = 4;

/// Words of fingerprints, and of slots, in a bucket.
const WORDS: usize = ENTRIES / PER_WORD;

/// Entries that are used in a bucket on average at the maximum load of a table: 3/4.
const MAX_LOAD: usize = 12;

/// Hashes whose cache lines are prefetched together before the first one is read.
pub(crate) const PREFETCH_BATCH: usize = 64;

/// The most slots of a table. Slots are numbered from 1.
pub const MAX_SLOTS: usize = u16::MAX as usize;

/// The lowest bit of each 16-bit field.
const ONES: u64 = 0x0001_0001_0001_0001;

/// All bits of each 16-bit field but its highest.
const LOW: u64 = 0x7fff * ONES;

/// Sixteen entries in one cache line.
#[repr(align(64))]
struct Bucket<W> {
    fingerprints: [W; WORDS],
    slots: [W; WORDS],
}

impl<W: Word> Bucket<W> {
    fn free() -> Bucket<W> {
        Bucket { fingerprints: std::array::from_fn(|_| W::zero()), slots: std::array::from_fn(|_| W::zero()) }
    }

    #[inline]
    fn fingerprints(&self) -> [u64; WORDS] {
        self.fingerprints.each_ref().map(W::get)
    }

    /// The slot of the entry for `bit` of [`matching`]; 0 if it is not written yet.
    #[inline]
    fn slot(&self, bit: u32) -> u16 {
        let (word, field) = (bit as usize % PER_WORD, bit / 16);
        self.slots.get(word).map_or(0, |slots| low16(slots.get() >> (16 * field)))
    }
}

/// The entries whose fingerprint equals `fingerprint`: bit `16 * field + word` is set for each.
#[inline]
fn matching(fingerprints: [u64; WORDS], fingerprint: u16) -> u64 {
    let pattern = u64::from(fingerprint) * ONES;
    // The highest bit of each field that is zero. This is exact, because no field carries into the next.
    let [a, b, c, d] = fingerprints.map(|word| word ^ pattern).map(|x| !(((x & LOW) + LOW) | x | LOW));
    a >> 15 | b >> 14 | c >> 13 | d >> 12
}

/// Whether one of the fingerprints equals `fingerprint`.
#[inline]
fn has(fingerprints: [u64; WORDS], fingerprint: u16) -> bool {
    let pattern = u64::from(fingerprint) * ONES;
    // A field borrows from the next one only if it is zero itself. So this tells whether any field is zero, but not
    // which.
    let [a, b, c, d] = fingerprints.map(|word| word ^ pattern).map(|x| x.wrapping_sub(ONES) & !x);
    (a | b | c | d) & (ONES << 15) != 0
}

/// Whether no entry is free. Entries are filled in order, so the last one decides.
#[inline]
fn is_full(fingerprints: [u64; WORDS]) -> bool {
    fingerprints[WORDS - 1] >> 48 != 0
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
fn low16(x: u64) -> u16 {
    x as u16
}

/// The fingerprint of a hash: 1 to 65,535. 0 marks a free entry.
#[inline]
fn fingerprint(hash: u64) -> u16 {
    low16(hash).max(1)
}

/// The part of the table that readers share. Only a [`TableWriter`] adds entries.
pub(crate) struct FingerprintTable<W = AtomicU64> {
    /// A prime number of buckets, below 2^32.
    buckets: Box<[Bucket<W>]>,
}

impl<W: Word> FingerprintTable<W> {
    /// The home bucket of `hash`.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        // A product of two numbers below 2^32; shifted, it is below the number of buckets.
        (((hash >> 32) * self.buckets.len() as u64) >> 32) as usize
    }

    /// The bucket after `at` in the probe sequence of `hash`.
    #[cold]
    fn next(&self, at: usize, hash: u64) -> usize {
        let others = self.buckets.len().saturating_sub(1).max(1);
        let next = at + 1 + usize::from(low16(hash >> 16)) % others;
        if next < self.buckets.len() { next } else { next - self.buckets.len() }
    }

    /// Prefetches the home bucket of `hash`. Prefetching many hashes before reading overlaps their cache misses.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(self.buckets.as_ptr().wrapping_add(self.home(hash)).cast());
    }

    /// Whether the home bucket alone proves that [`candidates`](Self::candidates) of `hash` is empty.
    #[inline]
    pub(crate) fn has_none(&self, hash: u64) -> bool {
        self.buckets.get(self.home(hash)).is_none_or(|bucket| {
            let fingerprints = bucket.fingerprints();
            !(has(fingerprints, fingerprint(hash)) | is_full(fingerprints))
        })
    }

    /// Calls `each` with the slots of all entries whose fingerprint is that of `hash`, in any order and possibly
    /// repeated.
    pub(crate) fn candidates(&self, hash: u64, mut each: impl FnMut(u16)) {
        let mut at = self.home(hash);
        // A full table still has free entries, so this ends before all buckets were visited; the bound makes sure.
        for _ in 0..self.buckets.len() {
            let Some(bucket) = self.buckets.get(at) else { return };
            let fingerprints = bucket.fingerprints();
            let mut bits = matching(fingerprints, fingerprint(hash));
            while bits != 0 {
                each(bucket.slot(bits.trailing_zeros()));
                bits &= bits - 1;
            }
            if !is_full(fingerprints) {
                return;
            }
            at = self.next(at, hash);
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket<W>>()
    }

    /// The number of entries at the maximum load.
    pub(crate) fn capacity(&self) -> usize {
        self.buckets.len() * MAX_LOAD
    }
}

/// A table whose memory is zeroed a few buckets at a time: zeroing a large one at once takes milliseconds.
pub(crate) struct TableBuilder<W = AtomicU64> {
    buckets: Vec<Bucket<W>>,
    goal: usize,
}

impl<W: Word> TableBuilder<W> {
    /// A table for at least `entries` entries. O(1): memory is reserved, but not touched yet.
    pub(crate) fn new(entries: usize) -> TableBuilder<W> {
        let goal = prime::at_least(entries.div_ceil(MAX_LOAD));
        TableBuilder { buckets: Vec::with_capacity(goal), goal }
    }

    /// The number of entries at the maximum load.
    pub(crate) fn capacity(&self) -> usize {
        self.goal * MAX_LOAD
    }

    /// Zeroes up to `most` more buckets, and returns how many: 0 if all are.
    pub(crate) fn clear_buckets(&mut self, most: usize) -> usize {
        let count = most.min(self.goal - self.buckets.len());
        self.buckets.extend(std::iter::repeat_with(Bucket::free).take(count));
        count
    }

    /// The empty table. Zeroes the buckets that are left.
    pub(crate) fn finish(mut self) -> TableWriter<W> {
        self.clear_buckets(usize::MAX);
        TableWriter {
            table: Arc::new(FingerprintTable { buckets: self.buckets.into_boxed_slice() }),
            used: 0,
            slots: 0,
        }
    }
}

/// A table with the exclusive right to add entries.
pub(crate) struct TableWriter<W = AtomicU64> {
    table: Arc<FingerprintTable<W>>,
    used: usize,
    slots: u16,
}

impl<W: Word> TableWriter<W> {
    /// The part that readers share.
    pub(crate) fn table(&self) -> &Arc<FingerprintTable<W>> {
        &self.table
    }

    /// The number of entries that still fit.
    pub(crate) fn remaining(&self) -> usize {
        self.table.capacity().saturating_sub(self.used)
    }

    /// The number of slots issued so far.
    pub(crate) fn slots(&self) -> usize {
        self.slots.into()
    }

    /// Issues a slot that was never issued before; `None` after [`MAX_SLOTS`].
    pub(crate) fn new_slot(&mut self) -> Option<u16> {
        self.slots = self.slots.checked_add(1)?;
        Some(self.slots)
    }

    /// Adds entries for `slot` until the table is [full](Self::remaining), and returns how many.
    ///
    /// O(1) each: one cache miss, and the misses of a batch overlap.
    pub(crate) fn insert(&mut self, hashes: &[u64], slot: u16) -> usize {
        let hashes = hashes.get(..self.remaining()).unwrap_or(hashes);
        for hashes in hashes.chunks(PREFETCH_BATCH) {
            hashes.iter().for_each(|&hash| self.table.prefetch(hash));
            hashes.iter().for_each(|&hash| self.insert_one(hash, slot));
        }
        self.used += hashes.len();
        hashes.len()
    }

    fn insert_one(&self, hash: u64, slot: u16) {
        let table = &*self.table;
        let mut at = table.home(hash);
        // There is room, and the probe sequence visits every bucket, so one of them takes the entry.
        for _ in 0..=table.buckets.len() {
            let Some(bucket) = table.buckets.get(at) else { return };
            let free = bucket.fingerprints.iter().zip(&bucket.slots).find_map(|(fingerprints, slots)| {
                let word = fingerprints.get();
                let bits = matching([word, u64::MAX, u64::MAX, u64::MAX], 0);
                (bits != 0).then(|| (fingerprints, slots, word, bits.trailing_zeros()))
            });
            if let Some((fingerprints, slots, word, shift)) = free {
                slots.set(slots.get() | u64::from(slot) << shift);
                fingerprints.set(word | u64::from(fingerprint(hash)) << shift);
                return;
            }
            at = table.next(at, hash);
        }
    }
}
