//! The dictionary of a column: sorted and sorted-set columns have one, and read it alike.

use std::ops::{Bound, ControlFlow, Range};

use docvalues_column::{ErrorKind, Result, TermOrd, Terms};
use docvalues_format::dictionary::DictionaryReader;
use docvalues_storage::Section;

use crate::core::Core;
use crate::{Sorted, SortedSet};

/// A column with a dictionary.
pub(crate) trait HasTerms {
    /// The column's common part, and its dictionary.
    fn terms(&self) -> (&Core, &DictionaryReader<Section>);
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
                if ord.get() >= terms.len() {
                    let field = core.field.name.clone();
                    return Err(ErrorKind::NoSuchOrd { field, ord: ord.get(), len: terms.len() }.into());
                }
                core.named(terms.term(ord, out))
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
