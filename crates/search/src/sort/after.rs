//! Pages: the documents that follow a position in a sort order.

use docvalues_column::{DocAddress, DocId, SortKey, Value};

use super::key::{Entry, Keys};
use super::lower_bound::from_best_zone;
use super::sort_value::SortValue;
use super::top_k::{TopDocs, TopKCollector, TopProfile};
use super::{best_first, read_keys};
use crate::engine::{DocsByPart, Pass, PassPart, Request, Search, memory};
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
    fn entry(&self, request: &Request<'_>, keys: &Keys) -> Result<Entry> {
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

impl Search<'_> {
    /// The position of a document in the order of `keys`, to find the next page.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top).
    pub fn sort_cursor(&self, keys: &[SortKey], address: DocAddress) -> Result<SortCursor> {
        let mut request = Request::open(self, DocsByPart::All)?;
        let opened = Keys::open(&mut request, keys)?;
        let entries = read_keys(&request, &opened, &[address])?;
        let values = entries.iter().flat_map(|entry| &entry.values).zip(keys.iter().zip(opened.as_slice()));
        let typed =
            values.map(|(value, (key, of))| value.typed(key, &request.columns().get(of.slot).info().field));
        Ok(SortCursor::new(typed).at(address))
    }

    /// Returns the first `top` documents of `docs` that follow `last` in the order of `keys`: the next page of
    /// [`top`](Self::top). Skips documents on both sides of the page by the first key's zones.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top), or if `last` has other values than `keys`: more, fewer, or of other types.
    pub fn top_after<'d>(
        &self,
        docs: impl Into<DocsByPart<'d>>,
        keys: &[SortKey],
        last: &SortCursor,
        top: usize,
    ) -> Result<Vec<DocAddress>> {
        Ok(self.top_after_explained(docs.into(), keys, last, top)?.0)
    }

    /// As [`top_after`](Self::top_after), and [`top_explained`](Self::top_explained).
    pub(crate) fn top_after_explained(
        &self,
        docs: DocsByPart<'_>,
        keys: &[SortKey],
        last: &SortCursor,
        top: usize,
    ) -> Result<(Vec<DocAddress>, TopProfile)> {
        let mut request = Request::open(self, docs)?;
        let keys = Keys::open(&mut request, keys)?;
        let top = top.min(usize::try_from(request.hits()).unwrap_or(usize::MAX));
        if top == 0 {
            return Ok((Vec::new(), TopProfile::default()));
        }
        let bytes = top.saturating_mul(keys.bytes());
        memory::limit(bytes, request.memory())?;
        let after = last.entry(&request, &keys)?;
        let parts = best_first(&request, &keys).into_iter().map(|part| request.pass_part(part));
        let parts: Vec<PassPart<'_>> = parts.collect();
        let (bound, visited) = match parts.first() {
            Some(best) => from_best_zone(&request, best, &keys, top, Some(&after))?,
            None => (None, 0),
        };
        let queue = TopDocs::bounded(top, bound).after(Some(&after));
        let collector = TopKCollector::new(keys, queue).max_threads(request.memory() / bytes.max(1));
        let (within, threads) = (Pass::EVERYWHERE, request.threads());
        let pass = Pass { parts: &parts, within, threads, stop: request.stop() };
        let (found, mut profile) = pass.run(collector)?.finish();
        profile.visited += visited;
        Ok((found.finish(&request)?, profile))
    }
}
