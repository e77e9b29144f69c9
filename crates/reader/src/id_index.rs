//! The id index of a segment: primary-key lookup.

use std::convert::Infallible;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use docvalues_column::{DocId, Error, Result};
use docvalues_format::cursor::Cursor;
use docvalues_format::error::{self, ErrorKind, Place, Section as Role};
use docvalues_format::granule::SectionRef;
use docvalues_storage::{Advice, Section};
use docvalues_terms::ids::{Form, IDS_TAG, IdSizes, Ids};
use docvalues_terms::packing;
use docvalues_terms::read::IdsReader;

use crate::column::{FormatResult, corrupt};
use crate::segment::Segment;
use crate::usage::SectionUsage;
use crate::verify::Checks;

/// Bytes of the section of documents, in the order of their ids, that are read at once: about 43,000 documents. On
/// current disks this takes hardly longer than reading one page.
const DOCS_READAHEAD: usize = 128 << 10;

/// The decoder of one segment's id index, for lookups over many segments: see `docvalues_terms::lookup`.
pub type IdReader = IdsReader<Section>;

/// The id index of a segment: primary-key lookup, from an id to its document. Opened by [`Segment::ids`].
///
/// It is cheap to clone, and stays usable after the segment was dropped. To look up ids in many segments at once, pass
/// the [`reader`](IdIndex::reader) of each to an `IdLookup` or an `IdStore` of `docvalues_terms::lookup`.
///
/// # Examples
///
/// ```
/// use docvalues::prelude::*;
///
/// let mut schema = Schema::new();
/// let id = schema.add(FieldSpec::new("_id", LogicalType::Utf8))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// writer.id_field(id, docvalues::IdOptions::default())?;
/// for name in ["bee", "ant"] {
///     let mut doc = writer.document();
///     doc.str(id, name)?;
///     doc.finish()?;
/// }
/// let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
///
/// let ids = segment.ids()?.ok_or("no id index")?;
/// assert_eq!(ids.find(b"ant")?, Some(DocId::new(1)));
/// assert_eq!(ids.find(b"cow")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[doc(alias = "primary key")]
#[doc(alias = "PerThreadIDVersionAndSeqNoLookup")]
pub struct IdIndex(Arc<Inner>);

struct Inner {
    file: Arc<str>,
    field: String,
    reader: Arc<IdReader>,
}

impl fmt::Debug for IdIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdIndex")
            .field("file", &self.0.file)
            .field("field", &self.0.field)
            .field("ids", &self.len())
            .finish_non_exhaustive()
    }
}

impl Segment {
    /// The id index; `None` if the segment has none.
    ///
    /// The first call opens it: it reads and checks the structure that leads to blocks of ids, which takes about 10 ns
    /// per block of 40 ids.
    ///
    /// # Errors
    ///
    /// If the directory or that structure is damaged.
    pub fn ids(&self) -> Result<Option<IdIndex>> {
        if let Some(ids) = self.opened_ids().get() {
            return Ok(ids.clone());
        }
        let ids = self.open_ids()?;
        Ok(self.opened_ids().get_or_init(|| ids).clone())
    }

    fn open_ids(&self) -> Result<Option<IdIndex>> {
        let Some((place, field, ids)) = self.ids_entry()? else { return Ok(None) };
        let named = |e| corrupt(self.file(), Some(&field), e);
        let sections = ids.try_map(&mut |role, at| {
            let section = self.section(at, role)?;
            // Ids are read at random. Without this advice, the kernel reads pages ahead that are not needed.
            if matches!(role, Role::Ids | Role::IdFilter | Role::IdDocs) {
                let _ = section.advise(Advice::Random);
            }
            // A small section for many ids: soon all of it is read.
            Ok(if role == Role::IdDocs { section.together(DOCS_READAHEAD) } else { section })
        });
        let reader = sections.and_then(IdsReader::open).map_err(named)?;
        if reader.doc_count() != self.docs() {
            let kind = ErrorKind::Mismatch {
                what: "number of documents of the id index",
                found: reader.doc_count().into(),
                expected: self.docs().into(),
            };
            return Err(named(error::Error::at(place, 0, kind)));
        }
        let (file, reader) = (self.file().into(), Arc::new(reader));
        Ok(Some(IdIndex(Arc::new(Inner { file, field, reader }))))
    }

