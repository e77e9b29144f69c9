//! Chunks: the values of some documents, by column and by row.

use std::sync::Arc;

use docvalues_column::{DocAddress, Field, Slices};

use super::chunk_buffer::ChunkBuffer;
use super::from_value::FromValue;
use crate::engine::Numbers;
use crate::engine::dedup::NOWHERE;
use crate::error::{Error, Result};

/// Some documents in the requested order, and their values in some columns.
///
/// Read it [by column](Self::column) in an engine, or [by row](Self::row) for display. Byte strings and lists are
/// stored once, however many rows have them; each row has the position of its own.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// # let term = |text: &str| Some(text.as_bytes().to_vec());
/// # let host = Field::new("host", Kind::Sorted, LogicalType::Utf8);
/// # let hosts = ModelColumn::Sorted(vec![term("b.example"), term("a.example"), term("b.example"), None]);
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let sizes = ModelColumn::Numeric(vec![Some(512), Some(9), Some(70), Some(1_500)]);
/// # let source = MemSource::new(4, [(host, hosts), (size, sizes)]);
/// use docvalues_column::DocId;
/// use docvalues_search::Search;
/// use docvalues_search::export::ChunkColumn;
///
/// let docs = [2, 3, 0].map(DocId::new);
/// let mut export = Search::new(&source).export(docs.as_slice(), &["host", "size"])?;
/// let chunk = export.next_chunk()?.expect("three rows");
/// let (ChunkColumn::Strings(hosts), ChunkColumn::Numbers(sizes)) = (chunk.column(0), chunk.column(1)) else {
///     panic!("a sorted and a numeric column");
/// };
/// assert_eq!(sizes.values, [70, 1_500, 512]);
/// assert_eq!((hosts.get(0), hosts.get(1)), (Some(&b"b.example"[..]), None));
/// assert_eq!(hosts.place(0), hosts.place(2)); // the same string, stored once
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Chunk {
    pub(crate) docs: Vec<DocAddress>,
    pub(super) columns: Vec<ChunkBuffer>,
    /// The field of each column.
    pub(super) fields: Arc<[Field]>,
}

/// A column of a [`Chunk`]: [`Chunk::column`].
#[derive(Clone, Copy, Debug)]
pub enum ChunkColumn<'a> {
    /// A numeric column.
    Numbers(Numbers<'a>),
    /// A binary or sorted column.
    Strings(Strings<'a>),
    /// A sorted-numeric column.
    NumberLists(NumberLists<'a>),
    /// A sorted-set column.
    StringLists(StringLists<'a>),
}

/// The values of a binary or sorted column in a [`Chunk`]: at most one byte string a row.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    pub(super) places: &'a [u32],
    pub(super) strings: Slices<'a, u8>,
}

/// The values of a sorted-numeric column in a [`Chunk`]: any number of numbers a row.
#[derive(Clone, Copy, Debug)]
pub struct NumberLists<'a> {
    pub(super) places: &'a [u32],
    pub(super) lists: Slices<'a, i64>,
}

/// The values of a sorted-set column in a [`Chunk`]: a set of terms a row.
#[derive(Clone, Copy, Debug)]
pub struct StringLists<'a> {
    /// The position of each row's list.
    pub(super) places: &'a [u32],
    /// Lists of positions of terms.
    pub(super) lists: Slices<'a, u32>,
    pub(super) terms: Slices<'a, u8>,
}

/// A row of a [`Chunk`]: [`Chunk::rows`]. [`Row::get`] reads its values as Rust types.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    chunk: &'a Chunk,
    at: usize,
}

