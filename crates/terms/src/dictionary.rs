//! What every form of the index answers.

mod verified;

use std::ops::{ControlFlow, Range};

use docvalues_format::error::Result;

pub use verified::VerifiedDictionary;
pub(crate) use verified::{VerifiedKeys, ask};

/// Sorted unique keys, numbered from 0 in their order, which is that of their bytes: the number of a key is its *rank*.
///
/// Whatever bytes stand below, each method returns: an error, or, where checksums are right and the bytes
/// are not, a wrong answer.
pub trait Dictionary: Send + Sync {
    /// How many keys there are.
    fn len(&self) -> u32;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rank of `key`, if it is one of the keys: Lucene's `seekExact`.
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    fn find(&self, key: &[u8]) -> Result<Option<u32>>;

    /// How many keys are less than `key`: the rank of the first that is not, or [`len`](Dictionary::len).
    ///
    /// # Errors
    ///
    /// As [`find`](Dictionary::find).
    fn lower_bound(&self, key: &[u8]) -> Result<u32>;

    /// Gives the keys of `ranks`, which are clipped to those there are, in their order, until told to stop.
    ///
    /// # Errors
    ///
    /// As [`find`](Dictionary::find), and what `each` returns.
    #[allow(clippy::type_complexity, reason = "a closure, said in full")]
    fn each(
        &self,
        ranks: Range<u32>,
        each: &mut dyn FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()>;

    /// Reads everything and proves that it is one structure: keys ascend, each is found at its rank, and there are as
    /// many as there should be. O(bytes).
    ///
    /// # Errors
    ///
    /// What is wrong first.
    fn verify(&self) -> Result<()>;
}
