//! The error type of the facade: any error of writing, reading, searching, or of a store.

use docvalues_column::Error as ReadError;
use docvalues_terms::lookup::{IdStoreError, SeekError};
use docvalues_writer::{Error as WriteError, FinishError, StorageError};

/// A result whose error is any error of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of this crate, so that one function can write, read, search and change a store with `?`.
///
/// Its message and its [source](std::error::Error::source) are those of the inner error. A reading error that ends a
/// search or a merge is not a [`Read`](Error::Read): see [`search::Error::Column`](crate::search::Error::Column) and
/// [`writer::ErrorKind::Read`](crate::writer::ErrorKind::Read).
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
/// use docvalues::search::{Query, Search};
///
/// fn count_large(sizes: &[i64]) -> docvalues::Result<u64> {
///     let mut schema = Schema::new();
///     let size = schema.add(FieldSpec::new("size", LogicalType::I64))?; // writer::Error
///     let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
///     for &bytes in sizes {
///         let mut doc = writer.document();
///         doc.i64(size, bytes)?;
///         doc.finish()?;
///     }
///     let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?; // column::Error
///     let hits = Search::new(&segment).filter(&Query::parse("size >= 1kB")?)?; // QueryError, search::Error
///     Ok(hits.count())
/// }
/// assert_eq!(count_large(&[512, 9_000])?, 1);
/// # Ok::<(), docvalues::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading a segment or a column failed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Writing a value, a document or a segment failed.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A search failed.
    #[cfg(feature = "search")]
    #[error(transparent)]
    Search(#[from] crate::search::Error),
    /// A call of a store failed.
    #[cfg(feature = "store")]
    #[error(transparent)]
    Store(#[from] crate::store::Error),
    /// Opening an index of Lucene failed.
    #[cfg(feature = "lucene")]
    #[error(transparent)]
    Lucene(#[from] crate::lucene::Error),
    /// Looking up ids in several segments failed.
    #[error(transparent)]
    Seek(#[from] SeekError),
    /// Changing the segments of an [`IdStore`](crate::terms::lookup::IdStore) failed.
    #[error(transparent)]
    IdStore(#[from] IdStoreError),
    /// A call of the file system failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl<T> From<FinishError<T>> for Error {
    fn from(error: FinishError<T>) -> Error {
        Error::Write(error.into_error())
    }
}

#[cfg(feature = "search")]
impl From<crate::search::query::QueryError> for Error {
    fn from(error: crate::search::query::QueryError) -> Error {
        Error::Search(error.into())
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;
    use crate::{OpenOptions, Segment};

    #[test]
    fn errors_keep_message_and_source() {
        let read = Segment::from_bytes(vec![0; 10], OpenOptions::new()).unwrap_err().to_string();
        let opened = || -> Result<Segment> { Ok(Segment::from_bytes(vec![0; 10], OpenOptions::new())?) };
        let error = opened().unwrap_err();
        assert!(matches!(error, Error::Read(_)));
        assert_eq!(error.to_string(), read);

        let missing = Segment::open("no/such/segment.dv").unwrap_err();
        let source = missing.source().unwrap().to_string();
        assert_eq!(Error::from(missing).source().unwrap().to_string(), source);

        let write = Error::from(WriteError::from(docvalues_writer::ErrorKind::EmptyName));
        assert_eq!(write.to_string(), "a field needs a name of at least one byte");
        let storage = docvalues_writer::AtomicFile::create("no/such/folder/segment.dv").unwrap_err();
        let (message, source) = (storage.to_string(), storage.source().unwrap().to_string());
        let storage = Error::from(storage);
        assert_eq!((storage.to_string(), storage.source().unwrap().to_string()), (message, source));
        assert!(matches!(Error::from(IdStoreError::TooManySegments), Error::IdStore(_)));
    }

    #[cfg(feature = "store")]
    #[test]
    fn the_error_of_a_store_keeps_its_message() {
        let opened = || -> Result<crate::store::Store> {
            Ok(crate::store::Store::open("no/such/store", crate::store::StoreOptions::default())?)
        };
        let error = opened().unwrap_err();
        let Error::Store(inner) = &error else { panic!("{error:?}") };
        assert_eq!(error.to_string(), inner.to_string());
    }

    #[cfg(feature = "search")]
    #[test]
    fn a_query_error_becomes_a_search_error() {
        let parsed = || -> Result<crate::search::Query> { Ok(crate::search::Query::parse("size <")?) };
        let expected = crate::search::Query::parse("size <").unwrap_err().to_string();
        let error = parsed().unwrap_err();
        assert!(matches!(error, Error::Search(crate::search::Error::Query(_))));
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn the_error_is_send_and_sync() {
        fn fits<T: Into<Box<dyn std::error::Error + Send + Sync>>>() {}
        fits::<Error>();
    }
}
