//! [`Request`]: the documents and open columns of one request.

use std::sync::Arc;

use docvalues_column::{Bitset, Column};

use super::collector::{Collector, PassPart};
use super::columns::{ColumnSet, Columns, PartColumns, Slot};
use super::docs::Docs;
use super::docs_by_part::DocsByPart;
use super::interrupt::Interrupt;
use super::parts::OpenPart;
use super::pass::Pass;
use super::search::Search;
use crate::error::Result;

/// A request: its documents and open columns.
pub(crate) struct Request<'r> {
    search: &'r Search<'r>,
    parts: Vec<RequestPart<'r>>,
    columns: Columns,
    hits: u64,
}

/// The documents of a request in one part.
struct RequestPart<'r> {
    /// The number of documents in the part.
    total: u32,
    /// The documents that the caller passed, or the live documents if these are all of the part.
    given: Docs<'r>,
    /// The documents of the request, if they differ.
    chosen: Option<Bitset>,
}

impl RequestPart<'_> {
    /// The documents of the request. [`Docs::All`] if these are all documents of the part: then columns are scanned
    /// in runs.
    fn docs(&self) -> Docs<'_> {
        let docs = self.chosen.as_ref().map_or(self.given, Docs::Bits);
        if docs.is_all(self.total) { Docs::All } else { docs }
    }
}

impl<'r> Request<'r> {
    /// Opens a request over the live documents among `docs`.
    pub(crate) fn open(search: &'r Search<'_>, docs: DocsByPart<'r>) -> Result<Request<'r>> {
        let mut hits = 0;
        let part = |part: usize| {
            let open = &search.parts[part];
            let total = open.source.docs();
            let (given, chosen) = match (docs.of_part(part, search.parts.len())?, open.live()) {
                (Docs::All, Some(live)) => (Docs::Bits(live), None),
                (given, _) => (given, live_among(open, given, search.docs_memory())?),
            };
            hits += u64::from(chosen.as_ref().map_or_else(|| given.count(total), Bitset::count));
            Ok(RequestPart { total, given, chosen })
        };
        let parts = (0..search.parts.len()).map(part).collect::<Result<_>>()?;
        Ok(Request { search, parts, columns: Columns::default(), hits })
    }

    /// Opens a column and returns its slot. Ords of several parts have nothing to do with each other.
    pub(crate) fn slot(&mut self, name: &str) -> Result<Slot> {
        match self.columns.find(name) {
            Some(slot) => Ok(slot),
            None => Ok(self.columns.add(Some(name), self.search.column_set(name)?)),
        }
    }

    /// Opens a column and returns its slot. Ords of several parts are read as ids.
    pub(crate) fn id_slot(&mut self, name: &str) -> Result<Slot> {
        let slot = self.slot(name)?;
        self.columns.read_as_ids(slot, |set| self.search.term_ids(set))?;
        Ok(slot)
    }

    /// The column `name` in all parts, without a slot.
    pub(crate) fn column_set(&self, name: &str) -> Result<Arc<ColumnSet>> {
        self.search.column_set(name)
    }

    /// Adds a column that is made of others, and returns its slot.
    pub(crate) fn add_unnamed(&mut self, set: impl Into<Arc<ColumnSet>>) -> Slot {
        self.columns.add(None, set.into())
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The number of documents of all parts.
    pub(crate) fn total(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.total)).sum()
    }

    /// The columns in a part.
    pub(crate) fn columns_of(&self, part: usize) -> PartColumns<'_> {
        self.columns.part(part)
    }

    /// A column in a part.
    pub(crate) fn column_of(&self, part: usize, slot: Slot) -> &dyn Column {
        self.columns.part(part).get(slot)
    }

    /// Whether the request covers all documents of all parts: then descriptions of columns hold for the request.
    pub(crate) fn is_all(&self) -> bool {
        self.hits == self.total()
    }

    /// The number of documents of the request.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// The number of documents of the request in a part.
    pub(crate) fn hits_of(&self, part: usize) -> u32 {
        self.parts[part].docs().count(self.parts[part].total)
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.search.threads
    }

    /// The memory limit for all collectors together, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.search.pass_memory()
    }

    pub(crate) fn stop(&self) -> &Interrupt {
        &self.search.stop
    }

    /// The documents of the request in a part, as a pass visits them.
    pub(crate) fn pass_part(&self, part: usize) -> PassPart<'_> {
        let RequestPart { total, .. } = self.parts[part];
        PassPart { columns: self.columns_of(part), total, docs: self.parts[part].docs() }
    }

    /// Runs `collector` over all documents of the request.
    pub(crate) fn run<C: Collector>(&self, collector: C) -> Result<C> {
        let parts: Vec<_> = (0..self.parts.len()).map(|part| self.pass_part(part)).collect();
        let within = Pass::EVERYWHERE;
        Pass { parts: &parts, within, threads: self.threads(), stop: self.stop() }.run(collector)
    }
}

/// The live documents of a part among `docs`, as bits within `memory` bytes; `None` if all of `docs` are live.
fn live_among(part: &OpenPart<'_>, docs: Docs<'_>, memory: usize) -> Result<Option<Bitset>> {
    let total = part.source.docs();
    let mut chosen = match (docs, part.live()) {
        (Docs::Bits(bits), None) if bits.docs() == total => return Ok(None),
        // The documents that a filter found are live.
        (Docs::Bits(bits), Some(live)) if bits.docs() == total && live.contains_all(bits) => {
            return Ok(None);
        }
        (Docs::All | Docs::Range(..) | Docs::List(_), None) => return Ok(None),
        (docs, _) => docs.try_bits(total, memory)?,
    };
    if let Some(live) = part.live() {
        chosen.intersect(live);
    }
    Ok(Some(chosen))
}
