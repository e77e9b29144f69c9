//! The conformance suite of searches: their results against a loop over all documents.
//!
//! [`check_searches`] takes any source of columns, and the values it was made from; [`check_searches_in_parts`] takes
//! several sources. Expected results are computed from
//! these values alone, document by document.
//!
//! | file | searches |
//! | --- | --- |
//! | `rows.rs` | the values of each document |
//! | `facets.rs` | counts by value |
//! | `requests.rs` | several searches in one request |
//! | `exports.rs` | columns of documents in any order: [`check_export`] |
//! | `histograms.rs` | values by range |
//! | `sorts.rs` | top documents, and all documents in order: [`check_sorted`] |
//! | `stats.rs` | extremes, sums, spread, percentiles, distinct values |

mod exports;
mod facets;
mod histograms;
mod requests;
mod rows;
mod sorts;
mod stats;

use docvalues_column::{ColumnSource, DocAddress, DocId, LiveDocs};
use docvalues_search::{Bitset, Docs, DocsByPart, Parts, Query, Search};

use crate::damage::cases;
use crate::shapes::Dataset;
use rows::Rows;

pub use exports::{check_chunks, check_export};
pub use sorts::{check_sorted, check_top};

/// Numbers of threads, which must not change results. Sets of documents take turns.
const THREADS: [usize; 2] = [1, 8];

/// Runs every kind of search over the columns of `dataset` in `source`, for several sets of documents. With
/// `DOCVALUES_SWEEP=full`, there are twice as many.
///
/// # Panics
///
/// If a result differs from the expected one.
pub fn check_searches(source: &(dyn ColumnSource + Sync), dataset: &Dataset) {
    let (rows, cut) = (Rows::of(dataset), Cut::new(&[], dataset.docs));
    for (at, set) in tried(dataset) {
        let trial = |search: &Search<'_>, live: Option<&LiveDocs>| {
            let hits = set.hits(dataset.docs, live);
            let sets = set.in_parts(&cut);
            let trial = Trial { search, docs: sets[0].docs().into(), cut: &cut, turn: at };
            check(&trial, &set, dataset, &rows, &hits);
        };
        trial(&Search::new(source).threads(THREADS[at % THREADS.len()]), None);
        // One set in each of the four forms of `Docs`.
        for live in live_in(at, dataset.docs) {
            let search = Search::new(source).threads(2).live(&live);
            trial(&search, Some(&live));
            assert_eq!(search.count(&Query::All).unwrap(), u64::from(live.count()));
            let all = search.filter(&Query::All).unwrap();
            assert!(all.iter().map(|found| found.doc).eq(live.to_bitset().iter()));
            assert!(search.filter(&!Query::None).unwrap().iter().all(|found| live.contains(found.doc)));
        }
    }
}

/// As [`check_searches`], with the documents of `dataset` in several parts. Part *i* begins at document `starts[i]`;
/// the first begins at 0.
///
/// # Panics
///
/// If a result differs from the expected one, or `parts` differs in documents.
pub fn check_searches_in_parts(parts: &Parts, starts: &[u32], dataset: &Dataset) {
    let (rows, cut) = (Rows::of(dataset), Cut::new(&starts[1..], dataset.docs));
    assert_eq!((parts.docs(), parts.len()), (u64::from(dataset.docs), starts.len()));
    for (at, set) in tried(dataset) {
        let sets = set.in_parts(&cut);
        let docs: Vec<Docs<'_>> = sets.iter().map(PartSet::docs).collect();
        let docs = if let Set::All = set { DocsByPart::All } else { DocsByPart::Parts(&docs) };
        let trial = |parts: &Parts, live: Option<&LiveDocs>| {
            let search = Search::over(parts).threads(THREADS[at % THREADS.len()]);
            let hits = set.hits(dataset.docs, live);
            check(&Trial { search: &search, docs, cut: &cut, turn: at }, &set, dataset, &rows, &hits);
        };
        trial(parts, None);
        for live in live_in(at, dataset.docs) {
            let of_part = |parts: Parts, part: usize| {
                let mut of_part = LiveDocs::all(cut.docs_of(part));
                let deleted =
                    (0..of_part.docs()).filter(|doc| !live.contains(DocId::new(starts[part] + doc)));
                deleted.for_each(|doc| assert!(of_part.delete(DocId::new(doc))));
                parts.with_live(part, &of_part)
            };
            trial(&(0..parts.len()).fold(parts.clone(), of_part), Some(&live));
        }
    }
}

