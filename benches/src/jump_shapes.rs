//! Columns for comparisons of jump tables and rank tables: shapes of presence, over nearly ascending numbers.
//!
//! Numbers are those of `crawl_date` in [`archive`](crate::archive): each document is some 1,471 ms after the one before,
//! moved by up to an hour. Both layouts store them in blocks of different widths, which a reader has to walk.

use docvalues_testkit::rng::SplitMix64;

/// The documents with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every document has one.
    All,
    /// So many of 1,000 have one.
    Random(u64),
    /// Runs of a thousand documents on average, with values and without.
    Runs,
}

impl Shape {
    /// The shapes of the comparison: each kind of presence block of both layouts is among them.
    pub const EACH: [(&str, Shape); 6] = [
        ("all", Shape::All),
        ("60%", Shape::Random(600)),
        ("10%", Shape::Random(100)),
        ("1%", Shape::Random(10)),
        ("0.1%", Shape::Random(1)),
        ("runs", Shape::Runs),
    ];

    /// A bitset of the documents with a value; `None` if all have one.
    pub fn present(self, docs: u32) -> Option<Vec<u64>> {
        let mut random = SplitMix64::new(8_374);
        let (mut words, mut there) = (vec![0; docs.div_ceil(64) as usize], true);
        for doc in 0..docs {
            there = match self {
                Shape::All => return None,
                Shape::Random(per_mille) => random.chance(per_mille, 1_000),
                Shape::Runs => there ^ random.chance(1, 1_000),
            };
            words[doc as usize / 64] |= u64::from(there) << (doc % 64);
        }
        Some(words)
    }
}

/// The numbers of all documents.
pub fn values(docs: u32) -> Vec<i64> {
    let mut random = SplitMix64::new(8_585);
    (0..i64::from(docs))
        .map(|doc| 1_104_534_000_000 + doc * 1_471 + random.below(3_600_000).cast_signed())
        .collect()
}
