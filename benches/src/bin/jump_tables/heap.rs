//! The heap of an open column. Mapped pages are not counted: they belong to the page cache.

use std::alloc::System;

use docvalues::{DocId, Segment};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use crate::Outcome;
use crate::corpus::{Contender, Corpus};
use crate::work::Cells;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Number of documents whose value is read.
const READ: u32 = 1_000;

/// Bytes on the heap of each contender, after opening the column and after reading it.
pub(crate) struct Heap {
    pub(crate) column: String,
    pub(crate) bytes: [[u64; 2]; 3],
}

/// The heap of the segment, then of each column.
pub(crate) fn run(corpus: &Corpus) -> Outcome<Vec<Heap>> {
    let docs = corpus.hits(READ.min(corpus.docs), 0);
    let mut all: Vec<Heap> = Vec::new();
    for (at, contender) in Contender::ALL.into_iter().enumerate() {
        let before = held();
        let segment = corpus.open(contender, false)?;
        let opened = held().saturating_sub(before);
        let mut rows = vec![("(segment)".to_owned(), [opened; 2])];
        for field in segment.fields()? {
            rows.push((field.name.clone(), column(&segment, &field.name, &docs)?));
        }
        if all.is_empty() {
            all.extend(rows.iter().map(|(name, _)| Heap { column: name.clone(), bytes: [[0; 2]; 3] }));
        }
        all.iter_mut().zip(&rows).for_each(|(heap, (_, bytes))| heap.bytes[at] = *bytes);
    }
    Ok(all)
}

fn column(segment: &Segment, name: &str, docs: &[DocId]) -> Outcome<[u64; 2]> {
    let (mut buffer, mut out) = (Vec::with_capacity(1 << 16), Vec::with_capacity(1 << 20));
    let before = held();
    let cells = Cells::open(segment, name)?;
    let opened = held().saturating_sub(before);
    for &doc in docs {
        cells.write(doc, &mut buffer, &mut out)?;
    }
    Ok([opened, held().saturating_sub(before)])
}

/// Bytes that the process has allocated and not freed. Other threads count, too, so that a difference may be too small.
fn held() -> u64 {
    let stats = ALLOCATOR.stats();
    (stats.bytes_allocated - stats.bytes_deallocated) as u64
}
