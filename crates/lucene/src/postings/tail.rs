//! Short lists of documents, which begin a term in `.doc`.

use super::format::Tail;
use crate::bytes::{Bytes, little};

/// Reads `count` documents, ascending; `None` if they are damaged.
pub(super) fn read(mut bytes: Bytes<'_>, tail: Tail, count: u32, has_freqs: bool) -> Option<Vec<u32>> {
    let mut docs = Vec::new();
    let mut last = if tail.is_after_minus_one { -1 } else { 0 };
    let mut group = [0; 4];
    let grouped = if tail.has_groups { count / 4 * 4 } else { 0 };
    for at in 0..count {
        let number = if at < grouped {
            if at % 4 == 0 {
                group = four(&mut bytes)?;
            }
            group[usize::try_from(at % 4).ok()?]
        } else {
            bytes.vint()?
        };
        // The lowest bit says that the term is there once; else its frequency follows, in groups after all numbers.
        if has_freqs && !tail.has_groups && number & 1 == 0 {
            bytes.vint()?;
        }
        let step = if has_freqs { number >> 1 } else { number };
        if at > 0 && step == 0 {
            return None;
        }
        last += i64::from(step);
        docs.push(u32::try_from(last).ok()?);
    }
    Some(docs)
}

/// Four numbers of one to four bytes each, whose lengths the first byte has.
fn four(bytes: &mut Bytes<'_>) -> Option<[u32; 4]> {
    let lens = bytes.u8()?;
    let mut numbers = [0; 4];
    for (at, number) in numbers.iter_mut().enumerate() {
        let len = usize::from(lens >> (6 - 2 * at) & 3) + 1;
        *number = u32::try_from(little(bytes.take(len)?, 0, len)?).ok()?;
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_all_releases_are_read() {
        let plain = Tail { has_groups: false, is_after_minus_one: false };
        let of = |bytes: &[u8], tail, count, has_freqs| read(Bytes(bytes), tail, count, has_freqs);
        assert_eq!(of(&[5, 3, 0x80, 1], plain, 3, false), Some(vec![5, 8, 136]));
        // 5 with a frequency of 9, and 8 with one of 1.
        assert_eq!(of(&[5 << 1, 9, 3 << 1 | 1], plain, 2, true), Some(vec![5, 8]));
        let groups = Tail { has_groups: true, is_after_minus_one: true };
        // A group of numbers of 1, 2, 1 and 1 bytes, and a number alone.
        let bytes = [0b00_01_00_00, 1, 0x00, 0x01, 2, 3, 4];
        assert_eq!(of(&bytes, groups, 5, false), Some(vec![0, 256, 258, 261, 265]));
        let later = Tail { is_after_minus_one: false, ..groups };
        assert_eq!(of(&[7, 9], later, 2, false), Some(vec![7, 16]));
        assert_eq!(of(&[7], later, 2, false), None);
        // The same document twice.
        assert_eq!((of(&[7, 0], later, 2, false), of(&[7 << 1 | 1, 1], plain, 2, true)), (None, None));
        assert_eq!(of(&[0, 1], plain, 2, false), Some(vec![0, 1]));
    }
}
