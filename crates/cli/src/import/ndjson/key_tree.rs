//! The keys of known fields.

use hashbrown::HashMap;

use super::MAX_NAME;
use crate::import::row::Fields;
use crate::text::quoting::json_text;

/// The longest path in the tree. Rows with longer ones are read one by one, which finds those that are too long.
const MAX_PATH: usize = 32;

/// The longest key in the tree, in bytes, so that no path of them is a name that is too long.
const MAX_KEY: usize = MAX_NAME / (2 * MAX_PATH);

/// The keys of objects, each with its field, if it has one, and with the keys of the object that is its value, if it may be
/// one.
pub(super) struct KeyTree(Vec<Node>);

/// The index of a key in its tree.
pub(super) type NodeId = usize;

#[derive(Default)]
struct Node {
    /// The key as JSON text, with its quotes. There may be other texts of it.
    text: String,
    /// A text of at most 16 bytes as a little-endian number, and the mask of its bits; 0 for longer ones.
    word: u128,
    mask: u128,
    /// The index of the field.
    field: Option<usize>,
    children: HashMap<String, NodeId>,
}

impl Node {
    fn new(key: &str) -> Node {
        let (text, mut bytes) = (json_text(key), [0; 16]);
        // It has two quotes, so the shift is less than the width.
        let mask = bytes.get_mut(..text.len()).map_or(0, |bytes| {
            bytes.copy_from_slice(text.as_bytes());
            u128::MAX >> (u128::BITS as usize - 8 * text.len())
        });
        Node { text, word: u128::from_le_bytes(bytes), mask, ..Node::default() }
    }
}

impl KeyTree {
    /// The node that stands for a row.
    pub(super) const ROOT: NodeId = 0;

    /// The keys of all fields that JSON may have.
    pub(super) fn new(fields: &Fields) -> KeyTree {
        let mut tree = KeyTree(vec![Node::default()]);
        for (field, path) in fields.paths() {
            if path.len() <= MAX_PATH && path.iter().all(|key| is_usual(key)) {
                let node = path.iter().fold(KeyTree::ROOT, |node, key| tree.child_or_new(node, key));
                tree.0[node].field = Some(field.index());
            }
        }
        tree
    }

    fn child_or_new(&mut self, node: NodeId, key: &str) -> NodeId {
        if let Some(child) = self.child(node, key) {
            return child;
        }
        let child = self.0.len();
        self.0.push(Node::new(key));
        self.0[node].children.insert(key.to_owned(), child);
        child
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The node of a key of an object.
    pub(super) fn child(&self, node: NodeId, key: &str) -> Option<NodeId> {
        self.0.get(node)?.children.get(key).copied()
    }

    /// The length of the key that `text` begins with, in quotes, if it is that of `node`.
    #[inline]
    pub(super) fn starts(&self, text: &[u8], node: NodeId) -> Option<usize> {
        let Node { text: key, word, mask, .. } = self.0.get(node)?;
        let is_next = match text.first_chunk() {
            Some(first) if *mask != 0 => u128::from_le_bytes(*first) & mask == *word,
            _ => !key.is_empty() && text.starts_with(key.as_bytes()),
        };
        is_next.then_some(key.len())
    }

    /// The index of the field of a node.
    #[inline]
    pub(super) fn field(&self, node: NodeId) -> Option<usize> {
        self.0.get(node)?.field
    }
}

/// Whether a key may be in a tree, or next to those that are.
pub(super) fn is_usual(key: &str) -> bool {
    !key.is_empty() && key.len() <= MAX_KEY
}
