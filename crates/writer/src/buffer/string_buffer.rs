//! Byte strings that are all kept.

use docvalues_storage::Spill;

use super::byte_strings::ByteStrings;
use super::memory_budget::MemoryBudget;
use super::payload::Payload;
use super::scratch::{CHUNK_LEN, Scratch};
use crate::error::ErrorKind;

/// Byte strings end to end, in document order.
///
/// In pieces: none is copied when more come, and when they are written, the memory of one can hold the file's
/// pages of the next.
#[derive(Debug, Default)]
pub(crate) struct StringBuffer {
    /// The strings. The last pieces of their bytes in memory may be empty, and are used again.
    pub(crate) strings: ByteStrings,
    /// The piece that is being filled.
    open: usize,
}

/// Bytes of a piece, from which on another one is begun. Of this size, allocators ask the system for memory
/// and give it back at once; with the few bytes that they add it takes whole large pages.
const PIECE: usize = (32 << 20) - (1 << 12);

impl StringBuffer {
    /// Appends `value`. After an error nothing has changed.
    pub(crate) fn push(&mut self, value: &[u8], memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        self.extend(&[0, value.len() as u64], value, memory)
    }

    /// Appends the strings that lie end to end in `data` between two of the ascending `offsets` each. After an
    /// error nothing has changed.
    pub(crate) fn extend(
        &mut self,
        offsets: &[u64],
        data: &[u8],
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        let Some((&from, ends)) = offsets.split_first() else { return Ok(()) };
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = ends.last().and_then(|&to| data.get(at(from)..at(to))).unwrap_or_default();
        // The first string has an offset more.
        memory.reserve(&mut self.strings.offsets.in_memory, offsets.len())?;
        let start = self.end();
        self.piece_with_room(bytes.len(), memory)?.extend_from_slice(bytes);
        if self.strings.offsets.len() == 0 {
            self.strings.offsets.in_memory.push(0);
        }
        self.strings.offsets.in_memory.extend(ends.iter().map(|end| (end - from).cast_signed() + start));
        Ok(())
    }

    /// Forgets all but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        // Of no strings there are no offsets.
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

    /// Bytes of memory.
    pub(super) fn heap(&self) -> usize {
        self.strings.bytes.in_memory.iter().map(Vec::capacity).sum::<usize>() + self.strings.offsets.heap()
    }

    /// Moves all strings to `spill`. After an error they still are there.
    pub(super) fn spill(&mut self, spill: &Spill, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        let mut on_disk = self.strings.bytes.on_disk.clone().unwrap_or_else(|| Scratch::new(spill.clone()));
        for bytes in self.strings.bytes.in_memory.iter().flat_map(|piece| piece.chunks(CHUNK_LEN)) {
            on_disk.append(bytes)?;
        }
        memory.release(self.strings.bytes.in_memory.iter().map(Vec::capacity).sum());
        (self.strings.bytes, self.open) = (Payload { on_disk: Some(on_disk), in_memory: Vec::new() }, 0);
        self.strings.offsets.spill(spill, memory)
    }

    /// Bytes of all strings.
    fn end(&self) -> i64 {
        self.strings.offsets.last().unwrap_or(0)
    }

    /// A piece with room for `len` bytes more.
    fn piece_with_room(&mut self, len: usize, memory: &mut MemoryBudget) -> Result<&mut Vec<u8>, ErrorKind> {
        let is_full = |piece: &Vec<u8>| piece.capacity() >= PIECE && piece.capacity() - piece.len() < len;
        let open = self.open + usize::from(self.strings.bytes.in_memory.get(self.open).is_some_and(is_full));
        if open == self.strings.bytes.in_memory.len() {
            self.strings.bytes.in_memory.push(Vec::new());
        }
        let piece = &mut self.strings.bytes.in_memory[open];
        // The first one grows with its strings, others begin with all their room: if the budget has it.
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

    /// As many strings as take more than two pieces, some of them taken back.
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
