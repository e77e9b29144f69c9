//! Scan of a range of ords: terms in order, each built from the one before.

use std::ops::{ControlFlow, Range};

use super::DictionaryReader;
use super::block::BLOCK_TERMS;
use crate::error::{ErrorKind, Result};
use crate::id::TermOrd;
use crate::source::SectionBytes;

impl<B: SectionBytes> DictionaryReader<B> {
    /// Calls `each` with the terms of `ords` in order, until it breaks. Decodes every block once, and of each term
    /// copies only the bytes that it does not share with the one before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] if `ords` ends past the last term; when bytes cannot be read or are damaged.
    ///
    /// # Complexity
    ///
    /// O(bytes that the term does not share with its block's first), for each term.
    pub fn for_each(
        &self,
        ords: Range<u32>,
        mut each: impl FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        if ords.end > self.len() {
            return Err(self.no_such_ord("end of a range of ords", ords.end, self.len()));
        }
        let (mut next, mut term) = (ords.start, Vec::new());
        while next < ords.end {
            let end = ords.end.min((next | (BLOCK_TERMS - 1)).saturating_add(1));
            if self.each_of_block(next..end, &mut term, &mut each)?.is_break() {
                break;
            }
            next = end;
        }
        Ok(())
    }

    /// Calls `each` with the terms of `ords`, all of one block, until it breaks. Builds them in `term`.
    fn each_of_block(
        &self,
        ords: Range<u32>,
        term: &mut Vec<u8>,
        each: &mut impl FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let (section, header) = self.header(ords.start / BLOCK_TERMS)?;
        let bytes = section.slice(header.block())?;
        let (_, head) = self.parts(section, &header, 0)?;
        head.clone_into(term);
        let first = (ords.start % BLOCK_TERMS) as usize;
        // The start of the next term's own bytes, and the number of bytes of the head in `term`.
        let (mut start, mut kept) = (header.start(first), head.len());
        for (i, ord) in (first..).zip(ords) {
            let (shared, end) = (header.shared(i), header.end(i, start)?);
            if shared > kept {
                let rule = "a term shares more bytes with its block's first term than the term before it";
                return Err(header.refuse(ErrorKind::Broken(rule)));
            }
            let own = &bytes[start..end];
            self.check_len(&header, shared + own.len())?;
            term.truncate(shared);
            term.extend_from_slice(own);
            if each(TermOrd::new(ord), term).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            start = end;
            // The head's `shared` is 0, but all of its bytes may be shared.
            if i > 0 {
                kept = shared;
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
