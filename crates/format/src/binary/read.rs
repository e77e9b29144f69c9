//! Opened byte strings.

use std::ops::Range;

use super::{Binary, BinaryOffsets};
use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::jump::JumpTables;
use crate::numeric::{NumericReader, NumericWalk};
use crate::source::SectionBytes;

/// Values whose offsets are looked up together.
const BATCH: usize = 128;

/// Byte strings, opened. Hands out slices of the section itself; nothing is copied.
///
/// ```
/// use docvalues_format::binary::{self, BinaryReader};
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::numeric::NumericWalk;
/// use docvalues_format::source::Owned;
///
/// let made = binary::encode(b"wrenyew".to_vec(), &[4, 4, 7], true)?;
/// let opened = made.try_map(&mut |section, bytes| Ok::<_, std::convert::Infallible>(Owned::new(section, bytes)))?;
/// let values = BinaryReader::open(opened, JumpTables::Baked)?;
///
/// let mut walk = NumericWalk::default();
/// assert_eq!(values.get(0, &mut walk)?, b"wren");
/// assert_eq!(values.get(1, &mut walk)?, b"");
/// assert_eq!(values.get(2, &mut walk)?, b"yew");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BinaryReader<B: SectionBytes> {
    count: u64,
    bytes: Option<B>,
    offsets: OpenOffsets<B>,
}

#[derive(Debug)]
enum OpenOffsets<B: SectionBytes> {
    Fixed(u32),
    Variable(NumericReader<B>),
}

impl<B: SectionBytes> BinaryReader<B> {
    /// Opens byte strings. O(1): reads no section.
    ///
    /// # Errors
    ///
    /// When the fields disagree with each other or with the lengths of the sections.
    pub fn open(meta: Binary<B>, mode: JumpTables) -> Result<BinaryReader<B>> {
        let place = meta.bytes.as_ref().map_or(NOWHERE, B::place);
        meta.check(|section| section.len() as u64).map_err(|kind| Error::at(place, 0, kind))?;
        let offsets = match meta.offsets {
            BinaryOffsets::Fixed(len) => OpenOffsets::Fixed(len),
            BinaryOffsets::Variable(offsets) => OpenOffsets::Variable(NumericReader::open(offsets, mode)?),
        };
        Ok(BinaryReader { count: meta.count, bytes: meta.bytes, offsets })
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where each value begins, unless all are of one length.
    pub fn offsets(&self) -> Option<&NumericReader<B>> {
        match &self.offsets {
            OpenOffsets::Fixed(_) => None,
            OpenOffsets::Variable(offsets) => Some(offsets),
        }
    }

    /// Bytes of every value, if they are as many for each.
    pub fn fixed_len(&self) -> Option<u32> {
        match self.offsets {
            OpenOffsets::Fixed(len) => Some(len),
            OpenOffsets::Variable(_) => None,
        }
    }

    /// Bytes on the heap: the jump table of the offsets, if it was built.
    pub fn heap_bytes(&self) -> usize {
        self.offsets().map_or(0, NumericReader::heap_bytes)
    }

    /// Value `index`. O(1), but in [`JumpTables::Ignore`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] past the last value; otherwise when bytes on the way cannot be read, or
    /// hold what they may not.
    pub fn get(&self, index: u64, walk: &mut NumericWalk) -> Result<&[u8]> {
        if index >= self.count {
            return Err(self.outside("value index", index, self.count.saturating_sub(1)));
        }
        let (start, end) = match &self.offsets {
            // `check` found `count` times the length to be the section's, so nothing overflows here.
            OpenOffsets::Fixed(len) => (index * u64::from(*len), (index + 1) * u64::from(*len)),
            OpenOffsets::Variable(offsets) => {
                let (start, end) = offsets.get_pair(index, walk)?;
                (start.cast_unsigned(), end.cast_unsigned())
            }
        };
        self.slice(start, end)
    }

    /// The values of `range` at once: replaces `offsets` by where each begins and where the last ends,
    /// counted from the start of all bytes, and returns their bytes, end to end.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and when an offset is below the one before it.
    pub fn decode(&self, range: Range<u64>, offsets: &mut Vec<u64>, walk: &mut NumericWalk) -> Result<&[u8]> {
        offsets.clear();
        if range.start > range.end || range.end > self.count {
            return Err(self.outside("end of a range of values", range.end.max(range.start), self.count));
        }
        match &self.offsets {
            OpenOffsets::Fixed(len) => {
                offsets.extend((range.start..=range.end).map(|index| index * u64::from(*len)));
            }
            OpenOffsets::Variable(reader) => self.decode_offsets(reader, range, offsets, walk)?,
        }
        match (offsets.first(), offsets.last()) {
            (Some(&start), Some(&end)) => self.slice(start, end),
            _ => Ok(&[]),
        }
    }

    fn decode_offsets(
        &self,
        reader: &NumericReader<B>,
        range: Range<u64>,
        offsets: &mut Vec<u64>,
        walk: &mut NumericWalk,
    ) -> Result<()> {
        let mut batch = [0; BATCH];
        let (mut at, mut last, end) = (range.start, 0, range.end + 1);
        while at < end {
            let next = end.min(at + BATCH as u64);
            let batch = &mut batch[..usize::try_from(next - at).unwrap_or(BATCH)];
            reader.decode(at..next, batch, walk)?;
            for offset in batch.iter().map(|offset| offset.cast_unsigned()) {
                if offset < last {
                    return Err(self.out_of_place(last, offset));
                }
                offsets.push(offset);
                last = offset;
            }
            at = next;
        }
        Ok(())
    }

    /// Hands the values of `indices` to `each`, in any order and with repeats; `None` where an index is
    /// `u32::MAX`. The offsets are looked up in batches.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn gather(
        &self,
        indices: &[u32],
        walk: &mut NumericWalk,
        mut each: impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        let OpenOffsets::Variable(offsets) = &self.offsets else {
            for &index in indices {
                each(if index == u32::MAX { None } else { Some(self.get(index.into(), walk)?) });
            }
            return Ok(());
        };
        let mut batch = ([0; BATCH], [0; BATCH], [0; BATCH]);
        for indices in indices.chunks(BATCH) {
            let (next, starts, ends) = &mut batch;
            let len = indices.len();
            let (next, starts, ends) = (&mut next[..len], &mut starts[..len], &mut ends[..len]);
            next.iter_mut().zip(indices).for_each(|(next, &index)| *next = index.saturating_add(1));
            offsets.gather(indices, starts, walk)?;
            offsets.gather(next, ends, walk)?;
            for ((&index, start), end) in indices.iter().zip(starts).zip(ends) {
                each(match index {
                    u32::MAX => None,
                    _ => Some(self.slice(start.cast_unsigned(), end.cast_unsigned())?),
                });
            }
        }
        Ok(())
    }

