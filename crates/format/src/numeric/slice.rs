//! [`Slice`] and [`Source`]: values as the encoder reads them, which is compiled once for all types of values.

use std::ops::Range;

use super::value_stats::FINE_ZONE;
use super::{Number, Values};

/// Values in memory.
#[derive(Clone, Copy, Debug)]
pub enum Slice<'a> {
    /// Of 64 bits.
    Long(&'a [i64]),
    /// Of 32 bits.
    Short(&'a [u32]),
}

/// Evaluates `$result` for values of either width.
macro_rules! for_width {
    ($slice:expr, $values:ident => $result:expr) => {
        match $slice {
            Slice::Long($values) => $result,
            Slice::Short($values) => $result,
        }
    };
}

pub(super) use for_width;

impl<'a> Slice<'a> {
    pub(super) fn len(self) -> usize {
        for_width!(self, values => values.len())
    }

    /// Value `i`.
    pub(super) fn get(self, i: usize) -> i64 {
        match self {
            Slice::Long(values) => values[i],
            Slice::Short(values) => values[i].into(),
        }
    }

    pub(super) fn range(self, range: Range<usize>) -> Slice<'a> {
        match self {
            Slice::Long(values) => Slice::Long(&values[range]),
            Slice::Short(values) => Slice::Short(&values[range]),
        }
    }

    /// The values of each fine zone.
    pub(super) fn fine_zones(self) -> impl Iterator<Item = Slice<'a>> {
        let starts = (0..self.len()).step_by(FINE_ZONE);
        starts.map(move |start| self.range(start..self.len().min(start + FINE_ZONE)))
    }
}

/// Encoding stops at an error of the values, or of `drain`. The caller that passed them has the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

/// [`Values`] of any type.
pub(super) trait Source {
    fn len(&self) -> usize;

    /// The values of `range`, at most 2^14 of them.
    fn read(&mut self, range: Range<usize>) -> Result<Slice<'_>, Stopped>;
}

/// Values, with a buffer to read them into and the first error of that.
pub(super) struct AnyValues<'v, V: Values + ?Sized> {
    values: &'v V,
    buffer: Vec<V::Number>,
    pub(super) error: Option<V::Error>,
}

impl<'v, V: Values + ?Sized> AnyValues<'v, V> {
    pub(super) fn new(values: &'v V) -> AnyValues<'v, V> {
        AnyValues { values, buffer: Vec::new(), error: None }
    }
}

impl<V: Values + ?Sized> Source for AnyValues<'_, V> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn read(&mut self, range: Range<usize>) -> Result<Slice<'_>, Stopped> {
        match self.values.read(range, &mut self.buffer) {
            Ok(values) => Ok(V::Number::slice(values)),
            Err(error) => {
                self.error = Some(error);
                Err(Stopped)
            }
        }
    }
}

impl Number for i64 {
    fn slice(values: &[i64]) -> Slice<'_> {
        Slice::Long(values)
    }
}

impl Number for u32 {
    fn slice(values: &[u32]) -> Slice<'_> {
        Slice::Short(values)
    }
}
