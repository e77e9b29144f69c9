//! [`OpenSegment`]: a segment that a command reads.

use std::sync::Arc;

use crate::api::{Column, ColumnSource, DocId, Error, ErrorKind, Field, LiveDocs, Part, Segment};

/// A segment of a file or of a store, with its values now.
#[derive(Clone)]
pub(crate) struct OpenSegment {
    /// The segment as it was written: its file, size and ids.
    pub(crate) segment: Segment,
    /// The columns, with the updates of a store.
    pub(crate) source: Arc<dyn ColumnSource + Send + Sync>,
    /// The documents that a store has not deleted.
    pub(crate) live: LiveDocs,
}

impl OpenSegment {
    pub(crate) fn file(&self) -> &str {
        self.segment.file()
    }

    /// The live documents, ascending.
    pub(crate) fn live_docs(&self) -> impl Iterator<Item = u32> {
        (0..self.live.docs()).filter(|doc| self.live.contains(DocId::new(*doc)))
    }

    /// The column of this name, if there is one.
    pub(crate) fn column(&self, name: &str) -> Result<Option<Arc<dyn Column>>, Error> {
        match self.source.column(name) {
            Ok(column) => Ok(Some(column)),
            Err(error) if matches!(error.kind(), ErrorKind::NoSuchColumn { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The field of this name, if there is one.
    pub(crate) fn field(&self, name: &str) -> Result<Option<Field>, Error> {
        Ok(self.column(name)?.map(|column| column.info().field.clone()))
    }

    /// The segment as a part of a search.
    pub(crate) fn part(&self) -> Part {
        let live = (!self.live.are_all()).then(|| Arc::new(self.live.clone()));
        Part { source: self.source.clone(), live }
    }
}
