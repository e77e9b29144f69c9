//! Sorted keys and their ranks: the interface of all forms of the index. It knows none of them.

use std::ops::{ControlFlow, Range};

use docvalues_format::error::Result;

/// Sorted unique keys, numbered from 0 in byte order. The number of a key is its *rank*.
///
/// Every method terminates for any bytes. If the bytes are invalid but their checksums match, it may return a wrong
/// result instead of an error.
///
/// # Examples
///
/// ```
/// use docvalues_format::error::Section;
/// use docvalues_format::source::Owned;
/// use docvalues_terms::Dictionary;
/// use docvalues_terms::exact_trie::{ExactTrie, TrieBuilder};
///
/// let mut builder = TrieBuilder::new();
/// for key in ["ant", "bee", "cow"] {
///     builder.push(key.as_bytes())?;
/// }
/// let trie = ExactTrie::open(Owned::new(Section::Ids, builder.finish()), 3)?;
/// assert_eq!((trie.find(b"bee")?, trie.find(b"be")?), (Some(1), None));
/// assert_eq!(trie.lower_bound(b"bird")?, 2); // "ant" and "bee" are less
/// trie.verify()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Dictionary: Send + Sync {
    /// The number of keys.
    fn len(&self) -> u32;

    /// Whether there are no keys.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rank of `key`, if it is one of the keys: Lucene's `seekExact`.
    ///
    /// # Errors
    ///
    /// When bytes that the look-up reads are damaged.
    fn find(&self, key: &[u8]) -> Result<Option<u32>>;

    /// The number of keys less than `key`: the rank of the first that is not, or [`len`](Dictionary::len).
    ///
    /// # Errors
    ///
    /// As [`find`](Dictionary::find).
    fn lower_bound(&self, key: &[u8]) -> Result<u32>;

    /// Calls `each` with the keys of `ranks` in order, until it breaks. Ranks beyond the last key are ignored.
    ///
    /// # Errors
    ///
    /// As [`find`](Dictionary::find), and those of `each`.
    #[allow(clippy::type_complexity, reason = "a closure, said in full")]
    fn each(
        &self,
        ranks: Range<u32>,
        each: &mut dyn FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()>;

    /// Reads everything and proves its structure: keys ascend, each is found at its rank, and their number is
    /// right. O(bytes).
    ///
    /// # Errors
    ///
    /// The first violation.
    fn verify(&self) -> Result<()>;
}
