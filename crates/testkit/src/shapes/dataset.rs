//! The columns of a whole segment.

use std::cmp::Ordering;
use std::ops::Range;

use docvalues_column::{Field, SortKey};

use super::Shape;
use crate::model::{Cell, MemSource, ModelColumn};

/// The contents of a segment: several columns over the same documents.
///
/// A test of a writer feeds it to the writer, document by document ([`ModelColumn::cell`]) or in batches
/// ([`ModelColumn::flat`]), opens the result, and passes it to the conformance suite with [`source`](Self::source).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// The number of documents.
    pub docs: u32,
    /// The columns, in the order in which they are declared to a writer: not by name.
    pub columns: Vec<(Field, ModelColumn)>,
}

impl Dataset {
    /// A column of each shape, named by its position and its values.
    ///
    /// # Panics
    ///
    /// If a shape has another number of documents.
    pub fn of_shapes(docs: u32, shapes: impl IntoIterator<Item = Shape>) -> Dataset {
        let column = |(i, shape): (usize, Shape)| {
            assert_eq!(shape.docs, docs, "{shape:?}");
            // Descending names, so that the order of names differs from that of columns.
            let name = format!("{:02} {:?} {:?}", 99_usize.saturating_sub(i), shape.presence, shape.values);
            (shape.field(format!("{name} {i}")), shape.column())
        };
        Dataset { docs, columns: shapes.into_iter().enumerate().map(column).collect() }
    }

    /// The model of a segment with these columns.
    pub fn source(&self) -> MemSource {
        MemSource::new(self.docs, self.columns.iter().cloned())
    }

    /// The documents cut into parts, of which part *i* begins at document `starts[i]`. A part lacks the columns in which
    /// none of its documents has a value, if it is one of every second part.
    ///
    /// # Panics
    ///
    /// If `starts` do not ascend from 0 to the number of documents at most.
    pub fn cut(&self, starts: &[u32]) -> Vec<Dataset> {
        assert_eq!(starts.first(), Some(&0), "the first part begins at document 0");
        let ends = starts[1..].iter().copied().chain([self.docs]);
        let part = |(at, (&start, end)): (usize, (&u32, u32))| {
            let own = |(field, column): &(Field, ModelColumn)| (field.clone(), column.slice(start, end));
            let is_kept = |(_, column): &(Field, ModelColumn)| at % 2 == 0 || column.has_values();
            Dataset { docs: end - start, columns: self.columns.iter().map(own).filter(is_kept).collect() }
        };
        starts.iter().zip(ends).enumerate().map(part).collect()
    }

    /// The same documents, in the order of an index sort by `keys`.
    ///
    /// # Panics
    ///
    /// If the column of a key does not exist, or is multi-valued.
    #[must_use]
    pub fn sorted(&self, keys: &[SortKey]) -> Dataset {
        let columns = keys.iter().map(|key| {
            let column = self.columns.iter().find(|(field, _)| field.name == key.column);
            (key, &column.unwrap_or_else(|| panic!("no column {key}")).1)
        });
        let columns: Vec<_> = columns.collect();
        let mut docs: Vec<u32> = (0..self.docs).collect();
        docs.sort_by(|&a, &b| {
            let orders = columns.iter().map(|(key, column)| compare(key, column.cell(a), column.cell(b)));
            orders.fold(Ordering::Equal, Ordering::then)
        });
        let moved = |(field, column): &(Field, ModelColumn)| {
            (field.clone(), column.pick(docs.iter().map(|&doc| Some(doc))))
        };
        Dataset { docs: self.docs, columns: self.columns.iter().map(moved).collect() }
    }

    /// Consecutive ranges of `size` documents; the last may be shorter.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn batches(&self, size: u32) -> impl Iterator<Item = Range<u32>> + use<> {
        let docs = self.docs;
        (0..docs).step_by(size as usize).map(move |start| start..docs.min(start.saturating_add(size)))
    }
}

/// Compares two documents by a key, given their values in its column.
fn compare(key: &SortKey, a: Cell<'_>, b: Cell<'_>) -> Ordering {
    let (a_missing, b_missing) = (a == Cell::Missing, b == Cell::Missing);
    let values = match (a, b) {
        (Cell::Number(a), Cell::Number(b)) => a.cmp(&b),
        (Cell::Bytes(a), Cell::Bytes(b)) => a.cmp(b),
        (Cell::Missing, _) | (_, Cell::Missing) => {
            let missing_last = a_missing.cmp(&b_missing);
            return if key.missing_first { missing_last.reverse() } else { missing_last };
        }
        _ => panic!("{key}: several values a document"),
    };
    if key.descending { values.reverse() } else { values }
}
