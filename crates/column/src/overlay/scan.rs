//! A scan of an overlay: the batches of the column below, with changed rows in place of theirs.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};

use docvalues_format::id::DocId;

use super::Changes;
use super::changes::number;
use crate::batch::{Batch, BatchDocs, View};
use crate::lists::Lists;
use crate::rows::{Each, Element, Rows};
use crate::{DocRange, Gathered, Result};

/// A batch is passed on when it has this many documents.
const BATCH: usize = 4_096;

/// Documents that are gathered at once: as many as a scan of a segment decodes at once. Decoding prefetches 16 KiB into the
/// first-level cache, so the values of more documents would displace bytes that are about to be decoded.
const GATHERED: usize = 1_024;

/// A scan of a column of single values that all documents below have: where documents changed, values are gathered, so that
/// they are decoded to where they are replaced, and need not be copied.
pub(super) fn by_gather<T: Element>(
    rows: &dyn Rows<T>,
    changes: &Changes<T>,
    docs: DocRange,
    each: &mut Each<'_, T>,
) -> Result<()> {
    let is_done = Cell::new(false);
    let mut each = |batch: Batch<'_, T>| {
        let flow = each(batch);
        is_done.set(flow.is_break());
        flow
    };
    let (mut gathered, mut some, mut start, mut count) = (Gathered::new(), Vec::new(), docs.start, 0);
    for (block, first, within) in changes.blocks_in(docs) {
        let mut rank = block.rank(within.start);
        for part in block.parts(within, GATHERED) {
            let run = DocRange::new(first + number(part.start), first + number(part.end));
            if start < run.start {
                rows.scan(DocRange::new(start, run.start), &mut each)?;
                if is_done.get() {
                    return Ok(());
                }
            }
            // The new rows, presumably as many as those of the part before, arrive while the old ones are decoded.
            block.prefetch_rows(rank..rank + count);
            rows.gather(BatchDocs::Run(run), &mut gathered)?;
            let end = block.put(rank, part, &mut gathered, 0);
            (count, rank, start) = (end - rank, end, run.end);
            if gathered.pass_on(run, &mut some, &mut each).is_break() {
                return Ok(());
            }
        }
    }
    if start < docs.end { rows.scan(DocRange::new(start, docs.end), &mut each) } else { Ok(()) }
}

/// A scan in progress: the documents still to pass on, and the batch that is being built.
pub(super) struct Scan<'a, 'e, T> {
    changes: &'a Changes<T>,
    each: &'a mut Each<'e, T>,
    /// The first document that was not passed on.
    next: u32,
    flow: ControlFlow<()>,
    docs: Vec<DocId>,
    values: Vec<T>,
    lists: Lists<T>,
}

impl<'a, 'e, T: Element> Scan<'a, 'e, T> {
    pub(super) fn new(changes: &'a Changes<T>, docs: DocRange, each: &'a mut Each<'e, T>) -> Scan<'a, 'e, T> {
        let flow = ControlFlow::Continue(());
        let (docs_of_batch, values, lists) = (Vec::new(), Vec::new(), Lists::new());
        Scan { changes, each, next: docs.start, flow, docs: docs_of_batch, values, lists }
    }

    /// Passes on a batch of the column below, and the changed documents up to its last one.
    pub(super) fn add(&mut self, batch: Batch<'_, T>) -> ControlFlow<()> {
        let end = match batch.docs {
            BatchDocs::Run(run) => run.end,
            BatchDocs::List(list) => list.last().map_or(self.next, |last| last.get() + 1),
        };
        let docs = DocRange::new(self.next, end);
        self.next = end;
        self.flow = if self.changes.may_change(docs) { self.merge(docs, batch) } else { (self.each)(batch) };
        self.flow
    }

    /// Passes on the changed documents after the last batch, up to `end`.
    pub(super) fn finish(mut self, end: u32) {
        let docs = DocRange::new(self.next, end);
        if self.flow.is_continue() && !docs.is_empty() {
            let none = Batch { docs: BatchDocs::List(&[]), values: View::One(&[]) };
            let _ = self.merge(docs, none);
        }
    }

    fn merge(&mut self, docs: DocRange, batch: Batch<'_, T>) -> ControlFlow<()> {
        let (mut copied, changes) = (0, self.changes);
        for (doc, row) in changes.rows(docs) {
            let (place, is_there) = match batch.docs {
                BatchDocs::Run(run) => (run.place(doc.max(DocId::new(run.start))), run.contains(doc)),
                BatchDocs::List(list) => {
                    let place = copied + list[copied..].partition_point(|other| *other < doc);
                    (place, list.get(place) == Some(&doc))
                }
            };
            self.copy(batch, copied..place);
            copied = place + usize::from(is_there);
            if let Some(row) = row {
                self.docs.push(doc);
                if changes.is_many() { self.lists.push(row) } else { self.values.extend_from_slice(row) }
            }
            if self.docs.len() >= BATCH {
                self.pass_on()?;
            }
        }
        self.copy(batch, copied..batch.docs.len());
        self.pass_on()
    }

    fn copy(&mut self, batch: Batch<'_, T>, places: Range<usize>) {
        if places.is_empty() {
            return;
        }
        match batch.docs {
            BatchDocs::Run(run) => self.docs.extend(run.iter().skip(places.start).take(places.len())),
            BatchDocs::List(list) => self.docs.extend_from_slice(&list[places.clone()]),
        }
        match batch.values.part(places) {
            View::One(values) => self.values.extend_from_slice(values),
            View::Many(lists) => self.lists.extend_from(lists),
        }
    }

    /// Passes on the documents so far.
    fn pass_on(&mut self) -> ControlFlow<()> {
        let (Some(first), Some(last)) = (self.docs.first(), self.docs.last()) else {
            return ControlFlow::Continue(());
        };
        let run = DocRange::new(first.get(), last.get() + 1);
        let is_run = run.len() == self.docs.len();
        let docs = if is_run { BatchDocs::Run(run) } else { BatchDocs::List(&self.docs) };
        let values = match self.changes.is_many() {
            true => View::Many(self.lists.slices()),
            false => View::One(&self.values),
        };
        let flow = (self.each)(Batch { docs, values });
        self.docs.clear();
        self.values.clear();
        self.lists.clear();
        flow
    }
}
