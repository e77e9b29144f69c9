//! A section for tests, some granules of which are not verified: their bytes in memory are wrong.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Owned, PartlyVerified, SectionBytes};
use crate::error::{Place, Result, Section};
use crate::granule::GRANULE;

/// Returns right bytes from [`slice`](SectionBytes::slice). [`partly_verified`](SectionBytes::partly_verified)
/// returns right bytes in verified granules only, so a decoder that reads other granules gives wrong answers.
pub(crate) struct TestSection {
    right: Owned,
    /// Whether slicing verifies a granule from then on, as with a mapping. Tests then find fewer unverified granules.
    admits: bool,
    /// Each version is leaked, as readers may hold on to an earlier one.
    now: Mutex<&'static Seen>,
}

/// The bytes that are visible without slicing.
struct Seen {
    bytes: Vec<u8>,
    good: Box<[AtomicU64]>,
}

impl Seen {
    fn is_good(&self, granule: usize) -> bool {
        self.good[granule / 64].load(Ordering::Relaxed) >> (granule % 64) & 1 == 1
    }

    /// A copy with some more granules verified, whose bytes are those of `right`.
    fn with(&self, right: &[u8], granules: impl Iterator<Item = usize>) -> Seen {
        let mut bytes = self.bytes.clone();
        let good = self.good.iter().map(|word| AtomicU64::new(word.load(Ordering::Relaxed))).collect();
        let seen = Seen { bytes: Vec::new(), good };
        for granule in granules {
            let range = granule * GRANULE..right.len().min((granule + 1) * GRANULE);
            bytes[range.clone()].copy_from_slice(&right[range]);
            seen.good[granule / 64].fetch_or(1 << (granule % 64), Ordering::Relaxed);
        }
        Seen { bytes, ..seen }
    }
}

impl TestSection {
    pub(crate) fn new(section: Section, payload: Vec<u8>, good: impl Fn(usize) -> bool) -> TestSection {
        let right = Owned::new(section, payload);
        let bytes = right.verified().unwrap();
        let granules = bytes.len().div_ceil(GRANULE);
        let wrong = bytes.iter().map(|byte| byte ^ 0x15).collect();
        let none =
            Seen { bytes: wrong, good: (0..granules.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() };
        let seen = none.with(bytes, (0..granules).filter(|&granule| good(granule)));
        TestSection { right, admits: false, now: Mutex::new(Box::leak(Box::new(seen))) }
    }
}

impl TestSection {
    /// The same section, in which slicing verifies granules.
    pub(crate) fn admitting(self) -> TestSection {
        TestSection { admits: true, ..self }
    }
}

impl SectionBytes for TestSection {
    fn place(&self) -> Place {
        self.right.place()
    }

    fn len(&self) -> usize {
        self.right.len()
    }

    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        let bytes = self.right.slice(range.clone())?;
        let mut now = self.now.lock().unwrap();
        let granules = range.start / GRANULE..range.end.div_ceil(GRANULE);
        if self.admits && !granules.clone().all(|granule| now.is_good(granule)) {
            *now = Box::leak(Box::new(now.with(self.right.verified().unwrap(), granules)));
        }
        Ok(bytes)
    }

    fn verified(&self) -> Option<&[u8]> {
        let PartlyVerified { bytes, granules } = self.partly_verified()?;
        granules.is_none().then_some(bytes)
    }

    fn peek<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        self.partly_verified()?.array(at)
    }

    fn partly_verified(&self) -> Option<PartlyVerified<'_>> {
        let now = *self.now.lock().unwrap();
        let all = (0..now.bytes.len().div_ceil(GRANULE)).all(|granule| now.is_good(granule));
        Some(PartlyVerified { bytes: &now.bytes, granules: (!all).then_some(&now.good) })
    }
}
