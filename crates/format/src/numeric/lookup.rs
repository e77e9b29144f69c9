//! Look-ups in a column whose bytes are all verified, in as few instructions as possible.
//!
//! [`NumericReader::get`] tests for every value whether the column has blocks, which jump table it reads, and which
//! granules are verified. Once all bytes are verified, the answers stay the same. A [`Lookup`] keeps only the bytes and
//! the parameters of the column. The look-ups of a loop then take fewer places in the processor's reorder buffer, so the
//! cache misses of more of them overlap.

use std::ops::Deref;

use super::block::{FRACTION, LONG_LEN, SHORT_LEN, Stride, UNIT, line};
use super::decimal::Decimal;
use super::fast_get::{Blocks, OneBlock, words};
use super::read::affine;
use super::{NumericReader, Transform};
use crate::bits;
use crate::source::SectionBytes;

/// The most values that [`Lookup::run`] reads.
pub const RUN: usize = 8;

/// Values of a run that are read by one load, if they have at most [`QUARTER`] bits each.
const TOGETHER: usize = 4;

/// The bits of a value of which one load, of at least 57 bits, holds four.
const QUARTER: u64 = 14;

/// The bits of a value of which one load holds two.
const HALF: u64 = 28;

/// All that a single look-up needs of a verified column, with bytes of the type `P`.
///
/// The bytes may be those of a mapped file, which can change, so every load is checked against their end.
///
/// ```
/// # use docvalues_format::jump::JumpTables;
/// # use docvalues_format::numeric::{self, NumericOptions, NumericReader, Role};
/// # use docvalues_format::source::{Owned, SectionBytes as _};
/// let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: false };
/// let column = numeric::encode(&[20_i64, 21, 19, 25, 20], &options);
/// let column = column.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = NumericReader::open(column, JumpTables::Baked)?;
///
/// assert_eq!(reader.get(3)?, 25); // checks the header of the block
/// let lookup = reader.lookup(|section, start| section.verified()?.get(start..)).expect("bytes in memory");
/// assert_eq!((lookup.get(3), lookup.get(5)), (Some(25), None));
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Lookup<P> {
    /// The number of values.
    count: u64,
    layout: Layout<P>,
    /// The number is mapped to `base + gcd * number`.
    base: i64,
    gcd: u64,
    meaning: Meaning,
    /// The section of the blocks; of a single block, its residuals and the bytes after them.
    values: P,
}

/// The kind of the mapped number.
#[derive(Debug)]
enum Meaning {
    /// The value itself.
    Value,
    /// An index into the table of values.
    Index(Box<[i64]>),
    /// The number of a decimal.
    Decimal(Decimal),
}

#[derive(Debug)]
enum Layout<P> {
    /// One block of residuals of values, with a `gcd` of 1. Its base is part of the column's.
    Plain { width: u64, mask: u64 },
    /// One block, with the slope of its line. Its base is part of the column's.
    One { width: u64, mask: u64, slope: i64 },
    /// Several blocks without lines, and the greatest place in a block.
    Packed { shift: u8, last: u64, table: P },
    /// Several blocks with lines. A slope times a place fits an i64.
    Linear { shift: u8, last: u64, table: P },
}

impl<P: Deref<Target = [u8]>> Lookup<P> {
    /// Look-ups of `count` integers of `width` bits, which are [packed](crate::bits) from the first of `values` on: of
    /// `base + gcd * integer`, modulo 2^64, or of the entry of a `table` at that index, unless the table is empty. `None` if no
    /// integer has this width, or the integers have 2^64 bits or more.
    ///
    /// For readers of other formats. A look-up loads eight bytes: if `values` end before, it returns `None`.
    pub fn of_packed(
        values: P,
        (width, count): (u8, u64),
        (base, gcd): (i64, u64),
        table: &[i64],
    ) -> Option<Lookup<P>> {
        if !bits::is_width(width) {
            return None;
        }
        let (width, mask) = (u64::from(width), bits::mask(width));
        // So that the place of no integer wraps.
        count.checked_mul(width)?;
        let layout = match gcd == 1 && table.is_empty() {
            true => Layout::Plain { width, mask },
            false => Layout::One { width, mask, slope: 0 },
        };
        let meaning = if table.is_empty() { Meaning::Value } else { Meaning::Index(table.into()) };
        Some(Lookup { count, layout, base, gcd, meaning, values })
    }

