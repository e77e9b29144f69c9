//! DEFLATE compression of byte strings in small blocks, which takes the fewest bytes.
//!
//! The values, end to end, are cut into blocks of 4 KiB, also in the middle of values. Each block is a DEFLATE stream
//! (RFC 1951) of its own. Small blocks make random access cheap, but compress badly, because each starts without
//! history. So the writer adds a *preset dictionary*: up to 28 KiB of sampled values, which all blocks may copy from.
//! With it, URLs take a quarter less, and less than in blocks of 32 KiB without it.
//!
//! # Fields in the directory
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 8 | `total_len` | bytes of all values |
//! | 8 | 1 | `has_preset` | 1 if there is a preset dictionary, else 0 |
//! | 9 | 20 | `block_ends` | reference to the ends of the blocks |
//! | 29 | 20 | `preset` | reference to the preset dictionary, if there is one |
//!
//! # Blocks
//!
//! Block *k* holds the 4,096 bytes of the values from byte 4,096 *k* on; the last block holds the remaining ones.
//! Blocks follow each other in the section of the bytes. Entry *k* of the block ends, a `u64`, is the end of block *k*.
//! A block that DEFLATE does not shorten is stored uncompressed: its stored length equals its unpacked length.
//!
//! # Drawing
//!
//! ```text
//! values     | value 0 | value 1        | value 2 | value 3 | ...     end to end
//! cuts       0                    4096                  8192          every 4,096 bytes, also inside of values
//! bytes      | block 0    | block 1       | block 2 | ...             one DEFLATE stream each
//! ends       1210         2395            3488                        u64s: block 1 is bytes[1210..2395]
//! ```
//!
//! The offsets of the values count unpacked bytes, so a value from offset 5,000 on begins at byte 904 of block 1.
//! Cutting at fixed offsets needs no table from values to blocks. Parquet and Lucene's stored fields compress larger
//! units: better, but a lookup decodes all of one.
//!
//! # Cost
//!
//! Reading a value decodes its blocks, up to its end: microseconds. Reading values in order decodes each block once.

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};
use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::{Values, sample};
use crate::cursor::{Cursor, Put};
use crate::error::{Error, ErrorKind, Result, Section};
use crate::granule::SectionRef;
use crate::source::SectionBytes;

/// Bytes of values in a block.
pub const DEFLATE_BLOCK: usize = 4096;

/// [`DEFLATE_BLOCK`] as `u64`.
const BLOCK: u64 = DEFLATE_BLOCK as u64;

/// The longest preset dictionary. Together with a block, it fills DEFLATE's window of 32 KiB.
pub const MAX_PRESET: usize = 28 << 10;

/// The shortest preset dictionary worth a section.
const MIN_PRESET: usize = 1 << 10;

/// The ratio of the length of the values to that of the preset dictionary.
const PRESET_SHARE: usize = 128;

/// The compression level, zlib's default. Higher levels take twice the time to save 3 %.
const LEVEL: i32 = 6;

/// The logarithm of DEFLATE's largest window.
const WINDOW_BITS: u8 = 15;

/// Bytes of an entry of the block ends.
const END_LEN: usize = size_of::<u64>();

/// The blocks of a column, without their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeflateBlocks<S> {
    /// Bytes of all values.
    pub total_len: u64,
    /// The end of each block.
    pub ends: S,
    /// The preset dictionary of all blocks.
    pub preset: Option<S>,
}

/// Decoded blocks of a column, kept for the next read.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockCache {
    bytes: Vec<u8>,
    /// Position of the first of these bytes among all values.
    start: u64,
}

/// Cuts byte strings into blocks, and compresses each.
pub(super) struct Packer {
    deflate: Deflate,
    preset: Option<Vec<u8>>,
    /// The block that is not full yet.
    open: Vec<u8>,
    ends: Vec<u8>,
    total_len: u64,
    packed_len: u64,
}

impl Packer {
    /// Creates a packer with a preset dictionary sampled from `strings`.
    pub(super) fn new<S: Values>(strings: &S) -> Result<Packer, S::Error> {
        let preset_len = strings.total_len() / PRESET_SHARE as u64;
        let preset_len = usize::try_from(preset_len).unwrap_or(usize::MAX).min(MAX_PRESET);
        let mut preset = None;
        if preset_len >= MIN_PRESET {
            let mut sample = sample::values(strings, preset_len)?.concat();
            sample.truncate(preset_len);
            preset = Some(sample);
        }
        let deflate = Deflate::new(LEVEL, false, WINDOW_BITS);
        Ok(Packer { deflate, preset, open: Vec::new(), ends: Vec::new(), total_len: 0, packed_len: 0 })
    }

