//! Histograms, groups and partial facets of all documents.
//!
//! | workload | |
//! | --- | --- |
//! | `histogram/ts` | documents of each hour; most are in the bucket of the document before |
//! | `histogram/size` | documents of each 1,000 bytes of size, in any order |
//! | `histogram/ts-host` | the ten most frequent hosts of each hour |
//! | `group/count` | the ten most frequent hosts |
//! | `group/host-status` | the ten most frequent pairs of host and status |
//! | `group/host-docs` | the ten most frequent hosts, with the three largest documents of each |
//! | `partial/facet` | the ten most frequent hosts, from partial results of both halves |

use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::group::Group;
use docvalues::search::histogram::{Histogram, Step};
use docvalues::search::{Docs, Search};

use super::time;

pub(crate) fn aggregations(segment: &Segment) {
    // The hosts of all hours: of ten million documents, they take more than the default.
    let search = Search::new(segment).threads(1).memory(1 << 30);
    let of_hours = || Histogram::of("ts", Step::Whole(3_600_000));
    let histograms = [
        ("ts", of_hours()),
        ("size", Histogram::of("size", Step::Whole(1_000))),
        ("ts-host", of_hours().facet(Facet::of("host"))),
    ];
    for (name, histogram) in &histograms {
        time(&format!("histogram/{name}"), || {
            let found = search.histogram(Docs::All, histogram).expect("few enough buckets");
            found.buckets.iter().fold(0_u64, |sum, bucket| {
                let hosts = bucket.facet.iter().flat_map(|facet| &facet.values);
                let hosts: u64 = hosts.map(|(_, count)| count).sum();
                sum.wrapping_mul(31).wrapping_add(bucket.count + hosts)
            })
        });
    }
    let groups = [
        ("count", Group::of("host")),
        ("host-status", Group::of("host").and("status")),
        ("host-docs", Group::of("host").sort([SortKey::of("size").descending()]).docs(3)),
    ];
    for (name, group) in &groups {
        time(&format!("group/{name}"), || {
            let found = search.group(Docs::All, group).expect("good bytes");
            found.groups.iter().fold(0_u64, |sum, group| {
                let docs: u64 = group.docs.iter().map(|found| u64::from(found.doc.get())).sum();
                sum.wrapping_mul(31).wrapping_add(group.count + docs)
            })
        });
    }
    let (facet, half) = (Facet::of("host"), segment.docs() / 2);
    time("partial/facet", || {
        let partial = |docs: Docs<'_>| search.partial_facet(docs, &facet).expect("good bytes");
        let (first, second) = (partial(Docs::Range(0, half)), partial(Docs::Range(half, segment.docs())));
        let found = first.merge(second).expect("the same column").finish();
        found.values.iter().map(|(_, count)| count).sum()
    });
}
