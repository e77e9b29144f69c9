//! Top-k and sorting of documents by several columns.
//!
//! | key on | compared by |
//! | --- | --- |
//! | numeric, sorted | the number, the ord |
//! | sorted-numeric, sorted-set | the least value in ascending order, the greatest in descending order, as in Lucene |
//! | binary | the bytes |
//!
//! Of doubles, −0.0 equals 0.0, and NaN comes after all numbers in either direction. Documents without a value come
//! last, or first if the key says so. Documents that are equal by all keys are ordered by their ids, so the order is
//! total.
//!
//! # Skipping
//!
//! Once `top` documents are collected, only documents whose first key is better than the last of them are
//! competitive. The first key's column filters for these, 65,536 documents at a time. Zone maps therefore exclude
//! most documents, and the rest are compared in bulk without being decoded to memory. In a set with few documents,
//! skip indexes exclude documents one group at a time. If the source is sorted by the keys, only the first documents
//! are visited (as in LUCENE-8059).
//!
//! Parts with the best bounds are visited first, and a part whose bounds are not competitive is not visited at all.
//!
//! To skip documents from the beginning, a search first computes a lower bound for the k-th best key: from the zone
//! with the column's best value, or from an estimate over all zones. See `lower_bound.rs`. If there is none, as among
//! few documents, it chooses one from the first values that it reads.

mod after;
mod items;
mod key;
mod lower_bound;
mod merge_parts;
mod radix;
mod rank_scale;
mod read_keys;
mod runs;
mod sort_all;
mod sort_value;
mod top_docs;
mod top_k;

use std::collections::HashMap;

use docvalues_column::{DocAddress, DocId, SortKey};

use crate::engine::{DocList, Docs, DocsByPart, Elements, Pass, PassPart, Request, Search, len_u32, memory};
use crate::error::{Error, Result};
pub use after::SortCursor;
use key::Key;
pub(crate) use key::{Entry, Keys};
pub(crate) use read_keys::read_keys;
pub(crate) use sort_value::SortValue;
pub(crate) use top_docs::TopDocs;
pub use top_k::TopProfile;
pub(crate) use top_k::{TopKCollector, TopKQueue};

impl Search<'_> {
    /// Returns the first `top` documents of `docs` in the order of `keys`. Ties are ordered by document id; so are
    /// all documents if there are no keys.
    ///
    /// O(documents) at worst, O(top) if the source is sorted by `keys`; see [the module](self). Each thread keeps
    /// about 70 bytes for each of its top documents. If that exceeds [`Search::memory`], fewer threads run, or all
    /// documents are sorted.
    ///
    /// # Errors
    ///
    /// When there is no such column, a column is named twice, or bytes of it are damaged;
    /// [`Error::Memory`](crate::Error::Memory) when there is no memory for either.
    #[doc(alias = "TopDocs")]
    #[doc(alias = "TopFieldCollector")]
    pub fn top<'d>(
        &self,
        docs: impl Into<DocsByPart<'d>>,
        keys: &[SortKey],
        top: usize,
    ) -> Result<Vec<DocAddress>> {
        Ok(self.top_explained(docs, keys, top)?.0)
    }

    /// As [`top`](Self::top). Also returns the number of documents visited and the pruning statistics, at no extra
    /// cost.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top).
    pub fn top_explained<'d>(
        &self,
        docs: impl Into<DocsByPart<'d>>,
        keys: &[SortKey],
        top: usize,
    ) -> Result<(Vec<DocAddress>, TopProfile)> {
        let mut request = Request::open(self, docs.into())?;
        let opened = Keys::open(&mut request, keys)?;
        if top == 0 {
            return Ok((Vec::new(), TopProfile::default()));
        }
        let hits = usize::try_from(request.hits()).unwrap_or(usize::MAX);
        let top = top.min(hits);
        memory::limit(top.saturating_mul(size_of::<DocAddress>()), request.memory())?;
        let different = opened.different(request.columns());
        let lies_in_order = |part: &usize| lie_in_order(self, *part, (keys, &opened), &different);
        let parts = || 0..request.parts();
        // Without keys, and in a single sorted part, the first documents are the first by address.
        let is_address_order = different.as_slice().is_empty();
        if is_address_order || parts().all(|part| part == 0 && lies_in_order(&part)) {
            return Ok((first(&request, top)?, TopProfile::default()));
        }
        let most = request.memory() / top.saturating_mul(different.bytes()).max(1);
        let all = hits.saturating_mul(FULL_SORT_BYTES);
        let are_most = top > MIN_FULL_SORT && top >= hits / 32 && all <= request.memory();
        if most == 0 || are_most {
            memory::limit(all, request.memory())?;
            let sorted = merge_parts::sort(&request, &different)?;
            let profile = TopProfile { visited: sorted.len() as u64, ..TopProfile::default() };
            return Ok((sorted.into_iter().take(top).collect(), profile));
        }
        // Of a part in order, only the first documents can be among the first.
        let few = parts().filter(lies_in_order).map(|part| Ok((part, first_of(&request, part, top)?)));
        let few = few.collect::<Result<HashMap<usize, Vec<DocId>>>>()?;
        let pass_part = |part| match few.get(&part) {
            Some(few) => PassPart { docs: Docs::List(DocList(few)), ..request.pass_part(part) },
            None => request.pass_part(part),
        };
        let parts: Vec<PassPart<'_>> = best_first(&request, &different).into_iter().map(pass_part).collect();
        find_top(&request, different, (top, most), &parts, None)
    }

    /// Returns all of `docs` in the order of `keys`, for example to export them. O(documents · log documents), with 20
    /// bytes of memory for each document.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top); [`Error::Value`](crate::Error::Value) if a value lies outside of its column's bounds;
    /// [`Error::Memory`](crate::Error::Memory) if memory runs out or [`Search::memory`] allows less.
    pub fn sorted<'d>(&self, docs: impl Into<DocsByPart<'d>>, keys: &[SortKey]) -> Result<Vec<DocAddress>> {
        let mut request = Request::open(self, docs.into())?;
        let opened = Keys::open(&mut request, keys)?;
        let hits = usize::try_from(request.hits()).unwrap_or(usize::MAX);
        let in_order =
            request.parts() <= 1 && lie_in_order(self, 0, (keys, &opened), &opened) || keys.is_empty();
        let each = if in_order { size_of::<DocAddress>() } else { FULL_SORT_BYTES };
        memory::limit(hits.saturating_mul(each), self.docs_memory())?;
        if in_order {
            return first(&request, hits);
        }
        merge_parts::sort(&request, &opened)
    }

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
        find_top(&request, keys, (top, request.memory() / bytes.max(1)), &parts, Some(&after))
    }
}

