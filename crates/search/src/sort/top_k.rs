//! Top-k: collecting the first documents into a queue, with pruning by skip indexes.

use std::fmt;
use std::ops::{AddAssign, RangeInclusive};

use docvalues_column::{DocAddress, DocId, DocRange, Pruning, TermOrd};
use docvalues_format::bits;

use super::key::{Entry, Key, Keys};
use super::sort_value::SortValue;
use crate::describe::{describe_pruning, with_separators};
use crate::engine::{
    Cells, Collector, Competitive, Interrupt, NO_ORD, PartColumns, PassPart, Slot, Window, len_u32, skip,
    value_bounds,
};
use crate::error::Result;

/// Values that are compared one by one around a competitive one.
const STRIDE: usize = 64;

/// The result of a top-k collector: the best documents, or the best groups.
pub(crate) trait TopKQueue: Sized + Send {
    /// Returns an empty queue of the same kind.
    fn fork(&self) -> Self;

    /// A column that it reads in addition to the sort keys.
    fn slot(&self) -> Option<Slot> {
        None
    }

    /// The entry that a competitive document must come before; `None` if all documents are competitive.
    fn last(&self) -> Option<&Entry>;

    /// The entry that no competitive document comes before, if there is one.
    fn not_before(&self) -> Option<&Entry> {
        None
    }

    /// Whether a document that is equal to [`last`](Self::last) by all keys may be competitive. While documents come
    /// in ascending order it is not: the tie goes to the lower id.
    fn has_ties(&self) -> bool {
        false
    }

    /// Chooses a [`last`](Self::last) entry for an empty queue. `numbers` are the values by the first key of the documents
    /// that are collected next, each of which has one.
    fn choose_bound(&mut self, _keys: &Keys, _numbers: &[i64]) {}

    /// Collects document `at` of the window, if it comes before [`last`](Self::last).
    ///
    /// # Errors
    ///
    /// If bytes of a dictionary are damaged.
    fn collect(&mut self, keys: &Keys, window: &Window<'_>, at: usize) -> Result<()>;

    /// Merges the result of another thread.
    ///
    /// # Errors
    ///
    /// If the search is interrupted.
    fn merge(&mut self, other: Self, stop: &Interrupt) -> Result<()>;
}

/// Collects the first documents into a queue, and skips documents that are not competitive.
pub(crate) struct TopKCollector<K> {
    keys: Keys,
    queue: K,
    profile: TopProfile,
    max_threads: usize,
    /// The part whose documents are collected.
    part: u32,
    /// The competitive ords of a part, with what they depend on.
    ords: Option<(OrdsKey, Option<RangeInclusive<i64>>)>,
}

/// Whether documents that are equal by the first key to [`last`](TopKQueue::last) may be competitive, and whether those that
/// are equal to [`not_before`](TopKQueue::not_before) may.
type Ties = (bool, bool);

/// Competitive ords stay the same while these do: the part, the last document, and ties.
type OrdsKey = (u32, DocAddress, Ties);

/// Statistics of a top-k search.
///
/// They depend on the number of threads, unlike the result: each thread has its own queue and skips by it.
///
/// ```
/// # use docvalues_column::{Field, Kind, LogicalType};
/// # use docvalues_testkit::model::{MemSource, ModelColumn};
/// # let term = |text: &str| Some(text.as_bytes().to_vec());
/// # let host = Field::new("host", Kind::Sorted, LogicalType::Utf8);
/// # let hosts = ModelColumn::Sorted(vec![term("b.example"), term("a.example"), term("b.example"), None]);
/// # let size = Field::new("size", Kind::Numeric, LogicalType::I64);
/// # let sizes = ModelColumn::Numeric(vec![Some(512), Some(9), Some(70), Some(1_500)]);
/// # let source = MemSource::new(4, [(host, hosts), (size, sizes)]);
/// use docvalues_column::SortKey;
/// use docvalues_search::{Docs, Search};
///
/// let keys = [SortKey::of("size").descending()];
/// let (top, profile) = Search::new(&source).top_explained(Docs::All, &keys, 2)?;
/// assert_eq!(top.iter().map(|top| top.doc.get()).collect::<Vec<_>>(), [3, 0]);
/// println!("{profile}"); // such as "4 documents visited"
/// assert!(profile.visited >= 2);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopProfile {
    /// Documents whose keys were compared; all others were skipped. Documents that bound the result, and all
    /// documents of a wrong estimate, are counted twice.
    pub visited: u64,
    /// Pruning statistics of the first key's column.
    pub filter: Pruning,
}

impl AddAssign for TopProfile {
    fn add_assign(&mut self, other: TopProfile) {
        self.visited += other.visited;
        self.filter += other.filter;
    }
}

impl fmt::Display for TopProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} documents visited", with_separators(self.visited))?;
        if self.filter.is_empty() { Ok(()) } else { write!(f, "; {}", describe_pruning(&self.filter)) }
    }
}

impl<K: TopKQueue> TopKCollector<K> {
    pub(crate) fn new(keys: Keys, queue: K) -> TopKCollector<K> {
        let profile = TopProfile::default();
        TopKCollector { keys, queue, profile, max_threads: usize::MAX, part: 0, ords: None }
    }

