//! The full check of a dictionary.

use super::block::{BlockHeader, Class};
use super::seek::key;
use super::{DictionaryReader, KEY_LEN, place_of};
use crate::error::{ErrorKind, Result};
use crate::source::SectionBytes;
use crate::strings::shared_len;

/// The state of a check: facts about the terms so far.
#[derive(Default)]
struct Seen {
    max_len: usize,
    total_len: u64,
    /// The term before, and the current one.
    terms: [Vec<u8>; 2],
    any: bool,
}

impl<B: SectionBytes> DictionaryReader<B> {
    /// Reads all sections. Checks that the blocks fill their section, are encoded as the writer encodes them, and hold
    /// ascending terms, and that offsets, keys and the numbers of the directory fit the terms. Any prefix of the keys
    /// is accepted.
    ///
    /// # Errors
    ///
    /// The first rule that is broken.
    ///
    /// # Complexity
    ///
    /// O(bytes of all terms), with memory for two terms.
    pub fn verify(&self) -> Result<()> {
        // The smallest offset is 0 and the largest the length of the section. They also ascend, which each block
        // checks, so the blocks fill the section.
        if let Some(index) = &self.index {
            index.offsets.verify()?;
        }
        let mut seen = Seen::default();
        for block in 0..self.block_count() {
            let (section, header) = self.header(block)?;
            self.verify_block(section, &header, &mut seen)?;
            if let Some(index) = &self.index {
                let (_, head) = self.parts(section, &header, 0)?;
                let (found, expected) = (index.key(block)?, key(head, &index.prefix));
                let checked = ErrorKind::equal("key of a block of terms", found, expected);
                index.keys.place().check(block as usize * KEY_LEN, checked)?;
            }
        }
        let place = place_of(self.blocks.as_ref());
        let (longest, all) = ("length of the longest term", "length of all terms");
        place.check(0, ErrorKind::equal(longest, self.max_len as u64, seen.max_len as u64))?;
        place.check(0, ErrorKind::equal(all, self.total_len, seen.total_len))
    }

    fn verify_block(&self, section: &B, header: &BlockHeader<'_>, seen: &mut Seen) -> Result<()> {
        let rule = |holds, why| ErrorKind::rule(holds, why).map_err(|kind| header.refuse(kind));
        let (_, head) = self.parts(section, header, 0)?;
        let mut longest = 0;
        for i in 0..header.terms() {
            let (shared, own) = self.parts(section, header, i)?;
            longest = longest.max(header.shared(i)).max(own.len());
            let shares_no_more = i == 0 || shared_len(&head[shared.len()..], own) == 0;
            rule(shares_no_more, "a term shares more bytes with its block's first term than declared")?;
            rule(seen.is_above(shared, own), "a term is not greater than the one before it")?;
        }
        let last = header.terms() - 1;
        let end = header.end(last, header.start(last))?;
        rule(end == header.block().len(), "bytes after the last term of a block")?;
        let narrowest = u32::try_from(longest).is_ok_and(|longest| Class::of(longest) == header.class());
        rule(narrowest, "the length fields of a block are wider than necessary")
    }
}

impl Seen {
    /// Adds the next term, from its two parts. Returns whether it is above the one before.
    fn is_above(&mut self, shared: &[u8], own: &[u8]) -> bool {
        let [before, term] = &mut self.terms;
        term.clear();
        term.extend_from_slice(shared);
        term.extend_from_slice(own);
        self.max_len = self.max_len.max(term.len());
        self.total_len += term.len() as u64;
        let above = !std::mem::replace(&mut self.any, true) || before < term;
        self.terms.swap(0, 1);
        above
    }
}
