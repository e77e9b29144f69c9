//! [`Permutation`]: permutes the values of a column by the new order of the documents.

use docvalues_format::binary::Values as _;

use super::DocMap;
use super::scatter::{Layout, Scatter};
use crate::buffer::{ByteStrings, FixedWidth, Items, Payload, Scratch, SpillBudget, SpillVec};
use crate::error::ErrorKind;
use crate::index::index;

/// The permutation of a column's values.
#[derive(Debug)]
pub(crate) struct Permutation<'a> {
    pub(super) doc_map: &'a DocMap,
    /// The new index of each value; `None` if values and documents correspond one to one.
    pub(super) slots: Option<SpillVec<u32>>,
}

impl Permutation<'_> {
    fn slots(&self) -> &SpillVec<u32> {
        self.slots.as_ref().unwrap_or(&self.doc_map.places)
    }

    /// Permutes single numbers or lists.
    pub(crate) fn items<T: FixedWidth + Ord>(&self, mut items: Items<T>) -> Result<Items<T>, ErrorKind> {
        if items.are_lists() {
            return self.lists(items);
        }
        items.values = self.numbers(items.values)?;
        Ok(items)
    }

    /// Permutes single numbers.
    fn numbers<T: FixedWidth>(&self, numbers: SpillVec<T>) -> Result<SpillVec<T>, ErrorKind> {
        if numbers.len() == 0 {
            return Ok(numbers);
        }
        let Some(scratch) = numbers.sibling_scratch() else {
            let (mut moved, mut values) = (numbers.in_memory.clone(), numbers.in_memory.iter());
            self.slots().for_each(&mut |slots| {
                slots.iter().zip(values.by_ref()).for_each(|(&slot, &value)| moved[index(slot)] = value);
            })?;
            return Ok(SpillVec::of(moved));
        };
        let layout = Layout::Fixed { count: numbers.len(), width: T::LEN };
        let (mut scatter, mut bytes) = (Scatter::new(layout, &self.doc_map.spill_budget)?, Vec::new());
        let mut slots = self.slots().stream();
        numbers.try_each(|number| {
            bytes.clear();
            number.put(&mut bytes);
            scatter.put(index(slots.next()?), &bytes)
        })?;
        scatter.into_numbers(Some(scratch.spill()))
    }

    /// Permutes lists of numbers.
    fn lists<T: FixedWidth + Ord>(&self, mut lists: Items<T>) -> Result<Items<T>, ErrorKind> {
        let scratch = lists.values.sibling_scratch();
        let offsets = self.offsets(&lists.offsets)?;
        let layout = Layout::Variable { offsets: &offsets, width: T::LEN };
        let mut scatter = Scatter::new(layout, &self.spill_budget(scratch.is_some()))?;
        let (mut slots, mut bytes) = (self.slots().stream(), Vec::new());
        lists.for_each(|list| {
            bytes.clear();
            list.iter().for_each(|number| number.put(&mut bytes));
            scatter.put(index(slots.next()?), &bytes)
        })?;
        lists.values = SpillVec::default();
        lists.values = scatter.into_numbers(scratch.as_ref().map(Scratch::spill))?;
        lists.offsets = offsets;
        Ok(lists)
    }

    /// Permutes byte strings.
    pub(crate) fn strings(&self, strings: ByteStrings) -> Result<ByteStrings, ErrorKind> {
        let moved = self.offsets(&strings.offsets)?;
        let layout = Layout::Variable { offsets: &moved, width: 1 };
        let mut on_disk = strings.bytes.on_disk.as_ref().map(|on_disk| on_disk.sibling());
        let mut scatter = Scatter::new(layout, &self.spill_budget(on_disk.is_some()))?;
        let mut slots = self.slots().stream();
        strings.for_each(|value| scatter.put(index(slots.next()?), value))?;
        drop(strings);
        let mut in_memory = Vec::new();
        scatter.finish(&mut |bytes| match &mut on_disk {
            Some(on_disk) => Ok(on_disk.append(&bytes)?),
            None => {
                in_memory.push(bytes);
                Ok(())
            }
        })?;
        Ok(ByteStrings { bytes: Payload { on_disk, in_memory }, offsets: moved })
    }

    /// The offsets of the permuted values, given the current ones.
    fn offsets(&self, offsets: &SpillVec<i64>) -> Result<SpillVec<i64>, ErrorKind> {
        let scratch = offsets.sibling_scratch();
        let spill = scratch.as_ref().map(Scratch::spill);
        let (mut lens, mut last) = (SpillVec::<u32>::default(), None);
        offsets.try_each(|end| match last.replace(end) {
            // The longest string has 2^31 bytes.
            Some(start) => lens.push(u32::try_from(end - start).unwrap_or(u32::MAX), spill),
            None => Ok(()),
        })?;
        lens.flush(spill)?;
        let (mut moved, mut end) = (SpillVec::default(), 0);
        let lens = self.numbers(lens)?;
        if offsets.len() > 0 {
            moved.push(0, spill)?;
        }
        lens.try_each(|len| {
            end += i64::from(len);
            moved.push(end, spill)
        })?;
        moved.flush(spill)?;
        Ok(moved)
    }

    /// The budget: unlimited for values in memory, which stay there.
    fn spill_budget(&self, on_disk: bool) -> SpillBudget {
        if on_disk { self.doc_map.spill_budget.clone() } else { SpillBudget::new(0, None) }
    }
}