/// The first `top` documents of `parts`, in this order, of those that do not come before `after`.
fn find_top(
    request: &Request<'_>,
    keys: Keys,
    (top, max_threads): (usize, usize),
    parts: &[PassPart<'_>],
    after: Option<&Entry>,
) -> Result<(Vec<DocAddress>, TopProfile)> {
    let run = |last| {
        let queue = TopDocs::bounded(top, last).after(after);
        let collector = TopKCollector::new(keys.clone(), queue).max_threads(max_threads);
        let (within, threads) = (Pass::EVERYWHERE, request.threads());
        let pass = Pass { parts, within, threads, stop: request.stop() };
        Ok::<_, Error>(pass.run(collector)?.finish())
    };
    let (last, visited) = match parts.first() {
        Some(best) => lower_bound::from_best_zone(request, best, &keys, top, after)?,
        None => (None, 0),
    };
    let mut before = TopProfile { visited, ..TopProfile::default() };
    // An estimate does not know how many documents come before `after`.
    let guess = match (parts, after) {
        ([only], None) => lower_bound::estimate(only, &keys, top)?,
        _ => None,
    };
    // If enough documents are at least as good as the estimate, the first are among them.
    if let Some(guess) = guess.filter(|guess| last.as_ref().is_none_or(|last| guess < last)) {
        let (found, profile) = run(Some(guess))?;
        before += profile;
        let found = found.finish(request)?;
        if found.len() == top {
            return Ok((found, before));
        }
    }
    let (found, profile) = run(last)?;
    before += profile;
    Ok((found.finish(request)?, before))
}

/// The parts with documents of the request, those with the best values of the first key first.
fn best_first(request: &Request<'_>, keys: &Keys) -> Vec<usize> {
    let mut parts: Vec<usize> = (0..request.parts()).filter(|part| request.hits_of(*part) > 0).collect();
    if let Some(key) = keys.as_slice().first().filter(|_| parts.len() > 1)
        && request.columns().get(key.slot).elements() == Elements::Numbers
    {
        parts.sort_by_cached_key(|part| key.best(&request.column_of(*part, key.slot).info().bounds.range()));
    }
    parts
}

/// From this many top documents, if they are at least a 32nd of all, sorting all documents is used: it takes as long
/// as a heap of a 50th of them for numbers, of a 20th for byte strings.
const MIN_FULL_SORT: usize = 1 << 14;

/// Bytes per document that a sort of all documents takes.
const FULL_SORT_BYTES: usize = size_of::<DocId>() + 2 * size_of::<u64>();

/// The first documents by address.
fn first(request: &Request<'_>, top: usize) -> Result<Vec<DocAddress>> {
    let mut found = memory::with_capacity(top)?;
    for part in 0..request.parts() {
        let number = len_u32(part);
        let docs = first_of(request, part, top - found.len())?;
        found.extend(docs.into_iter().map(|doc| DocAddress { part: number, doc }));
    }
    Ok(found)
}

/// The first documents of a part.
fn first_of(request: &Request<'_>, part: usize, top: usize) -> Result<Vec<DocId>> {
    let PassPart { total, docs, .. } = request.pass_part(part);
    if top >= docs.count(total) as usize {
        return docs.try_to_vec(total, request.stop());
    }
    let (mut found, mut pace) = (memory::with_capacity(top)?, request.stop().pace());
    for doc in docs.iter(total).take(top) {
        pace.step()?;
        found.push(doc);
    }
    Ok(found)
}

/// Whether a part is sorted by the keys, or by those of them that are different. `asked` are the keys as the caller
/// named them.
fn lie_in_order(
    search: &Search<'_>,
    part: usize,
    (asked, keys): (&[SortKey], &Keys),
    different: &Keys,
) -> bool {
    // An index sort orders doubles by their bits, where −0.0 and 0.0 differ.
    let is_exact = |keys: &Keys| !keys.as_slice().iter().any(Key::is_of_doubles);
    let sort = search.parts.get(part).map_or(&[][..], |part| part.source.sort());
    let is_sorted_by = |some: &Keys| {
        let is_one = |key: &Key| some.as_slice().iter().any(|one| one.slot == key.slot);
        let of_some =
            asked.iter().zip(keys.as_slice()).filter(|(_, key)| is_one(key)).map(|(asked, _)| asked);
        sort.iter().take(some.as_slice().len()).eq(of_some)
    };
    [keys, different].into_iter().any(|keys| is_exact(keys) && is_sorted_by(keys))
}

/// Rejects a column that occurs twice; the second would have no effect.
fn check(keys: &[SortKey]) -> Result<()> {
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|other| other.column == key.column) {
            return Err(Error::Request(format!("column \"{}\" occurs twice in the sort keys", key.column)));
        }
    }
    Ok(())
}
