//! Stored numbers, as numbers or as ords.

use std::ops::{Range, RangeInclusive};

use docvalues_column::{Element, OrdRange, TermOrd};
use docvalues_format::bits;
use docvalues_format::numeric::NumericReader;
use docvalues_format::presence::{Indices, NO_VALUE};
use docvalues_storage::Section;

use crate::column::{ColumnCore, FormatResult, with_buffer};

/// A type that stored numbers are read as: a number or an ord.
pub(crate) trait Stored: Element {
    /// A stored number.
    fn of(stored: i64) -> Self;

    /// The stored numbers that a filter wants.
    fn wanted(wanted: &Self::Range) -> RangeInclusive<i64>;

    /// The values `range`.
    fn decode(values: &NumericReader<Section>, range: Range<u64>, out: &mut [Self]) -> FormatResult<()>;

    /// The values at `indices` of a batch, `fill` for documents without one.
    fn gather(
        values: &NumericReader<Section>,
        indices: Indices<'_>,
        out: &mut [Self],
        fill: Self,
    ) -> FormatResult<()>;

    /// As many values, from the first one on, as a kernel finds for all documents at once: none, but of ords.
    fn gather_whole(
        _core: &ColumnCore,
        _values: &NumericReader<Section>,
        _docs: &[docvalues_column::DocId],
        _out: &mut [Self],
    ) -> usize {
        0
    }
}

impl Stored for i64 {
    fn of(stored: i64) -> i64 {
        stored
    }

    fn wanted(wanted: &RangeInclusive<i64>) -> RangeInclusive<i64> {
        wanted.clone()
    }

    fn decode(values: &NumericReader<Section>, range: Range<u64>, out: &mut [i64]) -> FormatResult<()> {
        values.decode(range, out)
    }

    fn gather(
        values: &NumericReader<Section>,
        indices: Indices<'_>,
        out: &mut [i64],
        fill: i64,
    ) -> FormatResult<()> {
        if indices.all {
            return values.gather(indices.each, out);
        }
        with_buffer(out.len(), |there| {
            let count = bits::together(indices.each, NO_VALUE, there);
            values.gather(&there[..count], &mut out[..count])?;
            bits::spread(indices.each, NO_VALUE, count, fill, out);
            Ok(())
        })
    }
}

impl Stored for TermOrd {
    /// A number that is no ord comes from a damaged file, and becomes an ord past every dictionary's end.
    #[inline]
    fn of(stored: i64) -> TermOrd {
        TermOrd::new(u32::try_from(stored).unwrap_or(u32::MAX))
    }

    fn wanted(wanted: &OrdRange) -> RangeInclusive<i64> {
        i64::from(wanted.start)..=i64::from(wanted.end) - 1
    }

    fn decode(values: &NumericReader<Section>, range: Range<u64>, out: &mut [TermOrd]) -> FormatResult<()> {
        values.decode_ords(range, out)
    }

    fn gather(
        values: &NumericReader<Section>,
        indices: Indices<'_>,
        out: &mut [TermOrd],
        fill: TermOrd,
    ) -> FormatResult<()> {
        with_buffer(out.len(), |numbers| {
            i64::gather(values, indices, numbers, fill.get().into())?;
            bits::to_u32(numbers, out, TermOrd::new);
            Ok(())
        })
    }

    fn gather_whole(
        core: &ColumnCore,
        values: &NumericReader<Section>,
        docs: &[docvalues_column::DocId],
        out: &mut [TermOrd],
    ) -> usize {
        let own = core.presence.own_indices(docs);
        own.map_or(0, |indices| values.gather_ords(indices, out))
    }
}
