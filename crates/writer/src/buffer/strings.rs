//! [`Strings`]: byte strings in one buffer, and how they are sorted.

use docvalues_format::strings::leading;

use super::memory_budget::MemoryBudget;
use crate::error::ErrorKind;
use crate::index::index;

/// Byte strings in one buffer, numbered from 0.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<u64>,
}

impl Strings {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        // Both fit: they were lengths of `bytes`.
        let at = |end: u64| usize::try_from(end).unwrap_or(usize::MAX);
        &self.bytes[at(start)..at(self.ends[i])]
    }

    /// Reserves memory for `count` strings of `len` bytes in total.
    pub(crate) fn reserve(
        &mut self,
        count: usize,
        len: usize,
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        memory.reserve(&mut self.ends, count)?;
        memory.reserve(&mut self.bytes, len)
    }

    /// Appends a string; memory must be reserved.
    pub(crate) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len() as u64);
    }

    /// Bytes of memory.
    pub(crate) fn heap(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u64>()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        let end = self.ends.last().copied().unwrap_or(0);
        self.bytes.truncate(usize::try_from(end).unwrap_or(usize::MAX));
    }

    /// The bytes of all strings, and the end of each string in them.
    pub(crate) fn parts(&self) -> (&[u8], &[u64]) {
        (&self.bytes, &self.ends)
    }
}

/// The ids of the strings in byte order; equal strings in id order.
pub(crate) fn sorted(strings: &Strings) -> Vec<u32> {
    let ids = 0..u32::try_from(strings.len()).unwrap_or(u32::MAX);
    let mut order: Vec<(u64, u32)> = ids.map(|id| (0, id)).collect();
    sort(&mut order, strings);
    order.into_iter().map(|(_, id)| id).collect()
}

/// Sorts ids by their strings, and equal strings by id. A multikey sort: each id has eight bytes of its string beside
/// it; groups with equal bytes are sorted by the next eight. Comparing strings instead would take two cache misses
/// each.
fn sort(order: &mut [(u64, u32)], strings: &Strings) {
    /// Groups up to this size are sorted by comparing the strings.
    const FEW: usize = 16;
    let len = |id: u32| strings.get(index(id)).len();
    let mut left = vec![(order, 0)];
    while let Some((order, depth)) = left.pop() {
        for (head, id) in &mut *order {
            *head = leading(strings.get(index(*id)).get(depth..).unwrap_or_default());
        }
        order.sort_unstable_by_key(head_and_id);
        for equal in order.chunk_by_mut(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
            if equal.len() <= FEW {
                let string = |id: u32| strings.get(index(id));
                equal.sort_by(|a, b| string(a.1).cmp(string(b.1)));
                continue;
            }
            // Strings that end here differ only in length: padding zeros look like their own.
            let depth = depth + 8;
            let mut ended = 0;
            for i in 0..equal.len() {
                if len(equal[i].1) <= depth {
                    equal.swap(i, ended);
                    ended += 1;
                }
            }
            let (ended, longer) = equal.split_at_mut(ended);
            ended.iter_mut().for_each(|(head, id)| *head = len(*id) as u64);
            ended.sort_unstable_by_key(head_and_id);
            left.push((longer, depth));
        }
    }
}

/// The key of a sort by both, in one number.
fn head_and_id(&(head, id): &(u64, u32)) -> u128 {
    u128::from(head) << 32 | u128::from(id)
}
