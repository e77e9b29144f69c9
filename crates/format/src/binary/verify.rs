//! The full check of byte strings.

use super::MAX_VALUE;
use super::fsst::SymbolTable;
use super::read::{BATCH, BinaryReader, OpenCoding};
use crate::error::{ErrorKind, Result};
use crate::source::SectionBytes;

impl<B: SectionBytes> BinaryReader<B> {
    /// Checks that the offsets ascend from 0 to the end of the bytes, and decodes every compressed value. Raw bytes
    /// have no rules; the caller compares their checksums.
    ///
    /// # Errors
    ///
    /// The first rule that is broken.
    pub fn verify(&self) -> Result<()> {
        self.verify_offsets()?;
        match &self.coding {
            OpenCoding::Raw => Ok(()),
            OpenCoding::Fsst { total_len, symbols } => self.verify_codes(symbols, *total_len),
            OpenCoding::Deflate(blocks) => match &self.bytes {
                Some(packed) => blocks.verify(packed),
                None => Ok(()),
            },
        }
    }

    fn verify_offsets(&self) -> Result<()> {
        let Some(offsets) = &self.offsets else { return Ok(()) };
        // The smallest offset is 0 and the largest the length of the bytes. They also ascend, so these are the first
        // and the last one.
        offsets.verify()?;
        let (mut batch, mut at) = (Vec::with_capacity(BATCH), 0);
        let (mut first_len, mut differ) = (None, false);
        while at < self.count {
            let next = self.count.min(at + BATCH as u64);
            batch.clear();
            self.decode_offsets(offsets, at..next, &mut batch)?;
            for len in batch.windows(2).map(|pair| pair[1] - pair[0]) {
                differ |= *first_len.get_or_insert(len) != len;
            }
            at = next;
        }
        self.place().check(0, ErrorKind::rule(differ, "values of one length have offsets"))
    }

    /// Decodes every value. Checks that every code has a symbol, no value is too long, and all values have `total_len`
    /// bytes together.
    fn verify_codes(&self, symbols: &SymbolTable, total_len: u64) -> Result<()> {
        let (place, mut buffer, mut found) = (self.place(), Vec::new(), 0_u64);
        for index in 0..self.count {
            let (start, end) = self.place_of(index)?;
            let codes = self.slice(start, end)?;
            place.check(0, ErrorKind::rule(symbols.knows(codes), "a code without a symbol"))?;
            let len = symbols.decode(codes, &mut buffer).unwrap_or(0) as u64;
            place.check(0, ErrorKind::at_most("bytes of a value", len, MAX_VALUE.into()))?;
            found = found.saturating_add(len);
        }
        place.check(0, ErrorKind::equal("bytes of all values", found, total_len))
    }
}
