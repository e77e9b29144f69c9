//! Full verification of an id index: every byte is compared with every other.

use std::collections::HashMap;
use std::ops::ControlFlow;

use docvalues_format::error::{ErrorKind, Result};
use docvalues_format::source::SectionBytes;

use super::{IdsReader, NOT_PACKED, refuse};
use crate::bloom::Probe;
use crate::hash::hash;
use crate::ids::MAX_BOUND;
use crate::packing::Packed;

impl<B: SectionBytes> IdsReader<B> {
    /// Reads everything and proves that it is one index. Ids ascend, fit the template, pass the filter, and are
    /// found; documents are those of the segment, and each has at most one id.
    ///
    /// O(ids). Memory: a bit for each document, in chunks that hold any.
    ///
    /// # Errors
    ///
    /// The first violation.
    pub fn verify(&self) -> Result<()> {
        self.inner.with_dictionary(&mut |keys| keys.verify())?;
        self.inner.docs.verify()?;
        self.verify_ids()?;
        self.verify_docs()
    }

    fn verify_docs(&self) -> Result<()> {
        /// Documents whose bits share an allocation.
        const TOGETHER: u32 = 1 << 16;
        let mut seen = HashMap::<u32, Box<[u64]>>::new();
        for rank in 0..self.inner.meta.count {
            let doc = self.doc(rank)?.get();
            let bits = seen.entry(doc / TOGETHER).or_insert_with(|| vec![0; TOGETHER as usize / 64].into());
            let word = &mut bits[(doc % TOGETHER / 64) as usize];
            if *word >> (doc % 64) & 1 == 1 {
                return Err(refuse(ErrorKind::Broken("a document has two ids")));
            }
            *word |= 1 << (doc % 64);
        }
        Ok(())
    }

    fn verify_ids(&self) -> Result<()> {
        let meta = &self.inner.meta;
        let rule = |holds, why| ErrorKind::rule(holds, why).map_err(refuse);
        let (mut id, mut buffer, mut longest, mut last) = (Vec::new(), Packed::default(), 0, Vec::new());
        let mut each = |rank: u32, key: &[u8]| -> Result<ControlFlow<()>> {
            let unpacked = meta.template.unpack(key, &mut id);
            rule(unpacked.is_some() && meta.template.pack(&id, &mut buffer) == Some(key), NOT_PACKED)?;
            let may_hold = self.may_hold(&Probe::new(hash(&id, meta.seed)))?;
            rule(may_hold, "the filter rejects an id that is there")?;
            let bound = &key[..key.len().min(MAX_BOUND)];
            rule(rank > 0 || *meta.least == *bound, "the least id is not the one in the directory")?;
            longest = longest.max(id.len());
            last.clear();
            last.extend_from_slice(bound);
            Ok(ControlFlow::Continue(()))
        };
        self.inner.with_dictionary(&mut |keys| keys.each(0..meta.count, &mut each))?;
        rule(*meta.greatest == last, "the greatest id is not the one in the directory")?;
        let is_longest = longest == usize::from(meta.max_len);
        rule(is_longest, "the longest id does not have the length in the directory")
    }
}
