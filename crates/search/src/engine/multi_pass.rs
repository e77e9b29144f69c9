//! Collecting in several passes over the documents, each for a part of the values, to stay within the memory limit.
//!
//! Every value has a place: its own if values are dense (ords, numbers close together), else that of its hash. A pass
//! covers a range of places. If a pass runs out of memory, it is discarded, and the following passes cover half as
//! many places.

use std::sync::Arc;

use super::collector::Collector;
use super::hash_tables::ValuePart;
use super::memory_budget::MemoryBudget;
use super::open_request::Request;
use crate::error::{Error, Result};

/// The most passes over the documents; a search that needs more fails.
const MAX_PASSES: u32 = 1 << 12;

/// A partition of the values, and the memory for one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiPass {
    /// The number of places.
    pub(crate) places: u32,
    /// The number of places that the first pass covers, at least 1.
    pub(crate) width: u32,
    pub(crate) bytes: usize,
}

impl MultiPass {
    /// Runs a collector over all documents for each part of the values, and passes each finished collector to `done`,
    /// which has no effect if the memory runs out there.
    pub(crate) fn run<C: Collector>(
        self,
        request: &Request<'_>,
        make: impl Fn(&ValuePart, Arc<MemoryBudget>) -> Result<C>,
        mut done: impl FnMut(C) -> Result<()>,
    ) -> Result<()> {
        let MultiPass { places, mut width, bytes } = self;
        let (all, mut start) = (ValuePart::whole(), 0_u32);
        loop {
            if places.checked_div(width).is_none_or(|passes| passes > MAX_PASSES) {
                let kib = bytes >> 10;
                return Err(Error::Request(format!(
                    "{kib} KiB of memory would need more than {MAX_PASSES} passes over the documents: raise `Search::memory`"
                )));
            }
            let part = all.other(start..start.saturating_add(width).min(places));
            let budget = Arc::new(MemoryBudget::new(bytes, request.stop()));
            let pass = request.run(make(&part, Arc::clone(&budget))?)?;
            if !budget.is_over() {
                done(pass)?;
            }
            if budget.is_over() {
                width /= 2;
                continue;
            }
            start = part.range().end;
            if start >= places {
                return Ok(());
            }
        }
    }
}
