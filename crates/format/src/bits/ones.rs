//! Counting bits.

use super::wide::wide;

wide! {
    /// How many bits of `words` are set. A build for any x86-64 has no instruction that counts them.
    pub fn ones(words: &[u64]) -> u64 {
        words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_words_is_counted() {
        let words: Vec<u64> =
            (0..1_000_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7)).collect();
        for len in [0, 1, 7, 8, 63, 64, 65, 1_000] {
            let one_by_one: u64 = (0..len * 64).map(|bit| words[bit / 64] >> (bit % 64) & 1).sum();
            assert_eq!(ones(&words[..len]), one_by_one, "{len} words");
        }
    }
}
