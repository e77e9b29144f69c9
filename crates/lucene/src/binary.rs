//! Byte strings of a column, by the index of a value.
//!
//! | encoding | of |
//! | --- | --- |
//! | of one length | all releases |
//! | with addresses | all releases |
//! | in chunks of 32, LZ4 | Lucene 8.5 to 8.11 |
//!
//! ```text
//! entry    place and length of the bytes (8, 8), presence, documents with a value (4), least and greatest length (4, 4), and
//!          the chunks, or addresses if lengths differ
//! ```

mod chunks;

use std::ops::Range;
use std::sync::Arc;

use docvalues_column::Lists;
use docvalues_format::prefetch::prefetch;
use docvalues_format::presence::NO_VALUE;

use chunks::Chunks;

use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::monotonic::{AddressEntry, Monotonic};
use crate::presence::PresenceEntry;

/// Bytes from which on a run of byte strings ends.
const RUN_BYTES: usize = 1 << 20;

/// Byte strings that are found before the first of them is copied, so that their cache misses overlap.
const TOGETHER: usize = 32;

/// The entry of a column of byte strings in metadata.
#[derive(Clone, Debug)]
pub(crate) struct BinaryEntry {
    pub(crate) presence: PresenceEntry,
    pub(crate) docs_with_value: u32,
    data: (i64, i64),
    min_len: i32,
    max_len: i32,
    addresses: Option<AddressEntry>,
    /// The chunks, if byte strings are compressed.
    chunks: Option<Chunks>,
}

impl BinaryEntry {
    /// Reads an entry. Those of Lucene 7 have no jump tables.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        has_tables: bool,
        is_compressed: bool,
    ) -> Result<BinaryEntry> {
        let (data, presence) = ((cursor.i64()?, cursor.i64()?), PresenceEntry::read(cursor, has_tables)?);
        let docs_with_value = cursor.natural("documents with a value")?;
        let count = u64::from(docs_with_value);
        let (min_len, max_len) = (cursor.i32()?, cursor.i32()?);
        let (mut addresses, mut chunks) = (None, None);
        if is_compressed && count > 0 {
            let (of_chunks, starts) = Chunks::read(cursor, count)?;
            (addresses, chunks) = (Some(starts), Some(of_chunks));
        } else if min_len < max_len {
            addresses = Some(AddressEntry::read(cursor, count + 1)?);
        }
        Ok(BinaryEntry { presence, docs_with_value, data, min_len, max_len, addresses, chunks })
    }

    /// Bytes of the byte strings and their addresses, as metadata has them.
    pub(crate) fn bytes(&self) -> [i64; 2] {
        [self.data.1, self.addresses.as_ref().map_or(0, AddressEntry::bytes)]
    }
}

/// The byte strings of an open column.
#[derive(Debug)]
pub(crate) struct ByteStrings {
    body: Arc<Body>,
    count: u64,
    data: Range<usize>,
    encoding: Encoding,
}

#[derive(Debug)]
enum Encoding {
    OfLength(usize),
    WithAddresses(Monotonic),
    /// In chunks, which begin at these bytes of the file.
    Chunks(Chunks, Monotonic),
}

/// Buffers of a reader: the chunk that it decompressed last.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    chunk: Option<u64>,
    addresses: Vec<i64>,
    /// Where the byte strings of a run or of a chunk begin, and where the last one ends.
    ends: Vec<u64>,
    bytes: Vec<u8>,
}

/// Byte strings side by side, and where each begins.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    /// One more than there are byte strings.
    pub(crate) offsets: &'a [u64],
    pub(crate) bytes: &'a [u8],
}

impl ByteStrings {
    /// The byte strings of `entry`, if there are any.
    pub(crate) fn open(entry: &BinaryEntry, body: &Arc<Body>) -> Result<ByteStrings> {
        let count = u64::from(entry.docs_with_value);
        let is_empty = count == 0;
        let data = if is_empty { 0..0 } else { body.region(entry.data.0, entry.data.1)? };
        let encoding = match (&entry.addresses, entry.chunks) {
            _ if is_empty => Encoding::OfLength(0),
            (Some(addresses), Some(chunks)) => Encoding::Chunks(chunks, addresses.open(body)?),
            (Some(addresses), None) => Encoding::WithAddresses(addresses.open(body)?),
            (None, _) => {
                let len = u64::try_from(entry.max_len).ok().filter(|_| entry.min_len == entry.max_len);
                let len = len.ok_or_else(|| body.broken(data.start, "byte strings without addresses"))?;
                let (needed, left) = (len.saturating_mul(count), data.len() as u64);
                if needed > left {
                    return Err(body.error(data.start, ErrorKind::Truncated { needed, left }));
                }
                Encoding::OfLength(usize::try_from(len).unwrap_or(usize::MAX))
            }
        };
        Ok(ByteStrings { body: Arc::clone(body), count, data, encoding })
    }

