//! The dictionary of a column: sorted and sorted-set columns have one, and read it alike.

use std::ops::{Bound, ControlFlow, Range};

use docvalues_column::{ErrorKind, Lists, Result, TermOrd, Terms};
use docvalues_format::dictionary::{BATCH, DictionaryReader};
use docvalues_storage::Section;

use crate::core::Core;
use crate::{Sorted, SortedSet};

/// A column with a dictionary.
pub(crate) trait HasTerms {
    /// The column's common part, and its dictionary.
    fn terms(&self) -> (&Core, &DictionaryReader<Section>);
}

/// Refuses the first of `ords` that no term has.
fn there_are(core: &Core, terms: &DictionaryReader<Section>, ords: &[TermOrd]) -> Result<()> {
    let len = terms.len();
    // Without a way out, so that all are compared at once.
    if !ords.iter().fold(false, |past, ord| past | (ord.get() >= len)) {
        return Ok(());
    }
    let past = ords.iter().map(|ord| ord.get()).find(|&ord| ord >= len);
    let field = core.field.name.clone();
    Err(ErrorKind::NoSuchOrd { field, ord: past.unwrap_or(len), len }.into())
}

// A macro, because a trait of another crate cannot be implemented for all `HasTerms` at once.
macro_rules! impl_terms {
    ($column:ty) => {
        impl Terms for $column {
            fn term_count(&self) -> u32 {
                self.terms().1.len()
            }

            fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
                let (core, terms) = self.terms();
                there_are(core, terms, &[ord])?;
                core.named(terms.term(ord, out))
            }

            fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
                let (core, terms) = self.terms();
                let mut gather = terms.gather();
                out.clear();
                for ords in ords.chunks(BATCH) {
                    there_are(core, terms, ords)?;
                    core.named(gather.locate(ords))?;
                    core.named(out.extend_with(gather.lens(), |bytes| gather.append_to(bytes)))?;
                }
                Ok(())
            }

            fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
                let (core, terms) = self.terms();
                core.named(terms.seek_exact(term))
            }

            fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
                let (core, terms) = self.terms();
                core.named(terms.seek_ceil(term))
            }

            fn prefix(&self, prefix: &[u8]) -> Result<Range<u32>> {
                let (core, terms) = self.terms();
                core.named(terms.prefix(prefix))
            }

            fn term_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Range<u32>> {
                let (core, terms) = self.terms();
                core.named(terms.range(low, high))
            }

            fn each_term(
                &self,
                ords: Range<u32>,
                each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
            ) -> Result<()> {
                let (core, terms) = self.terms();
                core.named(terms.for_each(ords, |ord, term| each(ord, term)))
            }
        }
    };
}

impl_terms!(Sorted);
impl_terms!(SortedSet);
