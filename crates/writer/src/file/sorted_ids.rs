//! Sorts the ids of documents for the id index, and finds duplicates.
//!
//! ```text
//! values of the id field   each with its document's number    -> IdCollector; a sorted run if the budget is used up
//! runs                     merged into one                    -> OrderedIds; equal neighbours are duplicates
//! passes over it           choose the form, build the index   -> the sections of the extension
//! ```

use std::ops::ControlFlow;

use docvalues_format::binary::Values as _;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;
use docvalues_format::numeric::{Numeric, NumericOptions};
use docvalues_storage::Spill;
use docvalues_terms::build::{BuildError, BuildStorage, IdOptions, IdsBuilder, SortedIds};
use docvalues_terms::ids::{Ids, MAX_ID_LEN};

use super::file_writer::FileWriter;
use crate::buffer::string_runs::{self, KWayMerge, NumberedString, RunReader};
use crate::buffer::{
    FieldBuffer, Payload, Scratch, ScratchWriter, SpillBudget, SpillVec, Strings, Values, sorted,
};
use crate::encode::{drain, encode_numbers};
use crate::error::{Error, ErrorKind, Result};
use crate::index::index;
use crate::live_set::LiveSet;
use crate::sort::DocMap;
use crate::summary::Summary;

/// The fewest documents whose ids may be only in their column. For fewer, it saves no bytes that are worth a required
/// feature: sections take multiples of 64.
const LEAST_IN_COLUMN: u32 = 256;

/// The document of an id that is left out: no number of a document.
const GONE: u32 = u32::MAX;

/// Sorts the ids of the `live` documents, each with the number that `doc_map` gives its document. Of documents with the
/// same id, all but the last are added to `older`; without it, they are an error.
pub(crate) fn sort(
    field: &FieldBuffer,
    live: &LiveSet,
    doc_map: Option<&DocMap>,
    spill_budget: &SpillBudget,
    older: Option<&mut Vec<u32>>,
) -> Result<OrderedIds, ErrorKind> {
    let ids = match &field.values {
        Values::Strings(ids) => &ids.strings,
        Values::Numbers(_) => return Err(ErrorKind::NoIdField("its values are numbers")),
        Values::Terms { .. } => {
            return Err(ErrorKind::NoIdField("a document may have several of its values"));
        }
    };
    let (mut docs, mut gathered) = (field.presence.docs(0..u32::MAX), IdCollector::new(spill_budget.clone()));
    let (mut places, mut seen) = (doc_map.map(DocMap::places), 0);
    ids.for_each(|id| {
        // There is one document for each id.
        let doc = docs.next().unwrap_or(u32::MAX);
        if id.len() > MAX_ID_LEN {
            return Err(ErrorKind::LongId { doc, len: id.len(), max: MAX_ID_LEN });
        }
        if !live.has(doc) {
            return Ok(());
        }
        let Some(places) = &mut places else { return gathered.push(id, doc) };
        for _ in seen..doc {
            places.next()?;
        }
        seen = doc + 1;
        gathered.push(id, places.next()?)
    })?;
    match (gathered.finish(older), doc_map) {
        (Err(ErrorKind::DuplicateId { id, docs }), Some(doc_map)) => {
            let mut docs = doc_map.docs_at(docs)?;
            docs.sort_unstable();
            Err(ErrorKind::DuplicateId { id, docs })
        }
        (ordered, _) => ordered,
    }
}

/// Collects ids in any order, each with its document's number.
#[derive(Debug)]
struct IdCollector {
    ids: IdsInMemory,
    runs: Vec<Scratch>,
    spill_budget: SpillBudget,
}

/// Ids in memory, each with its document's number.
#[derive(Debug, Default)]
pub(crate) struct IdsInMemory {
    ids: Strings,
    docs: Vec<u32>,
}

impl IdCollector {
    fn new(spill_budget: SpillBudget) -> IdCollector {
        IdCollector { ids: IdsInMemory::default(), runs: Vec::new(), spill_budget }
    }

    /// Adds the id of document `doc`.
    fn push(&mut self, id: &[u8], doc: u32) -> Result<(), ErrorKind> {
        self.ids.push(id, doc);
        match self.spill_budget.spill.as_ref() {
            Some(spill) if self.ids.heap() > self.spill_budget.bytes => {
                self.runs.push(self.ids.spill(spill)?)
            }
            _ => {}
        }
        Ok(())
    }

