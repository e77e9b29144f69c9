//! Partial top documents.

use docvalues_column::{DocAddress, SortKey, Value};

use super::check_same;
use super::column::PartialColumn;
use super::keyed::{KeyedDoc, all_parts, merge_docs, shifted};
use crate::engine::{DocsByPart, Request, Search, len_u32};
use crate::error::Result;
use crate::sort::{Keys, read_keys};

/// The first documents of some parts in an order, with the values of their sort keys. See [the module](super).
///
/// It takes about 60 bytes a document, and 32 for each sort key; terms count in addition.
///
/// # Examples
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType, Part};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// use docvalues_column::{DocAddress, DocId, SortKey};
/// use docvalues_search::{Docs, Parts, Search};
///
/// # let of = |sizes: &[i64]| {
/// #     let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// #     let sizes: Vec<_> = sizes.iter().copied().map(Some).collect();
/// #     Parts::new([Part::new(MemSource::new(sizes.len() as u32, [(field, ModelColumn::Numeric(sizes))]))])
/// # };
/// # let (here, there) = (of(&[7, 8]), of(&[9, 8]));
/// // The sizes are 7 and 8 here, 9 and 8 there.
/// let keys = [SortKey::of("size").descending()];
/// let here = Search::over(&here).partial_top(Docs::All, &keys, 2)?;
/// let there = Search::over(&there).partial_top(Docs::All, &keys, 2)?;
/// let top = here.merge(there)?;
/// assert_eq!(top.entries().next().unwrap().1, [Some(9_i64.into())]);
/// // Document 0 of the second part, then document 1 of the first, which has as large a size as one of the second.
/// assert_eq!(top.finish(), [(1, 0), (0, 1)].map(|(part, doc)| DocAddress { part, doc: DocId::new(doc) }));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(remote = "Self"))]
pub struct PartialTop {
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::sort_keys"))]
    keys: Vec<SortKey>,
    top: usize,
    columns: Vec<PartialColumn>,
    parts: u32,
    docs: Vec<KeyedDoc>,
}

impl PartialTop {
    /// [`Search::partial_top`].
    pub(super) fn of(
        search: &Search<'_>,
        docs: DocsByPart<'_>,
        keys: &[SortKey],
        top: usize,
    ) -> Result<PartialTop> {
        let found = search.top(docs, keys, top)?;
        let columns =
            keys.iter().map(|key| PartialColumn::open(search, &key.column)).collect::<Result<_>>()?;
        let mut request = Request::open(search, docs)?;
        let opened = Keys::open(&mut request, keys)?;
        let docs = read_keys(&request, &opened, &found)?.into_iter().map(KeyedDoc::from).collect();
        Ok(PartialTop { keys: keys.to_vec(), top, columns, parts: len_u32(request.parts()), docs })
    }

    /// The first documents of both. O(top).
    ///
    /// # Errors
    ///
    /// If the requests differ, the kinds or types of a column, or there are more parts than a `u32` counts.
    pub fn merge(self, other: PartialTop) -> Result<PartialTop> {
        let column = self.name().to_owned();
        check_same(&column, &(&self.keys, self.top), &(&other.keys, other.top))?;
        let columns = PartialColumn::merge_all(self.columns, other.columns)?;
        let parts = all_parts(&column, self.parts, other.parts)?;
        let docs = merge_docs(self.docs, shifted(other.docs, self.parts), self.top);
        Ok(PartialTop { columns, parts, docs, ..self })
    }

    /// The documents with the value of each sort key, in order. `None` for a document without a value; of several
    /// values, the one that the document is sorted by; 0.0 for −0.0.
    pub fn entries(&self) -> impl Iterator<Item = (DocAddress, Vec<Option<Value>>)> + '_ {
        self.docs.iter().map(|doc| (doc.address, doc.typed_values(&self.keys, &self.columns)))
    }

    /// The documents, in order.
    pub fn finish(self) -> Vec<DocAddress> {
        self.docs.into_iter().map(|doc| doc.address).collect()
    }

    /// The first sort key's column, for errors.
    fn name(&self) -> &str {
        self.keys.first().map_or("", |key| &key.column)
    }

    #[cfg(feature = "serde")]
    pub(super) fn check(&self) -> Result<()> {
        let PartialTop { keys, top, columns, parts, docs } = self;
        super::check(self.name(), columns.len() == keys.len(), "a column for each sort key")?;
        let fit = docs.iter().all(|doc| doc.fits(keys, columns, *parts));
        super::check(self.name(), fit, "values of the sort keys")?;
        let are_first = docs.len() <= *top && docs.is_sorted_by(|a, b| a < b);
        super::check(self.name(), are_first, "the first documents in order")
    }
}
