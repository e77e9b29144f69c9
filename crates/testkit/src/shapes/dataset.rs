//! The columns of a whole segment.

use std::ops::Range;

use docvalues_column::Field;

use super::Shape;
use crate::model::{MemSource, ModelColumn};

/// What a whole segment holds: some columns over the same documents.
///
/// A test of a writer feeds it in, document by document through
/// [`ModelColumn::cell`] or in batches through [`ModelColumn::flat`], opens what was written, and hands
/// that and [`source`](Self::source) to the conformance suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// How many documents there are.
    pub docs: u32,
    /// The columns, in the order in which a writer is told of them: not by name.
    pub columns: Vec<(Field, ModelColumn)>,
}

impl Dataset {
    /// A column of each shape, named by its place and what it holds.
    ///
    /// # Panics
    ///
    /// If a shape is of another number of documents.
    pub fn of_shapes(docs: u32, shapes: impl IntoIterator<Item = Shape>) -> Dataset {
        let column = |(i, shape): (usize, Shape)| {
            assert_eq!(shape.docs, docs, "{shape:?}");
            // Backwards, so that the order of names is not that of columns.
            let name = format!("{:02} {:?} {:?}", 99_usize.saturating_sub(i), shape.presence, shape.values);
            (shape.field(format!("{name} {i}")), shape.column())
        };
        Dataset { docs, columns: shapes.into_iter().enumerate().map(column).collect() }
    }

    /// The same columns, opened: what a segment written from this must answer.
    pub fn source(&self) -> MemSource {
        MemSource::new(self.docs, self.columns.iter().cloned())
    }

    /// All documents in stretches of `size`, the last one shorter.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    pub fn batches(&self, size: u32) -> impl Iterator<Item = Range<u32>> + use<> {
        let docs = self.docs;
        (0..docs).step_by(size as usize).map(move |start| start..docs.min(start.saturating_add(size)))
    }
}
