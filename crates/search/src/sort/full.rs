//! All documents in order, key by key: what is equal by one key is put in order by the next.

use std::ops::Range;

use docvalues_column::{AnyColumn, DocId};

use super::key::{Key, Keys, Place};
use crate::columns::Columns;
use crate::docs::Docs;
use crate::error::Result;
use crate::pass::compact;
use crate::search::Request;
use crate::threads;
use crate::window::{Room, WINDOW, Window};

/// Fewer documents are read by one thread, and with room that is there.
const FEW: usize = 4 * WINDOW;

/// Documents of a run by their places: numbers, which most are, in little room.
#[derive(Default)]
struct Split {
    first: Vec<DocId>,
    numbers: Vec<(u64, DocId)>,
    bytes: Vec<(Place, DocId)>,
    no_number: Vec<DocId>,
    last: Vec<DocId>,
}

/// All documents of the request, in order. 16 bytes a document beside them, where numbers are compared.
pub(super) fn sort(request: &Request<'_>, docs: Docs<'_>, keys: &Keys) -> Result<Vec<DocId>> {
    let mut docs = docs.to_vec(request.total());
    let mut equal: Vec<Range<usize>> = std::iter::once(0..docs.len()).collect();
    let mut room = Room::default();
    for (key, left) in keys.as_slice().iter().zip((0..keys.as_slice().len()).rev()) {
        let mut still = Vec::new();
        for run in equal {
            let split = if run.len() < FEW {
                split(request.columns(), &docs[run.clone()], key, &mut room)?
            } else {
                split_by_threads(request, &docs[run.clone()], key)?
            };
            let still = (left > 0).then_some(&mut still);
            split.put(&mut docs[run.clone()], run.start, request.threads(), still);
        }
        equal = still;
    }
    Ok(docs)
}

/// Each thread takes some of the documents.
fn split_by_threads(request: &Request<'_>, docs: &[DocId], key: &Key) -> Result<Split> {
    let columns = request.columns();
    let split = |docs: &[DocId]| split(columns, docs, key, &mut Room::default());
    let mut pieces = threads::map(docs, request.threads(), split).into_iter();
    let mut all = pieces.next().transpose()?.unwrap_or_default();
    for piece in pieces {
        all.append(piece?);
    }
    Ok(all)
}

fn split(columns: &Columns, docs: &[DocId], key: &Key, room: &mut Room) -> Result<Split> {
    let mut split = Split::default();
    if !matches!(columns.get(key.slot), AnyColumn::Binary(_)) {
        split.numbers.reserve(docs.len());
    }
    for docs in docs.chunks(columns.window()) {
        let mut window = Window::new(compact(docs), columns, room);
        window.read(key.slot)?;
        for at in 0..window.len() {
            let doc = window.doc(at);
            match key.place(&window, at) {
                Place::First => split.first.push(doc),
                Place::Number(number) => split.numbers.push((number, doc)),
                Place::NoNumber => split.no_number.push(doc),
                Place::Last => split.last.push(doc),
                bytes => split.bytes.push((bytes, doc)),
            }
        }
    }
    Ok(split)
}

impl Split {
    fn append(&mut self, mut other: Split) {
        self.first.append(&mut other.first);
        self.numbers.append(&mut other.numbers);
        self.bytes.append(&mut other.bytes);
        self.no_number.append(&mut other.no_number);
        self.last.append(&mut other.last);
    }

    /// Puts the documents back in order, and appends to `equal`, if anybody asks, the runs, counted from `start`, of those
    /// that are equal.
    fn put(
        mut self,
        docs: &mut [DocId],
        start: usize,
        threads: usize,
        equal: Option<&mut Vec<Range<usize>>>,
    ) {
        threads::sort(&mut self.numbers, threads);
        threads::sort(&mut self.bytes, threads);
        let Split { first, numbers, bytes, no_number, last } = self;
        if let Some(equal) = equal {
            let lens = std::iter::once(first.len())
                .chain(numbers.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len))
                .chain(bytes.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len))
                .chain([no_number.len(), last.len()]);
            lens.fold(start, |at, len| {
                if len > 1 {
                    equal.push(at..at + len);
                }
                at + len
            });
        }
        let docs = threads::copy(docs, &first, threads, |doc| *doc);
        let docs = threads::copy(docs, &numbers, threads, |(_, doc)| *doc);
        let docs = threads::copy(docs, &bytes, threads, |(_, doc)| *doc);
        let docs = threads::copy(docs, &no_number, threads, |doc| *doc);
        threads::copy(docs, &last, threads, |doc| *doc);
    }
}
