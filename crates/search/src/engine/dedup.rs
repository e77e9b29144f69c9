//! Deduplication of numbers, with the position of each in the result.

use docvalues_column::bits;

use super::docs::len_u32;

/// The position of a missing value.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The ratio of the greatest number to the count up to which a bitmap is used instead of a sort. The bitmap must stay
/// in cache.
const BITS_EACH: usize = 64;

/// The different numbers of a list, ascending, and the position of each list item among them.
#[derive(Debug, Default)]
pub(crate) struct Dedup<T> {
    /// The different numbers.
    pub(crate) values: Vec<T>,
    /// The position of each list item; [`NOWHERE`] for [`NOWHERE`].
    pub(crate) places: Vec<u32>,
    words: Vec<u64>,
    /// The number of bits set before each word.
    before: Vec<u32>,
    pairs: Vec<u64>,
}

impl<T> Dedup<T> {
    /// Deduplicates `numbers`. O(n) if they ascend or are dense, else O(n log n).
    pub(crate) fn find(&mut self, numbers: impl Iterator<Item = u32> + Clone, make: impl Fn(u32) -> T) {
        self.values.clear();
        self.places.clear();
        let (mut there, mut most, mut ascending) = (0_usize, None, true);
        for number in numbers.clone() {
            ascending &= most < Some(number) && number != NOWHERE;
            if number != NOWHERE {
                there += 1;
                most = most.max(Some(number));
            }
        }
        let most = most.map_or(0, |most| most as usize);
        if ascending {
            self.values.extend(numbers.map(make));
            self.places.extend(0..len_u32(self.values.len()));
        } else if most / BITS_EACH < there {
            self.by_bits(numbers, most, make);
        } else {
            self.by_sorting(numbers, make);
        }
    }

    /// Deduplicates by a bitmap: the position of a number is the number of bits set before it.
    fn by_bits(&mut self, numbers: impl Iterator<Item = u32> + Clone, most: usize, make: impl Fn(u32) -> T) {
        self.words.clear();
        self.words.resize(most / 64 + 1, 0);
        for number in numbers.clone().filter(|number| *number != NOWHERE) {
            bits::set(&mut self.words, number as usize);
        }
        self.before.clear();
        self.before.extend(self.words.iter().scan(0, |sum, word| {
            let before = *sum;
            *sum += word.count_ones();
            Some(before)
        }));
        self.values.extend(bits::ones(&self.words).map(|number| make(len_u32(number))));
        let (words, before) = (&self.words, &self.before);
        self.places.extend(numbers.map(|number| match number {
            NOWHERE => NOWHERE,
            number => {
                let (word, bit) = (number as usize / 64, number % 64);
                before[word] + (words[word] & ((1 << bit) - 1)).count_ones()
            }
        }));
    }

    fn by_sorting(&mut self, numbers: impl Iterator<Item = u32>, make: impl Fn(u32) -> T) {
        self.pairs.clear();
        self.pairs.extend(numbers.zip(0..).map(|(number, at): (u32, u64)| u64::from(number) << 32 | at));
        self.places.resize(self.pairs.len(), NOWHERE);
        self.pairs.sort_unstable();
        let mut last = NOWHERE;
        for pair in &self.pairs {
            #[expect(clippy::cast_possible_truncation, reason = "two numbers of 32 bits each")]
            let (number, at) = ((pair >> 32) as u32, *pair as u32);
            if number == NOWHERE {
                break;
            }
            if number != last {
                self.values.push(make(number));
                last = number;
            }
            self.places[at as usize] = len_u32(self.values.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(numbers: &[u32], distinct: &mut Dedup<u32>) {
        distinct.find(numbers.iter().copied(), |number| number);
        let mut expected: Vec<u32> = numbers.iter().copied().filter(|number| *number != NOWHERE).collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(distinct.values, expected);
        let back = distinct.places.iter().map(|place| match *place {
            NOWHERE => NOWHERE,
            place => distinct.values[place as usize],
        });
        assert!(back.eq(numbers.iter().copied()), "{numbers:?}: {:?}", distinct.places);
    }

    proptest! {
        #[test]
        fn positions_restore_the_input(
            lists in prop::collection::vec(prop::collection::vec(prop_oneof![
                4 => 0..40_u32, 2 => 0..5000_u32, 1 => any::<u32>(), 1 => Just(NOWHERE)
            ], 0..100), 1..4),
            bound in prop_oneof![Just(u32::MAX), 1..100_u32],
        ) {
            let mut distinct = Dedup::default();
            for list in lists {
                let list: Vec<u32> = list.into_iter().map(|n| if n == NOWHERE { n } else { n % bound }).collect();
                check(&list, &mut distinct);
                let mut ascending = list;
                ascending.sort_unstable();
                check(&ascending, &mut distinct);
            }
        }
    }

    #[test]
    fn bitmap_word_boundaries_and_greatest_numbers() {
        for list in [&[][..], &[NOWHERE], &[NOWHERE - 1], &[64, 63, 0, 64], &[NOWHERE - 1, 0], &[5, 5]] {
            check(list, &mut Dedup::default());
        }
    }
}
