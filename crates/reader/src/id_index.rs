//! The index of ids: which document has this id?

use std::convert::Infallible;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use docvalues_column::{DocId, Error, Result};
use docvalues_format::cursor::Cursor;
use docvalues_format::error::{self, ErrorKind, Place, Section as Role};
use docvalues_format::granule::{SectionRef, extent};
use docvalues_storage::{Advice, Section};
use docvalues_terms::ids::{Form, IDS_TAG, IdSizes, Ids};
use docvalues_terms::read::IdsReader;
use docvalues_terms::template;

use crate::column::{FormatResult, corrupt};
use crate::segment::Segment;
use crate::usage::SectionUsage;

/// Bytes of documents, in the order of their ids, that are read at once: about 43,000 documents. On disks of today that takes
/// hardly longer than a page.
const DOCS_TOGETHER: usize = 128 << 10;

/// What looks the ids of one segment up among those of many: see `docvalues_terms::lookup`.
pub type IdReader = IdsReader<Section>;

/// The ids of a segment, opened: from an id to its document.
///
/// Cheap to clone, and outlives the segment it came from. To look ids up in many segments at once, give their
/// [readers](IdIndex::reader) to a `docvalues_terms::lookup::IdLookup`.
#[derive(Clone)]
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
    /// The index of ids; `None` if the segment has none.
    ///
    /// The first call opens it: it reads and checks what leads to blocks of ids, some 10 ns for 40 ids.
    ///
    /// # Errors
    ///
    /// When what is read is damaged.
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
            // An id is in one place, and its neighbours are of no use; without, the kernel reads these ahead.
            if matches!(role, Role::Ids | Role::IdFilter | Role::IdDocs) {
                let _ = section.advise(Advice::Random);
            }
            // Few bytes for many ids: soon all of them are asked for.
            Ok(if role == Role::IdDocs { section.together(DOCS_TOGETHER) } else { section })
        });
        let reader = sections.and_then(IdsReader::open).map_err(named)?;
        if reader.doc_count() != self.docs() {
            let kind = ErrorKind::Mismatch {
                what: "number of documents that ids are of",
                found: reader.doc_count().into(),
                expected: self.docs().into(),
            };
            return Err(named(error::Error::at(place, 0, kind)));
        }
        let (file, reader) = (self.file().into(), Arc::new(reader));
        Ok(Some(IdIndex(Arc::new(Inner { file, field, reader }))))
    }

    /// What the directory says of the ids, and where.
    fn ids_entry(&self) -> Result<Option<(Place, String, Ids<SectionRef>)>> {
        let Some((place, extension)) = self.root().extension(IDS_TAG, self.footer()) else { return Ok(None) };
        let mut cursor = Cursor::new(place, &extension.body);
        let read = |cursor: &mut Cursor<'_>| {
            let (field, ids) = Ids::decode_meta(cursor)?;
            cursor.equal("bytes behind what is said of ids", cursor.left() as u64, 0)?;
            let mut at = extension.sections.start;
            let ids = ids.try_map(&mut |_, section: SectionRef| {
                // One behind the other, or a section could be of two things.
                let end = section.end().filter(|&end| section.offset >= at && end <= extension.sections.end);
                at =
                    end.ok_or_else(|| cursor.refuse(ErrorKind::Broken("a section of ids lies elsewhere")))?;
                Ok(section)
            })?;
            Ok((field.to_owned(), ids))
        };
        match read(&mut cursor) {
            Ok((field, ids)) => Ok(Some((place, field, ids))),
            Err(e) => Err(corrupt(self.file(), None, e)),
        }
    }

    /// The sections of the index of ids, in file order: none if there is no index.
    pub(crate) fn id_sections(&self) -> Result<Vec<SectionUsage>> {
        let mut sections = Vec::new();
        if let Some((_, _, ids)) = self.ids_entry()? {
            let Ok(_) = ids.try_map(&mut |section, at: SectionRef| {
                let bytes = extent(at.len).unwrap_or(u64::MAX);
                sections.push(SectionUsage { section, offset: at.offset, payload: at.len, bytes });
                Ok::<(), Infallible>(())
            });
        }
        Ok(sections)
    }

    /// Reads every byte of the index of ids, and proves that it is one, and that its ids are those that documents
    /// have; hands the sections to `part`, and returns what is wrong.
    pub(crate) fn check_ids(&self, mut part: impl FnMut(Range<u64>)) -> Vec<Error> {
        let (place, field, ids) = match self.ids_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => return Vec::new(),
            Err(problem) => return vec![problem],
        };
        let named = |e| corrupt(self.file(), Some(&field), e);
        let mut damaged = Vec::new();
        let Ok(_) = ids.try_map(&mut |role, at: SectionRef| {
            part(at.offset..at.end().unwrap_or(u64::MAX));
            damaged.extend(self.section(at, role).and_then(|section| section.verify_all()).err());
            Ok::<(), Infallible>(())
        });
        // Only then: the decoders would stumble over the same bytes.
        let checked = match damaged.is_empty() {
            true => self.check_sound_ids(place),
            false => Ok(()),
        };
        damaged.into_iter().map(named).chain(checked.err()).collect()
    }

    /// That the ids are one index, and the values of their field: each is found to be its document's, and there are as many.
    fn check_sound_ids(&self, place: Place) -> Result<()> {
        let Some(ids) = self.ids()? else { return Ok(()) };
        let wrong = |what| {
            corrupt(self.file(), Some(ids.field()), error::Error::at(place, 0, ErrorKind::Broken(what)))
        };
        let column = self.binary(ids.field()).map_err(|error| match error.kind() {
            docvalues_column::ErrorKind::NoSuchColumn { .. }
            | docvalues_column::ErrorKind::WrongKind { .. } => {
                wrong("the ids are of a column that there is not, or that is not binary")
            }
            _ => error,
        })?;
        // First, so that no more ids are gone through than there are values.
        if column.info().with_value.most() != u64::from(ids.len()) {
            return Err(wrong("there are not as many ids as documents that have one"));
        }
        ids.with_context(ids.0.reader.verify())?;
        let mut checked = Ok(());
        column.scan(0..self.docs(), |docs, values| {
            checked = docs.iter().zip(values.iter()).try_for_each(|(doc, id)| match ids.find(id)? {
                Some(found) if found == doc => Ok(()),
                _ => Err(wrong("the id of a document is not among the ids, or another document's")),
            });
            if checked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        checked
    }
}

impl IdIndex {
    /// The field whose values the ids are.
    pub fn field(&self) -> &str {
        &self.0.field
    }

    /// How many ids there are.
    pub fn len(&self) -> u32 {
        self.0.reader.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How ids are found.
    pub fn form(&self) -> Form {
        self.0.reader.form()
    }

    /// What all ids look like, if they are packed: else [`template::Kind::Raw`].
    pub fn packed_as(&self) -> template::Kind {
        self.0.reader.template().kind()
    }

    /// Bits of the filter for each id; 0 if there is no filter.
    pub fn filter_bits(&self) -> u8 {
        self.0.reader.filter_bits()
    }

    /// The seed of the filter's hash.
    pub fn seed(&self) -> u64 {
        self.0.reader.seed()
    }

    /// Bytes of each part, without checksums.
    pub fn sizes(&self) -> IdSizes {
        self.0.reader.sizes()
    }

    /// What looks ids up, for who has many segments.
    pub fn reader(&self) -> &Arc<IdReader> {
        &self.0.reader
    }

    /// The document that has `id`, if one has.
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    pub fn find(&self, id: &[u8]) -> Result<Option<DocId>> {
        self.with_context(self.0.reader.find(id))
    }

    /// Gives the ids that begin with `prefix`, and their documents, in the order of the ids, until told to stop.
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    pub fn prefix(&self, prefix: &[u8], each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.with_context(self.0.reader.prefix(prefix, each))
    }

    /// Gives all ids and their documents, in the order of the ids, until told to stop.
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    pub fn each(&self, each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.with_context(self.0.reader.each(each))
    }

    /// Says of which file and field an error is, such as one of [`reader`](Self::reader).
    ///
    /// # Errors
    ///
    /// That of `result`.
    pub fn with_context<T>(&self, result: FormatResult<T>) -> Result<T, Error> {
        result.map_err(|e| corrupt(&self.0.file, Some(&self.0.field), e))
    }
}
