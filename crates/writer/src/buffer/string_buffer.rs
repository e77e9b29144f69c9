//! [`StringBuffer`]: byte strings in document order, without a dictionary, while they are added.

use docvalues_storage::Spill;

use super::byte_strings::ByteStrings;
use super::memory_budget::MemoryBudget;
use super::payload::Payload;
use super::scratch::{CHUNK_LEN, Scratch};
use crate::error::ErrorKind;

/// Byte strings in document order, in pieces of 32 MiB.
///
/// Pieces are never copied to grow. When they are written, each is freed for the page cache of the next.
#[derive(Debug, Default)]
pub(crate) struct StringBuffer {
    /// The strings. The last pieces in memory may be empty, and are reused.
    pub(crate) strings: ByteStrings,
    /// The index of the piece that is being filled.
    open: usize,
}

/// The size of a piece, in bytes. Allocators map blocks of this size directly, and unmap them when they are freed. 4
/// KiB less than 32 MiB leave room for the allocator's header, so that a block fits whole huge pages.
const PIECE: usize = (32 << 20) - (1 << 12);

impl StringBuffer {
    /// Appends `value`. After an error, nothing has changed.
    pub(crate) fn push(&mut self, value: &[u8], memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        self.extend(&[0, value.len() as u64], value, memory)
    }

    /// Appends strings of `data`, each between two of the ascending `offsets`. After an error, nothing has changed.
    pub(crate) fn extend(
        &mut self,
        offsets: &[u64],
        data: &[u8],
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        let Some((&from, ends)) = offsets.split_first() else { return Ok(()) };
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = ends.last().and_then(|&to| data.get(at(from)..at(to))).unwrap_or_default();
        // The first string needs two offsets.
        memory.reserve(&mut self.strings.offsets.in_memory, offsets.len())?;
        let start = self.end();
        self.piece_with_room(bytes.len(), memory)?.extend_from_slice(bytes);
        if self.strings.offsets.len() == 0 {
            self.strings.offsets.in_memory.push(0);
        }
        self.strings.offsets.in_memory.extend(ends.iter().map(|end| (end - from).cast_signed() + start));
        Ok(())
    }

    /// Appends `value` to strings that go to `spill`: at most a MiB of them stay in memory.
    pub(crate) fn push_to(&mut self, spill: &Spill, value: &[u8]) -> Result<(), ErrorKind> {
        let mut memory = MemoryBudget::new(usize::MAX);
        self.push(value, &mut memory)?;
        if self.heap() > 1 << 20 { self.spill(spill, &mut memory) } else { Ok(()) }
    }

    /// The strings, all on disk.
    pub(crate) fn into_disk(mut self, spill: &Spill) -> Result<ByteStrings, ErrorKind> {
        self.spill(spill, &mut MemoryBudget::new(usize::MAX))?;
        Ok(self.strings)
    }

    /// Keeps the first `len` strings.
    pub(crate) fn truncate(&mut self, len: usize) {
        // Without strings there are no offsets.
        self.strings.offsets.truncate(if len == 0 { 0 } else { len + 1 });
        let on_disk = self.strings.bytes.on_disk.as_ref().map_or(0, Scratch::len);
        let mut left = usize::try_from(self.end().cast_unsigned() - on_disk).unwrap_or(usize::MAX);
        for (i, piece) in self.strings.bytes.in_memory.iter_mut().enumerate() {
            if left > 0 {
                self.open = i;
            }
            piece.truncate(left);
            left -= piece.len();
        }
    }

    /// The size in memory, in bytes.
    pub(super) fn heap(&self) -> usize {
        self.strings.bytes.in_memory.iter().map(Vec::capacity).sum::<usize>() + self.strings.offsets.heap()
    }

    /// Moves all strings to `spill`. After an error, they are still in memory.
    pub(super) fn spill(&mut self, spill: &Spill, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        let mut on_disk = self.strings.bytes.on_disk.clone().unwrap_or_else(|| Scratch::new(spill.clone()));
        for bytes in self.strings.bytes.in_memory.iter().flat_map(|piece| piece.chunks(CHUNK_LEN)) {
            on_disk.append(bytes)?;
        }
        memory.release(self.strings.bytes.in_memory.iter().map(Vec::capacity).sum());
        (self.strings.bytes, self.open) = (Payload { on_disk: Some(on_disk), in_memory: Vec::new() }, 0);
        self.strings.offsets.spill(spill, memory)
    }

    /// The total length of all strings.
    fn end(&self) -> i64 {
        self.strings.offsets.last().unwrap_or(0)
    }

    /// The piece to which `len` more bytes can be appended.
    fn piece_with_room(&mut self, len: usize, memory: &mut MemoryBudget) -> Result<&mut Vec<u8>, ErrorKind> {
        let is_full = |piece: &Vec<u8>| piece.capacity() >= PIECE && piece.capacity() - piece.len() < len;
        let open = self.open + usize::from(self.strings.bytes.in_memory.get(self.open).is_some_and(is_full));
        if open == self.strings.bytes.in_memory.len() {
            self.strings.bytes.in_memory.push(Vec::new());
        }
        let piece = &mut self.strings.bytes.in_memory[open];
        // The first piece grows with its strings. Later ones start at full size, if the budget allows it.
        let whole = open > 0 && piece.capacity() == 0;
        if !whole || memory.reserve(piece, len.max(PIECE)).is_err() {
            memory.reserve(piece, len)?;
        }
        self.open = open;
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than two pieces of strings, with rollbacks.
    #[test]
    fn pieces_are_filled_and_used_again() {
        let mut memory = MemoryBudget::new(usize::MAX);
        let mut kept = StringBuffer::default();
        let mut data = Vec::new();
        let mut offsets = vec![0];
        let len = 1_000_003;
        while data.len() < 5 * PIECE / 2 {
            data.resize(data.len() + len, (offsets.len() % 256).try_into().unwrap());
            offsets.push(data.len() as u64);
        }
        for keep in [10, 40, 0, 60] {
            let there = kept.strings.offsets.len().saturating_sub(1);
            // Each run begins where the one before ends.
            for start in (there..offsets.len() - 1).step_by(5) {
                let end = offsets.len().min(start + 6);
                kept.extend(&offsets[start..end], &data, &mut memory).unwrap();
            }
            let held: usize = kept.strings.bytes.in_memory.iter().map(Vec::capacity).sum();
            assert_eq!(memory.used(), held + kept.strings.offsets.heap());
            kept.truncate(keep);
        }
        for value in offsets[60..].windows(2) {
            let range = usize::try_from(value[0]).unwrap()..usize::try_from(value[1]).unwrap();
            kept.push(&data[range], &mut memory).unwrap();
        }
        assert!(
            kept.strings.bytes.in_memory.len() > 2
                && kept.strings.bytes.in_memory.iter().all(|piece| piece.capacity() < 3 * PIECE)
        );
        let ByteStrings { bytes: pieces, offsets: ends } = kept.strings;
        assert!(pieces.in_memory.concat() == data);
        assert!(ends.in_memory.iter().map(|end| end.cast_unsigned()).eq(offsets));
    }
}
