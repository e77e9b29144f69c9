//! Builds a trie: nodes are written as they come.

use super::node::put_branch;
use crate::fst::node::put_leaf;
use crate::nodes::arcs::Arc;
use crate::nodes::build::{Builder, NodeWriter};

/// Makes a trie of keys that come in ascending byte order, each once.
///
/// Memory: what nobody took of the section (`take`), the longest key, and up to 256 arcs for each open node. Time: O(bytes) a key.
///
/// ```
/// use docvalues_format::{error::Section, source::Owned};
/// use docvalues_terms::{Dictionary, exact_trie::{ExactTrie, TrieBuilder}};
///
/// let mut builder = TrieBuilder::new();
/// for key in ["ab", "abc", "b"] {
///     builder.push(key.as_bytes())?;
/// }
/// let trie = ExactTrie::open(Owned::new(Section::Ids, builder.finish()), 3)?;
/// assert_eq!(trie.find(b"b")?, Some(2));
/// assert_eq!(trie.lower_bound(b"abcd")?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type TrieBuilder = Builder<TrieNodeWriter>;

impl TrieBuilder {
    /// A trie without keys.
    pub fn new() -> TrieBuilder {
        TrieBuilder::default()
    }

    /// Offers the finished bytes of the section to `take`, which may take all of them, as the next part of the
    /// section.
    ///
    /// # Errors
    ///
    /// Those of `take`.
    pub fn take<E>(&mut self, take: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let TrieNodeWriter { out, taken } = &mut self.write;
        let before = out.len();
        take(out)?;
        *taken += before.saturating_sub(out.len()) as u64;
        Ok(())
    }
}

/// Writes nodes without comparing them with older ones.
#[derive(Debug, Default)]
pub struct TrieNodeWriter {
    /// The bytes that were not taken, and the number of those that were.
    out: Vec<u8>,
    taken: u64,
}

impl NodeWriter for TrieNodeWriter {
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn end(&self) -> u64 {
        self.taken + self.out.len() as u64
    }

    fn leaf(&mut self, tail: &[u8]) -> u64 {
        let at = self.end();
        put_leaf(&mut self.out, tail);
        at
    }

    fn branch(&mut self, labels: &[u8], is_key: bool, arcs: &[Arc]) -> u64 {
        let at = self.end();
        put_branch(&mut self.out, self.taken, labels, is_key, arcs);
        at
    }
}
