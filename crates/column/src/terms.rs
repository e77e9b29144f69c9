//! The [`Terms`] trait: the dictionary of a column of ords.

use std::ops::{Bound, ControlFlow};

use docvalues_format::id::TermOrd;

use crate::{Lists, OrdRange, Result};

/// A dictionary: distinct byte strings, sorted by their bytes and numbered from 0.
///
/// Ords compare as their terms do, so a range or a prefix of terms is a range of ords. Costs are for a dictionary of
/// *n* terms.
///
/// # Examples
///
/// ```
/// use docvalues_column::{ErrorKind, Lists, OrdRange, Result, TermOrd, Terms};
///
/// struct Words(Vec<&'static str>);
///
/// impl Terms for Words {
///     fn term_count(&self) -> u32 {
///         self.0.len() as u32
///     }
///
///     fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
///         out.clear();
///         for ord in ords.iter().map(|ord| ord.get()) {
///             let missing = || ErrorKind::NoSuchOrd { field: "word".into(), ord, len: self.term_count() };
///             out.push(self.0.get(ord as usize).ok_or_else(missing)?.as_bytes());
///         }
///         Ok(())
///     }
///
///     fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
///         Ok(TermOrd::new(self.0.partition_point(|word| word.as_bytes() < term) as u32))
///     }
/// }
///
/// let words = Words(vec!["ant", "bee", "beetle"]);
/// assert_eq!(words.seek_exact(b"bee")?, Some(TermOrd::new(1)));
/// assert_eq!(words.seek_ceil(b"cow")?, TermOrd::new(3)); // past the last term
/// assert_eq!(words.prefix(b"bee")?, OrdRange::new(1, 3));
/// # Ok::<(), docvalues_column::Error>(())
/// ```
pub trait Terms: Send + Sync {
    /// The number of terms.
    fn term_count(&self) -> u32;

    /// Replaces `out` by the terms of `ords`, which may be in any order and repeat.
    ///
    /// # Errors
    ///
    /// [`NoSuchOrd`](crate::ErrorKind::NoSuchOrd) for an ord past the last term, or if bytes are damaged. The contents
    /// of `out` are then unspecified.
    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()>;

    /// The ord of the first term that is at least `term`; [`term_count`](Self::term_count) if there is none. O(log n).
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
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

    /// The ord of `term`, if the dictionary has it. O(log n).
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        Ok(self.place(term)?.ok())
    }

    /// The ord of `term`; or, as `Err`, that of the first term above it, as [`seek_ceil`](Self::seek_ceil) does. O(log n).
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
    fn place(&self, term: &[u8]) -> Result<Result<TermOrd, TermOrd>> {
        let (ceil, mut found) = (self.seek_ceil(term)?, Vec::new());
        if ceil.get() >= self.term_count() {
            return Ok(Err(ceil));
        }
        self.term(ceil, &mut found)?;
        Ok(if found == term { Ok(ceil) } else { Err(ceil) })
    }

    /// The ords of all terms that begin with `prefix`. O(log n).
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
    fn prefix(&self, prefix: &[u8]) -> Result<OrdRange> {
        let start = self.seek_ceil(prefix)?.get();
        let end = match docvalues_format::strings::successor(prefix) {
            Some(next) => self.seek_ceil(&next)?.get(),
            None => self.term_count(),
        };
        Ok(OrdRange::new(start, end.max(start)))
    }

    /// The ords of all terms between two bounds; an empty range if `low` is above `high`. O(log n).
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
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
        Ok(OrdRange::new(start, end.max(start)))
    }

    /// Calls `each` with the terms of `ords`, ascending, until it breaks. Ords past the last term are skipped. The
    /// default gathers 64 terms at a time; segments decode each block of terms once.
    ///
    /// # Errors
    ///
    /// If bytes of the dictionary are damaged.
    fn each_term(
        &self,
        ords: OrdRange,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        const BATCH: usize = 64;
        let mut terms = Lists::new();
        for ords in ords.clip(self.term_count()).chunks(BATCH) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A damaged dictionary, whose searches find greater terms first.
    struct Descending;

    impl Terms for Descending {
        fn term_count(&self) -> u32 {
            9
        }

        fn gather_terms(&self, _: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
            out.clear();
            Ok(())
        }

        fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
            Ok(TermOrd::new(if term < b"b".as_slice() { 7 } else { 3 }))
        }
    }

    #[test]
    fn ranges_do_not_end_before_they_start() {
        assert_eq!(Descending.prefix(b"a").unwrap(), OrdRange::new(7, 7));
        let between = Descending.term_range(Bound::Included(b"a"), Bound::Excluded(b"b"));
        assert_eq!(between.unwrap(), OrdRange::new(7, 7));
    }
}
