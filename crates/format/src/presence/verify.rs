//! The full check: every byte of the sections, against what the encoder would have written.

use super::bitmap::BLOCK_WORDS;
use super::block::Block;
use super::header::BlockEntry;
use super::visitor::Exists;
use super::{PresenceReader, Shape};
use crate::error::{Error, ErrorKind, Result};
use crate::jump::{Step, walk};
use crate::source::SectionBytes;

impl<B: SectionBytes> PresenceReader<B> {
    /// Reads everything, and proves that it is consistent: that the chain has a block for each 65,536
    /// documents and ends where the section does, that each block holds as many documents as its
    /// header says and is byte for byte what the encoder makes of them in its kind (so ranks, starts,
    /// order and padding are right), that the blocks' values add up, and that the jump table, which is
    /// checked in every mode, has the entries that a walk gives.
    ///
    /// O(bytes + `docs` / 64).
    ///
    /// # Errors
    ///
    /// At the first byte that is not as it has to be.
    pub fn verify(&self) -> Result<()> {
        let Shape::Blocks { chain, jump } = &self.shape else { return Ok(()) };
        let mut expected = Vec::new();
        walk(chain, |number, _, Step { entry, .. }| {
            expected.clear();
            rewrite(&chain.block(u32::try_from(number).unwrap_or(u32::MAX), entry, true), &mut expected)?;
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

/// Reads the block's documents, and appends the payload that they give.
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

/// Refuses with `why` at the first byte from `at` on that is not `expected`.
fn same<B: SectionBytes>(bytes: &B, at: usize, expected: &[u8], why: &'static str) -> Result<()> {
    let found = bytes.slice(at..at + expected.len())?;
    if found == expected {
        return Ok(());
    }
    let agree = found.iter().zip(expected).take_while(|(found, expected)| found == expected).count();
    Err(Error::at(bytes.place(), at + agree, ErrorKind::Broken(why)))
}
