//! Requests of several searches: explanations, all documents in order, and counts.

use docvalues_column::SortKey;
use docvalues_search::facet::Facet;
use docvalues_search::sort::TopProfile;
use docvalues_search::{Error, Query, Search, SearchRequest};

use crate::chunks::{DOCS, SOURCE};

#[test]
fn a_query_is_explained_if_the_request_asks_for_it() {
    let search = Search::new(&*SOURCE);
    let facets = vec![Facet::of("term")];
    for facets in [facets, Vec::new()] {
        let request = SearchRequest::new().query(Query::range("number", ..1_000)).facets(facets);
        let plain = search.request(&request).unwrap();
        assert!(plain.hits > 0 && plain.explain.is_none());
        let mut explained = search.request(&request.explain(true)).unwrap();
        let profile = explained.explain.as_ref().unwrap().profile.unwrap();
        assert_eq!((profile.candidates, profile.matched), (DOCS.into(), plain.hits));
        (explained.explain, explained.times) = (None, plain.times);
        assert_eq!(explained, plain);
    }
}

#[test]
fn the_greatest_top_returns_all_documents_in_order() {
    let search = Search::new(&*SOURCE);
    let sort = vec![SortKey::of("term").descending(), SortKey::of("number")];
    for sort in [sort, Vec::new()] {
        let query = Query::range("number", ..500_000);
        let request = SearchRequest::new().query(query).sort(sort).top(usize::MAX);
        let found = search.request(&request).unwrap();
        let docs = &search.filter(&request.query).unwrap();
        assert_eq!(found.top, search.sorted(docs, &request.sort).unwrap());
        assert_eq!((found.top.len() as u64, found.top_profile), (found.hits, TopProfile::default()));
    }
}

/// A set of the documents exceeds the memory limit.
#[test]
fn a_request_for_the_count_alone_makes_no_set() {
    let plain = Search::new(&*SOURCE);
    let limited = Search::new(&*SOURCE).memory(1 << 16);
    let is_refused = |error: &Error| matches!(error, Error::Memory { .. });
    for query in [Query::range("number", ..500_000), Query::missing("term"), Query::All, Query::None] {
        let request = SearchRequest::new().query(query);
        assert_eq!(limited.request(&request).unwrap().hits, plain.count(&request.query).unwrap());
    }
    let query = Query::range("number", ..500_000);
    assert!(is_refused(&limited.filter(&query).unwrap_err()));
    let first = SearchRequest::new().query(query).top(1);
    assert!(is_refused(&limited.request(&first).unwrap_err()));
    // Sort keys are checked in any case.
    let request = SearchRequest::new().sort([SortKey::of("none")]);
    assert!(limited.request(&request).is_err());
}
