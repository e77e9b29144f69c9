//! The files of segments: begun and opened.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use docvalues_column::{ColumnSource as _, DocId, DocRange, OrdRange, Values};
use docvalues_reader::{IdReader, Numeric, OpenOptions, Segment};
use docvalues_storage::{Directory, NewFile, Source, Spill};
use docvalues_writer::{SegmentWriter, WriterOptions};

use super::new_numbers::NewNumbers;
use super::part_record::{PartRecord, Went};
use super::side_file::{self, SideFile, open_bytes};
use crate::error::{Error, Result};
use crate::files::{FileEntry, FileName};
use crate::schema::{StoreSchema, id_options};
use crate::versions::VersionField;

/// An opened segment.
#[derive(Clone, Debug)]
pub(crate) struct StoreSegment {
    pub(crate) number: u64,
    pub(crate) file: FileEntry,
    pub(crate) segment: Segment,
    /// Its side files.
    pub(crate) side: Arc<[SideFile]>,
    /// The record of where its documents go.
    pub(crate) record: Arc<PartRecord>,
    /// The column of versions and their field, if the segment has one; opened when it is first needed.
    versions: OnceLock<Option<(Numeric, VersionField)>>,
}

impl StoreSegment {
    /// Opens a segment that was written or committed, without its side files.
    pub(crate) fn open(
        directory: &dyn Directory,
        file: FileEntry,
        options: OpenOptions,
    ) -> Result<StoreSegment> {
        let segment = open(directory, FileName::Segment(file.number), file, options)?;
        let record = Arc::new(PartRecord::of_segment(file));
        let (number, side) = (file.number, Arc::default());
        Ok(StoreSegment { number, file, segment, side, record, versions: OnceLock::new() })
    }

    /// The names of its file and its side files.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileName> + '_ {
        let segment = self.number;
        let side = self.side.iter().map(move |side| FileName::Side { segment, number: side.entry.number });
        std::iter::once(FileName::Segment(segment)).chain(side)
    }

    /// The bytes of the side file `name`.
    pub(crate) fn side_file(&self, name: &str) -> Option<Arc<Source>> {
        let side = self.side.iter().find(|side| side.entry.name == name)?;
        Some(side.source.clone())
    }

    /// Notes that its documents are in another segment now, with these numbers.
    pub(crate) fn note_written(&self, to: &StoreSegment, numbers: &Arc<NewNumbers>) {
        let (record, numbers) = (to.record.clone(), numbers.clone());
        self.record.note(Went::Segment { record, numbers, first: 0 });
    }

    /// Reads all values and ids, so that the first searches and batches find their pages in memory and their checksums compared.
    /// O(values).
    pub(crate) fn warm(&self) -> Result<()> {
        let docs = DocRange::new(0, self.segment.docs());
        for field in self.segment.fields()? {
            let column = self.segment.column(&field.name)?;
            match column.values() {
                Values::Numbers(rows) => rows.scan(docs, &mut |_| ControlFlow::Continue(()))?,
                Values::Bytes(rows) => rows.scan(docs, &mut |_| ControlFlow::Continue(()))?,
                Values::Ords(rows, terms) => {
                    rows.scan(docs, &mut |_| ControlFlow::Continue(()))?;
                    let all = OrdRange::new(0, terms.term_count());
                    terms.each_term(all, &mut |_, _| ControlFlow::Continue(()))?;
                }
            }
        }
        if let Some(ids) = self.segment.ids()? {
            ids.each(|_, _| ControlFlow::Continue(()))?;
        }
        Ok(())
    }

    /// The version of a document.
    pub(crate) fn version(&self, schema: &StoreSchema, doc: DocId) -> Result<Option<u64>> {
        let versions = match self.versions.get() {
            Some(versions) => versions,
            None => {
                let versions = self.open_versions(schema)?;
                self.versions.get_or_init(|| versions)
            }
        };
        let Some((column, field)) = versions else { return Ok(None) };
        Ok(column.get(doc)?.and_then(|stored| field.version(stored)))
    }

    fn open_versions(&self, schema: &StoreSchema) -> Result<Option<(Numeric, VersionField)>> {
        let Some((name, field)) = schema.version_field().zip(VersionField::of(schema)) else {
            return Ok(None);
        };
        let is_there = self.segment.fields()?.iter().any(|field| field.name == name);
        let column = is_there.then(|| self.segment.stored(name)).transpose()?;
        Ok(column.map(|column| (column, field)))
    }

    /// The index of its ids, which every segment of a store with ids has.
    pub(crate) fn require_ids(&self) -> Result<Arc<IdReader>> {
        self.ids()?.ok_or_else(|| {
            let file = self.segment.file().to_owned();
            Error::Damaged { file, what: "expected an index of ids, found none".to_owned() }
        })
    }

    /// The index of its ids, if it has one.
    pub(crate) fn ids(&self) -> Result<Option<Arc<IdReader>>> {
        Ok(self.segment.ids()?.map(|ids| ids.reader().clone()))
    }
}

/// Begins the file of segment `number`, with the fields, ids and order of the store.
pub(crate) fn begin_segment(
    directory: &Arc<dyn Directory>,
    number: u64,
    schema: &StoreSchema,
    options: WriterOptions,
) -> Result<SegmentWriter<NewFile>> {
    let file = NewFile::create(directory.clone(), FileName::Segment(number).to_string())?;
    let spill = Spill::in_directory(directory.clone());
    let mut writer = SegmentWriter::to_new_file(file, Some(spill), schema.for_writer()?, options);
    writer.sort_by(schema.sort().to_vec())?;
    if let Some(id) = schema.id_field().and_then(|name| writer.schema().field(name)) {
        writer.id_field(id, id_options())?;
    }
    Ok(writer)
}

/// Compares a file of a commit with all its checksums.
pub(crate) fn verify(
    directory: &dyn Directory,
    name: FileName,
    expected: FileEntry,
    options: OpenOptions,
) -> Result<()> {
    match name {
        FileName::Side { .. } => side_file::verify(directory, name, expected),
        _ => Ok(open(directory, name, expected, options)?.verify_checksums()?),
    }
}

/// Opens a file that must be the one that was committed.
pub(crate) fn open(
    directory: &dyn Directory,
    name: FileName,
    expected: FileEntry,
    options: OpenOptions,
) -> Result<Segment> {
    let source = open_bytes(directory, name, expected)?;
    let file = source.name().to_string();
    let segment = Segment::from_source(source, options)?;
    if segment.id() != expected.id {
        let what = format!("expected the content {:032x}, found {:032x}", expected.id, segment.id());
        return Err(Error::Damaged { file, what });
    }
    Ok(segment)
}
