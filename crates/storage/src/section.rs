//! The bytes of one section, compared with their checksums when they are first touched.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use docvalues_format::error::{Error, ErrorKind, Place, Result, Section as Role};
use docvalues_format::granule::{self, CRC_LEN, GRANULE, LARGE_SECTION, Layout, SectionRef};
use docvalues_format::source::{PartlyVerified, SectionBytes, TAIL};

use crate::demand_paging::SharedBytes;
use crate::granule_set::granules_of;
use crate::mmap::Advice;
use crate::source::Source;
use level::Level;

mod check;
mod level;
mod read_ahead;
#[cfg(test)]
mod tests;

/// Granules that one granule of checksums covers.
const FAN_OUT: usize = GRANULE / CRC_LEN;

/// The least and the most granules that are requested together: 16 KiB, which covers the successive reads of most
/// look-ups, and 8 MiB, which a [`ReadAt`](crate::ReadAt) may read in parallel parts.
const AHEAD: [usize; 2] = [4, 2_048];

/// The time at which the bytes of a section are compared with their checksums.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_format::error::Section as Role;
/// use docvalues_format::granule::{SectionRef, seal};
/// use docvalues_format::source::SectionBytes;
/// use docvalues_storage::{Section, Source, Verify};
///
/// let (mut file, crc) = seal(vec![7; 10_000]);
/// file[9_000] ^= 1; // damage in the third granule
/// let at = SectionRef { offset: 0, len: 10_000, crc };
/// let source = Arc::new(Source::memory(file));
/// let open = |verify| Section::open(&source, at, Role::Values, verify);
///
/// assert!(open(Verify::AtOpen).is_err());
/// let section = open(Verify::OnFirstTouch)?;
/// assert!(section.slice(0..10).is_ok() && section.slice(9_000..9_010).is_err());
/// assert!(open(Verify::Never)?.slice(9_000..9_010).is_ok()); // the damaged byte
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verify {
    /// Each granule of 4 KiB when it is first touched. Damage is an error where it is touched, and nowhere else.
    #[default]
    OnFirstTouch,
    /// All of the section when it is opened, as by [`Section::verify_all`]. Reads the whole section.
    AtOpen,
    /// Never: for bytes that were verified otherwise, or to measure the cost of verification. Damage causes wrong
    /// values or errors of the decoders, never undefined behaviour.
    Never,
}

/// One section of a file, from which decoders read.
///
/// [`slice`](SectionBytes::slice) verifies each granule of the range that was not verified before, after the
/// granules of checksums above it. If several threads touch the same granule at once, each verifies it, with the
/// same result. A damaged granule fails at each touch, and does not affect its neighbours.
///
/// # Memory
///
/// A bit for each granule. From a [`Source::read`], also address space of the section's length, of which only
/// touched granules take memory. From a [`Source::map`] whose file stays open, a section of 1 to 64 MiB has a copy of
/// its checksums, a thousandth of its length.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use docvalues_format::error::{ErrorKind, Section as Role};
/// use docvalues_format::granule::{SectionRef, seal};
/// use docvalues_format::source::SectionBytes;
/// use docvalues_storage::{Section, Source, Verify};
///
/// let payload: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
/// let (mut file, crc) = seal(payload.clone());
/// let at = SectionRef { offset: 0, len: 40_000, crc };
/// file[8192] ^= 1; // damage in the third granule
///
/// let source = Arc::new(Source::memory(file));
/// let section = Section::open(&source, at, Role::Values, Verify::OnFirstTouch)?;
/// assert_eq!(section.slice(4000..8000)?, &payload[4000..8000]);
/// let error = section.slice(8000..8200).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Checksum { .. }));
/// assert_eq!(error.offset(), 8192);
/// # Ok::<(), docvalues_format::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Section {
    /// Payload and tail.
    data: Level,
    /// The levels of checksums, each over the one before; the first is over `data`.
    tree: Box<[Level]>,
    /// Bytes of payload.
    len: usize,
    /// The checksum of the single granule of the last level.
    crc: u32,
    place: Place,
    verify: Verify,
    /// The number of granules to read ahead together, aligned to that number.
    together: usize,
    /// Whether the section is mapped, and its checksums and [copies](SectionBytes::copy) are read from the file, which
    /// takes less time than mapping a page.
    reads_file: bool,
    source: Arc<Source>,
}

