//! From the buffer to a segment.
//!
//! ```text
//! seal      the buffer's blocks are set aside; what is applied from now on goes to a new buffer
//! write     a segment of the live documents; look-ups find them in the sealed blocks meanwhile
//! swap      the segment takes the place of the blocks; what was deleted meanwhile is deleted in it
//! ```

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use docvalues_column::DocId;
use docvalues_storage::Directory;
use docvalues_writer::{FinishError, WriterOptions};

use crate::error::Result;
use crate::files::{FileEntry, FileName};
use crate::locks::lock;
use crate::observer::Origin;
use crate::segments::{Block, FrozenBuffer, NewNumbers, SegmentState, StoreSegment, begin_segment};
use crate::store::{Store, Writing, Written};

/// A smaller buffer is written by the call, which hardly takes longer than a large batch.
const IN_THREAD: usize = 1 << 20;

/// Writes the buffer to a segment if it takes more than so many bytes, or one that could not be written before. Other
/// callers go on, until the next buffer is full, too.
pub(crate) fn flush(store: &Store, most: usize) -> Result<()> {
    let _flushing = lock(&store.flushing);
    write_sealed(store, seal(store, most)?)
}

/// As [`flush`], but a thread writes a large buffer that did not fail before. Once it [is written](is_written), a flush puts the
/// segment in its place.
pub(crate) fn begin_flush(store: &Store, most: usize) -> Result<()> {
    let _flushing = lock(&store.flushing);
    if lock(&store.writing).is_some() {
        // Another call has begun it.
        return Ok(());
    }
    // If a buffer is left, the call fails as long as the disk does: else it would add to what is in memory. Observers look at a
    // segment in the call that publishes it.
    let may_start = store.sealed.load(Ordering::Relaxed) == 0 && store.observer.is_none();
    let sealed = seal(store, most)?;
    let large = sealed.as_ref().filter(|buffer| may_start && buffer.bytes >= IN_THREAD);
    if let Some(writing) = large.and_then(|buffer| start_writing(store, buffer.clone())) {
        *lock(&store.writing) = Some(writing);
        return Ok(());
    }
    write_sealed(store, sealed)
}

/// Writes what is sealed, if anything is. The caller holds `flushing`.
fn write_sealed(store: &Store, sealed: Option<Arc<FrozenBuffer>>) -> Result<()> {
    let written = sealed.map_or(Ok(()), |buffer| write_buffer(store, buffer).map(drop));
    // The next call tries again, before it adds to what is in memory.
    store.has_failed_flush.store(written.is_err(), Ordering::Relaxed);
    written
}

/// Whether a thread has written a buffer; `None` if there is none.
pub(crate) fn is_written(store: &Store) -> Option<bool> {
    lock(&store.writing).as_ref().map(Writing::is_done)
}

/// Seals the buffer if it takes more than so many bytes. Returns what is sealed, if anything is.
fn seal(store: &Store, most: usize) -> Result<Option<Arc<FrozenBuffer>>> {
    store.change_quietly(|writer| {
        let is_full = writer.docs.buffer.bytes() > most;
        let buffer = if is_full { writer.seal() } else { writer.docs.sealed() };
        store.note_room(writer);
        Ok(buffer)
    })
}

/// Starts a thread that writes a buffer. `None` if there can be none.
fn start_writing(store: &Store, buffer: Arc<FrozenBuffer>) -> Option<Writing> {
    let number = store.take_segment_number().ok()?;
    let (directory, options) = (store.directory.clone(), store.options);
    let ids = store.snapshot().has_table().then(|| store.ids.clone());
    let write = move || {
        let (file, new_numbers) = write_segment(&directory, options.writer, number, &buffer)?;
        let segment = StoreSegment::open(&*directory, file, options.open)?;
        if let Some(ids) = ids {
            ids.add_some(&[&segment]);
        }
        Ok((SegmentState::new(Arc::new(segment)), new_numbers))
    };
    Writing::start(number, write).ok()
}

/// Waits for the thread that writes a buffer, if one does, and gives up its segment, as a replica took over other documents. The
/// caller holds `flushing`.
pub(crate) fn give_up_writing(store: &Store) {
    let writing = lock(&store.writing).take();
    if let Some(writing) = writing {
        let number = writing.number;
        drop(writing);
        store.ids.remove(&[number]);
        store.with_writer(|writer| writer.files.add(FileName::Segment(number)));
    }
}

/// Writes a buffer that could not be written before, if there is one. The caller holds `flushing`.
pub(crate) fn flush_left(store: &Store) -> Result<()> {
    let left = store.change_quietly(|writer| Ok(writer.docs.sealed()))?;
    left.map_or(Ok(()), |buffer| write_buffer(store, buffer).map(drop))
}

/// Writes what is sealed to a segment. Returns it as it was written. The caller holds `flushing`.
pub(super) fn write_buffer(store: &Store, buffer: Arc<FrozenBuffer>) -> Result<SegmentState> {
    let mut began = Instant::now();
    let writing = lock(&store.writing).take();
    let (created, opened) = match writing {
        Some(writing) => {
            let created = vec![FileName::Segment(writing.number)];
            let (written, took) = writing.finish();
            began = Instant::now().checked_sub(took).unwrap_or(began);
            if let Ok((state, _)) = &written {
                // The table may have been filled since the thread began.
                add_ids(store, &state.segment);
            }
            (created, written)
        }
        None => write_now(store, &buffer)?,
    };
    let (fresh, sealed) = store.change(|writer| {
        let opened = writer.synced(opened);
        writer.note_created(&*store.directory, created, opened.is_err());
        let (fresh, new_numbers) = opened?;
        let sealed = writer.unseal(Some((fresh.clone(), new_numbers)));
        store.note_room(writer);
        Ok((fresh, sealed))
    })?;
    // Others need not wait until the memory is freed.
    drop((buffer, sealed));
    store.note_done(&store.counters.flushes, "flush", began);
    Ok(fresh)
}

