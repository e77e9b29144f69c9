//! Numbers that cells spell in several ways, such as 2.5 and 2.50. A column of numbers joins them; if they are versions or
//! prices, they differ.

use std::fmt;
use std::ops::Range;

use hashbrown::HashMap;

/// The most numbers that all columns remember, and the most of one column.
const MAX_NUMBERS: usize = 1 << 18;
const MAX_NUMBERS_OF_COLUMN: usize = 1 << 14;

/// The numbers that a column remembers as long as one text format prints all its cells as they are: then no two differ.
const SAMPLE: usize = 1 << 10;

/// The longest spelling that is remembered, in bytes.
const MAX_LEN: usize = 64;

/// The spellings of the first numbers of a column.
#[derive(Clone, Default)]
pub(crate) struct Spellings {
    /// The index in `numbers` of each stored number.
    indexes: HashMap<i64, usize>,
    numbers: Vec<Number>,
    /// The first spelling of each, one after the other.
    firsts: String,
    /// Whether some cells were not compared.
    is_partial: bool,
}

#[derive(Clone, Debug)]
struct Number {
    stored: i64,
    /// The number of cells.
    cells: u64,
    /// Its first spelling, in `firsts`.
    first: Range<usize>,
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

impl fmt::Debug for Spellings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spellings { indexes: _, numbers, firsts, is_partial } = self;
        let mut out = f.debug_struct("Spellings");
        out.field("numbers", numbers).field("firsts", firsts).field("is_partial", is_partial).finish()
    }
}

impl Spellings {
    /// Adds a cell. Of numbers after the first `most`, nothing is remembered; `is_alike` says that one text format prints all
    /// cells so far.
    pub(crate) fn add(&mut self, stored: i64, text: &str, most: usize, is_alike: bool) {
        if text.len() > MAX_LEN || self.is_enough(most, is_alike) {
            self.is_partial = true;
        } else {
            self.add_number(stored, 1, (text, None), most);
        }
    }

    /// Adds the cells of a later part of the column; `is_alike` says that one text format prints all cells so far, and these.
    pub(crate) fn absorb(&mut self, later: Spellings, most: usize, is_alike: bool) {
        self.is_partial |= later.is_partial;
        for Number { stored, cells, first, other } in later.numbers {
            if self.is_enough(most, is_alike) {
                self.is_partial = true;
                return;
            }
            self.add_number(stored, cells, (&later.firsts[first], other), most);
        }
    }

    /// Whether there are as many numbers as a column remembers whose cells are alike.
    fn is_enough(&self, most: usize, is_alike: bool) -> bool {
        is_alike && self.numbers.len() >= SAMPLE.min(most)
    }

    /// The joined cells, if there are any.
    pub(crate) fn joined(&self) -> Option<Joined<'_>> {
        let mut several = self.numbers.iter().filter_map(|number| Some((number, number.other.as_deref()?)));
        let (number, other) = several.next()?;
        let cells = number.cells + several.map(|(number, _)| number.cells).sum::<u64>();
        let first = &self.firsts[number.first.clone()];
        Some(Joined { first, other, cells, is_partial: self.is_partial })
    }

    /// Adds cells of a number with these spellings.
    fn add_number(&mut self, stored: i64, cells: u64, (first, other): (&str, Option<Box<str>>), most: usize) {
        if let Some(&index) = self.indexes.get(&stored) {
            let number = &mut self.numbers[index];
            number.cells += cells;
            if number.other.is_none() {
                let known = &self.firsts[number.first.clone()];
                number.other =
                    if known == first { other.filter(|other| **other != *known) } else { Some(first.into()) };
            }
        } else if self.numbers.len() < most {
            let start = self.firsts.len();
            self.firsts.push_str(first);
            self.numbers.push(Number { stored, cells, first: start..self.firsts.len(), other });
            self.indexes.insert(stored, self.numbers.len() - 1);
        } else {
            self.is_partial = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(cells: &[(i64, String)], most: usize) -> Spellings {
        let mut spellings = Spellings::default();
        cells.iter().for_each(|(stored, text)| spellings.add(*stored, text, most, false));
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

    /// As long as all cells are alike, a sample is enough; it is compared with all that come later.
    #[test]
    fn alike_cells_are_remembered_by_a_sample() {
        let mut spellings = Spellings::default();
        (0..5_000).for_each(|n| spellings.add(n, &format!("{n}.50"), 10_000, true));
        assert_eq!(spellings.numbers.len(), SAMPLE);
        spellings.absorb(of(&[(5_000, "5000.50".to_owned())], 10), 10_000, true);
        assert_eq!(spellings.numbers.len(), SAMPLE);
        spellings.add(7, "7.5", 10_000, false);
        let joined = spellings.joined().unwrap();
        assert_eq!((joined.first, joined.other, joined.is_partial), ("7.50", "7.5", true));
    }

    proptest! {
        #[test]
        fn parts_are_as_the_whole(cells in prop::collection::vec((0..5_i64, "[01]{1,2}"), 0..40), cut in 0..40_usize) {
            let (before, after) = cells.split_at(cut.min(cells.len()));
            let mut parts = of(before, 10);
            parts.absorb(of(after, 10), 10, false);
            let whole = of(&cells, 10);
            prop_assert_eq!(parts.joined(), whole.joined());
        }
    }
}
