//! An id, packed and hashed at most once for each scheme.

use super::{IdLookup, IdScheme, SegmentIds};
use crate::bloom::Probe;
use crate::hash::hash;
use crate::packing::Packed;

/// The encodings of the current id, computed when the first segment of a scheme needs them.
pub(super) struct EncodedId {
    encoded: Vec<Encoded>,
    buffer: Packed,
    /// The number of the current id. An encoding that carries another number is stale.
    id_number: u64,
}

#[derive(Clone)]
struct Encoded {
    /// The number of the id that `probe` is of.
    probed: u64,
    probe: Probe,
    /// The number of the id that `bytes` and `fits` are of.
    packed: u64,
    /// Whether the id fits the template.
    fits: bool,
    bytes: Vec<u8>,
    /// The key to compare with the bounds.
    key: Option<u64>,
}

impl EncodedId {
    pub(super) fn new(schemes: usize) -> EncodedId {
        let encoded =
            Encoded { probed: 0, probe: Probe::new(0), packed: 0, fits: false, bytes: Vec::new(), key: None };
        EncodedId { encoded: vec![encoded; schemes], buffer: Packed::default(), id_number: 0 }
    }

    /// Starts with another id.
    pub(super) fn next_id(&mut self) {
        self.id_number += 1;
    }

    /// Sets the probe of the first scheme, if the caller has computed it already.
    pub(super) fn set_probe(&mut self, probe: Option<&Probe>) {
        if let (Some(probe), Some(encoded)) = (probe, self.encoded.first_mut()) {
            (encoded.probed, encoded.probe) = (self.id_number, *probe);
        }
    }

    /// The probe for the filters of a scheme.
    #[inline]
    pub(super) fn probe(&mut self, schemes: &[IdScheme], scheme: u32, id: &[u8]) -> Option<&Probe> {
        let encoded = self.encoded.get_mut(scheme as usize)?;
        if encoded.probed != self.id_number {
            let seed = schemes.get(scheme as usize)?.seed;
            (encoded.probed, encoded.probe) = (self.id_number, Probe::new(hash(id, seed)));
        }
        Some(&encoded.probe)
    }

    /// The key that [`keys`](Self::keys) computed.
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

    /// The id packed for a scheme; `None` if it does not fit the template.
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
            let packed = template.pack(id, &mut self.buffer);
            encoded.bytes.extend_from_slice(packed.unwrap_or_default());
            (encoded.packed, encoded.fits) = (self.id_number, packed.is_some());
        }
        encoded.fits.then_some(&*encoded.bytes)
    }

    /// The result of an earlier call of [`packed`](Self::packed).
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
