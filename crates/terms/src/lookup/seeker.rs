//! Looks ids up for one thread.

use docvalues_format::error::Error;
use docvalues_format::id::DocId;

use super::encoded_id::EncodedId;
use super::verified_cache::VerifiedCache;
use super::{Hit, IdLookup, SegmentIds};
use crate::hash::hash;
use by_fingerprints::InFlight;

mod by_filters;
mod by_fingerprints;

/// Looks ids up in an [`IdLookup`]. Owns the buffers, so that a look-up allocates nothing.
///
/// # Examples
///
/// A bulk of ids at once, so that their cache misses overlap, and only documents that are not deleted:
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_format::id::DocId;
/// use docvalues_terms::lookup::{Hit, IdLookup};
///
/// # use docvalues_format::error::Error;
/// # use docvalues_format::source::Owned;
/// # use docvalues_terms::build::{IdOptions, IdsBuilder};
/// # use docvalues_terms::read::IdsReader;
/// # fn segment(ids: &[&str]) -> Result<Arc<IdsReader<Owned>>, Box<dyn std::error::Error>> {
/// #     let ids: Vec<_> = ids.iter().zip((0..).map(DocId::new)).collect();
/// #     let built = IdsBuilder::new(IdOptions::default()).build(&ids[..], ids.len() as u32)?;
/// #     let opened = built.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// #     Ok(Arc::new(IdsReader::open(opened)?))
/// # }
/// let lookup = IdLookup::new([segment(&["b", "c"])?, segment(&["a", "b"])?]);
/// let mut seeker = lookup.seeker();
/// let mut hits = Vec::new();
/// seeker.find_many(&[b"a", b"x", b"c"], &mut hits)?;
/// assert_eq!(hits.iter().map(|hit| hit.map(|hit| hit.segment)).collect::<Vec<_>>(), [Some(1), None, Some(0)]);
///
/// // Document 0 of the newer segment was deleted: the older "b" is found.
/// let live = |segment: usize, doc: DocId| (segment, doc.get()) != (0, 0);
/// assert_eq!(seeker.find_live(b"b", live)?, Some(Hit { segment: 1, doc: DocId::new(1) }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Seeker<'a, S: SegmentIds> {
    lookup: &'a IdLookup<S>,
    encoded: EncodedId,
    /// Empty with a fingerprint table, until as many ids were looked up as there are segments.
    cache: VerifiedCache<'a>,
    asked: usize,
    /// Candidates from the fingerprint tables: the index of an id in the bulk, and the position of a segment.
    candidates: Vec<(u32, u32)>,
    /// The candidates that are prefetched.
    in_flight: Vec<InFlight>,
    /// Their keys, end to end.
    keys: Vec<u8>,
    hashes: Vec<u64>,
}

/// Bytes of a segment are damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("segment {segment} (0 is the newest): {source}")]
pub struct SeekError {
    /// The position of the segment, counted from the newest one: see [`IdLookup::segment`].
    pub segment: usize,
    /// The damage.
    pub source: Error,
}

impl SeekError {
    pub(super) fn of(segment: usize) -> impl FnOnce(Error) -> SeekError {
        move |source| SeekError { segment, source }
    }
}

impl<'a, S: SegmentIds> Seeker<'a, S> {
    pub(super) fn new(lookup: &'a IdLookup<S>) -> Seeker<'a, S> {
        let cache = match lookup.fingerprints {
            Some(_) => VerifiedCache::default(),
            None => VerifiedCache::filters_of(lookup),
        };
        let encoded = EncodedId::new(lookup.schemes.len());
        let (candidates, in_flight, keys, hashes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Seeker { lookup, encoded, cache, asked: 0, candidates, in_flight, keys, hashes }
    }

    /// The set of segments.
    pub fn lookup(&self) -> &'a IdLookup<S> {
        self.lookup
    }

    /// The newest segment that has `id`, and the document there.
    ///
    /// With a fingerprint table, O(1) for an absent id, plus one dictionary look-up for a present one. Without,
    /// O(segments).
    ///
    /// # Errors
    ///
    /// When bytes that the look-up reads are damaged. The error names the segment. Segments older than the one that
    /// has the id are not read.
    #[inline]
    pub fn find(&mut self, id: &[u8]) -> Result<Option<Hit>, SeekError> {
        self.find_live(id, |_, _| true)
    }

    /// The newest document with this id for which `live` returns true. `live` takes the position of the segment and
    /// the document.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    #[inline]
    pub fn find_live(
        &mut self,
        id: &[u8],
        live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        match &self.lookup.fingerprints {
            Some(fingerprints) => {
                let hash = hash(id, fingerprints.seed);
                // The common case. The fewer instructions it takes, the more look-ups overlap their cache misses.
                if fingerprints.tables.iter().all(|view| view.table.has_none(hash)) {
                    return Ok(None);
                }
                self.by_fingerprints(fingerprints, hash, id, live)
            }
            None => self.by_filters(id, [None; 2], live),
        }
    }

    /// Looks up each of `ids`; clears `out` first.
    ///
    /// With a fingerprint table, the cache misses of all ids overlap, which is up to three times as fast as one by
    /// one. Allocates nothing once its buffers are as large as the largest bulk.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find); `out` is then partly filled.
    pub fn find_many(&mut self, ids: &[&[u8]], out: &mut Vec<Option<Hit>>) -> Result<(), SeekError> {
        self.find_many_live(ids, out, |_, _| true)
    }

    /// [`find_live`](Self::find_live) for each of `ids`; clears `out` first.
    ///
    /// # Errors
    ///
    /// As [`find_many`](Self::find_many).
    pub fn find_many_live(
        &mut self,
        ids: &[&[u8]],
        out: &mut Vec<Option<Hit>>,
        live: impl FnMut(usize, DocId) -> bool,
    ) -> Result<(), SeekError> {
        out.clear();
        match &self.lookup.fingerprints {
            Some(fingerprints) => self.many_by_fingerprints(fingerprints, ids, out, live),
            None => self.many_by_filters(ids, out, live),
        }
    }

    /// Looks the id up in the segment at `place`.
    #[inline]
    fn confirm(
        &mut self,
        place: usize,
        id: &[u8],
        live: &mut impl FnMut(usize, DocId) -> bool,
    ) -> Result<Option<Hit>, SeekError> {
        let lookup = self.lookup;
        let Some((segment, scheme)) = lookup.at(place) else { return Ok(None) };
        let Some(packed) = self.encoded.packed(&lookup.schemes, scheme, id) else { return Ok(None) };
        let found = self.cache.find(place, segment, packed, None).map_err(SeekError::of(place))?;
        Ok(found.filter(|&doc| live(place, doc)).map(|doc| Hit { segment: place, doc }))
    }
}
