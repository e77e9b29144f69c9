//! Byte strings that are all kept.

use super::memory::Memory;
use crate::error::ErrorKind;

/// Byte strings end to end, in document order.
///
/// In pieces: none is copied when more come, and when they are written, the memory of one can hold the file's
/// pages of the next.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The last ones may be empty, and are used again.
    pieces: Vec<Vec<u8>>,
    /// The piece that is being filled.
    open: usize,
    /// Where each string ends in all bytes.
    ends: Vec<u64>,
}

/// Bytes of a piece, from which on another one is begun. Of this size, allocators ask the system for memory
/// and give it back at once.
const PIECE: usize = 32 << 20;

impl Kept {
    /// Appends `value`. After an error nothing has changed.
    pub(crate) fn push(&mut self, value: &[u8], memory: &mut Memory) -> Result<(), ErrorKind> {
        memory.reserve(&mut self.ends, 1)?;
        let end = self.end() + value.len() as u64;
        self.room(value.len(), memory)?.extend_from_slice(value);
        self.ends.push(end);
        Ok(())
    }

    /// Appends the strings that lie end to end in `data` between two of the ascending `offsets` each. After an
    /// error nothing has changed.
    pub(crate) fn extend(
        &mut self,
        offsets: &[u64],
        data: &[u8],
        memory: &mut Memory,
    ) -> Result<(), ErrorKind> {
        let (Some(&from), Some(&to)) = (offsets.first(), offsets.last()) else { return Ok(()) };
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = data.get(at(from)..at(to)).unwrap_or_default();
        memory.reserve(&mut self.ends, offsets.len() - 1)?;
        let start = self.end();
        self.room(bytes.len(), memory)?.extend_from_slice(bytes);
        self.ends.extend(offsets[1..].iter().map(|end| end - from + start));
        Ok(())
    }

    /// Forgets all but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        let mut left = usize::try_from(self.end()).unwrap_or(usize::MAX);
        for (i, piece) in self.pieces.iter_mut().enumerate() {
            if left > 0 {
                self.open = i;
            }
            piece.truncate(left);
            left -= piece.len();
        }
    }

    /// The pieces, and where each string ends in them.
    pub(crate) fn into_parts(self) -> (Vec<Vec<u8>>, Vec<u64>) {
        (self.pieces, self.ends)
    }

    /// Bytes of all strings.
    fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// A piece with room for `len` bytes more.
    fn room(&mut self, len: usize, memory: &mut Memory) -> Result<&mut Vec<u8>, ErrorKind> {
        let is_full = |piece: &Vec<u8>| piece.capacity() >= PIECE && piece.capacity() - piece.len() < len;
        let open = self.open + usize::from(self.pieces.get(self.open).is_some_and(is_full));
        if open == self.pieces.len() {
            self.pieces.push(Vec::new());
        }
        let piece = &mut self.pieces[open];
        // The first one grows with its strings; the budget may have no room for all of another one.
        if open == 0 || memory.reserve(piece, len.max(PIECE)).is_err() {
            memory.reserve(piece, len)?;
        }
        self.open = open;
        Ok(piece)
    }
}
