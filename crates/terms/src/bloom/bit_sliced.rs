//! Bit-sliced Bloom filters: one row of bits per filter position, one bit per segment.
//!
//! # Layout
//!
//! All filters are stretched to the number of lines of the largest. For each line, word and bit there is a *row*,
//! with one bit for each filter:
//!
//! ```text
//! filters                                     bit-sliced
//! filter f: line l, word i, bit b of it       row (l * 8 + i) * 64 + b: bit f
//! ```
//!
//! An id has one bit in each word of its line. The filters with a 1 in all eight of its rows may hold it. For 400
//! filters, that reads 8 rows of 50 bytes instead of 400 lines of 64.
//!
//! A line covers a range of hashes. A filter with fewer lines contributes each of its lines to every range that
//! overlaps it. If two of its lines overlap a range, the range gets the bits of both: that adds false positives,
//! but never a false negative.
//!
//! Sources: Faloutsos and Christodoulakis, *Signature files: an access method for documents and its analytical
//! performance evaluation* (TOIS 1984), for bit-sliced signatures; Goodwin et al., *BitFunnel: revisiting
//! signatures for search* (SIGIR 2017), for ANDing rows of Bloom filters.

use docvalues_format::prefetch::prefetch;

use super::{LINE, Lines, Probe, WORDS};

/// Rows per line.
const ROWS: usize = LINE * 8;

/// Up to 512 Bloom filters, bit-sliced.
#[derive(Debug)]
pub(crate) struct BitSliced {
    /// Rows of `width` bytes, followed by zeros so that whole words can be read.
    rows: Box<[u8]>,
    width: usize,
    lines: u64,
    filters: usize,
}

/// Bytes of `filters` filters of `lines` lines, bit-sliced; `None` on overflow.
pub(crate) fn bit_sliced_bytes(filters: usize, lines: usize) -> Option<usize> {
    lines.checked_mul(ROWS)?.checked_mul(filters.div_ceil(8))?.checked_add(size_of::<u64>())
}

impl BitSliced {
    /// Slices `filters`; `None` if there are none, or one of them has no lines.
    ///
    /// O(bytes of the result).
    pub(crate) fn of(filters: &[Lines<'_>]) -> Option<BitSliced> {
        let lines = filters.iter().map(|filter| filter.count()).max()?;
        let width = filters.len().div_ceil(8);
        let mut rows = vec![0; bit_sliced_bytes(filters.len(), lines)?];
        for (line, rows) in rows.chunks_exact_mut(ROWS * width).take(lines).enumerate() {
            for (filters, at) in filters.chunks(64).zip((0..).step_by(8)) {
                let bits = words(filters, line, lines)?.into_iter().flat_map(transposed);
                for (bits, row) in bits.zip(rows.chunks_exact_mut(width)) {
                    row[at..].iter_mut().zip(bits.to_le_bytes()).for_each(|(to, bits)| *to = bits);
                }
            }
        }
        Some(BitSliced { rows: rows.into(), width, lines: lines as u64, filters: filters.len() })
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.len()
    }

    /// The offsets of an id's eight rows.
    #[inline(always)]
    fn rows_of(&self, probe: &Probe) -> [usize; WORDS] {
        let line = probe.at(self.lines) / LINE * ROWS;
        std::array::from_fn(|i| (line + i * 64 + probe.bits[i].trailing_zeros() as usize) * self.width)
    }

    /// Prefetches these rows.
    #[inline]
    pub(crate) fn prefetch(&self, probe: &Probe) {
        for row in self.rows_of(probe) {
            prefetch(self.rows.as_ptr().wrapping_add(row));
            prefetch(self.rows.as_ptr().wrapping_add(row + self.width - 1));
        }
    }

    /// Calls `each` with the number of each filter that may hold the id.
    #[inline]
    pub(crate) fn ask(&self, probe: &Probe, mut each: impl FnMut(usize)) {
        let words = self.width.div_ceil(8);
        let rows = self
            .rows_of(probe)
            .map(|row| self.rows.get(row..row + words * 8).unwrap_or_default().as_chunks::<8>().0);
        for word in 0..words {
            let mut all = rows.iter().fold(u64::MAX, |all, row| {
                all & row.get(word).map_or(u64::MAX, |bits| u64::from_le_bytes(*bits))
            });
            while all != 0 {
                let filter = word * 64 + all.trailing_zeros() as usize;
                // The bits after the last filter belong to the next row.
                if filter < self.filters {
                    each(filter);
                }
                all &= all - 1;
            }
        }
    }
}

/// The words of up to 64 filters for line `line` of `lines`: for each word, that of every filter.
fn words(filters: &[Lines<'_>], line: usize, lines: usize) -> Option<[[u64; 64]; WORDS]> {
    let mut all = [[0; 64]; WORDS];
    for (i, filter) in filters.iter().enumerate() {
        for own in filter.part(line, lines)? {
            for (words, own) in all.iter_mut().zip(own.as_chunks().0) {
                words[i] |= u64::from_le_bytes(*own);
            }
        }
    }
    Some(all)
}

impl<'a> Lines<'a> {
    /// The number of lines.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The lines that overlap the hashes of line `line` of `lines`; `None` if there is none.
    fn part(self, line: usize, lines: usize) -> Option<&'a [[u8; LINE]]> {
        let (line, lines, own) = (line as u128, lines as u128, self.0.len() as u128);
        // The first high half of a hash that maps to a line.
        let first = |line: u128| (line << 32).div_ceil(lines);
        let [first, last] =
            [first(line), first(line + 1) - 1].map(|high| usize::try_from((high * own) >> 32));
        self.0.get(first.ok()?..=last.ok()?)
    }
}

/// Transposes a bit matrix: bit j of word i becomes bit i of word j. Warren, *Hacker's Delight*, 7-3.
fn transposed(mut words: [u64; 64]) -> [u64; 64] {
    let (mut by, mut mask) = (32, u64::MAX >> 32);
    while by != 0 {
        for i in (0..64).filter(|i| i & by == 0) {
            let other = (words[i] >> by ^ words[i + by]) & mask;
            words[i] ^= other << by;
            words[i + by] ^= other;
        }
        by >>= 1;
        mask ^= mask << by;
    }
    words
}

#[cfg(test)]
mod tests {
    use docvalues_format::error::Section;
    use docvalues_format::source::Owned;
    use proptest::prelude::*;

