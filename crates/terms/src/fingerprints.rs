//! One hash table over the ids of many segments: in which of them may this id be?
//!
//! A filter in each segment answers for one segment, so a document costs as many lines of memory as there are
//! segments. Here one line answers for all of them. An entry is a *fingerprint*, 16 bits of the id's hash, and a *slot*, 16
//! bits that say which segment; 16 entries share a bucket, which is one line of the cache.
//!
//! ```text
//! bucket      | fingerprint 0 … fingerprint 15 | slot 0 … slot 15 |        64 bytes, aligned; fingerprint 0 is "free", so is slot 0
//!               4 words of 64    4 words of 64
//! hash of id  | home: 32 bits | stride: 16 bits | fingerprint: 16 bits |        that of [`hash`](crate::hash)
//! ```
//!
//! An id belongs into bucket `home * buckets / 2^32`, behind the entries that are there. If that is full, into the
//! next one that is not, each `stride` further than the one before: the number of buckets is a prime, so this visits
//! all of them, whatever the stride is, and an id that is in hundreds of segments fills buckets here and there, and
//! no row of them. At most 3/4 of the entries are taken, so one in 35 ids lies outside its home, and 5.3 bytes go to
//! an id. Whoever looks up reads buckets until one is not full, and gets the slots whose fingerprints are equal: false ones
//! with a probability of 12 / 2^16 for a bucket. That the ids are equal is for the segment's dictionary to say.
//!
//! Fingerprints are compared four at a time, in words of 64 bits and without the compiler's help: words that others may write
//! are loaded one by one, and no compiler makes vectors of such loads.
//!
//! # One writer, many readers, no lock
//!
//! Entries are added and never changed nor removed, until the whole table goes. All loads and stores of entries are
//! *relaxed*, which is enough because of how slots are given:
//!
//! 1. A table gives each slot once, and never again. So what an entry says stays true as long as the table lives.
//! 2. A reader has a map from slots to segments that never changes, made *after* all ids of these segments were
//!    inserted, and handed over through a lock. So the stores of these entries, and of all that filled buckets before
//!    them, *happen before* the reader's loads, which see them or later values of the same words. Words only gain
//!    fields, so later values hold the same entries.
//! 3. Any other entry that a reader meets was given a slot that its map does not hold, or is half written: then its
//!    fingerprint is free, or its slot is. None of these is in the map, and the reader drops it.
//!
//! Thus a reader misses no id of the segments that it holds, and gets no segment that it does not hold.
//! The test `loom` has the model checker of that name go through all interleavings, and all values that relaxed
//! loads may see.
//!
//! Fingerprints beside each other that are compared at once are those of Abseil's *Swiss tables* (Kulukundis, CppCon 2017);
//! going on by a stride of one's own is *double hashing* (Knuth, The Art of Computer Programming 3, 6.4).

mod atomic_word;
mod prime;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use docvalues_format::prefetch::prefetch;

pub(crate) use atomic_word::Word;

/// Entries of a bucket.
const ENTRIES: usize = 16;

/// Fingerprints, or slots, of a word.
const PER_WORD: usize = 4;

/// Words of fingerprints, and of slots.
const WORDS: usize = ENTRIES / PER_WORD;

/// Entries of a bucket that are taken on average when the table is full: 3/4.
const TAKEN: usize = 12;

/// Hashes whose lines are asked for before the first of them is looked at.
pub(crate) const PREFETCH_BATCH: usize = 64;

/// The most slots of a table: they are numbered from 1.
pub const MAX_SLOTS: usize = u16::MAX as usize;

/// The lowest bit of each field.
const ONES: u64 = 0x0001_0001_0001_0001;

/// All bits of each field but its highest.
const LOW: u64 = 0x7fff * ONES;

/// Sixteen entries in one line.
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

    /// The slot of entry `bit` of [`matching`]; 0 if it is not written yet.
    #[inline]
    fn slot(&self, bit: u32) -> u16 {
        let (word, field) = (bit as usize % PER_WORD, bit / 16);
        self.slots.get(word).map_or(0, |slots| low16(slots.get() >> (16 * field)))
    }
}

/// Which fingerprints are equal to `fingerprint`: bit `16 * field + word`, for each of them.
#[inline]
fn matching(fingerprints: [u64; WORDS], fingerprint: u16) -> u64 {
    let pattern = u64::from(fingerprint) * ONES;
    // The highest bit of each field that is zero: exact, as no field carries into the next.
    let [a, b, c, d] = fingerprints.map(|word| word ^ pattern).map(|x| !(((x & LOW) + LOW) | x | LOW));
    a >> 15 | b >> 14 | c >> 13 | d >> 12
}

/// Whether one of the fingerprints is equal to `fingerprint`.
#[inline]
fn has(fingerprints: [u64; WORDS], fingerprint: u16) -> bool {
    let pattern = u64::from(fingerprint) * ONES;
    // A field borrows from the next one only if it is zero itself: which one is, this does not tell, but whether any is.
    let [a, b, c, d] = fingerprints.map(|word| word ^ pattern).map(|x| x.wrapping_sub(ONES) & !x);
    (a | b | c | d) & (ONES << 15) != 0
}