/// Writes a buffer to a segment in this call. Returns the names of the files that it began, too.
fn write_now(store: &Store, buffer: &FrozenBuffer) -> Result<(Vec<FileName>, Result<Written>)> {
    let number = store.take_segment_number()?;
    let written = write_segment(&store.directory, store.options.writer, number, buffer);
    let mut created = vec![FileName::Segment(number)];
    // Not in the last step: others wait for that.
    let opened = written.and_then(|(file, new_numbers)| {
        let origin = Origin::Blocks(&buffer.blocks, &new_numbers);
        let segment = store.open_observed(file, origin, &mut created)?;
        add_ids(store, &segment);
        Ok((SegmentState::new(Arc::new(segment)), new_numbers))
    });
    Ok((created, opened))
}

/// Adds the ids of a segment that no snapshot has yet to the table of all ids, if there is one.
fn add_ids(store: &Store, segment: &StoreSegment) {
    if store.snapshot().has_table() {
        store.ids.add_some(&[segment]);
    }
}

/// Writes the live documents of a buffer. Returns the file, and the number of each document in it.
fn write_segment(
    directory: &Arc<dyn Directory>,
    options: WriterOptions,
    number: u64,
    buffer: &FrozenBuffer,
) -> Result<(FileEntry, Arc<NewNumbers>)> {
    // Values that were in memory fit once more, whatever the budget.
    let budget = options.budget.max(buffer.bytes.saturating_mul(4));
    let mut writer = begin_segment(directory, number, &buffer.schema, options.budget(budget))?;
    for Block { docs, live, .. } in &buffer.blocks {
        let first = writer.append_plain(docs)?.get();
        for doc in (0..docs.docs()).filter(|doc| !live.contains(DocId::new(*doc))) {
            writer.delete(DocId::new(first + doc))?;
        }
    }
    let mut new_numbers = NewNumbers::none(writer.docs());
    let note = |old, new| new_numbers.push(old, new);
    let summary = writer.finish_moved(note).map_err(FinishError::into_error)?;
    Ok((FileEntry::of(number, &summary), Arc::new(new_numbers)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::Duration;

    use docvalues_column::{Field, Kind, LogicalType};
    use docvalues_storage::Step;
    use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

    use super::*;
    use crate::options::StoreOptions;
    use crate::schema::StoreSchema;

    /// A store whose threads sync no segment until the result is set.
    fn waiting() -> (Store, Arc<AtomicBool>) {
        let is_done = Arc::new(AtomicBool::new(false));
        let done = is_done.clone();
        let directory = FaultyDirectory::new(Arc::new(PowerLossDirectory::new("/disk")), move |call| {
            let is_flush = thread::current().name() == Some("dv-flush") && call.step == Step::Sync;
            while is_flush && !done.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(call.bytes)
        });
        let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
        let schema = StoreSchema::new().with_field(id).unwrap().with_id_field("id").unwrap();
        (Store::create_in(Arc::new(directory), schema, StoreOptions::default()).unwrap(), is_done)
    }

    fn apply(store: &Store, ids: std::ops::Range<u32>) {
        let mut batch = store.batch().unwrap();
        let id = batch.field("id").unwrap();
        for number in ids {
            let mut doc = batch.upsert();
            doc.str(id, &number.to_string()).unwrap();
            doc.finish().unwrap();
        }
        store.apply(batch).unwrap();
    }

    /// A second call that found the same full buffer does not wait for the thread, though the new buffer is small.
    #[test]
    fn a_thread_that_writes_is_not_waited_for() {
        let (store, is_done) = waiting();
        apply(&store, 0..100_000);
        begin_flush(&store, 0).unwrap();
        apply(&store, 0..1);
        begin_flush(&store, 0).unwrap();
        let found = is_written(&store);
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(found, Some(false));
        flush(&store, 0).unwrap();
        assert_eq!(is_written(&store), None);
        store.refresh().unwrap();
        assert_eq!((store.snapshot().docs(), store.snapshot().segments().len()), (100_000, 1));
    }

    /// It has the segment, though it had none when the thread began.
    #[test]
    fn a_table_is_filled_beside_a_thread_that_writes() {
        let (store, is_done) = waiting();
        apply(&store, 0..100_000);
        let mut segment = store.new_segment().unwrap();
        let id = segment.field("id").unwrap();
        let mut doc = segment.document();
        doc.str(id, "another").unwrap();
        doc.finish().unwrap();
        segment.finish().unwrap();
        let changed = || {
            store.change(|writer| {
                writer.segments_changed();
                Ok(())
            })
        };
        store.ids.remove(&[store.snapshot().opened()[0].number]);
        changed().unwrap();
        let before = store.snapshot();
        begin_flush(&store, 0).unwrap();
        store.ids.fill(before.opened());
        let filled = changed();
        let (filled, now) = (filled.map(|()| store.snapshot().has_table()), is_written(&store));
        is_done.store(true, Ordering::Relaxed);
        assert_eq!((before.has_table(), filled.unwrap(), now), (false, true, Some(false)));
        flush(&store, 0).unwrap();
        let now = store.snapshot();
        assert!(now.has_table());
        // None is added twice.
        store.ids.add_some(now.opened());
        let lookup = store.ids.lookup(now.opened()).unwrap().lookup;
        assert_eq!((now.opened().len(), lookup.segments().len()), (2, 2));
    }
}
