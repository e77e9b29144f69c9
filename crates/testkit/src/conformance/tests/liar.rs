//! A column that is right but for one thing.

use std::ops::{Bound, ControlFlow, Range, RangeInclusive};

use docvalues_column::{
    Batch, BatchDocs, BinaryColumn, Column, DocId, Error, ErrorKind, Field, FilterCounts, Lists,
    NumericColumn, Result, Slices, SortedColumn, SortedNumericColumn, SortedSetColumn, TermOrd, Terms, bits,
};

/// The document that lies are told about.
pub(super) const DOC: u32 = 42;
/// The ord that lies are told about.
const ORD: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lie {
    None,
    Field,
    Docs,
    DocsWithValue,
    Exists,
    Bounds,
    ValueCount,
    /// One document's value.
    Get,
    /// A value behind the last document.
    GetPastEnd,
    Gather,
    /// Right only for ascending documents, as a forward-only reader would be.
    GatherDescending,
    /// Sets bits of `present`, clears none.
    GatherPresent,
    /// Leaves what was in the output where there is no value.
    GatherNotZero,
    GatherOr,
    /// Does not clear the lists it is given.
    GatherAppends,
    ScanValue,
    /// The last batch does not come.
    ScanSkips,
    ScanTwice,
    ScanEmptyBatch,
    ScanGoesOn,
    /// One document is not found.
    FilterBit,
    /// Bits that were set before are cleared.
    FilterClears,
    /// The bit behind the last of the range is set.
    FilterBeyond,
    /// Where a filter need not look, it finds a document.
    Candidates,
    /// No stretch is open.
    Stretches,
    /// Takes an output that is too short, and leaves it at that.
    Lenient,
    Fails,
    TermCount,
    Term,
    TermAppends,
    TermPastEnd,
    SeekExact,
    SeekCeil,
    Prefix,
    TermRange,
    GatherTerms,
    EachTerm,
    EachTermGoesOn,
}

pub(super) struct Liar<C> {
    honest: C,
    lie: Lie,
    field: Field,
}

impl<C: Column> Liar<C> {
    pub(super) fn new(honest: C, lie: Lie) -> Liar<C> {
        let mut field = honest.field().clone();
        field.format = (lie == Lie::Field).then(|| "%Y".into());
        Liar { honest, lie, field }
    }

    fn is(&self, lie: Lie) -> bool {
        self.lie == lie
    }

    fn at(&self, lie: Lie, doc: DocId) -> bool {
        self.is(lie) && doc.get() == DOC
    }

    fn past(&self, doc: DocId) -> bool {
        self.is(Lie::GetPastEnd) && doc.get() == self.honest.docs()
    }

    fn fails(&self) -> Result<()> {
        let field = "lied about".to_string();
        let error = Error::from(ErrorKind::NoSuchOrd { field, ord: 0, len: 0 });
        if self.is(Lie::Fails) { Err(error) } else { Ok(()) }
    }

    /// The places of `docs` whose value a gather gets wrong.
    fn wrong(&self, docs: &[DocId], has_value: impl Fn(usize) -> bool) -> Vec<usize> {
        let backwards = |i: usize| i > 0 && docs[i] < docs[i - 1];
        let wrong = |i: &usize| {
            self.at(Lie::Gather, docs[*i])
                || (self.is(Lie::GatherDescending) && backwards(*i) && has_value(*i))
                || (self.is(Lie::GatherNotZero) && !has_value(*i))
        };
        (0..docs.len()).filter(wrong).collect()
    }

    fn present(&self, present: &mut [u64], run: impl FnOnce(&mut [u64]) -> Result<()>) -> Result<()> {
        let before = present.to_vec();
        run(present)?;
        if self.is(Lie::GatherPresent) {
            present.iter_mut().zip(before).for_each(|(word, before)| *word |= before);
        }
        Ok(())
    }

    fn bits(
        &self,
        docs: Range<u32>,
        bits: &mut [u64],
        run: impl FnOnce(&mut [u64]) -> Result<()>,
    ) -> Result<()> {
        let before = bits.to_vec();
        if self.is(Lie::FilterClears) {
            bits.fill(0);
        }
        run(bits)?;
        let at = DOC.wrapping_sub(docs.start) as usize;
        if self.is(Lie::FilterBit) && docs.contains(&DOC) && !bits::get(&before, at) {
            bits[at / 64] &= !(1 << (at % 64));
        }
        if self.is(Lie::FilterBeyond) && !docs.len().is_multiple_of(64) {
            bits::set(bits, docs.len());
        }
        Ok(())
    }

