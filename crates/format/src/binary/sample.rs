//! What a column's values look like: some of them, from all over the column.

/// The most bytes of one value.
const PART: usize = 1024;

/// Values, or parts of long ones, of about `len` bytes together, or all that there are; value *i* ends
/// before byte `ends[i]` of `bytes`.
///
/// They are those in which the bytes lie that the multiples of the golden ratio lead to. These are spread
/// evenly, however many are taken, and keep no step with the values: data often has a period.
pub(super) fn values<'b>(bytes: &'b [u8], ends: &[u64], len: usize) -> Vec<&'b [u8]> {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    // All of them are places in `bytes`.
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let value = |i: usize| place(i.checked_sub(1).map_or(0, |before| ends[before]))..place(ends[i]);
    if bytes.len() <= len {
        return (0..ends.len()).map(|i| &bytes[value(i)]).collect();
    }
    let (mut sample, mut left, mut turn) = (Vec::new(), len, 0_u64);
    while left > 0 {
        turn = turn.wrapping_add(GOLDEN);
        let at = u64::try_from((u128::from(turn) * bytes.len() as u128) >> 64).unwrap_or(0);
        let range = value(ends.partition_point(|&end| end <= at));
        let part = match range.len() <= PART {
            true => range,
            false => place(at)..range.end.min(place(at) + PART),
        };
        left = left.saturating_sub(part.len());
        sample.push(&bytes[part]);
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_from_all_over_and_about_as_long_as_asked_for() {
        let bytes: Vec<u8> = (0..=255).flat_map(|value| [value; 100]).collect();
        let ends: Vec<u64> = (1..=256).map(|i| i * 100).collect();
        let sample = values(&bytes, &ends, 6_400);
        assert_eq!(sample.len(), 64);
        for quarter in 0..4_u8 {
            let inside = |value: &&&[u8]| value.len() == 100 && value[0] / 64 == quarter;
            assert!((15..=17).contains(&sample.iter().filter(inside).count()), "{quarter}");
        }
        assert_eq!(values(&bytes, &ends, 100_000).concat(), bytes);
    }

    #[test]
    fn of_long_values_there_are_parts() {
        let bytes = vec![0; 1 << 20];
        let sample = values(&bytes, &[3, 3, 1 << 20], 10_000);
        assert!(sample.iter().all(|part| !part.is_empty() && part.len() <= PART));
        assert!((10_000..10_000 + PART).contains(&sample.concat().len()));
        assert!(values(&[], &[0, 0], 10).concat().is_empty());
    }
}
