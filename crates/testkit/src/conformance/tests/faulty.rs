//! A faulty column: right except for one fault. It records the methods that were called.

mod terms;

use std::collections::BTreeSet;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex};

use docvalues_column::{
    Batch, BatchDocs, Bounds, Column, ColumnInfo, Count, DocId, DocRange, Each, ErrorKind, Gathered, Pruning,
    Result, Rows, SkipIndex, Terms, Values, View, Zone, bits,
};

use super::Probe;

/// The document that faults affect.
pub(super) const DOC: u32 = 42;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// No fault: counts and bounds are as vague as the rules allow.
    Vague,
    Field,
    Docs,
    WithValue,
    WithValueAtMost,
    ValueCount,
    Bounds,
    BoundsWithin,
    Sum,
    /// The values are of another kind.
    Values,
    /// A column without numbers has a skip index.
    HasSkipIndex,
    IsAbsent,
    Exists,
    /// One document's row.
    Get,
    /// A value past the last document.
    GetPastEnd,
    GetAppends,
    Gather,
    /// Right only for ascending documents, as a forward-only reader would be.
    GatherDescending,
    /// Right only for lists of documents.
    GatherRun,
    GatherTooMany,
    /// Lists, where a row has at most one value; values, where rows are lists.
    GatherForm,
    /// Claims that every document has a value.
    GatherPresent,
    /// Leaves the old contents of the output for documents without a value.
    GatherStale,
    GatherFill,
    ScanValue,
    /// The last batch is left out.
    ScanSkips,
    ScanTwice,
    ScanEmptyBatch,
    ScanGoesOn,
    /// One document is not found.
    FilterBit,
    /// Bits that were set before are cleared.
    FilterClears,
    /// The bit after the last of the range is set.
    FilterBeyond,
    FilterForgets,
    Levels,
    LevelsFineFirst,
    ZoneCount,
    ZoneNarrow,
    ZoneAllPresent,
    MayHoldMisses,
    MayHoldClears,
    MayHoldBeyond,
    MayHoldForgets,
    Guess,
    /// Accepts an output that is too short.
    Lenient,
    Fails,
    TermCount,
    Term,
    TermAppends,
    TermPastEnd,
    SeekExact,
    Place,
    SeekCeil,
    Prefix,
    TermRange,
    GatherTerms,
    EachTerm,
    EachTermGoesOn,
}

pub(super) struct Faulty {
    correct: Arc<dyn Column>,
    fault: Fault,
    info: ColumnInfo,
    called: Mutex<BTreeSet<&'static str>>,
}

impl Faulty {
    pub(super) fn new(correct: &Arc<dyn Column>, fault: Fault) -> Faulty {
        let mut info = correct.info().clone();
        let most = info.with_value.most();
        let (low, high) = info.bounds.range().into_inner();
        match fault {
            Fault::Vague => {
                info.with_value = Count::AtMost(info.docs.into());
                info.value_count = Count::AtMost(info.value_count.most() + 9);
                (info.bounds, info.sum) = (Bounds::Unknown, None);
            }
            Fault::Field => info.field.format = Some("%Y".into()),
            Fault::Docs => info.docs += 1,
            Fault::WithValue => info.with_value = Count::Exact(most + 1),
            Fault::WithValueAtMost => info.with_value = Count::AtMost(most - 1),
            Fault::ValueCount => info.value_count = Count::Exact(info.value_count.most() - 1),
            Fault::Bounds => info.bounds = Bounds::Exact(low.saturating_sub(1)..=high),
            Fault::BoundsWithin => info.bounds = Bounds::Within(low + 1..=high),
            Fault::Sum => info.sum = Some(info.sum.unwrap_or_default() + 1),
            _ => {}
        }
        Faulty { correct: correct.clone(), fault, info, called: Mutex::default() }
    }

    /// The methods that were called, each with its trait.
    pub(super) fn called(&self) -> BTreeSet<&'static str> {
        self.called.lock().unwrap().clone()
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn call(&self, method: &'static str) {
        self.called.lock().unwrap().insert(method);
    }

    fn rows<T: Probe>(&self) -> &dyn Rows<T> {
        T::rows(self.correct.values()).expect("rows of the column's kind")
    }