    /// The directory's entry of the id index, and its place in the file.
    fn ids_entry(&self) -> Result<Option<(Place, String, Ids<SectionRef>)>> {
        let Some((place, extension)) = self.root().extension(IDS_TAG, self.footer()) else { return Ok(None) };
        let mut cursor = Cursor::new(place, &extension.body);
        let read = |cursor: &mut Cursor<'_>| {
            let (field, ids) = Ids::decode_meta(cursor)?;
            cursor.equal("number of bytes after the entry of the id index", cursor.left() as u64, 0)?;
            let mut at = extension.sections.start;
            for (_, section) in sections(&ids) {
                // The sections ascend, so that no two of them overlap.
                let end = section.end().filter(|&end| section.offset >= at && end <= extension.sections.end);
                at = end.ok_or_else(|| {
                    cursor.refuse(ErrorKind::Broken(
                        "a section of the id index is outside of its part of the file",
                    ))
                })?;
            }
            Ok((field.to_owned(), ids))
        };
        match read(&mut cursor) {
            Ok((field, ids)) => Ok(Some((place, field, ids))),
            Err(e) => Err(corrupt(self.file(), None, e)),
        }
    }

    /// The sections of the id index, in file order; empty if there is no index.
    pub(crate) fn id_sections(&self) -> Result<Vec<SectionUsage>> {
        let ids = self.ids_entry()?;
        let all = ids.map(|(_, _, ids)| sections(&ids)).unwrap_or_default();
        Ok(all.into_iter().map(SectionUsage::of).collect())
    }

    /// Reads every byte of the id index, and proves that it is well-formed and has the ids of the documents, if all is checked.
    ///
    /// Calls `part` with the range of each section. Returns the problems found.
    pub(crate) fn check_ids(&self, checks: Checks, mut part: impl FnMut(Range<u64>)) -> Vec<Error> {
        let (place, field, ids) = match self.ids_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => return Vec::new(),
            Err(problem) => return vec![problem],
        };
        let named = |e| corrupt(self.file(), Some(&field), e);
        let mut damaged = Vec::new();
        for (role, at) in sections(&ids) {
            part(at.offset..at.end().unwrap_or(u64::MAX));
            damaged.extend(self.section(at, role).and_then(|section| section.verify_all()).err());
        }
        // Only if the checksums are right: otherwise the decoders would report the same bytes again.
        let checked = match damaged.is_empty() && checks == Checks::All {
            true => self.check_id_values(place),
            false => Ok(()),
        };
        damaged.into_iter().map(named).chain(checked.err()).collect()
    }

    /// Checks that the index is well-formed and has exactly the values of the id field.
    ///
    /// It has as many ids as documents have values, and finds the document of each value.
    fn check_id_values(&self, place: Place) -> Result<()> {
        let Some(ids) = self.ids()? else { return Ok(()) };
        let wrong = |what| {
            corrupt(self.file(), Some(ids.field()), error::Error::at(place, 0, ErrorKind::Broken(what)))
        };
        let column = self.binary(ids.field()).map_err(|error| match error.kind() {
            docvalues_column::ErrorKind::NoSuchColumn { .. }
            | docvalues_column::ErrorKind::WrongKind { .. } => {
                wrong("the field of the id index is not a binary column of the segment")
            }
            _ => error,
        })?;
        // Checked first, so that a hostile index cannot make the loop below visit more ids than there are values.
        if column.info().with_value.most() != u64::from(ids.len()) {
            return Err(wrong("the id index has more or fewer ids than the id field has values"));
        }
        ids.with_context(ids.0.reader.verify())?;
        let mut checked = Ok(());
        column.scan(0..self.docs(), |docs, values| {
            checked = docs.iter().zip(values.iter()).try_for_each(|(doc, id)| match ids.find(id)? {
                Some(found) if found == doc => Ok(()),
                _ => Err(wrong("the id index lacks the id of a document, or maps it to another document")),
            });
            if checked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        checked
    }
}

impl IdIndex {
    /// The name of the id field, whose values are the ids.
    pub fn field(&self) -> &str {
        &self.0.field
    }

    /// The number of ids.
    pub fn len(&self) -> u32 {
        self.0.reader.len()
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The structure of the index: see [`IdForm`](crate::IdForm).
    pub fn form(&self) -> Form {
        self.0.reader.form()
    }

    /// The pattern by which ids are packed, such as UUIDs; [`packing::Kind::Raw`] if they are stored as they are.
    pub fn packed_as(&self) -> packing::Kind {
        self.0.reader.template().kind()
    }

    /// The filter's bits per id; 0 without a filter.
    pub fn filter_bits(&self) -> u8 {
        self.0.reader.filter_bits()
    }

    /// The seed of the filter's hash.
    pub fn seed(&self) -> u64 {
        self.0.reader.seed()
    }

    /// The bytes of each part, without checksums.
    pub fn sizes(&self) -> IdSizes {
        self.0.reader.sizes()
    }

    /// The index's reader, for a lookup over many segments.
    pub fn reader(&self) -> &Arc<IdReader> {
        &self.0.reader
    }

    /// The document with `id`, if there is one.
    ///
    /// # Errors
    ///
    /// If bytes on the way are damaged.
    ///
    /// O(length of the id). An unknown id usually costs one cache line of the filter; with a fitting template, ids of
    /// another shape cost no access at all.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # writer.id_field(id, docvalues::IdOptions::default())?;
    /// # for value in ["doc-7", "doc-12", "dog-1"] {
    /// #     let mut doc = writer.document();
    /// #     doc.str(id, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let ids = segment.ids()?.ok_or("no id index")?;
    /// assert_eq!(ids.find(b"doc-12")?, Some(DocId::new(1)));
    /// assert_eq!(ids.find(b"doc-13")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find(&self, id: &[u8]) -> Result<Option<DocId>> {
        self.with_context(self.0.reader.find(id))
    }

    /// Calls `each` with the ids that begin with `prefix` and their documents, in the order of the ids, until it
    /// breaks.
    ///
    /// # Errors
    ///
    /// If bytes on the way are damaged.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use docvalues::prelude::*;
    ///
    /// # let mut schema = Schema::new();
    /// # let id = schema.add(FieldSpec::new("id", LogicalType::Utf8))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # writer.id_field(id, docvalues::IdOptions::default())?;
    /// # for value in ["doc-7", "doc-12", "dog-1"] {
    /// #     let mut doc = writer.document();
    /// #     doc.str(id, value)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let ids = segment.ids()?.ok_or("no id index")?;
    /// let mut found = Vec::new();
    /// ids.prefix(b"doc-", |id, doc| {
    ///     found.push((id.to_vec(), doc.get()));
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(found, [(b"doc-12".to_vec(), 1), (b"doc-7".to_vec(), 0)]); // in the order of the ids
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prefix(&self, prefix: &[u8], each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.with_context(self.0.reader.prefix(prefix, each))
    }

    /// Calls `each` with all ids and their documents, in the order of the ids, until it breaks.
    ///
    /// # Errors
    ///
    /// If bytes on the way are damaged.
    pub fn each(&self, each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.with_context(self.0.reader.each(each))
    }

    /// Adds the names of the file and the field to the error of a result, such as one of [`reader`](Self::reader).
    ///
    /// # Errors
    ///
    /// The error of `result`.
    pub fn with_context<T>(&self, result: FormatResult<T>) -> Result<T, Error> {
        result.map_err(|e| corrupt(&self.0.file, Some(&self.0.field), e))
    }
}

/// The sections of the id index, in file order.
fn sections(ids: &Ids<SectionRef>) -> Vec<(Role, SectionRef)> {
    let mut sections = Vec::new();
    let Ok(_) = ids.clone().try_map(&mut |role, at| {
        sections.push((role, at));
        Ok::<_, Infallible>(())
    });
    sections
}
