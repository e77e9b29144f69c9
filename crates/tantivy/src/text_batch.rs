//! [`TextBatch`]: changes of the text that go to tantivy together.

use tantivy::indexer::UserOperation;
use tantivy::schema::Value as _;
use tantivy::schema::document::ReferenceValueLeaf;
use tantivy::{IndexWriter, TantivyDocument, Term};

use crate::error::Result;

/// Changes of the text, in their order, that go to tantivy together.
///
/// tantivy gives each batch to one of its threads, so that its documents follow each other in a segment as they do in the columns:
/// see [`Places`](crate::places::Places). Documents that go one by one alternate between the threads.
#[derive(Default)]
pub(crate) struct TextBatch {
    changes: Vec<UserOperation>,
    /// Their approximate bytes.
    bytes: usize,
}

/// The bytes of a batch that is sent. tantivy has up to 10,000 batches that wait for its threads.
const BATCH_BYTES: usize = 4 << 10;

/// The approximate bytes of a change without values.
const CHANGE_BYTES: usize = 128;

/// The approximate bytes of a value without text.
const VALUE_BYTES: usize = 16;

impl TextBatch {
    pub(crate) fn add(&mut self, mut text: TantivyDocument) {
        self.bytes += bytes_of(&text);
        // tantivy reserves a KiB for each.
        text.shrink_to_fit();
        self.changes.push(UserOperation::Add(text));
    }

    pub(crate) fn delete(&mut self, key: Term) {
        self.bytes += CHANGE_BYTES;
        self.changes.push(UserOperation::Delete(key));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES
    }

    /// Sends the changes, and has none then.
    pub(crate) fn send(&mut self, text: &IndexWriter) -> Result<()> {
        self.bytes = 0;
        text.run(self.changes.drain(..))?;
        Ok(())
    }
}

/// The approximate bytes of a document; those of a whole batch if it has values of unknown length.
fn bytes_of(text: &TantivyDocument) -> usize {
    let bytes = text.field_values().map(|(_, value)| match value.as_leaf() {
        Some(ReferenceValueLeaf::Str(text) | ReferenceValueLeaf::Facet(text)) => VALUE_BYTES + text.len(),
        Some(ReferenceValueLeaf::Bytes(bytes) | ReferenceValueLeaf::Custom(bytes)) => {
            VALUE_BYTES + bytes.len()
        }
        // An array, an object, or tokens.
        None | Some(ReferenceValueLeaf::PreTokStr(_)) => BATCH_BYTES,
        Some(_) => VALUE_BYTES,
    });
    CHANGE_BYTES + bytes.sum::<usize>()
}
