//! The values of some indices: eight at a time where there is a kernel for it, and otherwise all places
//! first, then all loads.
//!
//! When neighbours in a batch lie in different blocks, each value costs a jump entry and a load, and
//! the two depend on each other. Asked one after the other they are as slow as the memory; so the
//! entries of a whole stretch are read first, which do not depend on each other, and then all the
//! values, which do not either: the processor has many of them under way at once. Where a stretch lies
//! in one block, its entry is read once.

use byteorder::{ByteOrder, LittleEndian};

use super::block::{Block, Encoding, line};
use super::read::{Probe, affine};
use super::simd::{self, Blocks, Numbers, Packed};
use super::{NumericReader, ONE_BLOCK, Transform};
use crate::bits;
use crate::error::Result;
use crate::source::SectionBytes;

/// Indices that are looked up one by one before a kernel is tried again.
const GROUP: usize = 8;

/// Indices whose places are found before the first of their values is loaded.
const STRETCH: usize = 64;

/// How many indices ahead of a load its bytes are asked for, where the place is known at once.
const AHEAD: usize = 64;

impl<B: SectionBytes> NumericReader<B> {
    /// The values of `indices`, in any order and more than once.
    ///
    /// O(indices).
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get); what `out` then holds is unspecified.
    ///
    /// # Panics
    ///
    /// If `indices` and `out` differ in length.
    pub fn gather(&self, indices: &[u32], out: &mut [i64]) -> Result<()> {
        assert_eq!(indices.len(), out.len(), "one place for every index");
        if indices.is_empty() {
            return Ok(());
        }
        if let Transform::Constant(value) = self.meta.transform {
            self.in_count_all(indices)?;
            out.fill(value);
            return Ok(());
        }
        let (mut at, header) = (0, self.only_header()?);
        loop {
            let known = self.gather_known(header.as_ref(), &indices[at..], &mut out[at..])?;
            at += known;
            if at == indices.len() {
                return Ok(());
            }
            // Where a kernel got stuck, it goes on soon.
            let next = match (known, &header) {
                (0, Some(_)) => indices.len(),
                (0, None) => indices.len().min(at + STRETCH),
                _ => indices.len().min(at + GROUP),
            };
            self.in_count_all(&indices[at..next])?;
            self.gather_one_by_one(header.as_ref(), &indices[at..next], &mut out[at..next])?;
            at = next;
        }
    }

    /// Refuses indices of which one is that of no value.
    fn in_count_all(&self, indices: &[u32]) -> Result<()> {
        self.in_count(indices.iter().copied().max().unwrap_or(0).into())
    }

    /// The header of the only block, if there is only one.
    pub(super) fn only_header(&self) -> Result<Option<Block>> {
        if self.meta.block_shift == ONE_BLOCK { self.locate(0).map(Some) } else { Ok(None) }
    }

    /// As many values, from the first one on, as are found by a kernel.
    fn gather_known(&self, header: Option<&Block>, indices: &[u32], out: &mut [i64]) -> Result<usize> {
        let done = self.numbers_known(header, self.added(), indices, out).unwrap_or(0);
        self.replace(&mut out[..done])?;
        Ok(done)
    }

    /// The numbers of those values, `add` added, and how many they are; `None` if no kernel is for these
    /// bytes.
    fn numbers_known(
        &self,
        header: Option<&Block>,
        add: i64,
        indices: &[u32],
        out: &mut [i64],
    ) -> Option<usize> {
        let (section, count) = (self.meta.section().ok()?, self.meta.count);
        let section = section.touched()?.until(section.len() + bits::OVERREAD)?;
        match header {
            Some(Block { encoding: Encoding::Linear, .. }) => None,
            Some(&Block { payload, width, base, .. }) => {
                let payload = usize::try_from(payload).ok().filter(|&at| at <= section.bytes.len())?;
                let numbers = Numbers { count, add: add.wrapping_add(base.cast_signed()) };
                Some(simd::gather_packed(Packed { section, payload, width }, numbers, indices, out))
            }
            None => {
                let (stride, shift, jump) = (self.meta.stride, self.meta.block_shift, self.jump.in_use()?);
                let table = jump.touched()?.until(jump.len())?;
                let blocks = Blocks { table, stride, section, shift };
                Some(simd::gather(blocks, Numbers { count, add }, indices, out))
            }
        }
    }

    /// The values of indices; of at most [`STRETCH`] where there are several blocks.
    fn gather_one_by_one(&self, header: Option<&Block>, indices: &[u32], out: &mut [i64]) -> Result<()> {
        if let Some(header) = header {
            return self.gather_block(header, indices, out);
        }
        if let Some(block) = self.block_of(indices) {
            return self.gather_block(&self.locate(block)?, indices, out);
        }
        let mut probes = [Probe::default(); STRETCH];
        self.find(indices, &mut probes)?;
        self.load(&probes[..indices.len()], out)
    }

    /// The block in which all `indices` lie.
    fn block_of(&self, indices: &[u32]) -> Option<u64> {
        let (least, greatest) = bits::ends(indices);
        let [first, last] = [least, greatest].map(|index| self.meta.split(index.into()).0);
        (first == last).then_some(first)
    }

    /// Finds the place of each of `indices`, and asks for the bytes there.
    fn find(&self, indices: &[u32], probes: &mut [Probe]) -> Result<()> {
        let section = self.meta.section()?;
        for (&index, probe) in indices.iter().zip(probes) {
            *probe = self.probe(index.into())?;
            section.prefetch(probe.byte);
        }
        Ok(())
    }

    /// The values at the places of `probes`.
    fn load(&self, probes: &[Probe], out: &mut [i64]) -> Result<()> {
        let section = self.meta.section()?;
        let number = |probe: &Probe| Ok(probe.number(section.array(probe.byte)?));
        let mut places = probes.iter().zip(out);
        match self.meta.transform {
            Transform::Affine { base, gcd } => places.try_for_each(|(probe, out)| {
                *out = affine(base, gcd, number(probe)?);
                Ok(())
            }),
            _ => places.try_for_each(|(probe, out)| {
                *out = self.value(number(probe)?)?;
                Ok(())
            }),
        }
    }

    /// The values of indices in the block of `header`.
    fn gather_block(&self, header: &Block, indices: &[u32], out: &mut [i64]) -> Result<()> {
        let number = |i, x| header.base.wrapping_add(line(header.slope, i)).wrapping_add(x);
        match (&self.meta.transform, header.encoding) {
            (Transform::Affine { base, gcd: 1 }, Encoding::Constant | Encoding::Packed) => {
                let start = affine(*base, 1, header.base);
                self.gather_residuals(header, indices, out, |_, x| Ok(affine(start, 1, x)))
            }
            (Transform::Affine { base, gcd }, _) => {
                self.gather_residuals(header, indices, out, |i, x| Ok(affine(*base, *gcd, number(i, x))))
            }
            (Transform::Table(_) | Transform::Constant(_), Encoding::Constant | Encoding::Packed) => {
                let start = header.base;
                self.gather_residuals(header, indices, out, |_, x| self.entry(start.wrapping_add(x)))
            }
            _ => self.gather_residuals(header, indices, out, |i, x| self.value(number(i, x))),
        }
    }

    /// What `value` makes of the places in the block, and of the residuals there.
    #[inline]
    fn gather_residuals(
        &self,
        header: &Block,
        indices: &[u32],
        out: &mut [i64],
        value: impl Fn(usize, u64) -> Result<i64>,
    ) -> Result<()> {
        let (section, width) = (self.meta.section()?, header.width);
        let payload = self.probe_in(header, 0)?.byte;
        let place = |index: u64| {
            let i = self.meta.split(index).1;
            let (byte, shift) = bits::place(width, i);
            (i, byte, shift)
        };
        // Loads that begin in the payload end here.
        let known = section.verified().and_then(|all| all.get(payload..section.len() + bits::OVERREAD));
        let mask = bits::mask(width);
        for (at, (&index, out)) in indices.iter().zip(out).enumerate() {
            if let Some(&next) = indices.get(at + AHEAD) {
                section.prefetch(payload.wrapping_add(place(next.into()).1));
            }
            let (i, byte, shift) = place(index.into());
            let word = match known.and_then(|known| known.get(byte..)?.first_chunk::<8>()) {
                Some(word) => word,
                None => section.array::<8>(self.probe_in(header, i)?.byte)?,
            };
            *out = value(i, LittleEndian::read_u64(word) >> shift & mask)?;
        }
        Ok(())
    }
}
