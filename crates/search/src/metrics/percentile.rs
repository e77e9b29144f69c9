//! Percentiles by nearest rank.

use crate::engine::value;
use crate::error::{Error, Result};

/// Returns an error if a percentile is not from 0 to 100.
pub(crate) fn check_percentile(percentile: f64) -> Result<()> {
    let wrong = || Error::Request(format!("expected a percentile from 0 to 100, found {percentile}"));
    (0.0..=100.0).contains(&percentile).then_some(()).ok_or_else(wrong)
}

/// The position of a percentile among `count` sorted values, by nearest rank.
pub(crate) fn place(percentile: f64, count: u64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "percentiles are no exact places")]
    let rank = percentile * count as f64 / 100.0;
    // The double nearest to the intended decimal number, with two roundings, is a few units in the last place off.
    let whole = rank.round();
    let rank = if (rank - whole).abs() <= whole * 4.0 * f64::EPSILON { whole } else { rank.ceil() };
    value::whole(rank).clamp(1, count.max(1)) - 1
}

/// The number at a position among all, of ascending numbers with their counts.
pub(crate) fn nth(counts: &[(i64, u64)], place: u64) -> Option<i64> {
    let mut before = 0_u64;
    let found = counts.iter().find(|(_, count)| {
        before = before.saturating_add(*count);
        before > place
    });
    found.map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_decimal_numbers() {
        for count in [1, 7, 10, 100, 999, 1_000, 100_000, 300_000, 1 << 40] {
            for tenths in 0..=1_000_u64 {
                let rank = (tenths * count).div_ceil(1_000).max(1);
                #[expect(clippy::cast_precision_loss, reason = "1,000 at most")]
                let percentile = tenths as f64 / 10.0;
                assert_eq!(place(percentile, count), rank - 1, "{percentile} of {count}");
            }
        }
        assert_eq!(
            [place(f64::MIN_POSITIVE, 100), place(100.0, u64::MAX), place(50.0, 0)],
            [0, u64::MAX - 1, 0]
        );
    }
}