    fn terms(&self) -> &dyn Terms {
        self.correct.values().terms().expect("the terms of ords")
    }

    fn index(&self) -> &dyn SkipIndex {
        self.correct.skip_index().expect("a skip index")
    }

    /// Replaces the contents of `out` by rows: lists if `is_many`, else single values.
    fn write<T: Probe>(&self, rows: &[Option<Vec<T>>], is_many: bool, out: &mut Gathered<T>) {
        let stale: Vec<Vec<T>> = (0..out.len()).map(|at| out.view().row(at).to_vec()).collect();
        let stale = |at: usize| stale.get(at).filter(|_| self.is(Fault::GatherStale)).cloned();
        let fill = if self.is(Fault::GatherFill) { T::default() } else { out.fill() };
        let marks = !self.is(Fault::GatherPresent);
        if is_many {
            let (lists, mut presence) = out.begin_many(rows.len());
            for (at, row) in rows.iter().enumerate() {
                lists.push(&row.clone().or_else(|| stale(at)).unwrap_or_default());
                presence.mark(at, row.is_some() || !marks);
            }
        } else {
            let (values, mut presence) = out.begin_one(rows.len());
            for (at, row) in rows.iter().enumerate() {
                let row = row.clone().or_else(|| stale(at));
                values[at] = row.and_then(|row| row.first().copied()).unwrap_or(fill);
                presence.mark(at, rows[at].is_some() || !marks);
            }
        }
    }

    /// Runs a filter over places below `end`, which misses the place `at`.
    fn bits(
        &self,
        [misses, clears, beyond]: [Fault; 3],
        at: Option<usize>,
        end: usize,
        bits: &mut [u64],
        run: impl FnOnce(&mut [u64]) -> Result<()>,
    ) -> Result<()> {
        let before = bits.to_vec();
        if self.is(clears) {
            bits.fill(0);
        }
        run(bits)?;
        if let Some(at) = at.filter(|at| self.is(misses) && *at < end && !bits::get(&before, *at)) {
            bits[at / 64] &= !(1 << (at % 64));
        }
        if self.is(beyond) && !end.is_multiple_of(64) {
            bits::set(bits, end);
        }
        Ok(())
    }
}

impl Column for Faulty {
    fn info(&self) -> &ColumnInfo {
        self.call("Column::info");
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.call("Column::exists");
        let doc = DocId::new(DOC + 3);
        if self.is(Fault::Exists) && docs.contains(doc) {
            // Claims that a document without a value has one.
            bits::set(bits, docs.place(doc));
        }
        self.correct.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        self.call("Column::values");
        match self.correct.values() {
            Values::Bytes(_) if self.is(Fault::Values) => Values::Numbers(self),
            _ if self.is(Fault::Values) => Values::Bytes(self),
            Values::Numbers(_) => Values::Numbers(self),
            Values::Ords(..) => Values::Ords(self, self),
            Values::Bytes(_) => Values::Bytes(self),
        }
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        self.call("Column::skip_index");
        (self.correct.skip_index().is_some() || self.is(Fault::HasSkipIndex)).then_some(self)
    }

    fn is_absent(&self) -> bool {
        self.call("Column::is_absent");
        self.is(Fault::IsAbsent)
    }
}

