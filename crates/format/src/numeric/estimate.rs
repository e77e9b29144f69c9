//! About where the n-th greatest value lies, as the zones tell.

use super::NumericReader;
use super::zone::{self, Level, ZONE};
use crate::error::Result;
use crate::source::SectionBytes;

/// Where more zones than this share have some of the values, the others are too few to tell where these begin.
const MAX_SHARE: f64 = 0.95;

/// So many zones are looked at: what they tell of a share is off by two percent of all.
const SAMPLE_ZONES: u64 = 512;

/// Of the zones that have such values, so many at least are to be among them, or all are looked at: of few, a sample has none.
const MIN_MATCHING_ZONES: u64 = 64;

impl<B: SectionBytes> NumericReader<B> {
    /// A number that about `n` values reach, or surpass, if `greatest`; else one that about `n` are not above. `None` if the
    /// zones cannot tell: there are none, or nearly each would have such values.
    ///
    /// It is an estimate: good where values come in any order, and of too many values where they ascend, or lie in heaps.
    /// O(zones) bytes are read.
    ///
    /// # Errors
    ///
    /// When zones cannot be read.
    pub fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        let Some(zones) = &self.meta.zones else { return Ok(None) };
        let count = self.meta.count.div_ceil(ZONE);
        // Of values that are anywhere, a zone has none with this probability (Poisson's).
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
        // The greatest come first.
        let end = |ends: std::ops::RangeInclusive<i64>| if greatest { !*ends.end() } else { *ends.start() };
        let mut ends: Vec<i64> = ends.map(end).collect();
        let place = place.min(ends.len() - 1);
        let (_, nth, _) = ends.select_nth_unstable(place);
        Ok(Some(if greatest { !*nth } else { *nth }))
    }
}
