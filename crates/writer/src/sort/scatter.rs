//! [`Scatter`]: writes pieces of bytes to their slots in any order, through windows on disk if they exceed the budget.
//!
//! ```text
//! result    | window 0     | window 1     | window 2    |      each as large as the budget allows
//! on disk   | 3 b 0 a 1 .. | 7 x 5 z ..   | 9 y 8 w ..  |      slot and bytes of each piece, as they came
//! ```

use std::ops::Range;

use docvalues_format::numeric::{self, Values as _};
use docvalues_storage::Spill;

use crate::buffer::{CHUNK_LEN, FixedWidth, Scratch, ScratchWriter, SpillBudget, SpillVec};
use crate::error::ErrorKind;
use crate::index::index;

/// The layout of the result: the position of each slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Layout<'a> {
    /// All pieces have `width` bytes.
    Fixed { count: usize, width: usize },
    /// Piece *i* has `width` bytes for each number from `offsets[i]` up to `offsets[i + 1]`.
    Variable { offsets: &'a SpillVec<i64>, width: usize },
}

/// The minimum size of a write to a window, in bytes, however many windows share the budget.
const FEWEST: usize = 1 << 12;

/// A permutation of pieces in progress.
#[derive(Debug)]
pub(super) struct Scatter<'a> {
    layout: Layout<'a>,
    held: State,
}

#[derive(Debug)]
enum State {
    /// The whole result, in memory.
    Whole(Window),
    /// For each window its end slot, and the pieces so far, each after its slot as `u32`.
    Parts { ends: Vec<usize>, pieces: Vec<ScratchWriter> },
}

