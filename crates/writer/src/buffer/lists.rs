//! The values of documents that have several.

use super::memory::Memory;
use crate::error::ErrorKind;

/// Lists end to end.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    /// Where each list begins, and where the last one ends; empty until there is one.
    pub(crate) offsets: Vec<i64>,
    /// What is in them, as it came; behind the last list, the values of those that have not ended.
    pub(crate) values: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists { offsets: Vec::new(), values: Vec::new() }
    }
}

impl<T: Copy + Ord> Lists<T> {
    /// Where the first list begins that has not ended.
    fn open(&self) -> usize {
        self.offsets.last().and_then(|&end| usize::try_from(end).ok()).unwrap_or(0)
    }

    pub(super) fn reserve(
        &mut self,
        lists: usize,
        values: usize,
        memory: &mut Memory,
    ) -> Result<(), ErrorKind> {
        // The first list has an offset more.
        memory.reserve(&mut self.offsets, lists.saturating_add(1))?;
        memory.reserve(&mut self.values, values)
    }

    /// Ends lists of these lengths, for whose offsets there is room.
    pub(super) fn end(&mut self, lens: impl Iterator<Item = usize>) {
        let mut end = self.open() as u64;
        for len in lens {
            if self.offsets.is_empty() {
                self.offsets.push(0);
            }
            end += len as u64;
            self.offsets.push(end.cast_signed());
        }
    }

    /// Ends a list of all values that are in none.
    pub(super) fn end_last(&mut self) {
        self.end(std::iter::once(self.values.len() - self.open()));
    }

    /// Tidies each list: `tidy` says how many of its values, from the first on, are kept.
    pub(crate) fn tidy(&mut self, tidy: impl Fn(&mut [T]) -> usize) {
        let (mut start, mut kept) = (0, 0);
        for offset in self.offsets.iter_mut().skip(1) {
            let end = usize::try_from(*offset).unwrap_or(usize::MAX);
            let left = tidy(&mut self.values[start..end]);
            if kept < start {
                self.values.copy_within(start..start + left, kept);
            }
            (start, kept) = (end, kept + left);
            *offset = (kept as u64).cast_signed();
        }
        self.values.truncate(kept);
    }

    /// Forgets all but the first `lists`, and what has not ended.
    pub(super) fn truncate(&mut self, lists: usize) {
        self.offsets.truncate(lists + 1);
        self.values.truncate(self.open());
    }
}

/// Puts a list in order, and keeps all of it.
pub(crate) fn ascending<T: Copy + Ord>(list: &mut [T]) -> usize {
    sort_few(list);
    list.len()
}

/// Puts a list in order, and keeps each of its values once.
pub(crate) fn distinct<T: Copy + Ord>(list: &mut [T]) -> usize {
    sort_few(list);
    let Some(&first) = list.first() else { return 0 };
    let (mut kept, mut last) = (1, first);
    for i in 1..list.len() {
        list[kept] = list[i];
        kept += usize::from(list[i] != last);
        last = list[i];
    }
    kept
}

/// Sorts a list which usually is short: up to eight values are compared in an order that does not depend
/// on them, so that no branch does.
fn sort_few<T: Copy + Ord>(list: &mut [T]) {
    fn network<T: Copy + Ord, const N: usize>(list: &mut [T]) {
        let Some(array) = list.as_mut_array::<N>() else { return };
        let mut sorted = *array;
        for end in (1..N).rev() {
            for i in 0..end {
                let (a, b) = (sorted[i], sorted[i + 1]);
                (sorted[i], sorted[i + 1]) = (a.min(b), a.max(b));
            }
        }
        *array = sorted;
    }
    match list.len() {
        0 | 1 => {}
        2 => network::<T, 2>(list),
        3 => network::<T, 3>(list),
        4 => network::<T, 4>(list),
        5 => network::<T, 5>(list),
        6 => network::<T, 6>(list),
        7 => network::<T, 7>(list),
        8 => network::<T, 8>(list),
        _ => list.sort_unstable(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_are_put_in_order_and_sets_have_each_value_once(
            lists in proptest::collection::vec(proptest::collection::vec(0..30_u32, 1..40), 0..9),
        ) {
            let (mut all, mut sets) = (Lists::default(), Lists::default());
            for lists in [&lists[..lists.len() / 2], &lists[lists.len() / 2..]] {
                all.values.extend(lists.iter().flatten());
                sets.values.extend(lists.iter().flatten());
                all.end(lists.iter().map(Vec::len));
                sets.end(lists.iter().map(Vec::len));
            }
            all.tidy(ascending);
            sets.tidy(distinct);
            for (i, list) in lists.iter().enumerate() {
                let of = |lists: &Lists<u32>| {
                    let [start, end] = [lists.offsets[i], lists.offsets[i + 1]].map(|at| usize::try_from(at).unwrap());
                    lists.values[start..end].to_vec()
                };
                let mut sorted = list.clone();
                sorted.sort_unstable();
                prop_assert_eq!(of(&all), sorted);
                let set: BTreeSet<u32> = list.iter().copied().collect();
                prop_assert!(of(&sets).into_iter().eq(set));
            }
        }
    }
}
