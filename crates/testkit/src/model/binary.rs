//! Byte strings in memory.

use std::cmp::Ordering;
use std::ops::{Bound, ControlFlow, Range};

use docvalues_column::{Batch, BinaryColumn, DocId, Field, Kind, Lists, Result, Slices};

use super::mem::{Mem, write_present};

/// A binary column in memory.
pub type MemBinary = Mem<Option<Vec<u8>>>;

impl MemBinary {
    /// A binary column of `docs` documents.
    ///
    /// # Panics
    ///
    /// If the field does not fit, or there are more slots than documents.
    pub fn new(field: Field, docs: u32, slots: Vec<Option<Vec<u8>>>) -> MemBinary {
        Mem::of_kind(Kind::Binary, field, docs, slots)
    }

    fn value(&self, doc: DocId) -> Option<&[u8]> {
        self.items(doc).first().map(Vec::as_slice)
    }
}

/// Whether `value` lies between two bounds, byte by byte.
pub(crate) fn lies_between(low: Bound<&[u8]>, high: Bound<&[u8]>, value: &[u8]) -> bool {
    let above = match low {
        Bound::Unbounded => true,
        Bound::Included(low) => order(low, value).is_le(),
        Bound::Excluded(low) => order(low, value).is_lt(),
    };
    let below = match high {
        Bound::Unbounded => true,
        Bound::Included(high) => order(value, high).is_le(),
        Bound::Excluded(high) => order(value, high).is_lt(),
    };
    above && below
}

/// The order of byte strings: the empty one first, without a look at its bytes. An empty vector points
/// nowhere, and `memcmp` of no bytes from there can take 200 ns.
fn order(a: &[u8], b: &[u8]) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}

impl BinaryColumn for MemBinary {
    fn get<'a>(&'a self, doc: DocId, _: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        Ok(self.value(doc))
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<u8>, present: &mut [u64]) -> Result<()> {
        self.gather_or(docs, out, b"")?;
        let has_value: Vec<bool> = docs.iter().map(|&doc| self.value(doc).is_some()).collect();
        write_present(&has_value, present);
        Ok(())
    }

    fn gather_or(&self, docs: &[DocId], out: &mut Lists<u8>, fill: &[u8]) -> Result<()> {
        out.clear();
        docs.iter().for_each(|&doc| out.push(self.value(doc).unwrap_or(fill)));
        Ok(())
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, u8>>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.scan_items(docs, &mut |docs, items| {
            let mut values = Lists::new();
            items.iter().for_each(|one| values.push(&one[0]));
            each(Batch { docs, values: values.slices() })
        });
        Ok(())
    }

    fn filter(
        &self,
        docs: Range<u32>,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        bits: &mut [u64],
    ) -> Result<()> {
        self.filter_items(docs, bits, |value| lies_between(low, high, value));
        Ok(())
    }
}