    /// Value `index`; `None` if there is none.
    ///
    /// If the bytes changed since they were verified, it may be any value, or `None`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in sections that lie in memory")]
    #[expect(clippy::cast_sign_loss, reason = "indices that are too large are in no table")]
    pub fn get(&self, index: u64) -> Option<i64> {
        if index >= self.count {
            return None;
        }
        // First, and with the fewest loads: of these, the processor can have fewer under way than of other instructions.
        if let Layout::Plain { width, mask } = &self.layout {
            let residual = self.word(0, index.wrapping_mul(*width))? & *mask;
            return Some(affine(self.base, 1, residual));
        }
        let number = match &self.layout {
            Layout::Plain { .. } => return None,
            Layout::One { width, mask, slope } => {
                let residual = self.word(0, index.wrapping_mul(*width))? & *mask;
                if *slope == 0 { residual } else { residual.wrapping_add(line(*slope, index as usize)) }
            }
            Layout::Packed { shift, last, table } => {
                let headers = table.as_chunks::<SHORT_LEN>().0;
                let [base, tags] = words(headers.get((index >> *shift) as usize)?);
                self.in_block(base, tags, index & *last)?
            }
            Layout::Linear { shift, last, table } => {
                let headers = table.as_chunks::<LONG_LEN>().0;
                let [base, tags, slope, _] = words(headers.get((index >> *shift) as usize)?);
                let i = index & *last;
                let rise = slope.cast_signed().wrapping_mul(i.cast_signed()) >> FRACTION;
                self.in_block(base, tags, i)?.wrapping_add(rise.cast_unsigned())
            }
        };
        let value = affine(self.base, self.gcd, number);
        match &self.meaning {
            Meaning::Value => Some(value),
            Meaning::Index(values) => values.get(value as usize).copied(),
            Meaning::Decimal(decimal) => Some(decimal.value(value.cast_unsigned())),
        }
    }

    /// Values `index` and `index + 1`, such as the start and the end of a list; `None` if there are not both.
    ///
    /// If the bytes changed since they were verified, they may be any values, or `None`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in sections that lie in memory")]
    pub fn pair(&self, index: u64) -> Option<[i64; 2]> {
        let next = index.checked_add(1)?;
        if next >= self.count {
            return None;
        }
        // As offsets are encoded: one header, and in most cases one load, for both.
        if let (Layout::Linear { shift, last, table }, Meaning::Value) = (&self.layout, &self.meaning) {
            let headers = table.as_chunks::<LONG_LEN>().0;
            let [base, tags, slope, _] = words(headers.get((index >> *shift) as usize)?);
            let (i, width, slope) = (index & *last, tags >> 8 & 0xFF, slope.cast_signed());
            if i < *last && width <= HALF {
                let mut residuals = self.word((tags >> 16) * UNIT, i * width)?;
                let (mut product, mut pair) = (slope.wrapping_mul(i.cast_signed()), [0; 2]);
                for value in &mut pair {
                    let rise = (product >> FRACTION).cast_unsigned();
                    let residual = residuals & bits::MASKS[width as usize];
                    *value = affine(self.base, self.gcd, base.wrapping_add(residual).wrapping_add(rise));
                    (residuals, product) = (residuals >> width, product.wrapping_add(slope));
                }
                return Some(pair);
            }
        }
        Some([self.get(index)?, self.get(next)?])
    }

