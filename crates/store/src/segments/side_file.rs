//! Side files: bytes that an observer wrote beside a segment, with a content id instead of a format.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::Arc;

use docvalues_format::error::Section;
use docvalues_format::file::directory::content_id;
use docvalues_storage::{Directory, Error as StorageError, NewFile, Source};

use crate::error::{Error, Result};
use crate::files::{FileEntry, FileName, PIECE, SideEntry};

/// An opened side file, whose bytes stay readable after it is removed.
#[derive(Clone, Debug)]
pub(crate) struct SideFile {
    pub(crate) entry: SideEntry,
    pub(crate) source: Arc<Source>,
}

impl SideFile {
    /// Opens a side file, and compares its length.
    pub(crate) fn open(directory: &dyn Directory, segment: u64, entry: SideEntry) -> Result<SideFile> {
        let name = FileName::Side { segment, number: entry.number };
        let source = Arc::new(open_bytes(directory, name, entry.file())?);
        Ok(SideFile { entry, source })
    }
}

/// Opens a file that must have the length of the one that was committed.
pub(crate) fn open_bytes(directory: &dyn Directory, name: FileName, expected: FileEntry) -> Result<Source> {
    let mut source = directory.open(OsStr::new(&name.to_string()))?;
    source.keep_end(u64::MAX);
    if source.len() != expected.bytes {
        let what = format!("expected {} bytes, found {}", expected.bytes, source.len());
        return Err(Error::Damaged { file: source.name().to_string(), what });
    }
    Ok(source)
}

/// Compares all bytes of a side file with its content id.
pub(crate) fn verify(directory: &dyn Directory, name: FileName, expected: FileEntry) -> Result<()> {
    let source = open_bytes(directory, name, expected)?;
    let (mut id, mut offset) = (0, 0);
    while offset < source.len() {
        let len = usize::try_from(source.len() - offset).unwrap_or(PIECE).min(PIECE);
        let piece = source
            .read_at(Section::Header, offset, len)
            .map_err(|error| Error::Damaged { file: source.name().to_string(), what: error.to_string() })?;
        id = id_after(id, &piece);
        offset += len as u64;
    }
    if id != expected.id {
        let what = format!("expected the content {:032x}, found {id:032x}", expected.id);
        return Err(Error::Damaged { file: source.name().to_string(), what });
    }
    Ok(())
}

/// The id of bytes that a piece continues: each piece but the last has [`PIECE`] bytes.
fn id_after(id: u128, piece: &[u8]) -> u128 {
    content_id(0, [piece], &id.to_le_bytes())
}

/// A side file that is being written. Dropping it removes the file.
pub(crate) struct SideWriter {
    file: NewFile,
    piece: Vec<u8>,
    id: u128,
    /// The failure of a write.
    pub(crate) failed: Option<StorageError>,
}

impl SideWriter {
    pub(crate) fn create(directory: &Arc<dyn Directory>, name: FileName) -> Result<SideWriter> {
        let file = NewFile::create(directory.clone(), name.to_string())?;
        Ok(SideWriter { file, piece: Vec::new(), id: 0, failed: None })
    }

    /// Syncs the file. Returns its length and content id.
    pub(crate) fn finish(mut self) -> Result<(u64, u128)> {
        if !self.piece.is_empty() {
            self.append()?;
        }
        let bytes = self.file.written();
        self.file.finish()?;
        Ok((bytes, self.id))
    }

    fn append(&mut self) -> docvalues_storage::Result<()> {
        self.file.append(&self.piece)?;
        self.id = id_after(self.id, &self.piece);
        self.piece.clear();
        Ok(())
    }
}

impl Write for SideWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..len]);
        if self.piece.len() == PIECE
            && let Err(error) = self.append()
        {
            self.failed = Some(error);
            return Err(io::Error::other("a side file could not be written"));
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
