//! The open columns of a request, in all parts of the search.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use docvalues_column::{
    AbsentColumn, Bounds, Column, ColumnInfo, Count, DocRange, Field, Kind, Lists, OrdRange, Pruning,
    Result as ColumnResult, TermOrd, Terms, Value, Values,
};

use super::interrupt::Interrupt;
use super::term_ids::TermIds;
use super::threads::lock;
use super::value::{self, Stored, ord_of};
use crate::error::Result;

/// One column in all parts of a search.
pub(crate) struct ColumnSet {
    /// The description of the column in all parts together.
    info: ColumnInfo,
    pub(crate) parts: Vec<Arc<dyn Column>>,
    /// The bounds of each part, side by side; empty unless it is a column of numbers.
    bounds: Vec<(i64, i64)>,
    /// The identities of its terms, once they are needed.
    pub(crate) ids: Mutex<Option<Arc<TermIds>>>,
}

/// The columns of a request. Each is opened once, and read once per window, however many collectors use it.
#[derive(Default)]
pub(crate) struct Columns {
    columns: Vec<(Arc<ColumnSet>, Option<Arc<TermIds>>)>,
    /// The slots of those that were opened by name.
    by_name: HashMap<String, Slot>,
}

/// The columns of a request in one part.
#[derive(Clone, Copy)]
pub(crate) struct PartColumns<'a> {
    columns: &'a Columns,
    part: usize,
}

/// The index of a column in [`Columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot(pub(super) usize);

/// A column of a request, described for all parts together.
#[derive(Clone, Copy)]
pub(crate) struct ColumnView<'a> {
    set: &'a ColumnSet,
    ids: Option<&'a TermIds>,
}

/// The type of a column's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    Numbers,
    Ords,
    Bytes,
}

/// Terms to [`gather`](TermSpace::gather) at once.
const TERM_BATCH: usize = 1 << 12;

