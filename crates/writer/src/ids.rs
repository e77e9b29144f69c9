//! The ids of documents, put in order for their index.
//!
//! ```text
//! values of the id field   each with the place of its document   -> Gathered; a sorted run when there is no room
//! runs                     merged into one                       -> Ordered; equal neighbours are refused, or noted
//! passes over it           what ids look like, then the index    -> the sections of the extension; of a run, in the file
//! ```

use std::ops::ControlFlow;

use docvalues_format::binary::Values as _;
use docvalues_format::file::sort::SortKey;
use docvalues_format::id::DocId;
use docvalues_format::numeric::{Numeric, NumericOptions};
use docvalues_storage::Spill;
use docvalues_terms::build::{BuildError, IdOptions, IdsBuilder, Keep, SortedIds};
use docvalues_terms::ids::{Ids, MAX_ID_LEN};

use crate::buffer::{Collected, FieldBuffer, Payload, Region, Tape, Values};
use crate::encode::{drain, encode_numbers};
use crate::error::{Error, ErrorKind, Result};
use crate::file::FileWriter;
use crate::intern::{Strings, index, sorted};
use crate::live::Live;
use crate::numbered::{self, Cursor, Merge, Numbered};
use crate::order::{Order, Room};
use crate::summary::Summary;
use crate::target::Target;

