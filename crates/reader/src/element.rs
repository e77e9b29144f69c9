//! The element types of numeric columns: stored numbers are read as `i64` or as ords.

use std::ops::{Range, RangeInclusive};

use docvalues_column::{Element, OrdRange, TermOrd};
use docvalues_format::bits;
use docvalues_format::numeric::NumericReader;
use docvalues_format::presence::{Indices, NO_VALUE};
use docvalues_storage::Section;

use crate::column::{FormatResult, with_buffer};

/// A type that stored numbers are read as: `i64` or [`TermOrd`].
pub(crate) trait Stored: Element {
    /// Converts a stored number.
    fn of(stored: i64) -> Self;

    /// Converts the range of a filter to a range of stored numbers.
    fn wanted(wanted: &Self::Range) -> RangeInclusive<i64>;

    /// Decodes the values `range`.
    fn decode(values: &NumericReader<Section>, range: Range<u64>, out: &mut [Self]) -> FormatResult<()>;

    /// Reads the values at `indices` of a batch, with `fill` for documents without a value.
    fn gather(
        values: &NumericReader<Section>,
        indices: Indices<'_>,
        out: &mut [Self],
        fill: Self,
    ) -> FormatResult<()>;
}

impl Stored for i64 {
    #[inline]
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
            let count = bits::compress(indices.each, NO_VALUE, there);
            values.gather(&there[..count], &mut out[..count])?;
            bits::expand(indices.each, NO_VALUE, count, fill, out);
            Ok(())
        })
    }
}

impl Stored for TermOrd {
    /// A number that is not an ord comes from a damaged file. It becomes an ord past the end of every dictionary.
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
        let Indices { each, all } = indices;
        let done = if all { values.gather_ords(each, out) } else { 0 };
        if done == out.len() {
            return Ok(());
        }
        let (each, out) = (&each[done..], &mut out[done..]);
        with_buffer(out.len(), |numbers| {
            i64::gather(values, Indices { each, all }, numbers, fill.get().into())?;
            bits::to_ords(numbers, out);
            Ok(())
        })
    }
}
