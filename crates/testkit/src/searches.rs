//! The conformance suite of searches: their results against a loop over all documents.
//!
//! [`check_searches`] takes any source of columns, and the values it was made from. Expected results are computed from
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

use docvalues_column::{ColumnSource, DocId, LiveDocs};
use docvalues_search::{Bitset, Docs, Query, Search};

use crate::shapes::Dataset;
use rows::Rows;

pub use exports::{check_chunks, check_export};
pub use sorts::{check_sorted, check_top};

/// Numbers of threads, which must not change results. Sets of documents take turns.
const THREADS: [usize; 2] = [1, 8];

/// Runs every kind of search over the columns of `dataset` in `source`, for several sets of documents.
///
/// # Panics
///
/// If a result differs from the expected one.
pub fn check_searches(source: &(dyn ColumnSource + Sync), dataset: &Dataset) {
    let rows = Rows::of(dataset);
    for (at, set) in sets(dataset.docs).into_iter().enumerate() {
        let (bits, list);
        let docs = match &set {
            Set::All => Docs::All,
            Set::Range(from, to) => Docs::Range(*from, *to),
            Set::List(docs) => {
                list = docs.clone();
                Docs::list(&list).unwrap()
            }
            Set::Bits(docs, of) => {
                bits = Bitset::from_docs(docs.iter().copied(), *of);
                Docs::Bits(&bits)
            }
        };
        let hits: Vec<DocId> = docs.iter(dataset.docs).collect();
        assert_eq!(docs.count(dataset.docs) as usize, hits.len());
        let searches = [Search::new(source).threads(THREADS[at % THREADS.len()])];
        check(&searches, &set, docs, dataset, &rows, &hits);
        // One set in each of the four forms of `Docs`.
        if [0, 1, 3, 6].contains(&at) {
            let live = some_live(dataset.docs);
            let hits: Vec<DocId> = hits.into_iter().filter(|doc| live.contains(*doc)).collect();
            let searches = [Search::new(source).threads(2).live(&live)];
            check(&searches, &set, docs, dataset, &rows, &hits);
            for search in &searches {
                assert_eq!(search.count(&Query::All).unwrap(), live.count());
                assert_eq!(search.filter(&Query::All).unwrap(), live.to_bitset());
                assert!(search.filter(&!Query::None).unwrap().iter().all(|doc| live.contains(doc)));
            }
        }
    }
}

/// Live documents: most of them, but neither the first nor the last.
fn some_live(docs: u32) -> LiveDocs {
    let mut live = LiveDocs::all(docs);
    for doc in (0..docs).filter(|doc| doc % 13 == 0 || doc % 1_000 > 900 || doc + 1 == docs) {
        assert!(live.delete(DocId::new(doc)));
    }
    live
}

fn check(searches: &[Search<'_>], set: &Set, docs: Docs<'_>, dataset: &Dataset, rows: &Rows, hits: &[DocId]) {
    requests::check(searches, set, dataset, rows);
    for column in 0..rows.columns.len() {
        facets::check(searches, docs, rows, hits, column);
        histograms::check(searches, docs, rows, hits, column);
        sorts::check(searches, docs, rows, hits, column);
        stats::check(searches, docs, rows, hits, column);
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
