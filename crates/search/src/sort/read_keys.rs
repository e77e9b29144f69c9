//! The values of sort keys of given documents.

use docvalues_column::{BatchDocs, DocAddress, DocId};

use super::key::{Entry, Keys};
use super::sort_value::SortValue;
use crate::engine::{Elements, Request, Window, WindowBuffers, memory};
use crate::error::Result;

/// Documents whose values are read at once.
pub(super) const READ: usize = 1 << 10;

/// Reads the keys of `docs`, in this order. Terms are read as bytes, so that documents of different searches compare.
///
/// # Errors
///
/// If a column is damaged, or the keys exceed the memory limit.
pub(crate) fn read_keys(request: &Request<'_>, keys: &Keys, docs: &[DocAddress]) -> Result<Vec<Entry>> {
    // Ords of several searches have nothing to do with each other.
    let keys = keys.by_terms(|key| request.columns().get(key.slot).elements() == Elements::Ords);
    let mut bytes = docs.len().saturating_mul(keys.bytes());
    memory::limit(bytes, request.memory())?;
    let mut order: Vec<usize> = (0..docs.len()).collect();
    order.sort_unstable_by_key(|at| docs[*at]);
    let (mut entries, mut buffers) = (Vec::with_capacity(docs.len()), WindowBuffers::default());
    for of_part in order.chunk_by(|a, b| docs[*a].part == docs[*b].part) {
        for some in of_part.chunks(READ) {
            request.stop().check()?;
            let part = docs[some[0]].part as usize;
            let ids: Vec<DocId> = some.iter().map(|at| docs[*at].doc).collect();
            let read = read_entries((request, part), &keys, &ids, &mut buffers)?;
            bytes += read.iter().flat_map(|entry| &entry.values).map(SortValue::heap_bytes).sum::<usize>();
            memory::limit(bytes, request.memory())?;
            entries.extend(some.iter().copied().zip(read));
        }
    }
    entries.sort_unstable_by_key(|(at, _)| *at);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// Reads the keys of a few documents of a part, in this order.
pub(super) fn read_entries(
    (request, part): (&Request<'_>, usize),
    keys: &Keys,
    docs: &[DocId],
    buffers: &mut WindowBuffers,
) -> Result<Vec<Entry>> {
    let mut window = Window::new(BatchDocs::List(docs), request.columns_of(part), buffers);
    let mut read = || -> Result<Vec<Entry>> {
        keys.as_slice().iter().try_for_each(|key| window.read_stored(key.slot))?;
        (0..docs.len()).map(|at| keys.entry(&window, at)).collect()
    };
    read().map_err(|error| error.in_part(part, request.parts()))
}
