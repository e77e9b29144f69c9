//! The full check: compares every byte of the sections with what the encoder would have written.

use super::bitmap::BLOCK_WORDS;
use super::block::Block;
use super::header::BlockEntry;
use super::visitor::Exists;
use super::{OpenBlocks, PresenceReader};
use crate::error::{Error, ErrorKind, Result};
use crate::jump::{Step, walk};
use crate::source::SectionBytes;
use crate::strings::shared_len;

impl<B: SectionBytes> PresenceReader<B> {
    /// Reads all sections and checks that
    ///
    /// - there is a block for each 65,536 documents, and the last one ends where the section ends;
    /// - each block has as many documents as its header says, and is byte for byte what the encoder writes for them in
    ///   its kind: so the rank table, bucket starts, order and padding are right;
    /// - the values of the blocks add up to the column's;
    /// - the jump table, if the file has one, agrees with the headers, whichever mode is in use.
    ///
    /// O(bytes + `docs` / 64).
    ///
    /// # Errors
    ///
    /// At the first byte that breaks one of these rules.
    pub fn verify(&self) -> Result<()> {
        let Some(OpenBlocks { chain, jump }) = &self.blocks else { return Ok(()) };
        let mut expected = Vec::new();
        walk(chain, |number, _, Step { entry, .. }| {
            expected.clear();
            rewrite(&chain.block(u32::try_from(number).unwrap_or(u32::MAX), entry), &mut expected)?;
            let why = "a presence block is not encoded canonically";
            same(&chain.bytes, entry.payload(), &expected, why)?;
            let Some(baked) = jump.baked() else { return Ok(()) };
            expected.clear();
            entry.encode(&mut expected);
            let why = "a jump entry does not match its presence block's header";
            same(baked, number * BlockEntry::LEN, &expected, why)
        })?;
        Ok(())
    }
}

/// Reads the documents of a block, and appends the payload that the encoder writes for them.
fn rewrite<B: SectionBytes>(block: &Block<'_, B>, out: &mut Vec<u8>) -> Result<()> {
    let mut words = [0; BLOCK_WORDS];
    block.visit(0..block.docs, 0, &mut Exists { start: 0, bits: &mut words })?;
    let found = words.iter().map(|word| u64::from(word.count_ones())).sum();
    let expected = block.header.values.into();
    let checked = ErrorKind::equal("documents in a presence block", found, expected);
    block.bytes.place().check(block.at, checked)?;
    block.header.encode_payload(&words, block.docs, out);
    Ok(())
}

/// Compares the bytes at `at` with `expected`; the error is at the first byte that differs.
fn same<B: SectionBytes>(bytes: &B, at: usize, expected: &[u8], why: &'static str) -> Result<()> {
    let found = bytes.slice(at..at + expected.len())?;
    if found == expected {
        return Ok(());
    }
    Err(Error::at(bytes.place(), at + shared_len(found, expected), ErrorKind::Broken(why)))
}
