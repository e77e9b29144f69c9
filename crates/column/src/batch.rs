//! Several rows at once: the batches of a scan, and the documents of a gather.

use std::ops::Range;

use docvalues_format::id::DocId;

use crate::DocRange;
use crate::lists::Slices;

/// A batch of a scan: some documents of a column, and their rows.
///
/// # Examples
///
/// A callback that adds up numbers, and counts the documents that have any:
///
/// ```
/// use std::ops::ControlFlow;
///
/// use docvalues_column::{Batch, BatchDocs, DocRange, Slices, View};
///
/// let (mut docs, mut sum) = (0, 0);
/// let mut each = |batch: Batch<'_, i64>| {
///     docs += batch.docs.len();
///     sum += batch.values.items().iter().sum::<i64>(); // of one value a row, and of lists
///     ControlFlow::<()>::Continue(())
/// };
/// // Documents 3 and 4 have a value each; document 9 has two.
/// let _ = each(Batch { docs: BatchDocs::Run(DocRange::new(3, 5)), values: View::One(&[10, 20]) });
/// let list = [docvalues_column::DocId::new(9)];
/// let _ = each(Batch { docs: BatchDocs::List(&list), values: View::Many(Slices::new(&[0, 2], &[1, 2])) });
/// assert_eq!((docs, sum), (3, 33));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// The documents, ascending. Each has a value.
    pub docs: BatchDocs<'a>,
    /// Their rows, in the same order.
    pub values: View<'a, T>,
}

/// Several rows, borrowed: one value each, or a list each.
///
/// ```
/// use docvalues_column::{Slices, View};
///
/// let single = View::One(&[7, 9]);
/// let lists = View::Many(Slices::new(&[0, 2, 2], &[7, 9])); // the second row is empty
/// assert_eq!((single.row(1), lists.row(0), lists.row(1)), (&[9][..], &[7, 9][..], &[][..]));
/// assert_eq!(single.items(), lists.items());
/// ```
#[derive(Clone, Copy, Debug)]
pub enum View<'a, T> {
    /// One value a row.
    One(&'a [T]),
    /// A list of values a row, or a byte string.
    Many(Slices<'a, T>),
}

impl<'a, T> View<'a, T> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            View::One(values) => values.len(),
            View::Many(lists) => lists.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `i`.
    ///
    /// # Panics
    ///
    /// If there is no row `i`.
    pub fn row(&self, i: usize) -> &'a [T] {
        match self {
            View::One(values) => &values[i..=i],
            View::Many(lists) => lists.get(i),
        }
    }

    /// The rows of a range of indices.
    ///
    /// # Panics
    ///
    /// If the range is out of bounds.
    pub fn part(&self, places: Range<usize>) -> View<'a, T> {
        match self {
            View::One(values) => View::One(&values[places]),
            View::Many(lists) => View::Many(lists.part(places)),
        }
    }

    /// The elements of all rows, concatenated.
    pub fn items(&self) -> &'a [T] {
        match self {
            View::One(values) => values,
            View::Many(lists) => lists.items(),
        }
    }

    /// The values, if each row has one.
    pub fn one(self) -> Option<&'a [T]> {
        if let View::One(values) = self { Some(values) } else { None }
    }

    /// The lists, if the rows are lists.
    pub fn many(self) -> Option<Slices<'a, T>> {
        if let View::Many(lists) = self { Some(lists) } else { None }
    }
}

/// The documents of a gather or of a batch: a range or a list.
///
/// A run is cheaper to read than a list: values are decoded as a block, without positions.
///
/// ```
/// use docvalues_column::{BatchDocs, DocId, DocRange};
///
/// let run = BatchDocs::from(DocRange::new(5, 8));
/// let list = [7, 5, 7].map(DocId::new);
/// assert_eq!(run.len(), BatchDocs::List(&list).len());
/// assert!(run.iter().map(DocId::get).eq([5, 6, 7]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchDocs<'a> {
    /// Consecutive documents.
    Run(DocRange),
    /// A list of documents. In a gather, in any order and with repeats.
    List(&'a [DocId]),
}

impl<'a> From<&'a [DocId]> for BatchDocs<'a> {
    fn from(docs: &'a [DocId]) -> BatchDocs<'a> {
        BatchDocs::List(docs)
    }
}

impl From<DocRange> for BatchDocs<'_> {
    fn from(docs: DocRange) -> Self {
        BatchDocs::Run(docs)
    }
}

impl BatchDocs<'_> {
    /// The number of documents.
    pub fn len(&self) -> usize {
        match self {
            BatchDocs::Run(docs) => docs.len(),
            BatchDocs::List(docs) => docs.len(),
        }
    }

    /// Whether there are no documents. A scan has no empty batches.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the documents.
    pub fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        let (run, list) = match *self {
            BatchDocs::Run(docs) => (docs, [].as_slice()),
            BatchDocs::List(docs) => (DocRange::default(), docs),
        };
        run.iter().chain(list.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_and_a_list_name_documents() {
        let run = BatchDocs::Run(DocRange::new(3, 5));
        assert_eq!(run.iter().map(DocId::get).collect::<Vec<_>>(), [3, 4]);
        let docs = [DocId::new(1), DocId::new(9)];
        assert_eq!(BatchDocs::List(&docs).iter().collect::<Vec<_>>(), docs);
    }
}
