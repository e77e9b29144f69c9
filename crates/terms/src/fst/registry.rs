//! The registry of nodes that were written: a hash table of fixed size that forgets.
//!
//! An entry is the position of a node and some bits of its hash. A bucket has [`WAYS`] entries. A hit moves to the
//! front, a new node takes the last place. So nodes that occur once, as most suffixes of random keys do, evict each
//! other and not those that occur twice. The table starts small and grows with the number of nodes, so that small
//! dictionaries are cheap.

/// Entries of a bucket: half a cache line.
const WAYS: usize = 4;
/// Bits of a position; nodes after 1 TiB are not remembered.
const PLACE_BITS: u32 = 40;
/// The initial number of entries.
const FIRST: usize = 256;

/// The nodes that are remembered.
#[derive(Clone, Debug)]
pub(super) struct Registry {
    /// Hash bits and position + 1, or 0. The length is a power of two, or 0.
    entries: Vec<u64>,
    /// The maximum number of entries.
    most: usize,
    /// The number of insertions since it grew.
    new: usize,
}

impl Registry {
    /// A registry of `most` nodes, rounded up to a power of two.
    pub(super) fn new(most: usize) -> Registry {
        let most = if most == 0 { 0 } else { most.clamp(WAYS, 1 << 26).next_power_of_two() };
        Registry { entries: vec![0; most.min(FIRST)], most, new: 0 }
    }

    /// The position of a node with this hash for which `is_it` returns true.
    pub(super) fn find(&mut self, hash: u64, mut is_it: impl FnMut(u64) -> bool) -> Option<u64> {
        let tag = hash >> PLACE_BITS;
        let bucket = self.bucket(tag)?;
        for way in 0..WAYS {
            let entry = bucket[way];
            if entry == 0 {
                return None;
            }
            let place = (entry & ((1 << PLACE_BITS) - 1)) - 1;
            if entry >> PLACE_BITS == tag && is_it(place) {
                bucket[..=way].rotate_right(1);
                return Some(place);
            }
        }
        None
    }

    /// Remembers the node at `place`, which was not found.
    pub(super) fn insert(&mut self, hash: u64, place: u64) {
        if (place + 1) >> PLACE_BITS != 0 {
            return;
        }
        if self.new * 2 > self.entries.len() && self.entries.len() < self.most {
            self.grow();
        }
        self.new += 1;
        let tag = hash >> PLACE_BITS;
        self.put(tag << PLACE_BITS | (place + 1));
    }

    fn put(&mut self, entry: u64) {
        let Some(bucket) = self.bucket(entry >> PLACE_BITS) else { return };
        let way = bucket.iter().position(|&entry| entry == 0).unwrap_or(WAYS - 1);
        bucket[way] = entry;
    }

    fn bucket(&mut self, tag: u64) -> Option<&mut [u64]> {
        let buckets = self.entries.len() / WAYS;
        let bucket = usize::try_from(tag).unwrap_or(0) & buckets.checked_sub(1)?;
        self.entries.get_mut(bucket * WAYS..(bucket + 1) * WAYS)
    }

    /// Quadruples the entries; the order within a bucket is kept.
    fn grow(&mut self) {
        let size = (self.entries.len() * 4).min(self.most);
        let old = std::mem::replace(&mut self.entries, vec![0; size]);
        old.into_iter().filter(|&entry| entry != 0).for_each(|entry| self.put(entry));
    }
}
