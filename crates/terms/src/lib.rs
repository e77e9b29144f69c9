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
//! | [`filter`] | may this segment hold the id? |
//! | [`tags`] | in which of many segments may it be? |
//! | [`lookup`] | in which of many segments is it? |

pub mod dictionary;
pub mod filter;
pub mod hash;
pub mod lookup;
pub mod tags;
pub mod template;

pub use dictionary::Dictionary;
