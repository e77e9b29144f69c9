//! An id, as the segments of each scheme have it.

use super::{IdLookup, IdScheme, SegmentIds};
use crate::bloom::Probe;
use crate::hash::hash;
use crate::packing::Packed;

/// What an id was turned into for each scheme of segment, when the first of the scheme asked.
pub(super) struct EncodedId {
    encoded: Vec<Encoded>,
    room: Packed,
    /// Which id that is: encoded of another id_number are of another id.
    id_number: u64,
}

#[derive(Clone)]
struct Encoded {
    probed: u64,
    probe: Probe,
    packed: u64,
    /// Whether an id of this scheme is like that.
    fits: bool,
    bytes: Vec<u8>,
    /// What to compare with bounds.
    key: Option<u64>,
}

impl EncodedId {
    pub(super) fn new(schemes: usize) -> EncodedId {
        let encoded =
            Encoded { probed: 0, probe: Probe::new(0), packed: 0, fits: false, bytes: Vec::new(), key: None };
        EncodedId { encoded: vec![encoded; schemes], room: Packed::default(), id_number: 0 }
    }

    /// Begins with another id.
    pub(super) fn next_id(&mut self) {
        self.id_number += 1;
    }

    /// Takes what to ask the filters of the first scheme, so that it is not made again.
    pub(super) fn set_probe(&mut self, probe: Option<&Probe>) {
        if let (Some(probe), Some(encoded)) = (probe, self.encoded.first_mut()) {
            (encoded.probed, encoded.probe) = (self.id_number, *probe);
        }
    }

    /// What to ask the filters of a scheme.
    #[inline]
    pub(super) fn probe(&mut self, schemes: &[IdScheme], scheme: u32, id: &[u8]) -> Option<&Probe> {
        let encoded = self.encoded.get_mut(scheme as usize)?;
        if encoded.probed != self.id_number {
            let seed = schemes.get(scheme as usize)?.seed;
            (encoded.probed, encoded.probe) = (self.id_number, Probe::new(hash(id, seed)));
        }
        Some(&encoded.probe)
    }

    /// Makes the keys for the bounds of all schemes.
    pub(super) fn keys<S: SegmentIds>(&mut self, lookup: &IdLookup<S>, id: &[u8]) {
        for scheme in (0..).take(self.encoded.len()) {
            let key =
                self.packed(&lookup.schemes, scheme, id).and_then(|packed| lookup.bounds.key(scheme, packed));
            if let Some(encoded) = self.encoded.get_mut(scheme as usize) {
                encoded.key = key;
            }
        }
    }

    /// What [`keys`](Self::keys) made.
    #[inline]
    pub(super) fn key(&self, scheme: u32) -> Option<u64> {
        self.encoded.get(scheme as usize)?.key
    }

    /// The id as the dictionaries of a scheme have it, if they can.
    #[inline]
    pub(super) fn packed<'a>(
        &'a mut self,
        schemes: &[IdScheme],
        scheme: u32,
        id: &'a [u8],
    ) -> Option<&'a [u8]> {
        let template = &schemes.get(scheme as usize)?.template;
        if template.is_raw() {
            return Some(id);
        }
        let encoded = self.encoded.get_mut(scheme as usize)?;
        if encoded.packed != self.id_number {
            encoded.bytes.clear();
            let packed = template.pack(id, &mut self.room);
            encoded.bytes.extend_from_slice(packed.unwrap_or_default());
            (encoded.packed, encoded.fits) = (self.id_number, packed.is_some());
        }
        encoded.fits.then_some(&*encoded.bytes)
    }

    /// What [`packed`](Self::packed) made.
    #[inline]
    pub(super) fn already_packed<'a>(
        &'a self,
        schemes: &[IdScheme],
        scheme: u32,
        id: &'a [u8],
    ) -> Option<&'a [u8]> {
        if schemes.get(scheme as usize)?.template.is_raw() {
            return Some(id);
        }
        self.encoded.get(scheme as usize).filter(|encoded| encoded.fits).map(|encoded| &*encoded.bytes)
    }
}
