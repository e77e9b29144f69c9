//! Collectors: the consumers of a pass, called window by window.

use docvalues_column::DocRange;

use super::columns::PartColumns;
use super::docs::Docs;
use super::interrupt::Interrupt;
use super::window::Window;
use crate::error::Result;

/// The documents of a pass in one part.
#[derive(Clone, Copy)]
pub(crate) struct PassPart<'a> {
    pub(crate) columns: PartColumns<'a>,
    /// The number of documents in the part.
    pub(crate) total: u32,
    pub(crate) docs: Docs<'a>,
}

/// Computes a result from windows of documents. Every thread has its own; they are merged in the end.
pub(crate) trait Collector: Send {
    /// Returns an empty collector of the same kind, for another thread.
    fn fork(&self) -> Self
    where
        Self: Sized;

    /// Sets the bits of the competitive documents of `docs`, or returns [`Competitive::All`] if all are. Called only if
    /// it [may skip](Self::may_skip) documents.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn competitive_docs(
        &mut self,
        _columns: PartColumns<'_>,
        _docs: DocRange,
        _competitive: &mut [u64],
    ) -> Result<Competitive> {
        Ok(Competitive::All)
    }

    /// Sets the bits of the groups of [`DOCS_PER_GROUP`](docvalues_format::bits::retain::DOCS_PER_GROUP) documents in
    /// `docs` that skip indexes cannot exclude: by fine zones if `finely`, else by zones. `docs` begins at a block
    /// boundary, unless no document was collected yet.
    ///
    /// Called instead of [`competitive_docs`](Self::competitive_docs) if the set has few documents. Collecting each
    /// of them is then cheaper than filtering whole blocks.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn groups_to_visit(
        &mut self,
        _columns: PartColumns<'_>,
        _docs: DocRange,
        _finely: bool,
        groups: &mut [u64],
    ) -> Result<()> {
        groups.fill(u64::MAX);
        Ok(())
    }

    /// Whether it may report that some documents are not competitive. If not, it is not asked.
    fn may_skip(&self) -> bool {
        false
    }

    /// Whether it needs no documents at all. Then it is not asked to collect any.
    fn is_idle(&self) -> bool {
        false
    }

    /// Collects the documents of a window.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn collect(&mut self, window: &mut Window<'_>) -> Result<()>;

    /// Called before the first document of a part. Returns false if no document of the part can change the result;
    /// they are then not visited.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn enter(&mut self, _part: &PassPart<'_>) -> Result<bool> {
        Ok(true)
    }

    /// Called after the last document of a part that was entered.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn leave(&mut self, _part: &PassPart<'_>) -> Result<()> {
        Ok(())
    }

    /// Called after each chunk, with its number among all chunks of the pass.
    fn chunk_ends(&mut self, _chunk: u64) {}

    /// The most threads that may each have one of these within the memory limit.
    fn max_threads(&self) -> usize {
        usize::MAX
    }

    /// Merges the result of another thread.
    ///
    /// # Errors
    ///
    /// When the search is interrupted.
    fn merge(&mut self, other: Self, stop: &Interrupt) -> Result<()>
    where
        Self: Sized;
}

/// Runs each collector of a list.
impl<C: Collector> Collector for Vec<C> {
    fn fork(&self) -> Vec<C> {
        self.iter().map(C::fork).collect()
    }

    fn is_idle(&self) -> bool {
        self.iter().all(C::is_idle)
    }

    fn enter(&mut self, part: &PassPart<'_>) -> Result<bool> {
        self.iter_mut().try_fold(false, |any, one| Ok(one.enter(part)? | any))
    }

    fn leave(&mut self, part: &PassPart<'_>) -> Result<()> {
        self.iter_mut().try_for_each(|one| one.leave(part))
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        self.iter_mut().filter(|one| !one.is_idle()).try_for_each(|one| one.collect(window))
    }

    fn chunk_ends(&mut self, chunk: u64) {
        self.iter_mut().for_each(|one| one.chunk_ends(chunk));
    }

    fn max_threads(&self) -> usize {
        self.iter().map(C::max_threads).min().unwrap_or(usize::MAX)
    }

    fn merge(&mut self, other: Vec<C>, stop: &Interrupt) -> Result<()> {
        self.iter_mut().zip(other).try_for_each(|(one, other)| one.merge(other, stop))
    }
}

/// Runs two collectors.
impl<A: Collector, B: Collector> Collector for (A, B) {
    fn fork(&self) -> (A, B) {
        (self.0.fork(), self.1.fork())
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle() && self.1.is_idle()
    }

    fn enter(&mut self, part: &PassPart<'_>) -> Result<bool> {
        Ok(self.0.enter(part)? | self.1.enter(part)?)
    }

    fn leave(&mut self, part: &PassPart<'_>) -> Result<()> {
        self.0.leave(part)?;
        self.1.leave(part)
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        if !self.0.is_idle() {
            self.0.collect(window)?;
        }
        if self.1.is_idle() { Ok(()) } else { self.1.collect(window) }
    }

    fn chunk_ends(&mut self, chunk: u64) {
        self.0.chunk_ends(chunk);
        self.1.chunk_ends(chunk);
    }

    fn max_threads(&self) -> usize {
        self.0.max_threads().min(self.1.max_threads())
    }

    fn merge(&mut self, other: (A, B), stop: &Interrupt) -> Result<()> {
        self.0.merge(other.0, stop)?;
        self.1.merge(other.1, stop)
    }
}

/// The documents of a block that can still change a collector's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Competitive {
    All,
    Bits,
}
