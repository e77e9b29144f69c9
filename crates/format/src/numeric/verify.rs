//! Every byte of a column, compared with every other; and what `dv info` shows of it.

use std::fmt;

use super::batch::unpack;
use super::block::{Encoding, Stride};
use super::decimal::Decimal;
use super::stretch;
use super::survey::STRETCH;
use super::zone::{self, Level, ZONE};
use super::{BLOCK_SHIFTS, NumericReader, Transform};
use crate::error::{Error, ErrorKind, Result};
use crate::id::MAX_DOCS;
use crate::jump::{Chain, Step};
use crate::source::SectionBytes;

/// Values for each byte of blocks that are the largest there are and hold a header alone.
const MOST_PER_BYTE: u64 = (1 << *BLOCK_SHIFTS.end()) / Stride::Short as u64;

/// How a column is encoded. Shows as, for instance, `affine(gcd 60) packed(3-17)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encodings {
    /// The transform, in words.
    pub transform: String,
    /// The encodings that occur, in tag order.
    pub blocks: Vec<BlockCount>,
}

/// How many blocks of a column have one encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCount {
    /// The encoding.
    pub encoding: Encoding,
    /// How many blocks have it; never 0.
    pub blocks: u64,
    /// Bits of a residual in the narrowest of them.
    pub narrowest: u8,
    /// Bits of a residual in the widest.
    pub widest: u8,
}

impl fmt::Display for Encodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.transform)?;
        for BlockCount { encoding, narrowest, widest, .. } in &self.blocks {
            match encoding {
                Encoding::Constant => write!(f, " {}", encoding.name())?,
                _ if narrowest == widest => write!(f, " {}({widest})", encoding.name())?,
                _ => write!(f, " {}({narrowest}-{widest})", encoding.name())?,
            }
        }
        Ok(())
    }
}

/// The smallest and the largest of the values seen so far.
#[derive(Clone, Copy)]
struct Ends(i64, i64);

impl Ends {
    const NONE: Ends = Ends(i64::MAX, i64::MIN);

    fn with(self, other: Ends) -> Ends {
        Ends(self.0.min(other.0), self.1.max(other.1))
    }
}

impl<B: SectionBytes> NumericReader<B> {
    /// Reads everything, and compares it with everything else.
    ///
    /// Headers are legal and follow each other to the end of their section; the jump table repeats them;
    /// padding is zero; the table of values ascends; zones, stretches and the column's ends are those of its values.
    /// O(values).
    ///
    /// # Errors
    ///
    /// The first thing that is not as the writer leaves it.
    pub fn verify(&self) -> Result<()> {
        self.verify_count()?;
        self.verify_table()?;
        self.verify_blocks()?;
        self.verify_numbers()?;
        self.verify_values()
    }

    /// There are not so many values that looking at them would never end: a single block without residuals holds up to
    /// 2^40 in 16 bytes.
    fn verify_count(&self) -> Result<()> {
        let Some(blocks) = &self.meta.blocks else { return Ok(()) };
        let max = (blocks.len() as u64).saturating_mul(MOST_PER_BYTE).max(MAX_DOCS.into());
        match self.meta.count {
            found if found > max => {
                Err(self.meta.refuse(ErrorKind::OutOfRange { what: "number of values", found, max }))
            }
            _ => Ok(()),
        }
    }

    /// No number times the divisor leaves 64 bits: `base + q * gcd` would come round to a value in
    /// range, and a filter that compares numbers would not agree with one that compares values.
    fn verify_numbers(&self) -> Result<()> {
        let max = match self.meta.transform {
            Transform::Affine { base, gcd } => self.meta.max.abs_diff(base) / gcd,
            Transform::Decimal(decimal) => decimal.largest(self.meta.max),
            Transform::Constant(_) | Transform::Table(_) => return Ok(()),
        };
        let mut numbers = [0; STRETCH];
        self.each_block(0..self.meta.count, |block, header, within| {
            let residuals = self.meta.residuals(block, header, within.clone())?;
            for first in within.clone().step_by(STRETCH) {
                let numbers = &mut numbers[..STRETCH.min(within.end - first)];
                unpack(header, &residuals, first, numbers)?;
                if let Some(&found) = numbers.iter().find(|number| **number > max) {
                    let what = "number of a value";
                    return Err(self.meta.refuse(ErrorKind::OutOfRange { what, found, max }));
                }
            }
            Ok(())
        })
    }

    fn verify_table(&self) -> Result<()> {
        let Transform::Table(section) = &self.meta.transform else { return Ok(()) };
        let broken = |at, what| Err(Error::at(section.place(), at, ErrorKind::Broken(what)));
        if let Some(at) = self.table.values().windows(2).position(|pair| pair[0] >= pair[1]) {
            return broken((at + 1) * size_of::<i64>(), "the values table does not ascend");
        }
        match (self.table.values().first(), self.table.values().last()) {
            (Some(min), Some(max)) if (*min, *max) == (self.meta.min, self.meta.max) => Ok(()),
            _ => broken(0, "the values table does not reach from the smallest to the largest value"),
        }
    }

