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

mod full;
mod key;
mod near;
mod radix;
mod scale;
mod short;
mod top;

use docvalues_column::{DocAddress, DocId, LogicalType, SortKey};

use crate::error::{Error, Result};
use crate::{Docs, Search};
pub(crate) use key::{Entry, Keys};
pub use top::TopRan;
pub(crate) use top::{Competition, Kept, TopDocs};

impl Search<'_> {
    /// The first `top` of `docs` in the order of `keys`; documents that are equal by all of them, or all if there are
    /// none, in the order of their numbers.
    ///
    /// O(documents) at worst, O(top) for a source that is sorted like this; see [the module](self).
    ///
    /// # Errors
    ///
    /// When there is no such column, a column is named twice, or bytes of it are damaged.
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
    ) -> Result<(Vec<DocAddress>, TopRan)> {
        let mut request = self.begin(docs);
        let keys = Keys::open(&mut request, keys)?;
        if top == 0 {
            return Ok((Vec::new(), TopRan::default()));
        }
        if lie_in_order(self, &keys) {
            let docs = request.docs();
            return Ok((docs.iter(request.total()).take(top).map(address).collect(), TopRan::default()));
        }
        let (last, looked) = near::look(&request, &keys, top)?;
        let mut before = TopRan { seen: looked, ..TopRan::default() };
        let guess = near::guess(&request, &keys, top)?;
        // If there are enough that do not come behind it, the first are among them.
        if let Some(guess) = guess.filter(|guess| last.as_ref().is_none_or(|last| guess < last)) {
            let first = Competition::new(keys.clone(), TopDocs::not_behind(top, Some(guess)));
            let (found, ran) = request.run(first)?.finish();
            before += ran;
            let found = found.finish();
            if found.len() == top {
                return Ok((found, before));
            }
        }
        let (found, ran) = request.run(Competition::new(keys, TopDocs::not_behind(top, last)))?.finish();
        before += ran;
        Ok((found.finish(), before))
    }

    /// All of `docs`, which are of one part, in the order of `keys`: what is exported, for example. O(documents · log documents), and 20 bytes of
    /// memory for each.
    ///
    /// # Errors
    ///
    /// As [`top`](Self::top), and [`Error::Value`](crate::Error::Value) where the sort finds a value outside of the bounds
    /// that its column gives.
    pub fn sorted(&self, docs: Docs<'_>, keys: &[SortKey]) -> Result<Vec<DocId>> {
        let mut request = self.begin(docs);
        let keys = Keys::open(&mut request, keys)?;
        if lie_in_order(self, &keys) {
            return request.docs().try_to_vec(request.total());
        }
        full::sort(&request, &keys)
    }
}

/// The address of a document of the one part that is searched.
fn address(doc: DocId) -> DocAddress {
    DocAddress { part: 0, doc }
}

/// Whether documents in the order of their numbers are in the order of these keys.
fn lie_in_order(search: &Search<'_>, keys: &Keys) -> bool {
    let asked = keys.asked();
    // The order of a segment is that of all bits, where −0.0 and 0.0 differ.
    let is_exact = keys.types().all(|logical| logical != LogicalType::F64);
    is_exact && search.source().sort().starts_with(asked)
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
