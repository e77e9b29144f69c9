//! What a single look-up needs of a column, in one line of memory.

use byteorder::{ByteOrder, LittleEndian};

use super::block::line;
use super::read::affine;
use super::{NumericReader, Transform};
use crate::bits;
use crate::prefetch::prefetch;
use crate::source::{SectionBytes, TAIL};

/// A column of one block, of which all bytes were checked: everything that leads to a value, in 56 bytes.
///
/// For those who ask many columns for a value each. From a [`NumericReader`] to a value it is about a dozen lines of memory
/// (the reader, its jump table, the section, what is known of its granules, what keeps the mapping), each known by the one
/// before; in one column they stay in the cache, in hundreds of columns they do not. From one of these in an array it is two
/// lines, or one if every value is on a line or the same.
///
/// ```
/// # use docvalues_format::jump::JumpTables;
/// # use docvalues_format::numeric::{self, NumericOptions, NumericReader, Role};
/// # use docvalues_format::source::Owned;
/// let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: false };
/// let column = numeric::encode(&[20, 21, 19, 25, 20], &options);
/// let column = column.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = NumericReader::open(column, JumpTables::Baked)?;
///
/// let direct = reader.direct().expect("one block, in memory");
/// assert_eq!((direct.get(3), direct.get(5)), (Some(25), None));
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Direct<'a> {
    /// The residuals, and what is behind them. It may be mapped, and change behind our back: every load is compared with
    /// where it ends.
    bytes: &'a [u8],
    count: u64,
    /// The value of a residual 0 at the beginning of the line.
    base: i64,
    gcd: u64,
    slope: i64,
    width: u8,
}

const _: () = assert!(size_of::<Direct<'_>>() <= 64);

/// The residuals of no bits: no line of a column is touched for them.
static ZEROS: [u8; TAIL] = [0; TAIL];

impl Default for Direct<'_> {
    fn default() -> Self {
        Direct::EMPTY
    }
}

impl Direct<'_> {
    /// Without values.
    pub const EMPTY: Direct<'static> =
        Direct { bytes: &ZEROS, count: 0, base: 0, gcd: 0, slope: 0, width: 0 };

    /// Value `index`; `None` if there is none.
    #[inline(always)]
    pub fn get(&self, index: u64) -> Option<i64> {
        let i = usize::try_from(index).ok().filter(|_| index < self.count)?;
        let (byte, shift) = bits::place(self.width, i);
        let word: &[u8; 8] = self.bytes.get(byte..)?.first_chunk()?;
        let residual = LittleEndian::read_u64(word) >> shift & bits::mask(self.width);
        // What is added to numbers before they are multiplied is in `base`: modulo 2^64 that is the same.
        Some(affine(self.base, self.gcd, residual.wrapping_add(line(self.slope, i))))
    }

    /// Tells the processor that value `index`, if there is one, will be asked for soon.
    #[inline(always)]
    pub fn prefetch(&self, index: u64) {
        let (byte, _) = bits::place(self.width, usize::try_from(index).unwrap_or(0));
        prefetch(self.bytes.as_ptr().wrapping_add(byte));
    }
}

impl<B: SectionBytes> NumericReader<B> {
    /// The column in one line of memory: if it is constant, or one block of differences from its smallest value or from a
    /// line, all of which was checked by now.
    ///
    /// O(1). `None` says nothing of the column: [`get`](Self::get) does.
    pub fn direct(&self) -> Option<Direct<'_>> {
        let count = self.meta.count;
        let (base, gcd) = match self.meta.transform {
            Transform::Constant(base) => return Some(Direct { count, base, ..Direct::EMPTY }),
            Transform::Affine { base, gcd } => (base, gcd),
            Transform::Decimal(_) | Transform::Table(_) => return None,
        };
        if self.meta.block_count() != 1 {
            return None;
        }
        let section = self.meta.section().ok()?.verified()?;
        let header = self.locate(0).ok()?;
        let payload = self.meta.payload(0, &header).ok()?;
        let bytes = if header.width == 0 { &ZEROS } else { section.get(payload.start..)? };
        let base = affine(base, gcd, header.base);
        Some(Direct { bytes, count, base, gcd, slope: header.slope, width: header.width })
    }
}
