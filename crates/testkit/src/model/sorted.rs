//! Terms in memory: a sorted vector of them, and ords.

use std::collections::BTreeSet;
use std::ops::{Bound, ControlFlow, Range};

use docvalues_column::{
    Batch, Column, DocId, ErrorKind, Field, Kind, Lists, Result, Slices, SortedColumn, SortedSetColumn,
    TermOrd, Terms,
};

use super::lies_between;
use super::mem::{Mem, Slot, write_present};

/// A dictionary in memory: every term that a document has, ascending.
#[derive(Clone, Debug)]
pub struct MemTerms {
    /// Whose dictionary it is: errors say so.
    field: String,
    terms: Vec<Vec<u8>>,
}

impl MemTerms {
    fn new<'a>(field: &Field, used: impl Iterator<Item = &'a Vec<u8>>) -> MemTerms {
        let mut terms: Vec<&Vec<u8>> = used.collect();
        terms.sort_unstable();
        terms.dedup();
        MemTerms { field: field.name.clone(), terms: terms.into_iter().cloned().collect() }
    }

    fn ord_of(&self, term: &[u8]) -> Option<TermOrd> {
        self.terms.binary_search_by(|probe| probe.as_slice().cmp(term)).ok().map(ord)
    }

    /// The ords of the terms that `wanted` wants: they stand together wherever this is asked.
    fn ords_where(&self, wanted: impl Fn(&[u8]) -> bool) -> Range<u32> {
        let first = self.terms.iter().position(|term| wanted(term)).unwrap_or(0);
        let len = self.terms[first..].iter().take_while(|term| wanted(term)).count();
        first as u32..(first + len) as u32
    }
}

fn ord(place: usize) -> TermOrd {
    TermOrd::new(place as u32)
}

impl Terms for MemTerms {
    fn term_count(&self) -> u32 {
        self.terms.len() as u32
    }

    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        let no_such =
            ErrorKind::NoSuchOrd { field: self.field.clone(), ord: ord.get(), len: self.term_count() };
        out.clear();
        out.extend_from_slice(self.terms.get(ord.get() as usize).ok_or(no_such)?);
        Ok(())
    }

    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        Ok(self.ord_of(term))
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        Ok(ord(self.terms.partition_point(|probe| probe.as_slice() < term)))
    }

    fn prefix(&self, prefix: &[u8]) -> Result<Range<u32>> {
        Ok(self.ords_where(|term| term.starts_with(prefix)))
    }

    fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Range<u32>> {
        Ok(self.ords_where(|term| lies_between(low, high, term)))
    }

    fn each_term(
        &self,
        ords: Range<u32>,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        for at in ords.start..ords.end.min(self.term_count()) {
            if each(TermOrd::new(at), &self.terms[at as usize]).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Ords in memory and the terms they stand for.
#[derive(Clone, Debug)]
pub struct WithTerms<S> {
    ords: Mem<S>,
    terms: MemTerms,
}

/// A sorted column in memory.
pub type MemSorted = WithTerms<Option<TermOrd>>;

/// A sorted-set column in memory.
pub type MemSortedSet = WithTerms<Vec<TermOrd>>;

impl MemSorted {
    /// A sorted column of `docs` documents with these terms.
    ///
    /// # Panics
    ///
    /// If the field does not fit, or there are more slots than documents.
    pub fn from_terms(field: Field, docs: u32, slots: &[Option<Vec<u8>>]) -> MemSorted {
        let terms = MemTerms::new(&field, slots.iter().flatten());
        let ords = slots.iter().map(|slot| slot.as_ref().and_then(|term| terms.ord_of(term))).collect();
        WithTerms { ords: Mem::of_kind(Kind::Sorted, field, docs, ords), terms }
    }
}

impl MemSortedSet {
    /// A sorted-set column of `docs` documents with these sets of terms.
    ///
    /// # Panics
    ///
    /// If the field does not fit, or there are more slots than documents.
    pub fn from_terms(field: Field, docs: u32, slots: &[BTreeSet<Vec<u8>>]) -> MemSortedSet {
        let terms = MemTerms::new(&field, slots.iter().flatten());
        let ords = slots.iter().map(|set| set.iter().filter_map(|term| terms.ord_of(term)).collect());
        WithTerms { ords: Mem::of_kind(Kind::SortedSet, field, docs, ords.collect()), terms }
    }
}

impl<S: Slot> Column for WithTerms<S> {
    fn field(&self) -> &Field {
        self.ords.field()
    }

    fn docs(&self) -> u32 {
        self.ords.docs()
    }

    fn docs_with_value(&self) -> u32 {
        self.ords.docs_with_value()
    }

    fn exists(&self, docs: Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.ords.exists(docs, bits)
    }
}

impl<S: Slot> Terms for WithTerms<S> {
    fn term_count(&self) -> u32 {
        self.terms.term_count()
    }

    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        self.terms.term(ord, out)
    }

    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        self.terms.seek_exact(term)
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        self.terms.seek_ceil(term)
    }

    fn prefix(&self, prefix: &[u8]) -> Result<Range<u32>> {
        self.terms.prefix(prefix)
    }

    fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Range<u32>> {
        self.terms.term_range(low, high)
    }

    fn each_term(
        &self,
        ords: Range<u32>,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.terms.each_term(ords, each)
    }
}

impl SortedColumn for MemSorted {
    fn ord(&self, doc: DocId) -> Result<Option<TermOrd>> {
        Ok(self.ords.items(doc).first().copied())
    }

    fn gather(&self, docs: &[DocId], out: &mut [TermOrd], present: &mut [u64]) -> Result<()> {
        write_present(&self.ords.gather_first(docs, out, TermOrd::new(0)), present);
        Ok(())
    }

    fn gather_or(&self, docs: &[DocId], out: &mut [TermOrd], fill: TermOrd) -> Result<()> {
        self.ords.gather_first(docs, out, fill);
        Ok(())
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[TermOrd]>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.ords.scan_items(docs, &mut |docs, items| each(Batch { docs, values: &items.concat() }));
        Ok(())
    }

    fn filter(&self, docs: Range<u32>, ords: Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.ords.filter_items(docs, bits, |ord| ords.contains(&ord.get()));
        Ok(())
    }
}

impl SortedSetColumn for MemSortedSet {
    fn value_count(&self) -> u64 {
        self.ords.all_items().count() as u64
    }

    fn ords(&self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<()> {
        *out = self.ords.items(doc).to_vec();
        Ok(())
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<TermOrd>) -> Result<()> {
        self.ords.gather_lists(docs, out);
        Ok(())
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, TermOrd>>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.ords.scan_items(docs, &mut |docs, items| {
            let mut lists = Lists::new();
            items.iter().for_each(|list| lists.push(list));
            each(Batch { docs, values: lists.slices() })
        });
        Ok(())
    }

    fn filter(&self, docs: Range<u32>, ords: Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.ords.filter_items(docs, bits, |ord| ords.contains(&ord.get()));
        Ok(())
    }
}
