//! Sort of all documents of several parts: each part is sorted, and the parts are merged by their values.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use docvalues_column::{DocAddress, DocId};

use super::key::{Entry, Keys};
use super::read_keys::{READ, read_entries};
use super::sort_all;
use crate::engine::{Request, WindowBuffers, len_u32, memory};
use crate::error::Result;

/// Returns all documents of the request in the order of `keys`.
pub(super) fn sort(request: &Request<'_>, keys: &Keys) -> Result<Vec<DocAddress>> {
    let own = keys.by_terms(|_| false);
    let sort =
        |part| sort_all::sort(request, part, &own).map_err(|error| error.in_part(part, request.parts()));
    let parts = (0..request.parts()).map(sort);
    let mut parts = parts.collect::<Result<Vec<_>>>()?;
    let address = |part: usize| move |doc| DocAddress { part: len_u32(part), doc };
    if let [only] = parts.as_mut_slice() {
        return Ok(std::mem::take(only).into_iter().map(address(0)).collect());
    }
    let mut all = memory::with_capacity(parts.iter().map(Vec::len).sum())?;
    let mut cursors = Vec::with_capacity(parts.len());
    let mut next = BinaryHeap::with_capacity(parts.len());
    for (part, docs) in parts.iter().enumerate() {
        let mut cursor = Cursor { part, docs, read: Vec::new(), buffers: WindowBuffers::default() };
        next.extend(cursor.next(request, keys)?.map(Reverse));
        cursors.push(cursor);
    }
    let mut pace = request.stop().pace();
    while let Some(mut first) = next.peek_mut() {
        pace.step()?;
        all.push(first.0.address);
        let part = first.0.address.part as usize;
        match cursors[part].next(request, keys)? {
            Some(entry) => first.0 = entry,
            None => drop(std::collections::binary_heap::PeekMut::pop(first)),
        }
    }
    Ok(all)
}

/// The sorted documents of a part, with their values.
struct Cursor<'d> {
    part: usize,
    /// The documents that were not read yet.
    docs: &'d [DocId],
    /// Documents with their values, the next one last.
    read: Vec<Entry>,
    buffers: WindowBuffers,
}

impl Cursor<'_> {
    fn next(&mut self, request: &Request<'_>, keys: &Keys) -> Result<Option<Entry>> {
        if self.read.is_empty() {
            let (docs, left) = self.docs.split_at(self.docs.len().min(READ));
            self.docs = left;
            if !docs.is_empty() {
                self.read = read_entries((request, self.part), keys, docs, &mut self.buffers)?;
                self.read.reverse();
            }
        }
        Ok(self.read.pop())
    }
}