impl<T: Probe> Rows<T> for Faulty {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()> {
        self.call("Rows::gather");
        let mut correct = Gathered::new();
        self.rows::<T>().gather(docs, &mut correct)?;
        let mut before = DocId::new(0);
        let mut rows = Vec::new();
        for (at, doc) in docs.iter().enumerate() {
            let is_wrong = match self.fault {
                Fault::Gather => doc.get() == DOC,
                Fault::GatherRun => doc.get() == DOC && matches!(docs, BatchDocs::Run(_)),
                Fault::GatherDescending => doc < before,
                _ => false,
            };
            let row = correct.row(at).map(<[T]>::to_vec);
            rows.push(row.map(|row| if is_wrong { wrong(&row) } else { row }));
            before = doc;
        }
        if self.is(Fault::GatherTooMany) {
            rows.push(None);
        }
        self.write(&rows, correct.is_many() != self.is(Fault::GatherForm), out);
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()> {
        self.call("Rows::scan");
        self.rows::<T>().scan(docs, &mut |batch| {
            let is_last = batch.docs.iter().any(|doc| doc.get() + 50 > self.info.docs);
            match self.fault {
                Fault::ScanSkips if is_last => return ControlFlow::Continue(()),
                Fault::ScanEmptyBatch => {
                    each(Batch { docs: BatchDocs::List(&[]), values: View::One(&[]) })?;
                }
                Fault::ScanTwice => each(batch)?,
                _ => {}
            }
            let rows: Vec<Option<Vec<T>>> = (batch.docs.iter().enumerate())
                .map(|(at, doc)| (doc, batch.values.row(at)))
                .map(|(doc, row)| {
                    let is_wrong = self.is(Fault::ScanValue) && doc.get() == DOC;
                    Some(if is_wrong { wrong(row) } else { row.to_vec() })
                })
                .collect();
            let mut out = Gathered::new();
            self.write(&rows, batch.values.many().is_some(), &mut out);
            let flow = each(Batch { docs: batch.docs, values: out.view() });
            if self.is(Fault::ScanGoesOn) { ControlFlow::Continue(()) } else { flow }
        })
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &T::Range,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        self.call("Rows::filter");
        if self.is(Fault::Lenient) && bits.len() < docs.words() {
            return Ok(());
        }
        let faults = [Fault::FilterBit, Fault::FilterClears, Fault::FilterBeyond];
        self.bits(faults, Some(docs.place(DocId::new(DOC))), docs.len(), bits, |bits| {
            self.rows::<T>().filter(docs, wanted, bits, pruned)
        })?;
        if self.is(Fault::FilterForgets) {
            *pruned = Pruning::default();
        }
        Ok(())
    }

    fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        self.call("Rows::get");
        if self.is(Fault::Fails) {
            Err(ErrorKind::NoSuchOrd { field: self.info.field.name.clone(), ord: 0, len: 0 })?;
        }
        let before = out.clone();
        let is_present = self.rows::<T>().get(doc, out)?;
        match self.fault {
            Fault::Get if doc.get() == DOC => *out = wrong(out),
            Fault::GetPastEnd if doc.get() == self.info.docs => {
                *out = vec![T::WRONG];
                return Ok(true);
            }
            Fault::GetAppends => drop(out.splice(0..0, before)),
            _ => {}
        }
        Ok(is_present)
    }
}

/// A row with another first element.
fn wrong<T: Probe>(row: &[T]) -> Vec<T> {
    [&[T::WRONG], row.get(1..).unwrap_or_default()].concat()
}

impl SkipIndex for Faulty {
    fn levels(&self) -> &[u32] {
        self.call("SkipIndex::levels");
        match self.fault {
            Fault::Levels => &[256, 96],
            Fault::LevelsFineFirst => &[64, 256],
            Fault::HasSkipIndex => &[],
            _ => self.index().levels(),
        }
    }

    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
        self.call("SkipIndex::zones");
        self.index().zones(level, docs, out)?;
        match self.fault {
            Fault::ZoneCount => out.extend(out.last().copied()),
            Fault::ZoneNarrow => out.iter_mut().for_each(|zone| zone.max = zone.max.saturating_sub(1)),
            Fault::ZoneAllPresent => out.iter_mut().for_each(|zone| zone.all_present = true),
            _ => {}
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
        self.call("SkipIndex::may_hold");
        let faults = [Fault::MayHoldMisses, Fault::MayHoldClears, Fault::MayHoldBeyond];
        let zones = docs.len().div_ceil(self.index().levels()[level] as usize);
        self.bits(faults, zones.checked_sub(1), zones, bits, |bits| {
            self.index().may_hold(level, docs, wanted, bits, pruned)
        })?;
        if self.is(Fault::MayHoldForgets) {
            *pruned = Pruning::default();
        }
        Ok(())
    }

    fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        self.call("SkipIndex::estimate_nth");
        if self.is(Fault::Guess) && n == u64::MAX {
            Err(ErrorKind::NoSuchOrd { field: self.info.field.name.clone(), ord: 0, len: 0 })?;
        }
        self.index().estimate_nth(n, greatest)
    }
}
