//! A blocked Bloom filter of ids: whether a segment may hold an id, from one cache line.
//!
//! # Layout
//!
//! The section is *lines* of 64 bytes, each of eight 64-bit words, little-endian. An id sets one bit in each word
//! of one line:
//!
//! ```text
//! hash     63                     32 31                      0
//!          `-------- high --------' `--------- low ---------'
//! line     high * lines >> 32
//! word i   bit  (low * SALTS[i] mod 2^32) >> 26
//! ```
//!
//! There are `keys * bits / 512` lines, rounded up. With 16 bits a key, the false-positive rate is about 1 in
//! 1,100.
//!
//! A look-up over many segments computes its bits once ([`Probe`]), and then reads one cache line for each segment.
//!
//! Sources: Putze, Sanders and Singler, *Cache-, hash- and space-efficient Bloom filters* (WEA 2007) for one line a
//! key; Apache Parquet's *split block Bloom filter* for one bit in each word and for the salts, with words of 32
//! bits. 64-bit words lose less on lines that hold more keys than others.

mod checked_lines;

use docvalues_format::error::{Error, ErrorKind, Result};
use docvalues_format::source::SectionBytes;

pub(crate) use checked_lines::{Lines, PrefetchAhead, ask};

/// Bytes of a line.
pub const LINE: usize = 64;

/// The most bits a key.
pub const MAX_BITS: u8 = 32;

/// The default bits a key: the best trade of size against false positives for random ids.
pub const DEFAULT_BITS: u8 = 16;

/// Words of a line.
const WORDS: usize = LINE / size_of::<u64>();

/// Odd multipliers, from the specification of Parquet.
const SALTS: [u32; WORDS] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// The bits of one id. All filters with the same seed share it.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Probe {
    bits: [u64; WORDS],
    hash: u64,
}

impl Probe {
    /// The bits of an id with this [`hash`](crate::hash::hash). O(1), a few nanoseconds.
    #[inline]
    pub fn new(hash: u64) -> Probe {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
        let low = hash as u32;
        let bits = SALTS.map(|salt| 1 << (low.wrapping_mul(salt) >> 26));
        Probe { bits, hash }
    }

    /// The hash of the id.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The offset of the id's line in a filter of `lines` lines.
    #[inline(always)]
    fn at(&self, lines: u64) -> usize {
        // There are fewer than 2^32 lines, so this does not overflow, and it is less than the section's length.
        ((self.hash >> 32).wrapping_mul(lines) >> 32) as usize * LINE
    }

    /// Whether all bits are set in `line`.
    #[inline(always)]
    fn is_in(&self, line: &[u8; LINE]) -> bool {
        let words = line.as_chunks::<8>().0;
        let missing = words
            .iter()
            .zip(&self.bits)
            .fold(0, |missing, (word, bits)| missing | bits & !u64::from_le_bytes(*word));
        missing == 0
    }
}

/// The number of lines for `keys` keys with `bits` bits each; 0 if either is 0.
pub fn lines(keys: u32, bits: u8) -> u64 {
    (u64::from(keys) * u64::from(bits)).div_ceil(LINE as u64 * 8)
}

/// Builds a Bloom filter.
#[derive(Debug)]
pub struct BloomFilterBuilder {
    bytes: Vec<u8>,
    lines: u64,
}

impl BloomFilterBuilder {
    /// An empty filter for `keys` keys with `bits` bits each, at most [`MAX_BITS`].
    pub fn new(keys: u32, bits: u8) -> BloomFilterBuilder {
        let lines = lines(keys, bits.min(MAX_BITS));
        // At most 16 GiB (32 bits a key, 2^32 keys), which only a 32-bit address space cannot hold.
        BloomFilterBuilder {
            bytes: vec![0; usize::try_from(lines).unwrap_or(usize::MAX).saturating_mul(LINE)],
            lines,
        }
    }

    /// Adds the id with this [`hash`](crate::hash::hash). O(1).
    #[inline]
    pub fn insert(&mut self, hash: u64) {
        let probe = Probe::new(hash);
        let Some(line) =
            self.bytes.get_mut(probe.at(self.lines)..).and_then(|rest| rest.first_chunk_mut::<LINE>())
        else {
            return;
        };
        for (word, bits) in line.as_chunks_mut::<8>().0.iter_mut().zip(probe.bits) {
            *word = (u64::from_le_bytes(*word) | bits).to_le_bytes();
        }
    }

    /// The section's bytes; `None` for a filter of no lines.
    pub fn finish(self) -> Option<Vec<u8>> {
        (self.lines > 0).then_some(self.bytes)
    }
}

/// A Bloom filter in a section.
///
/// # Examples
///
/// ```
/// use docvalues_format::error::Section;
/// use docvalues_format::source::Owned;
/// use docvalues_terms::bloom::{BloomFilter, BloomFilterBuilder, Probe};
/// use docvalues_terms::hash::hash;
///
/// let probe = |id: &str| Probe::new(hash(id.as_bytes(), 7));
/// let mut builder = BloomFilterBuilder::new(1_000, 16);
/// for i in 0..1_000 {
///     builder.insert(probe(&format!("id-{i}")).hash());
/// }
/// let section = Owned::new(Section::IdFilter, builder.finish().expect("some lines"));
/// let filter = BloomFilter::open(section, 1_000, 16)?;
///
/// assert!(filter.may_hold(&probe("id-77"))?); // never a false negative
/// let wrong = (0..10_000).filter(|i| filter.may_hold(&probe(&format!("other-{i}"))).unwrap()).count();
/// assert!(wrong < 100); // about 1 in 1,100
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Debug)]
pub struct BloomFilter<B> {
    section: B,
    lines: u64,
}

impl<B: SectionBytes> BloomFilter<B> {
    /// Opens the filter of `keys` keys with `bits` bits each. O(1): reads nothing.
    ///
    /// # Errors
    ///
    /// When the section has another length.
    pub fn open(section: B, keys: u32, bits: u8) -> Result<BloomFilter<B>> {
        let (lines, found) = (lines(keys, bits), section.len() as u64);
        let expected = lines * LINE as u64;
        if found != expected || lines == 0 {
            let kind = ErrorKind::Mismatch { what: "length of the id filter", found, expected };
            return Err(Error::at(section.place(), 0, kind));
        }
        Ok(BloomFilter { section, lines })
    }

    /// Whether the id may be one of the keys. Never false for a key, and rarely true for another id.
    ///
    /// O(1): reads one line, which is one cache line if sections are aligned, as they are in a file.
    ///
    /// # Errors
    ///
    /// When the line is damaged.
    #[inline]
    pub fn may_hold(&self, probe: &Probe) -> Result<bool> {
        Ok(probe.is_in(self.section.array(probe.at(self.lines))?))
    }
}

#[cfg(test)]
mod tests;
