//! Typed columns of terms: [`Sorted`] and [`SortedSet`], with ords into a dictionary.

use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, DocId, DocRange, Filter, GatherRows, Gathered, Kind, Lists, OrdRange, Result, Rows, Slices,
    TermOrd, Terms,
};

use super::{filter, presence_marker};
use crate::dictionary::Dictionary;
use crate::element::Stored;
use crate::numeric_column::NumericColumn;
use crate::segment::Segment;

/// A column with at most one term per document, opened by [`Segment::sorted`].
///
/// The distinct terms of the column are in a sorted dictionary, and documents have *ords*: positions in it. Ords
/// compare as their terms do, so code sorts, groups and filters by ords, and looks up the terms of its results. It
/// corresponds to Lucene's `SortedDocValues`.
///
/// # Complexity
///
/// With jump tables, [`ord`](Sorted::ord) is O(1). A term is O(1): one block of terms is decoded. `seek_exact` is O(log
/// terms).
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// # let mut schema = Schema::new();
/// # let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(docvalues::BytesKind::Sorted))?;
/// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// # for name in ["b.example", "a.example", "b.example"] {
/// #     let mut doc = writer.document();
/// #     doc.str(host, name)?;
/// #     doc.finish()?;
/// # }
/// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
/// let hosts = segment.sorted("host")?;
/// let ord = hosts.ord(DocId::new(0))?.ok_or("no host")?;
/// let mut term = Vec::new();
/// hosts.terms().term(ord, &mut term)?;
/// assert_eq!((ord.get(), term.as_slice()), (1, &b"b.example"[..]));
///
/// // Terms with a prefix are a range of ords.
/// let ords = hosts.terms().prefix(b"b.")?;
/// assert_eq!(hosts.range(ords).count()?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "SortedDocValues")]
#[doc(alias = "StrColumn")]
#[doc(alias = "keyword")]
#[doc(alias = "dictionary")]
#[derive(Clone, Debug)]
pub struct Sorted {
    pub(crate) column: Arc<NumericColumn>,
    terms: Arc<Dictionary>,
}

/// A column with a set of terms per document, opened by [`Segment::sorted_set`].
///
/// A document's terms are ascending ords into a dictionary, as in [`Sorted`]. It corresponds to Lucene's
/// `SortedSetDocValues`.
///
/// # Complexity
///
/// With jump tables, [`ords`](SortedSet::ords) is O(ords of the document). A term is O(1): one block of terms is
/// decoded. `seek_exact` is O(log terms).
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// # let mut schema = Schema::new();
/// # let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued())?;
/// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// # for names in [&["web", "rust"][..], &[], &["web"]] {
/// #     let mut doc = writer.document();
/// #     for name in names {
/// #         doc.str(tags, name)?;
/// #     }
/// #     doc.finish()?;
/// # }
/// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
/// let tags = segment.sorted_set("tags")?;
/// let mut ords = Vec::new();
/// tags.ords(DocId::new(0), &mut ords)?;
/// assert_eq!(ords, [0, 1].map(TermOrd::new)); // "rust", "web"
///
/// let web = tags.terms().seek_exact(b"web")?.ok_or("no such term")?;
/// assert_eq!(tags.range(OrdRange::one(web)).count()?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "SortedSetDocValues")]
#[doc(alias = "StrColumn")]
#[derive(Clone, Debug)]
pub struct SortedSet {
    pub(crate) column: Arc<NumericColumn>,
    terms: Arc<Dictionary>,
}

impl Segment {
    /// Opens the sorted column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), except for `WrongType`.
    #[doc(alias = "getSortedDocValues")]
    pub fn sorted(&self, name: &str) -> Result<Sorted> {
        let (column, terms) = self.ords(name, Kind::Sorted)?;
        Ok(Sorted { column, terms })
    }

    /// Opens the sorted-set column `name`.
    ///
    /// # Errors
    ///
    /// As [`numeric`](Self::numeric), except for `WrongType`.
    #[doc(alias = "getSortedSetDocValues")]
    pub fn sorted_set(&self, name: &str) -> Result<SortedSet> {
        let (column, terms) = self.ords(name, Kind::SortedSet)?;
        Ok(SortedSet { column, terms })
    }

    fn ords(&self, name: &str, kind: Kind) -> Result<(Arc<NumericColumn>, Arc<Dictionary>)> {
        let column = self.of_kind(name, kind)?;
        match column.terms.clone() {
            Some(terms) => Ok((column, terms)),
            None => self.wrong_kind(name, column.core.info.kind(), kind),
        }
    }
}

