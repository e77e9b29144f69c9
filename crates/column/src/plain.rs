//! [`PlainColumns`]: documents in memory, column by column, not encoded.
//!
//! They are what a store keeps of documents until it writes a segment: values can be appended, read in any order, and
//! copied as slices.
//!
//! ```text
//! at most one value    values    a slot for each document; 0 or an empty string without a value
//!                      present   a bit for each document; none if all have a value
//! several values       values    those of all documents, end to end
//!                      lists     where the values of each document begin, and where the last ones end
//! ```

use docvalues_format::file::kind::Kind;

use crate::bits;
use crate::lists::Lists;

mod columns;
mod open;

pub use columns::PlainColumns;
pub use open::PlainSource;

/// The values of one field for some documents, in stored form.
///
/// ```
/// use docvalues_column::{Kind, Lists, PlainColumn, PlainValues};
///
/// let sizes = PlainValues::Numbers(vec![7, 0, 512]);
/// let mut column = PlainColumn::new(3, sizes, Some(vec![0b101]), None).unwrap();
/// assert_eq!((column.numbers(0), column.numbers(1)), ([7].as_slice(), [].as_slice()));
/// column.append_absent(2);
/// assert_eq!((column.docs(), column.has_value(4)), (5, false));
///
/// let (one_too_few, all) = (vec![7, 512], None);
/// assert!(PlainColumn::new(3, PlainValues::Numbers(one_too_few), all, None).is_none());
/// assert_eq!(PlainColumn::of_kind(Kind::SortedSet).docs(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainColumn {
    docs: u32,
    present: Option<Vec<u64>>,
    lists: Option<Vec<u64>>,
    values: PlainValues,
}

/// The values of a [`PlainColumn`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainValues {
    /// Stored numbers.
    Numbers(Vec<i64>),
    /// Byte strings; terms of a dictionary, too, are kept as they are.
    Strings(Lists<u8>),
}

impl PlainValues {
    fn len(&self) -> usize {
        match self {
            PlainValues::Numbers(numbers) => numbers.len(),
            PlainValues::Strings(strings) => strings.len(),
        }
    }

    fn append(&mut self, other: &PlainValues) {
        match (self, other) {
            (PlainValues::Numbers(all), PlainValues::Numbers(more)) => all.extend_from_slice(more),
            (PlainValues::Strings(all), PlainValues::Strings(more)) => all.extend_from(more.slices()),
            _ => debug_assert!(false, "numbers and strings in one column"),
        }
    }

    fn append_empty(&mut self, count: usize) {
        match self {
            PlainValues::Numbers(numbers) => numbers.resize(numbers.len() + count, 0),
            PlainValues::Strings(strings) => (0..count).for_each(|_| strings.push(&[])),
        }
    }

    fn shrink_to_fit(&mut self) {
        match self {
            PlainValues::Numbers(numbers) => numbers.shrink_to_fit(),
            PlainValues::Strings(strings) => strings.shrink_to_fit(),
        }
    }

    fn heap(&self) -> usize {
        match self {
            PlainValues::Numbers(numbers) => size_of_val(&numbers[..]),
            PlainValues::Strings(strings) => {
                strings.slices().items().len() + strings.len() * size_of::<u64>()
            }
        }
    }
}

impl PlainColumn {
    /// A column without documents.
    pub fn of_kind(kind: Kind) -> PlainColumn {
        let values = match kind {
            Kind::Numeric | Kind::SortedNumeric => PlainValues::Numbers(Vec::new()),
            Kind::Binary | Kind::Sorted | Kind::SortedSet => PlainValues::Strings(Lists::new()),
        };
        PlainColumn { docs: 0, present: None, lists: kind.is_multi_valued().then(|| vec![0]), values }
    }

    /// A column of `docs` documents: `present` tells which have a value if not all have, `lists` has the offsets of
    /// their values if they may have several. `None` if the lengths contradict each other. O(docs).
    pub fn new(
        docs: u32,
        values: PlainValues,
        present: Option<Vec<u64>>,
        lists: Option<Vec<u64>>,
    ) -> Option<PlainColumn> {
        let count = docs as usize;
        let fits = match (&present, &lists) {
            (Some(_), Some(_)) => false,
            (None, None) => values.len() == count,
            (Some(words), None) => {
                let unused = words.last().map_or(0, |last| last.checked_shr(docs % 64).unwrap_or(0));
                let no_bit_behind = docs.is_multiple_of(64) || unused == 0;
                values.len() == count && words.len() == count.div_ceil(64) && no_bit_behind
            }
            (None, Some(lists)) => {
                let ends = (lists.first() == Some(&0), lists.last() == Some(&(values.len() as u64)));
                lists.len() == count + 1 && ends == (true, true) && lists.is_sorted()
            }
        };
        fits.then_some(PlainColumn { docs, present, lists, values })
    }

    /// A column of the same kind, without documents.
    fn without_docs(&self) -> PlainColumn {
        let values = match &self.values {
            PlainValues::Numbers(_) => PlainValues::Numbers(Vec::new()),
            PlainValues::Strings(_) => PlainValues::Strings(Lists::new()),
        };
        PlainColumn { docs: 0, present: None, lists: self.lists.as_ref().map(|_| vec![0]), values }
    }

    /// The number of documents.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// The values of all documents. Without lists, those without a value have a slot, too.
    pub fn values(&self) -> &PlainValues {
        &self.values
    }

    /// The documents with a value, as a bitset; `None` if all have one, or if there are lists.
    pub fn present(&self) -> Option<&[u64]> {
        self.present.as_deref()
    }

