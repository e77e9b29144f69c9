//! Documents of open segments, read in chunks.

use super::segment::OpenSegment;
use super::segments::Segments;
use crate::api::{Cell, ChunkColumn, DocAddress, Field, LogicalType, Retriever, Search};
use crate::error::Result;
use crate::text::{Printer, StoredRef};

/// The number of documents to read at a time.
pub(crate) const CHUNK: usize = 4096;

/// A reader of some columns of a segment or of several, with the values of the current chunk of documents.
pub(crate) struct Records {
    columns: Vec<RecordColumn>,
    retriever: Retriever,
}

/// The printer of a column, and its index in the retriever.
struct RecordColumn {
    printer: Printer,
    /// `None` if the segment does not have the column.
    place: Option<usize>,
}

/// A column, and its values in the current chunk.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) printer: &'a Printer,
    values: Option<ChunkColumn<'a>>,
}

impl Records {
    /// The columns of a segment with the names of these fields; their types may differ.
    pub(crate) fn open(segment: &OpenSegment, fields: &[Field]) -> Result<Records> {
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for field in fields {
            let own = segment.field(&field.name)?;
            let place = own.is_some().then_some(names.len());
            let own = own.as_ref().unwrap_or(field);
            let printer = Printer::new(own.logical, own.kind.is_multi_valued(), own.format.as_deref());
            names.extend(place.map(|_| &field.name));
            columns.push(RecordColumn { printer, place });
        }
        Ok(Records { columns, retriever: Search::new(&*segment.source).retriever(&names)? })
    }

    /// These columns of segments that are searched together; `None` for a column without values.
    pub(crate) fn over<'f>(
        segments: &Segments,
        fields: impl IntoIterator<Item = Option<&'f Field>>,
    ) -> Result<Records> {
        let (mut columns, mut names) = (Vec::new(), Vec::new());
        for field in fields {
            let printer = match field {
                Some(field) => {
                    Printer::new(field.logical, field.kind.is_multi_valued(), field.format.as_deref())
                }
                None => Printer::new(LogicalType::Utf8, false, None),
            };
            columns.push(RecordColumn { printer, place: field.map(|_| names.len()) });
            names.extend(field.map(|field| field.name.as_str()));
        }
        let retriever = segments.search().retriever(&names).map_err(|error| segments.failure(error))?;
        Ok(Records { columns, retriever })
    }

    /// Reads the values of these documents, in any order.
    pub(crate) fn load<D: Copy + Into<DocAddress>>(&mut self, docs: &[D]) -> Result<()> {
        self.retriever.retrieve(docs)?;
        Ok(())
    }

    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        let chunk = self.retriever.chunk();
        self.columns.iter().map(|RecordColumn { printer, place }| {
            let values = place.map(|place| chunk.column(place));
            Record { printer, values }
        })
    }
}

impl Record<'_> {
    /// Calls `each` with the values of the document at index `at` of the chunk.
    pub(crate) fn values<R>(&self, at: usize, each: impl FnOnce(&[StoredRef<'_>]) -> R) -> R {
        match self.values.map_or(Cell::Missing, |values| values.get(at)) {
            Cell::Missing => each(&[]),
            Cell::Number(number) => each(&[StoredRef::Number(number)]),
            Cell::Bytes(bytes) => each(&[StoredRef::Bytes(bytes)]),
            Cell::Numbers(numbers) => {
                each(&numbers.iter().map(|number| StoredRef::Number(*number)).collect::<Vec<_>>())
            }
            Cell::Terms(terms) => each(&terms.map(StoredRef::Bytes).collect::<Vec<_>>()),
        }
    }
}
