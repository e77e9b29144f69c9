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
use docvalues_format::file::sort::{self, SORT_TAG, SortKey};
use docvalues_format::granule::{Sealer, SectionRef};
use docvalues_storage::{AtomicFile, Result};

use crate::buffer::{Payload, TOGETHER};
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
        let column = encoded
            .column
            .try_map(&mut |_: Section, _: SectionRef| self.section(payloads.next().unwrap_or_default()))?;
        self.directory.push(&column, self.at);
        Ok(ColumnSummary { column, bytes: self.at - start })
    }

    /// Writes a section.
    fn section(&mut self, payload: Payload) -> Result<SectionRef> {
        let (mut sealer, len) = (Sealer::new(), payload.len());
        payload.for_each(|piece| {
            // While they are in a cache, where their checksums were computed.
            piece.chunks(TOGETHER).try_for_each(|bytes| {
                sealer.push(bytes);
                self.out.append(bytes)
            })
        })?;
        let (end, crc) = sealer.finish();
        self.out.append(&end)?;
        let section = SectionRef { offset: self.at, len, crc };
        self.at += len + end.len() as u64;
        Ok(section)
    }

    /// Writes the directory and the footer, of documents that are sorted by `sort`; returns the footer, and the
    /// length of the file.
    pub(crate) fn finish(mut self, docs: u32, sort: &[SortKey]) -> Result<(Footer, u64)> {
        if !sort.is_empty() {
            self.directory.push_extra(SORT_TAG, self.at, sort::encode(sort));
        }
        let (end, footer) = self.directory.finish(self.at, docs);
        self.out.append(&end)?;
        Ok((footer, self.at + end.len() as u64))
    }
}