/// The stored value of a row in a column: [`Row::value`], [`ChunkColumn::get`].
#[derive(Clone, Debug)]
pub enum Cell<'a> {
    /// No value.
    Missing,
    /// A number.
    Number(i64),
    /// A byte string.
    Bytes(&'a [u8]),
    /// Numbers, ascending, at least one.
    Numbers(&'a [i64]),
    /// Terms, ascending, at least one.
    Terms(DocTerms<'a>),
}

/// An iterator over the terms of a row, ascending: [`Cell::Terms`].
#[derive(Clone, Debug)]
pub struct DocTerms<'a> {
    numbers: std::slice::Iter<'a, u32>,
    terms: Slices<'a, u8>,
}

impl Chunk {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The document of each row.
    pub fn docs(&self) -> &[DocAddress] {
        &self.docs
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The field of each column, in the order of the request.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Column `i` of the request.
    ///
    /// # Panics
    ///
    /// If there are not that many columns.
    pub fn column(&self, i: usize) -> ChunkColumn<'_> {
        self.columns[i].column()
    }

    /// Row `at`.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
    #[inline]
    pub fn row(&self, at: usize) -> Row<'_> {
        assert!(at < self.len(), "row {at} of {}", self.len());
        Row { chunk: self, at }
    }

    /// All rows, in the requested order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|at| self.row(at))
    }
}

impl<'a> ChunkColumn<'a> {
    /// The value of row `at`.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
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

impl<'a> Strings<'a> {
    /// The byte string of row `at`.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&'a [u8]> {
        self.place(at).map(|place| self.strings.get(place))
    }

    /// The position in [`strings`](Self::strings) of the byte string of row `at`.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
    #[inline]
    pub fn place(&self, at: usize) -> Option<usize> {
        let place = self.places[at];
        (place != NOWHERE).then_some(place as usize)
    }

    /// The byte strings of all rows, in no particular order: each different one that a part has of a sorted column,
    /// one for each different document of a binary column.
    pub fn strings(&self) -> Slices<'a, u8> {
        self.strings
    }
}

impl<'a> NumberLists<'a> {
    /// The numbers of row `at`, ascending; empty if it has no value.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
    #[inline]
    pub fn get(&self, at: usize) -> &'a [i64] {
        match self.places[at] {
            NOWHERE => &[],
            place => self.lists.get(place as usize),
        }
    }
}

impl<'a> StringLists<'a> {
    /// The terms of row `at`, ascending; empty if it has no value.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
    #[inline]
    pub fn get(&self, at: usize) -> DocTerms<'a> {
        DocTerms { numbers: self.places(at).iter(), terms: self.terms }
    }

    /// The positions in [`strings`](Self::strings) of the terms of row `at`, ascending.
    ///
    /// # Panics
    ///
    /// If there are not that many rows.
    #[inline]
    pub fn places(&self, at: usize) -> &'a [u32] {
        match self.places[at] {
            NOWHERE => &[],
            place => self.lists.get(place as usize),
        }
    }

    /// The different terms of all rows, ascending within each part.
    pub fn strings(&self) -> Slices<'a, u8> {
        self.terms
    }
}

impl<'a> Row<'a> {
    /// The document.
    pub fn doc(&self) -> DocAddress {
        self.chunk.docs[self.at]
    }

    /// The value in column `i` of the request.
    ///
    /// # Panics
    ///
    /// If there are not that many columns.
    #[inline]
    pub fn value(&self, i: usize) -> Cell<'a> {
        self.chunk.column(i).get(self.at)
    }

    /// The value in column `i` of the request, as a Rust type: see [`FromValue`]. O(1), but O(values) into a `Vec`.
    ///
    /// # Errors
    ///
    /// [`Error::Convert`] if the type does not hold exactly this value; a missing value needs an `Option` or a `Vec`.
    ///
    /// # Panics
    ///
    /// If there are not that many columns.
    #[inline]
    pub fn get<T: FromValue<'a>>(&self, i: usize) -> Result<T> {
        let field = &self.chunk.fields[i];
        T::from_value(field.logical, self.value(i)).map_err(|why| {
            let DocAddress { part, doc } = self.doc();
            Error::Convert { field: field.name.clone(), part, doc: doc.get(), why }
        })
    }

    /// The value in each column.
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