    /// Reads every offset, and has them ascend from 0 to the end of the bytes. The bytes themselves
    /// have no rule to break; their checksums are for the caller.
    ///
    /// # Errors
    ///
    /// The first thing that is not as the writer leaves it.
    pub fn verify(&self) -> Result<()> {
        let OpenOffsets::Variable(offsets) = &self.offsets else {
            return Ok(());
        };
        // Their smallest is 0 and their largest the length of the bytes: as they also ascend, that is where
        // they begin and end.
        offsets.verify()?;
        let mut walk = NumericWalk::default();
        let (mut batch, mut at) = (Vec::with_capacity(BATCH), 0);
        let (mut first_len, mut differ) = (None, false);
        while at < self.count {
            let next = self.count.min(at + BATCH as u64);
            batch.clear();
            self.decode_offsets(offsets, at..next, &mut batch, &mut walk)?;
            for len in batch.windows(2).map(|pair| pair[1] - pair[0]) {
                differ |= *first_len.get_or_insert(len) != len;
            }
            at = next;
        }
        match differ {
            true => Ok(()),
            false => Err(Error::at(self.place(), 0, ErrorKind::Broken("values of one length have offsets"))),
        }
    }

    /// The bytes from `start` to `end`.
    fn slice(&self, start: u64, end: u64) -> Result<&[u8]> {
        let Some(bytes) = &self.bytes else {
            return Ok(&[]);
        };
        match usize::try_from(start).ok().zip(usize::try_from(end).ok()) {
            Some((start, end)) if start <= end && end <= bytes.len() => bytes.slice(start..end),
            _ => Err(self.out_of_place(start, end)),
        }
    }

    /// Where an error about the offsets lies.
    fn place(&self) -> Place {
        match &self.offsets {
            OpenOffsets::Variable(offsets) => offsets.meta().blocks.as_ref().map_or(NOWHERE, B::place),
            OpenOffsets::Fixed(_) => self.bytes.as_ref().map_or(NOWHERE, B::place),
        }
    }

    #[cold]
    fn out_of_place(&self, start: u64, end: u64) -> Error {
        let max = self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let kind = match start <= end {
            true => ErrorKind::OutOfRange { what: "end of a value", found: end, max },
            false => ErrorKind::Broken("a value ends before it begins"),
        };
        Error::at(self.place(), 0, kind)
    }

    #[cold]
    fn outside(&self, what: &'static str, found: u64, max: u64) -> Error {
        Error::at(self.place(), 0, ErrorKind::OutOfRange { what, found, max })
    }
}

/// Where an error about values without a section lies.
const NOWHERE: Place = Place { section: Section::Bytes, offset: 0 };
