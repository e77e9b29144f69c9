//! An estimate of the n-th greatest or smallest value, from the zone map.

use super::NumericReader;
use super::zone::{self, Level, ZONE};
use crate::error::Result;
use crate::source::SectionBytes;

/// If more zones than this share have some of the n values, the others are too few for an estimate.
const MAX_SHARE: f64 = 0.95;

/// Zones in the sample. The error of an estimated share is about two percent.
const SAMPLE_ZONES: u64 = 512;

/// The sample must contain at least this many of the zones that have some of the n values; otherwise all zones are
/// read.
const MIN_MATCHING_ZONES: u64 = 64;

impl<B: SectionBytes> NumericReader<B> {
    /// Estimates the `n`-th greatest value if `greatest`, else the `n`-th smallest. Returns `None` if there are no
    /// zones, or if nearly every zone would have one of these values.
    ///
    /// The estimate is good if values are in random order. If they are sorted or clustered, it admits more than `n`
    /// values. Reads O(zones) bytes.
    ///
    /// # Errors
    ///
    /// When zones cannot be read.
    pub fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        let Some(zones) = &self.meta.zones else { return Ok(None) };
        let count = self.meta.count.div_ceil(ZONE);
        // The share of zones with at least one of the n values, if these are at random places (Poisson distribution).
        let share = 1.0 - (-(n as f64) / count as f64).exp();
        if share > MAX_SHARE {
            return Ok(None);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "there are at least none, and at most all"
        )]
        let with = (share * count as f64) as u64;
        let step = count.div_ceil(SAMPLE_ZONES).min(with / MIN_MATCHING_ZONES).max(1);
        let [step, place] = [step, with / step].map(|zones| usize::try_from(zones).unwrap_or(usize::MAX));
        let ends = zone::read_all(&self.meta, zones, Level::Lower, 0..count)?.step_by(step);
        // Negated, so that the greatest come first.
        let end = |ends: std::ops::RangeInclusive<i64>| if greatest { !*ends.end() } else { *ends.start() };
        let mut ends: Vec<i64> = ends.map(end).collect();
        let place = place.min(ends.len() - 1);
        let (_, nth, _) = ends.select_nth_unstable(place);
        Ok(Some(if greatest { !*nth } else { *nth }))
    }
}