/// Puts the ids in order that the `live` documents of a field have, each with the number that its document gets by `order`.
/// Of documents that have the same, all but the last are added to `older`; without, they are refused.
pub(crate) fn in_order(
    field: &FieldBuffer,
    live: &Live<'_>,
    order: Option<&Order>,
    room: &Room,
    older: Option<&mut Vec<u32>>,
) -> Result<Ordered, ErrorKind> {
    let ids = match &field.values {
        Values::Strings(ids) => &ids.strings,
        Values::Numbers(_) => return Err(ErrorKind::NoIdField("its values are numbers")),
        Values::Terms { .. } => {
            return Err(ErrorKind::NoIdField("a document may have several of its values"));
        }
    };
    let (mut docs, mut gathered) = (field.presence.docs(0..u32::MAX), Gathered::new(room.clone()));
    let (mut places, mut seen) = (order.map(Order::places), 0);
    ids.for_each(|id| {
        // There are as many documents with one as there are ids.
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
    match (gathered.finish(older), order) {
        (Err(ErrorKind::DuplicateId { id, docs }), Some(order)) => {
            let mut docs = order.docs_at(docs)?;
            docs.sort_unstable();
            Err(ErrorKind::DuplicateId { id, docs })
        }
        (ordered, _) => ordered,
    }
}

/// Ids as they come, each with the place of its document.
#[derive(Debug)]
struct Gathered {
    ids: InMemory,
    runs: Vec<Region>,
    room: Room,
}

/// Ids, each with the place of its document.
#[derive(Debug, Default)]
pub(crate) struct InMemory {
    ids: Strings,
    docs: Vec<u32>,
}

impl Gathered {
    fn new(room: Room) -> Gathered {
        Gathered { ids: InMemory::default(), runs: Vec::new(), room }
    }

    /// Takes the id of the document that goes to place `doc`.
    fn push(&mut self, id: &[u8], doc: u32) -> Result<(), ErrorKind> {
        self.ids.push(id, doc);
        match self.room.spill() {
            Some(spill) if self.ids.heap() > self.room.bytes => self.runs.push(self.ids.spill(spill)?),
            _ => {}
        }
        Ok(())
    }

    /// Puts them in order. Of equal ones, adds the places of all documents but the last to `older`; without, refuses them:
    /// with what they are, and the places of their documents.
    fn finish(mut self, older: Option<&mut Vec<u32>>) -> Result<Ordered, ErrorKind> {
        let mut last = Twice { older, ..Twice::default() };
        // What is small stays, while columns are encoded.
        let Some(spill) =
            self.room.spill().filter(|_| !self.runs.is_empty() || self.ids.heap() > self.room.bytes / 8)
        else {
            // One after the other in memory, too: they are gone through several times.
            let mut ids = InMemory::default();
            for (id, doc) in self.ids.in_order() {
                last.check(id, doc)?;
                ids.push(id, doc);
            }
            return Ok(Ordered::InMemory(ids));
        };
        if !self.ids.docs.is_empty() {
            self.runs.push(self.ids.spill(spill)?);
        }
        let mut merged = Collected::new(Region::new(spill.clone()));
        let mut merge = Merge::default();
        self.runs.into_iter().try_for_each(|run| merge.add(run))?;
        while let Some(Numbered { string: id, number: doc, .. }) = merge.next()? {
            last.check(id, *doc)?;
            numbered::push(&mut merged, *doc, id)?;
        }
        Ok(Ordered::InFile(merged.finish()?))
    }
}

impl InMemory {
    fn push(&mut self, id: &[u8], doc: u32) {
        self.ids.push(id);
        self.docs.push(doc);
    }

    fn heap(&self) -> usize {
        /// Where it ends, its document, and twice its number and eight of its bytes to sort it.
        const EACH: usize = 32;
        self.ids.parts().0.len() + self.docs.len() * EACH
    }

    /// The ids in order, and the places of their documents.
    fn in_order(&self) -> impl Iterator<Item = (&[u8], u32)> {
        sorted(&self.ids).into_iter().map(index).map(|i| (self.ids.get(i), self.docs[i]))
    }

    /// Sorts them into a run, and forgets them.
    fn spill(&mut self, spill: &Spill) -> Result<Region, ErrorKind> {
        let mut run = Collected::new(Region::new(spill.clone()));
        self.in_order().try_for_each(|(id, doc)| numbered::push(&mut run, doc, id))?;
        self.ids.truncate(0);
        self.docs.clear();
        Ok(run.finish()?)
    }
}

/// Two ids one after the other, which may be the same.
#[derive(Default)]
struct Twice<'o> {
    last: Option<u32>,
    id: Vec<u8>,
    older: Option<&'o mut Vec<u32>>,
}

impl Twice<'_> {
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

/// Ids in order, each once, with the places of their documents.
#[derive(Debug)]
pub(crate) enum Ordered {
    InMemory(InMemory),
    InFile(Region),
}

impl Ordered {
    /// The same ids, of documents that have these numbers now, without those that have none.
    pub(crate) fn renumber(self, number: impl Fn(u32) -> Option<u32>) -> Result<Ordered, ErrorKind> {
        Ok(match self {
            Ordered::InMemory(mut ids) => {
                let numbers: Option<Vec<u32>> = ids.docs.iter().map(|&doc| number(doc)).collect();
                if let Some(docs) = numbers {
                    ids.docs = docs;
                    return Ok(Ordered::InMemory(ids));
                }
                let mut left = InMemory::default();
                for (at, doc) in ids.docs.iter().enumerate() {
                    number(*doc).into_iter().for_each(|doc| left.push(ids.ids.get(at), doc));
                }
                Ordered::InMemory(left)
            }
            Ordered::InFile(region) => {
                let mut left = Collected::new(region.another());
                let (mut ids, mut next) = (Cursor::new(region), Numbered::default());
                while ids.advance(&mut next)? {
                    if let Some(doc) = number(next.number) {
                        numbered::push(&mut left, doc, &next.string)?;
                    }
                }
                Ordered::InFile(left.finish()?)
            }
        })
    }

    /// The index of these ids, which `docs` documents have.
    fn index(&self, docs: u32, options: &IdOptions) -> Result<Ids<Payload>, ErrorKind> {
        let spill = match self {
            Ordered::InMemory(_) => None,
            Ordered::InFile(region) => Some(region.spill().clone()),
        };
        let mut kept = Kept { spill, ids: None, docs: Tape::default() };
        IdsBuilder::new(*options).build_in(self, docs, &mut kept).map_err(|error| match error {
            BuildError::Source(kind) | BuildError::Keep(kind) => kind,
            // Each was looked at before.
            BuildError::TooLong { .. } | BuildError::Document { .. } => {
                ErrorKind::Ids("they are not what they were")
            }
            BuildError::Duplicate { .. } | BuildError::NotAscending { .. } | BuildError::Changed => {
                ErrorKind::Ids("they are in no order")
            }
        })
    }
}

/// Ends a file of `docs` documents, sorted by `sort`, with an index of their ids in a field, if they have any.
pub(crate) fn finish<T: Target>(
    file: FileWriter<'_, T>,
    docs: u32,
    sort: &[SortKey],
    ids: Option<(String, Ordered, IdOptions)>,
) -> Result<Summary> {
    let index = |(field, ids, options): (String, Ordered, IdOptions)| {
        let index = ids.index(docs, &options).map_err(|kind| Error::from(kind).of(&field))?;
        Ok::<_, Error>((field, index))
    };
    Ok(file.finish(docs, sort, ids.map(index).transpose()?)?)
}

/// An index that is being made: in a file, if the ids are.
struct Kept {
    spill: Option<Spill>,
    /// The front of the section of ids.
    ids: Option<Region>,
    docs: Tape<u32>,
}

impl Keep<ErrorKind> for Kept {
    type Section = Payload;

    fn begin(&mut self, _: u32) {
        self.ids = self.spill.clone().map(Region::new);
        self.docs = Tape::default();
    }

    fn doc(&mut self, doc: DocId) -> Result<(), ErrorKind> {
        self.docs.push(doc.get(), self.spill.as_ref())
    }

    fn ids(&mut self, made: &mut Vec<u8>) -> Result<(), ErrorKind> {
        drain(&mut self.ids, made)
    }

    fn section(&mut self, rest: Vec<u8>) -> Payload {
        Payload { far: self.ids.take(), near: vec![rest] }
    }

    fn docs(&mut self, options: &NumericOptions) -> Result<Numeric<Payload>, ErrorKind> {
        encode_numbers(&std::mem::take(&mut self.docs), options)
    }
}

impl SortedIds for Ordered {
    type Error = ErrorKind;

    fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), ErrorKind> {
        match self {
            Ordered::InMemory(ids) => {
                let mut all = ids.docs.iter().enumerate();
                let _ = all.try_for_each(|(i, &doc)| each(ids.ids.get(i), DocId::new(doc)));
            }
            Ordered::InFile(region) => {
                let (mut cursor, mut id) = (Cursor::new(region.clone()), Numbered::default());
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
    use crate::buffer::TOGETHER;

    fn ids() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let id = prop_oneof![
            "[a-c]{0,6}".prop_map(String::into_bytes),
            "same beginning [a-f]{0,12}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..12),
            (0..=MAX_ID_LEN).prop_map(|len| vec![b'x'; len]),
        ];
        prop::collection::vec(id, 0..300)
    }

    fn gather(ids: &[Vec<u8>], room: Room) -> Result<Ordered, ErrorKind> {
        let mut gathered = Gathered::new(room);
        ids.iter().zip(0..).try_for_each(|(id, doc)| gathered.push(id, doc))?;
        gathered.finish(None)
    }

    proptest! {
        #[test]
        fn ids_come_in_order_or_the_first_that_comes_twice_is_named(ids in ids(), small in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let file = docvalues_storage::AtomicFile::create(folder.path().join("ids")).unwrap();
            let spill = file.spill();
            let room = if small { Room::new(4 * TOGETHER, Some(&spill)) } else { Room::new(0, None) };
            let mut docs = BTreeMap::<&[u8], Vec<u32>>::new();
            ids.iter().zip(0..).for_each(|(id, doc)| docs.entry(id).or_default().push(doc));
            let once: Vec<&[u8]> = docs.iter().filter(|(_, docs)| docs.len() == 1).map(|(&id, _)| id).collect();
            let ordered = gather(&ids, room.clone());
            match docs.iter().find(|(_, docs)| docs.len() > 1) {
                Some((id, docs)) => {
                    let ErrorKind::DuplicateId { id: twice, docs: places } = ordered.unwrap_err() else { panic!() };
                    prop_assert_eq!((&twice[..], &places[..]), (*id, &docs[..2]));
                }
                None => {
                    prop_assert_eq!(once.len(), ids.len());
                    // More than once: the index is built in passes.
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
