//! The dictionary of an open column.

use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues_column::{ErrorKind, Lists, OrdRange, Result, TermOrd, Terms};
use docvalues_format::dictionary::{BATCH, DictionaryReader};
use docvalues_storage::{Section, Source};

use crate::column::{FormatResult, corrupt, request};

/// The sorted terms of an open column.
#[derive(Debug)]
pub(crate) struct Dictionary {
    pub(crate) file: Arc<str>,
    pub(crate) source: Arc<Source>,
    pub(crate) field: String,
    pub(crate) reader: DictionaryReader<Section>,
}

impl Dictionary {
    /// Adds the names of the file and the column to the error of a result.
    #[inline]
    fn named<T>(&self, result: FormatResult<T>) -> Result<T> {
        result.map_err(|source| corrupt(&self.file, Some(&self.field), source))
    }

    /// Checks that each of `ords` has a term.
    fn check_ords(&self, ords: &[TermOrd]) -> Result<()> {
        let len = self.reader.len();
        // No early exit, so that the comparisons are vectorized.
        if !ords.iter().fold(false, |past, ord| past | (ord.get() >= len)) {
            return Ok(());
        }
        let past = ords.iter().map(|ord| ord.get()).find(|&ord| ord >= len);
        Err(ErrorKind::NoSuchOrd { field: self.field.clone(), ord: past.unwrap_or(len), len }.into())
    }
}

impl Terms for Dictionary {
    fn term_count(&self) -> u32 {
        self.reader.len()
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        let (mut gather, mut term) = (self.reader.gather(), Vec::new());
        out.clear();
        request(&self.source, ords, &mut |ord| drop(self.reader.term(ord, &mut term)));
        for ords in ords.chunks(BATCH) {
            self.check_ords(ords)?;
            self.named(gather.locate(ords))?;
            self.named(out.extend_with(gather.lens(), |bytes| gather.append_to(bytes)))?;
        }
        Ok(())
    }

    fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
        self.named(self.reader.seek_ceil(term))
    }

    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> Result<()> {
        self.check_ords(&[ord])?;
        self.named(self.reader.term(ord, out))
    }

    fn seek_exact(&self, term: &[u8]) -> Result<Option<TermOrd>> {
        self.named(self.reader.seek_exact(term))
    }

    fn each_term(
        &self,
        ords: OrdRange,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let ords = ords.clip(self.reader.len());
        self.named(self.reader.for_each(ords.into(), |ord, term| each(ord, term)))
    }
}
