//! Dictionaries: ords to terms and back.

use std::ops::{Bound, ControlFlow};

use docvalues_format::id::TermOrd;

use crate::{Lists, OrdRange, Result};

/// A dictionary: distinct byte strings in ascending order, numbered from 0.
pub trait Terms: Send + Sync {
    /// The number of terms.
    fn term_count(&self) -> u32;

    /// Replaces `out` by the terms of `ords`, in any order and with repeats.
    ///
    /// # Errors
    ///
    /// [`NoSuchOrd`](crate::ErrorKind::NoSuchOrd) past the last term, or when bytes are damaged; what `out` then holds is
    /// unspecified.
    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()>;

    /// The ord of the first term that is not below `term`; the number of terms if all are below.
    ///
    /// # Errors
    ///
    /// When bytes of the dictionary are damaged.
    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd>;

    /// Replaces `out` by the term of `ord`. For many terms, [`gather_terms`](Self::gather_terms) is faster.
    ///
    /// # Errors
    ///
    /// As [`gather_terms`](Self::gather_terms).
    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        let mut list = Lists::new();
        self.gather_terms(&[ord], &mut list)?;
        out.clear();
        out.extend_from_slice(list.get(0));
        Ok(())
    }

    /// The ord of `term`, if it is one.
    ///
    /// # Errors
    ///
    /// When bytes of the dictionary are damaged.
    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        let (ceil, mut found) = (self.seek_ceil(term)?, Vec::new());
        if ceil.get() >= self.term_count() {
            return Ok(None);
        }
        self.term(ceil, &mut found)?;
        Ok((found == term).then_some(ceil))
    }

    /// The ords of all terms that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// When bytes of the dictionary are damaged.
    fn prefix(&self, prefix: &[u8]) -> Result<OrdRange> {
        let start = self.seek_ceil(prefix)?.get();
        // The shortest byte string above all that begin with the prefix: its last byte below 255, plus one.
        let end = match prefix.iter().rposition(|&byte| byte < u8::MAX) {
            Some(last) => self.seek_ceil(&[&prefix[..last], &[prefix[last] + 1]].concat())?.get(),
            None => self.term_count(),
        };
        Ok(OrdRange::new(start, end))
    }

    /// The ords of all terms between two bounds.
    ///
    /// # Errors
    ///
    /// When bytes of the dictionary are damaged.
    fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<OrdRange> {
        // Right after a term comes the term with a zero byte appended.
        let after = |term: &[u8]| [term, &[0]].concat();
        let start = match low {
            Bound::Unbounded => 0,
            Bound::Included(low) => self.seek_ceil(low)?.get(),
            Bound::Excluded(low) => self.seek_ceil(&after(low))?.get(),
        };
        let end = match high {
            Bound::Unbounded => self.term_count(),
            Bound::Included(high) => self.seek_ceil(&after(high))?.get(),
            Bound::Excluded(high) => self.seek_ceil(high)?.get(),
        };
        Ok(OrdRange::new(start, end))
    }

    /// Hands the terms of `ords` to `each`, ascending, until it breaks off. Ords past the last term are passed over.
    /// Native sources decode a block of terms once.
    ///
    /// # Errors
    ///
    /// When bytes of the dictionary are damaged.
    fn each_term(
        &self,
        ords: OrdRange,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        const TOGETHER: usize = 64;
        let mut terms = Lists::new();
        for ords in ords.clip(self.term_count()).chunks(TOGETHER) {
            let ords: Vec<TermOrd> = ords.iter().collect();
            self.gather_terms(&ords, &mut terms)?;
            for (ord, term) in ords.iter().zip(terms.slices().iter()) {
                if each(*ord, term).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
