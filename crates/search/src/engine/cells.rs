//! The values of a window in one column, as collectors see them.

use docvalues_column::{Slices, TermOrd, bits};

use super::value::NO_ORD;

/// The values of a window in one column, as collectors see them.
pub(crate) enum Cells<'a> {
    Numbers(Numbers<'a>),
    NumberLists(Slices<'a, i64>),
    /// [`NO_ORD`] for documents without a value.
    Ords(&'a [TermOrd]),
    OrdLists(Slices<'a, TermOrd>),
    Bytes(Strings<'a>),
}

/// The values of a numeric column in a [`Chunk`](crate::export::Chunk): at most one number a row, which is a document.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    /// A stored number for each row, 0 for rows without a value. The column's logical type gives it its meaning.
    pub values: &'a [i64],
    /// A bit for each row that has a number; `None` if all have one.
    pub present: Option<&'a [u64]>,
}

/// One byte string per document.
#[derive(Clone, Copy)]
pub(crate) struct Strings<'a> {
    /// One entry per document.
    pub(crate) values: Slices<'a, u8>,
    /// A bit for each document with a value; `None` if all have one.
    pub(super) present: Option<&'a [u64]>,
}

impl Numbers<'_> {
    /// The number of row `at`.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
    #[inline]
    pub fn get(&self, at: usize) -> Option<i64> {
        let value = self.values[at];
        self.present.is_none_or(|bits| bits::get(bits, at)).then_some(value)
    }

    /// Calls `each` with the position and the number of each document that has one.
    #[inline]
    pub(crate) fn each(&self, mut each: impl FnMut(usize, i64)) {
        match self.present {
            None => self.values.iter().enumerate().for_each(|(at, &value)| each(at, value)),
            Some(present) => bits::ones(present).for_each(|at| each(at, self.values[at])),
        }
    }
}

impl Cells<'_> {
    /// The number of documents without a value.
    pub(crate) fn missing(&self) -> u64 {
        let missing = match self {
            Cells::Numbers(numbers) => {
                numbers.present.map_or(0, |bits| numbers.values.len() - bits::count(bits))
            }
            Cells::Bytes(strings) => {
                strings.present.map_or(0, |bits| strings.values.len() - bits::count(bits))
            }
            Cells::Ords(ords) => ords.iter().filter(|ord| **ord == NO_ORD).count(),
            Cells::NumberLists(lists) => lists.lens().filter(|len| *len == 0).count(),
            Cells::OrdLists(lists) => lists.lens().filter(|len| *len == 0).count(),
        };
        missing as u64
    }

    /// Calls `each` with every number of each document, or ord as a number. Byte strings are left out.
    #[inline]
    pub(crate) fn each_number(&self, mut each: impl FnMut(i64)) {
        match self {
            Cells::Numbers(numbers) => numbers.each(|_, number| each(number)),
            Cells::NumberLists(lists) => lists.items().iter().for_each(|number| each(*number)),
            Cells::Ords(_) => self.each_different(|_, number| number.into_iter().for_each(&mut each)),
            Cells::OrdLists(lists) => lists.items().iter().for_each(|ord| each(ord.get().into())),
            Cells::Bytes(_) => {}
        }
    }

    /// Calls `each` with the position of each document and every different number that it has, or ord as a number; with
    /// `None` if it has none. Byte strings are left out.
    #[inline]
    pub(crate) fn each_different(&self, mut each: impl FnMut(usize, Option<i64>)) {
        match self {
            Cells::Numbers(numbers) => (0..numbers.values.len()).for_each(|at| each(at, numbers.get(at))),
            Cells::Ords(ords) => {
                let number = |ord: TermOrd| (ord != NO_ORD).then(|| i64::from(ord.get()));
                ords.iter().enumerate().for_each(|(at, ord)| each(at, number(*ord)));
            }
            Cells::NumberLists(lists) => each_of_lists(lists, |number| number, each),
            Cells::OrdLists(lists) => each_of_lists(lists, |ord| ord.get().into(), each),
            Cells::Bytes(_) => {}
        }
    }
}

/// [`Cells::each_different`] of lists, which ascend.
#[inline]
fn each_of_lists<T: Copy + PartialEq>(
    lists: &Slices<'_, T>,
    number: impl Fn(T) -> i64,
    mut each: impl FnMut(usize, Option<i64>),
) {
    for (at, list) in lists.iter().enumerate() {
        if list.is_empty() {
            each(at, None);
        }
        list.chunk_by(|a, b| a == b).for_each(|same| each(at, Some(number(same[0]))));
    }
}

impl<'a> Strings<'a> {
    /// The byte string of document `at` of the window.
    pub(crate) fn get(&self, at: usize) -> Option<&'a [u8]> {
        self.present.is_none_or(|bits| bits::get(bits, at)).then(|| self.values.get(at))
    }

    /// The byte strings, in order; `None` for documents without one.
    pub(crate) fn iter(self) -> impl Iterator<Item = Option<&'a [u8]>> {
        (0..self.values.len()).map(move |at| self.get(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "index out of bounds")]
    fn a_row_past_the_last_one_panics_without_its_bit_too() {
        let _ = Numbers { values: &[7], present: Some(&[1]) }.get(1);
    }
}
