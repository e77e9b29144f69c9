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
use docvalues_writer::FinishError;

use crate::error::Result;
use crate::files::{FileEntry, FileName};
use crate::locks::lock;
use crate::observer::Origin;
use crate::segments::{Block, FrozenBuffer, NewNumbers, SegmentState, begin_segment};
use crate::store::Store;

/// Writes the buffer to a segment if it takes more than so many bytes, or one that could not be written before. Other
/// callers go on, until the next buffer is full, too.
pub(crate) fn flush(store: &Store, most: usize) -> Result<()> {
    let _flushing = lock(&store.flushing);
    let buffer = store.change_quietly(|writer| {
        let is_full = writer.docs.buffer.bytes() > most;
        let buffer = if is_full { writer.seal() } else { writer.docs.sealed() };
        store.note_room(writer);
        Ok(buffer)
    })?;
    let flushed = buffer.map_or(Ok(()), |buffer| write_buffer(store, buffer).map(drop));
    // The next call tries again, before it adds to what is in memory.
    store.has_failed_flush.store(flushed.is_err(), Ordering::Relaxed);
    flushed
}

/// Writes a buffer that could not be written before, if there is one. The caller holds `flushing`.
pub(crate) fn flush_left(store: &Store) -> Result<()> {
    let left = store.change_quietly(|writer| Ok(writer.docs.sealed()))?;
    left.map_or(Ok(()), |buffer| write_buffer(store, buffer).map(drop))
}

/// Writes what is sealed to a segment. Returns it as it was written. The caller holds `flushing`.
pub(super) fn write_buffer(store: &Store, buffer: Arc<FrozenBuffer>) -> Result<SegmentState> {
    let (began, number) = (Instant::now(), store.take_segment_number()?);
    let written = write_segment(store, number, &buffer);
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
    let (fresh, sealed) = store.change(|writer| {
        // From now on, a commit removes the files if they are not used, such as one that could not be opened.
        created.iter().for_each(|name| writer.files.add(*name));
        let (fresh, new_numbers) = writer.synced(opened)?;
        let sealed = writer.unseal(Some((fresh.clone(), new_numbers)));
        store.note_room(writer);
        Ok((fresh, sealed))
    })?;
    // Others need not wait until the memory is freed.
    drop((buffer, sealed));
    store.note_done(&store.counters.flushes, began);
    Ok(fresh)
}

/// Writes the live documents of a buffer. Returns the file, and the number of each document in it.
fn write_segment(store: &Store, number: u64, buffer: &FrozenBuffer) -> Result<(FileEntry, Arc<NewNumbers>)> {
    // Values that were in memory fit once more, whatever the budget.
    let budget = store.options.writer.budget.max(buffer.bytes.saturating_mul(4));
    let options = store.options.writer.budget(budget);
    let mut writer = begin_segment(&store.directory, number, &buffer.schema, options)?;
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
