//! [`Items`]: the numbers of documents, one each or as lists.

use docvalues_column::View;
use docvalues_format::numeric;
use docvalues_storage::Spill;

use super::memory_budget::MemoryBudget;
use super::spill_vec::{FixedWidth, SpillVec, for_each_group};
use crate::error::ErrorKind;

/// One number a document, or lists with offsets. Lists on disk are normalized: sorted, and without duplicates if they
/// are sets.
#[derive(Debug)]
pub(crate) struct Items<T> {
    /// The start of each list, and the end of the last one. Empty before the first list, and for single values.
    pub(crate) offsets: SpillVec<i64>,
    /// The numbers in document order. Those after the last offset belong to the open list.
    pub(crate) values: SpillVec<T>,
    /// Sorts a list in place and returns its new length; `None` for single values.
    normalize: Option<fn(&mut [T]) -> usize>,
}

impl<T: FixedWidth + Ord> Items<T> {
    /// One number a document.
    pub(crate) fn singles() -> Items<T> {
        Items { offsets: SpillVec::default(), values: SpillVec::default(), normalize: None }
    }

    /// Lists, which `normalize` sorts.
    pub(crate) fn lists(normalize: fn(&mut [T]) -> usize) -> Items<T> {
        Items { normalize: Some(normalize), ..Items::singles() }
    }

    pub(crate) fn are_lists(&self) -> bool {
        self.normalize.is_some()
    }

    /// The start of the open list.
    fn open(&self) -> usize {
        self.offsets.last().map_or(0, at)
    }

    pub(super) fn reserve(
        &mut self,
        docs: usize,
        values: usize,
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        if self.are_lists() {
            // The first list needs two offsets.
            memory.reserve(&mut self.offsets.in_memory, docs.saturating_add(1))?;
        }
        memory.reserve(&mut self.values.in_memory, values)
    }

    /// Ends lists of these lengths; memory for their offsets must be reserved.
    pub(crate) fn end(&mut self, lens: impl Iterator<Item = usize>) {
        if !self.are_lists() {
            return;
        }
        let mut end = self.open() as u64;
        for len in lens {
            if self.offsets.len() == 0 {
                self.offsets.in_memory.push(0);
            }
            end += len as u64;
            self.offsets.in_memory.push(end.cast_signed());
        }
    }

    /// Ends the lists of `rows`, whose values were appended. `None` if only one of the two is multi-valued.
    pub(crate) fn end_rows<R>(&mut self, rows: &View<'_, R>) -> Option<()> {
        match rows {
            View::One(_) if !self.are_lists() => Some(()),
            View::Many(lists) if self.are_lists() => {
                self.end(lists.lens());
                Some(())
            }
            View::One(_) | View::Many(_) => None,
        }
    }

    /// Ends the open list.
    pub(super) fn end_last(&mut self) {
        self.end(std::iter::once(self.values.len() - self.open()));
    }

    /// Keeps the values of the first `docs` documents with a value, and drops the open list.
    pub(super) fn truncate(&mut self, docs: usize) {
        if !self.are_lists() {
            return self.values.truncate(docs);
        }
        // Without lists there are no offsets.
        self.offsets.truncate(if docs == 0 { 0 } else { docs + 1 });
        self.values.truncate(self.open());
    }

    /// Lets `f` replace all values, in order, and normalizes lists.
    pub(crate) fn replace(
        &mut self,
        mut f: impl FnMut(&mut [T]) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let Some(normalize) = self.normalize else { return self.values.change_each(f) };
        let mut each = |list: &mut [T]| f(list).map(|()| normalize(list));
        let mut changed = SpillVec::default();
        let in_file = (self.values.on_disk_len() as u64).cast_signed();
        let in_memory = self.offsets.in_memory.partition_point(|&end| end <= in_file);
        let lists = if in_file == 0 { 0 } else { self.offsets.on_disk_len() + in_memory - 1 };
        for_each_group(&self.offsets, lists, MANY, &mut |range, offsets| {
            self.values.change(at(range.start)..at(range.end), &mut changed, |values| {
                let list = |end: i64| at(end - range.start);
                // Lists on disk are normalized already, so they keep their lengths.
                offsets.windows(2).try_for_each(|of| each(&mut values[list(of[0])..list(of[1])]).map(drop))
            })
        })?;
        self.values.replace_on_disk(changed);
        self.normalize_in_memory(each)
    }

