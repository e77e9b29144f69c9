//! A segment as a map.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use docvalues_format::error::{Error, ErrorKind, Result, Section};
use docvalues_format::id::DocId;
use docvalues_format::source::Owned;

use super::super::SegmentIds;
use crate::bloom::{BloomFilter, BloomFilterBuilder, DEFAULT_BITS, Lines, Probe};
use crate::hash::hash;
use crate::packing::{Packed, Template};

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

/// Ids and documents.
pub(super) struct Ids {
    pub(super) model: BTreeMap<Vec<u8>, u32>,
    template: Template,
    packed: Vec<(Vec<u8>, u32)>,
    filter: Option<BloomFilter<Owned>>,
    seed: u64,
    asked: AtomicU32,
    /// From which rank on ids cannot be read.
    damaged: AtomicU32,
}

impl Ids {
    pub(super) fn new(model: BTreeMap<Vec<u8>, u32>, seed: u64) -> Ids {
        let ids: Vec<&Vec<u8>> = model.keys().collect();
        let template = Template::of(&ids);
        let mut buffer = Packed::default();
        let packed =
            model.iter().map(|(id, &doc)| (template.pack(id, &mut buffer).unwrap().to_vec(), doc)).collect();
        let len = u32::try_from(model.len()).unwrap();
        let mut filter = BloomFilterBuilder::new(len, DEFAULT_BITS);
        ids.iter().for_each(|id| filter.insert(hash(id, seed)));
        let owned = filter.finish().map(|bytes| Owned::new(Section::Header, bytes));
        let filter = owned.map(|owned| BloomFilter::open(owned, len, DEFAULT_BITS).unwrap());
        let (asked, damaged) = (AtomicU32::new(0), AtomicU32::new(u32::MAX));
        Ids { model, template, packed, filter, seed, asked, damaged }
    }

    pub(super) fn damage_from(&self, rank: u32) {
        self.damaged.store(rank, Ordering::Relaxed);
    }

    /// How often its filter was asked.
    pub(super) fn asked(&self) -> u32 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl SegmentIds for Ids {
    fn len(&self) -> u32 {
        u32::try_from(self.model.len()).unwrap()
    }

    fn bounds(&self) -> Option<(&[u8], &[u8])> {
        Some((&self.packed.first()?.0, &self.packed.last()?.0))
    }

    fn template(&self) -> &Template {
        &self.template
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn may_hold(&self, probe: &Probe) -> Result<bool> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.filter.as_ref().map_or(Ok(true), |filter| filter.may_hold(probe))
    }

    fn lines(&self) -> Option<Lines<'_>> {
        // As of a file of which not all was read yet.
        self.filter.as_ref().filter(|_| !self.model.len().is_multiple_of(3))?.verified()
    }

    fn doc(&self, rank: u32) -> Result<DocId> {
        Ok(DocId::new(self.packed[rank as usize].1))
    }

    fn find_packed(&self, packed: &[u8]) -> Result<Option<DocId>> {
        let found = self.packed.binary_search_by(|(key, _)| key.as_slice().cmp(packed));
        Ok(found.ok().map(|rank| DocId::new(self.packed[rank].1)))
    }

    fn each(&self, ranks: Range<u32>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        if ranks.end > self.damaged.load(Ordering::Relaxed) {
            return Err(Error::new(Section::Header, 0, ErrorKind::Broken("damaged")));
        }
        let mut id = Vec::new();
        for (packed, _) in &self.packed[ranks.start as usize..ranks.end as usize] {
            self.template.unpack(packed, &mut id).unwrap();
            each(&id);
        }
        Ok(())
    }
}
