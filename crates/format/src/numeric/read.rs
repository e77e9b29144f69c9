//! An opened column of numbers, and one value of it.

use std::sync::OnceLock;

use byteorder::{ByteOrder, LittleEndian};

use super::block::{Block, Encoding, line};
use super::table::Table;
use super::{Numeric, ONE_BLOCK, Transform};
use crate::bits;
use crate::error::{Error, ErrorKind, Result};
use crate::jump::{Jump, JumpTables};
use crate::source::SectionBytes;

/// Reads the values of a column, in any order and from any thread.
///
/// # Cost
///
/// A value: one jump entry of 16 or 32 bytes and one load of 8. A batch finds each block once for every
/// run of indices that lie in it. Nothing is allocated but at opening (the table of values, at most
/// 2 KiB), when the jump table has to be built (32 bytes a block), and for the 8 positions of
/// [`JumpTables::Ignore`].
///
/// # Examples
///
/// ```
/// # use docvalues_format::jump::JumpTables;
/// # use docvalues_format::numeric::{self, NumericOptions, NumericReader, Pruning, Role};
/// # use docvalues_format::source::Owned;
/// let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: true };
/// let column = numeric::encode(&[20, 21, 19, 25, 20], &options);
/// let column = column.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = NumericReader::open(column, JumpTables::Baked)?;
///
/// let (mut values, mut warm) = ([0; 3], [0_u64]);
/// reader.gather(&[4, 0, 3], &mut values)?;
/// assert_eq!(values, [20, 20, 25]);
/// reader.filter(0..5, 21..=i64::MAX, &mut warm, &mut Pruning::default())?;
/// assert_eq!(warm, [0b01010]);
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
///
/// # Invariants
///
/// - The lengths of all sections fit the number of values; there are blocks unless the column is
///   constant.
/// - A value's index is compared with their number before its block is looked for.
#[derive(Debug)]
pub struct NumericReader<B> {
    pub(super) meta: Numeric<B>,
    pub(super) jump: Jump<B, Block>,
    pub(super) table: Table,
    /// Set by the first look-up of a column in one block. Apart: most columns that are open never have one.
    flat: OnceLock<Box<Flat>>,
}

/// All that [`get`](NumericReader::get) needs of a column in one block, beside a table of values.
#[derive(Debug)]
struct Flat {
    count: u64,
    /// Where the residuals begin in the section.
    payload: usize,
    width: u64,
    mask: u64,
    slope: i64,
    /// The value of a residual 0 at the beginning of the line; its place in the table, if there is one.
    base: i64,
    gcd: u64,
    has_table: bool,
}

impl<B: SectionBytes> NumericReader<B> {
    /// Opens a column whose sections were found; reads nothing but its table of values.
    ///
    /// # Errors
    ///
    /// When the lengths of the sections do not go together, or the table cannot be read.
    pub fn open(mut meta: Numeric<B>, mode: JumpTables) -> Result<NumericReader<B>> {
        meta.check(|section| section.len() as u64).map_err(|kind| meta.refuse(kind))?;
        let table = match &meta.transform {
            Transform::Table(section) => Table::open(section)?,
            Transform::Constant(_) | Transform::Affine { .. } | Transform::Decimal(_) => Table::default(),
        };
        let jump = Jump::open(mode, meta.jump.take(), &meta)?;
        Ok(NumericReader { meta, jump, table, flat: OnceLock::new() })
    }

    /// How many values there are.
    #[inline]
    pub fn count(&self) -> u64 {
        self.meta.count
    }

    /// What the directory says of the column. Its `jump` is `None`: see [`jump_table`](Self::jump_table).
    #[inline]
    pub fn meta(&self) -> &Numeric<B> {
        &self.meta
    }

    /// The baked jump table, if the file has one, in whatever mode the column is read.
    pub fn jump_table(&self) -> Option<&B> {
        self.jump.baked()
    }

    /// Bytes on the heap: the table of values, and the jump table if it was built.
    pub fn heap_bytes(&self) -> usize {
        let flat = self.flat.get().map_or(0, |flat| size_of_val(&**flat));
        self.table.heap_bytes() + self.jump.heap_bytes() + flat
    }

    /// Value `index`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] if there is none; otherwise when bytes on the way to it cannot be read,
    /// or hold what they may not.
    #[inline]
    pub fn get(&self, index: u64) -> Result<i64> {
        match self.known(index) {
            Some(value) => Ok(value),
            None => self.found(index),
        }
    }

