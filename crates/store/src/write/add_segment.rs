//! [`NewSegment`]: segments that are built for a store, and copied into it.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use docvalues_reader::Segment;
use docvalues_storage::{Error as StorageError, NewFile, Step};
use docvalues_writer::{Document, FieldId, FinishError, SegmentWriter};

use super::change_and_commit;
use crate::error::{Error, Result};
use crate::files::{FileEntry, FileName, copy};
use crate::observer::Origin;
use crate::schema::StoreSchema;
use crate::segments::{SegmentState, StoreSegment, begin_segment};
use crate::store::{Store, Writer};

/// The result of adding a segment: [`Store::add_segment`], [`NewSegment::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Added {
    /// The number of documents that were added.
    pub docs: u32,
    /// The number of older documents with the same ids, which were deleted.
    pub replaced: u64,
    /// The number of the batch of changes.
    pub sequence: u64,
}

/// A segment that is being built for a store: [`Store::new_segment`].
///
/// Dropping it adds nothing.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_store::{Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits");
/// let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
/// let store = Store::create(&path, schema, StoreOptions::default())?;
/// let mut segment = store.new_segment()?;
/// let size = segment.field("size")?;
/// for bytes in [512, 70, 9] {
///     let mut doc = segment.document();
///     doc.i64(size, bytes)?;
///     doc.finish()?;
/// }
/// assert_eq!(segment.finish()?.docs, 3);
/// store.commit()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NewSegment<'s> {
    store: &'s Store,
    number: u64,
    writer: SegmentWriter<NewFile>,
}

impl NewSegment<'_> {
    /// The writer of the segment: to add fields, to set formats, to write batches.
    ///
    /// A field that the store does not have is added to its schema when the segment is finished. If it holds byte
    /// strings of no declared [`BytesKind`](docvalues_writer::BytesKind), the values of this segment choose the kind for
    /// the life of the store.
    pub fn writer(&mut self) -> &mut SegmentWriter<NewFile> {
        &mut self.writer
    }

    /// The field `name` of the store's schema.
    ///
    /// The id stays valid: it names the same field in every later batch, update and new segment of this store, also after
    /// fields were added and the store was opened again. A segment that was begun before the field was added refuses it.
    /// An id of another store may name another field here.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn field(&self, name: &str) -> Result<FieldId> {
        let unknown =
            || Error::Schema { field: name.to_owned(), why: "expected a field of the schema".to_owned() };
        self.writer.schema().field(name).ok_or_else(unknown)
    }

    /// Begins a document: see [`SegmentWriter::document`].
    pub fn document(&mut self) -> Document<'_> {
        self.writer.document()
    }

    /// Writes the segment, and adds it to the store. Of documents with the same id, only the last one stays, and those
    /// of older segments are deleted.
    ///
    /// # Errors
    ///
    /// If the segment cannot be written; nothing is added then.
    pub fn finish(self) -> Result<Added> {
        let NewSegment { store, number, writer } = self;
        if writer.docs() == 0 {
            return Ok(Added { docs: 0, replaced: 0, sequence: store.snapshot().sequence() });
        }
        let written = writer.finish().map_err(FinishError::into_error).map_err(Error::from);
        add(store, number, written.map(|summary| FileEntry::of(number, &summary)))
    }
}

/// The work of [`Store::new_segment`].
pub(super) fn begin(store: &Store) -> Result<NewSegment<'_>> {
    let schema = store.change(|writer| {
        writer.require_lock()?;
        writer.require_leader(&*store.directory)?;
        refuse_versions(&writer.docs.schema)?;
        Ok(writer.docs.schema.clone())
    })?;
    let number = store.take_segment_number()?;
    let writer = begin_segment(&store.directory, number, &schema, store.options.writer)?;
    Ok(NewSegment { store, number, writer })
}

/// The work of [`Store::add_segment`].
pub(super) fn add_copy(store: &Store, path: &Path) -> Result<Added> {
    let segment = Segment::open_with(path, store.options.open)?;
    segment.verify()?;
    refuse_versions(&store.schema())?;
    store.snapshot().schema().clone().with_fields(segment.fields()?)?;
    if segment.docs() == 0 {
        return Ok(Added { docs: 0, replaced: 0, sequence: store.snapshot().sequence() });
    }
    store.change(|writer| {
        writer.require_lock()?;
        writer.require_leader(&*store.directory)
    })?;
    let number = store.take_segment_number()?;
    let mut to = NewFile::create(store.directory.clone(), FileName::Segment(number).to_string())?;
    let mut from = File::open(path).map_err(|error| StorageError::new(Step::Open, path, error))?;
    copy(&mut from, (&path.display().to_string(), segment.len()), &mut to)?;
    let file = FileEntry { number, bytes: to.written(), id: segment.id() };
    let written = to.finish().map_err(Error::from);
    add(store, number, written.map(|()| file))
}