    /// The offsets of the documents' values, if they may have several.
    pub fn lists(&self) -> Option<&[u64]> {
        self.lists.as_deref()
    }

    /// Whether the document has a value. Documents past the last one have none.
    #[inline]
    pub fn has_value(&self, doc: u32) -> bool {
        match (&self.lists, &self.present) {
            _ if doc >= self.docs => false,
            (Some(_), _) => !self.places(doc).is_empty(),
            (None, Some(present)) => bits::get(present, doc as usize),
            (None, None) => true,
        }
    }

    /// The numbers of the document; none if these are strings.
    #[inline]
    pub fn numbers(&self, doc: u32) -> &[i64] {
        match &self.values {
            PlainValues::Numbers(numbers) if self.has_value(doc) => &numbers[self.places(doc)],
            _ => &[],
        }
    }

    /// The first byte string of the document, if it has one.
    #[inline]
    pub fn string(&self, doc: u32) -> Option<&[u8]> {
        match &self.values {
            PlainValues::Strings(strings) if self.has_value(doc) => Some(strings.get(self.places(doc).start)),
            _ => None,
        }
    }

    /// The byte strings of the document; none if these are numbers.
    pub fn strings(&self, doc: u32) -> impl Iterator<Item = &[u8]> {
        let places = match &self.values {
            PlainValues::Strings(_) if self.has_value(doc) => self.places(doc),
            _ => 0..0,
        };
        places.filter_map(|at| match &self.values {
            PlainValues::Strings(strings) => Some(strings.get(at)),
            PlainValues::Numbers(_) => None,
        })
    }

    /// The places of the document's values.
    #[inline]
    fn places(&self, doc: u32) -> std::ops::Range<usize> {
        let doc = doc as usize;
        match &self.lists {
            // As many as there are values, which are in memory.
            Some(lists) => {
                let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
                at(lists[doc])..at(lists[doc + 1])
            }
            None => doc..doc + 1,
        }
    }

    /// Appends the documents of a column of the same kind. O(its values).
    pub fn append(&mut self, other: &PlainColumn) {
        if let (Some(lists), Some(more)) = (&mut self.lists, &other.lists) {
            let before = self.values.len() as u64;
            lists.extend(more[1..].iter().map(|end| before + end));
        } else if self.present.is_some() || other.present.is_some() {
            let (docs, added) = (self.docs as usize, other.docs as usize);
            let present = self.all_bits(docs + added);
            match &other.present {
                None => bits::set_range(present, docs..docs + added),
                Some(more) => bits::ones(more).for_each(|at| bits::set(present, docs + at)),
            }
        }
        self.values.append(&other.values);
        self.docs += other.docs;
    }

    /// Appends a document with these numbers, of which there is at most one unless there are lists.
    ///
    /// # Panics
    ///
    /// If this is a column of strings.
    pub fn push_numbers(&mut self, row: &[i64]) {
        let PlainValues::Numbers(numbers) = &mut self.values else {
            panic!("numbers in a column of strings")
        };
        numbers.extend_from_slice(row);
        self.end_row(row.is_empty());
    }

    /// As [`push_numbers`](Self::push_numbers), with byte strings.
    ///
    /// # Panics
    ///
    /// If this is a column of numbers.
    pub fn push_strings<'v>(&mut self, row: impl IntoIterator<Item = &'v [u8]>) {
        let PlainValues::Strings(strings) = &mut self.values else {
            panic!("strings in a column of numbers")
        };
        let before = strings.len();
        row.into_iter().for_each(|string| strings.push(string));
        let is_empty = strings.len() == before;
        self.end_row(is_empty);
    }

    /// Appends a document of a column of the same kind.
    pub fn push_row(&mut self, from: &PlainColumn, doc: u32) {
        match &from.values {
            PlainValues::Numbers(_) => self.push_numbers(from.numbers(doc)),
            PlainValues::Strings(_) => self.push_strings(from.strings(doc)),
        }
    }

    /// Counts a document, whose values were appended.
    fn end_row(&mut self, is_empty: bool) {
        let doc = self.docs as usize;
        match (&mut self.lists, &mut self.present) {
            (Some(lists), _) => lists.push(self.values.len() as u64),
            (None, _) if is_empty => return self.append_absent(1),
            (None, Some(present)) => {
                present.resize((doc + 1).div_ceil(64), 0);
                bits::set(present, doc);
            }
            (None, None) => {}
        }
        self.docs += 1;
        debug_assert!(self.lists.is_some() || self.values.len() == doc + 1, "several values of a document");
    }

    /// Appends `docs` documents without a value.
    pub fn append_absent(&mut self, docs: u32) {
        let (before, added) = (self.docs as usize, docs as usize);
        if added == 0 {
            return;
        }
        if let Some(lists) = &mut self.lists {
            lists.resize(lists.len() + added, self.values.len() as u64);
        } else {
            self.all_bits(before + added);
            self.values.append_empty(added);
        }
        self.docs += docs;
    }

    /// The bits of the documents with a value, with room for `docs`.
    fn all_bits(&mut self, docs: usize) -> &mut Vec<u64> {
        let before = self.docs as usize;
        let present = self.present.get_or_insert_with(|| {
            let mut all = vec![0; before.div_ceil(64)];
            bits::set_range(&mut all, 0..before);
            all
        });
        present.resize(docs.div_ceil(64), 0);
        present
    }

    /// The size in memory, in bytes, without spare capacity.
    pub fn heap(&self) -> usize {
        let words = self.present.iter().chain(&self.lists).map(|words| size_of_val(&words[..]));
        words.sum::<usize>() + self.values.heap()
    }
}
