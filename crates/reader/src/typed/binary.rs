//! Typed columns of byte strings: [`Binary`].

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, DocId, DocRange, Filter, GatherRows, Gathered, Kind, Lists, Result, Rows, Slices,
};

use super::{filter, presence_marker};
use crate::binary_column::BinaryColumn;
use crate::segment::{OpenColumn, Segment};

/// A column with at most one byte string per document, opened by [`Segment::binary`].
///
/// It corresponds to Lucene's `BinaryDocValues`. Values are not deduplicated and have no skip index: use [`Sorted`] for
/// terms that repeat or are filtered by.
///
/// [`Sorted`]: crate::Sorted
///
/// # Complexity
///
/// With jump tables, [`get`](Binary::get) is O(1), and borrows from the file if values are not compressed.
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// # let mut schema = Schema::new();
/// # let url = schema.add(FieldSpec::new("url", LogicalType::Utf8).kind(docvalues::BytesKind::Binary))?;
/// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// # for value in ["/a", "/b/c"] {
/// #     let mut doc = writer.document();
/// #     doc.str(url, value)?;
/// #     doc.finish()?;
/// # }
/// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
/// let urls = segment.binary("url")?;
/// let mut buffer = Vec::new();
/// assert_eq!(urls.get(DocId::new(1), &mut buffer)?, Some(&b"/b/c"[..]));
///
/// let mut bytes = 0;
/// for doc in 0..segment.docs() {
///     bytes += urls.get(DocId::new(doc), &mut buffer)?.map_or(0, <[u8]>::len);
/// }
/// assert_eq!(bytes, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "BinaryDocValues")]
#[doc(alias = "BytesColumn")]
pub struct Binary {
    pub(crate) column: Arc<BinaryColumn>,
}

impl Segment {
    /// Opens the binary column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), except for `WrongType`.
    #[doc(alias = "getBinaryDocValues")]
    pub fn binary(&self, name: &str) -> Result<Binary> {
        match self.opened(name)? {
            OpenColumn::Binary(column) => Ok(Binary { column }),
            other => self.wrong_kind(name, other.kind(), Kind::Binary),
        }
    }
}

impl Binary {
    /// The value of `doc`; `None` if it has none or is past the last document.
    ///
    /// The value borrows from the column, or from `buffer` if it has to be decoded.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    #[doc(alias = "binaryValue")]
    #[doc(alias = "advanceExact")]
    pub fn get<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        self.column.read(doc, buffer)
    }

    /// Replaces the contents of `out` by the values of `docs`, in any order and with repeats.
    ///
    /// Bit `i` of `present` is set if `docs[i]` has a value. Otherwise the bit is cleared and the value is empty. Bits
    /// of the last word after the last document are cleared, too.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `present` has fewer than `docs.len().div_ceil(64)` words.
    pub fn gather(&self, docs: &[DocId], out: &mut Lists<u8>, present: &mut [u64]) -> Result<()> {
        out.clear();
        self.column.gather_list(docs, out, &[], presence_marker(docs, present))
    }

    /// Replaces the contents of `out` by the values of `docs`, in any order and with repeats, with `fill` for documents
    /// without a value.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    pub fn gather_or(&self, docs: &[DocId], out: &mut Lists<u8>, fill: &[u8]) -> Result<()> {
        out.clear();
        self.column.gather_list(docs, out, fill, |_, _| {})
    }

    /// Calls `each` with the values of the documents in `docs`, a batch at a time, in order, until it breaks.
    ///
    /// A batch has only documents with a value.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, Slices<'_, u8>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.column
            .scan(docs.into(), &mut |batch| each(batch.docs, batch.values.many().unwrap_or(Slices::none())))
    }

    /// A filter for the documents whose value is between `low` and `high`, compared byte by byte. It runs when a method
    /// of [`Filter`] is called, and reads every value: a binary column has no skip index.
    pub fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Filter<'_> {
        let wanted = (low.map(<[u8]>::to_vec), high.map(<[u8]>::to_vec));
        filter::<u8>(&*self.column, self.info().docs, wanted)
    }
}

impl GatherRows for Binary {
    type Rows = Gathered<u8>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<u8>) -> Result<()> {
        Rows::gather(&*self.column, BatchDocs::List(docs), rows)
    }
}