    fn batch<V: Copy>(
        &self,
        batch: Batch<'_, V>,
        (empty, wrong): (V, V),
        each: &mut dyn FnMut(Batch<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let last = batch.docs.iter().any(|doc| doc.get() + 50 > self.honest.docs());
        let values = if self.is(Lie::ScanValue) { wrong } else { batch.values };
        match self.lie {
            Lie::ScanSkips if last => return ControlFlow::Continue(()),
            Lie::ScanEmptyBatch => each(Batch { docs: BatchDocs::List(&[]), values: empty })?,
            Lie::ScanTwice => each(batch)?,
            _ => {}
        }
        let flow = each(Batch { docs: batch.docs, values });
        if self.is(Lie::ScanGoesOn) { ControlFlow::Continue(()) } else { flow }
    }

    /// A batch of lists, and the same with one value wrong.
    fn lists<T: Copy>(
        &self,
        batch: Batch<'_, Slices<'_, T>>,
        wrong: T,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, T>>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (empty, mut lists) = (Lists::new(), Lists::new());
        for (doc, list) in batch.docs.iter().zip(batch.values.iter()) {
            lists.push(list);
            if doc.get() == DOC {
                lists = replaced(&lists, &[lists.len() - 1], wrong);
            }
        }
        self.batch(batch, (empty.slices(), lists.slices()), each)
    }

    fn gather_lists<T: Copy>(
        &self,
        docs: &[DocId],
        out: &mut Lists<T>,
        wrong: T,
        run: impl FnOnce(&mut Lists<T>) -> Result<()>,
    ) -> Result<()> {
        self.fails()?;
        let mut fresh = Lists::new();
        run(&mut fresh)?;
        let fresh = replaced(&fresh, &self.wrong(docs, |i| !fresh.get(i).is_empty()), wrong);
        if !self.is(Lie::GatherAppends) {
            out.clear();
        }
        fresh.slices().iter().for_each(|list| out.push(list));
        Ok(())
    }
}

/// The same lists, with another first item in those at `wrong`.
fn replaced<T: Copy>(lists: &Lists<T>, wrong: &[usize], item: T) -> Lists<T> {
    let mut replaced = Lists::new();
    for (i, list) in lists.slices().iter().enumerate() {
        let wrong = wrong.contains(&i);
        replaced.push_with(|items| {
            items.extend(wrong.then_some(item));
            items.extend(list.iter().skip(usize::from(wrong)));
        });
    }
    replaced
}

impl<C: Column> Column for Liar<C> {
    fn field(&self) -> &Field {
        &self.field
    }

    fn docs(&self) -> u32 {
        self.honest.docs() + u32::from(self.is(Lie::Docs))
    }

    fn docs_with_value(&self) -> u32 {
        self.honest.docs_with_value() - u32::from(self.is(Lie::DocsWithValue))
    }

    fn exists(&self, docs: Range<u32>, bits: &mut [u64]) -> Result<()> {
        if self.is(Lie::Exists) && docs.contains(&DOC) {
            // One document without a value is said to have one.
            bits::set(bits, (DOC + 3 - docs.start) as usize % docs.len());
        }
        self.honest.exists(docs, bits)
    }
}

impl<C: NumericColumn> NumericColumn for Liar<C> {
    fn bounds(&self) -> Option<RangeInclusive<i64>> {
        let (low, high) = self.honest.bounds()?.into_inner();
        Some(low - i64::from(self.is(Lie::Bounds))..=high)
    }

    fn get(&self, doc: DocId) -> Result<Option<i64>> {
        self.fails()?;
        let past = self.past(doc).then_some(0);
        Ok(self.honest.get(doc)?.map(|value| value + i64::from(self.at(Lie::Get, doc))).or(past))
    }

    fn gather(&self, docs: &[DocId], out: &mut [i64], present: &mut [u64]) -> Result<()> {
        self.present(present, |present| self.honest.gather(docs, out, present))?;
        let has_value: Vec<bool> = (0..docs.len()).map(|i| bits::get(present, i)).collect();
        self.wrong(docs, |i| has_value[i]).into_iter().for_each(|i| out[i] += 1);
        Ok(())
    }

