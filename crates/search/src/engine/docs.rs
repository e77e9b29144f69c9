//! Sets of documents: the input of every search.

use std::ops::{Deref, Range};

use docvalues_column::{Bitset, DocId, DocRange, bits};

use super::interrupt::Interrupt;
use super::memory;
use crate::error::{Error, Result};

/// The documents that a search covers.
///
/// It is borrowed and cheap to copy. Documents beyond the end of the source are ignored, in every form.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Bitset, DocId};
/// use docvalues_search::Docs;
///
/// let hits = [2, 7, 9].map(DocId::new); // of an inverted index
/// let set = Bitset::from_docs(hits, 10);
/// for docs in [Docs::list(&hits)?, Docs::Bits(&set)] {
///     assert_eq!((docs.count(10), docs.to_vec(8)), (3, vec![DocId::new(2), DocId::new(7)]));
/// }
/// assert_eq!(Docs::Range(5, 20).count(10), 5); // documents past the end are ignored
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Docs<'a> {
    /// All documents.
    All,
    /// The documents from the first number up to, and excluding, the second.
    Range(u32, u32),
    /// The documents of a list, as [`Docs::list`] makes it.
    List(DocList<'a>),
    /// The documents whose bits are set.
    Bits(&'a Bitset),
}

/// A list of documents in strictly ascending order, one of the [`Docs`] of a search.
#[derive(Clone, Copy, Debug)]
pub struct DocList<'a>(pub(crate) &'a [DocId]);

impl<'a> DocList<'a> {
    /// Checks that `docs` ascend strictly. O(documents), once for any number of searches.
    ///
    /// # Errors
    ///
    /// If they do not; the error names the first that is out of order.
    pub fn new(docs: &'a [DocId]) -> Result<DocList<'a>> {
        let pairs = || docs.iter().zip(docs.iter().skip(1));
        // No early exit, so that the comparison is vectorized.
        if pairs().fold(true, |ascend, (a, b)| ascend & (a < b)) {
            return Ok(DocList(docs));
        }
        let found =
            pairs().find(|(a, b)| a >= b).map_or_else(String::new, |(a, b)| format!(": {b} follows {a}"));
        Err(Error::Request(format!("expected documents in strictly ascending order{found}")))
    }
}

impl Deref for DocList<'_> {
    type Target = [DocId];

    fn deref(&self) -> &[DocId] {
        self.0
    }
}