impl<'a> Scatter<'a> {
    pub(super) fn new(layout: Layout<'a>, spill_budget: &SpillBudget) -> Result<Scatter<'a>, ErrorKind> {
        let ends = match spill_budget.spill.as_ref() {
            Some(_) => layout.windows(spill_budget.bytes)?,
            None => vec![layout.count()],
        };
        let held = match (&ends[..], spill_budget.spill.as_ref()) {
            ([_, _, ..], Some(spill)) => {
                let together = (spill_budget.bytes / ends.len()).clamp(FEWEST, CHUNK_LEN);
                let pieces = || ScratchWriter::with(Scratch::new(spill.clone()), together);
                let pieces = ends.iter().map(|_| pieces()).collect();
                State::Parts { ends, pieces }
            }
            _ => State::Whole(Window::open(&layout, 0..layout.count())?),
        };
        Ok(Scatter { layout, held })
    }

    /// Sets the bytes of a slot. Their length must match the layout.
    pub(super) fn put(&mut self, slot: usize, bytes: &[u8]) -> Result<(), ErrorKind> {
        match &mut self.held {
            State::Whole(window) => {
                window.place(slot, bytes);
                Ok(())
            }
            State::Parts { ends, pieces } => {
                Ok(pieces[ends.partition_point(|&end| end <= slot)].push(|piece| {
                    // There are not more slots than documents.
                    u32::try_from(slot).unwrap_or(u32::MAX).put(piece);
                    piece.extend_from_slice(bytes);
                })?)
            }
        }
    }

    /// Calls `each` with the result, in order. All slots must be set.
    pub(super) fn finish(
        self,
        each: &mut dyn FnMut(Vec<u8>) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let (ends, pieces) = match self.held {
            State::Whole(window) => return each(window.bytes),
            State::Parts { ends, pieces } => (ends, pieces),
        };
        let mut start = 0;
        for (end, pieces) in ends.into_iter().zip(pieces) {
            let mut window = Window::open(&self.layout, start..end)?;
            window.fill(pieces)?;
            each(window.bytes)?;
            start = end;
        }
        Ok(())
    }

    /// The result as numbers, on disk if there is a temporary file.
    pub(super) fn into_numbers<T: FixedWidth>(self, spill: Option<&Spill>) -> Result<SpillVec<T>, ErrorKind> {
        let mut numbers = SpillVec::default();
        self.finish(&mut |bytes| numbers.extend(&bytes, spill))?;
        numbers.flush(spill)?;
        Ok(numbers)
    }
}

impl Layout<'_> {
    fn count(&self) -> usize {
        match self {
            Layout::Fixed { count, .. } => *count,
            Layout::Variable { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Divides the slots into windows that take at most `most` bytes of memory, with their pieces, or have one slot.
    fn windows(&self, most: usize) -> Result<Vec<usize>, ErrorKind> {
        /// The bytes before a piece: its slot.
        const HEAD: usize = size_of::<u32>();
        let count = self.count();
        match *self {
            Layout::Fixed { width, .. } => {
                let step = (most / (2 * width + HEAD)).max(1);
                Ok((0..count).step_by(step).skip(1).chain([count]).collect())
            }
            Layout::Variable { offsets, width } => {
                let (mut ends, mut taken, mut slot, mut last) = (Vec::new(), 0_usize, 0, None);
                offsets.try_each(|end| {
                    let Some(start) = last.replace(end) else { return Ok(()) };
                    let len = usize::try_from(end - start).unwrap_or(usize::MAX).saturating_mul(2 * width);
                    let takes = len.saturating_add(HEAD + size_of::<u64>());
                    if taken > 0 && taken.saturating_add(takes) > most {
                        ends.push(slot);
                        taken = 0;
                    }
                    taken = taken.saturating_add(takes);
                    slot += 1;
                    Ok(())
                })?;
                ends.push(count);
                Ok(ends)
            }
        }
    }
}

/// Consecutive slots of the result, in memory.
#[derive(Debug)]
struct Window {
    first: usize,
    bytes: Vec<u8>,
    /// The start of each slot, and the end of the last one; empty if all have `width` bytes.
    starts: Vec<usize>,
    width: usize,
}

impl Window {
    fn open(layout: &Layout<'_>, slots: Range<usize>) -> Result<Window, ErrorKind> {
        let mut starts = Vec::new();
        let (Layout::Fixed { width, .. } | Layout::Variable { width, .. }) = *layout;
        let len = match layout {
            Layout::Fixed { .. } => slots.len() * width,
            Layout::Variable { offsets, .. } if slots.is_empty() || offsets.len() == 0 => 0,
            Layout::Variable { offsets, .. } => {
                let (mut buffer, mut first) = (Vec::new(), None);
                let mut at = |&offset: &i64| {
                    let numbers = usize::try_from(offset - *first.get_or_insert(offset));
                    numbers.unwrap_or(usize::MAX).saturating_mul(width)
                };
                for range in numeric::chunks(slots.len() + 1) {
                    let range = slots.start + range.start..slots.start + range.end;
                    starts.extend(offsets.read(range, &mut buffer)?.iter().map(&mut at));
                }
                starts.last().copied().unwrap_or(0)
            }
        };
        // `vec!` aborts the process if the allocation fails, so try it first.
        Vec::<u8>::new().try_reserve_exact(len).map_err(|_| ErrorKind::memory(len))?;
        Ok(Window { first: slots.start, bytes: vec![0; len], starts, width })
    }

    /// The range of a slot in `bytes`.
    fn span(&self, slot: usize) -> Range<usize> {
        let at = slot - self.first;
        match self.starts.get(at..at + 2) {
            Some(&[start, end]) => start..end,
            _ => at * self.width..(at + 1) * self.width,
        }
    }

    fn place(&mut self, slot: usize, bytes: &[u8]) {
        let span = self.span(slot);
        self.bytes[span].copy_from_slice(bytes);
    }

    /// Places all pieces of the window.
    fn fill(&mut self, pieces: ScratchWriter) -> Result<(), ErrorKind> {
        let scratch = pieces.finish()?;
        let mut bytes = vec![0; usize::try_from(scratch.len()).unwrap_or(usize::MAX)];
        scratch.read(0, &mut bytes)?;
        let mut rest = &bytes[..];
        while let Some((slot, tail)) = rest.split_first_chunk() {
            let slot = index(u32::from_le_bytes(*slot));
            let (piece, tail) = tail.split_at(self.span(slot).len());
            self.place(slot, piece);
            rest = tail;
        }
        Ok(())
    }
}
