//! A position in a sort order, which a page of documents follows.

use docvalues_column::{DocAddress, DocId, Value};

use super::key::{Entry, Keys};
use super::sort_value::SortValue;
use crate::engine::Request;
#[cfg(doc)]
use crate::engine::Search;
use crate::error::{Error, Result};

/// A position in a sort order: a value for each key, and optionally the document that has them.
///
/// With a document, documents with equal values follow in the order of their addresses; the position is then valid
/// until addresses change. Without one, documents with equal values do not follow: add a unique key, such as the id,
/// and the position stays valid after merges. [`Search::sort_cursor`] returns one with a document;
/// `SortCursor::new(cursor.values().to_vec())` has its values alone.
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let sizes = ModelColumn::Numeric(vec![Some(512), Some(9), Some(70), None]);
/// # let source = MemSource::new(4, [(size, sizes)]);
/// use docvalues_column::SortKey;
/// use docvalues_search::sort::SortCursor;
/// use docvalues_search::{Docs, Search, SearchRequest};
///
/// // Sizes: 512, 9, 70, none.
/// let (search, keys) = (Search::new(&source), [SortKey::of("size")]);
/// let first = search.top(Docs::All, &keys, 2)?;
/// let last = search.sort_cursor(&keys, first[1])?;
/// let next = search.top_after(Docs::All, &keys, &last, 2)?;
/// assert_eq!(next.iter().map(|next| next.doc.get()).collect::<Vec<_>>(), [0, 3]);
///
/// let last = SortCursor::new([Some(70_i64.into())]);
/// let answer = search.request(&SearchRequest::new().sort(keys).top(2).after(last))?;
/// assert_eq!(answer.top, next);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SortCursor {
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::values"))]
    values: Vec<Option<Value>>,
    address: Option<(u32, u32)>,
}

impl SortCursor {
    /// The position after all documents with these values, each of the type of its key's column; `None` for no value.
    pub fn new(values: impl IntoIterator<Item = Option<Value>>) -> SortCursor {
        SortCursor { values: values.into_iter().collect(), address: None }
    }

    /// The position of this document among those with equal values.
    #[must_use]
    pub fn at(self, address: DocAddress) -> SortCursor {
        SortCursor { address: Some((address.part, address.doc.get())), ..self }
    }

    /// The value by each key; `None` for no value.
    pub fn values(&self) -> &[Option<Value>] {
        &self.values
    }

    /// The first entry that may follow.
    pub(super) fn entry(&self, request: &Request<'_>, keys: &Keys) -> Result<Entry> {
        let (found, expected) = (self.values.len(), keys.as_slice().len());
        if found != expected {
            return Err(Error::Request(format!("expected a position of {expected} values, found {found}")));
        }
        let places = keys.as_slice().iter().zip(&self.values);
        let places = places.map(|(key, value)| key.place(request.column_of(0, key.slot), value.as_ref()));
        let places: Vec<(SortValue, bool)> = places.collect::<Result<_>>()?;
        let exact = places.iter().take_while(|(_, is_exact)| *is_exact).count();
        let (part, doc) = self.address.unwrap_or((u32::MAX, u32::MAX));
        let mut entry = Entry {
            values: places.into_iter().map(|(place, _)| place).collect(),
            address: DocAddress { part, doc: DocId::new(doc.saturating_add(1)) },
        };
        if exact < expected {
            // The term is not in the part: all documents with the next one follow.
            entry.values.truncate(exact + 1);
            entry.values.resize(expected, SortValue::First);
            entry.address = DocAddress { part: 0, doc: DocId::new(0) };
        }
        Ok(entry)
    }
}
