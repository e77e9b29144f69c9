//! Segments of ids in memory: maps, and indexes of which a test knows what is read and can damage it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use docvalues_format::error::{Error, ErrorKind, Place, Result, Section};
use docvalues_format::id::DocId;
use docvalues_format::source::{Owned, SectionBytes};

use super::super::SegmentIds;
use crate::build::{IdOptions, IdsBuilder};
use crate::read::IdsReader;

/// An id of one of four shapes.
pub(super) fn id(number: u32, kind: u8) -> Vec<u8> {
    let mixed = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    match kind {
        0 => {
            let hex = format!("{mixed:032x}");
            format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]).into()
        }
        1 => format!("doc-{number:010}").into(),
        2 => format!("{number}").into(),
        _ => [&mixed.to_be_bytes()[..usize::from(kind) % 17], &number.to_be_bytes()[..]].concat(),
    }
}

/// A section that knows whether all of it was checked, and how often it was asked for anything.
struct Tracked {
    bytes: Owned,
    good: AtomicBool,
    /// From which byte on it cannot be read, unless it was checked.
    damaged_from: AtomicUsize,
    asked: AtomicUsize,
}

/// A tracked section, which a segment shares with its test.
#[derive(Clone)]
pub(super) struct Shared(Arc<Tracked>);

impl Shared {
    pub(super) fn new(section: Section, bytes: Vec<u8>) -> Shared {
        let (good, damaged_from) = (AtomicBool::new(false), AtomicUsize::new(usize::MAX));
        let asked = AtomicUsize::new(0);
        Shared(Arc::new(Tracked { bytes: Owned::new(section, bytes), good, damaged_from, asked }))
    }

    fn is_good(&self) -> bool {
        self.0.good.load(Ordering::Relaxed)
    }

    /// Says of all of it that it was checked.
    pub(super) fn check(&self) {
        self.0.good.store(true, Ordering::Relaxed);
    }

    pub(super) fn damage_from(&self, byte: usize) {
        self.0.damaged_from.store(byte, Ordering::Relaxed);
    }

    pub(super) fn asked(&self) -> usize {
        self.0.asked.load(Ordering::Relaxed)
    }
}

impl SectionBytes for Shared {
    fn place(&self) -> Place {
        self.0.bytes.place()
    }

    fn len(&self) -> usize {
        self.0.bytes.len()
    }

    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
        match range.end > self.0.damaged_from.load(Ordering::Relaxed) && !self.is_good() {
            true => Err(Error::at(self.place(), range.start, ErrorKind::Broken("damaged"))),
            false => self.0.bytes.slice(range),
        }
    }

    fn peek<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
        self.0.bytes.peek(at).filter(|_| self.is_good())
    }

    fn verified(&self) -> Option<&[u8]> {
        self.0.bytes.verified().filter(|_| self.is_good())
    }
}

/// Ids and documents, as a map and as an index.
pub(super) struct Ids {
    pub(super) model: BTreeMap<Vec<u8>, u32>,
    reader: IdsReader<Shared>,
    keys: Option<Shared>,
    filter: Option<Shared>,
}

impl Ids {
    /// Of each third number of ids, as of a file of which not all was read yet, nothing is checked.
    pub(super) fn new(model: BTreeMap<Vec<u8>, u32>, seed: u64) -> Ids {
        let docs = model.values().max().map_or(0, |last| last + 1);
        let sorted: Vec<(&Vec<u8>, DocId)> = model.iter().map(|(id, &doc)| (id, DocId::new(doc))).collect();
        let options = IdOptions { seed, ..IdOptions::default() };
        let made = IdsBuilder::new(options).build(&sorted[..], docs).unwrap();
        let (mut keys, mut filter) = (None, None);
        let opened = made.try_map(&mut |section, bytes| {
            let shared = Shared::new(section, bytes);
            if !model.len().is_multiple_of(3) {
                shared.check();
            }
            match section {
                Section::Ids => keys = Some(shared.clone()),
                Section::IdFilter => filter = Some(shared.clone()),
                _ => {}
            }
            Ok::<_, Error>(shared)
        });
        let reader = IdsReader::open(opened.unwrap()).unwrap();
        Ids { model, reader, keys, filter }
    }

    /// As `new`, with the documents in the order opposite to that of their ids.
    pub(super) fn of(ids: impl IntoIterator<Item = Vec<u8>>, seed: u64) -> Ids {
        let ids: BTreeSet<Vec<u8>> = ids.into_iter().collect();
        let docs = (0..u32::try_from(ids.len()).unwrap()).rev();
        Ids::new(ids.into_iter().zip(docs).collect(), seed)
    }

    /// The section of the ids, of which there must be some.
    pub(super) fn keys(&self) -> &Shared {
        self.keys.as_ref().unwrap()
    }

    /// The number of times that its filter was asked.
    pub(super) fn asked(&self) -> usize {
        self.filter.as_ref().map_or(0, Shared::asked)
    }
}

impl SegmentIds for Ids {
    type Bytes = Shared;

    fn ids(&self) -> &IdsReader<Shared> {
        &self.reader
    }
}
