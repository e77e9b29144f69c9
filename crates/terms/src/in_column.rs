//! Keys that are values of a column: the form of the index for ids of one length that are evenly distributed.
//!
//! The index does not repeat the keys: the key of a rank is the value of its document. A byte of each key is enough
//! to find the rank.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | ids | the *head* of each key, u8, by rank |
//! | id block starts | the ranks of the *buckets*; `in_column/buckets.rs` |
//!
//! The bucket of a key and its head are its place between the least and the greatest key: `in_column/scale.rs`. Of
//! evenly distributed keys, a bucket has 8 on average, so that 97 of 100 heads of a bucket differ from that of another
//! key.
//!
//! # Drawing
//!
//! The keys `00`, `21`, `22` and `ff` of one byte (written in hex). There is one bucket, so the head is the place:
//!
//! ```text
//! rank      0    1    2    3
//! ids       00   21   22   ff                      heads
//! starts    00 00 00 00   04 04 04 04 04 04 04 04 04 04 04 04     rank 0; bucket 0 ends after 4 keys
//! documents 2    0    3    1
//! column    21   ff   00   22                      the value of document 2 is the key of rank 0
//! ```
//!
//! # Cost
//!
//! A look-up of a present key waits for three cache misses: its bucket's heads, the document, and the value. Ranks of
//! buckets are on the heap, a sixth of a byte a key, and are verified at opening. Keys in order are values in no
//! order: a cache miss each, of which several overlap. So many of them first read the whole column, in its order.

use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use docvalues_format::error::{Error, ErrorKind, Place, Result, Section};
use docvalues_format::id::DocId;
use docvalues_format::numeric::NumericReader;
use docvalues_format::prefetch::prefetch;
use docvalues_format::source::SectionBytes;

use crate::in_column::buckets::Buckets;
use crate::in_column::scale::Scale;
use crate::{Dictionary, search};

pub use buckets::GROUP_BUCKETS;
pub use build::{InColumnBuilder, MAX_TIES, Pushed};
pub use scale::{BUCKET_KEYS, MAX_LEN};

mod buckets;
mod build;
mod scale;
#[cfg(test)]
mod tests;

/// Sections of any kind of an index whose keys are values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InColumn<S> {
    /// The heads.
    pub heads: S,
    /// The ranks of the buckets.
    pub starts: S,
}

impl<S> InColumn<S> {
    /// Converts both sections, in file order: heads, starts.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut impl FnMut(Section, S) -> Result<T, E>) -> Result<InColumn<T>, E> {
        let InColumn { heads, starts } = self;
        Ok(InColumn { heads: f(Section::Ids, heads)?, starts: f(Section::IdStarts, starts)? })
    }
}

/// The heads and the values of a column, opened.
#[derive(Debug)]
pub struct InColumnReader<B> {
    heads: B,
    /// The values of all documents, end to end.
    values: B,
    buckets: Buckets,
    count: u32,
}

impl<B: SectionBytes> InColumnReader<B> {
    /// Opens the index of `count` keys, at least one, from `least` to `greatest`. `values` are those of as many
    /// documents, end to end. Reads, verifies and copies the ranks of buckets to the heap; reads no head or value.
    /// O(keys / 96).
    ///
    /// # Errors
    ///
    /// When the starts are damaged, lengths contradict each other, or the least and the greatest key differ in length.
    pub fn open(
        sections: InColumn<B>,
        values: B,
        count: u32,
        (least, greatest): (&[u8], &[u8]),
    ) -> Result<InColumnReader<B>> {
        let InColumn { heads, starts } = sections;
        let place = heads.place();
        place.check(0, ErrorKind::equal("length of the heads of ids", heads.len() as u64, count.into()))?;
        let lengths = "ids in a column do not have one length";
        let scale = Scale::new(least, greatest, count);
        let scale = scale.ok_or_else(|| Error::at(place, 0, ErrorKind::Broken(lengths)))?;
        let (found, expected) = (values.len() as u64, u64::from(count) * scale.len() as u64);
        values.place().check(0, ErrorKind::equal("length of the column of ids", found, expected))?;
        let buckets = Buckets::open(&starts, scale, count)?;
        Ok(InColumnReader { heads, values, buckets, count })
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.buckets.heap_bytes()
    }

    /// Prefetches the heads that a search for `key` compares.
    #[inline]
    pub fn prefetch(&self, key: &[u8]) {
        if let Some((ranks, _)) = self.buckets.find(key) {
            self.heads.prefetch(ranks.start as usize);
        }
    }