    /// Limits the number of threads.
    pub(crate) fn max_threads(self, max_threads: usize) -> TopKCollector<K> {
        TopKCollector { max_threads, ..self }
    }

    pub(crate) fn finish(self) -> (K, TopProfile) {
        (self.queue, self.profile)
    }

    /// The numbers of the first key that are competitive in any of `docs`, if not all are.
    #[inline]
    fn competitive(
        &mut self,
        columns: PartColumns<'_>,
        docs: Option<DocRange>,
    ) -> Result<Option<RangeInclusive<i64>>> {
        let (key, ties) = (self.keys.as_slice().first(), self.ties(docs));
        let Some(key) = key else { return Ok(None) };
        let since = || self.queue.not_before().and_then(|after| key.since(&after.values[0], ties.1));
        let Some(last) = self.queue.last() else {
            // NaN, and documents without a value, follow the position, too.
            let is_all = |_: &_| !key.is_of_doubles() && columns.get(key.slot).info().all_present();
            return Ok(since().filter(is_all));
        };
        if !key.by_term {
            return Ok(common(key.before(&last.values[0], ties.0), since()));
        }
        self.competitive_ords(columns, ties)
    }

    /// As [`competitive`](Self::competitive), for a key whose ords are compared by their terms.
    #[cold]
    fn competitive_ords(
        &mut self,
        columns: PartColumns<'_>,
        ties: Ties,
    ) -> Result<Option<RangeInclusive<i64>>> {
        let Some((key, last)) = self.keys.as_slice().first().zip(self.queue.last()) else { return Ok(None) };
        let depends: OrdsKey = (self.part, last.address, ties);
        if let Some((before, ords)) = &self.ords
            && *before == depends
        {
            return Ok(ords.clone());
        }
        let column = columns.get(key.slot);
        let since = self.queue.not_before().map(|after| key.ords_since(column, &after.values[0], ties.1));
        let ords = common(key.ords_before(column, &last.values[0], ties.0)?, since.transpose()?.flatten());
        self.ords = Some((depends, ords.clone()));
        Ok(ords)
    }

    /// The first key, to skip by. If documents without a value come before all competitive ones, they count as last.
    fn first_key(&self) -> Option<Key> {
        let mut key = *self.keys.as_slice().first()?;
        let is_past = self.queue.not_before().is_some_and(|after| after.values[0] != SortValue::First);
        key.missing_first &= !is_past;
        Some(key)
    }

    /// The ties of `docs`, or of any documents that come next. Parts come in any order.
    fn ties(&self, docs: Option<DocRange>) -> Ties {
        let has_more_keys = self.keys.as_slice().len() > 1;
        let address = |doc| DocAddress { part: self.part, doc: DocId::new(doc) };
        let last = self.queue.last().is_some_and(|last| match docs {
            Some(docs) => address(docs.start) < last.address,
            None => self.queue.has_ties() || last.address.part > self.part,
        });
        let is_before = |after: &Entry| docs.is_some_and(|docs| address(docs.end) <= after.address);
        (has_more_keys || last, has_more_keys || !self.queue.not_before().is_some_and(is_before))
    }

    /// Cuts `docs` at words of their bits, so that most documents before the first that may follow, and most after the last, are
    /// in a range without ties.
    fn cut_at_ties(&self, docs: DocRange) -> [DocRange; 3] {
        let word = |entry: Option<&Entry>, spare: u32| {
            let here = entry.filter(|entry| entry.address.part == self.part)?;
            let doc = here.address.doc.get().clamp(docs.start, docs.end) - docs.start;
            Some(docs.start.saturating_add((doc + spare) / 64 * 64).min(docs.end))
        };
        let first = word(self.queue.not_before(), 0).unwrap_or(docs.start);
        let last = word(self.queue.last(), 63).unwrap_or(docs.end).max(first);
        [(docs.start, first), (first, last), (last, docs.end)].map(|(start, end)| DocRange::new(start, end))
    }

    /// Collects the documents of the window whose first key is competitive. `pass` returns the number of leading
    /// values that are not: see [`bits::skip_outside`].
    fn collect_competitive<T: Copy>(
        &mut self,
        window: &Window<'_>,
        values: &[T],
        number: impl Fn(T) -> i64,
        pass: impl Fn(&[T], &RangeInclusive<i64>) -> usize,
    ) -> Result<()> {
        let mut at = 0;
        while at < values.len() {
            let mut competitive = self.competitive(window.columns(), None)?;
            if let Some(numbers) = &competitive {
                at += pass(&values[at..], numbers);
            }
            for (at, &value) in (at..).zip(values.iter().skip(at).take(STRIDE)) {
                if competitive.as_ref().is_none_or(|numbers| numbers.contains(&number(value))) {
                    self.queue.collect(&self.keys, window, at)?;
                    competitive = self.competitive(window.columns(), None)?;
                }
            }
            at += STRIDE;
        }
        Ok(())
    }
}

