//! The types that numbers are read as.

use std::ops::{Range, RangeInclusive};

use docvalues_column::{DocId, Element, OrdRange, TermOrd};
use docvalues_format::bits::to_ords;
use docvalues_format::presence::NO_VALUE;

use super::NumbersColumn;
use crate::error::Result;
use crate::numeric::{FEW, Numbers};
use crate::windows::in_batches;

/// A type that numbers are read as: `i64` or [`TermOrd`].
pub(crate) trait Stored: Element {
    /// Fills `out` with what `read` reads as numbers: those at some places, into a slice that is as long.
    fn fill_by(out: &mut [Self], read: impl FnMut(Range<usize>, &mut [i64]) -> Result<()>) -> Result<()>;

    /// Reads the numbers from `start` on if they fit this type, as many of the first as a kernel can. Returns how many.
    fn decode_narrow(numbers: &Numbers, start: u64, out: &mut [Self]) -> usize;

    /// As [`decode_narrow`](Self::decode_narrow), of the numbers at `indices`.
    fn gather_narrow(numbers: &Numbers, indices: &[u32], out: &mut [Self]) -> usize;

    /// The value of a number.
    fn of(number: i64) -> Self;

    /// The number that is read as this.
    fn number(self) -> i64;

    /// The range of a filter as numbers of docvalues.
    fn wanted(wanted: &Self::Range) -> RangeInclusive<i64>;
}

impl Stored for i64 {
    fn fill_by(out: &mut [i64], mut read: impl FnMut(Range<usize>, &mut [i64]) -> Result<()>) -> Result<()> {
        read(0..out.len(), out)
    }

    fn decode_narrow(_: &Numbers, _: u64, _: &mut [i64]) -> usize {
        0
    }

    fn gather_narrow(_: &Numbers, _: &[u32], _: &mut [i64]) -> usize {
        0
    }

    fn of(number: i64) -> i64 {
        number
    }

    fn number(self) -> i64 {
        self
    }

    fn wanted(wanted: &RangeInclusive<i64>) -> RangeInclusive<i64> {
        wanted.clone()
    }
}

/// A number that is no ord comes from a damaged file. It becomes an ord past the end of every dictionary. Ords are stored as they
/// are, so kernels may read them: only numbers have other forms.
impl Stored for TermOrd {
    fn fill_by(
        out: &mut [TermOrd],
        mut read: impl FnMut(Range<usize>, &mut [i64]) -> Result<()>,
    ) -> Result<()> {
        in_batches(out.len(), |place, buffer| {
            read(place.clone(), buffer)?;
            to_ords(buffer, &mut out[place]);
            Ok(())
        })
    }

    fn decode_narrow(numbers: &Numbers, start: u64, out: &mut [TermOrd]) -> usize {
        numbers.decode_ords(start, out)
    }

    fn gather_narrow(numbers: &Numbers, indices: &[u32], out: &mut [TermOrd]) -> usize {
        numbers.gather_ords(indices, out)
    }

    fn of(number: i64) -> TermOrd {
        TermOrd::new(u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn number(self) -> i64 {
        self.get().into()
    }

    fn wanted(wanted: &OrdRange) -> RangeInclusive<i64> {
        i64::from(wanted.start)..=i64::from(wanted.end) - 1
    }
}

impl NumbersColumn {
    /// Decodes the numbers of a range, into `out`, which is as long.
    pub(super) fn decode<T: Stored>(&self, range: Range<u64>, out: &mut [T]) -> Result<()> {
        let done = T::decode_narrow(&self.numbers, range.start, out);
        let first = range.start + done as u64;
        T::fill_by(&mut out[done..], |place, out| {
            let start = first + place.start as u64;
            self.numbers.decode(start..start + out.len() as u64, out)?;
            if self.form.is_other() {
                out.iter_mut().for_each(|number| *number = self.form.number(*number));
            }
            Ok(())
        })
    }

    /// Appends the numbers of a range.
    #[inline]
    pub(super) fn append<T: Stored>(&self, range: Range<u64>, out: &mut Vec<T>) -> Result<()> {
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        if len <= FEW {
            for index in range {
                out.push(T::of(self.form.number(self.numbers.get(index)?)));
            }
            return Ok(());
        }
        let start = out.len();
        out.resize(start.saturating_add(len), T::default());
        self.decode(range, &mut out[start..])
    }

    /// Appends the values of `doc` to `out`, and returns whether there are any.
    #[inline(never)]
    pub(super) fn append_row<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        let Some(index) = self.presence.rank(doc)? else { return Ok(false) };
        self.append(self.places(index)?, out)?;
        Ok(true)
    }

    /// Reads the numbers at `indices`, with `fill` for documents without a value.
    pub(super) fn gather_at<T: Stored>(
        &self,
        indices: &[u32],
        are_all: bool,
        fill: T,
        out: &mut [T],
    ) -> Result<()> {
        let done = if are_all { T::gather_narrow(&self.numbers, indices, out) } else { 0 };
        let indices = &indices[done..];
        T::fill_by(&mut out[done..], |place, out| {
            let indices = &indices[place];
            self.numbers.gather(indices, are_all, fill.number(), out)?;
            if self.form.is_other() {
                let there = out.iter_mut().zip(indices).filter(|(_, index)| **index != NO_VALUE);
                there.for_each(|(number, _)| *number = self.form.number(*number));
            }
            Ok(())
        })
    }
}
