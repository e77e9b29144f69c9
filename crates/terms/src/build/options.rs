//! [`IdOptions`].

use crate::bloom::DEFAULT_BITS;
use crate::ids::Form;

/// Options of an id index.
///
/// # Examples
///
/// ```
/// use docvalues_terms::build::{Duplicates, IdOptions};
/// use docvalues_terms::ids::Form;
///
/// let uuids = IdOptions::default(); // in their column or in blocks, and a filter of 16 bits an id
/// let counters = IdOptions::new().form(Form::Fst); // such as `order-000017`
/// let upserts = IdOptions::new().duplicates(Duplicates::KeepLast).seed(0x5eed);
/// # assert_eq!((uuids.filter_bits, counters.seed, upserts.form), (16, 0, Form::Column));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdOptions {
    /// The data structure that finds ids.
    pub form: Form,
    /// Bits of the Bloom filter for each id, at most [`MAX_BITS`](crate::bloom::MAX_BITS); 0 for no filter. With
    /// [`Form::Column`], the filter has half of them.
    pub filter_bits: u8,
    /// The seed of the filter's hash. Use one seed for all segments that are searched together.
    pub seed: u64,
    /// The treatment of documents with equal ids when segments are written and merged. An index has each id once.
    pub duplicates: Duplicates,
}

/// The treatment of documents with equal ids: [`IdOptions::duplicates`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// An error that names two of them.
    #[default]
    Refuse,
    /// Keep the one that was added last, and omit the others from the segment: an upsert.
    KeepLast,
}

impl Default for IdOptions {
    /// As [`IdOptions::new`].
    fn default() -> IdOptions {
        IdOptions::new()
    }
}

impl IdOptions {
    /// Ids that are only in their column, or in blocks if they do not fit [`Form::Column`], with a Bloom filter of 16 bits
    /// an id; documents with equal ids are an error.
    pub const fn new() -> IdOptions {
        IdOptions { form: Form::Column, filter_bits: DEFAULT_BITS, seed: 0, duplicates: Duplicates::Refuse }
    }

    /// Sets the data structure that finds ids.
    #[must_use]
    pub const fn form(self, form: Form) -> IdOptions {
        IdOptions { form, ..self }
    }

    /// Sets the bits of the Bloom filter for each id; 0 for no filter.
    #[must_use]
    pub const fn filter_bits(self, filter_bits: u8) -> IdOptions {
        IdOptions { filter_bits, ..self }
    }

    /// Sets the seed of the filter's hash.
    #[must_use]
    pub const fn seed(self, seed: u64) -> IdOptions {
        IdOptions { seed, ..self }
    }

    /// Sets the treatment of documents with equal ids.
    #[must_use]
    pub const fn duplicates(self, duplicates: Duplicates) -> IdOptions {
        IdOptions { duplicates, ..self }
    }
}
