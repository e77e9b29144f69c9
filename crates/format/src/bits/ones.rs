//! Bits of words: counted, and set in runs.

use std::ops::Range;

use super::wide::wide;

wide! {
    /// How many bits of `words` are set. A build for any x86-64 has no instruction that counts them.
    pub fn ones(words: &[u64]) -> u64 {
        words.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Sets the bits `range` of `words`; none, if they end before the last of it.
pub fn fill(words: &mut [u64], range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    let (first, last) = (range.start / 64, (range.end - 1) / 64);
    let (head, tail) = (u64::MAX << (range.start % 64), u64::MAX >> (63 - (range.end - 1) % 64));
    match words.get_mut(first..=last) {
        None | Some([]) => {}
        Some([only]) => *only |= head & tail,
        Some([low, whole @ .., high]) => {
            *low |= head;
            whole.fill(u64::MAX);
            *high |= tail;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_may_begin_and_end_anywhere() {
        for (start, end) in
            [(0, 0), (9, 9), (0, 1), (63, 64), (63, 65), (0, 64), (5, 192), (64, 128), (70, 75)]
        {
            let mut words = [0; 3];
            fill(&mut words, start..end);
            let set = (0..192).filter(|&i: &usize| words[i / 64] >> (i % 64) & 1 == 1);
            assert!(set.eq(start..end), "{start}..{end}");
        }
        let mut words = [0; 3];
        fill(&mut words, 100..193);
        assert_eq!(words, [0; 3]);
    }

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
