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

use crate::buffer::{Block, Buffer};
use crate::commit_file::FileEntry;
use crate::error::Result;
use crate::names::FileName;
use crate::schema::StoreSchema;
use crate::segment::StoreSegment;
use crate::state::SegmentState;
use crate::store::Store;
use crate::sync::PoisonError;
use crate::writer::Writer;

/// The number of a document that is not in the segment.
const GONE: u32 = u32::MAX;

/// A buffer that is being written to a segment.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// Documents are still deleted in it.
    pub(crate) buffer: Buffer,
    /// Its blocks, and the fields, at the moment when it was sealed, which is that of a commit.
    then: Vec<Block>,
    schema: Arc<StoreSchema>,
}

impl Store {
    /// Notes whether the buffer is to be written, and whether the next batch must wait for that. A buffer may take half
    /// of the memory, and the one that is being written the other half.
    pub(crate) fn note_room(&self, writer: &Writer) {
        let (buffer, sealed) = (writer.buffer.bytes(), writer.sealed_bytes());
        self.is_full.store(buffer > self.options.buffer_bytes / 2, Ordering::Relaxed);
        self.is_over.store(buffer.saturating_add(sealed) > self.options.buffer_bytes, Ordering::Relaxed);
        self.buffered.store(buffer, Ordering::Relaxed);
        self.tasks.note_buffered(buffer.saturating_add(sealed));
    }

    /// Writes the buffer to a segment if it is full. Other callers go on, until the next buffer is full, too.
    pub(crate) fn flush_full(&self) -> Result<()> {
        if self.is_full.load(Ordering::Relaxed) { self.flush(self.options.buffer_bytes / 2) } else { Ok(()) }
    }

    /// The memory of the buffer, in bytes.
    pub(crate) fn buffered(&self) -> usize {
        self.buffered.load(Ordering::Relaxed)
    }

    /// Writes the buffer to a segment if it takes more than so many bytes, and what was to be written before.
    pub(crate) fn flush(&self, most: usize) -> Result<()> {
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = self.change_quietly(|writer| {
            let is_full = writer.sealed.is_some() || writer.buffer.bytes() > most;
            if is_full {
                writer.seal();
            }
            self.note_room(writer);
            Ok(is_full)
        })?;
        if is_full && let Err(error) = self.flush_sealed() {
            // The next call tries again, before it adds to what is in memory.
            self.is_full.store(true, Ordering::Relaxed);
            return Err(error);
        }
        Ok(())
    }

    /// Writes what is sealed to a segment. Returns it as it was written. The caller holds `flushing`.
    pub(crate) fn flush_sealed(&self) -> Result<Option<SegmentState>> {
        let sealed = self.change_quietly(|writer| {
            let Some(sealed) = &writer.sealed else { return Ok(None) };
            if !sealed.then.iter().any(|block| block.live.count() > 0) {
                writer.unseal(None, &[]);
                self.note_room(writer);
                return Ok(None);
            }
            let (then, schema, bytes) = (sealed.then.clone(), sealed.schema.clone(), sealed.buffer.bytes());
            Ok(Some((then, schema, bytes, writer.next_number())))
        })?;
        let Some((then, schema, bytes, number)) = sealed else { return Ok(None) };
        let began = Instant::now();
        let written = self.write_segment((number, bytes), &then, &schema);
        let (file, new_numbers) = self.change_quietly(|writer| writer.synced(written))?;
        // Not in the last step: others wait for that.
        let opened = StoreSegment::open(&*self.directory, file, self.options.open);
        if let Ok(segment) = &opened
            && self.snapshot().has_table()
        {
            self.ids.add(segment);
        }
        self.change(|writer| {
            // From now on, a commit removes the file if it is not used, such as one that could not be opened.
            writer.files.add(FileName::Segment(number));
            let fresh = SegmentState::new(opened?);
            writer.commits_file(FileName::Segment(number));
            writer.unseal(Some(fresh.clone()), &new_numbers);
            self.note_room(writer);
            self.note_done(&self.counters.flushes, began);
            Ok(Some(fresh))
        })
    }

    /// Writes the live documents of blocks. Returns the file, and the number of each document in it.
    fn write_segment(
        &self,
        (number, bytes): (u64, usize),
        blocks: &[Block],
        schema: &StoreSchema,
    ) -> Result<(FileEntry, Vec<u32>)> {
        // Values that were in memory fit once more, whatever the budget.
        let budget = self.options.writer.budget.max(bytes.saturating_mul(4));
        let mut writer =
            self.segment_writer(number, schema, WriterOptions { budget, ..self.options.writer })?;
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
}

impl Writer {
    /// Sets the blocks of the buffer aside, unless some are already.
    pub(crate) fn seal(&mut self) {
        if self.sealed.is_none() {
            let buffer = std::mem::take(&mut self.buffer);
            self.sealed = Some(Sealed { then: buffer.blocks.clone(), schema: self.schema.clone(), buffer });
        }
    }

    /// The memory of what is being written to a segment, in bytes.
    pub(crate) fn sealed_bytes(&self) -> usize {
        self.sealed.as_ref().map_or(0, |sealed| sealed.buffer.bytes())
    }

    /// Puts a segment in the place of the sealed blocks, or nothing if none of their documents were live.
    fn unseal(&mut self, segment: Option<SegmentState>, new_numbers: &[u32]) {
        let Some(Sealed { buffer: Buffer { blocks: now, .. }, then, .. }) = self.sealed.take() else {
            return;
        };
        if let Some(mut segment) = segment {
            let mut first = 0;
            for (now, then) in now.iter().zip(&then) {
                for doc in now.live.deleted_since(&then.live) {
                    segment.live.delete(DocId::new(new_numbers[first + doc.get() as usize]));
                }
                first += then.docs.docs() as usize;
            }
            self.segments.push(segment);
        }
        self.segments_changed();
    }
}
