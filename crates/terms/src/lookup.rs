//! Looks ids up in many segments at once.
//!
//! A store has tens to hundreds of segments, and each incoming document with an id is first looked up in all of
//! them. There are two ways, both exact:
//!
//! | | read for an id that no segment has | memory |
//! | --- | --- | --- |
//! | files alone | one cache line of each segment's filter | 16 bytes a segment |
//! | fingerprint table | one cache line for all segments: [`fingerprints`](crate::fingerprints) | 5.3 to 8 bytes an id |
//!
//! ```text
//! id ── hash ─┬─ files: least and greatest ids ─ filters of all segments, newest first ──┐
//!             └─ table: fingerprints ─ slots ─ segments, newest first ───────────────────┴─ dictionary
//! ```
//!
//! | type | contents |
//! | --- | --- |
//! | [`IdLookup`] | an immutable set of segments, as a reader holds it |
//! | [`Seeker`] | looks ids up for one thread, with its buffers |
//! | [`IdStore`] | a changing set with its fingerprint table; publishes an [`IdLookup`] after each change |
//!
//! Segments are ordered newest first, and the newest one that has an id wins. If documents are deleted and added
//! again, [`Seeker::find_live`] skips deleted documents and goes on to older segments, as
//! `PerThreadIDVersionAndSeqNoLookup` in Elasticsearch and OpenSearch does. To read the version of the document
//! found, use a `NumericSeeker` of `docvalues_reader`.

mod bounds;
mod encoded_id;
mod generations;
mod seeker;
mod store;
mod verified_cache;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use docvalues_format::id::DocId;
use docvalues_format::source::SectionBytes;

use crate::fingerprints::FingerprintTable;
use crate::packing::Template;
use crate::read::IdsReader;
use bounds::Bounds;
pub use seeker::{SeekError, Seeker};
pub use store::{IdStore, IdStoreError, MAX_SEGMENTS, SegmentId, Upkeep};

/// A segment with ids: an [`IdsReader`], or a type that holds one.
pub trait SegmentIds: Send + Sync {
    /// The location of its bytes.
    type Bytes: SectionBytes;

    /// The ids.
    fn ids(&self) -> &IdsReader<Self::Bytes>;
}

impl<B: SectionBytes> SegmentIds for IdsReader<B> {
    type Bytes = B;

    #[inline]
    fn ids(&self) -> &IdsReader<B> {
        self
    }
}

/// The location of an id: [`Seeker::find`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of the segment, counted from the newest: see [`IdLookup::segment`].
    pub segment: usize,
    /// The document in that segment.
    pub doc: DocId,
}

/// An immutable set of segments, newest first.
///
/// All parts are shared. Holding one keeps the memory of its fingerprint tables and segments alive, and nothing
/// else of the [`IdStore`] it is from.
///
/// # Examples
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
/// // Two segments of a store; "b" was indexed again, in the newer one.
/// let (older, newer) = (segment(&["a", "b"])?, segment(&["b", "c"])?);
/// let lookup = IdLookup::new([newer, older]);
/// let mut seeker = lookup.seeker();
/// assert_eq!(seeker.find(b"b")?, Some(Hit { segment: 0, doc: DocId::new(0) }));
/// assert_eq!(seeker.find(b"a")?, Some(Hit { segment: 1, doc: DocId::new(0) }));
/// assert_eq!(seeker.find(b"d")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Choosing a way
///
/// | segments | ids | use |
/// | --- | --- | --- |
/// | some | looked up now and then | [`IdLookup::new`]: no memory, no time to build |
/// | hundreds | every incoming document | an [`IdStore`], which keeps its table up to date as segments come and go |
pub struct IdLookup<S: SegmentIds> {
    segments: Vec<(SegmentId, Arc<S>)>,
    /// The distinct pairs of template and seed.
    schemes: Vec<IdScheme>,
    /// The scheme of each segment.
    scheme_of: Vec<u32>,
    bounds: Bounds,
    fingerprints: Option<Fingerprints>,
}

/// The encoding of ids that segments share: each id is packed and hashed once per scheme.
struct IdScheme {
    template: Template,
    seed: u64,
}

