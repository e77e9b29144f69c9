//! The innermost loops of look-ups, for any CPU.
//!
//! | loop | plain | AVX2 | AVX-512 |
//! | --- | --- | --- | --- |
//! | count the bits of a line below one of them | seven words, all of each or nothing; a part of one | the same | in lanes, of eight lines |
//! | find a byte among those of a bucket | eight compared at once | thirty-two | sixty-four |
//!
//! The plain functions define the right answers; tests hold those of [`simd`](super::simd) against them.

/// Bytes of a line, the bits between two rank entries.
pub(super) const LINE: usize = 64;

/// Bytes of a bucket that are searched at once: all of it, mostly.
pub(super) const BUCKET_HEAD: usize = 64;

/// The loops of look-ups. Each value of such a type stands for a CPU that can run them.
pub(super) trait Kernel: Copy {
    /// How many of the first `len` of `bytes`, which ascend, are below `byte`, and whether one is equal
    /// to it.
    fn search(self, bytes: &[u8; BUCKET_HEAD], len: usize, byte: u8) -> (u32, bool);
}

/// Any CPU.
#[derive(Clone, Copy)]
pub(super) struct AnyCpu;

impl Kernel for AnyCpu {
    #[inline(always)]
    fn search(self, bytes: &[u8; BUCKET_HEAD], len: usize, byte: u8) -> (u32, bool) {
        search_scalar(bytes, len, byte)
    }
}

/// How many bits of `line` are set below bit `bit`, one of its 512, and whether that one is set.
#[inline(always)]
pub(super) fn count(line: &[u8; LINE], bit: u32) -> (u32, bool) {
    /// From word `WORDS - n` on: `n` words of ones, then zeros.
    static ALL: [u64; 2 * WORDS] = {
        let (mut words, mut at) = ([0; 2 * WORDS], 0);
        while at < WORDS {
            words[at] = u64::MAX;
            at += 1;
        }
        words
    };
    const WORDS: usize = LINE / 8;
    let words = line.as_chunks::<8>().0;
    let (word, bit) = ((bit / 64) as usize % WORDS, bit % 64);
    let here = u64::from_le_bytes(words[word]);
    // No branch on how many words lie before, which nobody can foresee.
    let before = ALL[WORDS - word..].iter().zip(&words[..WORDS - 1]);
    let before = before.map(|(all, word)| (u64::from_le_bytes(*word) & all).count_ones()).sum::<u32>();
    (before + (here & !(u64::MAX << bit)).count_ones(), here >> bit & 1 == 1)
}

/// Bytes that are compared at once.
const CHUNK: usize = 8;

/// How many of the first `len` of `bytes`, which ascend, are below `byte`, and whether the next one is
/// equal to it. Most buckets have a few.
#[inline(always)]
fn search_scalar(bytes: &[u8; BUCKET_HEAD], len: usize, byte: u8) -> (u32, bool) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let (wanted, mut below, mut left) = (ONES * u64::from(byte), 0, len);
    for word in bytes.as_chunks::<CHUNK>().0 {
        let word = u64::from_le_bytes(*word);
        // The highest bit of each byte: whether, of equal highest bits, the others are not below those wanted.
        let others = (word | HIGH).wrapping_sub(wanted & !HIGH);
        let is_below = (!word & wanted | !(word ^ wanted) & !others) & HIGH;
        let counts = if left < CHUNK { !(u64::MAX << (8 * left)) } else { u64::MAX };
        // A byte of ones and zeros is counted by what their sum is.
        below += ((is_below & counts) >> 7).wrapping_mul(ONES) >> 56;
        if left <= CHUNK {
            break;
        }
        left -= CHUNK;
    }
    #[expect(clippy::cast_possible_truncation, reason = "of 64 bytes")]
    let below = below as u32;
    // Behind `len`, too, there is a byte: no branch on whether it counts.
    let next = bytes[below as usize % BUCKET_HEAD];
    (below, ((below as usize) < len) & (next == byte))
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "a few thousand documents")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn below(line: &[u8; LINE], bit: u32) -> u32 {
        (0..bit as usize).map(|i| u32::from(line[i / 8] >> (i % 8) & 1)).sum()
    }

    proptest! {
        #[test]
        fn bits_are_counted_below_each(line in prop::array::uniform32(any::<u16>()), dense: bool) {
            let mut bytes = [0; LINE];
            for (to, from) in bytes.chunks_mut(2).zip(line) {
                to.copy_from_slice(&(if dense { from | from >> 3 } else { from & from >> 3 }).to_le_bytes());
            }
            for bit in 0..512 {
                let present = bytes[bit as usize / 8] >> (bit % 8) & 1 == 1;
                prop_assert_eq!(count(&bytes, bit), (below(&bytes, bit), present), "bit {}", bit);
            }
        }

        #[test]
        fn a_byte_is_found_among_those_that_count(
            lows in prop::collection::btree_set(any::<u8>(), 0..=BUCKET_HEAD), behind: u8, byte: u8,
        ) {
            let mut bytes = [behind; BUCKET_HEAD];
            bytes.iter_mut().zip(&lows).for_each(|(to, from)| *to = *from);
            for byte in lows.iter().copied().chain([byte, 0, u8::MAX]) {
                let expected = (lows.range(..byte).count() as u32, lows.contains(&byte));
                prop_assert_eq!(search_scalar(&bytes, lows.len(), byte), expected);
            }
        }
    }
}
