//! Runs of sorted byte strings, each with a number: writing, reading and merging them.
//!
//! ```text
//! number, u32 | length, u32 | bytes | number, u32 | ...
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use docvalues_storage::Spill;

use super::scratch::{CHUNK_LEN, Scratch, ScratchReader, ScratchWriter};
use super::spill_vec::FixedWidth as _;
use crate::error::ErrorKind;
use crate::index::index;

/// The bytes before a string: number and length.
pub(super) const HEAD: usize = 8;

/// Appends a string to a run. It must not be below the one before.
pub(crate) fn push(run: &mut ScratchWriter, number: u32, string: &[u8]) -> Result<(), ErrorKind> {
    Ok(run.push(|bytes| {
        number.put(bytes);
        // The longest value has 2^31 bytes.
        u32::try_from(string.len()).unwrap_or(u32::MAX).put(bytes);
        bytes.extend_from_slice(string);
    })?)
}

/// Writes a run of `strings`, which ascend.
pub(crate) fn write<'s>(
    spill: &Spill,
    mut strings: impl Iterator<Item = (u32, &'s [u8])>,
) -> Result<Scratch, ErrorKind> {
    let mut run = ScratchWriter::new(Scratch::new(spill.clone()));
    strings.try_for_each(|(number, string)| push(&mut run, number, string))?;
    Ok(run.finish()?)
}

/// The first string of a run, or of a part of it, with its number. `None` if it is empty.
pub(super) fn first(run: &[u8]) -> Option<(u32, &[u8])> {
    let [number, len, ..] = run.as_chunks().0 else { return None };
    let string = run.get(HEAD..HEAD + index(u32::from_le_bytes(*len)))?;
    Some((u32::from_le_bytes(*number), string))
}

/// A string of a run. Ordered as the merge returns them: by string, then by run.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NumberedString {
    pub(crate) string: Vec<u8>,
    pub(crate) run: usize,
    pub(crate) number: u32,
}

/// A sequential reader of a run.
#[derive(Debug)]
pub(crate) struct RunReader(ScratchReader);

impl RunReader {
    /// A reader before the first string.
    pub(crate) fn new(run: Scratch) -> RunReader {
        RunReader(ScratchReader::new(run, CHUNK_LEN))
    }

    /// Replaces `last` by the next string. Returns `false` at the end.
    pub(crate) fn advance(&mut self, last: &mut NumberedString) -> Result<bool, ErrorKind> {
        let [_, len, ..] = self.0.peek(HEAD)?.as_chunks().0 else { return Ok(false) };
        let len = HEAD + index(u32::from_le_bytes(*len));
        let Some((number, string)) = first(self.0.peek(len)?) else { return Ok(false) };
        last.number = number;
        last.string.clear();
        last.string.extend_from_slice(string);
        self.0.skip(len);
        Ok(true)
    }
}

/// A k-way merge of runs, by a heap of their next strings. Of equal strings, that of the earliest run comes first.
#[derive(Debug, Default)]
pub(crate) struct KWayMerge {
    runs: Vec<RunReader>,
    heads: BinaryHeap<Reverse<NumberedString>>,
    /// Whether the head of the heap was returned already.
    shown: bool,
}

impl KWayMerge {
    /// Adds a run.
    pub(crate) fn add(&mut self, scratch: Scratch) -> Result<(), ErrorKind> {
        let (mut run, mut head) = (RunReader::new(scratch), NumberedString::default());
        head.run = self.runs.len();
        if run.advance(&mut head)? {
            self.heads.push(Reverse(head));
        }
        self.runs.push(run);
        Ok(())
    }

    /// Returns the next string; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&NumberedString>, ErrorKind> {
        if std::mem::replace(&mut self.shown, true)
            && let Some(mut last) = self.heads.peek_mut()
            && !self.runs[last.0.run].advance(&mut last.0)?
        {
            PeekMut::pop(last);
        }
        Ok(self.heads.peek().map(|head| &head.0))
    }
}
