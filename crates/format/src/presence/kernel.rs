//! The inner loops of look-ups, in scalar code.
//!
//! | loop | scalar | AVX2 | AVX-512 |
//! | --- | --- | --- | --- |
//! | popcount of a line of bitmap below a bit | seven masked words, and part of one | the same | eight lines at once, by vector lanes |
//! | search a byte in a bucket | 8 bytes at once | 32 bytes | 64 bytes |
//!
//! The scalar functions are the reference: tests compare those of [`simd`](super::simd) with them.

/// Bytes of a line: the bitmap between two rank entries, and a cache line of most CPUs.
pub(super) const LINE: usize = 64;

/// Bytes of a bucket that a kernel searches at once. Most buckets are no longer.
pub(super) const BUCKET_HEAD: usize = 64;

/// The inner loops of look-ups. A value of an implementing type proves that the CPU can run them.
pub(super) trait Kernel: Copy {
    /// The number of the first `len` of `bytes`, which ascend, that are below `byte`, and whether one is equal to it.
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

/// The number of bits of `line` set below bit `bit`, one of its 512, and whether bit `bit` is set.
#[inline(always)]
pub(super) fn count(line: &[u8; LINE], bit: u32) -> (u32, bool) {
    /// Masks: from word `WORDS - n` on, `n` words of ones, then zeros.
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
    // Masks instead of a branch on the number of words before, which CPUs cannot predict.
    let before = ALL[WORDS - word..].iter().zip(&words[..WORDS - 1]);
    let before = before.map(|(all, word)| (u64::from_le_bytes(*word) & all).count_ones()).sum::<u32>();
    (before + (here & !(u64::MAX << bit)).count_ones(), here >> bit & 1 == 1)
}

/// Bytes that the scalar search compares at once.
const CHUNK: usize = 8;

/// The scalar [`Kernel::search`]. Most buckets have few bytes, so that its loop ends after a word or two.
#[inline(always)]
fn search_scalar(bytes: &[u8; BUCKET_HEAD], len: usize, byte: u8) -> (u32, bool) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let (wanted, mut below, mut left) = (ONES * u64::from(byte), 0, len);
    for word in bytes.as_chunks::<CHUNK>().0 {
        let word = u64::from_le_bytes(*word);
        // The highest bit of each byte: whether the lower seven bits are at least those of `byte`.
        let others = (word | HIGH).wrapping_sub(wanted & !HIGH);
        let is_below = (!word & wanted | !(word ^ wanted) & !others) & HIGH;
        let counts = if left < CHUNK { !(u64::MAX << (8 * left)) } else { u64::MAX };
        // The product sums up the bytes, each 0 or 1, in its highest byte.
        below += ((is_below & counts) >> 7).wrapping_mul(ONES) >> 56;
        if left <= CHUNK {
            break;
        }
        left -= CHUNK;
    }
    #[expect(clippy::cast_possible_truncation, reason = "of 64 bytes")]
    let below = below as u32;
    // There are bytes after `len`, too: no branch is needed to load one.
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
            lows in prop::collection::btree_set(any::<u8>(), 0..=BUCKET_HEAD), filler: u8, byte: u8,
        ) {
            let mut bytes = [filler; BUCKET_HEAD];
            bytes.iter_mut().zip(&lows).for_each(|(to, from)| *to = *from);
            for byte in lows.iter().copied().chain([byte, 0, u8::MAX]) {
                let expected = (lows.range(..byte).count() as u32, lows.contains(&byte));
                prop_assert_eq!(search_scalar(&bytes, lows.len(), byte), expected);
            }
        }
    }
}
