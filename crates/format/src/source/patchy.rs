//! A section of which some granules were never checked, for tests: their bytes lie in memory, and are wrong.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use super::{Owned, SectionBytes, Touched};
use crate::error::{Place, Result, Section};
use crate::granule::GRANULE;

/// Right bytes through [`slice`](SectionBytes::slice); through [`touched`](SectionBytes::touched), right
/// ones in the granules that are said to be good, and nowhere else.
pub(crate) struct Patchy {
    right: Owned,
    seen: Vec<u8>,
    good: Box<[AtomicU64]>,
}

impl Patchy {
    pub(crate) fn new(section: Section, payload: Vec<u8>, good: impl Fn(usize) -> bool) -> Patchy {
        let right = Owned::new(section, payload);
        let mut seen = right.verified().unwrap().to_vec();
        let mut words = vec![0; seen.len().div_ceil(GRANULE).div_ceil(64)];
        for (granule, bytes) in seen.chunks_mut(GRANULE).enumerate() {
            match good(granule) {
                true => words[granule / 64] |= 1 << (granule % 64),
                false => bytes.iter_mut().for_each(|byte| *byte ^= 0x15),
            }
        }
        Patchy { right, seen, good: words.into_iter().map(AtomicU64::new).collect() }
    }
}

impl SectionBytes for Patchy {
    fn place(&self) -> Place {
        self.right.place()
    }

    fn len(&self) -> usize {
        self.right.len()
    }

    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        self.right.slice(range)
    }

    fn verified(&self) -> Option<&[u8]> {
        None
    }

    fn touched(&self) -> Option<Touched<'_>> {
        Some(Touched { bytes: &self.seen, granules: Some(&self.good) })
    }
}
