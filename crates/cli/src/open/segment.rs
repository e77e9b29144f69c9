//! [`OpenSegment`]: a segment that a command reads.

use std::sync::Arc;

#[cfg(feature = "lucene")]
use crate::api::lucene;
use crate::api::{
    Column, ColumnSource, DocId, Error, ErrorKind, Field, IdIndex, LiveDocs, Part, Segment, SegmentUsage,
    SortKey,
};

/// A segment of a file, of a store or of a Lucene index, with its values now.
#[derive(Clone)]
pub(crate) struct OpenSegment {
    origin: Origin,
    /// The columns, with the updates of a store.
    pub(crate) source: Arc<dyn ColumnSource + Send + Sync>,
    /// The documents that are not deleted.
    pub(crate) live: LiveDocs,
}

/// The file or index that a segment is read from.
#[derive(Clone)]
enum Origin {
    /// The segment as it was written: its file, size and ids.
    File(Segment),
    /// The path of a segment of Lucene, and the segment; `None` if the index has no segments.
    #[cfg(feature = "lucene")]
    Lucene(String, Option<Arc<lucene::Segment>>),
}

impl OpenSegment {
    /// A segment of a file or of a store.
    pub(crate) fn new(
        segment: Segment,
        source: Arc<dyn ColumnSource + Send + Sync>,
        live: LiveDocs,
    ) -> OpenSegment {
        OpenSegment { origin: Origin::File(segment), source, live }
    }

    /// A segment of a Lucene index, as a part of a search; `None` if the index has no segments.
    #[cfg(feature = "lucene")]
    pub(crate) fn of_lucene(path: String, segment: Option<Arc<lucene::Segment>>, part: Part) -> OpenSegment {
        let docs = part.source.docs();
        let live = part.live.map_or_else(|| LiveDocs::all(docs), |live| (*live).clone());
        OpenSegment { origin: Origin::Lucene(path, segment), source: part.source, live }
    }

    pub(crate) fn file(&self) -> &str {
        match &self.origin {
            Origin::File(segment) => segment.file(),
            #[cfg(feature = "lucene")]
            Origin::Lucene(path, _) => path,
        }
    }

    /// The size of the file; of a segment of Lucene, that of its doc values.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.origin {
            Origin::File(segment) => segment.len(),
            #[cfg(feature = "lucene")]
            Origin::Lucene(_, segment) => segment.as_ref().map_or(0, |segment| segment.bytes()),
        }
    }

    /// The index of ids, if there is one.
    pub(crate) fn ids(&self) -> Result<Option<IdIndex>, Error> {
        match &self.origin {
            Origin::File(segment) => segment.ids(),
            #[cfg(feature = "lucene")]
            Origin::Lucene(..) => Ok(None),
        }
    }

    /// The space usage; `None` for a segment of Lucene.
    pub(crate) fn usage(&self) -> Result<Option<SegmentUsage>, Error> {
        match &self.origin {
            Origin::File(segment) => segment.usage().map(Some),
            #[cfg(feature = "lucene")]
            Origin::Lucene(..) => Ok(None),
        }
    }

    /// The keys by which the documents are sorted, as the file says.
    pub(crate) fn sort(&self) -> &[SortKey] {
        match &self.origin {
            Origin::File(segment) => segment.sort(),
            #[cfg(feature = "lucene")]
            Origin::Lucene(..) => &[],
        }
    }

    /// The segment of Lucene, if it is one.
    #[cfg(feature = "lucene")]
    pub(crate) fn lucene(&self) -> Option<&lucene::Segment> {
        match &self.origin {
            Origin::Lucene(_, segment) => segment.as_deref(),
            Origin::File(_) => None,
        }
    }

    /// The bytes of a column of a segment of Lucene.
    pub(crate) fn bytes_of(&self, name: &str) -> Option<u64> {
        match (&self.origin, name) {
            (Origin::File(_), _) => None,
            #[cfg(feature = "lucene")]
            (Origin::Lucene(_, segment), name) => segment.as_ref()?.bytes_of(name),
        }
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