    /// Value `index`, if all on the way to it was checked before and is what it should be; [`get`](Self::get)
    /// tells of the others.
    ///
    /// When look-ups miss the caches, the processor works on as many of them at once as it has room for
    /// their instructions. So there are few here, and none that makes an error.
    #[inline(always)]
    pub fn known(&self, index: u64) -> Option<i64> {
        match self.flat.get() {
            Some(flat) => self.known_flat(flat, index),
            None => self.known_in_blocks(index),
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "all residuals of the block lie in the section")]
    fn known_flat(&self, flat: &Flat, index: u64) -> Option<i64> {
        if index >= flat.count {
            return None;
        }
        let bit = index.wrapping_mul(flat.width);
        let word = self.meta.blocks.as_ref()?.peek::<8>(flat.payload.wrapping_add((bit / 8) as usize))?;
        let mut number = LittleEndian::read_u64(word) >> (bit % 8) & flat.mask;
        if flat.slope != 0 {
            number = number.wrapping_add(line(flat.slope, index as usize));
        }
        let value = affine(flat.base, flat.gcd, number);
        if flat.has_table { self.table.get(value.cast_unsigned()) } else { Some(value) }
    }

    // Apart, so that the shortest way is part of the caller's loop.
    #[inline(never)]
    fn known_in_blocks(&self, index: u64) -> Option<i64> {
        if index >= self.meta.count {
            return None;
        }
        let (table, blocks) = (self.jump.in_use(), self.meta.blocks.as_ref()?);
        let (Some(table), Some(bytes)) = (table.and_then(B::verified), blocks.verified()) else {
            return self.known_partly(index);
        };
        let ((block, i), stride) = (self.meta.split(index), self.meta.stride);
        // There are not as many blocks as would make it wrap.
        let at = usize::try_from(block).ok()?.wrapping_mul(stride.bytes());
        let header = Block::of(table.get(at..)?, stride)?;
        let (byte, shift) = bits::place(header.width, i);
        let byte =
            usize::try_from(header.payload).ok()?.checked_add(byte).filter(|&byte| byte <= blocks.len())?;
        let word = LittleEndian::read_u64(bytes.get(byte..)?.first_chunk::<8>()?);
        self.whole(number_of(&header, i, word >> shift & bits::mask(header.width)))
    }

    /// The same where not all bytes of the column were checked, or its headers are on the heap.
    #[inline(never)]
    fn known_partly(&self, index: u64) -> Option<i64> {
        if self.can_be_flat() {
            return None;
        }
        let (block, i) = self.meta.split(index);
        self.whole(self.known_in(&self.known_header(block)?, i)?)
    }

    #[inline]
    fn can_be_flat(&self) -> bool {
        let is_direct = matches!(self.meta.transform, Transform::Affine { .. } | Transform::Table(_));
        self.meta.block_shift == ONE_BLOCK && is_direct && !self.jump.is_ignored()
    }

    /// Makes the shortest way to the values of a column in one block.
    fn flatten(&self) {
        if !self.can_be_flat() {
            return;
        }
        let (base, gcd, has_table) = match self.meta.transform {
            Transform::Affine { base, gcd } => (base, gcd, false),
            _ => (0, 1, true),
        };
        let Ok(header) = self.locate(0) else { return };
        let Ok(payload) = self.meta.payload(0, &header) else { return };
        self.flat.get_or_init(|| {
            Box::new(Flat {
                count: self.meta.count,
                payload: payload.start,
                width: header.width.into(),
                mask: bits::mask(header.width),
                slope: header.slope,
                base: affine(base, gcd, header.base),
                gcd,
                has_table,
            })
        });
    }

    /// Values `index` and `index + 1`, under the same condition and if they are in one block.
    #[inline(always)]
    fn known_pair(&self, index: u64) -> Option<(i64, i64)> {
        let second = index.checked_add(1).filter(|&second| second < self.meta.count)?;
        let ((block, i), (next, k)) = (self.meta.split(index), self.meta.split(second));
        let header = self.known_header(block).filter(|_| block == next)?;
        Some((self.whole(self.known_in(&header, i)?)?, self.whole(self.known_in(&header, k)?)?))
    }

    /// The header of `block`, under the same condition.
    #[inline(always)]
    fn known_header(&self, block: u64) -> Option<Block> {
        if self.meta.block_shift == ONE_BLOCK {
            // It has no jump table, so its header was built one of, and stays on the heap.
            return self.jump.built()?.first().copied();
        }
        Block::peek(self.jump.in_use()?, self.meta.stride, usize::try_from(block).ok()?)
    }

    /// The value that `number` stands for, if it stands for one.
    #[inline(always)]
    fn whole(&self, number: u64) -> Option<i64> {
        // First, and not through a table of jumps: the usual one.
        if let Transform::Affine { base, gcd } = self.meta.transform {
            return Some(affine(base, gcd, number));
        }
        self.value(number).ok()
    }

    /// Number `i` of a block, under the same condition.
    #[inline(always)]
    fn known_in(&self, header: &Block, i: usize) -> Option<u64> {
        let section = self.meta.blocks.as_ref()?;
        let (byte, shift) = bits::place(header.width, i);
        let byte = usize::try_from(header.payload).ok()?.checked_add(byte)?;
        // What begins at the end of the payload is a residual of no bits.
        if byte > section.len() {
            return None;
        }
        let residual = LittleEndian::read_u64(section.peek::<8>(byte)?) >> shift & bits::mask(header.width);
        Some(number_of(header, i, residual))
    }

