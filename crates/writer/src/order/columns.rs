//! The values of a column, each to where its document goes.

use docvalues_format::binary::Values as _;
use docvalues_storage::Spill;

use super::scatter::{Layout, Scatter};
use super::{Order, Room, try_each};
use crate::buffer::{ByteStrings, Fixed, Items, Payload, Region, Tape};
use crate::error::ErrorKind;
use crate::intern::index;

/// Where the values of a column go.
#[derive(Debug)]
pub(crate) struct Moved<'a> {
    pub(super) order: &'a Order,
    /// For each value, its index then; those of the documents if all of them have one.
    pub(super) slots: Option<Tape<u32>>,
}

impl Moved<'_> {
    fn slots(&self) -> &Tape<u32> {
        self.slots.as_ref().unwrap_or(&self.order.places)
    }

    /// Numbers of documents.
    pub(crate) fn items<T: Fixed + Ord>(&self, mut items: Items<T>) -> Result<Items<T>, ErrorKind> {
        if items.are_lists() {
            return self.lists(items);
        }
        items.values = self.numbers(items.values)?;
        Ok(items)
    }

    /// One number a document.
    fn numbers<T: Fixed>(&self, numbers: Tape<T>) -> Result<Tape<T>, ErrorKind> {
        if numbers.len() == 0 {
            return Ok(numbers);
        }
        let Some(region) = numbers.beside() else {
            let (mut moved, mut values) = (numbers.near.clone(), numbers.near.iter());
            self.slots().for_each(|slots| {
                slots.iter().zip(values.by_ref()).for_each(|(&slot, &value)| moved[index(slot)] = value);
            })?;
            return Ok(Tape::of(moved));
        };
        let layout = Layout::Even { count: numbers.len(), width: T::LEN };
        let (mut scatter, mut bytes) = (Scatter::new(layout, &self.order.room)?, Vec::new());
        let mut slots = self.slots().stream();
        try_each(&numbers, |number| {
            bytes.clear();
            number.put(&mut bytes);
            scatter.put(index(slots.next()?), &bytes)
        })?;
        collected(scatter, Some(region.spill()))
    }

    /// Lists of numbers.
    fn lists<T: Fixed + Ord>(&self, mut lists: Items<T>) -> Result<Items<T>, ErrorKind> {
        let region = lists.values.beside();
        let offsets = self.offsets(&lists.offsets)?;
        let layout = Layout::Laid { offsets: &offsets, width: T::LEN };
        let mut scatter = Scatter::new(layout, &self.room(region.is_some()))?;
        let (mut slots, mut bytes) = (self.slots().stream(), Vec::new());
        lists.for_each(|list| {
            bytes.clear();
            list.iter().for_each(|number| number.put(&mut bytes));
            scatter.put(index(slots.next()?), &bytes)
        })?;
        lists.values = Tape::default();
        lists.values = collected(scatter, region.as_ref().map(Region::spill))?;
        lists.offsets = offsets;
        Ok(lists)
    }

    /// One byte string a document.
    pub(crate) fn strings(&self, strings: ByteStrings) -> Result<ByteStrings, ErrorKind> {
        let moved = self.offsets(&strings.offsets)?;
        let layout = Layout::Laid { offsets: &moved, width: 1 };
        let mut far = strings.bytes.far.as_ref().map(|far| far.another());
        let mut scatter = Scatter::new(layout, &self.room(far.is_some()))?;
        let mut slots = self.slots().stream();
        strings.for_each(|value| scatter.put(index(slots.next()?), value))?;
        drop(strings);
        let mut near = Vec::new();
        scatter.finish(|bytes| match &mut far {
            Some(far) => Ok(far.append(&bytes)?),
            None => {
                near.push(bytes);
                Ok(())
            }
        })?;
        Ok(ByteStrings { bytes: Payload { far, near }, offsets: moved })
    }

    /// Where values begin whose lengths tell `offsets`, once they have moved.
    fn offsets(&self, offsets: &Tape<i64>) -> Result<Tape<i64>, ErrorKind> {
        let region = offsets.beside();
        let spill = region.as_ref().map(Region::spill);
        let (mut lens, mut last) = (Tape::<u32>::default(), None);
        try_each(offsets, |end| match last.replace(end) {
            // The longest string has 2^31 bytes.
            Some(start) => lens.push(u32::try_from(end - start).unwrap_or(u32::MAX), spill),
            None => Ok(()),
        })?;
        lens.settle(spill)?;
        let (mut moved, mut end) = (Tape::default(), 0);
        let lens = self.numbers(lens)?;
        if offsets.len() > 0 {
            moved.push(0, spill)?;
        }
        try_each(&lens, |len| {
            end += i64::from(len);
            moved.push(end, spill)
        })?;
        moved.settle(spill)?;
        Ok(moved)
    }

    /// Where values that are in memory stay there.
    fn room(&self, far: bool) -> Room {
        if far { self.order.room.clone() } else { Room { spill: None, bytes: usize::MAX } }
    }
}

/// The numbers that `scatter` has the bytes of.
fn collected<T: Fixed>(scatter: Scatter<'_>, spill: Option<&Spill>) -> Result<Tape<T>, ErrorKind> {
    let mut numbers = Tape::default();
    scatter.finish(|bytes| numbers.extend(&bytes, spill))?;
    numbers.settle(spill)?;
    Ok(numbers)
}
