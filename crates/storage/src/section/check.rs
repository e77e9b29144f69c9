//! Reading granules and comparing them with their checksums.

use byteorder::{ByteOrder, LittleEndian};
use docvalues_format::error::Result;
use docvalues_format::granule::{self, CRC_LEN, GRANULE};

use super::level::Level;
use super::{FAN_OUT, Section};

impl Section {
    /// Compares granule `index` of level `number` with its checksum, which must be verified.
    pub(super) fn check(&self, number: usize, index: usize) -> Result<()> {
        self.load(self.level(number), index, Some(self.expected(number, index)))
    }

    /// The checksum of granule `index` of level `number`, which must be verified.
    fn expected(&self, number: usize, index: usize) -> u32 {
        match self.tree.get(number) {
            None => self.crc,
            Some(above) => {
                let at = index * CRC_LEN;
                let crc = above.pages.peek(at..at + CRC_LEN);
                LittleEndian::read_u32(crc.unwrap_or(&[0; CRC_LEN]))
            }
        }
    }

    /// Reads `out` at `at` from the file of a mapping, and verifies it. Returns whether it did: only if `out` lies in
    /// one granule, and the section [reads the file](Section::reads_file).
    ///
    /// Does not admit the granule, as the bytes of the mapping were not compared.
    // Not inlined: other reads need no stack for the buffer.
    #[inline(never)]
    pub(super) fn read_file(&self, at: usize, out: &mut [u8]) -> Result<bool> {
        let (index, end) = (at / GRANULE, at.saturating_add(out.len()));
        if !self.reads_file || end > self.limit() || end > (index + 1) * GRANULE {
            return Ok(false);
        }
        let range = self.data.granule(index);
        let mut buffer = [0; GRANULE];
        let bytes = &mut buffer[..range.len()];
        let offset = self.data.offset(range.start);
        self.source.fill(self.place.section, offset, bytes)?;
        if !self.tree.is_empty() {
            self.admit(1, index / FAN_OUT)?;
        }
        granule::check(self.place.section, offset, bytes, self.expected(0, index))?;
        self.source.touch(bytes.len());
        out.copy_from_slice(&bytes[at - range.start..end - range.start]);
        Ok(true)
    }

    /// Reads granule `index` of `level` unless it was read, compares it with `expected`, and admits it.
    pub(super) fn load(&self, level: &Level, index: usize, expected: Option<u32>) -> Result<()> {
        match level.pages.peek(level.granule(index)) {
            Some(bytes) => self.accept(level, index, bytes, expected),
            None => self.read(level, index, expected),
        }
    }

    /// The same for a granule that has yet to be read.
    // Not inlined: a mapping needs no stack for the buffer.
    #[inline(never)]
    fn read(&self, level: &Level, index: usize, expected: Option<u32>) -> Result<()> {
        let range = level.granule(index);
        let mut buffer = [0; GRANULE];
        let bytes = &mut buffer[..range.len()];
        self.source.fill(self.place.section, level.offset(range.start), bytes)?;
        self.accept(level, index, bytes, expected)
    }

    fn accept(&self, level: &Level, index: usize, bytes: &[u8], expected: Option<u32>) -> Result<()> {
        if let Some(expected) = expected {
            let offset = level.offset(index * GRANULE);
            granule::check(self.place.section, offset, bytes, expected)?;
        }
        if level.pages.admit(index, bytes) {
            self.source.touch(bytes.len());
        }
        Ok(())
    }
}