impl<'a> Docs<'a> {
    /// The documents of a list.
    ///
    /// ```
    /// use docvalues_search::Docs;
    /// # use docvalues_column::DocId;
    ///
    /// let docs = [2, 7, 9].map(DocId::new);
    /// assert_eq!(Docs::list(&docs)?.count(8), 2);
    ///
    /// let error = Docs::list(&[2, 9, 7].map(DocId::new)).unwrap_err();
    /// assert_eq!(error.to_string(), "expected documents in strictly ascending order: 7 follows 9");
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DocList::new`].
    pub fn list(docs: &'a [DocId]) -> Result<Docs<'a>> {
        DocList::new(docs).map(Docs::List)
    }

    /// The number of documents among the first `docs` of a source. O(1), unless some lie beyond `docs`: then O(log n) for a
    /// list, and O(words) for bits.
    pub fn count(&self, docs: u32) -> u32 {
        match *self {
            Docs::Bits(bits) if bits.docs() <= docs => bits.count(),
            Docs::List(list) if list.last().is_none_or(|last| last.get() < docs) => len_u32(list.len()),
            _ => len_u32(self.count_within(DocRange::new(0, docs))),
        }
    }

    /// The documents, ascending.
    pub fn iter(&self, docs: u32) -> Box<dyn Iterator<Item = DocId> + '_> {
        match *self {
            Docs::All => Box::new((0..docs).map(DocId::new)),
            Docs::Range(from, to) => Box::new((from..to.min(docs)).map(DocId::new)),
            Docs::List(DocList(list)) => {
                Box::new(list.iter().copied().take_while(move |doc| doc.get() < docs))
            }
            Docs::Bits(bits) => Box::new(bits.iter().take_while(move |doc| doc.get() < docs)),
        }
    }

    /// The documents, ascending, as a vector.
    pub fn to_vec(&self, docs: u32) -> Vec<DocId> {
        let mut found = Vec::with_capacity(self.count(docs) as usize + bits::PUSH_DOCS_SPARE);
        // Without a flag, nothing interrupts it.
        let _ = self.append_to(docs, &Interrupt::default(), &mut found);
        found
    }

    /// As [`to_vec`](Self::to_vec), but fails if memory runs out or the search is interrupted.
    pub(crate) fn try_to_vec(&self, docs: u32, stop: &Interrupt) -> Result<Vec<DocId>> {
        let mut found = memory::with_capacity(self.count(docs) as usize + bits::PUSH_DOCS_SPARE)?;
        self.append_to(docs, stop, &mut found)?;
        Ok(found)
    }

    /// Appends the documents, ascending. Fails if the search is interrupted.
    fn append_to(&self, docs: u32, stop: &Interrupt, found: &mut Vec<DocId>) -> Result<()> {
        const POLL_EVERY: usize = 1 << 20;
        let len = self.count(docs) as usize;
        match *self {
            Docs::Bits(set) => {
                for (at, words) in (0..).zip(set.words().chunks(POLL_EVERY / 64)) {
                    stop.check()?;
                    bits::push_docs(words, len_u32(at * POLL_EVERY), found);
                }
                found.truncate(len);
            }
            Docs::List(list) => {
                for docs in list[..len].chunks(POLL_EVERY) {
                    stop.check()?;
                    found.extend_from_slice(docs);
                }
            }
            Docs::All | Docs::Range(..) => {
                let start = if let Docs::Range(start, _) = *self { start } else { 0 };
                for docs in DocRange::new(start, start.saturating_add(len_u32(len))).chunks(POLL_EVERY) {
                    stop.check()?;
                    found.extend(docs.iter());
                }
            }
        }
        Ok(())
    }

    /// A bitset for a source of `docs` documents. Fails if it takes more than `most` bytes.
    pub(crate) fn try_bits(&self, docs: u32, most: usize) -> Result<Bitset> {
        Ok(Bitset::from_words(self.try_words(docs, most)?, docs))
    }

    /// As [`try_bits`](Self::try_bits), as words.
    pub(crate) fn try_words(&self, docs: u32, most: usize) -> Result<Vec<u64>> {
        let len = DocRange::new(0, docs).words();
        memory::limit(len.saturating_mul(size_of::<u64>()), most)?;
        let mut words = memory::zeroed::<u64>(len)?;
        match *self {
            Docs::All => bits::set_range(&mut words, 0..docs as usize),
            Docs::Range(from, to) if from < to.min(docs) => {
                bits::set_range(&mut words, from as usize..to.min(docs) as usize);
            }
            Docs::Range(..) => {}
            Docs::List(DocList(list)) => set_listed(&mut words, &list[..self.count(docs) as usize]),
            Docs::Bits(set) => {
                words.iter_mut().zip(set.words()).for_each(|(to, from)| *to = *from);
                if let Some(last) = words.last_mut().filter(|_| !docs.is_multiple_of(64)) {
                    *last &= (1 << (docs % 64)) - 1;
                }
            }
        }
        Ok(words)
    }

    /// The number of documents that lie in `docs`, which begins at a multiple of 64. O(docs / 64).
    pub(crate) fn count_within(&self, docs: DocRange) -> usize {
        match *self {
            Docs::All => docs.len(),
            Docs::Range(from, to) => docs.intersection(DocRange::new(from, to)).len(),
            Docs::List(list) => {
                let below = |end| list.partition_point(|doc| doc.get() < end);
                below(docs.end) - below(docs.start)
            }
            Docs::Bits(bits) => {
                let (words, first, last) = (bits.words(), docs.start as usize / 64, docs.end as usize / 64);
                let rest = words.get(last).map_or(0, |word| word & ((1 << (docs.end % 64)) - 1));
                bits::count(&words[first..last.min(words.len())]) + rest.count_ones() as usize
            }
        }
    }

    /// Whether these are all documents of a source of `docs` documents, so that its directory describes them exactly.
    pub fn is_all(&self, docs: u32) -> bool {
        self.count(docs) == docs
    }
}

impl From<Range<u32>> for Docs<'_> {
    fn from(docs: Range<u32>) -> Self {
        Docs::Range(docs.start, docs.end)
    }
}

impl<'a> From<&'a Bitset> for Docs<'a> {
    fn from(bits: &'a Bitset) -> Self {
        Docs::Bits(bits)
    }
}

/// The fewest consecutive documents of a list whose bits are set by whole words. One comparison for this many documents
/// finds them.
const MIN_RUN: usize = 64;

/// Sets the bits of an ascending list, all of whose documents have one in `words`. No bit is set before.
///
/// O(documents); O(words + log documents) for consecutive ones.
fn set_listed(words: &mut [u64], mut list: &[DocId]) {
    // The word is kept in a register: it is written for each document, and read only after a run.
    let (mut place, mut word) = (usize::MAX, 0);
    while let Some(first) = list.first() {
        let run = leading_run(list, first.get());
        if run > 0 {
            let start = first.get() as usize;
            bits::set_range(words, start..start + run);
            place = (start + run - 1) / 64;
            word = words[place];
            list = &list[run..];
            continue;
        }
        let (some, others) = list.split_at(list.len().min(MIN_RUN));
        for doc in some {
            let at = doc.get() as usize;
            let before = if at / 64 == place { word } else { 0 };
            (place, word) = (at / 64, before | 1 << (at % 64));
            words[place] = word;
        }
        list = others;
    }
}

/// The number of consecutive documents that an ascending list begins with, by exponential search; 0 if they are fewer than
/// [`MIN_RUN`]. `first` is the first document.
fn leading_run(list: &[DocId], first: u32) -> usize {
    // The list ascends strictly, so no document is left out before place `at` if this one is `at` after the first.
    let is_in_run = |at: usize| list.get(at).is_some_and(|doc| (doc.get() - first) as usize == at);
    let mut last = MIN_RUN - 1;
    if !is_in_run(last) {
        return 0;
    }
    while is_in_run(2 * last) {
        last *= 2;
    }
    let mut end = list.len().min(2 * last);
    while last + 1 < end {
        let middle = last + (end - last) / 2;
        if is_in_run(middle) {
            last = middle;
        } else {
            end = middle;
        }
    }
    end
}

/// Converts a number of documents, or of things that occur at most once per document.
pub(crate) fn len_u32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// The number of documents of an ascending list that come before `end`, by exponential search: O(log of the result).
pub(super) fn docs_before(list: &[DocId], end: u32) -> usize {
    let is_before = |doc: &DocId| doc.get() < end;
    let mut step = 16;
    while list.get(step).is_some_and(is_before) {
        step *= 2;
    }
    // All documents up to the previous step come before `end` as well.
    let (from, to) = (step / 2, list.len().min(step));
    let from = if list.get(from).is_some_and(is_before) { from } else { 0 };
    from + list[from..to].partition_point(is_before)
}
