//! Operations on blocks of any kind: one `match` each, which calls the module of the block's layout.

use std::ops::Range;

use super::bitmap::Words;
use super::block::{Block, Probe};
use super::header::{Header, Kind, UNIT};
use super::visitor::Visitor;
use super::{NO_VALUE, dense, list, rank_table, runs, sparse};
use crate::error::{ErrorKind, Place, Result};
use crate::id::DocId;
use crate::source::{SectionBytes, VerifiedSection};

impl Header {
    /// Bytes of the payload in a block of `docs` documents, with padding.
    #[inline]
    pub(super) const fn payload_len(self, docs: u32) -> usize {
        let len = match self.kind {
            Kind::Empty | Kind::Full => 0,
            Kind::List => list::len(self.values),
            Kind::Sparse => sparse::len(self.values, docs),
            Kind::Dense => dense::len(docs),
            Kind::Runs => runs::len(self.runs),
        };
        len.next_multiple_of(UNIT)
    }

    /// Refuses a header that a block of `docs` documents cannot have.
    #[inline]
    pub(super) fn check(self, docs: u32) -> Result<(), ErrorKind> {
        let (fewest, most) = match self.kind {
            Kind::Empty => (0, 0),
            Kind::Full => (docs, docs),
            Kind::List => (1, list::MOST),
            Kind::Sparse => (1, sparse::MOST),
            Kind::Dense => (1, docs),
            Kind::Runs => (u32::from(self.runs), docs),
        };
        let (what, found, max) = ("values in a presence block", self.values.into(), most.min(docs).into());
        if self.values < fewest {
            return Err(ErrorKind::Mismatch { what, found, expected: fewest.into() });
        }
        ErrorKind::at_most(what, found, max)?;
        let has_runs = (self.runs > 0) == (self.kind == Kind::Runs);
        ErrorKind::rule(has_runs, "the run count of a presence block does not fit its kind")
    }

    /// Appends the payload of `words`, from which this header was made.
    pub(super) fn encode_payload(self, words: &Words, docs: u32, out: &mut Vec<u8>) {
        match self.kind {
            Kind::Empty | Kind::Full => {}
            Kind::List => list::encode(words, out),
            Kind::Sparse => sparse::encode(words, docs, out),
            Kind::Dense => dense::encode(words, docs, out),
            Kind::Runs => runs::encode(words, out),
        }
        out.resize(out.len().next_multiple_of(UNIT), 0);
    }
}

impl<'a, B: SectionBytes> Block<'a, B> {
    /// The rank of document `low`, which must be one of the block's.
    ///
    /// # Errors
    ///
    /// When bytes cannot be read or are damaged.
    #[inline]
    pub fn probe(&self, low: u32) -> Result<Probe> {
        let probe = match self.header.kind {
            Kind::Empty => Probe { before: 0, present: false },
            Kind::Full => Probe { before: low, present: true },
            Kind::List => list::probe(self, low)?,
            Kind::Sparse => sparse::probe(self, low)?,
            Kind::Dense => dense::probe(self, low)?,
            Kind::Runs => runs::probe(self, low)?,
        };
        self.within(probe)
    }

    /// The words of a dense block: for benches that count them without its rank table.
    ///
    /// # Errors
    ///
    /// When bytes cannot be read or are damaged.
    pub fn bitmap(&self) -> Result<Option<&'a [u8]>> {
        let words = rank_table::len(self.docs)..dense::len(self.docs);
        (self.header.kind == Kind::Dense).then(|| self.slice(words)).transpose()
    }

    /// Refuses a rank that exceeds the header's `values`.
    #[inline]
    pub(super) fn within(&self, probe: Probe) -> Result<Probe> {
        let inside = probe.before + u32::from(probe.present) <= self.header.values;
        inside
            .then_some(probe)
            .ok_or_else(|| self.broken(0, "a rank in a presence block exceeds its value count"))
    }

    /// Writes the value indices of `docs`, all of this block: `first` plus their ranks, or [`NO_VALUE`].
    ///
    /// Fetches and verifies the payload once, so that each look-up checks only bounds.
    pub(super) fn rank_many(&self, docs: &[DocId], first: u32, out: &mut [u32]) -> Result<()> {
        let Place { section, offset } = self.bytes.place();
        let place = Place { section, offset: offset.saturating_add(self.at as u64) };
        // Without a tail: no decoder reads past the end of the payload.
        let payload = VerifiedSection { place, bytes: self.slice(0..self.header.payload_len(self.docs))? };
        let Block { docs: size, header, .. } = *self;
        let block = Block { bytes: &payload, at: 0, docs: size, header };
        match header.kind {
            Kind::Empty => out.fill(NO_VALUE),
            Kind::Full => {
                out.iter_mut().zip(docs).for_each(|(out, doc)| *out = first + u32::from(doc.split().1));
            }
            Kind::List => return block.each_probe(docs, first, out, list::probe),
            Kind::Sparse => return block.each_probe(docs, first, out, sparse::probe),
            Kind::Dense => return block.each_probe(docs, first, out, dense::probe),
            Kind::Runs => return block.each_probe(docs, first, out, runs::probe),
        }
        Ok(())
    }

    /// Calls one layout's `probe` for each document, so that the kind is matched only once.
    #[inline]
    fn each_probe(
        &self,
        docs: &[DocId],
        first: u32,
        out: &mut [u32],
        probe: impl Fn(&Self, u32) -> Result<Probe>,
    ) -> Result<()> {
        for (doc, out) in docs.iter().zip(out) {
            let probe = self.within(probe(self, doc.split().1.into())?)?;
            *out = if probe.present { first + probe.before } else { NO_VALUE };
        }
        Ok(())
    }

    /// Passes the documents of `lows` that have a value to `visitor`, ascending; `first` is the number of the block's
    /// first document. Whatever the bytes are, the visitor gets no document twice and none outside `lows`.
    pub(super) fn visit(&self, lows: Range<u32>, first: u32, visitor: &mut impl Visitor) -> Result<()> {
        match self.header.kind {
            Kind::Empty => Ok(()),
            Kind::Full => {
                visitor.run(first + lows.start..first + lows.end);
                Ok(())
            }
            Kind::List => list::visit(self, lows, first, visitor),
            Kind::Sparse => sparse::visit(self, lows, first, visitor),
            Kind::Dense => dense::visit(self, lows, first, visitor),
            Kind::Runs => runs::visit(self, lows, first, visitor),
        }
    }
}
