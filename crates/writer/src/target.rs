//! Outputs of a segment: a file, memory, or a stream.

use std::fmt;
use std::io;

use docvalues_storage::{AtomicFile, Error as StorageError, NewFile, Step};

use crate::error::Result;
use crate::summary::Summary;

/// An output of a segment, which is written sequentially: a file, memory, or a stream.
///
/// | target | made by | [`Finished`](Target::Finished) |
/// | --- | --- | --- |
/// | [`AtomicFile`] | [`SegmentWriter::create`](crate::SegmentWriter::create) | the [`Summary`]; the file is in place |
/// | [`NewFile`] | [`SegmentWriter::to_new_file`](crate::SegmentWriter::to_new_file) | the [`Summary`]; the bytes are durable, the name is not |
/// | `Vec<u8>` | [`SegmentWriter::in_memory`](crate::SegmentWriter::in_memory) | the bytes and the summary |
/// | [`Stream`] | [`SegmentWriter::to_writer`](crate::SegmentWriter::to_writer) | the `io::Write` and the summary |
pub trait Target {
    /// The result of a finished segment.
    type Finished;

    /// Appends `bytes`.
    ///
    /// # Errors
    ///
    /// If they cannot be written. The segment is then lost.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Publishes the segment that `summary` describes.
    ///
    /// # Errors
    ///
    /// If it cannot be flushed or renamed.
    fn finish(self, summary: Summary) -> Result<Self::Finished>;
}

/// A file that appears under its name once it is complete.
impl Target for AtomicFile {
    type Finished = Summary;

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        AtomicFile::append(self, bytes)
    }

    fn finish(self, summary: Summary) -> Result<Summary> {
        self.commit()?;
        Ok(summary)
    }
}

/// A file that is written once, under its final name.
impl Target for NewFile {
    type Finished = Summary;

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        NewFile::append(self, bytes)
    }

    fn finish(self, summary: Summary) -> Result<Summary> {
        NewFile::finish(self)?;
        Ok(summary)
    }
}

/// The bytes of a segment in memory.
impl Target for Vec<u8> {
    type Finished = (Vec<u8>, Summary);

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn finish(self, summary: Summary) -> Result<(Vec<u8>, Summary)> {
        Ok((self, summary))
    }
}

/// A stream that [`SegmentWriter::to_writer`](crate::SegmentWriter::to_writer) writes to, up to 64 KiB at a time.
///
/// ```
/// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// let socket = Vec::new(); // any `io::Write`
/// let writer = SegmentWriter::to_writer(socket, schema, WriterOptions::default());
/// let (socket, summary) = writer.finish()?;
/// assert_eq!(socket.len() as u64, summary.bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream<W>(pub(crate) W);

impl<W> fmt::Debug for Stream<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl<W: io::Write> Target for Stream<W> {
    type Finished = (W, Summary);

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.0.write_all(bytes).map_err(unwritten)
    }

    fn finish(mut self, summary: Summary) -> Result<(W, Summary)> {
        self.0.flush().map_err(unwritten)?;
        Ok((self.0, summary))
    }
}

fn unwritten(error: io::Error) -> StorageError {
    StorageError::new(Step::Write, "<stream>", error)
}
