//! Values far apart: all places first, then all loads.
//!
//! When neighbours in a batch lie in different blocks, each value costs a jump entry and a load, and
//! the two depend on each other. Asked one after the other they are as slow as the memory; so the
//! entries of a whole stretch are read first, which do not depend on each other, and then all the
//! values, which do not either: the processor has many of them under way at once.

use byteorder::{ByteOrder, LittleEndian};

use super::batch::SKIP;
use super::block::line;
use super::read::affine;
use super::{NumericReader, NumericWalk, Transform};
use crate::bits;
use crate::error::Result;
use crate::source::SectionBytes;

/// Indices whose places are found before the first of their values is loaded.
pub(super) const SCATTER: usize = 64;

/// Where a number lies, and what makes it whole.
#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    /// The byte of the section in which the residual begins.
    byte: usize,
    shift: u32,
    mask: u64,
    /// What is added to the residual: the block's base and the line's rise.
    add: u64,
}

impl<B: SectionBytes> NumericReader<B> {
    /// The values of up to [`SCATTER`] `indices`, in any order; passes over [`SKIP`].
    pub(super) fn gather_scattered(
        &self,
        indices: &[u32],
        out: &mut [i64],
        walk: &mut NumericWalk,
    ) -> Result<()> {
        let mut probes = [Probe::default(); SCATTER];
        for (probe, &index) in probes.iter_mut().zip(indices).filter(|(_, index)| **index != SKIP) {
            *probe = self.probe(index, walk)?;
        }
        let section = self.meta.section()?;
        // One question for all: behind it, a load is checked for its bounds alone.
        let verified = section.verified();
        for ((probe, &index), out) in probes.iter().zip(indices).zip(out) {
            if index == SKIP {
                continue;
            }
            let word = match verified.and_then(|all| all.get(probe.byte..)?.first_chunk::<8>()) {
                Some(word) => word,
                None => section.array::<8>(probe.byte)?,
            };
            let number = probe.add.wrapping_add(LittleEndian::read_u64(word) >> probe.shift & probe.mask);
            *out = match self.meta.transform {
                Transform::Constant(value) => value,
                Transform::Affine { base, gcd } => affine(base, gcd, number),
                Transform::Table(_) => self.entry(number)?,
            };
        }
        Ok(())
    }

    #[inline]
    fn probe(&self, index: u32, walk: &mut NumericWalk) -> Result<Probe> {
        let index = u64::from(index);
        self.in_count(index)?;
        let (block, i) = self.meta.split(index);
        let header = self.locate(block, walk)?;
        let payload = self.meta.payload(block, &header)?;
        let (byte, shift) = bits::place(header.width, i);
        Ok(Probe {
            byte: payload.start + byte,
            shift,
            mask: bits::mask(header.width),
            add: header.base.wrapping_add(line(header.slope, i)),
        })
    }
}
