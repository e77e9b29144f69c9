//! Opening a segment: from a file, from memory, or through a [`ReadAt`].

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use docvalues_column::{ErrorKind, Result};
use docvalues_storage::{Memory, ReadAt, Source};

use super::{Inner, Segment};
use crate::column::corrupt;
use crate::metadata::Metadata;
use crate::options::{Access, OpenOptions};

impl Segment {
    /// Opens the file at `path` with the default [`OpenOptions`]: mapped, and verified when bytes are first touched.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a segment, has a newer format version, or its header, footer or directory
    /// root is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Segment> {
        Segment::open_with(path, OpenOptions::default())
    }

    /// Opens the file at `path` with `options`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, options: OpenOptions) -> Result<Segment> {
        let path = path.as_ref();
        let source = match options.access {
            Access::Map => Source::map(path),
            Access::Read => Source::read(path),
        };
        Segment::from_source(source.map_err(io_error)?, options)
    }

    /// Opens a segment in memory: a `Vec<u8>`, an `Arc<[u8]>` or a `&'static [u8]`.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// let mut schema = Schema::new();
    /// schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// let writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// assert!(segment.is_empty() && segment.column_count() == 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes(bytes: impl Into<Memory>, options: OpenOptions) -> Result<Segment> {
        Segment::from_source(Source::memory(bytes), options)
    }

    /// Opens a segment that `reader` reads from any storage, such as an object store. Errors call it `name`.
    ///
    /// Bytes are requested when they are touched, then verified and kept as with [`Access::Read`]. Requests that do not
    /// depend on each other are sent together, as one *wave* ([`ReadAt::read_ranges`]):
    ///
    /// | call | waves |
    /// | --- | --- |
    /// | opening the segment | one: the first 64 bytes and the last 64 KiB, which hold the directory unless it is long |
    /// | opening a column | one: its small sections, and checksums |
    /// | gathering documents or terms | one for each step of the look-up; of numbers, two at most |
    /// | scanning | one for each piece that is read ahead, up to 8 MiB |
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use docvalues::column::Error as ReadError;
    /// use docvalues::prelude::*;
    /// use docvalues::reader::ReadAt;
    ///
    /// fn size_of(object: Arc<dyn ReadAt>, doc: DocId) -> Result<Option<i64>, ReadError> {
    ///     let segment = Segment::from_reader(object, "bucket/hits.dv", OpenOptions::new())?;
    ///     segment.numeric("size")?.get(doc)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    #[doc(alias = "object store")]
    pub fn from_reader(
        reader: Arc<dyn ReadAt>,
        name: impl AsRef<Path>,
        options: OpenOptions,
    ) -> Result<Segment> {
        Segment::from_source(Source::requests(reader, name).map_err(io_error)?, options)
    }

    /// Opens the segment that `source` holds.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn from_source(mut source: Source, options: OpenOptions) -> Result<Segment> {
        let file: Arc<str> = source.name().to_string().into();
        let metadata = Metadata::read(&source, &options).map_err(|e| corrupt(&file, None, e))?;
        // Pages of the directory are read again, to find columns.
        let first_page = metadata.root.pages.first().map(|page| page.bytes.start);
        source.keep_end(first_page.unwrap_or(metadata.footer.root_offset));
        let (source, metadata) = (Arc::new(source), Arc::new(metadata));
        let (opened, ids) = (Mutex::default(), OnceLock::new());
        Ok(Segment(Arc::new(Inner { file, source, options, metadata, opened, ids })))
    }
}

/// Converts a storage error to an error that names the file.
fn io_error(error: docvalues_storage::Error) -> ErrorKind {
    ErrorKind::Io { file: error.path().display().to_string(), source: error.into_io_error() }
}
