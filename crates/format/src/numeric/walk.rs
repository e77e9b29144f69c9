//! Look-ups without the jump table: what it saves.

use super::{Numeric, NumericReader, Transform};
use crate::error::Result;
use crate::jump;
use crate::source::SectionBytes;

/// A cursor over the blocks of a [`NumericReader`] that ignores its jump table, as an iterator of Lucene 7: for
/// comparisons. It answers as [`NumericReader::get`].
///
/// A block is reached by the headers from the last look-up's, or from the first one for a step back.
#[derive(Debug)]
pub struct Walk<'r, B: SectionBytes> {
    reader: &'r NumericReader<B>,
    headers: jump::Walk<'r, Numeric<B>>,
}

impl<B: SectionBytes> NumericReader<B> {
    /// A cursor that ignores the jump table.
    pub fn walk(&self) -> Walk<'_, B> {
        Walk { reader: self, headers: jump::Walk::new(&self.meta) }
    }
}

impl<B: SectionBytes> Walk<'_, B> {
    /// Value `index`.
    ///
    /// # Errors
    ///
    /// As [`NumericReader::get`].
    #[inline]
    pub fn get(&mut self, index: u64) -> Result<i64> {
        let NumericReader { meta, .. } = self.reader;
        self.reader.in_count(index)?;
        if let Transform::Constant(value) = meta.transform {
            return Ok(value);
        }
        let (block, i) = meta.split(index);
        let header = self.headers.seek(usize::try_from(block).map_err(|_| self.reader.no_value(index))?)?;
        self.reader.value_in(&header, i)
    }

    /// The block headers that were read so far.
    pub fn headers(&self) -> u64 {
        self.headers.headers()
    }
}