    /// Writes the `len` values from `start` on to `out`, converted by `of`. The rest of `out` may be overwritten.
    ///
    /// `None` if there are not as many values, or `len` exceeds [`RUN`]; `out` may be overwritten, too. If the bytes changed
    /// since they were verified, the values may be any, or `None`.
    #[inline(always)]
    pub fn run<T>(&self, start: u64, len: usize, out: &mut [T; RUN], of: impl Fn(i64) -> T) -> Option<()> {
        if start.checked_add(len as u64)? > self.count || len > RUN {
            return None;
        }
        if let Layout::Plain { width, mask } = &self.layout
            && *width <= QUARTER
        {
            let (width, mask, base) = (*width, *mask, self.base);
            // Always as many as fit, without a loop of `len`. The CPU often mispredicts where such a loop ends, and would
            // notice only after the cache miss of the list's offsets.
            for (part, out) in (0..).zip(out.as_chunks_mut::<TOGETHER>().0) {
                let first = start.wrapping_add(part * TOGETHER as u64);
                let residuals = self.word(0, first.wrapping_mul(width))?;
                for (i, out) in (0..).zip(out) {
                    *out = of(affine(base, 1, residuals >> (i * width) & mask));
                }
            }
            return Some(());
        }
        for (index, out) in (start..).zip(&mut out[..len]) {
            *out = of(self.get(index)?);
        }
        Some(())
    }

    /// Number `i` of a block with this base and these tags, without the rise of its line.
    #[inline(always)]
    fn in_block(&self, base: u64, tags: u64, i: u64) -> Option<u64> {
        let width = tags >> 8 & 0xFF;
        let residual = self.word((tags >> 16) * UNIT, i.wrapping_mul(width))? & bits::MASKS[width as usize];
        Some(base.wrapping_add(residual))
    }

    /// The bits from `bit` after byte `start` on, at least 57 of them. `start` is below 2^51.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "places in sections that lie in memory")]
    fn word(&self, start: u64, bit: u64) -> Option<u64> {
        // Neither sum can wrap, so one comparison checks both ends.
        let byte = (start + bit / 8) as usize;
        let word: &[u8; 8] = self.values.get(byte..byte.wrapping_add(8))?.first_chunk()?;
        Some(u64::from_le_bytes(*word) >> (bit % 8))
    }
}

impl<B: SectionBytes> NumericReader<B> {
    /// All that look-ups need, if every byte is verified, and look-ups by [`get`](Self::get) checked the headers of the
    /// blocks. O(1).
    ///
    /// `keep` returns the bytes of a verified section from a place on, including the tail. `None` is not an error: use
    /// `get` then. Constant columns, blocks with steep lines, and jump tables that were built on first use have no `Lookup`.
    pub fn lookup<'a, P>(&'a self, keep: impl Fn(&'a B, usize) -> Option<P>) -> Option<Lookup<P>> {
        let path = self.fast_path.get().filter(|path| path.count > 0)?;
        let section = self.meta.blocks.as_ref().filter(|section| section.verified().is_some())?;
        let (start, layout) = match path.blocks {
            Blocks::Plain(OneBlock { payload, width, mask }) if path.gcd == 1 => {
                (payload, Layout::Plain { width, mask })
            }
            Blocks::Plain(OneBlock { payload, width, mask }) => {
                (payload, Layout::One { width, mask, slope: 0 })
            }
            Blocks::One(OneBlock { payload, width, mask }, slope) => {
                (payload, Layout::One { width, mask, slope })
            }
            Blocks::Several { steep: true, .. } => return None,
            Blocks::Several { shift, last, stride: Stride::Short, .. } => {
                (0, Layout::Packed { shift, last, table: keep(self.jump.in_file()?, 0)? })
            }
            Blocks::Several { shift, last, stride: Stride::Long, .. } => {
                (0, Layout::Linear { shift, last, table: keep(self.jump.in_file()?, 0)? })
            }
        };
        let values = keep(section, start)?;
        // Last, as it may allocate, and this is called after each look-up until it returns a `Lookup`.
        let meaning = match self.meta.transform {
            Transform::Constant(_) => return None,
            Transform::Affine { .. } => Meaning::Value,
            Transform::Table(_) => Meaning::Index(self.table.values().into()),
            Transform::Decimal(decimal) => Meaning::Decimal(decimal),
        };
        Some(Lookup { count: path.count, layout, base: path.base, gcd: path.gcd, meaning, values })
    }
}