impl<K: TopKQueue> Collector for TopKCollector<K> {
    fn fork(&self) -> TopKCollector<K> {
        TopKCollector::new(self.keys.clone(), self.queue.fork())
    }

    fn may_skip(&self) -> bool {
        true
    }

    /// A part is left out if the bounds of its column are not competitive.
    fn enter(&mut self, part: &PassPart<'_>) -> Result<bool> {
        self.part = len_u32(part.columns.part());
        let Some(key) = self.first_key() else { return Ok(true) };
        let column = part.columns.get(key.slot);
        let Some(bounds) = value_bounds(column).filter(|_| key.values_decide(column)) else {
            return Ok(true);
        };
        let can_come_in = |numbers: RangeInclusive<i64>| {
            numbers.start().max(bounds.start()) <= numbers.end().min(bounds.end())
        };
        let docs = DocRange::new(0, part.total);
        Ok(self.competitive(part.columns, Some(docs))?.is_none_or(can_come_in))
    }

    fn max_threads(&self) -> usize {
        self.max_threads
    }

    fn competitive_docs(
        &mut self,
        columns: PartColumns<'_>,
        docs: DocRange,
        competitive: &mut [u64],
    ) -> Result<Competitive> {
        for range in self.cut_at_ties(docs).into_iter().filter(|range| !range.is_empty()) {
            let is_past_values = |after: &Entry| after.values.first() == Some(&SortValue::Last);
            if self.queue.not_before().is_some_and(is_past_values) && !self.ties(Some(range)).1 {
                continue; // Documents without a value come last, and these come before the position.
            }
            let numbers = self.competitive(columns, Some(range))?;
            let Some((key, last)) = self.first_key().zip(self.queue.last()) else {
                return Ok(Competitive::All);
            };
            let before = (&last.values[0], self.ties(Some(range)).0, numbers);
            let bits = &mut competitive[((range.start - docs.start) / 64) as usize..][..range.words()];
            if !key.add_before(columns, range, before, bits, &mut self.profile.filter)? {
                return Ok(Competitive::All);
            }
        }
        Ok(Competitive::Bits)
    }

    fn groups_to_visit(
        &mut self,
        columns: PartColumns<'_>,
        docs: DocRange,
        finely: bool,
        groups: &mut [u64],
    ) -> Result<()> {
        let numbers = self.competitive(columns, Some(docs))?;
        match self.first_key().map(|key| (key, columns.get(key.slot))).zip(numbers) {
            Some(((key, column), numbers)) if key.values_decide(column) => {
                skip::groups_that_may_hold(column, docs, &numbers, finely, groups, &mut self.profile.filter)
            }
            // Documents without a value may be anywhere.
            _ => {
                groups.fill(u64::MAX);
                Ok(())
            }
        }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        self.profile.visited += window.len() as u64;
        for key in self.keys.as_slice() {
            window.read_stored(key.slot)?;
        }
        if let Some(slot) = self.queue.slot() {
            window.read(slot)?;
        }
        match self.first_key().map(|key| (key, window.stored_cells(key.slot))) {
            Some((key, Cells::Numbers(numbers))) if key.values_decide(window.column(key.slot)) => {
                if numbers.present.is_none() {
                    self.queue.choose_bound(&self.keys, numbers.values);
                }
                let pass = |numbers: &[i64], wanted: &RangeInclusive<i64>| {
                    bits::skip_outside(numbers, *wanted.start(), *wanted.end())
                };
                self.collect_competitive(window, numbers.values, |number| number, pass)?;
            }
            Some((key, Cells::Ords(ords))) if key.values_decide(window.column(key.slot)) => {
                // No range that begins or ends at the greatest or least number contains the stand-in for a missing
                // ord.
                let missing = if key.descending { i64::MIN } else { i64::MAX };
                let number = |ord: TermOrd| if ord == NO_ORD { missing } else { ord.get().into() };
                let pass = |ords: &[TermOrd], wanted: &RangeInclusive<i64>| {
                    let has_any = |ords: &&[TermOrd]| {
                        ords.iter().fold(false, |any, &ord| any | wanted.contains(&number(ord)))
                    };
                    ords.chunks(STRIDE).take_while(|ords| !has_any(ords)).count() * STRIDE
                };
                self.collect_competitive(window, ords, number, pass)?;
            }
            _ => (0..window.len()).try_for_each(|at| self.queue.collect(&self.keys, window, at))?,
        }
        Ok(())
    }

    fn merge(&mut self, other: TopKCollector<K>, stop: &Interrupt) -> Result<()> {
        self.queue.merge(other.queue, stop)?;
        self.profile += other.profile;
        Ok(())
    }
}

/// The numbers of a range that are in the other one, too, if there is one.
fn common(
    numbers: Option<RangeInclusive<i64>>,
    others: Option<RangeInclusive<i64>>,
) -> Option<RangeInclusive<i64>> {
    match (numbers, others) {
        (Some(a), Some(b)) => {
            let (start, end) = (*a.start().max(b.start()), *a.end().min(b.end()));
            Some(if start <= end { start..=end } else { RangeInclusive::new(i64::MAX, i64::MIN) })
        }
        (numbers, _) => numbers,
    }
}
