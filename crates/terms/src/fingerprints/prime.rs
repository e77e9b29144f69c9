//! A prime number of buckets, so that every stride visits all of them.

/// The largest prime below 2^32; a hash has 32 bits for the bucket.
const LARGEST: usize = 4_294_967_291;

/// The least prime that is at least `least`; between 3 and the largest below 2^32.
///
/// By trial division: some 20,000 divisions for a number near 2^32, and primes are rarely more than a hundred
/// apart.
pub(super) fn at_least(least: usize) -> usize {
    let mut candidate = least.max(3) | 1;
    while candidate < LARGEST && !is_prime(candidate) {
        candidate += 2;
    }
    candidate.min(LARGEST)
}

/// Whether `odd` is a prime; for odd numbers from 3 on.
fn is_prime(odd: usize) -> bool {
    (3..)
        .step_by(2)
        .take_while(|divisor| *divisor <= odd / divisor)
        .all(|divisor| !odd.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes() {
        let found: Vec<usize> = (0..30).map(at_least).collect();
        let expected =
            [3, 3, 3, 3, 5, 5, 7, 7, 11, 11, 11, 11, 13, 13, 17, 17, 17, 17, 19, 19, 23, 23, 23, 23];
        assert_eq!(found[..24], expected);
        assert_eq!(at_least(1 << 20), 1_048_583);
        assert_eq!([at_least(LARGEST - 2), at_least(usize::MAX)], [LARGEST; 2]);
    }
}
