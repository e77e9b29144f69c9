//! Samples of a column's values, to train a compressor.

use super::Values;

/// The most bytes of one value in a sample.
const PART: u64 = 1024;

/// The length of a sample of `total` bytes of values: `factor` times the square root, at most `most`. So the time of
/// training grows with the time of encoding, but slower.
pub(super) fn len(total: u64, factor: usize, most: usize) -> usize {
    usize::try_from(total.isqrt()).unwrap_or(usize::MAX).saturating_mul(factor).min(most)
}

/// Samples values, or parts of long ones, of about `len` bytes together. If the column is shorter, returns all values
/// that are not empty.
///
/// Chooses the values at positions that are multiples of the golden ratio. These are evenly spread, however many there
/// are, and do not resonate with periods of the data.
pub(super) fn values<S: Values>(strings: &S, len: usize) -> Result<Vec<Vec<u8>>, S::Error> {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let (mut sample, total) = (Vec::new(), strings.total_len());
    if total <= len as u64 {
        strings.for_each(|value| {
            sample.extend(Some(value.to_vec()).filter(|value| !value.is_empty()));
            Ok(())
        })?;
        return Ok(sample);
    }
    let (mut left, mut turn) = (len, 0_u64);
    while left > 0 {
        turn = turn.wrapping_add(GOLDEN);
        let at = u64::try_from((u128::from(turn) * u128::from(total)) >> 64).unwrap_or(0);
        let range = strings.around(at)?;
        let part = match range.end - range.start <= PART {
            true => range,
            false => at..range.end.min(at + PART),
        };
        let part = strings.read(part)?;
        left = left.saturating_sub(part.len());
        sample.push(part);
    }
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::InMemory;

    fn values(bytes: &[u8], ends: &[u64], len: usize) -> Vec<Vec<u8>> {
        let Ok(sample) = super::values(&InMemory { bytes, ends }, len);
        sample
    }

    #[test]
    fn a_sample_is_evenly_spread_and_about_as_long_as_requested() {
        let bytes: Vec<u8> = (0..=255).flat_map(|value| [value; 100]).collect();
        let ends: Vec<u64> = (1..=256).map(|i| i * 100).collect();
        let sample = values(&bytes, &ends, 6_400);
        assert_eq!(sample.len(), 64);
        for quarter in 0..4_u8 {
            let inside = |value: &&Vec<u8>| value.len() == 100 && value[0] / 64 == quarter;
            assert!((15..=17).contains(&sample.iter().filter(inside).count()), "{quarter}");
        }
        assert_eq!(values(&bytes, &ends, 100_000).concat(), bytes);
    }

    #[test]
    fn samples_grow_with_the_values_up_to_a_limit() {
        let lens = [0, 1, 99, 10_000, 1_000_000, u64::MAX].map(|total| len(total, 16, 10_000));
        assert_eq!(lens, [0, 16, 144, 1_600, 10_000, 10_000]);
    }

    #[test]
    fn long_values_are_sampled_in_parts() {
        let bytes = vec![0; 1 << 20];
        let sample = values(&bytes, &[3, 3, 1 << 20], 10_000);
        assert!(sample.iter().all(|part| !part.is_empty() && part.len() as u64 <= PART));
        assert!((10_000..11_024).contains(&sample.concat().len()));
        assert!(values(&[], &[0, 0], 10).concat().is_empty());
    }
}