    /// Byte string `index`.
    pub(crate) fn get<'a>(&'a self, index: u64, scratch: &'a mut Scratch) -> Result<&'a [u8]> {
        if index >= self.count {
            return Err(self.past());
        }
        let bytes = self.body.bytes();
        match &self.encoding {
            Encoding::OfLength(len) => {
                // All of them are in the file.
                let start = usize::try_from(index).ok().and_then(|index| index.checked_mul(*len));
                let start = start.ok_or_else(|| self.past())? + self.data.start;
                bytes.get(start..start + len).ok_or_else(|| self.past())
            }
            Encoding::WithAddresses(addresses) => {
                let [start, end] = addresses.pair(&self.body, index)?;
                bytes.get(self.place(start, end)?).ok_or_else(|| self.past())
            }
            Encoding::Chunks(chunks, addresses) => {
                let shift = chunks.shift;
                self.read_chunk(*chunks, addresses, index >> shift, scratch)?;
                // A chunk has as many ends, in memory.
                let at = usize::try_from(index & ((1 << shift) - 1)).unwrap_or(usize::MAX);
                let [start, end] =
                    [at, at + 1].map(|at| usize::try_from(scratch.ends[at]).unwrap_or(usize::MAX));
                scratch.bytes.get(start..end).ok_or_else(|| self.past())
            }
        }
    }

    /// Appends the byte strings at `indices`, and an empty one for each [`NO_VALUE`].
    pub(crate) fn gather(&self, indices: &[u32], scratch: &mut Scratch, out: &mut Lists<u8>) -> Result<()> {
        let Encoding::WithAddresses(addresses) = &self.encoding else {
            for index in indices {
                match *index {
                    NO_VALUE => out.push(&[]),
                    index => out.push(self.get(index.into(), scratch)?),
                }
            }
            return Ok(());
        };
        let (bytes, mut places) = (self.body.bytes(), [(0, 0); TOGETHER]);
        for indices in indices.chunks(TOGETHER) {
            indices.iter().for_each(|index| addresses.prefetch(&self.body, (*index).into()));
            for (index, place) in indices.iter().zip(&mut places) {
                *place = (0, 0);
                if *index != NO_VALUE {
                    let [start, end] = addresses.pair(&self.body, (*index).into())?;
                    let Range { start, end } = self.place(start, end)?;
                    prefetch(bytes.as_ptr().wrapping_add(start));
                    prefetch(bytes.as_ptr().wrapping_add(end));
                    *place = (start, end);
                }
            }
            for (start, end) in &places[..indices.len()] {
                out.push(bytes.get(*start..*end).ok_or_else(|| self.past())?);
            }
        }
        Ok(())
    }

    /// Some byte strings from `indices.start` on: at least one, and fewer than all of `indices` if they are long or of
    /// several chunks.
    pub(crate) fn run<'a>(&'a self, indices: Range<u64>, scratch: &'a mut Scratch) -> Result<Run<'a>> {
        if indices.is_empty() || indices.end > self.count {
            return Err(self.past());
        }
        let bytes = self.body.bytes();
        match &self.encoding {
            Encoding::OfLength(len) => {
                let most = (RUN_BYTES / (*len).max(1)).max(1) as u64;
                let count = (indices.end - indices.start).min(most);
                scratch.ends.clear();
                scratch.ends.extend((0..=count).map(|at| at * *len as u64));
                let start = usize::try_from(indices.start).ok().and_then(|index| index.checked_mul(*len));
                let start = start.ok_or_else(|| self.past())? + self.data.start;
                let bytes = bytes.get(start..).ok_or_else(|| self.past())?;
                Ok(Run { offsets: &scratch.ends, bytes })
            }
            Encoding::WithAddresses(addresses) => {
                addresses.decode(&self.body, indices.start..indices.end + 1, &mut scratch.addresses)?;
                let all = &scratch.addresses;
                let (first, last) = (all[0], all[all.len() - 1]);
                if !all.is_sorted() {
                    return Err(self.past());
                }
                let place = self.place(first, last)?;
                let limit = first.saturating_add(i64::try_from(RUN_BYTES).unwrap_or(i64::MAX));
                let count = all[1..].partition_point(|end| *end <= limit).max(1);
                scratch.ends.clear();
                scratch.ends.extend(all[..=count].iter().map(|address| address.cast_unsigned()));
                let bytes = bytes.get(place).ok_or_else(|| self.past())?;
                Ok(Run { offsets: &scratch.ends, bytes })
            }
            Encoding::Chunks(chunks, addresses) => {
                let (shift, chunk) = (chunks.shift, indices.start >> chunks.shift);
                self.read_chunk(*chunks, addresses, chunk, scratch)?;
                let (first, len) = (chunk << shift, indices.end - indices.start);
                let at = usize::try_from(indices.start - first).unwrap_or(usize::MAX);
                let end = at.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)).min(1 << shift);
                let offsets = scratch.ends.get(at..=end).ok_or_else(|| self.past())?;
                let start = usize::try_from(offsets[0]).unwrap_or(usize::MAX);
                let bytes = scratch.bytes.get(start..).ok_or_else(|| self.past())?;
                Ok(Run { offsets, bytes })
            }
        }
    }

    /// The bytes of the file between two addresses.
    fn place(&self, start: i64, end: i64) -> Result<Range<usize>> {
        let offsets = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let inside = offsets.filter(|(start, end)| start <= end && *end <= self.data.len());
        let (start, end) = inside.ok_or_else(|| self.past())?;
        Ok(self.data.start + start..self.data.start + end)
    }

    #[cold]
    fn past(&self) -> crate::error::Error {
        self.body
            .broken(self.data.start, "a byte string past the last one, or one that ends before it begins")
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests;