    fn verify_blocks(&self) -> Result<()> {
        let Some(section) = &self.meta.blocks else { return Ok(()) };
        let stride = self.meta.stride;
        let broken = |at, what| Err(Error::at(section.place(), at, ErrorKind::Broken(what)));
        let mut header = Vec::with_capacity(stride.bytes());
        let end = self.each_header(|block, at, step| {
            header.clear();
            step.entry.encode(stride, &mut header);
            if section.slice(at..at + stride.bytes())? != header {
                return broken(at, "bytes of a block header that should be zero");
            }
            let used = self.meta.values_in(block as u64) as u64 * u64::from(step.entry.width);
            if !used.is_multiple_of(64) {
                let word = u64::from_le_bytes(*section.array(step.next - 8)?);
                if word >> (used % 64) != 0 {
                    return broken(step.next - 8, "padding behind a block's residuals is not zero");
                }
            }
            if let Some(jump) = self.jump_table() {
                let at = block * stride.bytes();
                if jump.slice(at..at + stride.bytes())? != header {
                    let what = ErrorKind::Broken("the jump entry of a block is not its header");
                    return Err(Error::at(jump.place(), at, what));
                }
            }
            Ok(())
        })?;
        if end != section.len() {
            return broken(end, "bytes behind the last block");
        }
        Ok(())
    }

    /// Walks the chain, whatever the mode, and calls `f` with each block's number, offset and step.
    /// Returns where the last one ends.
    fn each_header(
        &self,
        mut f: impl FnMut(usize, usize, &Step<super::Block>) -> Result<()>,
    ) -> Result<usize> {
        let (mut at, mut values) = (0, 0);
        for block in 0..Chain::blocks(&self.meta) {
            let step = self.meta.step(block, at, values)?;
            f(block, at, &step)?;
            (at, values) = (step.next, step.values);
        }
        Ok(at)
    }

    fn verify_values(&self) -> Result<()> {
        let (mut all, mut upper) = (Ends::NONE, Ends::NONE);
        let mut stretches = Vec::new();
        let mut start = 0;
        while self.meta.blocks.is_some() && start < self.meta.count {
            let end = self.meta.count.min(start + Level::Lower.values());
            self.ends_of(start..end, &mut stretches)?;
            let lower = stretches.iter().fold(Ends::NONE, |all, &(min, max)| all.with(Ends(min, max)));
            (all, upper) = (all.with(lower), upper.with(lower));
            self.verify_zone(Level::Lower, start, lower)?;
            self.verify_stretches(start / ZONE, &stretches)?;
            if end.is_multiple_of(Level::Upper.values()) || end == self.meta.count {
                self.verify_zone(Level::Upper, end - 1, upper)?;
                upper = Ends::NONE;
            }
            start = end;
        }
        match self.meta.blocks.is_none() || (all.0, all.1) == (self.meta.min, self.meta.max) {
            true => Ok(()),
            false => Err(self.meta.refuse(ErrorKind::Broken("not the column's smallest and largest value"))),
        }
    }

    /// The smallest and the largest of every [`STRETCH`] of these values.
    fn ends_of(&self, range: std::ops::Range<u64>, ends: &mut Vec<(i64, i64)>) -> Result<()> {
        let mut values = [0; STRETCH];
        let mut start = range.start;
        ends.clear();
        while start < range.end {
            let len = STRETCH.min(usize::try_from(range.end - start).unwrap_or(STRETCH));
            let values = &mut values[..len];
            self.decode(start..start + len as u64, values)?;
            let all = values.iter().fold(Ends::NONE, |ends, &value| ends.with(Ends(value, value)));
            ends.push((all.0, all.1));
            start += len as u64;
        }
        Ok(())
    }

    /// Compares the zone of value `index` with what it holds.
    fn verify_zone(&self, level: Level, index: u64, ends: Ends) -> Result<()> {
        let Some(zones) = &self.meta.zones else { return Ok(()) };
        let zone = zone::read(&self.meta, zones, level, index / level.values())?;
        match (*zone.start(), *zone.end()) == (ends.0, ends.1) {
            true => Ok(()),
            false => {
                let what = ErrorKind::Broken("a zone is not the smallest and largest of its values");
                Err(Error::at(zones.place(), 0, what))
            }
        }
    }

    /// Compares the stretches of a zone with what their values, which have these `ends`, make of them.
    fn verify_stretches(&self, zone: u64, ends: &[(i64, i64)]) -> Result<()> {
        let Some(stretches) = &self.meta.stretches else { return Ok(()) };
        match stretch::read_zones(&self.meta, stretches, zone..zone + 1)?.as_flattened()
            == stretch::encode(ends)
        {
            true => Ok(()),
            false => {
                let what =
                    ErrorKind::Broken("a stretch is not from the smallest to the largest of its values");
                Err(Error::at(stretches.place(), 0, what))
            }
        }
    }

    /// Which encodings the column has, and how often.
    ///
    /// Reads the header of every block, and no value: O(blocks).
    ///
    /// # Errors
    ///
    /// When a header cannot be read, or holds what it may not.
    pub fn encodings(&self) -> Result<Encodings> {
        let mut found =
            Encoding::ALL.map(|encoding| BlockCount { encoding, blocks: 0, narrowest: 64, widest: 0 });
        self.each_header(|_, _, step| {
            let count = &mut found[step.entry.encoding as usize];
            count.blocks += 1;
            count.narrowest = count.narrowest.min(step.entry.width);
            count.widest = count.widest.max(step.entry.width);
            Ok(())
        })?;
        let name = self.meta.transform.name();
        let transform = match self.meta.transform {
            Transform::Constant(_) | Transform::Affine { gcd: 1, .. } => name.to_owned(),
            Transform::Affine { gcd, .. } => format!("{name}(gcd {gcd})"),
            Transform::Decimal(Decimal { gcd: 1, digits, .. }) => format!("{name}({digits})"),
            Transform::Decimal(Decimal { gcd, digits, .. }) => format!("{name}({digits}, gcd {gcd})"),
            Transform::Table(_) => format!("{name}({})", self.table.len()),
        };
        let blocks = found.into_iter().filter(|count| count.blocks > 0).collect();
        Ok(Encodings { transform, blocks })
    }
}