    fn gather_or(&self, docs: &[DocId], out: &mut [i64], fill: i64) -> Result<()> {
        if self.is(Lie::Lenient) && out.len() < docs.len() {
            return Ok(());
        }
        let fill = if self.is(Lie::GatherOr) { 0 } else { fill };
        self.honest.gather_or(docs, out, fill)
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[i64]>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.honest.scan(docs, &mut |batch| {
            let wrong = |(doc, value): (DocId, &i64)| *value + i64::from(doc.get() == DOC);
            let wrong: Vec<i64> = batch.docs.iter().zip(batch.values).map(wrong).collect();
            self.batch(batch, (&[], &wrong), each)
        })
    }

    fn filter(&self, docs: Range<u32>, values: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        self.bits(docs.clone(), bits, |bits| self.honest.filter(docs, values, bits))
    }

    fn candidates(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        counts: &mut FilterCounts,
        each: &mut dyn FnMut(Range<u32>) -> ControlFlow<()>,
    ) -> Result<()> {
        if self.is(Lie::Candidates) && docs.start <= DOC {
            let _ = each(docs.end.min(DOC + 1)..docs.end);
            return Ok(());
        }
        self.honest.candidates(docs, values, counts, each)
    }

    fn open_stretches(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        finely: bool,
        counts: &mut FilterCounts,
        bits: &mut [u64],
    ) -> Result<()> {
        if self.is(Lie::Stretches) {
            return Ok(());
        }
        self.honest.open_stretches(docs, values, finely, counts, bits)
    }
}

impl<C: BinaryColumn> BinaryColumn for Liar<C> {
    fn get<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        self.fails()?;
        let past = self.past(doc).then_some(&b""[..]);
        let wrong = self.at(Lie::Get, doc).then_some(&b"wrong"[..]);
        Ok(wrong.or(self.honest.get(doc, buffer)?).or(past))
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<u8>, present: &mut [u64]) -> Result<()> {
        self.gather_lists(docs, out, b'?', |out| {
            self.present(present, |present| self.honest.gather(docs, out, present))
        })
    }

    fn gather_or(&self, docs: &[DocId], out: &mut Lists<u8>, fill: &[u8]) -> Result<()> {
        let fill = if self.is(Lie::GatherOr) { b"" } else { fill };
        self.honest.gather_or(docs, out, fill)
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, u8>>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.honest.scan(docs, &mut |batch| self.lists(batch, b'?', each))
    }

    fn filter(
        &self,
        docs: Range<u32>,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        bits: &mut [u64],
    ) -> Result<()> {
        self.bits(docs.clone(), bits, |bits| self.honest.filter(docs, low, high, bits))
    }
}

impl<C: Column + Terms> Terms for Liar<C> {
    fn term_count(&self) -> u32 {
        self.honest.term_count() + u32::from(self.is(Lie::TermCount))
    }

    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        let before = out.clone();
        if self.is(Lie::TermPastEnd) && ord.get() == self.honest.term_count() {
            return self.honest.term(TermOrd::new(0), out);
        }
        self.honest.term(ord, out)?;
        match self.lie {
            Lie::Term if ord.get() == ORD => out[0] ^= 1,
            Lie::TermAppends => out.splice(0..0, before).for_each(drop),
            _ => {}
        }
        Ok(())
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        self.honest.gather_terms(ords, out)?;
        if self.is(Lie::GatherTerms) {
            out.push(b"one too many");
        }
        Ok(())
    }

    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        let found = self.honest.seek_exact(term)?;
        Ok(found.filter(|ord| !(self.is(Lie::SeekExact) && ord.get() == ORD)))
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        let ceil = self.honest.seek_ceil(term)?.get();
        // Wrong only for what is no term: one past the term that follows.
        let absent = self.is(Lie::SeekCeil) && self.honest.seek_exact(term)?.is_none();
        Ok(TermOrd::new(ceil + u32::from(absent)))
    }

    fn prefix(&self, prefix: &[u8]) -> Result<Range<u32>> {
        let found = self.honest.prefix(prefix)?;
        let all = found.len() == self.honest.term_count() as usize;
        Ok(if self.is(Lie::Prefix) && all { 1..found.end } else { found })
    }

    fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Range<u32>> {
        let high = match high {
            Bound::Excluded(term) if self.is(Lie::TermRange) => Bound::Included(term),
            _ => high,
        };
        self.honest.term_range(low, high)
    }

    fn each_term(
        &self,
        ords: Range<u32>,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.honest.each_term(ords, &mut |ord, term| {
            let term = if self.is(Lie::EachTerm) && ord.get() == ORD { b"wrong" } else { term };
            let flow = each(ord, term);
            if self.is(Lie::EachTermGoesOn) { ControlFlow::Continue(()) } else { flow }
        })
    }
}

