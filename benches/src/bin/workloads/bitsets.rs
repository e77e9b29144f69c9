//! Searches over bitsets, as queries and deleted documents make them.
//!
//! | workload | |
//! | --- | --- |
//! | `facet/host/SET` | the ten most frequent hosts |
//! | `top/ts/SET` | the 20 latest documents |
//!
//! `SET` is `half`, `10%-bits` or `1%-bits`: the pass reads a run, lists documents, or looks at skip indexes only.

use docvalues::Bitset;
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Search};
use docvalues_benches::data;

use super::time;

/// The sets, and their documents in 10,000. From half of a block on, a pass reads the block as a run: a little more than
/// half of each block are in the set.
const SETS: [(&str, u64); 3] = [("half", 5_100), ("10%-bits", 1_000), ("1%-bits", 100)];

pub(crate) fn bitsets(segment: &Segment) {
    let (docs, search) = (segment.docs(), Search::new(segment).threads(1));
    for (name, per_10_000) in SETS {
        let set = Bitset::from_docs(data::hits(docs, per_10_000), docs);
        time(&format!("facet/host/{name}"), || {
            let found = search.facet(Docs::Bits(&set), &Facet::of("host")).expect("good bytes");
            found.values.iter().map(|(_, count)| count).sum()
        });
        let keys = [SortKey::of("ts").descending()];
        time(&format!("top/ts/{name}"), || {
            let top = search.top(Docs::Bits(&set), &keys, 20).expect("good bytes");
            top.iter().map(|found| u64::from(found.doc.get())).sum()
        });
    }
}