/// The terms that the ords of a column identify: those of its dictionary or, in several parts, of all dictionaries.
#[derive(Clone, Copy)]
pub(crate) enum TermSpace<'a> {
    /// Ords of the only part. They are in the order of the terms.
    Part(&'a dyn Terms),
    /// Ids, in no order.
    Ids(&'a TermIds),
}

impl ColumnSet {
    /// The column of a field in each part. All have its kind and type.
    pub(crate) fn new(field: Field, parts: Vec<Arc<dyn Column>>) -> ColumnSet {
        let info = match parts.as_slice() {
            [] => AbsentColumn::of(field, 0).info().clone(),
            [only] => only.info().clone(),
            parts => merged(parts),
        };
        let bounds = |column: &Arc<dyn Column>| column.info().bounds.range().into_inner();
        let bounds = if info.kind().is_bytes() { Vec::new() } else { parts.iter().map(bounds).collect() };
        ColumnSet { info, parts, bounds, ids: Mutex::new(None) }
    }

    /// The description of the column in all parts together.
    pub(crate) fn info(&self) -> &ColumnInfo {
        &self.info
    }

    /// The bounds of the numbers in a part. O(1).
    #[inline]
    pub(crate) fn bounds_of(&self, part: usize) -> (i64, i64) {
        self.bounds[part]
    }

    pub(crate) fn name(&self) -> &str {
        &self.info.field.name
    }

    /// Whether no part has the column.
    pub(crate) fn is_absent(&self) -> bool {
        self.parts.iter().all(|column| column.is_absent())
    }

    fn elements(&self) -> Elements {
        match self.info.kind() {
            Kind::Numeric | Kind::SortedNumeric => Elements::Numbers,
            Kind::Sorted | Kind::SortedSet => Elements::Ords,
            Kind::Binary => Elements::Bytes,
        }
    }

    /// The identities of the terms, which `make` makes once.
    pub(crate) fn ids(&self, make: impl FnOnce() -> Result<TermIds>) -> Result<Arc<TermIds>> {
        let mut ids = lock(&self.ids);
        if let Some(ids) = &*ids {
            return Ok(ids.clone());
        }
        let made = Arc::new(make()?);
        *ids = Some(made.clone());
        Ok(made)
    }
}

/// The description of a column in several parts together. More documents than a `u32` counts are described as that
/// many: requests count documents by themselves.
fn merged(parts: &[Arc<dyn Column>]) -> ColumnInfo {
    let infos = || parts.iter().map(|part| part.info());
    let there = || infos().filter(|info| info.with_value.most() > 0);
    let docs = infos().map(|info| u64::from(info.docs)).sum::<u64>();
    let described = there().next().or(infos().find(|info| info.field.format.is_some()));
    let field = described.unwrap_or(parts[0].info()).field.clone();
    let bounds = there().map(|info| &info.bounds).fold(Bounds::NONE, |all, part| match (&all, part) {
        (Bounds::Unknown, _) | (_, Bounds::Unknown) => Bounds::Unknown,
        (a, b) => {
            let (low, high) = (a.range(), b.range());
            let range = *low.start().min(high.start())..=*low.end().max(high.end());
            let are_exact = a.exact().is_some() && b.exact().is_some();
            if are_exact { Bounds::Exact(range) } else { Bounds::Within(range) }
        }
    });
    ColumnInfo {
        docs: u32::try_from(docs).unwrap_or(u32::MAX),
        with_value: total(infos().map(|info| info.with_value)),
        value_count: total(infos().map(|info| info.value_count)),
        bounds: if field.kind.is_bytes() { Bounds::Unknown } else { bounds },
        sum: infos().try_fold(0_i128, |all, info| all.checked_add(info.sum?)),
        field,
    }
}

/// The sum of counts: exact if all are. Damaged files may count up to `u64::MAX` values each.
fn total(mut counts: impl Iterator<Item = Count> + Clone) -> Count {
    let most = counts.clone().map(Count::most).fold(0, u64::saturating_add);
    if counts.all(|count| count.exact().is_some()) { Count::Exact(most) } else { Count::AtMost(most) }
}

impl Columns {
    /// The slot of the column that was opened as `name`.
    pub(crate) fn find(&self, name: &str) -> Option<Slot> {
        self.by_name.get(name).copied()
    }

    /// Adds a column, of a name or made of others.
    pub(crate) fn add(&mut self, name: Option<&str>, set: Arc<ColumnSet>) -> Slot {
        self.columns.push((set, None));
        let slot = Slot(self.columns.len() - 1);
        if let Some(name) = name {
            self.by_name.insert(name.to_owned(), slot);
        }
        slot
    }

    /// From now on, ords of the column are read as ids of terms, which `make` makes, if there are several parts.
    pub(crate) fn read_as_ids(
        &mut self,
        slot: Slot,
        make: impl FnOnce(&ColumnSet) -> Result<Arc<TermIds>>,
    ) -> Result<()> {
        let (set, ids) = &mut self.columns[slot.0];
        if ids.is_none() && set.parts.len() > 1 && set.elements() == Elements::Ords {
            *ids = Some(make(set)?);
        }
        Ok(())
    }

    pub(crate) fn get(&self, slot: Slot) -> ColumnView<'_> {
        let (set, ids) = &self.columns[slot.0];
        ColumnView { set, ids: ids.as_deref() }
    }

    /// The columns in part `part`.
    pub(crate) fn part(&self, part: usize) -> PartColumns<'_> {
        PartColumns { columns: self, part }
    }
}

impl<'a> ColumnView<'a> {
    /// The description of the column in all parts together.
    pub(crate) fn info(self) -> &'a ColumnInfo {
        &self.set.info
    }

    pub(crate) fn elements(self) -> Elements {
        self.set.elements()
    }

    /// Whether no part has the column.
    pub(crate) fn is_absent(self) -> bool {
        self.set.is_absent()
    }

    /// The terms that ords identify, for a column of ords: of one part, or [read as ids](Columns::read_as_ids).
    pub(crate) fn terms(self) -> Option<TermSpace<'a>> {
        match (self.ids, self.set.parts.as_slice()) {
            (Some(ids), _) => Some(TermSpace::Ids(ids)),
            (None, [only]) => only.values().terms().map(TermSpace::Part),
            _ => None,
        }
    }

    /// A bit for each id that a part has. O(terms of all parts).
    pub(crate) fn used_ids(self) -> Vec<u64> {
        self.ids.map_or_else(Vec::new, |ids| ids.used(&self.set.parts))
    }

    /// A range that contains all numbers that [`Window::cells`] returns; empty if there are none.
    ///
    /// [`Window::cells`]: super::window::Window::cells
    pub(crate) fn number_bounds(self) -> RangeInclusive<i64> {
        let bounds = self.info().bounds.range();
        if value::has_negative_zero(self.info()) {
            return value::one_zero(*bounds.start())..=value::one_zero(*bounds.end());
        }
        bounds
    }

    /// [`number_bounds`](Self::number_bounds), or a range that contains all ords as numbers. `None` for byte strings.
    pub(crate) fn bounds(self) -> Option<RangeInclusive<i64>> {
        match self.elements() {
            Elements::Numbers => Some(self.number_bounds()),
            Elements::Ords => Some(0..=i64::from(self.terms().map_or(0, TermSpace::len)) - 1),
            Elements::Bytes => None,
        }
    }

    /// Makes an item of each value that was found, and of what belongs to it. Numbers are ords if the column has terms;
    /// byte strings are terms already.
    ///
    /// # Errors
    ///
    /// If the dictionary is damaged, the search is interrupted, or `make` fails.
    pub(crate) fn resolve<T, R>(
        self,
        mut found: impl ExactSizeIterator<Item = (Stored, T)>,
        stop: &Interrupt,
        mut make: impl FnMut(Value, T) -> Result<R>,
    ) -> Result<Vec<R>> {
        let logical = self.info().field.logical;
        let (mut all, mut terms, mut ords) = (Vec::with_capacity(found.len()), Lists::new(), Vec::new());
        while found.len() > 0 {
            stop.check()?;
            let some: Vec<(Stored, T)> = found.by_ref().take(TERM_BATCH).collect();
            if let Some(dictionary) = self.terms() {
                ords.clear();
                ords.extend(some.iter().filter_map(|(value, _)| match value {
                    Stored::Number(ord) => Some(ord_of(*ord)),
                    Stored::Bytes(_) => None,
                }));
                // A caller that has terms may hold their lock.
                if !ords.is_empty() {
                    dictionary.gather(&ords, &mut terms)?;
                }
            }
            let mut terms = terms.slices().iter();
            for (value, with) in some {
                let term = terms.next().map(|term| Value::Bytes(term.to_vec()));
                all.push(make(term.unwrap_or_else(|| value.into_value(logical)), with)?);
            }
        }
        Ok(all)
    }
}

