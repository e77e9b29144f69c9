//! Merges: fewer and larger segments, without the documents that were deleted.
//!
//! A merge reads segments as they are when it begins, while others go on changing the store. At its end, documents that were
//! deleted or updated meanwhile are so in the merged segment, too, by the numbers that they got there.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use docvalues_column::DocId;
use docvalues_storage::{Error as StorageError, NewFile, Spill, Step};
use docvalues_writer::{Merger, Summary, Target};

use super::policy::SegmentSize;
use super::widened_source::{WidenedSource, WiderTypes};
use crate::error::Result;
use crate::files::{FileEntry, FileName};
use crate::locks::lock;
use crate::observer::Origin;
use crate::schema::{StoreSchema, id_options};
use crate::segments::{
    Dictionary, NewNumbers, NewRows, SegmentChanges, SegmentState, StoreSegment, places_by_number,
};
use crate::store::Store;

/// How often deletions and updates are carried over before the last time, for which others wait.
const CARRIES: usize = 3;

/// Merges the segments that `choose` chooses by their indexes. Returns whether there were any. Fails when `stop` is
/// set.
pub(crate) fn merge_some(
    store: &Store,
    stop: &AtomicBool,
    choose: &dyn Fn(&[SegmentSize]) -> Vec<usize>,
) -> Result<bool> {
    // One merge at a time: no segment is merged twice.
    let _merging = lock(&store.merging);
    let (sizes, numbers): (Vec<SegmentSize>, Vec<u64>) = store.change_quietly(|writer| {
        writer.require_lock()?;
        Ok(writer.docs.segments.iter().map(|state| (size(state), state.number())).unzip())
    })?;
    // Not in the lock: many segments take long.
    let chosen: HashSet<u64> = choose(&sizes).into_iter().map(|at| numbers[at]).collect();
    if chosen.is_empty() {
        return Ok(false);
    }
    let states = with_numbers(store, &chosen)?;
    if states.is_empty() {
        // A commit has dropped them meanwhile.
        return Ok(true);
    }
    let (began, number) = (Instant::now(), store.take_segment_number()?);
    let schema = store.snapshot().shared_schema();
    let written = write_merged(store, &states, number, [&schema, &schema], stop);
    let mut created = vec![FileName::Segment(number)];
    // Not in the last step: others wait for that.
    let merged = written.and_then(|(file, new_numbers)| {
        let origin = Origin::Segments(&states, &new_numbers);
        let merged = store.open_observed(file, origin, &mut created)?;
        merged.warm()?;
        let mut merged = Merged::new(merged, &states, new_numbers);
        for _ in 0..CARRIES {
            merged.carry(&with_numbers(store, &chosen)?, &store.schema())?;
        }
        Ok(merged)
    });
    let _added = store.ids.wait_for_added();
    store.change(|writer| {
        let merged = writer.synced(merged).and_then(|mut merged| {
            // Few, so that nobody waits for long.
            merged.carry(&writer.docs.segments, &writer.docs.schema)?;
            Ok(merged)
        });
        writer.note_created(&*store.directory, created, merged.is_err());
        let Merged { state: merged, new_numbers, .. } = merged?;
        let old: Vec<u64> = states.iter().map(SegmentState::number).collect();
        store.ids.replace(&old, &merged.segment);
        store.note_done(&store.counters.merges, "merge", began);
        writer.replace(&states, merged, &new_numbers);
        Ok(true)
    })
}

/// The segments that have these numbers, as they are now.
fn with_numbers(store: &Store, numbers: &HashSet<u64>) -> Result<Vec<SegmentState>> {
    store.change_quietly(|writer| {
        let segments = writer.docs.segments.iter();
        Ok(segments.filter(|state| numbers.contains(&state.number())).cloned().collect())
    })
}

/// Writes a segment of several, with the fields of `schema`, which may be wider than those `before`. Returns the file, and the
/// numbers of the documents of each segment in it.
pub(crate) fn write_merged(
    store: &Store,
    states: &[SegmentState],
    number: u64,
    [before, schema]: [&StoreSchema; 2],
    stop: &AtomicBool,
) -> Result<(FileEntry, Vec<Arc<NewNumbers>>)> {
    let fields: Arc<[_]> = before.fields().into();
    let over = |state: &SegmentState| {
        let source = state.now.over(&state.segment.segment, &fields);
        WidenedSource::of(source, before, schema)
    };
    let sources: Vec<_> = states.iter().map(over).collect();
    let types = WiderTypes::of(before, schema);
    let mut new_numbers: Vec<NewNumbers> =
        states.iter().map(|state| NewNumbers::none(state.now.live.docs())).collect();
    let note = |source: usize, old, new| new_numbers[source].push(old, new);
    let mut merger = Merger::new(store.options.writer).sort_by(schema.sort().to_vec()).moved(note);
    if let Some(id_field) = schema.id_field() {
        merger = merger.id_field(id_field, id_options());
    }
    for (state, source) in states.iter().zip(&sources) {
        merger.add_live(state.segment.segment.file(), source, &state.now.live)?;
    }
    if let Some(types) = &types {
        merger = merger.promote(true);
        merger.add("the store", types);
    }
    let file = NewFile::create(store.directory.clone(), FileName::Segment(number).to_string())?;
    let file = Stoppable { file, stop };
    let summary = merger.finish_into(file, Some(Spill::in_directory(store.directory.clone())))?;
    Ok((FileEntry::of(number, &summary), new_numbers.into_iter().map(Arc::new).collect()))
}

