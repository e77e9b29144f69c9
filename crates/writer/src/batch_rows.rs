//! Which values of a column each document of a batch has.

use std::ops::Range;

use crate::error::ErrorKind;
use crate::intern::index;

/// Which documents have a value, as a bitset; all of them without.
pub(crate) type Validity<'a> = Option<&'a [u64]>;

/// How the values of a column are dealt out to the documents of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchRows<'a> {
    pub(crate) docs: u32,
    /// Where each document's values begin, and the last one's end; one each without.
    pub(crate) lists: Option<&'a [u64]>,
    pub(crate) validity: Validity<'a>,
    /// How many values there are to point at.
    pub(crate) values: usize,
}

/// Documents that have values, and all the values that these have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) docs: u32,
    pub(crate) values: usize,
}

/// What is wrong, and with which of the documents of a batch.
pub(crate) type Refused = (u32, ErrorKind);

impl<'a> BatchRows<'a> {
    /// One value for each document that is valid. How many documents and values there are is said later.
    pub(crate) fn single(validity: Validity<'a>) -> BatchRows<'a> {
        BatchRows { docs: 0, lists: None, validity, values: 0 }
    }

    /// A list for each, between two of the `offsets`.
    pub(crate) fn lists(offsets: &'a [u64], validity: Validity<'a>) -> BatchRows<'a> {
        BatchRows { lists: Some(offsets), ..BatchRows::single(validity) }
    }

    /// Refuses slices of other lengths than these documents need.
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

    /// Counts; refuses lists that do not lie among the values.
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

    /// Refuses the first document of a run that has a value which `check` refuses.
    pub(crate) fn check_each(
        &self,
        docs: &Range<u32>,
        mut check: impl FnMut(usize) -> Result<(), ErrorKind>,
    ) -> Result<(), Refused> {
        docs.clone().try_for_each(|doc| {
            self.places(&(doc..doc + 1)).try_for_each(&mut check).map_err(|kind| (doc, kind))
        })
    }

    /// Calls `f` with every fine zone of documents that are valid, cut at a few thousand, or where a word of
    /// the bitset ends.
    pub(crate) fn runs(&self, mut f: impl FnMut(Range<u32>) -> Result<(), Refused>) -> Result<(), Refused> {
        /// Documents whose values fit a cache, so that they can be looked at twice.
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

    /// Where the values of a run of documents lie, whose lists have been checked.
    pub(crate) fn places(&self, docs: &Range<u32>) -> Range<usize> {
        let at = |doc| match self.lists {
            Some(lists) => usize::try_from(lists[index(doc)]).unwrap_or(usize::MAX),
            None => index(doc),
        };
        at(docs.start)..at(docs.end)
    }

    /// Which of `docs`, a run as well, has the value at `place`.
    pub(crate) fn doc(&self, docs: &Range<u32>, place: usize) -> u32 {
        let has = |doc: &u32| self.places(&(*doc..doc + 1)).contains(&place);
        docs.clone().find(has).unwrap_or(docs.start)
    }

    /// The bits of the documents, and of no others; `None` if all are valid.
    pub(crate) fn words(&self) -> Option<impl Iterator<Item = u64> + '_> {
        let words = self.validity?;
        let starts = (0..self.docs).step_by(64);
        Some(starts.zip(words).map(|(start, word)| match self.docs - start {
            left @ 1..64 => word & ((1 << left) - 1),
            _ => *word,
        }))
    }
}

/// From `offsets[at]` to the next one, if that lies within `len`.
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
