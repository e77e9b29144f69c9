//! Removal of lists from [`Lists`].

use super::Lists;
use crate::bits;

impl<T: Copy> Lists<T> {
    /// Keeps only the lists whose bits are set. O(lists and items).
    ///
    /// # Panics
    ///
    /// If there are fewer bits than lists.
    pub fn retain(&mut self, bits: &[u64]) {
        let item = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let (mut kept, mut end) = (0, 0);
        for run in bits::runs(bits, 0..self.len()) {
            let (first, last) = (self.offsets[run.start], self.offsets[run.end]);
            self.items.copy_within(item(first)..item(last), item(end));
            // No offset is overwritten before it is read, as lists move towards the front.
            for at in run {
                kept += 1;
                self.offsets[kept] = self.offsets[at + 1] - (first - end);
            }
            end += last - first;
        }
        self.offsets.truncate(kept + 1);
        self.items.truncate(item(end));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_whose_bits_are_set_are_kept(
            all in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..3), any::<bool>()), 0..200),
            first in any::<bool>(),
        ) {
            let (mut lists, mut words) = (Lists::new(), vec![0; all.len() / 64 + 1]);
            for (at, (list, is_kept)) in all.iter().enumerate() {
                lists.push(list);
                // Most are kept, or most are removed.
                if *is_kept || (at % 7 > 0) == first {
                    bits::set(&mut words, at);
                }
            }
            lists.retain(&words);
            let kept = all.iter().enumerate().filter(|(at, _)| bits::get(&words, *at));
            prop_assert!(lists.slices().iter().eq(kept.map(|(_, (list, _))| list.as_slice())));
        }
    }
}
