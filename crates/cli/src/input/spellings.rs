//! Numbers that cells spell in several ways, such as 2.5 and 2.50. A column of numbers joins them; if they are versions or
//! prices, they differ.

use std::collections::BTreeMap;

/// The most numbers that all columns remember, and the most of one column.
const MAX_NUMBERS: usize = 1 << 18;
const MAX_NUMBERS_OF_COLUMN: usize = 1 << 14;

/// The longest spelling that is remembered, in bytes.
const MAX_LEN: usize = 64;

/// The spellings of the first numbers of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spellings {
    /// The index in `numbers` of each stored number.
    indexes: BTreeMap<i64, usize>,
    numbers: Vec<Number>,
    /// Whether some cells were not compared.
    is_partial: bool,
}

#[derive(Clone, Debug)]
struct Number {
    stored: i64,
    /// The number of cells.
    cells: u64,
    first: Box<str>,
    /// The first other spelling.
    other: Option<Box<str>>,
}

/// Cells that became one number although they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Joined<'s> {
    /// The spellings of the first number with two.
    pub(crate) first: &'s str,
    pub(crate) other: &'s str,
    /// The cells of all such numbers.
    pub(crate) cells: u64,
    /// Whether there may be more.
    pub(crate) is_partial: bool,
}

/// The most numbers to remember for each of `columns`.
pub(crate) fn most_numbers(columns: usize) -> usize {
    MAX_NUMBERS_OF_COLUMN.min(MAX_NUMBERS / columns.max(1))
}

impl Spellings {
    /// Adds a cell. Of numbers after the first `most`, nothing is remembered.
    pub(crate) fn add(&mut self, stored: i64, text: &str, most: usize) {
        if text.len() > MAX_LEN {
            self.is_partial = true;
        } else if let Some(number) = self.number(stored) {
            number.cells += 1;
            number.compare(text);
        } else {
            self.push(Number { stored, cells: 1, first: text.into(), other: None }, most);
        }
    }

    /// Adds the cells of a later part of the column.
    pub(crate) fn absorb(&mut self, later: Spellings, most: usize) {
        self.is_partial |= later.is_partial;
        for number in later.numbers {
            match self.number(number.stored) {
                Some(known) => {
                    known.cells += number.cells;
                    known.compare(&number.first);
                    number.other.iter().for_each(|other| known.compare(other));
                }
                None => self.push(number, most),
            }
        }
    }

    /// The joined cells, if there are any.
    pub(crate) fn joined(&self) -> Option<Joined<'_>> {
        let mut several = self.numbers.iter().filter_map(|number| Some((number, number.other.as_deref()?)));
        let (number, other) = several.next()?;
        let cells = number.cells + several.map(|(number, _)| number.cells).sum::<u64>();
        Some(Joined { first: &number.first, other, cells, is_partial: self.is_partial })
    }

    fn number(&mut self, stored: i64) -> Option<&mut Number> {
        self.indexes.get(&stored).and_then(|index| self.numbers.get_mut(*index))
    }

    fn push(&mut self, number: Number, most: usize) {
        if self.numbers.len() < most {
            self.indexes.insert(number.stored, self.numbers.len());
            self.numbers.push(number);
        } else {
            self.is_partial = true;
        }
    }
}

impl Number {
    fn compare(&mut self, text: &str) {
        if self.other.is_none() && *self.first != *text {
            self.other = Some(text.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(cells: &[(i64, String)], most: usize) -> Spellings {
        let mut spellings = Spellings::default();
        cells.iter().for_each(|(stored, text)| spellings.add(*stored, text, most));
        spellings
    }

    #[test]
    fn the_first_number_with_two_spellings_is_known() {
        let cells =
            [(2, "2"), (5, "5"), (5, "5."), (2, "2.0"), (5, "5"), (7, "7")].map(|(n, t)| (n, t.to_owned()));
        let joined = |most| of(&cells, most).joined().map(|joined| (joined.cells, joined.is_partial));
        assert_eq!(joined(10), Some((5, false)));
        assert_eq!(joined(1), Some((2, true)));
        let spellings = of(&cells, 10);
        let joined = spellings.joined().unwrap();
        assert_eq!((joined.first, joined.other), ("2", "2.0"));
        assert_eq!(of(&cells[..2], 10).joined(), None);
    }

    proptest! {
        #[test]
        fn parts_are_as_the_whole(cells in prop::collection::vec((0..5_i64, "[01]{1,2}"), 0..40), cut in 0..40_usize) {
            let (before, after) = cells.split_at(cut.min(cells.len()));
            let mut parts = of(before, 10);
            parts.absorb(of(after, 10), 10);
            let whole = of(&cells, 10);
            prop_assert_eq!(parts.joined(), whole.joined());
        }
    }
}
