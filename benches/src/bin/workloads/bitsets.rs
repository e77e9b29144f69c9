//! Searches over bitsets, as queries and deleted documents make them.
//!
//! | workload | |
//! | --- | --- |
//! | `facet/host/SET`, `facet/tags/SET` | the ten most frequent terms |
//! | `top/ts/SET`, `top/size/SET` | the first 20 documents, descending |
//! | `count/size/SET` | a range, if only the documents of the set are live |
//!
//! `SET` is `90%`, `half`, `10%-bits` or `1%-bits`: the pass reads a run, lists documents, or looks at skip indexes only. With
//! `all` in place of `SET`, and as `count/size`, the same is measured for all documents.

use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Search};
use docvalues::{Bitset, LiveDocs};
use docvalues_benches::data;

use super::time;

/// The sets, and their documents in 10,000. From half of a block on, a pass reads the block as a run: a little more than
/// half of each block are in the set.
const SETS: [(&str, u64); 4] = [("90%", 9_000), ("half", 5_100), ("10%-bits", 1_000), ("1%-bits", 100)];

pub(crate) fn bitsets(segment: &Segment) {
    let (docs, search) = (segment.docs(), Search::new(segment).threads(1));
    for (name, per_10_000) in SETS {
        let set = Bitset::from_docs(data::hits(docs, per_10_000), docs);
        for column in ["host", "tags"] {
            time(&format!("facet/{column}/{name}"), || {
                let found = search.facet(Docs::Bits(&set), &Facet::of(column)).expect("good bytes");
                found.values.iter().map(|(_, count)| count).sum()
            });
        }
        for column in ["ts", "size"] {
            let keys = [SortKey::of(column).descending()];
            time(&format!("top/{column}/{name}"), || {
                let top = search.top(Docs::Bits(&set), &keys, 20).expect("good bytes");
                top.iter().map(|found| u64::from(found.doc.get())).sum()
            });
        }
        let live = Search::new(segment).threads(1).live(&LiveDocs::from(&set));
        let range = Query::range("size", 300_000..400_000);
        time(&format!("count/size/{name}"), || live.count(&range).expect("good bytes"));
    }
}
