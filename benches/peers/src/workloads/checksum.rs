//! The checksum of an answer: the same code for the peers of this program, and the same arithmetic in Lucene's
//! `Workloads.java`. It depends on the order of an answer.

use crate::task::touch;

/// Adds the next part of an answer to a checksum.
#[inline]
pub fn then(sum: i64, next: i64) -> i64 {
    sum.wrapping_mul(31).wrapping_add(next)
}

/// Adds the next term, and its count or sum.
pub fn then_term(sum: i64, term: &[u8], value: i64) -> i64 {
    then(then(sum, touch(term)), value)
}

/// The top-k values and their owners. Of equal values, the first one wins. Values are above 0.
pub struct TopK {
    /// Descending.
    entries: Vec<(i64, u32)>,
    most: usize,
    /// The greatest value that is not competitive.
    pub least: i64,
}

impl TopK {
    pub fn new(most: usize) -> TopK {
        TopK { entries: Vec::with_capacity(most + 1), most, least: 0 }
    }

    /// Collects a value if it is competitive.
    #[inline]
    pub fn offer(&mut self, value: i64, whose: u32) {
        if value > self.least {
            self.insert(value, whose);
        }
    }

    #[cold]
    fn insert(&mut self, value: i64, whose: u32) {
        let at = self.entries.partition_point(|entry| entry.0 >= value);
        self.entries.insert(at, (value, whose));
        self.entries.truncate(self.most);
        if self.entries.len() == self.most {
            self.least = self.entries[self.most - 1].0;
        }
    }

    /// The values and their owners, greatest first.
    pub fn entries(&self) -> &[(i64, u32)] {
        &self.entries
    }
}

/// Checksums of the columns of an export, in row order.
#[derive(Default)]
pub struct Columns(pub [i64; super::EXPORTED.len()]);

impl Columns {
    /// Adds the next value of column `at`.
    #[inline]
    pub fn number(&mut self, at: usize, value: i64) {
        self.0[at] = then(self.0[at], value);
    }

    #[inline]
    pub fn string(&mut self, at: usize, value: &[u8]) {
        self.number(at, touch(value));
    }

    /// The checksum of all columns.
    pub fn sum(&self) -> i64 {
        self.0.iter().fold(0, |sum, &column| sum.wrapping_add(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_k_equals_a_stable_sort() {
        let mut values: Vec<i64> = (0..1_000).map(|i| i * 7_919 % 101 + 1).collect();
        let mut best = TopK::new(20);
        for (&value, whose) in values.iter().zip(0..) {
            best.offer(value, whose);
        }
        let mut expected: Vec<(i64, u32)> = values.drain(..).zip(0..).collect();
        expected.sort_by_key(|entry| -entry.0);
        assert_eq!(best.entries(), &expected[..20]);
    }
}
