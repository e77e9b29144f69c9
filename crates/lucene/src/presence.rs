//! Presence: the documents with a value, as Lucene's `IndexedDISI` stores them.
//!
//! Documents are cut into blocks of 65,536. Blocks without a value are left out; the others are
//!
//! | kind | values | bytes after the header |
//! | --- | --- | --- |
//! | sparse | up to 4,095 | two for each document |
//! | dense | up to 65,535 | from Lucene 8 on a table of ranks, then a bitmap |
//! | full | 65,536 | none |
//!
//! ```text
//! header    number of the block (2), values less one (2)
//! ranks     values before each 512 documents, as the entry says: two bytes, the most significant first
//! table     for each block: values before it (4), and its place in the sequence (4)
//! ```
//!
//! A block without documents ends the sequence. From Lucene 8 on, a jump table follows: for each block, also those that were
//! left out, the values before it and its place.

mod blocks;

use std::ops::Range;
use std::sync::Arc;

use docvalues_column::{DocId, DocRange, bits};
use docvalues_format::presence::NO_VALUE;

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::file::{Body, byte};
use crate::jump_tables::JumpTables;

use blocks::Blocks;

/// The place of presence, in metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PresenceEntry {
    offset: i64,
    len: i64,
    jumps: i16,
    power: i8,
}

impl PresenceEntry {
    /// Reads an entry. Those of Lucene 7 have no tables.
    pub(crate) fn read(cursor: &mut Cursor<'_>, has_tables: bool) -> Result<PresenceEntry> {
        let (offset, len) = (cursor.i64()?, cursor.i64()?);
        cursor.within("offset of presence", offset, -2, i64::MAX)?;
        let (jumps, power) = if has_tables { (cursor.i16()?, cursor.u8()?.cast_signed()) } else { (-1, -1) };
        Ok(PresenceEntry { offset, len, jumps, power })
    }

    /// Bytes of its blocks and tables, as metadata has them.
    pub(crate) fn bytes(&self) -> i64 {
        self.len
    }
}

/// The documents of a segment that have a value.
#[derive(Debug)]
pub(crate) struct Presence {
    docs: u32,
    values: u32,
    /// Without blocks, all documents have a value, or none: those below `values`.
    blocks: Option<Blocks>,
}

impl Presence {
    /// The presence of `values` of `docs` documents.
    pub(crate) fn open(
        entry: PresenceEntry,
        docs: u32,
        values: i64,
        body: &Arc<Body>,
        mode: JumpTables,
    ) -> Result<Presence> {
        let (least, most) = match entry.offset {
            -2 => return Ok(Presence { docs, values: 0, blocks: None }),
            -1 => (docs.into(), docs.into()),
            _ => (1, i64::from(docs) - 1),
        };
        let fitting = u32::try_from(values).ok().filter(|_| (least..=most).contains(&values));
        let Some(values) = fitting else {
            let (what, found) = ("documents with a value", values);
            return Err(body.error(byte(entry.offset), ErrorKind::OutOfRange { what, found, least, most }));
        };
        let blocks = (entry.offset >= 0).then(|| Blocks::open(entry, docs, values, body, mode));
        Ok(Presence { docs, values, blocks: blocks.transpose()? })
    }

    /// The number of documents, with and without a value.
    pub(crate) fn docs(&self) -> u32 {
        self.docs
    }

    /// The number of documents with a value.
    pub(crate) fn values(&self) -> u32 {
        self.values
    }

    /// Whether all documents have a value, so that each is the index of its value.
    #[inline]
    pub(crate) fn is_all(&self) -> bool {
        self.values == self.docs
    }

    /// The index of the value of a document; `None` if it has none, or is past the last one.
    #[inline]
    pub(crate) fn rank(&self, doc: DocId) -> Result<Option<u32>> {
        match &self.blocks {
            None => Ok((doc.get() < self.values).then_some(doc.get())),
            Some(_) if doc.get() >= self.docs => Ok(None),
            Some(blocks) => {
                let (is_there, before) = blocks.find(doc)?;
                Ok(is_there.then_some(before))
            }
        }
    }

    /// Writes the index of the value of each document to `out`, which is as long: [`NO_VALUE`] for those without. Returns
    /// whether all have a value.
    pub(crate) fn ranks(&self, docs: &[DocId], out: &mut [u32]) -> Result<bool> {
        if let Some(blocks) = &self.blocks {
            return blocks.ranks(docs, out);
        }
        let (end, mut are_all) = (self.values, true);
        for (doc, out) in docs.iter().zip(out) {
            let is_there = doc.get() < end;
            are_all &= is_there;
            *out = if is_there { doc.get() } else { NO_VALUE };
        }
        Ok(are_all)
    }

    /// The number of values of documents below `doc`.
    pub(crate) fn before(&self, doc: u32) -> Result<u32> {
        match &self.blocks {
            _ if doc >= self.docs => Ok(self.values),
            None => Ok(doc.min(self.values)),
            Some(blocks) => Ok(blocks.find(DocId::new(doc))?.1),
        }
    }

    /// The indices of the values of a range of documents.
    pub(crate) fn values_in(&self, docs: DocRange) -> Result<Range<u32>> {
        let start = self.before(docs.start)?;
        Ok(start..self.before(docs.end)?.max(start))
    }

    /// Sets the bit of each document of a range that has a value.
    pub(crate) fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        match &self.blocks {
            Some(blocks) => blocks.exists(docs.clip(self.docs), out)?,
            None => bits::set_range(out, 0..docs.clip(self.values).len()),
        }
        Ok(())
    }

    /// Appends the documents of a range that have a value.
    pub(crate) fn collect(&self, docs: DocRange, out: &mut Vec<DocId>) -> Result<()> {
        match &self.blocks {
            Some(blocks) => blocks.collect(docs.clip(self.docs), out)?,
            None => out.extend(docs.clip(self.values).iter()),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "documents have 32 bits")]
pub(crate) mod tests;
