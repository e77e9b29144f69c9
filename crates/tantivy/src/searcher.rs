//! [`Searcher`]: text and columns at a moment.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use docvalues::Bitset;
use docvalues::column::DocAddress;
use docvalues::search::{DocSet, Docs, Search};
use docvalues::store::Snapshot;
use tantivy::collector::{Collector, DocSetCollector, SegmentCollector};
use tantivy::index::SegmentId;
use tantivy::query::{Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, SegmentReader, Term};

use crate::error::Result;
use crate::key::{KEY, id_of, key_of};
use crate::places::{Moved, Places};

/// Text and columns of an index at a moment, with the same documents in both. It never changes. Cloning is cheap.
///
/// # Examples
///
/// See the [crate](crate).
#[derive(Clone)]
pub struct Searcher(Arc<View>);

/// The parts of a searcher.
pub(crate) struct View {
    pub(crate) text: tantivy::Searcher,
    pub(crate) snapshot: Snapshot,
    key: Field,
    /// The places of the documents of each segment of text, found by the first query.
    places: Vec<OnceLock<Arc<Places>>>,
}

impl View {
    pub(crate) fn new(text: tantivy::Searcher, snapshot: Snapshot, key: Field) -> View {
        let places = text.segment_readers().iter().map(|_| OnceLock::new()).collect();
        View { text, snapshot, key, places }
    }

    /// A later view. Places are those of this one, with the moves since.
    pub(crate) fn next(&self, text: tantivy::Searcher, snapshot: Snapshot) -> Result<View> {
        let moves = Moved::between(&self.snapshot, &snapshot)?;
        let segments = self.text.segment_readers().iter().map(SegmentReader::segment_id);
        let known: HashMap<SegmentId, &Arc<Places>> =
            segments.zip(&self.places).filter_map(|(id, places)| Some((id, places.get()?))).collect();
        let moved = |segment: &SegmentReader| match known.get(&segment.segment_id()) {
            Some(places) => OnceLock::from(places.moved(&moves)),
            None => OnceLock::new(),
        };
        let places = text.segment_readers().iter().map(moved).collect();
        Ok(View { text, snapshot, key: self.key, places })
    }

    /// The places of the documents of a segment of text.
    fn places(&self, segment: u32) -> Result<&Arc<Places>> {
        let known = &self.places[segment as usize];
        if let Some(places) = known.get() {
            return Ok(places);
        }
        let places = Places::of(self.text.segment_reader(segment), &self.snapshot)?;
        Ok(known.get_or_init(|| Arc::new(places)))
    }
}

impl Searcher {
    pub(crate) fn of(view: Arc<View>) -> Searcher {
        Searcher(view)
    }

    /// The text.
    pub fn text(&self) -> &tantivy::Searcher {
        &self.0.text
    }

    /// The columns.
    pub fn snapshot(&self) -> &Snapshot {
        &self.0.snapshot
    }

