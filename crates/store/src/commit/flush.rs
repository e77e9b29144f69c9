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
use docvalues_writer::{FinishError, WriterOptions};

use crate::error::Result;
use crate::files::{FileEntry, FileName};
use crate::schema::StoreSchema;
use crate::segments::{Block, GONE, SegmentState, StoreSegment, begin_segment};
use crate::store::Store;
use crate::sync::PoisonError;

/// Writes the buffer to a segment if it takes more than so many bytes, and one that could not be written before. Other
/// callers go on, until the next buffer is full, too.
pub(crate) fn flush(store: &Store, most: usize) -> Result<()> {
    let _flushing = store.flushing.lock().unwrap_or_else(PoisonError::into_inner);
    let has_some = store.change_quietly(|writer| {
        let has_some = writer.docs().sealed().is_some() || writer.docs().buffer_bytes() > most;
        if has_some {
            writer.docs_mut().seal();
        }
        store.note_room(writer);
        Ok(has_some)
    })?;
    let flushed = if has_some { flush_sealed(store).map(drop) } else { Ok(()) };
    // The next call tries again, before it adds to what is in memory.
    store.has_failed_flush.store(flushed.is_err(), Ordering::Relaxed);
    flushed
}

/// Writes what is sealed to a segment. Returns it as it was written. The caller holds `flushing`.
pub(crate) fn flush_sealed(store: &Store) -> Result<Option<SegmentState>> {
    let sealed = store.change_quietly(|writer| {
        let Some(sealed) = writer.docs().sealed() else { return Ok(None) };
        if !sealed.then.iter().any(|block| block.live.count() > 0) {
            writer.unseal(None, &[]);
            store.note_room(writer);
            return Ok(None);
        }
        let (then, schema, bytes) = (sealed.then.clone(), sealed.schema.clone(), sealed.buffer.bytes());
        Ok(Some((then, schema, bytes, writer.take_number())))
    })?;
    let Some((then, schema, bytes, number)) = sealed else { return Ok(None) };
    let began = Instant::now();
    let written = write_segment(store, (number, bytes), &then, &schema);
    let (file, new_numbers) = store.change_quietly(|writer| writer.synced(written))?;
    // Not in the last step: others wait for that.
    let opened = StoreSegment::open(&*store.directory, file, store.options.open);
    if let Ok(segment) = &opened
        && store.snapshot().has_table()
    {
        store.ids.add(segment);
    }
    store
        .change(|writer| {
            // From now on, a commit removes the file if it is not used, such as one that could not be opened.
            writer.add_file(FileName::Segment(number));
            let fresh = SegmentState::new(Arc::new(opened?));
            writer.commits_file(FileName::Segment(number));
            let sealed = writer.unseal(Some(fresh.clone()), &new_numbers);
            store.note_room(writer);
            Ok((fresh, sealed))
        })
        .map(|(fresh, sealed)| {
            // Others need not wait until the memory is freed.
            drop(sealed);
            store.note_done(&store.counters.flushes, began);
            Some(fresh)
        })
}

/// Writes the live documents of blocks. Returns the file, and the number of each document in it.
fn write_segment(
    store: &Store,
    (number, bytes): (u64, usize),
    blocks: &[Block],
    schema: &StoreSchema,
) -> Result<(FileEntry, Vec<u32>)> {
    // Values that were in memory fit once more, whatever the budget.
    let budget = store.options.writer.budget.max(bytes.saturating_mul(4));
    let options = WriterOptions { budget, ..store.options.writer };
    let mut writer = begin_segment(&store.directory, number, schema, options)?;
    for Block { docs, live, .. } in blocks {
        let first = writer.append_plain(docs)?.get();
        for doc in (0..docs.docs()).filter(|doc| !live.contains(DocId::new(*doc))) {
            writer.delete(DocId::new(first + doc))?;
        }
    }
    let mut new_numbers = vec![GONE; writer.docs() as usize];
    let note = |old: DocId, new: DocId| new_numbers[old.get() as usize] = new.get();
    let summary = writer.finish_moved(note).map_err(FinishError::into_error)?;
    Ok((FileEntry::of(number, &summary), new_numbers))
}