    /// Appends the blocks that `value` fills to `packed`; `None` if they cannot be compressed.
    pub(super) fn push(&mut self, mut value: &[u8], packed: &mut Vec<u8>) -> Option<()> {
        while let Some(now) = value.split_off(..(DEFLATE_BLOCK - self.open.len()).min(value.len()))
            && !now.is_empty()
        {
            self.open.extend_from_slice(now);
            if self.open.len() == DEFLATE_BLOCK {
                self.close(packed)?;
            }
        }
        Some(())
    }

    /// Appends the last block to `packed`, and returns the description of the blocks.
    pub(super) fn finish(mut self, packed: &mut Vec<u8>) -> Option<DeflateBlocks<Vec<u8>>> {
        if !self.open.is_empty() {
            self.close(packed)?;
        }
        Some(DeflateBlocks { total_len: self.total_len, ends: self.ends, preset: self.preset })
    }

    fn close(&mut self, packed: &mut Vec<u8>) -> Option<()> {
        // Longer than any stream, so that DEFLATE always finishes.
        let mut room = [0; DEFLATE_BLOCK + 64];
        self.deflate.reset();
        if let Some(preset) = &self.preset {
            self.deflate.set_dictionary(preset).ok()?;
        }
        let status = self.deflate.compress(&self.open, &mut room, DeflateFlush::Finish).ok()?;
        let len = usize::try_from(self.deflate.total_out()).ok().filter(|_| status == Status::StreamEnd);
        let shorter = len.filter(|len| *len < self.open.len()).and_then(|len| room.get(..len));
        let block = shorter.unwrap_or(&self.open);
        packed.extend_from_slice(block);
        self.packed_len += block.len() as u64;
        self.total_len += self.open.len() as u64;
        self.ends.put_u64(self.packed_len);
        self.open.clear();
        Some(())
    }
}

impl<S> DeflateBlocks<S> {
    /// Maps the sections, in file order.
    pub(super) fn try_map<T, E>(
        self,
        f: &mut dyn FnMut(Section, S) -> Result<T, E>,
    ) -> Result<DeflateBlocks<T>, E> {
        let ends = f(Section::BlockEnds, self.ends)?;
        let preset = self.preset.map(|preset| f(Section::Preset, preset)).transpose()?;
        Ok(DeflateBlocks { total_len: self.total_len, ends, preset })
    }

    /// Checks the fields against the length of each section.
    pub(super) fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let expected = self.total_len.div_ceil(BLOCK).saturating_mul(END_LEN as u64);
        ErrorKind::equal("length of the block ends", len(&self.ends), expected)?;
        let Some(preset) = self.preset.as_ref().map(len) else { return Ok(()) };
        ErrorKind::rule(preset > 0, "the preset dictionary is empty")?;
        ErrorKind::at_most("length of the preset dictionary", preset, MAX_PRESET as u64)
    }
}

impl DeflateBlocks<SectionRef> {
    /// Appends the fields to a directory entry.
    pub(super) fn encode_meta(&self, out: &mut Vec<u8>) {
        out.put_u64(self.total_len);
        out.put_u8(self.preset.is_some().into());
        self.ends.encode(out);
        if let Some(preset) = &self.preset {
            preset.encode(out);
        }
    }

    /// Reads what [`encode_meta`](Self::encode_meta) wrote.
    pub(super) fn decode_meta(cursor: &mut Cursor<'_>) -> Result<DeflateBlocks<SectionRef>> {
        let (total_len, has_preset) = (cursor.u64()?, cursor.u8()?);
        cursor.at_most("has_preset", has_preset.into(), 1)?;
        let ends = SectionRef::decode(cursor)?;
        let preset = (has_preset == 1).then(|| SectionRef::decode(cursor)).transpose()?;
        Ok(DeflateBlocks { total_len, ends, preset })
    }
}

