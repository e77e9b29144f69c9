//! The term index: which document has this id?
//!
//! A segment with an id field has the ids of its documents once more, sorted and unique, in sections of their
//! own. All forms of the index answer the same question, which [`Dictionary`] puts: the *rank* of a key among the
//! sorted keys. The document of a rank is a number in a column of numbers; so the forms differ in nothing but how they
//! find a key, and may be compared.
//!
//! | module | question |
//! | --- | --- |
//! | [`dictionary`] | what do all forms of the index answer? |
//! | [`hash`] | what is the hash of an id? |
//! | [`template`] | what do all ids look like, and how are they packed? |
//! | [`blocks`] | which rank has a key, in blocks under a trie? |
//! | [`filter`] | may this segment hold the id? |
//! | [`tags`] | in which of many segments may it be? |
//! | [`lookup`] | in which of many segments is it? |

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small"))]

mod block;
pub mod blocks;
pub mod dictionary;
pub mod filter;
pub mod hash;
mod heads;
pub mod lookup;
mod starts;
pub mod tags;
pub mod template;
mod trie;

pub use dictionary::Dictionary;

/// How many bytes `a` and `b` begin with both.
fn common(a: &[u8], b: &[u8]) -> usize {
    let eights = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).take_while(|(a, b)| a == b).count();
    let same = eights * 8;
    same + a[same..].iter().zip(&b[same..]).take_while(|(a, b)| a == b).count()
}
