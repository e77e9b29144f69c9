//! Builds a trie: nodes are written as they come.

use super::node::put_branch;
use crate::fst::node::put_leaf;
use crate::nodes::arcs::Arc;
use crate::nodes::build::{Builder, NodeWriter};
use crate::output::Output;

/// Makes a trie of keys that come in ascending byte order, each once.
///
/// Memory: the bytes of the section that are not flushed, the longest key, and up to 256 arcs for each open node. Time: O(bytes) a key.
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
}

/// Writes nodes without comparing them with older ones.
#[derive(Debug, Default)]
pub struct TrieNodeWriter {
    pub(crate) out: Output,
}

impl NodeWriter for TrieNodeWriter {
    fn out(&mut self) -> &mut Output {
        &mut self.out
    }

    fn leaf(&mut self, tail: &[u8]) -> u64 {
        let at = self.out.end();
        put_leaf(&mut self.out.bytes, tail);
        at
    }

    fn branch(&mut self, labels: &[u8], is_key: bool, arcs: &[Arc]) -> u64 {
        let at = self.out.end();
        put_branch(&mut self.out.bytes, self.out.flushed, labels, is_key, arcs);
        at
    }
}
