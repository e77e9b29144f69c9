//! In which of many segments is this id?
//!
//! A store of documents has tens to hundreds of segments, and each document that comes with an id must be looked for
//! in all of them first. Three ways, all exact:
//!
//! | | what it reads for an id that is nowhere | memory |
//! | --- | --- | --- |
//! | files alone | one line of each segment's filter | 16 bytes a segment |
//! | filters in memory | eight rows of a bit for each segment: [`bloom`](crate::bloom) | 2 to 4 bytes an id |
//! | fingerprint table | one line, however many segments there are: [`fingerprints`](crate::fingerprints) | 5.3 to 8 bytes an id |
//!
//! ```text
//! id ── hash ─┬─ files: bounds of all segments ─ hash of their filters ─ filters, newest first ─┐
//!             └─ table: fingerprints ─ slots ─ segments, newest first ─────────────────────────────────┴─ dictionary
//! ```
//!
//! | type | is |
//! | --- | --- |
//! | [`IdLookup`] | a set of segments that never changes: what a reader holds; with its filters in memory or not |
//! | [`Seeker`] | one thread's way through it, with its buffers |
//! | [`IdStore`] | a set that changes, with its fingerprint table: gives an [`IdLookup`] after each change |
//!
//! Segments have an order, newest first, and the newest one that has an id counts. Where documents are deleted and
//! added again, [`Seeker::find_live`] goes on to older segments behind a document that is deleted, as Lucene's
//! `PerThreadIDVersionAndSeqNoLookup` in Elasticsearch and OpenSearch does. The version that it then reads is for a
//! `NumericSeeker` of `docvalues_reader` to find.

mod bit_sliced;
mod bounds;
mod encoded_id;
mod generations;
mod rank_docs;
mod seeker;
mod store;
mod verified_cache;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use docvalues_format::error::Result;
use docvalues_format::id::DocId;

use crate::bloom::{Lines, Probe};
use crate::dictionary::VerifiedDictionary;
use crate::fingerprints::FingerprintTable;
#[cfg(doc)]
use crate::ids::MAX_BOUND;
use crate::packing::Template;
use bit_sliced::BitSlicedFilters;
use bounds::Bounds;
pub use rank_docs::Docs;
pub use seeker::{SeekError, Seeker};
pub use store::{IdStore, MAX_SEGMENTS, SegmentId, StoreError, Upkeep};

/// What the look-up needs of a segment with ids: an [`IdsReader`](crate::read::IdsReader), or whatever holds one.
pub trait SegmentIds: Send + Sync {
    /// How many ids there are.
    fn len(&self) -> u32;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The least and the greatest id, packed, or their first [`MAX_BOUND`] bytes; `None` if there are no ids.
    fn bounds(&self) -> Option<(&[u8], &[u8])>;

    /// How ids are packed.
    fn template(&self) -> &Template;

    /// The seed of the filter: segments with one seed share an id's hash. Any number if there is no filter.
    fn seed(&self) -> u64;

    /// Whether an id may be here; `true` if there is no filter.
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    fn may_hold(&self, probe: &Probe) -> Result<bool>;

    /// The lines of the filter, if all of it is known to be good by now; [`Lines::ALL`] if there is none.
    fn lines(&self) -> Option<Lines<'_>> {
        None
    }

    /// The same, once all of it was read and checked.
    ///
    /// # Errors
    ///
    /// When bytes of it are damaged.
    fn read_lines(&self) -> Result<Option<Lines<'_>>> {
        Ok(self.lines())
    }

    /// Where the rank of an id is found, if all of it is known to be good by now.
    fn dictionary(&self) -> Option<VerifiedDictionary<'_>> {
        None
    }

    /// Where the document of a rank is found, if all of it is known to be good by now and lies so that it is.
    fn docs(&self) -> Option<Docs<'_>> {
        None
    }

    /// The document of the id with `rank`, which is less than [`len`](Self::len).
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    fn doc(&self, rank: u32) -> Result<DocId>;

    /// Asks for the memory that [`find_packed`](Self::find_packed) begins with. Does nothing if it cannot be.
    fn prefetch(&self, _packed: &[u8]) {}

    /// The document of an id, which is given as it was packed.
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    fn find_packed(&self, packed: &[u8]) -> Result<Option<DocId>>;

    /// Gives the ids of `ranks`, which are less than [`len`](Self::len), unpacked and in their order.
    ///
    /// # Errors
    ///
    /// When bytes on the way are damaged.
    fn each(&self, ranks: Range<u32>, each: &mut dyn FnMut(&[u8])) -> Result<()>;
}

