//! The term index: which document has this id?
//!
//! A segment with an id field has the ids of its documents once more, sorted and unique, in sections of their
//! own. All forms of the index answer the same question, which [`Dictionary`] puts: the *rank* of a key among the
//! sorted keys. The document of a rank is a number in a column of numbers; so the forms differ in nothing but how they
//! find a key, and may be compared.
//!
//! | module | question |
//! | --- | --- |
//! | [`ids`] | what is in the sections of the ids, and in the directory? |
//! | [`build`] | how are they made of sorted ids? |
//! | [`read`] | which document has this id? |
//! | [`hash`] | what is the hash of an id? |
//! | [`packing`] | what do all ids look like, and how are they packed? |
//! | [`bloom`] | may this segment hold the id? |
//! | [`dictionary`] | what do all forms of the index answer? |
//! | [`id_blocks`] | which rank has a key, in blocks under a trie? |
//! | [`exact_trie`] | what do keys share in front? |
//! | [`mod@fst`] | what do keys share, in front and at the end? |
//! | [`fingerprints`] | in which of many segments may an id be? |
//! | [`lookup`] | in which of many segments is it? |

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small"))]

use std::ops::Range;

pub mod bloom;
pub mod build;
pub mod dictionary;
pub mod exact_trie;
pub mod fingerprints;
pub mod fst;
pub mod hash;
mod id_block;
pub mod id_blocks;
pub mod ids;
pub mod lookup;
mod nodes;
pub mod packing;
pub mod read;
mod verified_section;

pub use dictionary::Dictionary;

/// How many bytes `a` and `b` begin with both.
fn common(a: &[u8], b: &[u8]) -> usize {
    let eights = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).take_while(|(a, b)| a == b).count();
    let same = eights * 8;
    same + a[same..].iter().zip(&b[same..]).take_while(|(a, b)| a == b).count()
}

/// The first eight bytes as a big-endian number, with zeros behind: ascends as byte strings do.
#[inline]
fn first_eight(bytes: &[u8]) -> u64 {
    if let Some(bytes) = bytes.first_chunk() {
        return u64::from_be_bytes(*bytes);
    }
    (0..8).fold(0, |number, i| number << 8 | u64::from(bytes.get(i).copied().unwrap_or(0)))
}

/// The first place in `range` that is not below what is sought, or its end: a binary search, for what may fail.
fn search<E>(range: Range<usize>, mut is_below: impl FnMut(usize) -> Result<bool, E>) -> Result<usize, E> {
    let Range { mut start, mut end } = range;
    while start < end {
        let middle = start.midpoint(end);
        match is_below(middle)? {
            true => start = middle + 1,
            false => end = middle,
        }
    }
    Ok(start)
}