impl<B: SectionBytes> DeflateBlocks<B> {
    /// The bytes `range` of all values, decoded from `packed`. Uses the blocks in `cache`, and adds those that it
    /// decodes.
    pub(super) fn read<'h>(
        &self,
        packed: &B,
        range: Range<u64>,
        cache: &'h mut BlockCache,
    ) -> Result<&'h [u8]> {
        let held_end = cache.start + cache.bytes.len() as u64;
        if range.start < cache.start || range.end > held_end {
            self.fill(packed, range.clone(), cache, true)?;
        }
        let at = |place: u64| usize::try_from(place.saturating_sub(cache.start)).unwrap_or(usize::MAX);
        Ok(cache.bytes.get(at(range.start)..at(range.end)).unwrap_or_default())
    }

    /// As [`read`](Self::read) into a buffer, for a single read: decodes the last block only up to the end of `range`.
    pub(super) fn read_once<'b>(
        &self,
        packed: &B,
        range: Range<u64>,
        buffer: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        let mut cache = BlockCache { bytes: std::mem::take(buffer), start: u64::MAX };
        self.fill(packed, range.clone(), &mut cache, false)?;
        *buffer = cache.bytes;
        let at = |place: u64| usize::try_from(place - cache.start).unwrap_or(usize::MAX);
        Ok(buffer.get(at(range.start)..at(range.end)).unwrap_or_default())
    }

    /// Decodes the blocks of `range` that are not in `cache`: the last one `whole`, or only up to the end of the range.
    fn fill(&self, packed: &B, range: Range<u64>, cache: &mut BlockCache, whole: bool) -> Result<()> {
        if range.start > range.end || range.end > self.total_len {
            let (what, found) = ("end of a value", range.end.max(range.start));
            let kind = ErrorKind::OutOfRange { what, found, max: self.total_len };
            return Err(Error::at(packed.place(), 0, kind));
        }
        let first = range.start - range.start % BLOCK;
        let known = first.checked_sub(cache.start).and_then(|known| usize::try_from(known).ok());
        match known.filter(|&known| known <= cache.bytes.len()) {
            Some(known) => drop(cache.bytes.drain(..known)),
            None => cache.bytes.clear(),
        }
        cache.start = first;
        let mut inflate = Inflate::new(false, WINDOW_BITS);
        let mut at = first + cache.bytes.len() as u64;
        while at < range.end {
            let end = self.total_len.min(at + BLOCK);
            let wanted = if whole { end } else { end.min(range.end) };
            let place = cache.bytes.len();
            cache.bytes.resize(place + bytes_between(at, wanted), 0);
            let decoded = self.decode(
                packed,
                at / BLOCK,
                bytes_between(at, end),
                &mut cache.bytes[place..],
                &mut inflate,
            );
            if let Err(error) = decoded {
                cache.bytes.truncate(place);
                return Err(error);
            }
            at = end;
        }
        Ok(())
    }

    /// Decodes the first `out.len()` bytes of a block of `len` bytes.
    fn decode(
        &self,
        packed: &B,
        block: u64,
        len: usize,
        out: &mut [u8],
        inflate: &mut Inflate,
    ) -> Result<()> {
        let stored = self.stored(packed, block)?;
        if stored.len() == len {
            out.copy_from_slice(&stored[..out.len()]);
            return Ok(());
        }
        let refuse = |what| Error::at(packed.place(), 0, ErrorKind::Broken(what));
        inflate.reset(false);
        if let Some(preset) = &self.preset {
            let preset = preset.slice(0..preset.len())?;
            inflate.set_dictionary(preset).map_err(|_| refuse("the preset dictionary is not valid"))?;
        }
        let status = inflate.decompress(stored, out, InflateFlush::Finish);
        let status = status.map_err(|_| refuse("a block is not a DEFLATE stream"))?;
        let all =
            out.len() < len || (status == Status::StreamEnd && inflate.total_in() == stored.len() as u64);
        let fits = all && inflate.total_out() == out.len() as u64;
        packed.place().check(0, ErrorKind::rule(fits, "a block does not unpack to its declared size"))
    }

    /// The stored bytes of a block.
    fn stored<'p>(&self, packed: &'p B, block: u64) -> Result<&'p [u8]> {
        // `check` found that there is an end for every block.
        let at = usize::try_from(block).unwrap_or(usize::MAX).saturating_mul(END_LEN);
        let end_at = |at| Ok(LittleEndian::read_u64(self.ends.array::<END_LEN>(at)?));
        let start = at.checked_sub(END_LEN).map_or(Ok(0), end_at)?;
        let end = end_at(at)?;
        match usize::try_from(start).ok().zip(usize::try_from(end).ok()) {
            Some((start, end)) if start <= end && end <= packed.len() => packed.slice(start..end),
            _ => {
                let kind =
                    ErrorKind::OutOfRange { what: "end of a block", found: end, max: packed.len() as u64 };
                Err(Error::at(self.ends.place(), at, kind))
            }
        }
    }

    /// Decodes every block, and checks that the last one ends where `packed` does.
    pub(super) fn verify(&self, packed: &B) -> Result<()> {
        let mut cache = BlockCache::default();
        for block in 0..self.total_len.div_ceil(BLOCK) {
            let at = block * BLOCK;
            self.read(packed, at..self.total_len.min(at + BLOCK), &mut cache)?;
        }
        let last = self.ends.array::<END_LEN>(self.ends.len().saturating_sub(END_LEN))?;
        let end = LittleEndian::read_u64(last);
        self.ends.place().check(0, ErrorKind::equal("end of the last block", end, packed.len() as u64))
    }
}

/// The number of bytes between two positions in a block.
fn bytes_between(start: u64, end: u64) -> usize {
    usize::try_from(end - start).unwrap_or(usize::MAX)
}