impl Section {
    /// Opens the section that `at` refers to; errors call it `role`.
    ///
    /// Touches none of its bytes, unless `verify` is [`Verify::AtOpen`].
    ///
    /// Sections of a hostile directory may overlap. From a [`Source::read`], each may come to hold a copy of its
    /// extent in memory, and from a [`Source::map`], one of its checksums, so callers that open many should bound their
    /// sum.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] when the section, with tail and checksums, does not lie in the file;
    /// [`ErrorKind::Io`] when there is no memory for it; with [`Verify::AtOpen`], those of
    /// [`verify_all`](Self::verify_all).
    pub fn open(source: &Arc<Source>, at: SectionRef, role: Role, verify: Verify) -> Result<Section> {
        // An extent that overflows u64 lies in no file.
        let Some(layout) = Layout::of(at.len) else {
            return Err(Error::new(
                role,
                at.offset,
                ErrorKind::Truncated { needed: u64::MAX, left: source.len() },
            ));
        };
        source.inside(role, at.offset, layout.extent())?;
        let no_memory = || Error::new(role, at.offset, ErrorKind::Io(io::ErrorKind::OutOfMemory));
        let reads_file = source.mapped_file().is_some();
        let level = |number: usize, level: &granule::Level| {
            // Payload that is never verified is admitted at once.
            let trusted = verify == Verify::Never && number == 0;
            let limit = usize::try_from(level.used).map_err(|_| no_memory())?.saturating_add(TAIL);
            // The pages of a short section are often mapped together with others.
            let copied = reads_file && at.len >= LARGE_SECTION && number > 0;
            Level::open(source, at.offset + level.at, level.len, limit, trusted, copied).ok_or_else(no_memory)
        };
        let (first, above) = layout.levels().split_first().ok_or_else(no_memory)?;
        let section = Section {
            data: level(0, first)?,
            tree: (1..).zip(above).map(|(number, above)| level(number, above)).collect::<Result<_>>()?,
            len: usize::try_from(at.len).map_err(|_| no_memory())?,
            crc: at.crc,
            place: Place { section: role, offset: at.offset },
            verify,
            together: 1,
            reads_file,
            source: Arc::clone(source),
        };
        match verify {
            Verify::AtOpen => section.verify_all()?,
            Verify::OnFirstTouch | Verify::Never => section.request_small(),
        }
        Ok(section)
    }

    /// The file of the section.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Advises the kernel of the access pattern of this section. Does nothing without a mapping.
    ///
    /// # Errors
    ///
    /// When the kernel rejects the advice. The section stays usable.
    pub fn advise(&self, advice: Advice) -> io::Result<()> {
        match self.data.viewed() {
            Some(range) => self.source.advise_range(range, advice),
            None => Ok(()),
        }
    }

    /// Reads ahead `bytes` at a time, at least 4 KiB: the first touch in an aligned run of `bytes` asks the kernel
    /// for all of the run. Does nothing without a mapping.
    ///
    /// For a section that is read at random under [`Advice::Random`], and so often that all of it will be read in
    /// the end.
    #[must_use]
    pub fn together(mut self, bytes: usize) -> Section {
        self.together = (bytes / GRANULE).max(1);
        self
    }

    /// Verifies every granule of payload, tail and checksums, whether or not it was verified before and regardless
    /// of [`Verify`]. Also checks that padding is zero. O(bytes of the section).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Checksum`] at the first byte of a damaged granule, [`ErrorKind::Broken`] at a byte of padding
    /// that is not zero, [`ErrorKind::Io`] when reading fails.
    pub fn verify_all(&self) -> Result<()> {
        // Top down, so that each checksum is verified before it is used.
        for number in (0..=self.tree.len()).rev() {
            let level = self.level(number);
            for first in (0..level.granules()).step_by(AHEAD[1]) {
                let granules = first..level.granules().min(first + AHEAD[1]);
                self.source.in_waves(|| {
                    self.want([(number, granules.clone())])?;
                    granules.clone().try_for_each(|index| self.check(number, index))
                })?;
            }
            let used = match number.checked_sub(1) {
                Some(below) => self.level(below).granules() * CRC_LEN,
                None => self.len,
            };
            let padding = level.pages.peek(used..level.len()).unwrap_or_default();
            if let Some(at) = padding.iter().position(|&byte| byte != 0) {
                let broken = ErrorKind::Broken("padding is not zero");
                return Err(Error::new(self.place.section, level.offset(used + at), broken));
            }
        }
        Ok(())
    }

