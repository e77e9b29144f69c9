//! The full check of byte strings.

use super::MAX_VALUE;
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
            OpenCoding::Fsst { symbols, total_len } => self.verify_codes(*total_len, |start, end, buffer| {
                let codes = self.slice(start, end)?;
                Ok((symbols.knows(codes), symbols.decode(codes, buffer).unwrap_or(0)))
            }),
            OpenCoding::OnPair { tokens, total_len } => {
                self.verify_padding()?;
                self.verify_codes(*total_len, |start, end, buffer| {
                    let codes = self.codes(start, end)?;
                    Ok((tokens.knows(codes), tokens.decode(codes, buffer, 0)))
                })
            }
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

    /// Decodes every value by `decode`, which returns whether every code has a symbol, and the number of bytes. Checks
    /// that no value is too long, and all values have `total_len` bytes together.
    fn verify_codes(
        &self,
        total_len: u64,
        decode: impl Fn(u64, u64, &mut Vec<u8>) -> Result<(bool, usize)>,
    ) -> Result<()> {
        let (place, mut buffer, mut found) = (self.place(), Vec::new(), 0_u64);
        for index in 0..self.count {
            let (start, end) = self.place_of(index)?;
            let (known, len) = decode(start, end, &mut buffer)?;
            place.check(0, ErrorKind::rule(known, "a code without a symbol"))?;
            place.check(0, ErrorKind::at_most("bytes of a value", len as u64, MAX_VALUE.into()))?;
            found = found.saturating_add(len as u64);
        }
        place.check(0, ErrorKind::equal("bytes of all values", found, total_len))
    }

    /// Checks that the last byte of OnPair codes ends with zeros, if half of it is no code.
    fn verify_padding(&self) -> Result<()> {
        let (_, codes) = match self.count {
            0 => (0, 0),
            count => self.place_of(count - 1)?,
        };
        let Some(bytes) = self.bytes.as_ref().filter(|_| codes % 2 == 1) else { return Ok(()) };
        let [last] = *bytes.array(bytes.len().saturating_sub(1))?;
        self.place().check(0, ErrorKind::rule(last < 16, "padding after the last code is not zero"))
    }
}
