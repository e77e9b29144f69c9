//! `dv sample`: prints random documents.

use std::collections::BTreeSet;

use crate::answer::records;
use crate::args::records::SampleArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::{Opener, Segments};

pub(crate) fn run(args: &SampleArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open_all(opener, [&args.file])?;
    let docs = draw(segments.docs(), args.count.into(), args.seed);
    let docs = segments.at(docs.into_iter());
    records::print(&segments, docs.into_iter().flatten(), &args.records.options(), console)?;
    Ok(Exit::Ok)
}

/// Draws `count` of `docs` documents with Floyd's algorithm; every set is equally likely.
///
/// Uses O(`count`) memory.
fn draw(docs: u64, count: u64, seed: u64) -> BTreeSet<u64> {
    let mut random = SplitMix(seed);
    let mut drawn = BTreeSet::new();
    for last in docs - count.min(docs)..docs {
        let doc = random.up_to(last);
        if !drawn.insert(doc) {
            drawn.insert(last);
        }
    }
    drawn
}

/// SplitMix64 by Steele, Lea and Flood: small, and stable across releases.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `last`, with a bias of at most `last` in 2<sup>64</sup>.
    fn up_to(&mut self, last: u64) -> u64 {
        let scaled = (u128::from(self.next()) * (u128::from(last) + 1)) >> 64;
        u64::try_from(scaled).unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_drawn_as_asked_for_or_as_there_are() {
        for (docs, count) in [(0, 0), (0, 5), (1, 1), (10, 0), (10, 3), (10, 10), (10, 11), (1000, 999)] {
            let drawn = draw(docs, count, 7);
            assert_eq!(drawn.len(), usize::try_from(count.min(docs)).unwrap(), "{count} of {docs}");
            assert!(drawn.last().is_none_or(|last| *last < docs));
        }
        assert_eq!(draw(u64::MAX, 4, 1).len(), 4);
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(draw(1000, 10, 3), draw(1000, 10, 3));
        assert_ne!(draw(1000, 10, 3), draw(1000, 10, 4));
    }

    /// With 10,000 draws of 3 among 10, each is drawn 3,000 times, give or take 46 (the standard deviation).
    #[test]
    fn every_document_is_as_likely_as_any_other() {
        let mut drawn = [0; 10];
        for seed in 0..10_000 {
            draw(10, 3, seed).into_iter().for_each(|doc| drawn[usize::try_from(doc).unwrap()] += 1);
        }
        assert!(drawn.iter().all(|times| (2750..3250).contains(times)), "{drawn:?}");
    }
}
