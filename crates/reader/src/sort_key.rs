//! The column that a segment is sorted by first: its values lie in order, so a range of them is a range of
//! documents.
//!
//! ```text
//! documents   0 . . . . . . . . . . . . . docs
//! values      - - - 1 2 2 2 5 5 7 8 8 9 9        missing first, ascending
//!                     ^ ^ ^ ^ ^                  2..=6: documents 4..9
//! ```
//!
//! What is found here rests on what the file says of its order, so a file that lies gets wrong answers; no answer
//! lies outside of the documents.

use std::ops::RangeInclusive;

use docvalues_column::{DocRange, SortKey, bits};
use docvalues_format::numeric::NumericReader;
use docvalues_storage::Section;

use crate::column::{ColumnCore, FormatResult};

/// How the values lie of the first column that the documents are sorted by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimarySortKey {
    descending: bool,
    missing_first: bool,
}

impl PrimarySortKey {
    /// Whether that is the column `name`.
    pub(crate) fn of(sort: &[SortKey], name: &str) -> Option<PrimarySortKey> {
        let first = sort.first().filter(|key| key.column == name)?;
        Some(PrimarySortKey { descending: first.descending, missing_first: first.missing_first })
    }

    /// The documents whose numbers lie in `wanted`. Two binary searches.
    pub(crate) fn docs(
        self,
        core: &ColumnCore,
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
        let without = if self.missing_first { core.docs.saturating_sub(core.presence.values()) } else { 0 };
        // There are no more values than documents.
        let doc =
            |index: u64| u32::try_from(index).unwrap_or(u32::MAX).saturating_add(without).min(core.docs);
        Ok(DocRange::new(doc(found.start), doc(found.end)))
    }
}

/// The first number from `start` on that `is` so, if all behind it are.
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

/// Sets the bits of those documents of `asked` that lie in `found`.
pub(crate) fn fill(found: DocRange, asked: DocRange, bits: &mut [u64]) {
    let both = found.intersection(asked);
    if !both.is_empty() {
        let start = (both.start - asked.start) as usize;
        bits::fill(bits, start..start + both.len());
    }
}
