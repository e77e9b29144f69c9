//! Reading everything: is it what the writer left?

use super::MAX_VALUE;
use super::fsst::SymbolTable;
use super::read::{BATCH, BinaryReader, OpenCoding};
use crate::error::{ErrorKind, Result};
use crate::source::SectionBytes;

impl<B: SectionBytes> BinaryReader<B> {
    /// Reads every offset, and has them ascend from 0 to the end of the bytes. Decodes every value that
    /// is not raw. The bytes themselves have no rule to break; their checksums are for the caller.
    ///
    /// # Errors
    ///
    /// The first thing that is not as the writer leaves it.
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
        // Their smallest is 0 and their largest the length of the bytes: as they also ascend, that is where
        // they begin and end.
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

    /// Decodes every value: codes stand for something, no value is too long, and together they have
    /// `total_len` bytes.
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
