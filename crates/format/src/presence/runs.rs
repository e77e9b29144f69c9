//! The *runs* block: runs of documents that all have a value.
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 2 × `runs` | `starts[i]`, u16 | the first document of each run, ascending |
//! | 2 × `runs` | 2 × `runs` | `befores[i]`, u16 | values before each run, ascending from 0 |
//! | 4 × `runs` | 0 or 4 | zero | up to a multiple of 8 |
//!
//! The length of a run is the difference to the next `befores`, that of the last one the difference to the block's
//! `values`. No run is empty and no two touch. `rank` is a binary search over the starts: at most eleven steps, because
//! more than 2,110 runs are longer than a bitmap.
//!
//! # Drawing
//!
//! Documents 10 to 39 and 50 to 99:
//!
//! ```text
//! starts    0a 00   32 00      10, 50
//! befores   00 00   1e 00       0, 30
//!
//! rank(60): the last run that begins at or before 60 begins at 50: 30 + (60 - 50) = 40
//! rank(45): the run before begins at 10 and has 30 documents, so 45 has no value
//! ```
//!
//! Starts and befores are separate arrays, so that the binary search reads only the starts. Runs occur if documents are
//! sorted, or written by several sources one after the other. Roaring's run containers store a start and a length.

use std::ops::Range;

use super::bitmap::{Words, number, ones, short, u16s};
use super::block::{Block, Probe};
use super::visitor::Visitor;
use crate::cursor::Put;
use crate::error::Result;
use crate::source::SectionBytes;

const FIELD: usize = size_of::<u16>();

/// Bytes of payload, without padding.
pub(super) const fn len(runs: u16) -> usize {
    runs as usize * 2 * FIELD
}

pub(super) fn encode(words: &Words, out: &mut Vec<u8>) {
    let (mut befores, mut next) = (Vec::new(), 0);
    for (value, low) in (0..).zip(ones(words)) {
        if low != next || value == 0 {
            out.put_u16(short(low));
            befores.push(short(value));
        }
        next = low + 1;
    }
    befores.into_iter().for_each(|before| out.put_u16(before));
}

/// The number of runs in `words`.
pub(super) fn count(words: &Words) -> u32 {
    let mut carry = 0;
    let begins = words.iter().map(|&word| {
        let begins = word & !(word << 1 | carry);
        carry = word >> 63;
        begins.count_ones()
    });
    begins.sum()
}

/// One run: its first document, and the range of its values.
struct Run {
    start: u32,
    values: Range<u32>,
}

/// The starts and the befores of a block.
struct Runs<'a> {
    starts: &'a [[u8; FIELD]],
    befores: &'a [[u8; FIELD]],
}

impl<'a> Runs<'a> {
    fn of<B: SectionBytes>(block: &Block<'a, B>) -> Result<Runs<'a>> {
        let (starts, befores) =
            u16s(block.slice(0..len(block.header.runs))?).split_at(block.header.runs.into());
        Ok(Runs { starts, befores })
    }

    /// Run `index`. Refuses one that does not exist or does not end within the block.
    fn run<B: SectionBytes>(&self, block: &Block<'_, B>, index: usize) -> Result<Run> {
        let disordered = "the runs of a presence block overlap, or do not ascend to its value count";
        let (Some(start), Some(before)) = (self.starts.get(index), self.befores.get(index)) else {
            return Err(block.broken(0, disordered));
        };
        let (start, before) = (number(start), number(before));
        let end = self.befores.get(index + 1).map_or(block.header.values, number);
        let inside = before < end && end <= block.header.values && start + (end - before) <= block.docs;
        match inside {
            true => Ok(Run { start, values: before..end }),
            false => Err(block.broken(index * FIELD, disordered)),
        }
    }
}

pub(super) fn probe<B: SectionBytes>(block: &Block<'_, B>, low: u32) -> Result<Probe> {
    let runs = Runs::of(block)?;
    let begun = runs.starts.partition_point(|start| number(start) <= low);
    let Some(index) = begun.checked_sub(1) else { return Ok(Probe { before: 0, present: false }) };
    let run = runs.run(block, index)?;
    // In damaged bytes the starts may not ascend, and the search may end at a start above `low`.
    let value = run.values.start + low.saturating_sub(run.start);
    Ok(Probe { before: value.min(run.values.end), present: value < run.values.end })
}

pub(super) fn visit<B: SectionBytes>(
    block: &Block<'_, B>,
    lows: Range<u32>,
    first: u32,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let runs = Runs::of(block)?;
    let begun = runs.starts.partition_point(|start| number(start) <= lows.start);
    let mut least = lows.start;
    for index in begun.saturating_sub(1)..runs.starts.len() {
        let run = runs.run(block, index)?;
        let (start, end) =
            (run.start.max(least), (run.start + run.values.end - run.values.start).min(lows.end));
        if run.start >= lows.end {
            break;
        }
        if start < end {
            visitor.run(first + start..first + end);
            least = end;
        }
    }
    Ok(())
}
