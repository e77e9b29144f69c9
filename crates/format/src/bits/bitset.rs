//! Bitmaps of 64-bit words: counting set bits, listing them, and setting ranges.

use std::ops::Range;

use super::compress::compress_by_bits;
use super::multiversion::multiversion;
use crate::id::DocId;

/// Words that are skipped together if none of their bits is set.
const GROUP: usize = 8;

/// If more than one document in this many is in the set, all documents are written and compressed.
const DENSE: usize = 2;

/// Words whose documents are compressed at once: 4 KiB of documents.
const DENSE_WORDS: usize = 16;

/// Documents written at once for a word, even if fewer bits are set.
const DOCS_PER_WRITE: usize = PUSH_DOCS_SPARE;

/// Capacity that [`push_docs`] needs in addition to that for the documents.
pub const PUSH_DOCS_SPARE: usize = 4;

multiversion! {
    /// The number of set bits in `words`. Multiversioned because baseline x86-64 has no `popcnt` instruction.
    pub fn count_ones(words: &[u64]) -> u64 {
        words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Sets, or clears, the bits of `words` that are set in `some`, as far as both reach.
    pub fn assign_all(words: &mut [u64], some: &[u64], is_set: bool) {
        let words = words.iter_mut().zip(some);
        if is_set {
            words.for_each(|(word, some)| *word |= some);
        } else {
            words.for_each(|(word, some)| *word &= !some);
        }
    }

    /// Writes the document of each set bit to the front of `out`, ascending; bit 0 is document `first`. `out` must
    /// have [`DOCS_PER_WRITE`] more places than bits are set.
    ///
    /// No branch tests whether a word has another set bit, as it would be mispredicted. Four documents are always
    /// written, and the next word overwrites the surplus, as in simdjson.
    fn list(words: &[u64], first: u32, out: &mut [DocId]) {
        let mut taken = 0;
        for (group, words) in words.chunks(GROUP).enumerate() {
            // Groups are mostly all zero or not at all, so this branch is predicted well.
            if words.iter().fold(0, |any, word| any | word) == 0 {
                continue;
            }
            for (at, &word) in (group * GROUP..).zip(words) {
                let (mut left, mut write) = (word, taken);
                loop {
                    let out = out.get_mut(write..).and_then(|out| out.first_chunk_mut::<DOCS_PER_WRITE>());
                    let Some(out) = out else { return };
                    for out in out {
                        // The top bit is set because counting the zeros of 0 is slower on some processors.
                        *out = place(first, at, left | 1 << 63);
                        left &= left.wrapping_sub(1);
                    }
                    if left == 0 {
                        break;
                    }
                    write += DOCS_PER_WRITE;
                }
                taken += word.count_ones() as usize;
            }
        }
    }
}

/// The document of the lowest bit of `bits`, which is word `word` of those that begin with document `first`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "documents have 32 bits, and their words fewer")]
fn place(first: u32, word: usize, bits: u64) -> DocId {
    DocId::new(first.wrapping_add((word as u32).wrapping_mul(64)).wrapping_add(bits.trailing_zeros()))
}

/// Appends the documents whose bits are set to `list`, ascending. Bit *i* is document `first + i`.
///
/// O(words + set bits).
pub fn push_docs(words: &[u64], first: u32, list: &mut Vec<DocId>) {
    // A slice has at most `usize::MAX` bits.
    let found = usize::try_from(count_ones(words)).unwrap_or(usize::MAX);
    if found > 64 * words.len() / DENSE {
        let mut next = first;
        for words in words.chunks(DENSE_WORDS) {
            let mut docs = [DocId::new(0); 64 * DENSE_WORDS];
            let docs = &mut docs[..64 * words.len()];
            for doc in &mut *docs {
                *doc = DocId::new(next);
                next = next.wrapping_add(1);
            }
            let here = compress_by_bits(docs, words);
            list.extend_from_slice(&docs[..here]);
        }
    } else if found > 0 {
        let begin = list.len();
        list.resize(begin + found + DOCS_PER_WRITE, DocId::new(0));
        self::list(words, first, &mut list[begin..]);
        list.truncate(begin + found);
    }
}

/// Sets the bits of `range`, or none if `words` ends before `range` does.
pub fn set_range(words: &mut [u64], range: Range<usize>) {
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

/// ORs `word` into the 64 bits from bit `at` on. Bits past the end of `words` must be zero.
///
/// # Panics
///
/// If they are not, or `at` is past the end.
#[inline]
pub fn or_at(words: &mut [u64], at: usize, word: u64) {
    let (index, shift) = (at / 64, at % 64);
    words[index] |= word << shift;
    let spilt = word >> 1 >> (63 - shift);
    if spilt != 0 {
        words[index + 1] |= spilt;
    }
}

/// The positions of the bits of a word that are set, ascending.
#[inline]
pub fn ones_of(mut left: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_straddle_two() {
        let mut bits = [0; 2];
        or_at(&mut bits, 60, 0b10_0001);
        assert_eq!(bits, [1 << 60, 0b10]);
        or_at(&mut bits, 64, 1 << 63);
        assert_eq!(bits, [1 << 60, 1 << 63 | 0b10]);
    }

    #[test]
    fn bits_are_assigned_by_words() {
        let (mut words, some) = ([0b0101, u64::MAX, 7], [0b0110, 1 << 63]);
        assign_all(&mut words, &some, true);
        assert_eq!(words, [0b0111, u64::MAX, 7]);
        assign_all(&mut words, &some, false);
        assert_eq!(words, [0b0001, u64::MAX >> 1, 7]);
        assign_all(&mut words[..1], &some, true);
        assert_eq!(words, [0b0111, u64::MAX >> 1, 7]);
    }

    #[test]
    fn a_fill_may_begin_and_end_anywhere() {
        for (start, end) in
            [(0, 0), (9, 9), (0, 1), (63, 64), (63, 65), (0, 64), (5, 192), (64, 128), (70, 75)]
        {
            let mut words = [0; 3];
            set_range(&mut words, start..end);
            let set = (0..192).filter(|&i: &usize| words[i / 64] >> (i % 64) & 1 == 1);
            assert!(set.eq(start..end), "{start}..{end}");
        }
        let mut words = [0; 3];
        set_range(&mut words, 100..193);
        assert_eq!(words, [0; 3]);
    }

    #[test]
    fn set_bits_are_listed_however_many_there_are() {
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let words: Vec<u64> = (0..700)
            .map(|i| match i % 7 {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << (next() % 64),
                3 => next() & next() & next() & next(),
                4 => 0b1111 << (next() % 60),
                5 => 1 << 63 | next() & 0b111,
                _ => next(),
            })
            .collect();
        for len in [0, 1, 2, 3, 4, 5, 6, 7, 699, 700] {
            for first in [0, 7, 64_000] {
                let mut list = vec![DocId::new(3)];
                push_docs(&words[..len], first, &mut list);
                let is_set = |i: &u32| words[*i as usize / 64] >> (i % 64) & 1 == 1;
                let set = (0..64 * u32::try_from(len).unwrap()).filter(is_set).map(|i| DocId::new(first + i));
                assert!(list.into_iter().eq(std::iter::once(DocId::new(3)).chain(set)), "{len} words");
            }
        }
    }

    #[test]
    fn any_number_of_words_is_counted() {
        let words: Vec<u64> =
            (0..1_000_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7)).collect();
        for len in [0, 1, 7, 8, 63, 64, 65, 1_000] {
            let one_by_one: u64 = (0..len * 64).map(|bit| words[bit / 64] >> (bit % 64) & 1).sum();
            assert_eq!(count_ones(&words[..len]), one_by_one, "{len} words");
        }
    }
}
