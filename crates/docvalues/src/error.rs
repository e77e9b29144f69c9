//! One error for everything that an application does with this crate.

use docvalues_terms::lookup::{SeekError, StoreError};

use crate::{FinishError, ReadError, StorageError, WriteError};

/// Shorthand for what an application returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of this crate, so that one function can write, read and search with `?`.
///
/// Messages and [sources](std::error::Error::source) are those of the error inside. A reading error within a search or a
/// merge stays there: [`search::Error::Column`](crate::search::Error::Column),
/// [`WriteErrorKind::Read`](crate::WriteErrorKind::Read).
///
/// ```
/// use docvalues::prelude::*;
/// use docvalues::search::{Docs, Query, Search};
///
/// fn count_large(sizes: &[i64]) -> docvalues::Result<u32> {
///     let mut schema = Schema::new();
///     let size = schema.add(FieldSpec::new("size", LogicalType::I64))?; // WriteError
///     let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
///     for &bytes in sizes {
///         let mut doc = writer.document();
///         doc.i64(size, bytes)?;
///         doc.finish()?;
///     }
///     let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?; // ReadError
///     let hits = Search::new(&segment).filter(&Query::parse("size >= 1kB")?)?; // QueryError, search::Error
///     Ok(hits.count())
/// }
/// assert_eq!(count_large(&[512, 9_000])?, 1);
/// # Ok::<(), docvalues::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A segment or a column could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A value, a document or a whole segment could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A request could not be answered.
    #[cfg(feature = "search")]
    #[error(transparent)]
    Search(#[from] crate::search::Error),
    /// Ids could not be looked up in several segments.
    #[error(transparent)]
    Seek(#[from] SeekError),
    /// A set of segments did not change.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file system refused something.
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
    use crate::{OpenOptions, Segment, WriteErrorKind};

    #[test]
    fn every_error_comes_through_with_its_message_and_source() {
        let read = Segment::from_bytes(vec![0; 10], OpenOptions::new()).unwrap_err().to_string();
        let opened = || -> Result<Segment> { Ok(Segment::from_bytes(vec![0; 10], OpenOptions::new())?) };
        let error = opened().unwrap_err();
        assert!(matches!(error, Error::Read(_)));
        assert_eq!(error.to_string(), read);

        let missing = Segment::open("no/such/segment.dv").unwrap_err();
        let source = missing.source().unwrap().to_string();
        assert_eq!(Error::from(missing).source().unwrap().to_string(), source);

        let write = Error::from(WriteError::from(WriteErrorKind::EmptyName));
        assert_eq!(write.to_string(), "a field needs a name of at least one byte");
        let storage = crate::AtomicFile::create("no/such/folder/segment.dv").unwrap_err();
        let (message, source) = (storage.to_string(), storage.source().unwrap().to_string());
        let storage = Error::from(storage);
        assert_eq!((storage.to_string(), storage.source().unwrap().to_string()), (message, source));
        assert!(matches!(Error::from(StoreError::TooManySegments), Error::Store(_)));
    }

    #[cfg(feature = "search")]
    #[test]
    fn a_query_that_cannot_be_read_is_an_error_of_searches() {
        let parsed = || -> Result<crate::search::Query> { Ok(crate::search::Query::parse("size <")?) };
        let expected = crate::search::Query::parse("size <").unwrap_err().to_string();
        let error = parsed().unwrap_err();
        assert!(matches!(error, Error::Search(crate::search::Error::Query(_))));
        assert_eq!(error.to_string(), expected);
    }

    /// Errors cross threads and fit what frameworks ask for.
    #[test]
    fn the_error_is_send_and_sync() {
        fn fits<T: Into<Box<dyn std::error::Error + Send + Sync>>>() {}
        fits::<Error>();
    }
}
