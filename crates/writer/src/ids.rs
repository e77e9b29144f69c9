//! The ids of documents, put in order for their index.
//!
//! ```text
//! values of the id field   each with the place of its document   -> Gathered; a sorted run when there is no room
//! runs                     merged into one                       -> Ordered; equal neighbours are refused
//! passes over it           what ids look like, then the index    -> the sections of the extra; of a run, in the file
//! ```

use std::ops::ControlFlow;

use docvalues_format::binary::Values as _;
use docvalues_format::id::DocId;
use docvalues_format::numeric::{Numeric, NumericOptions};
use docvalues_storage::Spill;
use docvalues_terms::build::{BuildError, IdOptions, IdsBuilder, Keep, SortedIds};
use docvalues_terms::ids::{Ids, MAX_ID_LEN};

use crate::buffer::{ByteStrings, Payload, PresenceBuffer, Region, Tape};
use crate::encode::{drain, encode_numbers};
use crate::error::{Error, ErrorKind, Result};
use crate::file::{FileWriter, Sink};
use crate::intern::index;
use crate::numbered::{Cursor, Merge, Run};
use crate::order::{Order, Room};
use crate::summary::IdsSummary;

/// Puts the ids in order that the documents of `presence` have, each with the number that its document gets by `order`.
pub(crate) fn in_order(
    presence: &PresenceBuffer,
    ids: &ByteStrings,
    order: Option<&Order>,
    room: &Room,
) -> Result<Ordered, ErrorKind> {
    let (mut docs, mut gathered) = (presence.docs(), Gathered::new(room.clone()));
    let (mut places, mut seen) = (order.map(Order::places), 0);
    ids.for_each(|id| {
        // There are as many documents with one as there are ids.
        let doc = docs.next().unwrap_or(u32::MAX);
        if id.len() > MAX_ID_LEN {
            return Err(ErrorKind::LongId { doc, len: id.len(), max: MAX_ID_LEN });
        }
        let Some(places) = &mut places else { return gathered.push(id, doc) };
        for _ in seen..doc {
            places.next()?;
        }
        seen = doc + 1;
        gathered.push(id, places.next()?)
    })?;
    match (gathered.finish(), order) {
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

/// Ids end to end, and what is sorted instead of them.
#[derive(Debug, Default)]
struct InMemory {
    bytes: Vec<u8>,
    refs: Vec<Ref>,
    /// How many bytes all of them begin with.
    common: usize,
}

/// An id.
#[derive(Clone, Copy, Debug)]
struct Ref {
    /// Its first eight bytes behind those that all begin with, so that few comparisons go to where it lies.
    head: u64,
    start: usize,
    len: u32,
    /// The place of its document.
    doc: u32,
}

impl Gathered {
    fn new(room: Room) -> Gathered {
        Gathered { ids: InMemory::default(), runs: Vec::new(), room }
    }

    /// Takes the id of the document that goes to place `doc`.
    fn push(&mut self, id: &[u8], doc: u32) -> Result<(), ErrorKind> {
        self.ids.push(id, doc);
        match self.room.spill() {
            Some(spill) if self.ids.heap() > self.room.bytes() => self.runs.push(self.ids.spill(spill)?),
            _ => {}
        }
        Ok(())
    }

    /// Puts them in order, and refuses two that are equal: with what they are, and the places of their documents.
    fn finish(mut self) -> Result<Ordered, ErrorKind> {
        // What is small stays, while columns are encoded.
        let Some(spill) =
            self.room.spill().filter(|_| !self.runs.is_empty() || self.ids.heap() > self.room.bytes() / 8)
        else {
            self.ids.sort();
            let (mut last, ids) = (Twice::default(), self.ids);
            ids.refs.iter().try_for_each(|id| last.check(ids.id(id), id.doc))?;
            return Ok(Ordered { held: Held::InMemory(ids) });
        };
        if !self.ids.refs.is_empty() {
            self.runs.push(self.ids.spill(spill)?);
        }
        let (mut merge, mut merged, mut last) = (Merge::default(), Run::new(spill), Twice::default());
        for (i, run) in self.runs.into_iter().enumerate() {
            merge.add(i, run)?;
        }
        while let Some(Cursor { string: id, number: doc, .. }) = merge.next()? {
            last.check(id, *doc)?;
            merged.push(*doc, id)?;
        }
        Ok(Ordered { held: Held::InFile(merged.finish()?) })
    }
}

impl InMemory {
    fn push(&mut self, id: &[u8], doc: u32) {
        self.common = match self.refs.first() {
            Some(first) => {
                self.id(first).iter().zip(id).take(self.common).take_while(|(a, b)| a == b).count()
            }
            None => id.len(),
        };
        // The longest value has 2^31 bytes.
        let len = u32::try_from(id.len()).unwrap_or(u32::MAX);
        self.refs.push(Ref { head: 0, start: self.bytes.len(), len, doc });
        self.bytes.extend_from_slice(id);
    }

    fn id(&self, id: &Ref) -> &[u8] {
        &self.bytes[id.start..][..index(id.len)]
    }

    fn heap(&self) -> usize {
        self.bytes.len() + self.refs.len() * size_of::<Ref>()
    }

    fn sort(&mut self) {
        let InMemory { bytes, refs, common } = self;
        let id = |of: &Ref| &bytes[of.start..][..index(of.len)];
        for of in refs.iter_mut() {
            let mut head = [0; 8];
            let behind = &id(of)[*common..];
            let len = behind.len().min(head.len());
            head[..len].copy_from_slice(&behind[..len]);
            of.head = u64::from_be_bytes(head);
        }
        refs.sort_unstable_by(|a, b| {
            a.head.cmp(&b.head).then_with(|| id(a).cmp(id(b))).then_with(|| a.doc.cmp(&b.doc))
        });
    }

    /// Sorts them into a run, and forgets them.
    fn spill(&mut self, spill: &Spill) -> Result<Region, ErrorKind> {
        self.sort();
        let mut run = Run::new(spill);
        self.refs.iter().try_for_each(|id| run.push(id.doc, self.id(id)))?;
        self.bytes.clear();
        self.refs.clear();
        run.finish()
    }
}

/// Two ids one after the other, which may be the same.
#[derive(Default)]
struct Twice {
    last: Option<u32>,
    id: Vec<u8>,
}

impl Twice {
    fn check(&mut self, id: &[u8], doc: u32) -> Result<(), ErrorKind> {
        match self.last.replace(doc) {
            Some(last) if self.id == id => {
                Err(ErrorKind::DuplicateId { id: id.to_vec(), docs: [last.min(doc), last.max(doc)] })
            }
            _ => {
                self.id.clear();
                self.id.extend_from_slice(id);
                Ok(())
            }
        }
    }
}

/// Ids in order, each once, with the places of their documents.
#[derive(Debug)]
pub(crate) struct Ordered {
    held: Held,
}

#[derive(Debug)]
enum Held {
    InMemory(InMemory),
    InFile(Region),
}

impl Ordered {
    /// Writes the index of these ids, which `docs` documents have in the field `name`.
    pub(crate) fn write<S: Sink>(
        &self,
        file: &mut FileWriter<'_, S>,
        name: &str,
        docs: u32,
        options: &IdOptions,
    ) -> Result<IdsSummary> {
        let index = self.index(docs, options).map_err(|kind| Error::from(kind).of(name))?;
        Ok(file.ids(name, index)?)
    }

    fn index(&self, docs: u32, options: &IdOptions) -> Result<Ids<Payload>, ErrorKind> {
        let spill = match &self.held {
            Held::InMemory(_) => None,
            Held::InFile(region) => Some(region.spill().clone()),
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
        match &self.held {
            Held::InMemory(ids) => {
                let _ = ids.refs.iter().try_for_each(|id| each(ids.id(id), DocId::new(id.doc)));
            }
            Held::InFile(region) => {
                let mut cursor = Cursor::new(0, region.clone());
                while cursor.advance()? && each(&cursor.string, DocId::new(cursor.number)).is_continue() {}
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
        gathered.finish()
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
