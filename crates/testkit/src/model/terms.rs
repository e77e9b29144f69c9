//! A dictionary in memory: a sorted vector of terms.

use std::ops::{Bound, ControlFlow, RangeBounds};

use docvalues_column::{ErrorKind, Lists, OrdRange, Result, TermOrd, Terms};

/// A dictionary in memory: every term that a document has, ascending.
#[derive(Clone, Debug, Default)]
pub struct MemTerms {
    /// The name of its column, for errors.
    field: String,
    terms: Vec<Vec<u8>>,
}

impl MemTerms {
    /// The dictionary of the column `field`, whose documents have the terms `used`.
    pub fn new<'a>(field: &str, used: impl Iterator<Item = &'a Vec<u8>>) -> MemTerms {
        let mut terms: Vec<&Vec<u8>> = used.collect();
        terms.sort_unstable();
        terms.dedup();
        MemTerms { field: field.into(), terms: terms.into_iter().cloned().collect() }
    }

    /// The ord of `term`, if the dictionary has it.
    pub fn ord_of(&self, term: &[u8]) -> Option<TermOrd> {
        self.terms.binary_search_by(|probe| probe.as_slice().cmp(term)).ok().map(ord)
    }

    /// The range of ords of the terms that are `wanted`.
    fn ords_where(&self, wanted: impl Fn(&[u8]) -> bool) -> OrdRange {
        let first = self.terms.iter().position(|term| wanted(term)).unwrap_or(0);
        let len = self.terms[first..].iter().take_while(|term| wanted(term)).count();
        OrdRange::new(first as u32, (first + len) as u32)
    }

    fn get(&self, ord: TermOrd) -> Result<&[u8]> {
        let (field, len) = (self.field.clone(), self.term_count());
        let term = self.terms.get(ord.get() as usize).map(Vec::as_slice);
        Ok(term.ok_or(ErrorKind::NoSuchOrd { field, ord: ord.get(), len })?)
    }
}

fn ord(place: usize) -> TermOrd {
    TermOrd::new(place as u32)
}

impl Terms for MemTerms {
    fn term_count(&self) -> u32 {
        self.terms.len() as u32
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        out.clear();
        for ord in ords {
            out.push(self.get(*ord)?);
        }
        Ok(())
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        Ok(ord(self.terms.partition_point(|probe| probe.as_slice() < term)))
    }

    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        *out = self.get(ord)?.to_vec();
        Ok(())
    }

    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        Ok(self.ord_of(term))
    }

    fn prefix(&self, prefix: &[u8]) -> Result<OrdRange> {
        Ok(self.ords_where(|term| term.starts_with(prefix)))
    }

    fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<OrdRange> {
        Ok(self.ords_where(|term| RangeBounds::<[u8]>::contains(&(low, high), term)))
    }

    fn each_term(
        &self,
        ords: OrdRange,
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