impl<C: SortedColumn> SortedColumn for Liar<C> {
    fn ord(&self, doc: DocId) -> Result<Option<TermOrd>> {
        self.fails()?;
        let past = self.past(doc).then_some(TermOrd::new(0));
        let wrong = self.at(Lie::Get, doc).then_some(TermOrd::new(u32::MAX));
        Ok(wrong.or(self.honest.ord(doc)?).or(past))
    }

    fn gather(&self, docs: &[DocId], out: &mut [TermOrd], present: &mut [u64]) -> Result<()> {
        self.present(present, |present| self.honest.gather(docs, out, present))?;
        let has_value: Vec<bool> = (0..docs.len()).map(|i| bits::get(present, i)).collect();
        self.wrong(docs, |i| has_value[i]).into_iter().for_each(|i| out[i] = TermOrd::new(u32::MAX));
        Ok(())
    }

    fn gather_or(&self, docs: &[DocId], out: &mut [TermOrd], fill: TermOrd) -> Result<()> {
        let fill = if self.is(Lie::GatherOr) { TermOrd::new(0) } else { fill };
        self.honest.gather_or(docs, out, fill)
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[TermOrd]>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.honest.scan(docs, &mut |batch| {
            let wrong = |(doc, value): (DocId, &TermOrd)| match doc.get() {
                DOC => TermOrd::new(u32::MAX),
                _ => *value,
            };
            let wrong: Vec<TermOrd> = batch.docs.iter().zip(batch.values).map(wrong).collect();
            self.batch(batch, (&[], &wrong), each)
        })
    }

    fn filter(&self, docs: Range<u32>, ords: Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.bits(docs.clone(), bits, |bits| self.honest.filter(docs, ords, bits))
    }
}

impl<C: SortedNumericColumn> SortedNumericColumn for Liar<C> {
    fn bounds(&self) -> Option<RangeInclusive<i64>> {
        let (low, high) = self.honest.bounds()?.into_inner();
        Some(low..=high + i64::from(self.is(Lie::Bounds)))
    }

    fn value_count(&self) -> u64 {
        self.honest.value_count() + u64::from(self.is(Lie::ValueCount))
    }

    fn get(&self, doc: DocId, out: &mut Vec<i64>) -> Result<()> {
        self.fails()?;
        self.honest.get(doc, out)?;
        if self.at(Lie::Get, doc) || self.past(doc) {
            out.push(i64::MAX);
        }
        Ok(())
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<i64>) -> Result<()> {
        self.gather_lists(docs, out, -1, |out| self.honest.gather(docs, out))
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, i64>>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.honest.scan(docs, &mut |batch| self.lists(batch, -1, each))
    }

    fn filter(&self, docs: Range<u32>, values: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        self.bits(docs.clone(), bits, |bits| self.honest.filter(docs, values, bits))
    }
}

impl<C: SortedSetColumn> SortedSetColumn for Liar<C> {
    fn value_count(&self) -> u64 {
        self.honest.value_count() + u64::from(self.is(Lie::ValueCount))
    }

    fn ords(&self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<()> {
        self.fails()?;
        self.honest.ords(doc, out)?;
        if self.at(Lie::Get, doc) || self.past(doc) {
            out.push(TermOrd::new(u32::MAX));
        }
        Ok(())
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<TermOrd>) -> Result<()> {
        self.gather_lists(docs, out, TermOrd::new(u32::MAX), |out| self.honest.gather(docs, out))
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, TermOrd>>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.honest.scan(docs, &mut |batch| self.lists(batch, TermOrd::new(u32::MAX), each))
    }

    fn filter(&self, docs: Range<u32>, ords: Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.bits(docs.clone(), bits, |bits| self.honest.filter(docs, ords, bits))
    }
}
