//! Patterns of the number of values per document.

use crate::rng::SplitMix64;

/// The pattern of the number of values per document, in multi-valued columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// None to five.
    UpToFive,
    /// One.
    One,
    /// Three.
    Three,
    /// One, except for a document in the middle with 70,000: more than a block of values.
    OneHuge,
}

impl Counts {
    /// Every pattern.
    pub const ALL: [Counts; 4] = [Counts::UpToFive, Counts::One, Counts::Three, Counts::OneHuge];

    /// The patterns without a document of 70,000 values.
    pub const SMALL: &'static [Counts] = &[Counts::UpToFive, Counts::One, Counts::Three];

    /// The counts of `n` documents.
    pub fn make(self, n: usize, rng: &mut SplitMix64) -> Vec<usize> {
        let count = |doc| match self {
            Counts::UpToFive => rng.place(6),
            Counts::Three => 3,
            Counts::OneHuge if doc == n / 2 => 70_000,
            Counts::One | Counts::OneHuge => 1,
        };
        (0..n).map(count).collect()
    }
}

/// Splits `values` into lists of these lengths. Patterns with few distinct numbers give duplicates.
pub(super) fn cut<T>(counts: &[usize], values: Vec<T>) -> Vec<Vec<T>> {
    let mut values = values.into_iter();
    counts.iter().map(|&count| values.by_ref().take(count).collect()).collect()
}
