//! Byte strings in chunks of 32, which LZ4 compresses: those of Lucene 8.5 to 8.11.
//!
//! ```text
//! entry    place of the addresses (8), number of chunks, shift, bytes of the longest chunk, addresses
//! chunk    twice the length of the first byte string, plus 1 if all are as long; otherwise the lengths of the others;
//!          unless all are empty, the byte strings, compressed
//! ```

use super::{ByteStrings, Scratch};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::lz4;
use crate::monotonic::{AddressEntry, Monotonic};

/// The most byte strings of a chunk, as a power of two; Lucene has 5.
const MAX_CHUNK_SHIFT: i32 = 16;

/// Chunks of compressed byte strings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    /// Byte strings of each, as a power of two.
    pub(super) shift: u32,
    /// Bytes of the longest, decompressed.
    pub(super) longest: u64,
}

impl Chunks {
    /// Reads the entry of chunks of `count` byte strings, and that of their addresses.
    pub(super) fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<(Chunks, AddressEntry)> {
        let (offset, found, shift) = (cursor.i64()?, cursor.vint()?, cursor.vint()?);
        cursor.within("shift of chunks", shift.into(), 0, MAX_CHUNK_SHIFT.into())?;
        let shift = shift.unsigned_abs();
        let expected = i64::try_from(count.div_ceil(1 << shift)).unwrap_or(i64::MAX);
        cursor.within("chunks", found.into(), expected, expected)?;
        let longest = cursor.count("bytes of the longest chunk")?.into();
        let addresses = AddressEntry::at(offset, cursor, found.unsigned_abs().into())?;
        Ok((Chunks { shift, longest }, addresses))
    }
}

impl ByteStrings {
    /// Decompresses a chunk, unless it is the last one that was.
    pub(super) fn read_chunk(
        &self,
        Chunks { shift, longest }: Chunks,
        addresses: &Monotonic,
        chunk: u64,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if scratch.chunk == Some(chunk) {
            return Ok(());
        }
        scratch.chunk = None;
        let start = usize::try_from(addresses.get(&self.body, chunk)?).unwrap_or(usize::MAX);
        if !self.data.contains(&start) {
            return Err(self.past());
        }
        let mut cursor = Cursor::new(&self.body);
        cursor.seek(start);
        let first = cursor.vint()?.cast_unsigned();
        let (mut sum, mut len) = (0, u64::from(first >> 1));
        scratch.ends.clear();
        scratch.ends.push(0);
        for at in 0..1 << shift {
            if at > 0 && first & 1 == 0 {
                len = cursor.count("length of a byte string")?.into();
            }
            sum += len;
            scratch.ends.push(sum);
        }
        if sum > longest {
            return Err(self.body.broken(start, "a chunk of byte strings that is longer than the longest"));
        }
        scratch.bytes.clear();
        if sum > 0 {
            let (at, all) = (cursor.position(), self.body.bytes());
            let block = all.get(at..self.data.end).ok_or_else(|| self.past())?;
            let len = usize::try_from(sum).unwrap_or(usize::MAX);
            let read = lz4::decompress(block, len, &mut scratch.bytes);
            read.ok_or_else(|| self.body.broken(at, "a damaged chunk of byte strings"))?;
        }
        scratch.chunk = Some(chunk);
        Ok(())
    }
}
