//! A numeric column with some numbers changed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, Count, DocId, DocRange, Each, Gathered, Kind, Pruning, Result,
    Rows, SkipIndex, Values, Zone, bits, scan_by_gather,
};

/// A numeric column over another, in which some documents have another number, or none.
///
/// Bounds and counts are no longer exact, because the old number of a changed document is not looked up.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Column, DocId, Field, Kind, LogicalType};
/// use docvalues_testkit::{model::ModelColumn, overlay::Overlay};
///
/// # fn main() -> docvalues_column::Result<()> {
/// let field = Field::new("size", Kind::Numeric, LogicalType::I64);
/// let sizes = ModelColumn::Numeric(vec![Some(7), Some(8)]).open(field, 3);
/// let changed = Overlay::new(sizes, [(1, None), (2, Some(-1))].into());
/// let (rows, mut row) = (changed.values().numbers().unwrap(), Vec::new());
/// assert!(!rows.get(DocId::new(1), &mut row)?);
/// assert!(rows.get(DocId::new(2), &mut row)?);
/// assert_eq!(row, [-1]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Overlay {
    base: Arc<dyn Column>,
    changes: BTreeMap<u32, Option<i64>>,
    info: ColumnInfo,
}

impl Overlay {
    /// `base` with the number of each document in `changes`; `None` removes it.
    ///
    /// # Panics
    ///
    /// If `base` is not numeric, or a change is past its last document.
    pub fn new(base: Arc<dyn Column>, changes: BTreeMap<u32, Option<i64>>) -> Overlay {
        let mut info = base.info().clone();
        assert_eq!(info.kind(), Kind::Numeric, "the kind of \"{}\"", info.field.name);
        let last = changes.last_key_value().map(|(doc, _)| *doc);
        assert!(last.is_none_or(|doc| doc < info.docs), "document {last:?} of {}", info.docs);
        let at_most = |count: Count| {
            let added = changes.values().flatten().count() as u64;
            Count::AtMost(count.most().saturating_add(added).min(info.docs.into()))
        };
        (info.with_value, info.value_count) = (at_most(info.with_value), at_most(info.value_count));
        if info.bounds != Bounds::Unknown {
            let (low, high) = info.bounds.range().into_inner();
            let numbers = || changes.values().flatten().copied();
            info.bounds = Bounds::Within(numbers().fold(low, i64::min)..=numbers().fold(high, i64::max));
        }
        info.sum = None;
        Overlay { base, changes, info }
    }

    fn rows(&self) -> &dyn Rows<i64> {
        self.base.values().numbers().expect("a numeric column has numbers")
    }

    fn index(&self) -> &dyn SkipIndex {
        self.base.skip_index().expect("`skip_index` returned this one")
    }

    /// The changes in `docs`: each document's position in `docs`, and its new number.
    fn changes(&self, docs: DocRange) -> impl Iterator<Item = (usize, Option<i64>)> {
        let some = (!docs.is_empty()).then(|| self.changes.range(docs.start..docs.end));
        some.into_iter().flatten().map(move |(doc, number)| (docs.place(DocId::new(*doc)), *number))
    }

    /// The changes in the zones of `docs`: the zone's position, and the new number.
    fn zone_changes(&self, level: usize, docs: DocRange) -> impl Iterator<Item = (usize, Option<i64>)> {
        let len = self.levels()[level];
        let docs = DocRange::new(docs.start, docs.end.div_ceil(len).saturating_mul(len));
        self.changes(docs).map(move |(at, number)| (at / len as usize, number))
    }

    /// Adds to `bits` the documents that `run` finds in the base column, except that changed documents are added if
    /// their new number is `wanted`.
    fn add(
        &self,
        docs: DocRange,
        bits: &mut [u64],
        wanted: impl Fn(i64) -> bool,
        run: impl FnOnce(&mut [u64]) -> Result<()>,
    ) -> Result<()> {
        bits::check(docs, bits);
        let mut found = vec![0; docs.words()];
        run(&mut found)?;
        for (at, number) in self.changes(docs) {
            found[at / 64] &= !(1 << (at % 64));
            found[at / 64] |= u64::from(number.is_some_and(&wanted)) << (at % 64);
        }
        bits.iter_mut().zip(found).for_each(|(word, found)| *word |= found);
        Ok(())
    }
}

impl Column for Overlay {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.add(docs, bits, |_| true, |found| self.base.exists(docs, found))
    }

    fn values(&self) -> Values<'_> {
        Values::Numbers(self)
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        self.base.skip_index().map(|_| self as &dyn SkipIndex)
    }
}

impl Rows<i64> for Overlay {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> Result<()> {
        self.rows().gather(docs, out)?;
        match docs {
            BatchDocs::Run(docs) => self.changes(docs).for_each(|(at, number)| out.set(at, number)),
            BatchDocs::List(docs) => {
                let changed = |(at, doc): (usize, &DocId)| Some((at, *self.changes.get(&doc.get())?));
                docs.iter().enumerate().filter_map(changed).for_each(|(at, number)| out.set(at, number));
            }
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> Result<()> {
        scan_by_gather(self, docs.clip(self.info.docs), each)
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let is_wanted = |number| wanted.contains(&number);
        self.add(docs, bits, is_wanted, |found| self.rows().filter(docs, wanted, found, pruned))
    }

    fn get(&self, doc: DocId, out: &mut Vec<i64>) -> Result<bool> {
        let Some(number) = self.changes.get(&doc.get()) else { return self.rows().get(doc, out) };
        out.clear();
        out.extend(number);
        Ok(number.is_some())
    }
}

/// The zones of the base column, extended by the new numbers.
impl SkipIndex for Overlay {
    fn levels(&self) -> &[u32] {
        self.index().levels()
    }

    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
        self.index().zones(level, docs, out)?;
        for (at, number) in self.zone_changes(level, docs) {
            let zone = &mut out[at];
            match number {
                Some(number) => (zone.min, zone.max) = (zone.min.min(number), zone.max.max(number)),
                None => zone.all_present = false,
            }
        }
        Ok(())
    }

    fn may_hold(
        &self,
        level: usize,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        self.index().may_hold(level, docs, wanted, bits, pruned)?;
        for (at, number) in self.zone_changes(level, docs) {
            if number.is_some_and(|number| wanted.contains(&number)) {
                bits::set(bits, at);
            }
        }
        Ok(())
    }

    fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        self.index().estimate_nth(n, greatest)
    }
}

#[cfg(test)]
mod tests;
