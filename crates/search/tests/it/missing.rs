//! Columns that a source does not have.

use docvalues_column::{DocId, ErrorKind, SortKey};
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::group::{Group, GroupOrder, Metric};
use docvalues_search::histogram::{Histogram, Step};
use docvalues_search::query::Literal;
use docvalues_search::stats::{Distinct, Stats};
use docvalues_search::{Bitset, Docs, Error, MissingColumns, Query, Search, SearchRequest};

use crate::chunks::{DOCS, SOURCE};

/// Sets of documents, with their sizes.
fn sets(bits: &Bitset) -> [(Docs<'_>, u64); 4] {
    let some = (Docs::Bits(bits), u64::from(bits.count()));
    [(Docs::All, u64::from(DOCS)), (Docs::Range(7, 90_000), 89_993), some, (Docs::Range(3, 3), 0)]
}

#[test]
fn a_missing_column_has_no_values() {
    let bits = Bitset::from_docs((0..DOCS).filter(|doc| doc % 3 != 1).map(DocId::new), DOCS);
    for (threads, (docs, hits)) in
        [1, 2].into_iter().flat_map(|threads| sets(&bits).map(|set| (threads, set)))
    {
        let search = Search::new(&*SOURCE).threads(threads).missing_columns(MissingColumns::NoValues);
        for facet in [
            Facet::of("none"),
            Facet::of("none").order(FacetOrder::Value).min_count(0).top(usize::MAX),
            Facet::of("none").prefix("a"),
        ] {
            let found = search.facet(docs, &facet).unwrap();
            assert_eq!((found.values.len(), found.distinct, found.docs, found.missing), (0, 0, hits, hits));
            assert_eq!(found.field.name, "none");
        }
        let stats = Stats::of("none").spread().percentiles([50.0]).distinct();
        let found = search.stats(docs, &stats).unwrap();
        assert_eq!((found.docs, found.missing, found.values), (hits, hits, 0));
        assert_eq!((found.min, found.max, found.sum, found.variance), (None, None, None, None));
        assert_eq!((found.distinct, found.percentiles.len()), (Some(Distinct::Exact(0)), 0));
        let histogram = Histogram::of("none", Step::Edges(vec![0, 9]));
        let found = search.histogram(docs, &histogram).unwrap();
        assert_eq!((found.docs, found.missing, found.outside), (hits, hits, 0));
        assert!(found.buckets.iter().all(|range| range.count == 0));
        for order in [GroupOrder::Count, GroupOrder::Best, GroupOrder::Metric(0)] {
            let group = Group::of("none").metric(Metric::Sum("number".into())).order(order).docs(2);
            let found = search.group(docs, &group).unwrap();
            assert_eq!((found.groups.len(), found.docs, found.missing), (0, hits, hits));
            let found = search.group(docs, &group.with_missing()).unwrap();
            let groups: Vec<_> =
                found.groups.iter().map(|group| (group.values.as_slice(), group.count)).collect();
            assert_eq!(groups, if hits > 0 { vec![(&[None][..], hits)] } else { Vec::new() });
            assert_eq!((found.docs, found.missing), (hits, 0));
        }
        // A metric of a missing column has no value, and a sort by one keeps the order of documents.
        let group = Group::of("term").metric(Metric::Mean("none".into())).docs(1).sort([SortKey::of("none")]);
        let groups = search.group(docs, &group).unwrap().groups;
        assert!(groups.iter().all(|group| group.metrics == [None] && group.docs.len() == 1));
        assert_eq!(groups.is_empty(), hits == 0);
        let number = SortKey::of("number");
        for key in [SortKey::of("none"), SortKey::of("none").descending().missing_first()] {
            let first = search.top(docs, std::slice::from_ref(&key), 9).unwrap();
            assert!(first.iter().map(|found| found.doc).eq(docs.iter(DOCS).take(9)));
            let top = search.top(docs, &[key.clone(), number.clone()], 9).unwrap();
            assert_eq!(top, search.top(docs, std::slice::from_ref(&number), 9).unwrap());
            let sorted = search.sorted(docs, &[key, number.clone()]).unwrap();
            assert_eq!(sorted, search.sorted(docs, std::slice::from_ref(&number)).unwrap());
        }
    }
}

#[test]
fn conditions_on_a_missing_column_match_nothing() {
    let search = Search::new(&*SOURCE).missing_columns(MissingColumns::NoValues);
    let none = "none = 5|none = 'text'|none != 5|none in ('a', 1.5, true, x'00')|none not in (1)|none < '2024-01-01'\
        |none in 1..5|none ^= 'a'|none exists|none = '10.0.0.0/8'|none = 1 and number exists|none in ()";
    for query in none.split('|').map(|text| Query::parse(text).unwrap()) {
        assert_eq!(search.count(&query).unwrap(), 0, "{query}");
        let isnt = !query.clone();
        assert_eq!(search.count(&isnt).unwrap(), u64::from(DOCS), "{isnt}");
        assert_eq!(search.filter(&isnt).unwrap().count(), u64::from(DOCS), "{isnt}");
    }
    assert_eq!(search.count(&Query::missing("none")).unwrap(), u64::from(DOCS));
    let either = Query::eq("none", Literal::Bool(true)).or(Query::exists("number"));
    assert_eq!(search.count(&either).unwrap(), search.count(&Query::exists("number")).unwrap());
    let request = SearchRequest::new()
        .query(Query::missing("none").and(Query::exists("number")))
        .facets([Facet::of("none"), Facet::of("term")]);
    let found = search.request(&request).unwrap();
    assert_eq!(found.hits, found.facets[0].missing);
    assert_eq!(
        found.facets[1],
        search.facet(&search.filter(&request.query).unwrap(), &Facet::of("term")).unwrap()
    );
}

#[test]
fn an_export_of_a_missing_column_has_no_values() {
    let search = Search::new(&*SOURCE).missing_columns(MissingColumns::NoValues);
    let mut export = search.export(0..100_000, &["none", "number"]).unwrap();
    let mut rows = 0;
    while let Some(chunk) = export.next_chunk().unwrap() {
        for row in chunk.rows() {
            assert!(matches!(row.value(0), docvalues_search::export::Cell::Missing));
            rows += 1;
        }
    }
    assert_eq!(rows, 100_000);
    let mut retriever = search.retriever(&["none"]).unwrap();
    let page = retriever.retrieve(&[9, 3].map(DocId::new)).unwrap();
    assert!(page.rows().all(|row| matches!(row.value(0), docvalues_search::export::Cell::Missing)));
}

#[test]
fn a_missing_column_is_an_error_by_default() {
    for search in [Search::new(&*SOURCE), Search::new(&*SOURCE).missing_columns(MissingColumns::Refuse)] {
        let is_refused = |error: Error| matches!(&error, Error::Column(inner) if matches!(inner.kind(), ErrorKind::NoSuchColumn { .. }));
        assert!(is_refused(search.facet(Docs::All, &Facet::of("none")).unwrap_err()));
        assert!(is_refused(search.stats(Docs::All, &Stats::of("none")).unwrap_err()));
        assert!(is_refused(search.group(Docs::All, &Group::of("none")).unwrap_err()));
        assert!(is_refused(search.top(Docs::All, &[SortKey::of("none")], 1).unwrap_err()));
        assert!(is_refused(search.export(Docs::All, &["none"]).unwrap_err()));
        let Error::Query(error) = search.count(&Query::exists("none")).unwrap_err() else { panic!() };
        assert_eq!(error.no_such_column(), Some("none"));
    }
}