    /// Calls `f` with the numbers of each document that has a value.
    pub(crate) fn for_each(&self, mut f: impl FnMut(&[T]) -> Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        if !self.are_lists() {
            return self.values.try_each(|number| f(&[number]));
        }
        let mut buffer = Vec::new();
        for_each_group(&self.offsets, self.offsets.len().saturating_sub(1), MANY, &mut |range, offsets| {
            let mut values =
                numeric::Values::read(&self.values, at(range.start)..at(range.end), &mut buffer)?;
            let lens = offsets.windows(2).map(|of| at(of[1] - of[0]));
            lens.into_iter().try_for_each(|len| f(values.split_off(..len).unwrap_or_default()))
        })
    }

    /// The size in memory, in bytes.
    pub(super) fn heap(&self) -> usize {
        self.offsets.heap() + self.values.heap()
    }

    /// Moves all values to `spill`. Lists must be ended and normalized.
    pub(super) fn spill(&mut self, spill: &Spill, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        // Values first: if writing the offsets fails, they are still in memory.
        self.values.spill(spill, memory)?;
        self.offsets.spill(spill, memory)
    }

    /// Normalizes the lists in memory.
    pub(crate) fn normalize(&mut self) -> Result<(), ErrorKind> {
        self.normalize.map_or(Ok(()), |normalize| self.normalize_in_memory(|list| Ok(normalize(list))))
    }

    /// Changes each list in memory by `f`, which returns its new length.
    fn normalize_in_memory(
        &mut self,
        mut f: impl FnMut(&mut [T]) -> Result<usize, ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let (on_disk, values) = (self.values.on_disk_len(), &mut self.values.in_memory);
        let (mut start, mut kept) = (0, 0);
        for offset in &mut self.offsets.in_memory {
            // No list is empty: one that ends at or before `on_disk` is not in memory.
            let end = at(*offset).saturating_sub(on_disk);
            if end == 0 {
                continue;
            }
            let left = f(&mut values[start..end])?;
            if kept < start {
                values.copy_within(start..start + left, kept);
            }
            (start, kept) = (end, kept + left);
            *offset = ((on_disk + kept) as u64).cast_signed();
        }
        values.truncate(kept);
        Ok(())
    }
}

/// Converts an offset to an index.
fn at(offset: i64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

/// The most values of lists that are read at a time, except for a longer single list.
const MANY: u64 = 1 << 15;

/// Sorts a list, with duplicates.
pub(crate) fn ascending<T: Copy + Ord>(list: &mut [T]) -> usize {
    sort_few(list);
    list.len()
}

/// Sorts a list, and removes duplicates.
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

/// Sorts a list, which is usually short. Up to eight values go through a sorting network, which has no data-dependent
/// branches.
fn sort_few<T: Copy + Ord>(list: &mut [T]) {
    fn network<T: Copy + Ord, const N: usize>(list: &mut [T]) {
        let Ok(array) = <&mut [T; N]>::try_from(list) else { return };
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
            let (mut all, mut sets) = (Items::lists(ascending), Items::lists(distinct));
            for lists in [&lists[..lists.len() / 2], &lists[lists.len() / 2..]] {
                all.values.in_memory.extend(lists.iter().flatten());
                sets.values.in_memory.extend(lists.iter().flatten());
                all.end(lists.iter().map(Vec::len));
                sets.end(lists.iter().map(Vec::len));
            }
            all.normalize().unwrap();
            sets.normalize().unwrap();
            for (i, list) in lists.iter().enumerate() {
                let of = |lists: &Items<u32>| {
                    let [start, end] = [lists.offsets.in_memory[i], lists.offsets.in_memory[i + 1]].map(|at| usize::try_from(at).unwrap());
                    lists.values.in_memory[start..end].to_vec()
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