    /// A search over the columns of all documents.
    pub fn search(&self) -> Search<'static> {
        self.0.snapshot.search()
    }

    /// The documents that match a query of text, for all searches over the columns of this searcher, and for
    /// [`Query::hits`](docvalues::search::Query::hits) beside conditions on columns.
    ///
    /// The first query also finds the places of the documents of all segments of text that no searcher before had: O(documents).
    ///
    /// # Errors
    ///
    /// If tantivy fails, or a file of the columns is damaged.
    ///
    /// # Examples
    ///
    /// See the [crate](crate).
    pub fn hits(&self, query: &dyn Query) -> Result<DocSet> {
        let parts = self.0.snapshot.parts();
        let docs_of = |part: usize| parts.source(part).docs();
        let mut sets: Vec<Vec<u64>> =
            (0..parts.len()).map(|part| vec![0; docs_of(part).div_ceil(64) as usize]).collect();
        for (segment, hits) in self.0.text.search(query, &Hits)? {
            let places = self.0.places(segment)?;
            places.add_to(&hits, &places.parts_in(&self.0.snapshot), &mut sets);
        }
        let sets: Vec<Bitset> =
            sets.into_iter().zip(0..).map(|(bits, part)| Bitset::from_words(bits, docs_of(part))).collect();
        let docs: Vec<Docs<'_>> = sets.iter().map(Docs::Bits).collect();
        Ok(self.search().doc_set(&docs)?)
    }

    /// The place in the columns of a document of the text, such as one of tantivy's `TopDocs`; `None` if it was deleted.
    ///
    /// # Errors
    ///
    /// As [`hits`](Self::hits).
    ///
    /// # Panics
    ///
    /// If the text has no such segment.
    pub fn address(&self, text: tantivy::DocAddress) -> Result<Option<DocAddress>> {
        let places = self.0.places(text.segment_ord)?;
        Ok(places.get(text.doc_id, &places.parts_in(&self.0.snapshot)))
    }

    /// The place in the text of the document with a key, to read what tantivy stores of it.
    ///
    /// # Errors
    ///
    /// If tantivy fails.
    pub fn text_address(&self, key: u64) -> Result<Option<tantivy::DocAddress>> {
        let term = Term::from_field_u64(self.0.key, key);
        let found = self.0.text.search(&TermQuery::new(term, IndexRecordOption::Basic), &DocSetCollector)?;
        Ok(found.into_iter().next())
    }

    /// The place in the columns of the document with a key.
    ///
    /// # Errors
    ///
    /// If a file is damaged.
    pub fn find(&self, key: u64) -> Result<Option<DocAddress>> {
        Ok(self.0.snapshot.find(&id_of(key))?)
    }

    /// The key of a document of the columns; `None` if there is no such document.
    ///
    /// # Errors
    ///
    /// If a file is damaged.
    pub fn key(&self, address: DocAddress) -> Result<Option<u64>> {
        let parts = self.0.snapshot.parts();
        let part = address.part as usize;
        if part >= parts.len() {
            return Ok(None);
        }
        let (column, mut id) = (parts.source(part).column(KEY)?, Vec::new());
        let has_id = column.values().bytes().map(|ids| ids.get(address.doc, &mut id)).transpose()?;
        Ok(has_id.filter(|has_id| *has_id).and_then(|_| key_of(&id)))
    }
}

/// Collects the documents of each segment, as bits.
struct Hits;

struct SegmentHits {
    segment: u32,
    /// Each word of 64 documents that has hits: its number, and its bits. A word without hits may be the first.
    words: Vec<(u32, u64)>,
    /// The word of the last document, which comes after those.
    last: (u32, u64),
}

impl Collector for Hits {
    type Fruit = Vec<(u32, Vec<(u32, u64)>)>;
    type Child = SegmentHits;

    fn for_segment(&self, segment: u32, reader: &SegmentReader) -> tantivy::Result<SegmentHits> {
        // Room for all words, so that none is copied. Pages that get none take no memory.
        let words = Vec::with_capacity(reader.max_doc().div_ceil(64) as usize + 1);
        Ok(SegmentHits { segment, words, last: (0, 0) })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, fruits: Self::Fruit) -> tantivy::Result<Self::Fruit> {
        Ok(fruits)
    }
}

impl SegmentCollector for SegmentHits {
    type Fruit = (u32, Vec<(u32, u64)>);

    #[inline]
    fn collect(&mut self, doc: u32, _: Score) {
        self.collect_block(&[doc]);
    }

    #[inline]
    fn collect_block(&mut self, docs: &[u32]) {
        let (mut word, mut bits) = self.last;
        for doc in docs {
            if doc / 64 != word {
                self.words.push((word, bits));
                (word, bits) = (doc / 64, 0);
            }
            bits |= 1 << (doc % 64);
        }
        self.last = (word, bits);
    }

    fn harvest(mut self) -> Self::Fruit {
        self.words.push(self.last);
        (self.segment, self.words)
    }
}