    /// Sorts the ids. Of documents with equal ids, all but the last are added to `older`; without it, they are an error
    /// that names the id and two documents.
    fn finish(mut self, older: Option<&mut Vec<u32>>) -> Result<OrderedIds, ErrorKind> {
        let mut last = DuplicateCheck { older, ..DuplicateCheck::default() };
        // A small set stays in memory while columns are encoded.
        let Some(spill) = self
            .spill_budget
            .spill
            .as_ref()
            .filter(|_| !self.runs.is_empty() || self.ids.heap() > self.spill_budget.bytes / 8)
        else {
            // Copied in sorted order: the index is built in several passes.
            let mut ids = IdsInMemory::default();
            for (id, doc) in self.ids.in_order() {
                last.check(id, doc)?;
                ids.push(id, doc);
            }
            return Ok(OrderedIds::InMemory(ids));
        };
        if !self.ids.docs.is_empty() {
            self.runs.push(self.ids.spill(spill)?);
        }
        let mut merged = ScratchWriter::new(Scratch::new(spill.clone()));
        let mut merge = KWayMerge::default();
        self.runs.into_iter().try_for_each(|run| merge.add(run))?;
        while let Some(NumberedString { string: id, number: doc, .. }) = merge.next()? {
            last.check(id, *doc)?;
            string_runs::push(&mut merged, *doc, id)?;
        }
        Ok(OrderedIds::OnDisk(merged.finish()?))
    }
}

impl IdsInMemory {
    fn push(&mut self, id: &[u8], doc: u32) {
        self.ids.push(id);
        self.docs.push(doc);
    }

    fn heap(&self) -> usize {
        /// Bytes for each id: its end, its document, and twice its number and its first eight bytes, to sort it.
        const EACH: usize = 32;
        self.ids.parts().0.len() + self.docs.len() * EACH
    }

    /// The sorted ids, and their documents.
    fn in_order(&self) -> impl Iterator<Item = (&[u8], u32)> {
        sorted(&self.ids).into_iter().map(index).map(|i| (self.ids.get(i), self.docs[i]))
    }

    /// Writes the ids as a sorted run, and clears them.
    fn spill(&mut self, spill: &Spill) -> Result<Scratch, ErrorKind> {
        let run = string_runs::write(spill, self.in_order().map(|(id, doc)| (doc, id)))?;
        self.ids.truncate(0);
        self.docs.clear();
        Ok(run)
    }
}

/// Compares each id with the one before.
#[derive(Default)]
struct DuplicateCheck<'o> {
    last: Option<u32>,
    id: Vec<u8>,
    older: Option<&'o mut Vec<u32>>,
}

impl DuplicateCheck<'_> {
    fn check(&mut self, id: &[u8], doc: u32) -> Result<(), ErrorKind> {
        match self.last.replace(doc) {
            Some(last) if self.id == id => {
                let (first, last) = (last.min(doc), last.max(doc));
                let Some(older) = &mut self.older else {
                    return Err(ErrorKind::DuplicateId { id: id.to_vec(), docs: [first, last] });
                };
                older.push(first);
                self.last = Some(last);
            }
            _ => {
                self.id.clear();
                self.id.extend_from_slice(id);
            }
        }
        Ok(())
    }
}

/// Sorted distinct ids, with the numbers of their documents.
#[derive(Debug)]
pub(crate) enum OrderedIds {
    InMemory(IdsInMemory),
    OnDisk(Scratch),
}

impl OrderedIds {
    /// Renumbers the documents. Drops ids for which `number` returns `None`.
    pub(crate) fn renumber(self, number: impl Fn(u32) -> Option<u32>) -> Result<OrderedIds, ErrorKind> {
        Ok(match self {
            OrderedIds::InMemory(mut ids) => {
                // Those without a number stay until they are read.
                ids.docs.iter_mut().for_each(|doc| *doc = number(*doc).unwrap_or(GONE));
                OrderedIds::InMemory(ids)
            }
            OrderedIds::OnDisk(scratch) => {
                let mut left = ScratchWriter::new(scratch.sibling());
                let (mut ids, mut next) = (RunReader::new(scratch), NumberedString::default());
                while ids.advance(&mut next)? {
                    if let Some(doc) = number(next.number) {
                        string_runs::push(&mut left, doc, &next.string)?;
                    }
                }
                OrderedIds::OnDisk(left.finish()?)
            }
        })
    }

    /// Builds the index of these ids, for a segment of `docs` documents. `in_column`: the column of ids stores them as they
    /// are, one for each document.
    fn index(&self, docs: u32, options: &IdOptions, in_column: bool) -> Result<Ids<Payload>, ErrorKind> {
        let spill = match self {
            OrderedIds::InMemory(_) => None,
            OrderedIds::OnDisk(scratch) => Some(scratch.spill().clone()),
        };
        let mut kept = IndexSections { spill, ids: None, docs: SpillVec::default() };
        let builder = IdsBuilder::new(*options).in_column(in_column);
        builder.build_in(self, docs, &mut kept).map_err(|error| match error {
            BuildError::Source(kind) | BuildError::Storage(kind) => kind,
            // `sort` checked them.
            BuildError::TooLong { .. } | BuildError::Document { .. } => {
                ErrorKind::Ids("they are not what they were")
            }
            BuildError::Duplicate { .. } | BuildError::NotAscending { .. } | BuildError::Changed => {
                ErrorKind::Ids("they are in no order")
            }
            _ => ErrorKind::Ids("the index refuses them"),
        })
    }
}

