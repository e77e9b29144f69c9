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
//! To skip documents from the beginning, a search first computes a lower bound for the k-th best key: from the zone
//! with the column's best value, or from an estimate over all zones. See `lower_bound.rs`.

mod key;
mod lower_bound;
mod radix;
mod rank_scale;
mod short_runs;
mod sort_all;
mod top_k;

use docvalues_column::{DocAddress, DocId, LogicalType, SortKey};

use crate::error::{Error, Result};
use crate::search::Request;
use crate::{Docs, Search, memory};
pub(crate) use key::{Entry, Keys};
pub use top_k::TopProfile;
pub(crate) use top_k::{TopDocs, TopKCollector, TopKQueue};

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
    pub fn top(&self, docs: Docs<'_>, keys: &[SortKey], top: usize) -> Result<Vec<DocAddress>> {
        Ok(self.top_explained(docs, keys, top)?.0)
    }

    /// As [`top`](Self::top). Also returns the number of documents visited and the pruning statistics, at no extra
    /// cost.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top).
    pub fn top_explained(
        &self,
        docs: Docs<'_>,
        keys: &[SortKey],
        top: usize,
    ) -> Result<(Vec<DocAddress>, TopProfile)> {
        let mut request = self.begin(docs)?;
        let keys = Keys::open(&mut request, keys)?;
        if top == 0 {
            return Ok((Vec::new(), TopProfile::default()));
        }
        let top = top.min(request.hits() as usize);
        memory::limit(top.saturating_mul(size_of::<DocAddress>()), request.memory())?;
        let different = keys.different(request.columns());
        if lie_in_order(self, &keys) || lie_in_order(self, &different) {
            return Ok((first(&request, top)?, TopProfile::default()));
        }
        let keys = different;
        let most = request.memory() / top.saturating_mul(keys.bytes()).max(1);
        let all = (request.hits() as usize).saturating_mul(FULL_SORT_BYTES);
        let are_most = top > MIN_FULL_SORT && top >= request.hits() as usize / 32 && all <= request.memory();
        if most == 0 || are_most {
            memory::limit(all, request.memory())?;
            let sorted = sort_all::sort(&request, &keys)?;
            let profile = TopProfile { visited: sorted.len() as u64, ..TopProfile::default() };
            return Ok((sorted.into_iter().take(top).map(address).collect(), profile));
        }
        let (last, visited) = lower_bound::from_best_zone(&request, &keys, top)?;
        let mut before = TopProfile { visited, ..TopProfile::default() };
        let guess = lower_bound::estimate(&request, &keys, top)?;
        // If enough documents are at least as good as the estimate, the first are among them.
        if let Some(guess) = guess.filter(|guess| last.as_ref().is_none_or(|last| guess < last)) {
            let first =
                TopKCollector::new(keys.clone(), TopDocs::bounded(top, Some(guess))).most_threads(most);
            let (found, profile) = request.run(first)?.finish();
            before += profile;
            let found = found.finish(&request)?;
            if found.len() == top {
                return Ok((found, before));
            }
        }
        let all = TopKCollector::new(keys, TopDocs::bounded(top, last)).most_threads(most);
        let (found, profile) = request.run(all)?.finish();
        before += profile;
        Ok((found.finish(&request)?, before))
    }

    /// Returns all of `docs`, which must be of one part, in the order of `keys`, for example to export them.
    /// O(documents · log documents), with 20 bytes of memory for each document.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top); [`Error::Value`](crate::Error::Value) if a value lies outside of its column's bounds;
    /// [`Error::Memory`](crate::Error::Memory) if memory runs out or [`Search::memory`] allows less.
    pub fn sorted(&self, docs: Docs<'_>, keys: &[SortKey]) -> Result<Vec<DocId>> {
        let mut request = self.begin(docs)?;
        let keys = Keys::open(&mut request, keys)?;
        let in_order = lie_in_order(self, &keys);
        let each = if in_order { size_of::<DocId>() } else { FULL_SORT_BYTES };
        memory::limit((request.hits() as usize).saturating_mul(each), self.most_memory())?;
        if in_order {
            return request.docs().try_to_vec(request.total(), request.stop());
        }
        sort_all::sort(&request, &keys)
    }
}

/// From this many top documents, if they are at least a 32nd of all, sorting all documents is used: it takes as long
/// as a heap of a 50th of them for numbers, of a 20th for byte strings.
const MIN_FULL_SORT: usize = 1 << 14;

/// Bytes per document that a sort of all documents takes.
const FULL_SORT_BYTES: usize = size_of::<DocId>() + 2 * size_of::<u64>();

/// The first documents by id.
fn first(request: &Request<'_>, top: usize) -> Result<Vec<DocAddress>> {
    let (mut found, mut pace) = (memory::with_capacity(top)?, request.stop().pace());
    for doc in request.docs().iter(request.total()).take(top) {
        pace.step()?;
        found.push(address(doc));
    }
    Ok(found)
}

/// The address of a document in the only part.
fn address(doc: DocId) -> DocAddress {
    DocAddress { part: 0, doc }
}

/// Whether the source is sorted by these keys.
fn lie_in_order(search: &Search<'_>, keys: &Keys) -> bool {
    // An index sort orders doubles by their bits, where −0.0 and 0.0 differ.
    let is_exact = keys.types().all(|logical| logical != LogicalType::F64);
    is_exact && search.source().sort().starts_with(keys.asked())
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