/// The fingerprint tables that hold all ids of the segments.
struct Fingerprints {
    seed: u64,
    tables: Vec<TableView>,
}

/// A table, and the meaning of its slots in this set.
struct TableView {
    table: Arc<FingerprintTable>,
    /// For each slot, the position of its segment, or [`NOWHERE`].
    places: Box<[u32]>,
}

/// The position of a segment that is not in the set.
const NOWHERE: u32 = u32::MAX;

impl TableView {
    /// The position of the segment of `slot`, if it is in the set.
    #[inline]
    fn place(&self, slot: u16) -> Option<u32> {
        self.places.get(usize::from(slot)).copied().filter(|&place| place != NOWHERE)
    }
}

impl<S: SegmentIds> IdLookup<S> {
    /// A set of `segments`, sorted from the newest to the oldest, that uses their filters and dictionaries.
    ///
    /// O(segments). Reads only their least and greatest ids.
    pub fn new(segments: impl IntoIterator<Item = Arc<S>>) -> IdLookup<S> {
        let numbered = (0..).map(SegmentId::new).zip(segments).collect();
        IdLookup::of(numbered, None)
    }

    fn of(segments: Vec<(SegmentId, Arc<S>)>, fingerprints: Option<Fingerprints>) -> IdLookup<S> {
        let mut schemes: Vec<IdScheme> = Vec::new();
        let mut scheme_of: Vec<u32> = Vec::with_capacity(segments.len());
        for (_, segment) in &segments {
            let ids = segment.ids();
            let same = |scheme: &IdScheme| scheme.seed == ids.seed() && scheme.template == *ids.template();
            // Most often the scheme of the segment before.
            let last = scheme_of.last().copied().filter(|&last| schemes.get(last as usize).is_some_and(same));
            let scheme = last.map(|last| last as usize).or_else(|| schemes.iter().position(same));
            let scheme = scheme.unwrap_or_else(|| {
                schemes.push(IdScheme { template: ids.template().clone(), seed: ids.seed() });
                schemes.len() - 1
            });
            scheme_of.push(u32::try_from(scheme).unwrap_or(u32::MAX));
        }
        let bounds = segments.iter().map(|(_, segment)| segment.ids().bounds());
        let bounds: Vec<_> = scheme_of.iter().copied().zip(bounds).collect();
        let bounds = Bounds::of(schemes.len(), &bounds);
        IdLookup { segments, schemes, scheme_of, bounds, fingerprints }
    }

    /// The number of segments.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there are no segments.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The segment at position `place`, counted from the newest, and its name in the [`IdStore`].
    pub fn segment(&self, place: usize) -> Option<(SegmentId, &Arc<S>)> {
        self.segments.get(place).map(|(id, segment)| (*id, segment))
    }

    /// The segment at position `place`, and its scheme.
    #[inline]
    fn at(&self, place: usize) -> Option<(&Arc<S>, u32)> {
        Some((&self.segments.get(place)?.1, *self.scheme_of.get(place)?))
    }

    /// All segments, from the newest to the oldest.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = (SegmentId, &Arc<S>)> {
        self.segments.iter().map(|(id, segment)| (*id, segment))
    }

    /// Whether look-ups use a fingerprint table.
    pub fn has_fingerprints(&self) -> bool {
        self.fingerprints.is_some()
    }

    /// Bytes of memory of the fingerprint tables.
    pub fn fingerprint_bytes(&self) -> usize {
        let tables = self.fingerprints.iter().flat_map(|fingerprints| &fingerprints.tables);
        tables.map(|view| view.table.bytes() + size_of_val(&*view.places)).sum()
    }

    /// A [`Seeker`] for one thread. It owns buffers, so keep it for at least a bulk of ids.
    ///
    /// Without a fingerprint table O(segments): the seeker caches pointers to the filters that are fully verified
    /// by now. Filters that are not are reached through their segments, some nanoseconds slower. With a table O(1):
    /// the seeker builds the cache (128 bytes a segment) once it was asked for as many ids as there are segments.
    pub fn seeker(&self) -> Seeker<'_, S> {
        Seeker::new(self)
    }
}
