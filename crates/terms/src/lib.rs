//! The primary-key index of a segment: from an id to its document.
//!
//! A segment with an id field also stores the ids of its documents sorted and unique, in sections of their own.
//! Four forms of the index share one interface, [`Dictionary`]: each returns the *rank* of a key among the sorted
//! keys, and a numeric column maps the rank to the document. The forms differ only in how they find a key, so they
//! can be compared with each other.
//!
//! | module | contents |
//! | --- | --- |
//! | [`ids`] | the sections of the ids and their entry in the directory |
//! | [`build`] | builds the sections from sorted ids |
//! | [`read`] | looks ids up in one segment |
//! | [`hash`] | the 64-bit hash of an id |
//! | [`packing`] | the template that all ids of a segment fit, and the packing of ids without it |
//! | [`bloom`] | the Bloom filter of a segment's ids |
//! | [`fingerprints`] | a hash table of fingerprints over the ids of many segments |
//! | [`lookup`] | looks ids up in hundreds of segments at once |
//!
//! The forms ([`ids::Form`]) are modules for tests and benches: `id_blocks` are blocks of keys under a trie of separators, as in
//! Lucene's block tree; `exact_trie` is a path-compressed trie that holds every byte, so that keys share prefixes; `fst` is a
//! minimal automaton, so that keys share prefixes and suffixes; `in_column` has a byte of each key, and the column has the keys.

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small"))]

use std::ops::Range;

pub mod bloom;
pub mod build;
mod dictionary;
#[doc(hidden)]
pub mod exact_trie;
pub mod fingerprints;
#[doc(hidden)]
pub mod fst;
pub mod hash;
mod id_block;
#[doc(hidden)]
pub mod id_blocks;
pub mod ids;
#[doc(hidden)]
pub mod in_column;
pub mod lookup;
mod nodes;
mod output;
pub mod packing;
pub mod read;
mod sorted_keys;

pub use sorted_keys::Dictionary;

/// Binary search with a fallible predicate: the first index in `range` for which `is_below` is false, or the end of
/// `range`.
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
