//! The id index of a segment: its entry in the directory, and opening it.

use std::convert::Infallible;

use docvalues_column::Result;
use docvalues_format::cursor::Cursor;
use docvalues_format::error::{Error, ErrorKind, Place, Section as Role};
use docvalues_format::file::column::Column;
use docvalues_format::granule::SectionRef;
use docvalues_storage::{Advice, Section, Verify};
use docvalues_terms::ids::{IDS_TAG, Ids, Keys};
use docvalues_terms::read::IdsReader;

use super::Segment;
use crate::column::{FormatResult, corrupt};
use crate::id_index::IdIndex;

/// Bytes of the section of documents, in the order of their ids, that are read at once: about 43,000 documents. On
/// current disks this takes hardly longer than reading one page.
const DOCS_READAHEAD: usize = 128 << 10;

/// The directory's entry of the id index.
pub(crate) struct IdsEntry {
    /// The place of the entry in the file.
    pub(crate) place: Place,
    /// The name of the id field.
    pub(crate) field: String,
    pub(crate) ids: Ids<SectionRef>,
}

impl IdsEntry {
    /// The sections of the index, in file order.
    pub(crate) fn sections(&self) -> Vec<(Role, SectionRef)> {
        let mut sections = Vec::new();
        let Ok(_) = self.ids.clone().try_map(&mut |role, at| {
            sections.push((role, at));
            Ok::<_, Infallible>(())
        });
        sections
    }
}

impl Segment {
    /// The id index; `None` if the segment has none.
    ///
    /// The first call opens it: it reads and checks the structure that leads to blocks of ids, which takes about 10 ns
    /// per block of 40 ids.
    ///
    /// The index reads ids that are [values of a column](crate::IdForm::Column) itself: if the column is read, too, their
    /// bytes are verified twice, and held twice with [`Access::Read`](crate::Access::Read). Also with
    /// [`Verify::AtOpen`](crate::Verify::AtOpen), it verifies them when they are first touched.
    ///
    /// # Errors
    ///
    /// If the directory or that structure is damaged.
    pub fn ids(&self) -> Result<Option<IdIndex>> {
        if let Some(ids) = self.0.ids.get() {
            return Ok(ids.clone());
        }
        let ids = self.open_ids()?;
        Ok(self.0.ids.get_or_init(|| ids).clone())
    }

    fn open_ids(&self) -> Result<Option<IdIndex>> {
        let Some(IdsEntry { place, field, ids }) = self.ids_entry()? else { return Ok(None) };
        let named = |e| corrupt(self.file(), Some(&field), e);
        let values = match &ids.keys {
            Keys::Column(_) => Some(self.values_of_ids(place, &field)?),
            _ => None,
        };
        let sections = ids.try_map(&mut |role, at| {
            let section = self.section(at, role)?;
            // Ids are read at random. Without this advice, the kernel reads pages ahead that are not needed.
            if matches!(role, Role::Ids | Role::IdFilter | Role::IdDocs) {
                let _ = section.advise(Advice::Random);
            }
            // A small section for many ids: soon all of it is read.
            Ok(if role == Role::IdDocs { section.together(DOCS_READAHEAD) } else { section })
        });
        let reader = sections.and_then(|ids| match values {
            Some(values) => IdsReader::open_in(ids, values),
            None => IdsReader::open(ids),
        });
        let reader = reader.map_err(named)?;
        let (found, expected) = (reader.doc_count().into(), self.docs().into());
        let counts = ErrorKind::equal("number of documents of the id index", found, expected);
        place.check(0, counts).map_err(named)?;
        Ok(Some(IdIndex::new(self.file(), field, reader)))
    }

    /// The values of the id field, of which the index at `place` has no copies.
    fn values_of_ids(&self, place: Place, field: &str) -> Result<Section> {
        let column = match self.find(field) {
            Err(error) if matches!(error.kind(), docvalues_column::ErrorKind::NoSuchColumn { .. }) => None,
            found => Some(found?),
        };
        let named = |e| corrupt(self.file(), Some(field), e);
        let values = column.as_ref().and_then(Column::raw_bytes).copied().ok_or_else(|| {
            let what = "the ids are not in their column, each uncompressed and of one length";
            named(Error::at(place, 0, ErrorKind::Broken(what)))
        })?;
        // The column verifies all of it at opening, if so asked: once is enough.
        let verify = match self.0.options.verify {
            Verify::AtOpen => Verify::OnFirstTouch,
            verify => verify,
        };
        Section::open(&self.0.source, values, Role::Bytes, verify).map_err(named)
    }

    /// The directory's entry of the id index; `None` if the segment has none.
    pub(crate) fn ids_entry(&self) -> Result<Option<IdsEntry>> {
        let Some((place, extension)) = self.root().extension(IDS_TAG, self.footer()) else { return Ok(None) };
        let mut cursor = Cursor::new(place, &extension.body);
        let read = |cursor: &mut Cursor<'_>| -> FormatResult<IdsEntry> {
            let (field, ids) = Ids::decode_meta(cursor)?;
            cursor.equal("number of bytes after the entry of the id index", cursor.left() as u64, 0)?;
            let entry = IdsEntry { place, field: field.to_owned(), ids };
            let mut at = extension.sections.start;
            for (_, section) in entry.sections() {
                // The sections ascend, so that no two of them overlap.
                let end = section.end().filter(|&end| section.offset >= at && end <= extension.sections.end);
                at = end.ok_or_else(|| {
                    cursor.refuse(ErrorKind::Broken(
                        "a section of the id index is outside of its part of the file",
                    ))
                })?;
            }
            Ok(entry)
        };
        read(&mut cursor).map(Some).map_err(|e| corrupt(self.file(), None, e))
    }
}