impl Sorted {
    /// The dictionary: terms by ord, and ords by term.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::Bound;
    ///
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(docvalues::BytesKind::Sorted))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in ["b.example", "a.example", "b.example"] {
    /// #     let mut doc = writer.document();
    /// #     doc.str(host, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let terms = segment.sorted("host")?;
    /// let terms = terms.terms();
    /// assert_eq!(terms.term_count(), 2);
    /// assert_eq!(terms.seek_exact(b"b.example")?, Some(TermOrd::new(1)));
    /// assert_eq!(terms.seek_ceil(b"aa")?, TermOrd::new(1)); // the first term that is not less
    /// assert_eq!(terms.term_range(Bound::Unbounded, Bound::Excluded(b"b"))?, OrdRange::new(0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "lookupOrd")]
    #[doc(alias = "lookupTerm")]
    #[doc(alias = "termsEnum")]
    #[doc(alias = "ord_to_str")]
    pub fn terms(&self) -> &dyn Terms {
        &*self.terms
    }

    /// The ord of the term of `doc`; `None` if it has none or is past the last document.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    // Always inlined: a call costs a quarter of a look-up.
    #[inline(always)]
    #[doc(alias = "ordValue")]
    #[doc(alias = "ordinal")]
    #[doc(alias = "advanceExact")]
    pub fn ord(&self, doc: DocId) -> Result<Option<TermOrd>> {
        let value = self.column.core.named(self.column.read(doc))?;
        Ok(value.map(TermOrd::of))
    }

    /// Reads the ords of `docs`, in any order and with repeats, into `out`.
    ///
    /// Bit `i` of `present` is set if `docs[i]` has a term. Otherwise the bit is cleared and `out[i]` is ord 0. Bits of
    /// the last word after the last document are cleared, too.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` and `docs` differ in length, or `present` has fewer than `docs.len().div_ceil(64)` words.
    pub fn gather(&self, docs: &[DocId], out: &mut [TermOrd], present: &mut [u64]) -> Result<()> {
        self.column.gather_list(docs, out, TermOrd::new(0), presence_marker(docs, present))
    }

    /// Reads the ords of `docs`, in any order and with repeats, into `out`, with `fill` for documents without a term.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `out` and `docs` differ in length.
    ///
    /// # Examples
    ///
    /// A count for each term, as a facet does it: ords index an array, and terms are looked up in the end.
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(docvalues::BytesKind::Sorted))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in ["b.example", "a.example", "b.example"] {
    /// #     let mut doc = writer.document();
    /// #     doc.str(host, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let hosts = segment.sorted("host")?;
    /// let docs = [0, 1, 2].map(DocId::new);
    /// let mut ords = [TermOrd::new(0); 3];
    /// hosts.gather_or(&docs, &mut ords, TermOrd::new(u32::MAX))?;
    ///
    /// let mut counts = vec![0; hosts.terms().term_count() as usize];
    /// for ord in ords.iter().filter(|ord| ord.get() != u32::MAX) {
    ///     counts[ord.get() as usize] += 1;
    /// }
    /// assert_eq!(counts, [1, 2]); // a.example, b.example
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_or(&self, docs: &[DocId], out: &mut [TermOrd], fill: TermOrd) -> Result<()> {
        self.column.gather_list(docs, out, fill, |_, _| {})
    }

    /// Calls `each` with the ords of the documents in `docs`, a batch at a time, in order, until it breaks.
    ///
    /// A batch has only documents with a term.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, &[TermOrd]) -> ControlFlow<()>,
    ) -> Result<()> {
        let scanned = self.column.scan_one::<TermOrd>(docs.into(), |batch| {
            each(batch.docs, batch.values.one().unwrap_or_default())
        });
        self.column.core.named(scanned)
    }

    /// A filter for the documents whose ord is in `ords`. It runs when a method of [`Filter`] is called.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(docvalues::BytesKind::Sorted))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for value in ["b.example", "a.example", "b.example"] {
    /// #     let mut doc = writer.document();
    /// #     doc.str(host, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let hosts = segment.sorted("host")?;
    /// let prefix = hosts.terms().prefix(b"a.")?; // O(log terms)
    /// assert_eq!(hosts.range(prefix).count()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn range(&self, ords: impl Into<OrdRange>) -> Filter<'_> {
        filter::<TermOrd>(&*self.column, self.info().docs, ords.into())
    }

    /// The range of documents whose ord is in `ords`, or `None` unless this column is the primary key of the
    /// [index sort](Segment::sort).
    ///
    /// Two binary searches: O(log documents).
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    pub fn doc_range(&self, ords: impl Into<OrdRange>) -> Result<Option<DocRange>> {
        self.column.doc_range(&TermOrd::wanted(&ords.into()))
    }
}

impl SortedSet {
    /// The dictionary: terms by ord, and ords by term.
    #[doc(alias = "lookupOrd")]
    #[doc(alias = "lookupTerm")]
    #[doc(alias = "termsEnum")]
    #[doc(alias = "ord_to_str")]
    pub fn terms(&self) -> &dyn Terms {
        &*self.terms
    }

    /// Replaces the contents of `out` by the ords of `doc`: nothing if it has none or is past the last document.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    #[doc(alias = "nextOrd")]
    #[doc(alias = "docValueCount")]
    #[doc(alias = "term_ords")]
    pub fn ords(&self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<()> {
        self.column.read_row(doc, out).map(drop)
    }

    /// Replaces the contents of `out` by one list of ords for each of `docs`, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    pub fn gather(&self, docs: &[DocId], out: &mut Lists<TermOrd>) -> Result<()> {
        self.column.gather_lists(docs, out)
    }

    /// Calls `each` with the ords of the documents in `docs`, a batch at a time, in order, until it breaks.
    ///
    /// A batch has only documents with a term.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    pub fn scan(
        &self,
        docs: impl Into<DocRange>,
        mut each: impl FnMut(BatchDocs<'_>, Slices<'_, TermOrd>) -> ControlFlow<()>,
    ) -> Result<()> {
        Rows::<TermOrd>::scan(&*self.column, docs.into(), &mut |batch| {
            each(batch.docs, batch.values.many().unwrap_or(Slices::none()))
        })
    }

    /// A filter for the documents with at least one ord in `ords`. It runs when a method of [`Filter`] is called.
    pub fn range(&self, ords: impl Into<OrdRange>) -> Filter<'_> {
        filter::<TermOrd>(&*self.column, self.info().docs, ords.into())
    }
}

impl GatherRows for Sorted {
    type Rows = Gathered<TermOrd>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Gathered<TermOrd>) -> Result<()> {
        Rows::gather(&*self.column, BatchDocs::List(docs), rows)
    }
}

impl GatherRows for SortedSet {
    type Rows = Lists<TermOrd>;

    fn gather_rows(&self, docs: &[DocId], rows: &mut Lists<TermOrd>) -> Result<()> {
        self.gather(docs, rows)
    }
}
