//! [`BatchRows`]: assigns the values of a column to the documents of a batch.

use std::ops::Range;

use crate::error::ErrorKind;
use crate::index::index;

/// A bitset of the documents that have a value; `None` if all have one.
pub(crate) type Validity<'a> = Option<&'a [u64]>;

/// The assignment of a column's values to the documents of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchRows<'a> {
    pub(crate) docs: u32,
    /// The start of each document's list, and the end of the last; `None` for one value a document.
    pub(crate) lists: Option<&'a [u64]>,
    pub(crate) validity: Validity<'a>,
    /// The number of values.
    pub(crate) values: usize,
}

/// The number of documents with a value, and of their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) docs: u32,
    pub(crate) values: usize,
}

/// An error, with the index of the document in the batch.
pub(crate) type Refused = (u32, ErrorKind);

impl BatchRows<'_> {
    /// Checks the lengths of the slices.
    pub(crate) fn check(&self) -> Result<(), ErrorKind> {
        let docs = index(self.docs);
        let slice = |what, found, expected| Err(ErrorKind::Slice { what, found, expected });
        match (self.lists, self.validity) {
            (_, Some(words)) if words.len() < docs.div_ceil(64) => {
                slice("words of validity", words.len(), docs.div_ceil(64))
            }
            (Some(lists), _) if lists.len() != docs + 1 => slice("list offsets", lists.len(), docs + 1),
            (None, _) if self.values != docs => slice("values", self.values, docs),
            _ => Ok(()),
        }
    }

    /// Counts documents and values, and checks that lists are in bounds.
    pub(crate) fn count(&self) -> Result<Counted, Refused> {
        match (self.lists, self.words()) {
            (Some(lists), _) => self.count_lists(lists),
            (None, None) => Ok(Counted { docs: self.docs, values: index(self.docs) }),
            (None, Some(words)) => {
                let docs = words.map(u64::count_ones).sum();
                Ok(Counted { docs, values: index(docs) })
            }
        }
    }

    fn count_lists(&self, lists: &[u64]) -> Result<Counted, Refused> {
        let mut counted = Counted::default();
        self.runs(|docs| {
            for doc in docs {
                let list = span("list", lists, index(doc), self.values).map_err(|kind| (doc, kind))?;
                counted.docs += u32::from(!list.is_empty());
                counted.values = counted.values.saturating_add(list.len());
            }
            Ok(())
        })?;
        Ok(counted)
    }

    /// Checks all values of a run; an error names the first document with an invalid one.
    pub(crate) fn check_each(
        &self,
        docs: &Range<u32>,
        mut check: impl FnMut(usize) -> Result<(), ErrorKind>,
    ) -> Result<(), Refused> {
        docs.clone().try_for_each(|doc| {
            self.places(&(doc..doc + 1)).try_for_each(&mut check).map_err(|kind| (doc, kind))
        })
    }

    /// Calls `f` with every run of consecutive valid documents, split after 2,048 documents, or at the words of the
    /// bitset.
    pub(crate) fn runs(&self, mut f: impl FnMut(Range<u32>) -> Result<(), Refused>) -> Result<(), Refused> {
        /// Documents whose values fit the cache, because they are read twice.
        const RUN: u32 = 2_048;
        let Some(words) = self.words() else {
            let mut runs = (0..self.docs).step_by(index(RUN));
            return runs.try_for_each(|start| f(start..self.docs.min(start.saturating_add(RUN))));
        };
        for (first, mut word) in (0..).step_by(64).zip(words) {
            while word != 0 {
                let start = word.trailing_zeros();
                let len = (word >> start).trailing_ones();
                f(first + start..first + start + len)?;
                word &= u64::MAX.checked_shl(start + len).unwrap_or(0);
            }
        }
        Ok(())
    }

    /// The range of the values of a run of documents, whose lists have been checked.
    pub(crate) fn places(&self, docs: &Range<u32>) -> Range<usize> {
        let at = |doc| match self.lists {
            Some(lists) => usize::try_from(lists[index(doc)]).unwrap_or(usize::MAX),
            None => index(doc),
        };
        at(docs.start)..at(docs.end)
    }

    /// The document of the run `docs` that has the value at `place`.
    pub(crate) fn doc(&self, docs: &Range<u32>, place: usize) -> u32 {
        let has = |doc: &u32| self.places(&(*doc..doc + 1)).contains(&place);
        docs.clone().find(has).unwrap_or(docs.start)
    }

    /// The validity of the documents, with later bits cleared; `None` if all are valid.
    pub(crate) fn words(&self) -> Option<impl Iterator<Item = u64> + '_> {
        let words = self.validity?;
        let starts = (0..self.docs).step_by(64);
        Some(starts.zip(words).map(|(start, word)| match self.docs - start {
            left @ 1..64 => word & ((1 << left) - 1),
            _ => *word,
        }))
    }
}

/// The range from `offsets[at]` to the next offset, if it lies within `len`.
#[inline]
pub(crate) fn span(
    what: &'static str,
    offsets: &[u64],
    at: usize,
    len: usize,
) -> Result<Range<usize>, ErrorKind> {
    let (from, to) = (offsets[at], offsets[at + 1]);
    match (usize::try_from(from), usize::try_from(to)) {
        (Ok(start), Ok(end)) if start <= end && end <= len => Ok(start..end),
        _ => Err(ErrorKind::Offsets { what, from, to, len }),
    }
}