    /// [`get`](Self::get) of what is not [`known`](Self::known).
    #[inline(never)]
    fn found(&self, index: u64) -> Result<i64> {
        self.in_count(index)?;
        if let Transform::Constant(value) = self.meta.transform {
            return Ok(value);
        }
        let probe = self.probe(index)?;
        let value = self.value(probe.number(self.meta.section()?.array(probe.byte)?))?;
        self.flatten();
        Ok(value)
    }

    /// Values `index` and `index + 1`: where something begins and where it ends.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), for both.
    #[inline]
    pub fn get_pair(&self, index: u64) -> Result<(i64, i64)> {
        match self.known_pair(index) {
            Some(pair) => Ok(pair),
            None => Ok((self.get(index)?, self.get(index.saturating_add(1))?)),
        }
    }

    /// The header of `block`, which must be one of the column's.
    pub(super) fn locate(&self, block: u64) -> Result<Block> {
        let block = usize::try_from(block).map_err(|_| self.no_value(block))?;
        self.jump.locate(&self.meta, block)
    }

    /// Where number `index` lies, which there must be.
    #[inline(always)]
    pub(super) fn probe(&self, index: u64) -> Result<Probe> {
        let (block, i) = self.meta.split(index);
        match self.known_header(block) {
            Some(header) => self.probe_in(&header, i),
            None => self.probe_in(&self.locate(block)?, i),
        }
    }

    /// Where number `i` of a block lies.
    ///
    /// A residual of no bits has a place, too, and is a word that is shifted out: no branch for it.
    #[inline(always)]
    pub(super) fn probe_in(&self, header: &Block, i: usize) -> Result<Probe> {
        let (byte, shift) = bits::place(header.width, i);
        let byte = usize::try_from(header.payload).unwrap_or(usize::MAX).saturating_add(byte);
        if byte > self.meta.section()?.len() {
            return Err(self.meta.outside(byte));
        }
        let add = match header.encoding {
            Encoding::Constant | Encoding::Packed => header.base,
            Encoding::Linear => header.base.wrapping_add(line(header.slope, i)),
        };
        Ok(Probe { byte, shift, mask: bits::mask(header.width), add })
    }

    /// The value that `number` stands for.
    #[inline]
    pub(super) fn value(&self, number: u64) -> Result<i64> {
        match self.meta.transform {
            Transform::Constant(value) => Ok(value),
            Transform::Affine { base, gcd } => Ok(affine(base, gcd, number)),
            Transform::Decimal(decimal) => Ok(decimal.value(number)),
            Transform::Table(_) => self.entry(number),
        }
    }

    /// The value that `number` stands for in the table.
    #[inline]
    pub(super) fn entry(&self, number: u64) -> Result<i64> {
        self.table.get(number).ok_or_else(|| self.no_entry(number))
    }

    /// Refuses the index of no value.
    #[inline]
    pub(super) fn in_count(&self, index: u64) -> Result<()> {
        if index < self.meta.count { Ok(()) } else { Err(self.no_value(index)) }
    }

    #[cold]
    pub(super) fn no_value(&self, index: u64) -> Error {
        let (found, max) = (index, self.meta.count.saturating_sub(1));
        self.meta.refuse(ErrorKind::OutOfRange { what: "value index", found, max })
    }

    /// A number that the table of values has no entry for.
    #[cold]
    pub(super) fn no_entry(&self, number: u64) -> Error {
        let (found, max) = (number, (self.table.len() as u64).saturating_sub(1));
        self.meta.refuse(ErrorKind::OutOfRange { what: "place in the values table", found, max })
    }
}

/// Number `i` of a block, of which this is the residual.
#[inline(always)]
fn number_of(header: &Block, i: usize, residual: u64) -> u64 {
    // Blocks without a line have no slope.
    header.base.wrapping_add(residual).wrapping_add(line(header.slope, i))
}

/// Where a number lies, and what makes it whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// The byte of the section in which the residual begins.
    pub(super) byte: usize,
    shift: u32,
    mask: u64,
    /// What is added to the residual: the block's base and the line's rise.
    add: u64,
}

impl Probe {
    /// The number, given the eight bytes at its place.
    #[inline]
    pub(super) fn number(&self, word: &[u8; 8]) -> u64 {
        self.add.wrapping_add(LittleEndian::read_u64(word) >> self.shift & self.mask)
    }
}

/// The value of `number`: so many times the divisor above the smallest value.
#[inline]
pub(super) fn affine(base: i64, gcd: u64, number: u64) -> i64 {
    base.wrapping_add(number.wrapping_mul(gcd).cast_signed())
}