impl TermSpace<'_> {
    /// The number of terms, which is also the least number above all ords.
    pub(crate) fn len(self) -> u32 {
        match self {
            TermSpace::Part(terms) => terms.term_count(),
            TermSpace::Ids(ids) => ids.len(),
        }
    }

    /// Replaces `out` by the terms of `ords`.
    pub(crate) fn gather(self, ords: &[TermOrd], out: &mut Lists<u8>) -> ColumnResult<()> {
        match self {
            TermSpace::Part(terms) => terms.gather_terms(ords, out),
            TermSpace::Ids(ids) => ids.gather(ords, out),
        }
    }
}

impl<'a> PartColumns<'a> {
    /// The index of the part in the search.
    pub(crate) fn part(self) -> usize {
        self.part
    }

    /// The number of parts in the search; 0 without columns.
    pub(crate) fn parts(self) -> usize {
        self.columns.columns.first().map_or(0, |(set, _)| set.parts.len())
    }

    pub(crate) fn get(self, slot: Slot) -> &'a dyn Column {
        &*self.columns.columns[slot.0].0.parts[self.part]
    }

    /// The id of each term of the column in this part; `None` if ords are ids.
    pub(crate) fn ids(self, slot: Slot) -> Option<&'a [TermOrd]> {
        self.columns.columns[slot.0].1.as_ref()?.of_part(self.part)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'a dyn Column> {
        self.columns.columns.iter().map(move |(set, _)| &*set.parts[self.part])
    }

    pub(crate) fn len(self) -> usize {
        self.columns.columns.len()
    }
}

/// A range that contains all numbers of a column, or all ords as numbers; empty if there are none. `None` for byte
/// strings.
pub(crate) fn value_bounds(column: &dyn Column) -> Option<RangeInclusive<i64>> {
    match column.values() {
        Values::Numbers(_) => Some(column.info().bounds.range()),
        Values::Ords(_, terms) => Some(0..=i64::from(terms.term_count()) - 1),
        Values::Bytes(_) => None,
    }
}

/// Sets the bits of the documents with a number, or an ord as a number, in `numbers`.
pub(crate) fn filter_numbers(
    column: &dyn Column,
    docs: DocRange,
    numbers: &RangeInclusive<i64>,
    found: &mut [u64],
    pruned: &mut Pruning,
) -> Result<()> {
    match column.values() {
        Values::Numbers(rows) => rows.filter(docs, numbers, found, pruned)?,
        Values::Ords(rows, _) => rows.filter(docs, &ords(numbers), found, pruned)?,
        Values::Bytes(_) => {}
    }
    Ok(())
}

/// The ords in a range of numbers.
fn ords(numbers: &RangeInclusive<i64>) -> OrdRange {
    let clip = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
    let end = clip(numbers.end().saturating_add(1));
    OrdRange::new(clip(*numbers.start()).min(end), end)
}
