//! Numbers in memory.

use std::ops::{ControlFlow, Range, RangeInclusive};

use docvalues_column::{
    Batch, Column as _, DocId, Field, FilterCounts, Kind, Lists, NumericColumn, Result, Slices,
    SortedNumericColumn, bits,
};

use super::mem::{Mem, Slot, write_present};

/// A numeric column in memory.
pub type MemNumeric = Mem<Option<i64>>;

/// A sorted-numeric column in memory.
pub type MemSortedNumeric = Mem<Vec<i64>>;

impl MemNumeric {
    /// A numeric column of `docs` documents.
    ///
    /// # Panics
    ///
    /// If the field does not fit, or there are more slots than documents.
    pub fn new(field: Field, docs: u32, slots: Vec<Option<i64>>) -> MemNumeric {
        Mem::of_kind(Kind::Numeric, field, docs, slots)
    }
}

impl MemSortedNumeric {
    /// A sorted-numeric column of `docs` documents.
    ///
    /// # Panics
    ///
    /// If the field does not fit, there are more slots than documents, or a slot is not ascending.
    pub fn new(field: Field, docs: u32, slots: Vec<Vec<i64>>) -> MemSortedNumeric {
        assert!(slots.iter().all(|slot| slot.is_sorted()), "field `{}`: unsorted values", field.name);
        Mem::of_kind(Kind::SortedNumeric, field, docs, slots)
    }
}

fn bounds<S: Slot<Item = i64>>(column: &Mem<S>) -> Option<RangeInclusive<i64>> {
    let low = column.all_items().min()?;
    let high = column.all_items().max()?;
    Some(*low..=*high)
}

impl NumericColumn for MemNumeric {
    fn bounds(&self) -> Option<RangeInclusive<i64>> {
        bounds(self)
    }

    fn get(&self, doc: DocId) -> Result<Option<i64>> {
        Ok(self.items(doc).first().copied())
    }

    fn gather(&self, docs: &[DocId], out: &mut [i64], present: &mut [u64]) -> Result<()> {
        write_present(&self.gather_first(docs, out, 0), present);
        Ok(())
    }

    fn gather_or(&self, docs: &[DocId], out: &mut [i64], fill: i64) -> Result<()> {
        self.gather_first(docs, out, fill);
        Ok(())
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[i64]>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.scan_items(docs, &mut |docs, items| each(Batch { docs, values: &items.concat() }));
        Ok(())
    }

    fn filter(&self, docs: Range<u32>, values: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        self.filter_items(docs, bits, |value| values.contains(value));
        Ok(())
    }

    /// Those that match, and no others.
    fn candidates(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        _counts: &mut FilterCounts,
        each: &mut dyn FnMut(Range<u32>) -> ControlFlow<()>,
    ) -> Result<()> {
        let matches = |doc: u32| self.items(DocId::new(doc)).iter().any(|value| values.contains(value));
        let (mut at, end) = (docs.start, docs.end.min(self.docs()));
        while let Some(start) = (at..end).find(|&doc| matches(doc)) {
            at = (start..end).find(|&doc| !matches(doc)).unwrap_or(end);
            if each(start..at).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Those with a document that matches, and no others.
    fn open_stretches(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        _finely: bool,
        _counts: &mut FilterCounts,
        bits: &mut [u64],
    ) -> Result<()> {
        let matches = |doc: u32| self.items(DocId::new(doc)).iter().any(|value| values.contains(value));
        let end = docs.end.min(self.docs());
        let found = (docs.start..end).filter(|&doc| matches(doc));
        found.for_each(|doc| bits::set(bits, (doc - docs.start) as usize / 512));
        Ok(())
    }

    /// Any of the numbers: nobody may rely on a guess.
    fn guess_nth(&self, n: u64, _greatest: bool) -> Result<Option<i64>> {
        let count = self.all_items().count() as u64;
        let place = n
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .checked_rem(count)
            .and_then(|place| usize::try_from(place).ok());
        Ok(place.and_then(|place| self.all_items().nth(place)).copied())
    }
}

impl SortedNumericColumn for MemSortedNumeric {
    fn bounds(&self) -> Option<RangeInclusive<i64>> {
        bounds(self)
    }

    fn value_count(&self) -> u64 {
        self.all_items().count() as u64
    }

    fn get(&self, doc: DocId, out: &mut Vec<i64>) -> Result<()> {
        *out = self.items(doc).to_vec();
        Ok(())
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<i64>) -> Result<()> {
        self.gather_lists(docs, out);
        Ok(())
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, i64>>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.scan_items(docs, &mut |docs, items| {
            let mut lists = Lists::new();
            items.iter().for_each(|list| lists.push(list));
            each(Batch { docs, values: lists.slices() })
        });
        Ok(())
    }

    fn filter(&self, docs: Range<u32>, values: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        self.filter_items(docs, bits, |value| values.contains(value));
        Ok(())
    }
}
