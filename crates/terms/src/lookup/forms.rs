//! An id, as the segments of each kind have it.

use super::{IdLookup, Kind, SegmentIds};
use crate::filter::Probe;
use crate::hash::hash;
use crate::template::Packed;

/// What an id was turned into for each kind of segment, when the first of the kind asked.
pub(super) struct Forms {
    forms: Vec<Form>,
    room: Packed,
    /// Which id that is: forms of another age are of another id.
    age: u64,
}

#[derive(Clone)]
struct Form {
    probed: u64,
    probe: Probe,
    packed: u64,
    /// Whether an id of this kind is like that.
    fits: bool,
    bytes: Vec<u8>,
    /// What to compare with bounds.
    key: Option<u64>,
}

impl Forms {
    pub(super) fn new(kinds: usize) -> Forms {
        let form =
            Form { probed: 0, probe: Probe::new(0), packed: 0, fits: false, bytes: Vec::new(), key: None };
        Forms { forms: vec![form; kinds], room: Packed::default(), age: 0 }
    }

    /// Begins with another id.
    pub(super) fn next_id(&mut self) {
        self.age += 1;
    }

    /// Takes what to ask the filters of the first kind, so that it is not made again.
    pub(super) fn take_probe(&mut self, probe: Option<&Probe>) {
        if let (Some(probe), Some(form)) = (probe, self.forms.first_mut()) {
            (form.probed, form.probe) = (self.age, *probe);
        }
    }

    /// What to ask the filters of a kind.
    #[inline]
    pub(super) fn probe(&mut self, kinds: &[Kind], kind: u32, id: &[u8]) -> Option<&Probe> {
        let form = self.forms.get_mut(kind as usize)?;
        if form.probed != self.age {
            let seed = kinds.get(kind as usize)?.seed;
            (form.probed, form.probe) = (self.age, Probe::new(hash(id, seed)));
        }
        Some(&form.probe)
    }

    /// Makes the keys for the bounds of all kinds.
    pub(super) fn keys<S: SegmentIds>(&mut self, lookup: &IdLookup<S>, id: &[u8]) {
        for kind in (0..).take(self.forms.len()) {
            let key = self.packed(&lookup.kinds, kind, id).and_then(|packed| lookup.bounds.key(kind, packed));
            if let Some(form) = self.forms.get_mut(kind as usize) {
                form.key = key;
            }
        }
    }

    /// What [`keys`](Self::keys) made.
    #[inline]
    pub(super) fn key(&self, kind: u32) -> Option<u64> {
        self.forms.get(kind as usize)?.key
    }

    /// The id as the dictionaries of a kind have it, if they can.
    #[inline]
    pub(super) fn packed<'a>(&'a mut self, kinds: &[Kind], kind: u32, id: &'a [u8]) -> Option<&'a [u8]> {
        let template = &kinds.get(kind as usize)?.template;
        if template.is_raw() {
            return Some(id);
        }
        let form = self.forms.get_mut(kind as usize)?;
        if form.packed != self.age {
            form.bytes.clear();
            let packed = template.pack(id, &mut self.room);
            form.bytes.extend_from_slice(packed.unwrap_or_default());
            (form.packed, form.fits) = (self.age, packed.is_some());
        }
        form.fits.then_some(&*form.bytes)
    }

    /// What [`packed`](Self::packed) made.
    #[inline]
    pub(super) fn made<'a>(&'a self, kinds: &[Kind], kind: u32, id: &'a [u8]) -> Option<&'a [u8]> {
        if kinds.get(kind as usize)?.template.is_raw() {
            return Some(id);
        }
        self.forms.get(kind as usize).filter(|form| form.fits).map(|form| &*form.bytes)
    }
}
