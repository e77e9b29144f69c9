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
    let flushed = seal(store, most)?.map_or(Ok(()), |buffer| write_buffer(store, buffer).map(drop));
    // The next call tries again, before it adds to what is in memory.
    store.has_failed_flush.store(flushed.is_err(), Ordering::Relaxed);
    flushed
}

/// As [`flush`], but a thread writes a large buffer. Once it [is written](is_written), a flush puts the segment in its place.
pub(crate) fn begin_flush(store: &Store, most: usize) -> Result<()> {
    // Observers look at a segment in the call that publishes it.
    if store.observer.is_some() || store.buffered.load(Ordering::Relaxed) < IN_THREAD {
        return flush(store, most);
    }
    let flushing = lock(&store.flushing);
    let Some(buffer) = seal(store, most)? else { return Ok(()) };
    let mut writing = lock(&store.writing);
    if writing.is_none() {
        *writing = start_writing(store, buffer);
    }
    if writing.is_some() {
        return Ok(());
    }
    drop((writing, flushing));
    flush(store, most)
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
            ids.add_alone(&segment);
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
    store.note_done(&store.counters.flushes, began);
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
        if store.snapshot().has_table() {
            store.ids.add_alone(&segment);
        }
        Ok((SegmentState::new(Arc::new(segment)), new_numbers))
    });
    Ok((created, opened))
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
