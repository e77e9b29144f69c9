//! A dictionary in an entry of the directory.

use super::{Dictionary, Index, KEY_LEN, MAX_PREFIX, block_count};
use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Result};
use crate::granule::SectionRef;
use crate::numeric::{Numeric, Role};

impl<S> Dictionary<S> {
    /// Checks all fields against each other and against the length of each section.
    pub(super) fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let (count, blocks) = (u64::from(self.count), u64::from(self.block_count()));
        let max_len = u64::from(self.max_len);
        let bytes = self.blocks.as_ref().map_or(0, &len);
        let as_asked = self.blocks.is_some() == (blocks > 0) && self.index.is_some() == (blocks > 1);
        ErrorKind::rule(as_asked, "the dictionary's sections do not fit its number of terms")?;
        ErrorKind::at_most("length of all terms", self.total_len, count.saturating_mul(max_len))?;
        // The two parts of a term do not overlap in its block, so no term is longer than all blocks. That bounds the
        // allocation of a look-up by the size of the file.
        ErrorKind::at_most("length of the longest term", max_len, bytes)?;
        ErrorKind::at_most("least length of the terms", blocks + 2 * count, bytes)?;
        if let Some(Index { offsets, keys, prefix }) = &self.index {
            ErrorKind::at_most("length of the prefix", prefix.len() as u64, MAX_PREFIX as u64)?;
            ErrorKind::equal("length of the term keys", len(keys), blocks * KEY_LEN as u64)?;
            ErrorKind::equal("number of term offsets", offsets.count, blocks + 1)?;
            ErrorKind::equal("first term offset", offsets.min.cast_unsigned(), 0)?;
            ErrorKind::equal("last term offset", offsets.max.cast_unsigned(), bytes)?;
        }
        Ok(())
    }
}

impl Dictionary<SectionRef> {
    /// Appends the fields of the dictionary to a directory entry. [The module](super#entry-in-the-directory) has the
    /// layout.
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        out.put_u32(self.count);
        out.put_u32(self.max_len);
        out.put_u64(self.total_len);
        if let Some(blocks) = &self.blocks {
            blocks.encode(out);
        }
        if let Some(Index { offsets, keys, prefix }) = &self.index {
            offsets.encode_meta(out);
            keys.encode(out);
            let prefix = &prefix[..prefix.len().min(MAX_PREFIX)];
            #[expect(clippy::cast_possible_truncation, reason = "MAX_PREFIX fits a byte")]
            out.put_u8(prefix.len() as u8);
            out.put(prefix);
        }
    }

    /// Reads what [`encode_meta`](Self::encode_meta) wrote.
    ///
    /// # Errors
    ///
    /// When a field has a value that the format does not allow, or two fields disagree.
    pub fn decode_meta(cursor: &mut Cursor<'_>) -> Result<Dictionary<SectionRef>> {
        let (count, max_len, total_len) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
        let blocks = (count > 0).then(|| SectionRef::decode(cursor)).transpose()?;
        let index = match block_count(count) > 1 {
            true => Some(Index {
                offsets: Numeric::decode_meta(cursor, Role::TermOffsets)?,
                keys: SectionRef::decode(cursor)?,
                prefix: prefix(cursor)?,
            }),
            false => None,
        };
        let meta = Dictionary { count, max_len, total_len, blocks, index };
        cursor.check(meta.check(|section| section.len))?;
        Ok(meta)
    }
}

fn prefix(cursor: &mut Cursor<'_>) -> Result<Box<[u8]>> {
    let len = cursor.u8()?;
    cursor.take(len.into()).map(Into::into)
}
