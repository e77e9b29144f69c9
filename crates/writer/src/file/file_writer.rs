//! [`FileWriter`]: writes encoded columns to a file, sequentially.
//!
//! ```text
//! header | sections of the first column by name | ... of the last | of the ids | fine zones | directory pages | root | footer
//! ```
//!
//! Nothing is rewritten or read back, so any [`Target`](crate::target::Target) will do. The layouts are those
//! of `docvalues_format::file`.

use docvalues_format::error::Section;
use docvalues_format::file::directory::DirectoryBuilder;
use docvalues_format::file::frame::{HEADER_LEN, Header};
use docvalues_format::file::sort::{self, SORT_TAG, SortKey};
use docvalues_format::granule::{self, GRANULE, Sealer, SectionRef, extent};
use docvalues_format::numeric::{FINE_ZONES_TAG, FineZones};
use docvalues_storage::{Error as StorageError, Result};
use docvalues_terms::ids::{IDS_TAG, Ids};

use crate::buffer::{CHUNK_LEN, Payload};
use crate::encode::Encoded;
use crate::summary::{ColumnSummary, IdsSummary, Summary};

/// Appends bytes to a [`Target`](crate::target::Target).
pub(crate) type Append<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), StorageError>;

/// A file in progress: its header and some columns are written.
pub(crate) struct FileWriter<'a> {
    out: Append<'a>,
    at: u64,
    directory: DirectoryBuilder,
    /// The end of the sections of columns, as an offset.
    columns_end: u64,
    /// The written columns.
    pub(crate) columns: Vec<ColumnSummary>,
    /// The fine zones of each column, by its index. They are written last, and take a byte for 256 values.
    fine_zones: Vec<(u32, Payload)>,
}

impl<'a> FileWriter<'a> {
    /// Writes the header.
    pub(crate) fn begin(out: Append<'a>) -> Result<FileWriter<'a>> {
        out(&Header::current().encode())?;
        let (at, directory) = (HEADER_LEN as u64, DirectoryBuilder::default());
        Ok(FileWriter { out, at, directory, columns_end: at, columns: Vec::new(), fine_zones: Vec::new() })
    }

    /// Writes the sections of a column. Columns must be sorted by name.
    pub(crate) fn column(&mut self, encoded: Encoded) -> Result<()> {
        let (start, mut later) = (self.at, 0);
        // At most 65,000.
        let number = u32::try_from(self.columns.len()).unwrap_or(u32::MAX);
        let mut payloads = encoded.payloads.into_iter();
        let column = encoded.column.try_map(&mut |section: Section, at: SectionRef| {
            let payload = payloads.next().unwrap_or_default();
            if section == Section::FineZones {
                later += extent(payload.len()).unwrap_or(u64::MAX);
                self.fine_zones.push((number, payload));
                return Ok(at);
            }
            self.section(payload)
        })?;
        self.directory.push(&column, self.at);
        self.columns_end = self.at;
        self.columns.push(ColumnSummary { column, bytes: self.at - start + later });
        Ok(())
    }

    /// Writes a section.
    fn section(&mut self, payload: Payload) -> Result<SectionRef> {
        let (mut sealer, len) = (Sealer::new(), payload.len());
        let begin = granule::section_start(self.at, len);
        (self.out)(&[0; GRANULE][..usize::try_from(begin - self.at).unwrap_or_default()])?;
        self.at = begin;
        payload.for_each(|piece| {
            // In small pieces, which are still in the cache after their checksum was computed.
            piece.chunks(CHUNK_LEN).try_for_each(|bytes| {
                sealer.push(bytes);
                (self.out)(bytes)
            })
        })?;
        let (end, crc) = sealer.finish();
        (self.out)(&end)?;
        let section = SectionRef { offset: self.at, len, crc };
        self.at += len + end.len() as u64;
        Ok(section)
    }

    /// Writes the id index, the fine zones, the directory and the footer. Documents are sorted by `sort`.
    pub(crate) fn finish(
        mut self,
        docs: u32,
        sort: &[SortKey],
        ids: Option<(String, Ids<Payload>)>,
    ) -> Result<Summary> {
        if !sort.is_empty() {
            self.directory.push_extension(SORT_TAG, self.columns_end, sort::encode(sort));
        }
        let ids = ids.map(|(field, ids)| self.ids(field, ids)).transpose()?;
        let fine_zones = std::mem::take(&mut self.fine_zones).into_iter();
        let fine_zones =
            fine_zones.map(|(column, payload)| Ok(FineZones { column, section: self.section(payload)? }));
        let fine_zones = fine_zones.collect::<Result<Vec<_>>>()?;
        if !fine_zones.is_empty() {
            self.directory.push_extension(FINE_ZONES_TAG, self.at, FineZones::encode_all(&fine_zones));
        }
        let (end, footer) = self.directory.finish(self.at, docs);
        (self.out)(&end)?;
        let bytes = self.at + end.len() as u64;
        Ok(Summary { docs, bytes, id: footer.id, columns: self.columns, ids })
    }

    fn ids(&mut self, field: String, ids: Ids<Payload>) -> Result<IdsSummary> {
        let (start, mut meta) = (self.at, Vec::new());
        let ids = ids.try_map(&mut |_: Section, payload: Payload| self.section(payload))?;
        ids.encode_meta(&field, &mut meta);
        self.directory.require(ids.required_features());
        self.directory.push_extension(IDS_TAG, self.at, meta);
        Ok(IdsSummary { field, ids, bytes: self.at - start })
    }
}