/// The live documents that a set is searched with, by its index: one set in each of the four forms of `Docs`.
fn live_in(set: usize, docs: u32) -> Vec<LiveDocs> {
    let without = |is_deleted: &dyn Fn(u32) -> bool| {
        let mut live = LiveDocs::all(docs);
        (0..docs).filter(|doc| is_deleted(*doc)).for_each(|doc| assert!(live.delete(DocId::new(doc))));
        live
    };
    // Most are live, but neither the first nor the last.
    let most = || without(&|doc| doc % 13 == 0 || doc % 1_000 > 900 || doc + 1 == docs);
    match set {
        0 => vec![without(&|doc| doc == docs / 2), most(), without(&|doc| doc % 9 < 5)],
        1 => vec![most(), without(&|_| true)],
        3 => vec![without(&|doc| doc % 100 != 7)],
        6 => vec![most()],
        _ => Vec::new(),
    }
}

fn check(trial: &Trial<'_>, set: &Set, dataset: &Dataset, rows: &Rows, hits: &[DocId]) {
    requests::check(trial, set, dataset, rows);
    requests::check_hits(trial, set, dataset, hits);
    for column in 0..rows.columns.len() {
        facets::check(trial, rows, hits, column);
        histograms::check(trial, rows, hits, column);
        sorts::check(trial, rows, hits, column);
        stats::check(trial, rows, hits, column);
    }
}

/// A search, and a set of its documents.
#[derive(Clone, Copy)]
struct Trial<'a> {
    search: &'a Search<'a>,
    docs: DocsByPart<'a>,
    cut: &'a Cut,
    /// The index of the set: choices take turns.
    turn: usize,
}

impl Trial<'_> {
    /// The addresses of documents of the whole.
    fn addresses(&self, docs: &[DocId]) -> Vec<DocAddress> {
        docs.iter().map(|doc| self.cut.address(*doc)).collect()
    }

    /// Calls `run` with a list of documents of the whole.
    fn with_list<R>(&self, list: &[DocId], run: impl FnOnce(DocsByPart<'_>) -> R) -> R {
        let sets = Set::List(list.to_vec()).in_parts(self.cut);
        let docs: Vec<Docs<'_>> = sets.iter().map(PartSet::docs).collect();
        run(DocsByPart::Parts(&docs))
    }
}

/// The parts into which the documents of a dataset are cut.
struct Cut {
    /// The first document of each part.
    starts: Vec<u32>,
    docs: u32,
}

impl Cut {
    fn new(cuts: &[u32], docs: u32) -> Cut {
        Cut { starts: [0].into_iter().chain(cuts.iter().copied()).collect(), docs }
    }

    /// The part of a document, and its number there. Documents past the end belong to the last part.
    fn address(&self, doc: DocId) -> DocAddress {
        let part = self.starts.partition_point(|start| *start <= doc.get().min(self.docs)).max(1) - 1;
        let part = if doc.get() < self.docs { part } else { self.starts.len() - 1 };
        DocAddress { part: part.try_into().unwrap(), doc: DocId::new(doc.get() - self.starts[part]) }
    }

    /// The number of documents in a part.
    fn docs_of(&self, part: usize) -> u32 {
        self.starts.get(part + 1).copied().unwrap_or(self.docs) - self.starts[part]
    }
}

