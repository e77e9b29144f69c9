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
//! | [`exact`] | what do keys share in front? |
//! | [`mod@fst`] | what do keys share, in front and at the end? |

pub mod dictionary;
pub mod exact;
pub mod fst;
mod walk;

pub use dictionary::Dictionary;