    /// The rank of `key`, if it is one of the keys. `docs` are the documents by rank.
    ///
    /// # Errors
    ///
    /// When bytes that the look-up reads are damaged.
    #[inline]
    pub fn find(&self, key: &[u8], docs: &NumericReader<B>) -> Result<Option<u32>> {
        let Some((ranks, wanted)) = self.buckets.find(key) else { return Ok(None) };
        let heads = self.heads.slice(ranks.start as usize..ranks.end as usize)?;
        for (&head, rank) in heads.iter().zip(ranks) {
            if head == wanted && self.key(docs.get(rank.into())?)? == key {
                return Ok(Some(rank));
            }
        }
        Ok(None)
    }

    /// The value of a document.
    #[inline]
    fn key(&self, doc: i64) -> Result<&[u8]> {
        match place_of(doc, self.buckets.key_len(), self.values.len()) {
            Some(place) => self.values.slice(place),
            None => Err(no_document(self.values.place())),
        }
    }

    /// Calls `each` with the values of these documents, which are keys in no order.
    pub(crate) fn each_value(&self, docs: Range<u32>, each: impl FnMut(&[u8])) -> Result<()> {
        let (len, end) = (self.buckets.key_len(), docs.end.min(self.count));
        // At most the length of the section.
        let values = self.values.slice(docs.start.min(end) as usize * len..end as usize * len)?;
        values.chunks_exact(len).for_each(each);
        Ok(())
    }

    /// Reads values and heads in file order, 8 MiB at a time: what is requested is then requested together, and what
    /// is mapped is paged in and verified in sequence. In the order of keys, each value would be read alone.
    fn read_all(&self) {
        const TOGETHER: usize = 8 << 20;
        for section in [&self.values, &self.heads] {
            for start in (0..section.len()).step_by(TOGETHER) {
                // Errors are reported when the bytes are needed.
                if section.slice(start..section.len().min(start.saturating_add(TOGETHER))).is_err() {
                    return;
                }
            }
        }
    }

    /// Heads and values, if all of them are verified by now.
    pub(crate) fn verified(&self) -> Option<VerifiedInColumn<'_>> {
        let (heads, values) = (self.heads.verified()?, self.values.verified()?);
        Some(VerifiedInColumn { heads, values, buckets: &self.buckets })
    }

    /// The keys of these ranks in order, as a dictionary. `docs` are the documents by rank.
    pub fn dictionary<'a>(&'a self, docs: &'a NumericReader<B>) -> InColumnKeys<'a, B> {
        InColumnKeys { reader: self, docs }
    }
}

/// The bytes of the value of document `doc` in a column of `end` bytes; `None` if it is not in the column.
#[inline]
fn place_of(doc: i64, len: usize, end: usize) -> Option<Range<usize>> {
    let start = usize::try_from(doc).ok()?.checked_mul(len)?;
    let place = start..start.checked_add(len)?;
    (place.end <= end).then_some(place)
}

#[cold]
fn no_document(place: Place) -> Error {
    Error::at(place, 0, ErrorKind::Broken("an id has a document that is not in the column"))
}

/// Fully verified heads and values: all pointers that a look-up needs.
///
/// The sections may be mapped and change under us, so every load is still bounds-checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifiedInColumn<'a> {
    heads: &'a [u8],
    values: &'a [u8],
    buckets: &'a Buckets,
}

