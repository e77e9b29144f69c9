//! A column of one block, in one cache line: for look-ups in many columns.

use byteorder::{ByteOrder, LittleEndian};

use super::block::line;
use super::read::affine;
use super::{NumericReader, Transform};
use crate::bits;
use crate::prefetch::prefetch;
use crate::source::{SectionBytes, TAIL};

/// A verified column of one block: all that a look-up needs, in 56 bytes. The default has no values.
///
/// For callers that read one value of each of many columns. A [`NumericReader`] reaches a value through about a dozen
/// dependent cache lines: the reader, its jump table, the section, the bits of its granules, the mapping. Those of
/// one column stay in the cache; those of hundreds of columns do not. From an array of `Direct`, a value is two cache
/// lines away, or one if residuals have no bits.
///
/// ```
/// # use docvalues_format::jump::JumpTables;
/// # use docvalues_format::numeric::{self, NumericOptions, NumericReader, Role};
/// # use docvalues_format::source::Owned;
/// let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: false };
/// let column = numeric::encode(&[20_i64, 21, 19, 25, 20], &options);
/// let column = column.try_map(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = NumericReader::open(column, JumpTables::Baked)?;
///
/// let direct = reader.direct().expect("one block, in memory");
/// assert_eq!((direct.get(3), direct.get(5)), (Some(25), None));
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Direct<'a> {
    /// The residuals and the bytes after them. A mapped file may change, so every load is checked against the end.
    bytes: &'a [u8],
    count: u64,
    /// The value of a residual of 0 at place 0.
    base: i64,
    gcd: u64,
    slope: i64,
    width: u8,
}

const _: () = assert!(size_of::<Direct<'_>>() <= 64);

/// Stands in for residuals of no bits, so that no cache line of the column is touched.
static ZEROS: [u8; TAIL] = [0; TAIL];

impl Default for Direct<'_> {
    fn default() -> Self {
        // Prefetching an address that is not mapped would search the page table each time.
        Direct { bytes: &ZEROS, count: 0, base: 0, gcd: 0, slope: 0, width: 0 }
    }
}

impl Direct<'_> {
    /// Value `index`; `None` if there is none.
    #[inline(always)]
    pub fn get(&self, index: u64) -> Option<i64> {
        let i = usize::try_from(index).ok().filter(|_| index < self.count)?;
        let (byte, shift) = bits::place(self.width, i);
        let word: &[u8; 8] = self.bytes.get(byte..)?.first_chunk()?;
        let residual = LittleEndian::read_u64(word) >> shift & bits::mask(self.width);
        // `base` includes the block's base times the divisor, which is the same modulo 2^64.
        Some(affine(self.base, self.gcd, residual.wrapping_add(line(self.slope, i))))
    }

    /// Prefetches value `index`, which need not exist.
    #[inline(always)]
    pub fn prefetch(&self, index: u64) {
        let (byte, _) = bits::place(self.width, usize::try_from(index).unwrap_or(0));
        prefetch(self.bytes.as_ptr().wrapping_add(byte));
    }
}

impl<B: SectionBytes> NumericReader<B> {
    /// The column in one cache line, if it is constant, or a single verified block with an affine transform.
    ///
    /// O(1). `None` is not an error: use [`get`](Self::get) then.
    pub fn direct(&self) -> Option<Direct<'_>> {
        let count = self.meta.count;
        let (base, gcd) = match self.meta.transform {
            Transform::Constant(base) => return Some(Direct { count, base, ..Direct::default() }),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_prefetches_memory_that_is_mapped() {
        let direct = Direct::default();
        assert!(std::ptr::eq(direct.bytes, &ZEROS[..]));
        assert_eq!(direct.get(0), None);
    }
}
