//! Some documents and their values, column by column and row by row.

use docvalues_column::{DocId, Kind, Slices, bits};

use super::chunk_buffer::ChunkBuffer;
use super::dedup::NOWHERE;

/// Some documents in the order in which they were asked for, and the values that some columns have for them.
///
/// An engine takes it [column](Self::column) by column, a person [row](Self::row) by row. Of byte strings and of lists
/// each different one is there once, however many rows have it: rows say which.
#[derive(Debug, Default)]
pub struct Chunk {
    pub(super) docs: Vec<DocId>,
    pub(super) columns: Vec<ChunkBuffer>,
}

/// A column of a [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub enum ChunkColumn<'a> {
    /// Of a numeric column.
    Numbers(Numbers<'a>),
    /// Of a binary or sorted column.
    Strings(Strings<'a>),
    /// Of a sorted-numeric column.
    NumberLists(NumberLists<'a>),
    /// Of a sorted-set column.
    StringLists(StringLists<'a>),
}

/// At most one number a row.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    /// A stored number for each row: its column's logical type says what it means. Unspecified where there is none.
    pub values: &'a [i64],
    /// A bit for each row that has a number; nothing if all have.
    pub present: Option<&'a [u64]>,
}

/// At most one byte string a row.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    places: &'a [u32],
    strings: Slices<'a, u8>,
}

/// Any number of numbers a row.
#[derive(Clone, Copy, Debug)]
pub struct NumberLists<'a> {
    places: &'a [u32],
    lists: Slices<'a, i64>,
}

/// A set of terms a row.
#[derive(Clone, Copy, Debug)]
pub struct StringLists<'a> {
    places: &'a [u32],
    lists: Slices<'a, u32>,
    terms: Slices<'a, u8>,
}

/// A row of a [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    chunk: &'a Chunk,
    at: usize,
}

/// What a row has in a column, as it is stored.
#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// Nothing.
    Missing,
    /// A number.
    Number(i64),
    /// A byte string.
    Bytes(&'a [u8]),
    /// Numbers, ascending, one at least.
    Numbers(&'a [i64]),
    /// DocTerms, ascending, one at least.
    Terms(DocTerms<'a>),
}

/// The terms of a row.
#[derive(Clone, Debug)]
pub struct DocTerms<'a> {
    numbers: std::slice::Iter<'a, u32>,
    terms: Slices<'a, u8>,
}

impl Chunk {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The document of each row.
    pub fn docs(&self) -> &[DocId] {
        &self.docs
    }

    /// Takes these documents in place of those before; their values are to be read.
    pub(crate) fn ask(&mut self, docs: &[DocId]) {
        self.docs.clear();
        self.docs.extend_from_slice(docs);
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Column `i` of those that were asked for.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn column(&self, i: usize) -> ChunkColumn<'_> {
        let filled = &self.columns[i];
        match filled.kind() {
            Kind::Numeric => ChunkColumn::Numbers(filled.numbers()),
            Kind::Binary | Kind::Sorted => {
                let (places, strings) = filled.strings();
                ChunkColumn::Strings(Strings { places, strings })
            }
            Kind::SortedNumeric => {
                let (places, lists) = filled.number_lists();
                ChunkColumn::NumberLists(NumberLists { places, lists })
            }
            Kind::SortedSet => {
                let (places, lists, terms) = filled.string_lists();
                ChunkColumn::StringLists(StringLists { places, lists, terms })
            }
        }
    }

    /// Row `at`.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[inline]
    pub fn row(&self, at: usize) -> Row<'_> {
        assert!(at < self.len(), "row {at} of {}", self.len());
        Row { chunk: self, at }
    }

    /// All rows, in the order in which their documents were asked for.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|at| self.row(at))
    }
}

impl<'a> ChunkColumn<'a> {
    /// What row `at` has.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[inline]
    pub fn get(&self, at: usize) -> Cell<'a> {
        match self {
            ChunkColumn::Numbers(column) => column.get(at).map_or(Cell::Missing, Cell::Number),
            ChunkColumn::Strings(column) => column.get(at).map_or(Cell::Missing, Cell::Bytes),
            ChunkColumn::NumberLists(column) => match column.get(at) {
                [] => Cell::Missing,
                numbers => Cell::Numbers(numbers),
            },
            ChunkColumn::StringLists(column) => match column.get(at) {
                terms if terms.len() == 0 => Cell::Missing,
                terms => Cell::Terms(terms),
            },
        }
    }
}

impl Numbers<'_> {
    /// The number of row `at`.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[inline]
    pub fn get(&self, at: usize) -> Option<i64> {
        let value = self.values[at];
        self.present.is_none_or(|present| bits::get(present, at)).then_some(value)
    }
}

impl<'a> Strings<'a> {
    /// The byte string of row `at`.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&'a [u8]> {
        self.place(at).map(|place| self.strings.get(place))
    }

    /// Where in [`strings`](Self::strings) that of row `at` is.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[inline]
    pub fn place(&self, at: usize) -> Option<usize> {
        let place = self.places[at];
        (place != NOWHERE).then_some(place as usize)
    }

    /// The byte strings of all rows, in no order that means anything: of a sorted column each different one, of a binary
    /// one that of each different document.
    pub fn strings(&self) -> Slices<'a, u8> {
        self.strings
    }
}

impl<'a> NumberLists<'a> {
    /// The numbers of row `at`, ascending: none if it has none.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[inline]
    pub fn get(&self, at: usize) -> &'a [i64] {
        match self.places[at] {
            NOWHERE => &[],
            place => self.lists.get(place as usize),
        }
    }
}

impl<'a> StringLists<'a> {
    /// The terms of row `at`, ascending: none if it has none.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[inline]
    pub fn get(&self, at: usize) -> DocTerms<'a> {
        DocTerms { numbers: self.places(at).iter(), terms: self.terms }
    }

    /// Where in [`strings`](Self::strings) the terms of row `at` are, ascending.
    ///
    /// # Panics
    ///
    /// If there are not so many rows.
    #[inline]
    pub fn places(&self, at: usize) -> &'a [u32] {
        match self.places[at] {
            NOWHERE => &[],
            place => self.lists.get(place as usize),
        }
    }

    /// The different terms of all rows, ascending.
    pub fn strings(&self) -> Slices<'a, u8> {
        self.terms
    }
}

impl<'a> Row<'a> {
    /// The document.
    pub fn doc(&self) -> DocId {
        self.chunk.docs[self.at]
    }

    /// What it has in column `i` of those that were asked for.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[inline]
    pub fn value(&self, i: usize) -> Cell<'a> {
        self.chunk.column(i).get(self.at)
    }

    /// What it has in each column.
    pub fn values(&self) -> impl ExactSizeIterator<Item = Cell<'a>> + use<'a> {
        let row = *self;
        (0..row.chunk.width()).map(move |i| row.value(i))
    }
}

impl<'a> Iterator for DocTerms<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.numbers.next().map(|number| self.terms.get(*number as usize))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl ExactSizeIterator for DocTerms<'_> {}
