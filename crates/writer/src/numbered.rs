//! Sorted byte strings in a file, each with a number: how they are written, read and merged.
//!
//! ```text
//! number, u32 | length, u32 | bytes | number, u32 | ...
//! ```

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use docvalues_storage::Spill;

use crate::buffer::{Collected, Fixed as _, Region, TOGETHER};
use crate::error::ErrorKind;
use crate::intern::index;

/// Bytes before a string.
const HEAD: usize = 8;

/// Sorted strings that are being written.
#[derive(Debug)]
pub(crate) struct Run {
    collected: Collected,
}

impl Run {
    pub(crate) fn new(spill: &Spill) -> Run {
        Run { collected: Collected::new(Region::new(spill.clone())) }
    }

    /// Appends a string.
    pub(crate) fn push(&mut self, number: u32, string: &[u8]) -> Result<(), ErrorKind> {
        Ok(self.collected.push(|bytes| {
            number.put(bytes);
            // The longest value has 2^31 bytes.
            u32::try_from(string.len()).unwrap_or(u32::MAX).put(bytes);
            bytes.extend_from_slice(string);
        })?)
    }

    pub(crate) fn finish(self) -> Result<Region, ErrorKind> {
        Ok(self.collected.finish()?)
    }
}

/// The next string of a run, and the run behind it. The greatest is the one to take first.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) string: Vec<u8>,
    pub(crate) number: u32,
    pub(crate) run: usize,
    region: Region,
    /// The bytes that were read, and how many of them were taken.
    bytes: Vec<u8>,
    taken: usize,
    /// How many were read of all.
    read: u64,
}

impl Cursor {
    /// Stands in front of the first string.
    pub(crate) fn new(run: usize, region: Region) -> Cursor {
        Cursor { string: Vec::new(), number: 0, run, region, bytes: Vec::new(), taken: 0, read: 0 }
    }

    /// Goes to the next string; whether there is one.
    pub(crate) fn advance(&mut self) -> Result<bool, ErrorKind> {
        if self.taken == self.bytes.len() && self.read == self.region.len() {
            return Ok(false);
        }
        self.fill(HEAD)?;
        let mut head = Vec::with_capacity(2);
        u32::take(&self.bytes[self.taken..][..HEAD], &mut head);
        let len = index(head[1]);
        self.fill(HEAD + len)?;
        self.number = head[0];
        self.string.clear();
        self.string.extend_from_slice(&self.bytes[self.taken + HEAD..][..len]);
        self.taken += HEAD + len;
        Ok(true)
    }

    /// Has at least `len` bytes that were not taken.
    fn fill(&mut self, len: usize) -> Result<(), ErrorKind> {
        let there = self.bytes.len() - self.taken;
        if there < len {
            self.bytes.drain(..self.taken);
            self.taken = 0;
            let left = usize::try_from(self.region.len() - self.read).unwrap_or(usize::MAX);
            let more = left.min(TOGETHER.max(len - there));
            self.bytes.resize(there + more, 0);
            self.region.read(self.read, &mut self.bytes[there..])?;
            self.read += more as u64;
        }
        Ok(())
    }
}

impl Ord for Cursor {
    fn cmp(&self, other: &Cursor) -> Ordering {
        (&other.string, other.run).cmp(&(&self.string, self.run))
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Cursor) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cursor {
    fn eq(&self, other: &Cursor) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Cursor {}

/// The strings of several runs, in order; of equal ones, that of the earliest run comes first.
#[derive(Debug, Default)]
pub(crate) struct Merge {
    cursors: BinaryHeap<Cursor>,
    /// Whether the first one was shown.
    shown: bool,
}

impl Merge {
    /// Adds a run.
    pub(crate) fn add(&mut self, run: usize, region: Region) -> Result<(), ErrorKind> {
        let mut cursor = Cursor::new(run, region);
        if cursor.advance()? {
            self.cursors.push(cursor);
        }
        Ok(())
    }

    /// The next string.
    pub(crate) fn next(&mut self) -> Result<Option<&Cursor>, ErrorKind> {
        if std::mem::replace(&mut self.shown, true)
            && let Some(mut last) = self.cursors.peek_mut()
            && !last.advance()?
        {
            PeekMut::pop(last);
        }
        Ok(self.cursors.peek())
    }
}
