//! Handles to columns of byte strings.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, DocId, DocRange, Filter, GatherRows, Gathered, Kind, Lists, Pruning, Result, Rows, Slices,
};
use docvalues_format::binary::Scratch;

use super::presence_marker;
use crate::binary_column::BinaryColumn;
use crate::segment::{OpenColumn, Segment};

/// A column with at most one byte string a document; [`Segment::binary`] opens it.
///
/// # Complexity
///
/// `get`: O(1) with jump tables; without a copy where values are not compressed. Values compressed in blocks are read faster
/// by a [cursor](Binary::cursor) or [`gather`](Binary::gather), in order.
#[derive(Clone, Debug)]
pub struct Binary {
    pub(crate) column: Arc<BinaryColumn>,
}

/// Reads documents of a [`Binary`] column, and keeps the block of compressed values that it decoded for the next one.
#[derive(Clone, Debug)]
pub struct Cursor<'c> {
    column: &'c Binary,
    scratch: Scratch,
}

impl Segment {
    /// The binary column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), but for the type.
    pub fn binary(&self, name: &str) -> Result<Binary> {
        match self.of_kind(name, Kind::Binary)? {
            OpenColumn::Binary(column) => Ok(Binary { column }),
            other => self.wrong_kind(name, &other, Kind::Binary),
        }
    }
}

impl Binary {
    /// Reads documents one after the other: a block of compressed values is decoded once for all that follow in it.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor { column: self, scratch: Scratch::default() }
    }

    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// `buffer` is used where the value has to be decoded; the result borrows from it or from the column.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        self.column.read(doc, buffer)
    }

    /// Replaces `out` by the values of `docs`, in any order and with repeats. If a document has none, its bit in `present`
    /// is cleared and its value is empty. So are bits after the last document's in its word.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `present` has too few words for `docs`.
    pub fn gather(&self, docs: &[DocId], out: &mut Lists<u8>, present: &mut [u64]) -> Result<()> {
        out.clear();
        self.column.gather_list(docs, out, &[], presence_marker(docs, present))
    }

    /// Replaces `out` by the values of `docs`, in any order and with repeats, and `fill` for those that have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn gather_or(&self, docs: &[DocId], out: &mut Lists<u8>, fill: &[u8]) -> Result<()> {
        out.clear();
        self.column.gather_list(docs, out, fill, |_, _| {})
    }

    /// Hands the values of all documents in `docs` to `each`, a batch at a time, in order, until it breaks off.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, Slices<'_, u8>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.column
            .scan(docs.into(), &mut |batch| each(batch.docs, batch.values.many().unwrap_or(Slices::none())))
    }

    /// The documents whose value lies between `low` and `high`, byte by byte, as a filter yet to be run. It reads every
    /// value: a binary column has no skip index.
    pub fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Filter<'_> {
        let wanted = (low.map(<[u8]>::to_vec), high.map(<[u8]>::to_vec));
        Filter::new(DocRange::new(0, self.info().docs), move |docs, bits| {
            self.column.filter(docs, &wanted, bits, &mut Pruning::default())
        })
    }
}

impl GatherRows for Binary {
    type Rows = Gathered<u8>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<u8>) -> Result<()> {
        Rows::gather(&*self.column, BatchDocs::List(docs), rows)
    }
}

impl Cursor<'_> {
    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get(&mut self, doc: DocId) -> Result<Option<&[u8]>> {
        let Cursor { column, scratch } = self;
        let BinaryColumn { core, values } = &*column.column;
        match core.named(core.presence.rank(doc))? {
            Some(index) => {
                let value = values.get_next(index.get().into(), scratch);
                core.named(value).map(Some)
            }
            None => Ok(None),
        }
    }
}