/// Where an id was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The segment, counted from the newest one: see [`IdLookup::segment`].
    pub segment: usize,
    /// The document in it.
    pub doc: DocId,
}

/// A set of segments, newest first, that never changes.
///
/// Everything in it is shared: it costs nothing to hold, whatever becomes of the [`IdStore`] it is from, but the
/// memory of its fingerprint tables and what its segments hold.
pub struct IdLookup<S: SegmentIds> {
    segments: Vec<(SegmentId, Arc<S>)>,
    /// The segments' templates and seeds, each pair once.
    schemes: Vec<IdScheme>,
    /// The scheme of each segment.
    scheme_of: Vec<u32>,
    bounds: Bounds,
    /// If they were wanted in memory.
    sliced: Option<BitSlicedFilters>,
    fingerprints: Option<Fingerprints>,
}

/// What an id is turned into once for all segments of a scheme.
struct IdScheme {
    template: Template,
    seed: u64,
}

/// The fingerprint tables that hold all ids of the segments.
struct Fingerprints {
    seed: u64,
    tables: Vec<TableView>,
}

/// A table, and what its slots say in this set.
struct TableView {
    table: Arc<FingerprintTable>,
    /// For each slot the place of its segment, or [`NOWHERE`].
    places: Box<[u32]>,
}

/// The place of a segment that is not in the set.
const NOWHERE: u32 = u32::MAX;

impl TableView {
    /// The place of the segment of `slot`, if it is in the set.
    #[inline]
    fn place(&self, slot: u16) -> Option<u32> {
        self.places.get(usize::from(slot)).copied().filter(|&place| place != NOWHERE)
    }
}

impl<S: SegmentIds> IdLookup<S> {
    /// Looks ids up in the filters and dictionaries of `segments`, which are sorted from the newest to the oldest.
    ///
    /// O(segments), and reads nothing of them but their bounds.
    pub fn new(segments: impl IntoIterator<Item = Arc<S>>) -> IdLookup<S> {
        let numbered = (0..).map(SegmentId::new).zip(segments).collect();
        IdLookup::of(numbered, None)
    }

    fn of(segments: Vec<(SegmentId, Arc<S>)>, fingerprints: Option<Fingerprints>) -> IdLookup<S> {
        let mut schemes: Vec<IdScheme> = Vec::new();
        let mut scheme_of: Vec<u32> = Vec::with_capacity(segments.len());
        for (_, segment) in &segments {
            let same =
                |scheme: &IdScheme| scheme.seed == segment.seed() && scheme.template == *segment.template();
            // Most often it is that of the segment before.
            let last = scheme_of.last().copied().filter(|&last| schemes.get(last as usize).is_some_and(same));
            let scheme = last.map(|last| last as usize).or_else(|| schemes.iter().position(same));
            let scheme = scheme.unwrap_or_else(|| {
                schemes.push(IdScheme { template: segment.template().clone(), seed: segment.seed() });
                schemes.len() - 1
            });
            scheme_of.push(u32::try_from(scheme).unwrap_or(u32::MAX));
        }
        let bounds = segments.iter().map(|(_, segment)| segment.bounds());
        let bounds = Bounds::of(schemes.len(), scheme_of.iter().copied().zip(bounds));
        IdLookup { segments, schemes, scheme_of, bounds, sliced: None, fingerprints }
    }

    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The segment at a place, counted from the newest, and its name in the [`IdStore`].
    pub fn segment(&self, place: usize) -> Option<(SegmentId, &Arc<S>)> {
        self.segments.get(place).map(|(id, segment)| (*id, segment))
    }

    /// All segments, from the newest to the oldest.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = (SegmentId, &Arc<S>)> {
        self.segments.iter().map(|(id, segment)| (*id, segment))
    }

    /// Whether a fingerprint table answers first.
    pub fn has_fingerprints(&self) -> bool {
        self.fingerprints.is_some()
    }

    /// How much memory the fingerprint tables take, in bytes.
    pub fn fingerprint_bytes(&self) -> usize {
        let tables = self.fingerprints.iter().flat_map(|fingerprints| &fingerprints.tables);
        tables.map(|view| view.table.bytes() + size_of_val(&*view.places)).sum()
    }

    /// One thread's way through the segments. Has buffers: keep it for a bulk of ids at least.
    ///
    /// O(segments) without a fingerprint table: gathers the filters that are known to be good by now. Those of which parts
    /// were never read are asked one by one, some nanoseconds slower, until another seeker is made. With one, O(1); once it
    /// was asked as many ids as there are segments, it gathers, too: 128 bytes a segment.
    pub fn seeker(&self) -> Seeker<'_, S> {
        Seeker::new(self)
    }
}
