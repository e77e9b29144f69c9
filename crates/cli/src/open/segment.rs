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
    /// The path.
    file: String,
    bytes: u64,
    /// The segment as it was written; `None` for one of Lucene.
    segment: Option<Segment>,
    /// The segment of Lucene, if it is one.
    #[cfg(feature = "lucene")]
    lucene: Option<Arc<lucene::Segment>>,
    /// The columns, with the updates of a store.
    pub(crate) source: Arc<dyn ColumnSource + Send + Sync>,
    /// The documents that are not deleted.
    pub(crate) live: LiveDocs,
}

impl OpenSegment {
    /// A segment of a file or of a store.
    pub(crate) fn new(
        segment: Segment,
        source: Arc<dyn ColumnSource + Send + Sync>,
        live: LiveDocs,
    ) -> OpenSegment {
        OpenSegment {
            file: segment.file().to_owned(),
            bytes: segment.len(),
            segment: Some(segment),
            #[cfg(feature = "lucene")]
            lucene: None,
            source,
            live,
        }
    }

    /// A segment of a Lucene index, as a part of a search; `None` if the index has no segments.
    #[cfg(feature = "lucene")]
    pub(crate) fn of_lucene(file: String, lucene: Option<Arc<lucene::Segment>>, part: Part) -> OpenSegment {
        let docs = part.source.docs();
        let live = part.live.map_or_else(|| LiveDocs::all(docs), |live| (*live).clone());
        let bytes = lucene.as_ref().map_or(0, |segment| segment.bytes());
        OpenSegment { file, bytes, segment: None, lucene, source: part.source, live }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The size of the file; of a segment of Lucene, that of its doc values.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The index of ids, if there is one.
    pub(crate) fn ids(&self) -> Result<Option<IdIndex>, Error> {
        self.segment.as_ref().map_or(Ok(None), Segment::ids)
    }

    /// The space usage; `None` for a segment of Lucene.
    pub(crate) fn usage(&self) -> Result<Option<SegmentUsage>, Error> {
        self.segment.as_ref().map(Segment::usage).transpose()
    }

    /// The keys by which the documents are sorted, as the file says.
    pub(crate) fn sort(&self) -> &[SortKey] {
        self.segment.as_ref().map(Segment::sort).unwrap_or_default()
    }

    /// The segment of Lucene, if it is one.
    #[cfg(feature = "lucene")]
    pub(crate) fn lucene(&self) -> Option<&lucene::Segment> {
        self.lucene.as_deref()
    }

    /// The bytes of a column of a segment of Lucene.
    #[cfg(feature = "lucene")]
    pub(crate) fn bytes_of(&self, name: &str) -> Option<u64> {
        self.lucene.as_ref()?.bytes_of(name)
    }

    /// There are none.
    #[cfg(not(feature = "lucene"))]
    pub(crate) fn bytes_of(&self, _: &str) -> Option<u64> {
        None
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
