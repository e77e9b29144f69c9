//! A Bloom filter whose bytes are all verified: testing it cannot fail, and many are tested at once.
#![allow(unsafe_code, reason = "intrinsics; each use has its proof")]

use docvalues_format::prefetch::prefetch;
use docvalues_format::source::SectionBytes;

use super::{BloomFilter, LINE, Probe};

/// The lines of a verified [`BloomFilter`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lines<'a>(&'a [[u8; LINE]]);

impl<B: SectionBytes> BloomFilter<B> {
    /// All lines, if every byte of them is verified by now: testing them cannot fail, and is faster.
    #[inline]
    pub(crate) fn verified(&self) -> Option<Lines<'_>> {
        let lines = self.section.verified()?.as_chunks().0;
        // The section's tail follows the payload.
        Some(Lines(lines.get(..usize::try_from(self.lines).ok()?)?))
    }
}

impl Lines<'_> {
    /// Stands for a missing filter: every id may be there.
    pub(crate) const ALL: Lines<'static> = Lines(&[[u8::MAX; LINE]]);

    /// As [`BloomFilter::may_hold`].
    #[inline]
    pub(crate) fn may_hold(&self, probe: &Probe) -> bool {
        self.line(probe).is_some_and(|line| probe.is_in(line))
    }

    /// The line of the id; `None` if there are no lines at all.
    #[inline(always)]
    fn line(&self, probe: &Probe) -> Option<&[u8; LINE]> {
        self.0.get(probe.at(self.0.len() as u64) / LINE)
    }

    /// Prefetches that line.
    #[inline(always)]
    fn prefetch(&self, probe: &Probe) {
        prefetch(self.0.as_ptr().wrapping_byte_add(probe.at(self.0.len() as u64)).cast());
    }
}

/// The probe to prefetch for, and the distance in filters, while filters are tested.
#[derive(Clone, Copy)]
pub(crate) struct PrefetchAhead<'p> {
    probe: &'p Probe,
    by: usize,
}

impl<'p> PrefetchAhead<'p> {
    /// For a single id: prefetches the lines of the filters that follow. Of distances 8, 16, 32 and 64, 32 was best
    /// wherever it mattered.
    #[inline]
    pub(crate) fn within(probe: &'p Probe) -> PrefetchAhead<'p> {
        PrefetchAhead { probe, by: 32 }
    }

    /// For a bulk: prefetches the next id's lines of the same filters.
    #[inline]
    pub(crate) fn next(probe: &'p Probe) -> PrefetchAhead<'p> {
        PrefetchAhead { probe, by: 0 }
    }
}

/// Tests the first 64 `filters`, and returns a bit for each that may hold the id.
///
/// No load waits for a branch, so the cost is the number of cache misses in flight: lines are prefetched, and each
/// is compared as one vector if the CPU has such. This takes a fifth of the time for 400 filters of 5 KB, and half
/// for 400 of 50 KB.
#[inline]
pub(crate) fn ask(filters: &[Lines<'_>], probe: &Probe, ahead: PrefetchAhead<'_>) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if docvalues_format::bits::has_avx512() {
        // SAFETY: this CPU has every feature that the function is compiled for.
        return unsafe { ask_avx512(filters, probe, ahead) };
    }
    ask_each(filters, probe, ahead, |line| probe.is_in(line))
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn ask_avx512(filters: &[Lines<'_>], probe: &Probe, ahead: PrefetchAhead<'_>) -> u64 {
    use std::arch::x86_64::*;
    // SAFETY: eight words of 64 bits are 64 bytes.
    let bits = unsafe { _mm512_loadu_si512(probe.bits.as_ptr().cast()) };
    ask_each(filters, probe, ahead, |line| {
        // SAFETY: a line has 64 bytes.
        let line = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
        let missing = _mm512_andnot_si512(line, bits);
        _mm512_test_epi64_mask(missing, missing) == 0
    })
}

/// The reference implementation, over any test of a line.
#[inline(always)]
fn ask_each(
    filters: &[Lines<'_>],
    probe: &Probe,
    ahead: PrefetchAhead<'_>,
    is_in: impl Fn(&[u8; LINE]) -> bool,
) -> u64 {
    let later = filters.get(ahead.by..).unwrap_or_default();
    let mut all = 0;
    for (i, lines) in filters.iter().take(64).enumerate() {
        if let Some(later) = later.get(i) {
            later.prefetch(ahead.probe);
        }
        all |= u64::from(lines.line(probe).is_some_and(&is_in)) << i;
    }
    all
}

#[cfg(test)]
mod tests {
    use docvalues_format::error::Section;
    use docvalues_format::source::Owned;

    use super::super::BloomFilterBuilder;
    use super::*;

    /// Filters of all sizes, side by side, and one that has no line at all.
    #[test]
    fn many_at_once_agree_with_one_by_one() {
        let hash = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let filter = |i: u32| {
            let mut filter = BloomFilterBuilder::new(i + 1, 8);
            (0..=i).for_each(|number| filter.insert(hash((number * (i + 7)).into())));
            BloomFilter::open(Owned::new(Section::Header, filter.finish().unwrap()), i + 1, 8).unwrap()
        };
        let made: Vec<_> = (0..73).map(|i| filter(i * i)).collect();
        let mut filters: Vec<_> = made.iter().map(|filter| filter.verified().unwrap()).collect();
        filters[63] = Lines::default();
        let probes: Vec<_> = (0..5_000).map(|number| Probe::new(hash(number))).collect();
        for (probe, next) in probes.iter().zip(probes.iter().rev()) {
            let may_hold =
                |i: usize| i != 63 && made.get(i).is_some_and(|filter| filter.may_hold(probe).unwrap());
            for first in [0, 10, 63, 72, 73] {
                let right = (0..64).fold(0, |bits, i| bits | u64::from(may_hold(first + i)) << i);
                for ahead in [PrefetchAhead::within(probe), PrefetchAhead::next(next)] {
                    assert_eq!(ask(&filters[first..], probe, ahead), right);
                    assert_eq!(ask_each(&filters[first..], probe, ahead, |line| probe.is_in(line)), right);
                }
            }
        }
    }
}
