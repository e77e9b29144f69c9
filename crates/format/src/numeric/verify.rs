//! Verifying every byte of a column, and the encodings that `dv info` prints.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use super::block::{Encoding, Stride};
use super::decimal::Decimal;
use super::decode::unpack;
use super::fine_zone;
use super::value_stats::{FINE_ZONE, min_max, min_max_of_all};
use super::zone::{self, Level, ZONE, ZONES_PER_ZONE};
use super::{BLOCK_SHIFTS, NumericReader, Transform};
use crate::error::{ErrorKind, Result};
use crate::id::MAX_DOCS;
use crate::jump::walk;
use crate::source::SectionBytes;

/// The most values for each byte of blocks: blocks of the largest size without residuals.
const MAX_VALUES_PER_BYTE: u64 = (1 << *BLOCK_SHIFTS.end()) / Stride::Short as u64;

/// The encodings of a column, displayed as `affine(gcd 60) packed(3-17)`, for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encodings {
    /// The transform, as text.
    pub transform: String,
    /// The encodings that occur, in tag order.
    pub blocks: Vec<BlockCount>,
}

/// The number of blocks of a column that have one encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockCount {
    /// The encoding.
    pub encoding: Encoding,
    /// The number of blocks; never 0.
    pub blocks: u64,
    /// Bits of a residual in the narrowest block.
    pub narrowest: u8,
    /// Bits of a residual in the widest block.
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

impl<B: SectionBytes> NumericReader<B> {
    /// Reads the whole column and checks that all its parts agree.
    ///
    /// Headers are legal and follow each other to the end of their section; the jump table repeats them; padding is
    /// zero; the table of values ascends; zones, fine zones and the column's bounds are those of its values.
    /// O(values).
    ///
    /// # Errors
    ///
    /// The first deviation from what the writer produces.
    pub fn verify(&self) -> Result<()> {
        self.verify_count()?;
        self.verify_table()?;
        self.verify_blocks()?;
        self.verify_numbers()?;
        self.verify_values()
    }

    /// Limits the number of values, so that verifying a hostile file ends: a single block without residuals may claim
    /// 2^40 values in 16 bytes.
    fn verify_count(&self) -> Result<()> {
        let Some(blocks) = &self.meta.blocks else { return Ok(()) };
        let max = (blocks.len() as u64).saturating_mul(MAX_VALUES_PER_BYTE).max(MAX_DOCS.into());
        let checked = ErrorKind::at_most("number of values", self.meta.count, max);
        self.meta.place().check(0, checked)
    }