impl VerifiedInColumn<'_> {
    /// The document of `key`, if it is one of the keys. `doc` returns the document of a rank; `None` if it does not know
    /// one, or bytes are invalid.
    #[inline]
    pub(crate) fn find(&self, key: &[u8], doc: impl Fn(u32) -> Option<DocId>) -> Option<Option<DocId>> {
        for rank in self.candidates(key) {
            let found = doc(rank)?;
            let place = place_of(found.get().into(), key.len(), self.values.len())?;
            if self.values.get(place)? == key {
                return Some(Some(found));
            }
        }
        Some(None)
    }

    /// Whether a head is that of `key`: true for every key, and for 3 of 100 others.
    #[inline]
    pub(crate) fn may_hold(&self, key: &[u8]) -> bool {
        self.candidates(key).next().is_some()
    }

    /// The ranks of the bucket of `key` that have its head.
    #[inline]
    fn candidates(&self, key: &[u8]) -> impl Iterator<Item = u32> {
        let (ranks, wanted) = self.buckets.find(key).unwrap_or_default();
        let heads = self.heads.get(ranks.start as usize..ranks.end as usize).unwrap_or_default();
        heads.iter().zip(ranks).filter(move |(head, _)| **head == wanted).map(|(_, rank)| rank)
    }

    /// Prefetches the group that leads to the bucket of `key`.
    #[inline]
    pub(crate) fn prefetch_group(&self, key: &[u8]) {
        self.buckets.prefetch(key);
    }

    /// Prefetches the heads of the bucket of `key`, and returns its ranks; `None` if the key is not there.
    #[inline]
    pub(crate) fn prefetch_heads(&self, key: &[u8]) -> Option<Range<u32>> {
        let (ranks, _) = self.buckets.find(key)?;
        prefetch(self.heads.as_ptr().wrapping_add(ranks.start as usize));
        Some(ranks)
    }

    /// Prefetches the values that a search for `key` compares. `doc` returns the document of a rank.
    #[inline]
    pub(crate) fn prefetch_values(&self, key: &[u8], doc: impl Fn(u32) -> Option<DocId>) {
        for doc in self.candidates(key).filter_map(doc) {
            prefetch(self.values.as_ptr().wrapping_add((doc.get() as usize).wrapping_mul(key.len())));
        }
    }
}

/// The keys of an [`InColumnReader`] and their documents.
#[derive(Debug)]
pub struct InColumnKeys<'a, B> {
    reader: &'a InColumnReader<B>,
    docs: &'a NumericReader<B>,
}

impl<B: SectionBytes> InColumnKeys<'_, B> {
    fn key(&self, rank: u32) -> Result<&[u8]> {
        self.reader.key(self.docs.get(rank.into())?)
    }
}

impl<B: SectionBytes> Dictionary for InColumnKeys<'_, B> {
    fn len(&self) -> u32 {
        self.reader.count
    }

    fn find(&self, key: &[u8]) -> Result<Option<u32>> {
        self.reader.find(key, self.docs)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a rank has 32 bits")]
    fn lower_bound(&self, key: &[u8]) -> Result<u32> {
        let Range { start, end } = match self.reader.buckets.locate(key) {
            Ok((ranks, _)) => ranks,
            Err(Ordering::Less) => return Ok(0),
            Err(_) => return Ok(self.reader.count),
        };
        let is_below = |rank: usize| Ok::<_, Error>(self.key(rank as u32)? < key);
        Ok(search(start as usize..end as usize, is_below)? as u32)
    }

    fn each(
        &self,
        ranks: Range<u32>,
        each: &mut dyn FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        /// Values that are prefetched together: more than a CPU has cache misses in flight.
        const TOGETHER: u32 = 32;
        /// After so many, they are most likely all wanted.
        const A_FEW: u32 = 4 * TOGETHER;
        let (len, end) = (self.reader.buckets.key_len(), ranks.end.min(self.reader.count));
        // Most granules of the column have one of so many values.
        let many = end.saturating_sub(ranks.start) >= self.reader.count / 64;
        let mut docs = [0_i64; TOGETHER as usize];
        for first in (ranks.start..end).step_by(TOGETHER as usize) {
            if many && first - ranks.start == A_FEW {
                self.reader.read_all();
            }
            let ranks = first..end.min(first.saturating_add(TOGETHER));
            for (rank, doc) in ranks.clone().zip(&mut docs) {
                *doc = self.docs.get(rank.into())?;
                let place = place_of(*doc, len, self.reader.values.len());
                place.into_iter().for_each(|place| self.reader.values.prefetch(place.start));
            }
            for (rank, &doc) in ranks.zip(&docs) {
                if each(rank, self.reader.key(doc)?)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn verify(&self) -> Result<()> {
        let rule = |holds, why| self.reader.heads.place().check(0, ErrorKind::rule(holds, why));
        let mut before = None::<Vec<u8>>;
        let (mut place, mut ties) = (None, 0);
        self.reader.read_all();
        self.each(0..self.len(), &mut |rank, key| {
            rule(before.as_ref().is_none_or(|before| &before[..] < key), "ids do not ascend")?;
            rule(self.find(key)? == Some(rank), "an id is not found at its rank")?;
            // The ranks of its bucket, and its head.
            let next = self.reader.buckets.find(key);
            ties = if next == place { ties + 1 } else { 1 };
            place = next;
            rule(ties <= MAX_TIES, "too many ids of a bucket have the same head")?;
            let before = before.get_or_insert_default();
            before.clear();
            before.extend_from_slice(key);
            Ok(ControlFlow::Continue(()))
        })
    }
}
