//! Collectors: the works that a pass shows its documents to, window by window.

use docvalues_column::DocRange;

use crate::columns::Columns;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::window::Window;

/// A work that looks at windows of documents.
pub(crate) trait Collector: Sized + Send {
    /// One like this that has seen nothing, for another thread.
    fn fork(&self) -> Self;

    /// Adds the documents of `docs` that may matter to `bits`, or returns that all may, as by default.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn competitive_docs(
        &mut self,
        _columns: &Columns,
        _docs: DocRange,
        _bits: &mut [u64],
    ) -> Result<Competitive> {
        Ok(Competitive::All)
    }

    /// Sets the bits of the groups of [`DOCS_PER_BIT`](docvalues_format::bits::keep::DOCS_PER_BIT) of `docs` that have documents that may matter, as far as skip indexes
    /// tell: fine zones if `finely`, else coarse ones. `docs` begin with a block.
    ///
    /// It is asked instead of [`competitive_docs`](Self::competitive_docs) if the set has few documents: to look at each of these is cheaper than
    /// to find out which of all documents matter.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn competitive_groups(
        &mut self,
        _columns: &Columns,
        _docs: DocRange,
        _finely: bool,
        bits: &mut [u64],
    ) -> Result<()> {
        bits.fill(u64::MAX);
        Ok(())
    }

    /// Whether it may want less than all.
    fn may_skip(&self) -> bool {
        false
    }

    /// Whether it need not see anything.
    fn is_idle(&self) -> bool {
        false
    }

    /// Looks at the documents of a window.
    ///
    /// # Errors
    ///
    /// When bytes of a column are damaged.
    fn collect(&mut self, window: &mut Window<'_>) -> Result<()>;

    /// A chunk is over.
    fn chunk_ends(&mut self, _chunk: u32) {}

    /// The most threads that have the memory for one like this each.
    fn most_threads(&self) -> usize {
        usize::MAX
    }

    /// Takes over what another one has seen.
    ///
    /// # Errors
    ///
    /// When the search is interrupted.
    fn merge(&mut self, other: Self, stop: &Interrupt) -> Result<()>;
}

/// Several, each of which sees all.
impl<C: Collector> Collector for Vec<C> {
    fn fork(&self) -> Vec<C> {
        self.iter().map(C::fork).collect()
    }

    fn is_idle(&self) -> bool {
        self.iter().all(C::is_idle)
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        self.iter_mut().try_for_each(|one| one.collect(window))
    }

    fn chunk_ends(&mut self, chunk: u32) {
        self.iter_mut().for_each(|one| one.chunk_ends(chunk));
    }

    fn most_threads(&self) -> usize {
        self.iter().map(C::most_threads).min().unwrap_or(usize::MAX)
    }

    fn merge(&mut self, other: Vec<C>, stop: &Interrupt) -> Result<()> {
        self.iter_mut().zip(other).try_for_each(|(one, other)| one.merge(other, stop))
    }
}

/// One that sees all, if there is one.
impl<C: Collector> Collector for Option<C> {
    fn fork(&self) -> Option<C> {
        self.as_ref().map(C::fork)
    }

    fn is_idle(&self) -> bool {
        self.as_ref().is_none_or(C::is_idle)
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        self.iter_mut().try_for_each(|one| one.collect(window))
    }

    fn chunk_ends(&mut self, chunk: u32) {
        self.iter_mut().for_each(|one| one.chunk_ends(chunk));
    }

    fn most_threads(&self) -> usize {
        self.as_ref().map_or(usize::MAX, C::most_threads)
    }

    fn merge(&mut self, other: Option<C>, stop: &Interrupt) -> Result<()> {
        self.iter_mut().zip(other).try_for_each(|(one, other)| one.merge(other, stop))
    }
}

/// Three, each of which sees all.
impl<A: Collector, B: Collector, C: Collector> Collector for (A, B, C) {
    fn fork(&self) -> (A, B, C) {
        (self.0.fork(), self.1.fork(), self.2.fork())
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle() && self.1.is_idle() && self.2.is_idle()
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        self.0.collect(window)?;
        self.1.collect(window)?;
        self.2.collect(window)
    }

    fn chunk_ends(&mut self, chunk: u32) {
        self.0.chunk_ends(chunk);
        self.1.chunk_ends(chunk);
        self.2.chunk_ends(chunk);
    }

    fn most_threads(&self) -> usize {
        self.0.most_threads().min(self.1.most_threads()).min(self.2.most_threads())
    }

    fn merge(&mut self, other: (A, B, C), stop: &Interrupt) -> Result<()> {
        self.0.merge(other.0, stop)?;
        self.1.merge(other.1, stop)?;
        self.2.merge(other.2, stop)
    }
}

/// Which documents of a block a collector wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Competitive {
    All,
    Bits,
}
