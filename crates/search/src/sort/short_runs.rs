//! Sorting of many short runs at once.

use docvalues_column::{BatchDocs, DocId};

use super::key::{Key, SortValue};
use super::sort_all::Run;
use crate::engine::{Interrupt, PartColumns, Window, WindowBuffers, as_run_if_whole};
use crate::error::Result;

/// A document with the value it is sorted by.
pub(super) trait BySortValue: Ord + Sized {
    fn doc(&self) -> DocId;

    fn is_equal_value(&self, other: &Self) -> bool;
}

/// Any value.
impl<B: Ord> BySortValue for (SortValue<B>, DocId) {
    fn doc(&self) -> DocId {
        self.1
    }

    fn is_equal_value(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// Values without bytes, packed: two bits for the class, 64 for the number, 32 for the document.
impl BySortValue for u128 {
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are the document")]
    fn doc(&self) -> DocId {
        DocId::new(*self as u32)
    }

    fn is_equal_value(&self, other: &Self) -> bool {
        *self >> 32 == *other >> 32
    }
}

/// See `BySortValue for u128`.
pub(super) fn packed(place: &SortValue<&[u8]>, doc: DocId) -> u128 {
    let class = u128::from(place.class()) << 96;
    let number = if let SortValue::Number(number) = place { u128::from(*number) << 32 } else { 0 };
    class | number | u128::from(doc.get())
}

/// Reads the values of documents, and appends `new` of each to `items`.
pub(super) fn read_values<P>(
    columns: PartColumns<'_>,
    key: Key,
    docs: BatchDocs<'_>,
    buffers: &mut WindowBuffers,
    items: &mut Vec<P>,
    mut new: impl FnMut(SortValue<&[u8]>, DocId) -> P,
) -> Result<()> {
    let mut window = Window::new(docs, columns, buffers);
    window.read(key.slot)?;
    items.extend((0..window.len()).map(|at| new(key.value(&window, at), window.doc(at))));
    Ok(())
}

/// Appends the runs of more than one document with the same value; `start` is the position of the first document.
pub(super) fn add_equal<P: BySortValue>(items: &[P], mut start: u32, equal: &mut Vec<Run>) {
    for same in items.chunk_by(P::is_equal_value) {
        let run = Run::new(start, same.len());
        start = run.end;
        if run.len() > 1 {
            equal.push(run);
        }
    }
}

/// Short runs that are read together.
pub(super) struct Group<'a> {
    /// The position of the first document.
    start: u32,
    /// The documents from the first run to the last one; some between them may belong to no run.
    docs: &'a mut [DocId],
    runs: &'a [Run],
    /// Runs that are equal by the key, if requested.
    pub(super) equal: Vec<Run>,
}

/// Groups ascending runs of fewer than `most` documents into groups of up to `most`.
pub(super) fn groups<'a>(
    mut docs: &'a mut [DocId],
    mut runs: &'a [Run],
    most: usize,
    stop: &Interrupt,
) -> Result<Vec<Group<'a>>> {
    let (mut groups, mut start) = (Vec::new(), 0);
    while let Some(first) = runs.first() {
        // A group has about `most` documents.
        stop.check()?;
        let mut len = 0;
        let fits = |run: &&Run| {
            len += run.len();
            len <= most
        };
        let (here, others) = runs.split_at(runs.iter().take_while(fits).count().max(1));
        let end = here.last().map_or(first.end, |last| last.end);
        let (_, rest) = docs.split_at_mut((first.start - start) as usize);
        let (here_docs, rest) = rest.split_at_mut((end - first.start) as usize);
        groups.push(Group { start: first.start, docs: here_docs, runs: here, equal: Vec::new() });
        (docs, runs, start) = (rest, others, end);
    }
    Ok(groups)
}

impl Group<'_> {
    /// Sorts the documents of each run.
    pub(super) fn sort<P: BySortValue>(
        &mut self,
        columns: PartColumns<'_>,
        key: Key,
        buffers: &mut WindowBuffers,
        equal_too: bool,
        new: impl Fn(SortValue<&[u8]>, DocId) -> P,
    ) -> Result<()> {
        let Group { start, docs, runs, equal } = self;
        let within = |run: &Run| Run { start: run.start - *start, end: run.end - *start }.indices();
        let list: Vec<DocId> = runs.iter().flat_map(|run| &docs[within(run)]).copied().collect();
        // The documents of a single run ascend.
        let asked = if runs.len() == 1 { as_run_if_whole(&list) } else { BatchDocs::List(&list) };
        let mut items: Vec<P> = Vec::with_capacity(list.len());
        read_values(columns, key, asked, buffers, &mut items, new)?;
        let mut left = items.as_mut_slice();
        for run in *runs {
            let (items, others) = left.split_at_mut(run.len());
            left = others;
            items.sort_unstable();
            docs[within(run)].iter_mut().zip(&*items).for_each(|(doc, item)| *doc = item.doc());
            if equal_too {
                add_equal(items, run.start, equal);
            }
        }
        Ok(())
    }
}
