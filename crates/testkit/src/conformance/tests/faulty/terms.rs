//! A faulty dictionary: right except for one fault.

use std::ops::{Bound, ControlFlow};

use docvalues_column::{Lists, OrdRange, Result, TermOrd, Terms};

use super::{Fault, Faulty};

/// The ord that faults affect.
const ORD: u32 = 3;

impl Terms for Faulty {
    fn term_count(&self) -> u32 {
        self.call("Terms::term_count");
        self.terms().term_count() + u32::from(self.is(Fault::TermCount))
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        self.call("Terms::gather_terms");
        self.terms().gather_terms(ords, out)?;
        if self.is(Fault::GatherTerms) {
            out.push(b"one too many");
        }
        Ok(())
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        self.call("Terms::seek_ceil");
        let ceil = self.terms().seek_ceil(term)?.get();
        // Wrong only for byte strings that are not terms: one past the next term.
        let absent = self.is(Fault::SeekCeil) && self.terms().seek_exact(term)?.is_none();
        Ok(TermOrd::new(ceil + u32::from(absent)))
    }

    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        self.call("Terms::term");
        let before = out.clone();
        if self.is(Fault::TermPastEnd) && ord.get() == self.terms().term_count() {
            return self.terms().term(TermOrd::new(0), out);
        }
        self.terms().term(ord, out)?;
        match self.fault {
            Fault::Term if ord.get() == ORD => out[0] ^= 1,
            Fault::TermAppends => drop(out.splice(0..0, before)),
            _ => {}
        }
        Ok(())
    }

    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        self.call("Terms::seek_exact");
        let found = self.terms().seek_exact(term)?;
        Ok(found.filter(|ord| !(self.is(Fault::SeekExact) && ord.get() == ORD)))
    }

    fn place(&self, term: &[u8]) -> Result<Result<TermOrd, TermOrd>> {
        self.call("Terms::place");
        let found = self.terms().place(term)?;
        Ok(found.and_then(|ord| if self.is(Fault::Place) && ord.get() == ORD { Err(ord) } else { Ok(ord) }))
    }

    fn prefix(&self, prefix: &[u8]) -> Result<OrdRange> {
        self.call("Terms::prefix");
        let found = self.terms().prefix(prefix)?;
        let all = found.len() == self.terms().term_count() as usize;
        Ok(if self.is(Fault::Prefix) && all { OrdRange::new(1, found.end) } else { found })
    }

    fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<OrdRange> {
        self.call("Terms::term_range");
        let high = match high {
            Bound::Excluded(term) if self.is(Fault::TermRange) => Bound::Included(term),
            _ => high,
        };
        self.terms().term_range(low, high)
    }

    fn each_term(
        &self,
        ords: OrdRange,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.call("Terms::each_term");
        self.terms().each_term(ords, &mut |ord, term| {
            let term = if self.is(Fault::EachTerm) && ord.get() == ORD { b"wrong" } else { term };
            let flow = each(ord, term);
            if self.is(Fault::EachTermGoesOn) { ControlFlow::Continue(()) } else { flow }
        })
    }
}
