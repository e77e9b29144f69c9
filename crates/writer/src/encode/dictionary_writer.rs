//! [`DictionaryWriter`]: builds a dictionary from sorted terms.

use docvalues_format::dictionary::{BuildError, Dictionary, DictionaryBuilder};
use docvalues_format::error::Section;

use crate::buffer::{Payload, Scratch, payloads};
use crate::error::ErrorKind;

/// A dictionary builder that moves full blocks to disk, if there is a temporary file.
pub(crate) struct DictionaryWriter {
    pub(crate) builder: DictionaryBuilder,
    on_disk: Option<Scratch>,
    /// The maximum size of blocks in memory, in bytes, if there is a temporary file.
    most: usize,
}

impl DictionaryWriter {
    pub(crate) fn new(on_disk: Option<Scratch>, most: usize) -> DictionaryWriter {
        DictionaryWriter { builder: DictionaryBuilder::new(), on_disk, most }
    }

    /// Appends a term, which must be above the one before.
    pub(crate) fn push(&mut self, term: &[u8]) -> Result<(), ErrorKind> {
        self.builder.push(term).map_err(|refused| match refused {
            BuildError::TooMany => ErrorKind::TooManyTerms { max: u32::MAX },
            refused => refused.into(),
        })?;
        match &mut self.on_disk {
            Some(on_disk) if self.builder.blocks_len() > self.most => {
                Ok(on_disk.append(&self.builder.take_blocks())?)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn finish(self, jump_tables: bool) -> Dictionary<Payload> {
        let on_disk =
            self.on_disk.filter(|on_disk| on_disk.len() > 0).map(|on_disk| (Section::Terms, on_disk));
        let Ok(terms) = self.builder.finish(jump_tables).try_map(&mut payloads(on_disk));
        terms
    }
}
