//! The values of documents that have several.

use docvalues_format::numeric::{self, Values as _};
use docvalues_storage::Spill;

use super::memory::Memory;
use super::tape::{Fixed, Tape};
use crate::error::ErrorKind;

/// Lists end to end, each of them tidy: sorted, and without what is there twice if they are sets.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    /// Where each list begins, and where the last one ends; empty until there is one.
    pub(crate) offsets: Tape<i64>,
    /// What is in them; behind the last list, the values of those that have not ended, as they came.
    pub(crate) values: Tape<T>,
    /// Tidies a list: says how many of its values, from the first on, are kept.
    tidy: fn(&mut [T]) -> usize,
}

impl<T: Fixed + Ord> Lists<T> {
    pub(crate) fn new(tidy: fn(&mut [T]) -> usize) -> Lists<T> {
        Lists { offsets: Tape::default(), values: Tape::default(), tidy }
    }

    /// Where the first list begins that has not ended.
    fn open(&self) -> usize {
        self.offsets.last().and_then(|end| usize::try_from(end).ok()).unwrap_or(0)
    }

    pub(super) fn reserve(
        &mut self,
        lists: usize,
        values: usize,
        memory: &mut Memory,
    ) -> Result<(), ErrorKind> {
        // The first list has an offset more.
        memory.reserve(&mut self.offsets.near, lists.saturating_add(1))?;
        memory.reserve(&mut self.values.near, values)
    }

    /// Ends lists of these lengths, for whose offsets there is room.
    pub(super) fn end(&mut self, lens: impl Iterator<Item = usize>) {
        let (far, values) = (self.values.far(), &mut self.values.near);
        let open = self.offsets.last().and_then(|end| usize::try_from(end).ok()).unwrap_or(0);
        let (mut start, mut kept) = (open - far, open - far);
        for len in lens {
            if self.offsets.len() == 0 {
                self.offsets.near.push(0);
            }
            let left = (self.tidy)(&mut values[start..start + len]);
            if kept < start {
                values.copy_within(start..start + left, kept);
            }
            (start, kept) = (start + len, kept + left);
            self.offsets.near.push(((far + kept) as u64).cast_signed());
        }
        if kept < start {
            values.truncate(kept);
        }
    }

    /// Ends a list of all values that are in none.
    pub(super) fn end_last(&mut self) {
        self.end(std::iter::once(self.values.len() - self.open()));
    }

    /// Forgets all but the first `lists`, and what has not ended.
    pub(super) fn truncate(&mut self, lists: usize) {
        self.offsets.truncate(lists + 1);
        self.values.truncate(self.open());
    }

    /// Changes each list; how long it is stays as it is.
    pub(crate) fn change_each(
        &mut self,
        mut f: impl FnMut(&mut [T]) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        /// Values of lists that are changed together, unless a single one has more.
        const MANY: u64 = 1 << 15;
        let at = |offset: i64| usize::try_from(offset).unwrap_or(usize::MAX);
        let (mut changed, mut room) = (Tape::default(), Vec::new());
        let (lists, far) = (self.offsets.len().saturating_sub(1), self.offsets.far().saturating_sub(1));
        for range in
            numeric::pieces(far).chain(numeric::pieces(lists - far).map(|r| r.start + far..r.end + far))
        {
            let mut offsets = self.offsets.read(range.start..range.end + 1, &mut room)?;
            while let [first, ends @ ..] = offsets
                && !ends.is_empty()
            {
                let few = ends.partition_point(|end| end.abs_diff(*first) <= MANY).max(1);
                let values = at(*first)..at(ends[few - 1]);
                self.values.change(values, &mut changed, |values| {
                    let mut start = *first;
                    for &end in &ends[..few] {
                        f(&mut values[at(start - first)..at(end - first)])?;
                        start = end;
                    }
                    Ok(())
                })?;
                offsets = &offsets[few..];
            }
        }
        self.values.take_far(changed);
        Ok(())
    }

    /// Bytes of memory.
    pub(super) fn heap(&self) -> usize {
        self.offsets.heap() + self.values.heap()
    }

    /// Moves all lists, which have ended, to `spill`.
    pub(super) fn spill(&mut self, spill: &Spill, memory: &mut Memory) -> Result<(), ErrorKind> {
        // Values first: if there is no room for their offsets, those are still known.
        self.values.spill(spill, memory)?;
        self.offsets.spill(spill, memory)
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
            let (mut all, mut sets) = (Lists::new(ascending), Lists::new(distinct));
            for lists in [&lists[..lists.len() / 2], &lists[lists.len() / 2..]] {
                all.values.near.extend(lists.iter().flatten());
                sets.values.near.extend(lists.iter().flatten());
                all.end(lists.iter().map(Vec::len));
                sets.end(lists.iter().map(Vec::len));
            }
            for (i, list) in lists.iter().enumerate() {
                let of = |lists: &Lists<u32>| {
                    let [start, end] = [lists.offsets.near[i], lists.offsets.near[i + 1]].map(|at| usize::try_from(at).unwrap());
                    lists.values.near[start..end].to_vec()
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
