//! From encoded columns to the bytes of a file, front to back.
//!
//! ```text
//! header | sections of the first column by name | ... of the last | directory pages | root | footer
//! ```
//!
//! Nothing is written twice and nothing is read back, so any [`Sink`] will do. The layouts are those
//! of `docvalues_format::file`.

use docvalues_format::error::Section;
use docvalues_format::file::directory::DirectoryBuilder;
use docvalues_format::file::frame::{Footer, HEADER_LEN, Header};
use docvalues_format::granule::{Sealer, SectionRef};
use docvalues_storage::{AtomicFile, Result};

use crate::encode::Encoded;
use crate::summary::ColumnSummary;

/// Where the bytes of a file go.
pub(crate) trait Sink {
    /// Appends `bytes`.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;
}

impl Sink for AtomicFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        AtomicFile::append(self, bytes)
    }
}

impl Sink for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// A file of which the header and some columns are written.
#[derive(Debug)]
pub(crate) struct FileWriter<'a, S> {
    out: &'a mut S,
    at: u64,
    directory: DirectoryBuilder,
}

impl<'a, S: Sink> FileWriter<'a, S> {
    /// Writes the header.
    pub(crate) fn begin(out: &'a mut S) -> Result<FileWriter<'a, S>> {
        out.append(&Header::current().encode())?;
        Ok(FileWriter { out, at: HEADER_LEN as u64, directory: DirectoryBuilder::default() })
    }

    /// Writes the sections of a column, whose name is behind those of all before.
    pub(crate) fn column(&mut self, encoded: Encoded) -> Result<ColumnSummary> {
        let start = self.at;
        let mut payloads = encoded.payloads.into_iter();
        let column = encoded.column.try_map(&mut |_: Section, _: SectionRef| {
            let payload = payloads.next();
            self.section(payload.into_iter().flat_map(|payload| payload.0))
        })?;
        self.directory.push(&column, self.at);
        Ok(ColumnSummary { column, bytes: self.at - start })
    }

    /// Writes a section, of which each piece is freed when it is written: what keeps the file's pages in memory
    /// then finds room where the piece was.
    fn section(&mut self, pieces: impl Iterator<Item = Vec<u8>>) -> Result<SectionRef> {
        /// Bytes that are written while they are in a cache, where their checksums were computed.
        const TOGETHER: usize = 1 << 16;
        let (mut sealer, mut section) = (Sealer::new(), SectionRef { offset: self.at, len: 0, crc: 0 });
        for piece in pieces {
            section.len += piece.len() as u64;
            for bytes in piece.chunks(TOGETHER) {
                sealer.push(bytes);
                self.out.append(bytes)?;
            }
        }
        let (end, crc) = sealer.finish();
        self.out.append(&end)?;
        self.at += section.len + end.len() as u64;
        Ok(SectionRef { crc, ..section })
    }

    /// Writes the directory and the footer; returns the footer, and the length of the file.
    pub(crate) fn finish(self, docs: u32) -> Result<(Footer, u64)> {
        let (end, footer) = self.directory.finish(self.at, docs);
        self.out.append(&end)?;
        Ok((footer, self.at + end.len() as u64))
    }
}