/// A set of documents, in one of the forms of `Docs`.
enum Set {
    All,
    Range(u32, u32),
    List(Vec<DocId>),
    /// A bitset for a source with this number of documents, which may differ from that of the source.
    Bits(Vec<DocId>, u32),
}

/// The documents of a set in one part.
enum PartSet {
    All,
    Range(u32, u32),
    List(Vec<DocId>),
    Bits(Bitset),
}

impl PartSet {
    fn docs(&self) -> Docs<'_> {
        match self {
            PartSet::All => Docs::All,
            PartSet::Range(from, to) => Docs::Range(*from, *to),
            PartSet::List(docs) => Docs::list(docs).unwrap(),
            PartSet::Bits(bits) => Docs::Bits(bits),
        }
    }
}

impl Set {
    /// The live documents of the set.
    fn hits(&self, docs: u32, live: Option<&LiveDocs>) -> Vec<DocId> {
        let all: Vec<DocId> = match self {
            Set::All => (0..docs).map(DocId::new).collect(),
            Set::Range(from, to) => (*from..(*to).min(docs)).map(DocId::new).collect(),
            Set::List(list) => list.iter().copied().filter(|doc| doc.get() < docs).collect(),
            Set::Bits(list, of) => list.iter().copied().filter(|doc| doc.get() < docs.min(*of)).collect(),
        };
        all.into_iter().filter(|doc| live.is_none_or(|live| live.contains(*doc))).collect()
    }

    /// The documents of each part. The last part has those past the end.
    fn in_parts(&self, cut: &Cut) -> Vec<PartSet> {
        let ends = cut.starts[1..].iter().copied().chain([u32::MAX]);
        let of_part = |(&start, end): (&u32, u32)| {
            let own = |docs: &[DocId]| {
                let inside = docs.iter().map(|doc| doc.get()).filter(|doc| (start..end).contains(doc));
                inside.map(|doc| DocId::new(doc - start)).collect::<Vec<_>>()
            };
            match self {
                Set::All => PartSet::All,
                Set::Range(from, to) => {
                    PartSet::Range((*from).max(start) - start, (*to).clamp(start, end) - start)
                }
                Set::List(docs) => PartSet::List(own(docs)),
                Set::Bits(docs, of) => {
                    PartSet::Bits(Bitset::from_docs(own(docs), (*of).clamp(start, end) - start))
                }
            }
        };
        cut.starts.iter().zip(ends).map(of_part).collect()
    }
}

/// The sets that are searched, with their numbers: all in the full sweep. A sample has the first, and half of the others,
/// which take turns between datasets.
fn tried(dataset: &Dataset) -> impl Iterator<Item = (usize, Set)> {
    let turn = dataset.docs as usize + dataset.columns.last().map_or(0, |(field, _)| field.name.len());
    let is_tried = move |at: usize| cases(at == 0 || (at / 2 + turn).is_multiple_of(2), true);
    sets(dataset.docs).into_iter().enumerate().filter(move |(at, _)| is_tried(*at))
}

/// Sets of `docs` documents: all, none, one, most, and few.
fn sets(docs: u32) -> Vec<Set> {
    let every = |step: usize| (docs / 7..docs).step_by(step).map(DocId::new).collect::<Vec<_>>();
    let most = |docs: u32| (0..docs).filter(|doc| doc % 11 != 3).map(DocId::new).collect::<Vec<_>>();
    vec![
        Set::All,
        Set::Range(docs / 3, docs.saturating_add(9)),
        Set::Range(docs / 2, docs / 2),
        Set::List(every(3)),
        Set::List(every(997)),
        Set::List(Vec::new()),
        Set::Bits(most(docs), docs),
        Set::Bits(most(docs.saturating_add(130)), docs.saturating_add(130)),
        Set::Bits(every(5), docs),
        Set::Bits(every(2), docs / 2),
        Set::Bits((docs / 2..docs.min(docs / 2 + 1)).map(DocId::new).collect(), docs),
    ]
}
