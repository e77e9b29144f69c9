//! Every byte of an index of ids, compared with every other.

use std::ops::ControlFlow;

use docvalues_format::error::{ErrorKind, Result};
use docvalues_format::source::SectionBytes;

use super::{IdsReader, NOT_PACKED, refuse};
use crate::dictionary::Dictionary;
use crate::filter::Probe;
use crate::hash::hash;
use crate::ids::MAX_BOUND;
use crate::template::Packed;

impl<B: SectionBytes> IdsReader<B> {
    /// Reads everything and proves that it is one index: ids ascend, look as the template says, are let through by the
    /// filter, and each is found; documents are the segment's, and each has one id at most.
    ///
    /// O(bytes); holds four bytes for each id.
    ///
    /// # Errors
    ///
    /// What is wrong first.
    pub fn verify(&self) -> Result<()> {
        // First, because then there are as many ids as it says, and room for their documents.
        self.keys.dictionary().map_or(Ok(()), Dictionary::verify)?;
        self.docs.verify()?;
        self.verify_ids()?;
        let mut docs = Vec::with_capacity(self.count as usize);
        for rank in 0..self.count {
            docs.push(self.doc(rank)?);
        }
        docs.sort_unstable();
        match docs.is_sorted_by(|a, b| a < b) {
            true => Ok(()),
            false => Err(refuse(ErrorKind::Broken("a document has two ids"))),
        }
    }

    fn verify_ids(&self) -> Result<()> {
        let wrong = |what| refuse(ErrorKind::Broken(what));
        let (mut id, mut room, mut longest, mut last) = (Vec::new(), Packed::default(), 0, Vec::new());
        let mut each = |rank: u32, key: &[u8]| {
            if self.template.unpack(key, &mut id).is_none() || self.template.pack(&id, &mut room) != Some(key)
            {
                return Err(wrong(NOT_PACKED));
            }
            if !self.may_hold(&Probe::new(hash(&id, self.seed)))? {
                return Err(wrong("the filter does not know an id"));
            }
            if rank == 0 && *self.least != key[..key.len().min(MAX_BOUND)] {
                return Err(wrong("the least id is another one"));
            }
            longest = longest.max(id.len());
            last.clear();
            last.extend_from_slice(&key[..key.len().min(MAX_BOUND)]);
            Ok(ControlFlow::Continue(()))
        };
        self.keys.dictionary().map_or(Ok(()), |keys| keys.each(0..self.count, &mut each))?;
        if *self.greatest != last {
            return Err(wrong("the greatest id is another one"));
        }
        match longest == self.max_len() {
            true => Ok(()),
            false => Err(wrong("the longest id has another length")),
        }
    }
}