/// Whether no entry is free: they are taken in their order.
#[inline]
fn is_full(fingerprints: [u64; WORDS]) -> bool {
    fingerprints[WORDS - 1] >> 48 != 0
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are asked for")]
fn low16(x: u64) -> u16 {
    x as u16
}

/// The fingerprint of a hash: 1 to 65,535, as 0 says "free".
#[inline]
fn fingerprint(hash: u64) -> u16 {
    low16(hash).max(1)
}

/// What readers share: entries that are added by [`TableWriter`] alone.
pub(crate) struct FingerprintTable<W = AtomicU64> {
    /// A prime number of them, less than 2^32.
    buckets: Box<[Bucket<W>]>,
}

impl<W: Word> FingerprintTable<W> {
    /// The bucket that `hash` belongs into.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        // The product of two numbers below 2^32, so below the number of buckets once shifted.
        (((hash >> 32) * self.buckets.len() as u64) >> 32) as usize
    }

    /// From one bucket for `hash` to the next.
    #[cold]
    fn next(&self, at: usize, hash: u64) -> usize {
        let others = self.buckets.len().saturating_sub(1).max(1);
        let next = at + 1 + usize::from(low16(hash >> 16)) % others;
        if next < self.buckets.len() { next } else { next - self.buckets.len() }
    }

    /// Tells the processor that `hash` will be looked for soon. Told of many hashes, it has their lines come side by side.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(self.buckets.as_ptr().wrapping_add(self.home(hash)).cast());
    }

    /// Whether one line is enough to see that [`candidates`](Self::candidates) of `hash` has none to give.
    #[inline]
    pub(crate) fn has_none(&self, hash: u64) -> bool {
        self.buckets.get(self.home(hash)).is_none_or(|bucket| {
            let fingerprints = bucket.fingerprints();
            !(has(fingerprints, fingerprint(hash)) | is_full(fingerprints))
        })
    }

    /// Gives the slots of all entries that look like `hash`, in no order, some of them more than once.
    pub(crate) fn candidates(&self, hash: u64, mut each: impl FnMut(u16)) {
        let mut at = self.home(hash);
        // A full table has free entries, so this ends before all buckets were seen; in any case it ends then.
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

    /// How much memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket<W>>()
    }

    /// How many entries it takes.
    pub(crate) fn capacity(&self) -> usize {
        self.buckets.len() * TAKEN
    }
}

/// A table that is being made, a few buckets at a time: clearing the memory of a large one takes milliseconds.
pub(crate) struct TableBuilder<W = AtomicU64> {
    buckets: Vec<Bucket<W>>,
    goal: usize,
}

impl<W: Word> TableBuilder<W> {
    /// For so many entries. Time does not depend on it; memory is not touched yet.
    pub(crate) fn new(entries: usize) -> TableBuilder<W> {
        let goal = prime::at_least(entries.div_ceil(TAKEN));
        TableBuilder { buckets: Vec::with_capacity(goal), goal }
    }

    /// How many entries it will take.
    pub(crate) fn capacity(&self) -> usize {
        self.goal * TAKEN
    }

    /// Clears up to so many buckets more. Returns how many that were: 0 if all are.
    pub(crate) fn clear_buckets(&mut self, most: usize) -> usize {
        let count = most.min(self.goal - self.buckets.len());
        self.buckets.extend(std::iter::repeat_with(Bucket::free).take(count));
        count
    }

    /// The table, empty: clears what is left.
    pub(crate) fn finish(mut self) -> TableWriter<W> {
        self.clear_buckets(usize::MAX);
        TableWriter {
            table: Arc::new(FingerprintTable { buckets: self.buckets.into_boxed_slice() }),
            used: 0,
            slots: 0,
        }
    }
}

/// A table and the right to add to it, which only one has.
pub(crate) struct TableWriter<W = AtomicU64> {
    table: Arc<FingerprintTable<W>>,
    used: usize,
    slots: u16,
}

impl<W: Word> TableWriter<W> {
    /// What readers share.
    pub(crate) fn table(&self) -> &Arc<FingerprintTable<W>> {
        &self.table
    }

    /// How many more entries it takes.
    pub(crate) fn room(&self) -> usize {
        self.table.capacity().saturating_sub(self.used)
    }

    /// How many slots were given.
    pub(crate) fn slots(&self) -> usize {
        self.slots.into()
    }

    /// A slot that was never given before; `None` after [`MAX_SLOTS`].
    pub(crate) fn new_slot(&mut self) -> Option<u16> {
        self.slots = self.slots.checked_add(1)?;
        Some(self.slots)
    }

    /// Adds entries of `slot`, as many as there is [`room`](Self::room) for; returns how many that were.
    ///
    /// O(1) each: a line of memory, and as all lines are asked for first, they come side by side.
    pub(crate) fn insert(&mut self, hashes: &[u64], slot: u16) -> usize {
        let hashes = hashes.get(..self.room()).unwrap_or(hashes);
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
        // There is room, and every bucket is visited: one of them takes it.
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
