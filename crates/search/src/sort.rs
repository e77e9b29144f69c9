//! The documents that come first, or all of them, in an order of several columns.
//!
//! | key on | compared by |
//! | --- | --- |
//! | numeric, sorted | the number, the ord |
//! | sorted-numeric, sorted-set | the least value if values ascend, the greatest if they descend, as in Lucene |
//! | binary | the bytes |
//!
//! Doubles: −0.0 equals 0.0, and NaN comes behind all numbers, whichever way these go. Documents without a value come last,
//! or first if a key says so. Documents that are equal by all keys are in the order of their numbers, and so the order is
//! always the same.
//!
//! # Skipping
//!
//! Once there are enough documents, only those can still come in whose first key is better than the last one's. The
//! column itself is asked for these, 65,536 documents at a time, as a filter: so zone maps are used, and values that
//! matter not are compared in bulk and written nowhere. Of a set with few documents, each is looked at whose zone has some
//! that may come in. A source whose documents lie in that order is not looked at beyond the first ones (LUCENE-8059 does the
//! same for index-sorted segments).
//!
//! There are enough documents before the first is skipped if the zone with the column's best value has some, or as it is guessed
//! how good a document has to be, and tried: see `near`.

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
    /// The first `top` of `docs` in the order of `keys`; documents that are equal by all of them, or all if there are
    /// none, in the order of their numbers.
    ///
    /// O(documents) at worst, O(top) for a source that is sorted like this; see [the module](self). About 70 bytes for
    /// each document that is kept by each thread; if that is more than [`Search::memory`], fewer threads keep some, or all
    /// documents are sorted.
    ///
    /// # Errors
    ///
    /// When there is no such column, a column is named twice, or bytes of it are damaged;
    /// [`Error::Memory`](crate::Error::Memory) when there is no memory for either.
    pub fn top(&self, docs: Docs<'_>, keys: &[SortKey], top: usize) -> Result<Vec<DocAddress>> {
        Ok(self.top_explained(docs, keys, top)?.0)
    }

    /// As [`top`](Self::top), and how many documents were looked at, and what indexes decided about the others. It takes no
    /// longer.
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
        let all = (request.hits() as usize).saturating_mul(SORTED_BYTES);
        let are_most = top > MANY && top >= request.hits() as usize / 32 && all <= request.memory();
        if most == 0 || are_most {
            memory::limit(all, request.memory())?;
            let sorted = sort_all::sort(&request, &keys)?;
            let profile = TopProfile { visited: sorted.len() as u64, ..TopProfile::default() };
            return Ok((sorted.into_iter().take(top).map(address).collect(), profile));
        }
        let (last, visited) = lower_bound::from_best_zone(&request, &keys, top)?;
        let mut before = TopProfile { visited, ..TopProfile::default() };
        let guess = lower_bound::estimate(&request, &keys, top)?;
        // If there are enough that do not come behind it, the first are among them.
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

    /// All of `docs`, which are of one part, in the order of `keys`: what is exported, for example. O(documents · log documents), and 20 bytes of
    /// memory for each.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top), and [`Error::Value`](crate::Error::Value) where the sort finds a value outside of the bounds
    /// that its column gives; [`Error::Memory`](crate::Error::Memory) when there is not so much, or
    /// [`Search::memory`] allows less.
    pub fn sorted(&self, docs: Docs<'_>, keys: &[SortKey]) -> Result<Vec<DocId>> {
        let mut request = self.begin(docs)?;
        let keys = Keys::open(&mut request, keys)?;
        let in_order = lie_in_order(self, &keys);
        let each = if in_order { size_of::<DocId>() } else { SORTED_BYTES };
        memory::limit((request.hits() as usize).saturating_mul(each), self.most_memory())?;
        if in_order {
            return request.docs().try_to_vec(request.total(), request.stop());
        }
        sort_all::sort(&request, &keys)
    }
}

/// More documents than this, if they are a thirty-second of all, are found by a sort of all: it takes as long as a heap of a
/// fiftieth of them for numbers, of a twentieth for byte strings.
const MANY: usize = 1 << 14;

/// Bytes that a sort of all documents takes for each.
const SORTED_BYTES: usize = size_of::<DocId>() + 2 * size_of::<u64>();

/// The first of the documents by their numbers.
fn first(request: &Request<'_>, top: usize) -> Result<Vec<DocAddress>> {
    let (mut found, mut pace) = (memory::with_capacity(top)?, request.stop().pace());
    for doc in request.docs().iter(request.total()).take(top) {
        pace.step()?;
        found.push(address(doc));
    }
    Ok(found)
}

/// The address of a document of the one part that is searched.
fn address(doc: DocId) -> DocAddress {
    DocAddress { part: 0, doc }
}

/// Whether documents in the order of their numbers are in the order of these keys.
fn lie_in_order(search: &Search<'_>, keys: &Keys) -> bool {
    // The order of a segment is that of all bits, where −0.0 and 0.0 differ.
    let is_exact = keys.types().all(|logical| logical != LogicalType::F64);
    is_exact && search.source().sort().starts_with(keys.asked())
}

/// Refuses a column that is named twice: the second time, it says nothing.
fn check(keys: &[SortKey]) -> Result<()> {
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].iter().any(|other| other.column == key.column) {
            return Err(Error::Request(format!("column `{}` is sorted by twice", key.column)));
        }
    }
    Ok(())
}