/// A file of which no more is written once `stop` is set.
struct Stoppable<'a> {
    file: NewFile,
    stop: &'a AtomicBool,
}

impl Target for Stoppable<'_> {
    type Finished = Summary;

    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        if self.stop.load(Ordering::Relaxed) {
            let stopped = io::Error::new(io::ErrorKind::Interrupted, "the merge was stopped");
            return Err(StorageError::new(Step::Write, self.file.path(), stopped));
        }
        self.file.append(bytes)
    }

    fn finish(self, summary: Summary) -> docvalues_writer::Result<Summary> {
        Target::finish(self.file, summary)
    }
}

/// A merged segment, into which what changes in the old ones is carried.
struct Merged<'a> {
    state: SegmentState,
    old: &'a [SegmentState],
    new_numbers: Vec<Arc<NewNumbers>>,
    /// The changes of the old segments that it has.
    carried: Vec<SegmentChanges>,
}

impl<'a> Merged<'a> {
    fn new(merged: StoreSegment, old: &'a [SegmentState], new_numbers: Vec<Arc<NewNumbers>>) -> Merged<'a> {
        let carried = old.iter().map(|state| state.now.clone()).collect();
        Merged { state: SegmentState::new(Arc::new(merged)), old, new_numbers, carried }
    }

    /// Carries over the deletions, and the values that documents of the old segments got, since the last time.
    fn carry(&mut self, now: &[SegmentState], schema: &StoreSchema) -> Result<()> {
        let places = places_by_number(now);
        for (at, old) in self.old.iter().enumerate() {
            let numbers = &self.new_numbers[at];
            let Some(place) = places.get(&old.number()) else {
                // No document of it was live.
                for new in (0..old.now.live.docs()).filter_map(|doc| numbers.get(DocId::new(doc))) {
                    self.state.now.live.delete(new);
                }
                continue;
            };
            let now = &now[*place].now;
            let carried = std::mem::replace(&mut self.carried[at], now.clone());
            for new in now.live.deleted_since(&carried.live).filter_map(|doc| numbers.get(doc)) {
                self.state.now.live.delete(new);
            }
            if now.has_values_of(&carried) {
                continue;
            }
            for place in now.fields() {
                let field = &schema.fields()[place];
                let docs = now.updated_since(&carried, place).into_iter();
                let new_number = |doc| Some((numbers.get(doc)?, doc));
                let mut moved: Vec<(DocId, DocId)> =
                    docs.filter(|doc| now.live.contains(*doc)).filter_map(new_number).collect();
                if moved.is_empty() {
                    continue;
                }
                moved.sort_unstable();
                let (new_docs, docs): (Vec<DocId>, Vec<DocId>) = moved.into_iter().unzip();
                let column = now.column(&old.segment.segment, (place, field))?;
                let rows = NewRows::read(&*column, &docs, new_docs)?;
                let dictionary = Dictionary::for_rows(&self.state.segment.segment, field, &rows)?;
                self.state.now.set((place, field), &rows, dictionary.as_ref())?;
            }
        }
        Ok(())
    }
}

fn size(state: &SegmentState) -> SegmentSize {
    let live = &state.now.live;
    let (bytes, updated, updates_bytes) =
        (state.segment.file.bytes, state.now.updated(), state.now.heap() as u64);
    SegmentSize { bytes, docs: live.docs(), live: live.count(), updated, updates_bytes }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::options::StoreOptions;

    #[test]
    fn changes_do_not_wait_while_segments_are_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let (path, options) = (folder.path().join("store"), StoreOptions::default());
        let store = Arc::new(Store::create(path, StoreSchema::new(), options).unwrap());
        let choose = |_: &[SegmentSize]| -> Vec<usize> {
            let (sender, receiver) = channel();
            let other = store.clone();
            thread::spawn(move || sender.send(other.position()));
            assert!(receiver.recv_timeout(Duration::from_secs(10)).is_ok(), "the writer is locked");
            Vec::new()
        };
        assert!(!merge_some(&store, &AtomicBool::new(false), &choose).unwrap());
    }
}