/// Ends a file of `docs` documents, sorted by `sort`, with an id index if `ids` are given.
pub(crate) fn finish(
    file: FileWriter<'_>,
    docs: u32,
    sort: &[SortKey],
    ids: Option<(String, OrderedIds, IdOptions)>,
) -> Result<Summary> {
    let index = |(field, ids, options): (String, OrderedIds, IdOptions)| {
        let mut columns = file.columns.iter().map(|written| &written.column);
        let column = columns.find(|column| column.field.name == field);
        let in_column = docs >= LEAST_IN_COLUMN && column.is_some_and(|column| column.raw_bytes().is_some());
        let index = ids.index(docs, &options, in_column).map_err(|kind| Error::from(kind).of(&field))?;
        Ok::<_, Error>((field, index))
    };
    let ids = ids.map(index).transpose()?;
    Ok(file.finish(docs, sort, ids)?)
}

/// The sections of an id index while it is built: on disk, if the ids are.
struct IndexSections {
    spill: Option<Spill>,
    /// The first bytes of the section of ids.
    ids: Option<Scratch>,
    docs: SpillVec<u32>,
}

impl BuildStorage<ErrorKind> for IndexSections {
    type Section = Payload;

    fn begin(&mut self, _: u32) {
        self.ids = self.spill.clone().map(Scratch::new);
        self.docs = SpillVec::default();
    }

    fn doc(&mut self, doc: DocId) -> Result<(), ErrorKind> {
        self.docs.push(doc.get(), self.spill.as_ref())
    }

    fn ids(&mut self, made: &mut Vec<u8>) -> Result<(), ErrorKind> {
        drain(&mut self.ids, made)
    }

    fn section(&mut self, rest: Vec<u8>) -> Payload {
        Payload { on_disk: self.ids.take(), in_memory: vec![rest] }
    }

    fn docs(&mut self, options: &NumericOptions) -> Result<Numeric<Payload>, ErrorKind> {
        encode_numbers(&std::mem::take(&mut self.docs), options)
    }
}

impl SortedIds for OrderedIds {
    type Error = ErrorKind;

    fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), ErrorKind> {
        match self {
            OrderedIds::InMemory(ids) => {
                let mut all = ids.docs.iter().enumerate().filter(|(_, doc)| **doc != GONE);
                let _ = all.try_for_each(|(i, &doc)| each(ids.ids.get(i), DocId::new(doc)));
            }
            OrderedIds::OnDisk(scratch) => {
                let (mut cursor, mut id) = (RunReader::new(scratch.clone()), NumberedString::default());
                while cursor.advance(&mut id)? && each(&id.string, DocId::new(id.number)).is_continue() {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::buffer::CHUNK_LEN;

    fn ids() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let id = prop_oneof![
            "[a-c]{0,6}".prop_map(String::into_bytes),
            "same beginning [a-f]{0,12}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..12),
            (0..=MAX_ID_LEN).prop_map(|len| vec![b'x'; len]),
        ];
        prop::collection::vec(id, 0..300)
    }

    fn gather(ids: &[Vec<u8>], spill_budget: SpillBudget) -> Result<OrderedIds, ErrorKind> {
        let mut gathered = IdCollector::new(spill_budget);
        ids.iter().zip(0..).try_for_each(|(id, doc)| gathered.push(id, doc))?;
        gathered.finish(None)
    }

    proptest! {
        #[test]
        fn ids_come_in_order_or_the_first_that_comes_twice_is_named(ids in ids(), small in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let file = docvalues_storage::AtomicFile::create(folder.path().join("ids")).unwrap();
            let spill = file.spill();
            let spill_budget = if small { SpillBudget::new(4 * CHUNK_LEN, Some(&spill)) } else { SpillBudget::new(0, None) };
            let mut docs = BTreeMap::<&[u8], Vec<u32>>::new();
            ids.iter().zip(0..).for_each(|(id, doc)| docs.entry(id).or_default().push(doc));
            let once: Vec<&[u8]> = docs.iter().filter(|(_, docs)| docs.len() == 1).map(|(&id, _)| id).collect();
            let ordered = gather(&ids, spill_budget.clone());
            match docs.iter().find(|(_, docs)| docs.len() > 1) {
                Some((id, docs)) => {
                    let ErrorKind::DuplicateId { id: twice, docs: places } = ordered.unwrap_err() else { panic!() };
                    prop_assert_eq!((&twice[..], &places[..]), (*id, &docs[..2]));
                }
                None => {
                    prop_assert_eq!(once.len(), ids.len());
                    // Twice, because the index is built in several passes.
                    for _ in 0..2 {
                        let mut given = Vec::new();
                        ordered.as_ref().unwrap().each(&mut |id, doc| {
                            given.push((id.to_vec(), vec![doc.get()]));
                            ControlFlow::Continue(())
                        }).unwrap();
                        let expected: Vec<_> = docs.iter().map(|(id, docs)| (id.to_vec(), docs.clone())).collect();
                        prop_assert_eq!(&given, &expected);
                    }
                }
            }
        }
    }
}
