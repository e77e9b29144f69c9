//! All documents in order, key by key: what is equal by one key is put in order by the next.

use std::ops::Range;

use docvalues_column::DocId;

use super::key::{Key, Keys, Place};
use crate::docs::Docs;
use crate::error::Result;
use crate::pass::compact;
use crate::search::Request;
use crate::window::{Room, WINDOW, Window};

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
    let mut docs: Vec<DocId> = docs.iter(request.total()).collect();
    let mut room = Room::default();
    let mut equal: Vec<Range<usize>> = std::iter::once(0..docs.len()).collect();
    for key in keys.as_slice() {
        let mut still = Vec::new();
        for run in equal {
            let split = split(request, &docs[run.clone()], key, &mut room)?;
            split.put(&mut docs[run.clone()], run.start, &mut still);
        }
        equal = still;
    }
    Ok(docs)
}

fn split(request: &Request<'_>, docs: &[DocId], key: &Key, room: &mut Room) -> Result<Split> {
    let mut split = Split::default();
    for docs in docs.chunks(WINDOW) {
        let mut window = Window::new(compact(docs), request.columns(), room);
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
    /// Puts the documents back in order, and appends to `equal` the runs, counted from `start`, of those that are equal.
    fn put(mut self, docs: &mut [DocId], start: usize, equal: &mut Vec<Range<usize>>) {
        self.numbers.sort_unstable();
        self.bytes.sort_unstable();
        let numbers =
            self.numbers.chunk_by(|a, b| a.0 == b.0).map(|run| run.iter().map(|(_, doc)| *doc).collect());
        let bytes =
            self.bytes.chunk_by(|a, b| a.0 == b.0).map(|run| run.iter().map(|(_, doc)| *doc).collect());
        let mut at = 0;
        let mut put = |run: &[DocId]| {
            docs[at..at + run.len()].copy_from_slice(run);
            if run.len() > 1 {
                equal.push(start + at..start + at + run.len());
            }
            at += run.len();
        };
        put(&self.first);
        numbers.chain(bytes).for_each(|run: Vec<DocId>| put(&run));
        put(&self.no_number);
        put(&self.last);
    }
}
