//! [`NumberMap`]: a hash table of a known size, which a search reads once or twice.

/// A hash table from numbers other than 0 to `V`.
///
/// # Invariants
///
/// - The number of slots is a power of two, and at least one of them is empty: its key is 0.
/// - The slots from that of a key's hash to its own are full.
#[derive(Debug)]
pub(super) struct NumberMap<V> {
    slots: Vec<(u32, V)>,
    shift: u32,
}

impl<V: Copy + Default> NumberMap<V> {
    /// A map with at least `slots` slots, which must be more than its keys.
    pub(super) fn new(slots: usize) -> NumberMap<V> {
        let len = slots.max(2).next_power_of_two();
        NumberMap { slots: vec![(0, V::default()); len], shift: u32::BITS - len.ilog2() }
    }

    /// The value of `key`, which is not 0.
    #[inline]
    pub(super) fn get(&self, key: u32) -> Option<V> {
        let (found, value) = self.slots[self.slot(key)];
        (found == key).then_some(value)
    }

    /// The value of `key`, which is not 0: the default one if the key is new.
    #[inline]
    pub(super) fn entry(&mut self, key: u32) -> &mut V {
        let at = self.slot(key);
        let (found, value) = &mut self.slots[at];
        *found = key;
        value
    }

    /// The slot of `key`, or the empty one that it would have.
    #[inline]
    fn slot(&self, key: u32) -> usize {
        let mut at = (key.wrapping_mul(0x9E37_79B1) >> self.shift) as usize;
        while ![0, key].contains(&self.slots[at].0) {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(crate::cases(128))]

        /// Down to a single empty slot.
        #[test]
        fn a_map_has_the_last_value_of_each_key(pairs in vec((1..40_u32, any::<u16>()), 0..60), more in 1..9_usize) {
            let expected: HashMap<u32, u16> = pairs.iter().copied().collect();
            let mut map = NumberMap::new(expected.len() + more);
            for &(key, value) in &pairs {
                *map.entry(key) = value;
            }
            for key in 1..60 {
                prop_assert_eq!(map.get(key), expected.get(&key).copied());
            }
        }
    }
}
