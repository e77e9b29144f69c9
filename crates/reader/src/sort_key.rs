//! The primary key of an index sort: its column's values are in order, so a range of values is a range of documents.
//!
//! ```text
//! documents   0 . . . . . . . . . . . . . docs
//! values      - - - 1 2 2 2 5 5 7 8 8 9 9        ascending, documents without a value first
//!                     ^ ^ ^ ^ ^                  values 2..=6 are documents 4..9
//! ```
//!
//! The look-up relies on the order that the file claims. A hostile file that claims a wrong order gets wrong answers,
//! but never a document outside of the segment. [`Segment::verify`](crate::Segment::verify) proves the order.

use std::ops::RangeInclusive;

use docvalues_column::{DocRange, SortKey, bits};
use docvalues_format::error::Result as FormatResult;
use docvalues_format::numeric::NumericReader;
use docvalues_storage::Section;

/// The order of the values of the column that is the primary sort key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimarySortKey {
    descending: bool,
    missing_first: bool,
}

impl PrimarySortKey {
    /// The primary key of `sort`, if it is the column `name`.
    pub(crate) fn of(sort: &[SortKey], name: &str) -> Option<PrimarySortKey> {
        let first = sort.first().filter(|key| key.column == name)?;
        Some(PrimarySortKey { descending: first.descending, missing_first: first.missing_first })
    }

    /// The documents whose numbers are in `wanted`. Two binary searches.
    ///
    /// `numbers` are those of the `with_value` documents that have one, out of `docs` documents.
    pub(crate) fn doc_range(
        self,
        docs: u32,
        with_value: u32,
        numbers: &NumericReader<Section>,
        wanted: &RangeInclusive<i64>,
    ) -> FormatResult<DocRange> {
        if wanted.is_empty() {
            return Ok(DocRange::default());
        }
        let (least, most) = (*wanted.start(), *wanted.end());
        let found = if self.descending {
            let start = partition_point(numbers, 0, |number| number <= most)?;
            start..partition_point(numbers, start, |number| number < least)?
        } else {
            let start = partition_point(numbers, 0, |number| number >= least)?;
            start..partition_point(numbers, start, |number| number > most)?
        };
        let without = if self.missing_first { docs.saturating_sub(with_value) } else { 0 };
        // There are no more values than documents.
        let doc = |index: u64| u32::try_from(index).unwrap_or(u32::MAX).saturating_add(without).min(docs);
        Ok(DocRange::new(doc(found.start), doc(found.end)))
    }
}

/// The index of the first number, from `start` on, for which `is` holds. It must hold for all numbers after that one,
/// too.
fn partition_point(
    numbers: &NumericReader<Section>,
    start: u64,
    is: impl Fn(i64) -> bool,
) -> FormatResult<u64> {
    let (mut low, mut high) = (start, numbers.count());
    while low < high {
        let middle = low.midpoint(high);
        if is(numbers.get(middle)?) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

/// Sets the bits of the documents of `asked` that are in `found`.
pub(crate) fn set_bits(found: DocRange, asked: DocRange, bits: &mut [u64]) {
    let both = found.intersection(asked);
    if !both.is_empty() {
        let start = (both.start - asked.start) as usize;
        bits::set_range(bits, start..start + both.len());
    }
}