    /// Returns payload and tail from `start` on, with a share of their owner, so that they outlive the section. `None` unless
    /// every byte is verified, or none has to be. O(1).
    pub fn verified_bytes(&self, start: usize) -> Option<SharedBytes> {
        self.data.pages.kept(start)
    }

    /// Level `number`, counted from the payload.
    fn level(&self, number: usize) -> &Level {
        match number.checked_sub(1) {
            Some(above) => &self.tree[above],
            None => &self.data,
        }
    }

    /// The bytes of `range`, after verifying those of its granules that were not verified. Fails if `range` does
    /// not lie inside.
    #[cold]
    #[inline(never)]
    fn touch(&self, range: Range<usize>) -> Result<&[u8]> {
        let (at, needed, limit) = (range.start, range.len(), self.limit());
        let refuse = || Error::truncated(self.place, at, needed, limit.saturating_sub(at));
        if range.start > range.end || range.end > limit {
            return Err(refuse());
        }
        if self.source.is_requested() {
            self.source.in_waves(|| self.request(granules_of(&range)))?;
        } else {
            for index in granules_of(&range) {
                self.ask_around(index);
                self.admit(0, index)?;
            }
            self.round_off(range.end);
        }
        self.data.pages.get(range).ok_or_else(refuse)
    }

    /// Verifies the last few granules that are left, so that later reads need not test each granule. Otherwise they
    /// might have to for ever, if nobody reads one of the last few values.
    ///
    /// A granule that holds only tail is verified with the one before it, if the touched range ends there or later.
    /// Damage found here is not an error: it is reported when the bytes are needed.
    fn round_off(&self, end: usize) {
        let (pages, granules) = (&self.data.pages, self.data.granules());
        let last = self.len.div_ceil(GRANULE);
        let tail = if end.div_ceil(GRANULE) >= last { last..granules } else { 0..0 };
        let few = if pages.left() <= granules / 64 { 0..granules } else { tail };
        let _ = few.into_iter().try_for_each(|index| self.admit(0, index));
    }

    /// Verifies granule `index` of level `number` unless it was, after the granules of checksums above it. Recurses
    /// once per level.
    fn admit(&self, number: usize, index: usize) -> Result<()> {
        let level = self.level(number);
        if level.pages.contains(index) {
            return Ok(());
        }
        if self.verify == Verify::Never {
            return self.load(level, index, None);
        }
        if number < self.tree.len() {
            self.admit(number + 1, index / FAN_OUT)?;
        }
        self.check(number, index)
    }

    /// The end of the bytes that may be handed out: payload, and the guaranteed part of the tail.
    #[inline]
    fn limit(&self) -> usize {
        // Both lie in the first level, whose length is a usize.
        self.len + TAIL
    }
}

impl SectionBytes for Section {
    fn place(&self) -> Place {
        self.place
    }

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        match self.data.pages.get(range.clone()) {
            Some(bytes) => Ok(bytes),
            None => self.touch(range),
        }
    }

    #[inline(always)]
    fn peek<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        self.data.pages.array(at)
    }

    fn copy_to(&self, at: usize, out: &mut [u8]) -> Result<()> {
        if self.peek::<1>(at).is_some() || !self.read_file(at, out)? {
            out.copy_from_slice(self.slice(at..at.saturating_add(out.len()))?);
        }
        Ok(())
    }

    #[inline]
    fn partly_verified(&self) -> Option<PartlyVerified<'_>> {
        self.data.pages.partly_verified()
    }

    #[inline]
    fn prefetch(&self, at: usize) {
        self.data.pages.prefetch(at);
    }

    #[inline]
    fn verified(&self) -> Option<&[u8]> {
        self.data.pages.whole()
    }
}