    use super::super::{BloomFilter, BloomFilterBuilder};
    use super::*;

    fn hash(number: u64) -> u64 {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    /// A filter of some numbers.
    fn filter(first: u64, keys: u32) -> BloomFilter<Owned> {
        let mut filter = BloomFilterBuilder::new(keys, 16);
        (first..first + u64::from(keys)).for_each(|number| filter.insert(hash(number)));
        BloomFilter::open(Owned::new(Section::IdFilter, filter.finish().unwrap()), keys, 16).unwrap()
    }

    fn asked(sliced: &BitSliced, probe: &Probe) -> Vec<usize> {
        let mut found = Vec::new();
        sliced.ask(probe, |filter| found.push(filter));
        found
    }

    #[test]
    fn a_bit_matrix_is_transposed() {
        let words: [u64; 64] = std::array::from_fn(|i| hash(i as u64));
        let transposed_words = transposed(words);
        for (i, j) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
            assert_eq!(words[i] >> j & 1, transposed_words[j] >> i & 1, "{i} {j}");
        }
    }

    /// With as many lines each, they say what each says; in any number of words and parts of them.
    #[test]
    fn filters_of_one_size_agree_with_each_filter() {
        for count in [1, 7, 8, 9, 63, 64, 65, 128, 400, 511, 512] {
            let filters: Vec<_> = (0..count).map(|i| filter(i * 150, 290)).collect();
            let lines: Vec<_> = filters.iter().map(|filter| filter.read().unwrap()).collect();
            let sliced = BitSliced::of(&lines).unwrap();
            assert_eq!(Some(sliced.bytes()), bit_sliced_bytes(filters.len(), 10));
            for probe in (0..5_000).map(|number| Probe::new(hash(number))) {
                sliced.prefetch(&probe);
                let right = (0..filters.len()).filter(|&i| lines[i].may_hold(&probe));
                assert_eq!(asked(&sliced, &probe), right.collect::<Vec<_>>(), "{count} filters");
            }
        }
    }

    #[test]
    fn nothing_to_slice() {
        let one = filter(0, 10);
        assert!(BitSliced::of(&[]).is_none());
        assert!(BitSliced::of(&[one.read().unwrap(), Lines::default()]).is_none());
        assert_eq!(bit_sliced_bytes(1, usize::MAX / 8), None);
        let hashes = [0, u64::MAX, 1 << 63].map(Probe::new);
        assert!(
            hashes.iter().all(|probe| asked(&BitSliced::of(&[Lines::ALL; 3]).unwrap(), probe) == [0, 1, 2])
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

        /// With fewer lines than others, a filter lets through what it let through, and seldom more.
        #[test]
        fn filters_of_other_sizes_have_no_false_negatives(sizes in prop::collection::vec(1_u32..3_000, 1..20)) {
            let mut first = 0;
            let filters: Vec<_> = sizes.iter().map(|&keys| { first += 3_000; filter(first, keys) }).collect();
            let lines: Vec<_> = filters.iter().map(|filter| filter.read().unwrap()).collect();
            let sliced = BitSliced::of(&lines).unwrap();
            let most = lines.iter().map(|lines| lines.count()).max().unwrap();
            let (mut more, mut all) = (0, 0);
            for probe in (0..first + 9_000).step_by(7).map(|number| Probe::new(hash(number))) {
                let found = asked(&sliced, &probe);
                for (i, filter) in lines.iter().enumerate() {
                    let (may, is) = (found.contains(&i), filter.may_hold(&probe));
                    prop_assert!(may || !is);
                    prop_assert!(may == is || !most.is_multiple_of(filter.count()));
                    more += u32::from(may && !is);
                    all += 1;
                }
            }
            // Where the bits of two lines are together, some 60 of 100 are set.
            prop_assert!(more < 10 + all / 50, "{} of {}", more, all);
        }
    }
}
