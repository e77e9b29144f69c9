//! Reading single values of an opened column.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use byteorder::{ByteOrder, LittleEndian};

use super::block::{Block, Encoding, line};
use super::fast_get::FastPath;
use super::table::Table;
use super::{Numeric, Transform};
use crate::bits;
use crate::error::{Error, ErrorKind, Result};
use crate::jump::{Jump, JumpTables};
use crate::source::SectionBytes;

/// Reads the values of a column, in any order and from any thread.
///
/// # Cost
///
/// A value costs one jump entry of 16 or 32 bytes and one load of 8. A batch locates a block once for every run of
/// indices in it. Allocations: the table of values at opening (at most 2 KiB), the jump table if it has to be built
/// (up to 32 bytes a block), and the fast path.
///
/// # Examples
///
/// ```
/// # use docvalues_format::jump::JumpTables;
/// # use docvalues_format::numeric::{self, NumericOptions, NumericReader, Pruning, Role};
/// # use docvalues_format::source::Owned;
/// let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: true };
/// let column = numeric::encode(&[20_i64, 21, 19, 25, 20], &options);
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
    /// Boxed, as most open columns are never read by single look-ups.
    pub(super) fast_path: OnceLock<Box<FastPath>>,
    /// The number of look-ups before the fast path was built, or that a thread builds it.
    pub(super) lookups: AtomicU32,
}

impl<B: SectionBytes> NumericReader<B> {
    /// Opens a column. Reads nothing but its table of values.
    ///
    /// # Errors
    ///
    /// When the lengths of the sections disagree, or the table cannot be read.
    pub fn open(mut meta: Numeric<B>, mode: JumpTables) -> Result<NumericReader<B>> {
        meta.check(|section| section.len() as u64).map_err(|kind| meta.refuse(kind))?;
        let table = match &meta.transform {
            Transform::Table(section) => Table::open(section)?,
            Transform::Constant(_) | Transform::Affine { .. } | Transform::Decimal(_) => Table::none(),
        };
        let jump = Jump::open(mode, meta.jump.take(), &meta)?;
        Ok(NumericReader { meta, jump, table, fast_path: OnceLock::new(), lookups: AtomicU32::new(0) })
    }

    /// The number of values.
    #[inline]
    pub fn count(&self) -> u64 {
        self.meta.count
    }

    /// The column's description in the directory. Its `jump` is `None`: the reader has it.
    #[inline]
    pub fn meta(&self) -> &Numeric<B> {
        &self.meta
    }

    /// Heap bytes of the table of values, the jump table if it was built, and the fast path.
    pub fn heap_bytes(&self) -> usize {
        let fast_path = self.fast_path.get().map_or(0, |path| size_of_val(&**path));
        self.table.heap_bytes() + self.jump.heap_bytes() + fast_path
    }

    /// Value `index`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] if there is no such value; otherwise when bytes on the way to it cannot be read or
    /// are illegal.
    #[inline]
    pub fn get(&self, index: u64) -> Result<i64> {
        match self.get_verified(index) {
            Some(value) => Ok(value),
            None => self.get_checked(index),
        }
    }

    /// [`get`](Self::get) of a value that the fast path does not return. Verifies the bytes on the way.
    #[inline(never)]
    fn get_checked(&self, index: u64) -> Result<i64> {
        self.read_one(index, self.is_unread())
    }

    /// Whether no value was looked up by itself. The first look-up may be the only one.
    fn is_unread(&self) -> bool {
        self.fast_path.get().is_none() && self.lookups.load(Ordering::Relaxed) == 0
    }

    /// Value `index`. With `once`, none near it is expected to be read.
    fn read_one(&self, index: u64, once: bool) -> Result<i64> {
        self.in_count(index)?;
        if let Transform::Constant(value) = self.meta.transform {
            return Ok(value);
        }
        let (block, i) = self.meta.split(index);
        let header = self.locate(block)?;
        let value = match once {
            true => self.value_by(&header, i, |section, byte| section.copy::<8>(byte))?,
            false => self.value_in(&header, i)?,
        };
        self.build_fast_path();
        Ok(value)
    }

    /// Values `index` and `index + 1`, such as the start and the end of a range.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), for both.
    #[inline]
    pub fn get_pair(&self, index: u64) -> Result<(i64, i64)> {
        match self.pair_verified(index) {
            Some(pair) => Ok(pair),
            None => self.get_both(index),
        }
    }

    /// [`get_pair`](Self::get_pair) of values that the fast path does not return.
    #[inline(never)]
    fn get_both(&self, index: u64) -> Result<(i64, i64)> {
        let next = index.saturating_add(1);
        match self.is_unread() {
            true => Ok((self.read_one(index, true)?, self.read_one(next, true)?)),
            false => Ok((self.get(index)?, self.get(next)?)),
        }
    }

    /// The header of `block`, which must be one of the column's.
    pub(super) fn locate(&self, block: u64) -> Result<Block> {
        let block = usize::try_from(block).map_err(|_| self.no_value(block))?;
        self.jump.locate(&self.meta, block)
    }

    /// Value `i` of a block; public for benches that find the block in other ways.
    ///
    /// A residual of no bits is loaded, too, and masked to 0, which saves a branch.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    #[doc(hidden)]
    #[inline(always)]
    pub fn value_in(&self, header: &Block, i: usize) -> Result<i64> {
        self.value_by(header, i, |section, byte| section.array::<8>(byte).copied())
    }

    /// Value `i` of a block, whose 8 bytes `load` returns.
    #[inline(always)]
    fn value_by(
        &self,
        header: &Block,
        i: usize,
        load: impl FnOnce(&B, usize) -> Result<[u8; 8]>,
    ) -> Result<i64> {
        let section = self.meta.section()?;
        let (byte, shift) = bits::place(header.width, i);
        let byte = usize::try_from(header.payload).unwrap_or(usize::MAX).saturating_add(byte);
        if byte > section.len() {
            return Err(self.meta.outside(byte));
        }
        let add = match header.encoding {
            Encoding::Constant | Encoding::Packed => header.base,
            Encoding::Linear => header.base.wrapping_add(line(header.slope, i)),
        };
        let residual = LittleEndian::read_u64(&load(section, byte)?) >> shift & bits::mask(header.width);
        self.value(add.wrapping_add(residual))
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

    /// Returns an error if there is no value `index`.
    #[inline]
    pub(super) fn in_count(&self, index: u64) -> Result<()> {
        if index < self.meta.count { Ok(()) } else { Err(self.no_value(index)) }
    }

    #[cold]
    pub(super) fn no_value(&self, index: u64) -> Error {
        let (found, max) = (index, self.meta.count.saturating_sub(1));
        self.meta.refuse(ErrorKind::OutOfRange { what: "value index", found, max })
    }

    /// The error of a number without an entry in the table of values.
    #[cold]
    pub(super) fn no_entry(&self, number: u64) -> Error {
        let (found, max) = (number, (self.table.len() as u64).saturating_sub(1));
        self.meta.refuse(ErrorKind::OutOfRange { what: "index into the values table", found, max })
    }
}

/// The value of `number`: `base + number * gcd`, modulo 2^64.
#[inline(always)]
pub(super) fn affine(base: i64, gcd: u64, number: u64) -> i64 {
    base.wrapping_add(number.wrapping_mul(gcd).cast_signed())
}
