//! Presence in an entry of the directory.

use super::Presence;
use super::header::{BlockEntry, Header};
use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Result};
use crate::granule::SectionRef;
use crate::id::BLOCK_DOCS;

const SHAPE_NONE: u8 = 0;
const SHAPE_ALL: u8 = 1;
const SHAPE_BLOCKS: u8 = 2;
const SHAPE_JUMP: u8 = 3;

impl Presence<SectionRef> {
    /// Appends the directory's fields.
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        match self {
            Presence::None => out.put_u8(SHAPE_NONE),
            Presence::All => out.put_u8(SHAPE_ALL),
            Presence::Blocks { values, blocks, jump } => {
                out.put_u8(if jump.is_some() { SHAPE_JUMP } else { SHAPE_BLOCKS });
                out.put_u32(*values);
                blocks.encode(out);
                jump.iter().for_each(|jump| jump.encode(out));
            }
        }
    }

    /// Reads the directory's fields, in a segment of `docs` documents.
    ///
    /// # Errors
    ///
    /// When a field has a value that the format does not allow.
    pub fn decode_meta(cursor: &mut Cursor<'_>, docs: u32) -> Result<Presence<SectionRef>> {
        let shape = cursor.u8()?;
        match shape {
            SHAPE_NONE => Ok(Presence::None),
            SHAPE_ALL => Ok(Presence::All),
            SHAPE_BLOCKS | SHAPE_JUMP => {
                let values = cursor.u32()?;
                cursor.check(check_values(values, docs))?;
                let blocks = SectionRef::decode(cursor)?;
                cursor.check(check_len(blocks.len, docs))?;
                let jump = (shape == SHAPE_JUMP).then(|| SectionRef::decode(cursor)).transpose()?;
                if let Some(jump) = &jump {
                    cursor.equal("length of the jump table", jump.len, jump_len(docs))?;
                }
                Ok(Presence::Blocks { values, blocks, jump })
            }
            tag => Err(cursor.refuse(ErrorKind::UnknownTag { what: "shape of presence", tag })),
        }
    }
}

/// Bytes of the jump table of `docs` documents.
fn jump_len(docs: u32) -> u64 {
    u64::from(docs.div_ceil(BLOCK_DOCS)) * BlockEntry::LEN as u64
}

/// Refuses a number of `values` that `docs` documents cannot have in blocks.
pub(super) fn check_values(values: u32, docs: u32) -> Result<(), ErrorKind> {
    ErrorKind::rule(values > 0, "presence blocks without a value")?;
    ErrorKind::at_most("documents with a value", values.into(), docs.saturating_sub(1).into())
}

/// Refuses a section of `len` bytes that is too short for the block headers of `docs` documents.
pub(super) fn check_len(len: u64, docs: u32) -> Result<(), ErrorKind> {
    let needed = u64::from(docs.div_ceil(BLOCK_DOCS)) * Header::LEN as u64;
    if len < needed { Err(ErrorKind::Truncated { needed, left: len }) } else { Ok(()) }
}