    /// Checks that `base + q * gcd` does not wrap. A wrapped value could lie in range, and a filter that compares
    /// numbers would disagree with one that compares values.
    fn verify_numbers(&self) -> Result<()> {
        let max = match self.meta.transform {
            Transform::Affine { base, gcd } => self.meta.max.abs_diff(base) / gcd,
            Transform::Decimal(decimal) => decimal.largest(self.meta.max),
            Transform::Constant(_) | Transform::Table(_) => return Ok(()),
        };
        let mut numbers = [0; FINE_ZONE];
        self.each_block(0..self.meta.count, |block, header, within| {
            let residuals = self.meta.residuals(block, header, within.clone())?;
            for first in within.clone().step_by(FINE_ZONE) {
                let numbers = &mut numbers[..FINE_ZONE.min(within.end - first)];
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
        let values = self.table.values();
        let descends = values.windows(2).position(|pair| pair[0] >= pair[1]);
        let at = descends.map_or(0, |at| (at + 1) * size_of::<i64>());
        section.place().check(at, ErrorKind::rule(descends.is_none(), "the values table does not ascend"))?;
        let reaches = (values.first(), values.last()) == (Some(&self.meta.min), Some(&self.meta.max));
        let why = "the first or last entry of the values table differs from the smallest or largest value";
        section.place().check(0, ErrorKind::rule(reaches, why))
    }

    fn verify_blocks(&self) -> Result<()> {
        let Some(section) = &self.meta.blocks else { return Ok(()) };
        let (place, stride) = (section.place(), self.meta.stride);
        let mut header = Vec::with_capacity(stride.bytes());
        let end = walk(&self.meta, |block, at, step| {
            header.clear();
            step.entry.encode(stride, &mut header);
            let zeros = section.slice(at..at + stride.bytes())? == header;
            place.check(at, ErrorKind::rule(zeros, "reserved bytes of a block header are not zero"))?;
            let used = self.meta.values_in(block as u64) as u64 * u64::from(step.entry.width);
            if !used.is_multiple_of(64) {
                let (at, why) = (step.next - 8, "padding after a block's residuals is not zero");
                let zeros = u64::from_le_bytes(*section.array(at)?) >> (used % 64) == 0;
                place.check(at, ErrorKind::rule(zeros, why))?;
            }
            let Some(jump) = self.jump.baked() else { return Ok(()) };
            let at = block * stride.bytes();
            let same = jump.slice(at..at + stride.bytes())? == header;
            jump.place().check(at, ErrorKind::rule(same, "the jump entry of a block differs from its header"))
        })?;
        place.check(end, ErrorKind::rule(end == section.len(), "bytes after the last block"))
    }

    fn verify_values(&self) -> Result<()> {
        let (mut all, mut start) = (Vec::new(), 0);
        while self.meta.blocks.is_some() && start < self.meta.count {
            let end = self.meta.count.min(start + Level::Upper.values());
            let ends = self.ends_of(start..end)?;
            self.verify_zones(start / ZONE..end.div_ceil(ZONE), &ends)?;
            all.push(min_max_of_all(&ends));
            start = end;
        }
        let same = self.meta.blocks.is_none() || min_max_of_all(&all) == (self.meta.min, self.meta.max);
        self.meta
            .place()
            .check(0, ErrorKind::rule(same, "the column's bounds differ from those of its values"))
    }

    /// The smallest and the largest value of every fine zone of `range`.
    fn ends_of(&self, range: Range<u64>) -> Result<Vec<(i64, i64)>> {
        let mut values = [0; FINE_ZONE];
        let starts = range.clone().step_by(FINE_ZONE);
        let ends = starts.map(|start| {
            let len = FINE_ZONE.min(usize::try_from(range.end - start).unwrap_or(FINE_ZONE));
            self.decode(start..start + len as u64, &mut values[..len])?;
            Ok(min_max(&values[..len]))
        });
        ends.collect()
    }

    /// Compares the `lower` zones of an upper zone, the upper zone itself and their fine zones with the values, whose
    /// fine zones have these bounds (`ends`).
    fn verify_zones(&self, lower: Range<u64>, ends: &[(i64, i64)]) -> Result<()> {
        if let Some(zones) = &self.meta.zones {
            let upper = zone::read(&self.meta, zones, Level::Upper, lower.start / ZONES_PER_ZONE)?;
            let found = zone::read_all(&self.meta, zones, Level::Lower, lower.clone())?.chain([upper]);
            let expected = ends.chunks(fine_zone::PER_ZONE).chain([ends]).map(min_max_of_all);
            let same = found.map(RangeInclusive::into_inner).eq(expected);
            let why = "the bounds of a zone differ from those of its values";
            zones.place().check(0, ErrorKind::rule(same, why))?;
        }
        let Some(fine_zones) = &self.meta.fine_zones else { return Ok(()) };
        let found = fine_zone::read_zones(&self.meta, lower)?;
        let same = found.as_flattened() == fine_zone::encode(ends);
        let why = "a fine zone is not from the smallest to the largest of its values";
        fine_zones.place().check(0, ErrorKind::rule(same, why))
    }

    /// Counts the encodings of the column's blocks.
    ///
    /// Reads the header of every block and no values: O(blocks).
    ///
    /// # Errors
    ///
    /// When a header cannot be read or is illegal.
    pub fn encodings(&self) -> Result<Encodings> {
        let mut found =
            Encoding::ALL.map(|encoding| BlockCount { encoding, blocks: 0, narrowest: 64, widest: 0 });
        walk(&self.meta, |_, _, step| {
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