/// Adds the segment `number`, whose file was written. The observer is called before the writer is locked.
fn add(store: &Store, number: u64, written: Result<FileEntry>) -> Result<Added> {
    let mut created = vec![FileName::Segment(number)];
    let opened = written.and_then(|file| store.open_observed(file, Origin::Outside, &mut created));
    let adding = store.ids.wait_for_added();
    change_and_commit(store, |writer| {
        // Until the end of the change: a commit may add ids, too.
        let _adding = adding;
        let added = writer.synced(opened).and_then(|segment| add_to(store, writer, segment));
        writer.note_created(&*store.directory, created, added.is_err());
        added
    })
}

fn add_to(store: &Store, writer: &mut Writer, segment: StoreSegment) -> Result<Added> {
    let schema = StoreSchema::clone(&writer.docs.schema).with_fields(segment.segment.fields()?)?;
    let (name, sort) = (segment.segment.file(), segment.segment.sort());
    if !sort.starts_with(schema.sort()) {
        let why = format!("{name}: expected the index sort of the store, found {sort:?}");
        return Err(Error::Request(why));
    }
    let mut older = Vec::new();
    if let Some(id_field) = schema.id_field() {
        let ids = segment.segment.ids()?.filter(|ids| ids.field() == id_field);
        let lacking =
            || Error::Request(format!("{name}: expected an index of the ids \"{id_field}\", found none"));
        let (ids, before) = (ids.ok_or_else(lacking)?, store.snapshot());
        let (mut seeker, mut found) = (before.ids()?.lookup.seeker(), Ok(()));
        ids.each(|id, _| match before.find_with(&mut seeker, id) {
            Ok(address) => {
                older.extend(address);
                ControlFlow::Continue(())
            }
            Err(error) => {
                found = Err(error);
                ControlFlow::Break(())
            }
        })?;
        found?;
    }
    let docs = segment.segment.docs();
    let before = store.snapshot();
    let older = writer.docs.require(&before, &older)?;
    for document in &older {
        writer.docs.delete(*document);
    }
    if store.snapshot().has_table() {
        store.ids.add(&segment);
    }
    let sequence = writer.add_segment(schema, SegmentState::new(Arc::new(segment)));
    Ok(Added { docs, replaced: older.len() as u64, sequence })
}

/// Of documents with the same id in a segment the last one stays, whatever its version.
fn refuse_versions(schema: &StoreSchema) -> Result<()> {
    match schema.version_field() {
        None => Ok(()),
        Some(field) => Err(Error::Request(format!(
            "expected a store without versions, found the version field \"{field}\": apply batches of documents instead"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use docvalues_column::{Field, Kind, LogicalType};
    use docvalues_testkit::faults::PowerLossDirectory;

    use super::*;
    use crate::options::StoreOptions;

    /// Or it would wait for them in the lock of the writer, and others for it.
    #[test]
    fn a_segment_waits_for_ids_that_are_added_without_the_lock() {
        let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
        let schema = StoreSchema::new().with_field(id).unwrap().with_id_field("id").unwrap();
        let disk = Arc::new(PowerLossDirectory::new("/disk"));
        let store = Store::create_in(disk, schema, StoreOptions::default()).unwrap();
        let before = store.position();
        let adding = store.ids.wait_for_added();
        thread::scope(|scope| {
            let added = scope.spawn(|| {
                let mut segment = store.new_segment().unwrap();
                let id = segment.field("id").unwrap();
                let mut doc = segment.document();
                doc.str(id, "a").unwrap();
                doc.finish().unwrap();
                segment.finish().unwrap()
            });
            thread::sleep(Duration::from_millis(20));
            assert_eq!(store.position(), before);
            drop(adding);
            assert_eq!(added.join().unwrap().docs, 1);
        });
        assert_ne!(store.position(), before);
    }
}
