//! Passes over the documents that are about a part of the values each: as many as the memory makes necessary.
//!
//! Values have places: ords and numbers that lie close have their own, others that of their hash. A pass that finds more
//! values than there is room for is in vain, and the next one is about half of the places.

use std::sync::Arc;

use crate::collector::Collector;
use crate::error::{Error, Result};
use crate::hash_tables::ValuePart;
use crate::memory_budget::MemoryBudget;
use crate::search::Request;

/// The most passes over the documents.
const MOST: u32 = 1 << 12;

/// How values are parted, and what memory there is for those of a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MultiPass {
    /// Places that values have.
    pub(crate) places: u32,
    /// Places of the first pass, 1 at least.
    pub(crate) width: u32,
    pub(crate) bytes: usize,
}

impl MultiPass {
    /// Shows all documents to a collector for each part of the values, and hands each to `done`.
    pub(crate) fn run<C: Collector>(
        self,
        request: &Request<'_>,
        make: impl Fn(&ValuePart, Arc<MemoryBudget>) -> Result<C>,
        mut done: impl FnMut(C) -> Result<()>,
    ) -> Result<()> {
        let MultiPass { places, mut width, bytes } = self;
        let (all, mut start) = (ValuePart::whole(), 0_u32);
        loop {
            if places.checked_div(width).is_none_or(|passes| passes > MOST) {
                let kib = bytes >> 10;
                return Err(Error::Request(format!(
                    "more than {MOST} passes over the documents would be needed in {kib} KiB of memory: see `Search::memory`"
                )));
            }
            let part = all.other(start..start.saturating_add(width).min(places));
            let budget = Arc::new(MemoryBudget::new(bytes, request.stop()));
            let pass = request.run(make(&part, Arc::clone(&budget))?)?;
            if budget.is_over() {
                width /= 2;
                continue;
            }
            done(pass)?;
            start = part.range().end;
            if start >= places {
                return Ok(());
            }
        }
    }
}
