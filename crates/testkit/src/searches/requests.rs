//! Requests with several searches: each result is that of the search alone.

use docvalues_column::{DocId, SortKey};
use docvalues_search::facet::Facet;
use docvalues_search::group::Group;
use docvalues_search::stats::Stats;
use docvalues_search::{Query, SearchRequest};

use super::rows::Rows;
use super::{Set, Trial, histograms};
use crate::shapes::Dataset;

/// Checks requests over all documents, and over those with a value in the first column.
pub(super) fn check(trial: &Trial<'_>, set: &Set, dataset: &Dataset, rows: &Rows) {
    let (Set::All, Some((first, _))) = (set, dataset.columns.first()) else { return };
    let names = || dataset.columns.iter().map(|(field, _)| field.name.as_str());
    let single = |name: &&str| {
        dataset.columns.iter().any(|(field, _)| field.name == *name && !field.kind.is_multi_valued())
    };
    // One search of each column. Its result alone is compared with the rows in the other files.
    let any = |(at, column)| histograms::asked(column).into_iter().cycle().nth(at);
    let histograms: Vec<_> = rows.columns.iter().enumerate().filter_map(any).collect();
    for query in [Query::All, Query::exists(&first.name), Query::None] {
        let request = SearchRequest::new()
            .query(query.clone())
            .facets(names().map(Facet::of))
            .histograms(histograms.clone())
            .stats(names().map(|name| Stats::of(name).distinct()))
            .groups(names().filter(single).map(Group::of))
            .sort([SortKey::of(&first.name).descending()])
            .top(7);
        let search = trial.search;
        let docs = &search.filter(&query).unwrap();
        let found = search.request(&request).unwrap();
        assert_eq!(found.hits, docs.count(), "{query}");
        assert_eq!(search.count(&query).unwrap(), docs.count(), "{query}");
        let facets: Vec<_> = request.facets.iter().map(|facet| search.facet(docs, facet).unwrap()).collect();
        assert_eq!(found.facets, facets, "{query}");
        let ranges: Vec<_> =
            histograms.iter().map(|histogram| search.histogram(docs, histogram).unwrap()).collect();
        assert_eq!(found.histograms, ranges, "{query}");
        let groups: Vec<_> = request.groups.iter().map(|group| search.group(docs, group).unwrap()).collect();
        assert_eq!(found.groups, groups, "{query}");
        let mut stats: Vec<_> =
            request.stats.iter().map(|stats| search.stats(docs, stats).unwrap()).collect();
        let mut together = found.stats.clone();
        for (one, other) in stats.iter_mut().zip(&mut together) {
            // Of windows, whose sizes depend on the other columns of a request: so are its last digits.
            let (one, other) = (one.variance.take(), other.variance.take());
            let is_near = |(one, other): (f64, f64)| {
                (one - other).abs() <= 1e-12 * one.abs() || !one.is_finite() && !other.is_finite()
            };
            let near = one.zip(other).is_none_or(is_near);
            assert!(near && one.is_some() == other.is_some(), "{query}: variances {one:?} and {other:?}");
        }
        // Compared as text: the mean of nothing or of infinities is NaN, which equals nothing.
        assert_eq!(format!("{together:?}"), format!("{stats:?}"), "{query}");
        assert_eq!(found.top, search.top(docs, &request.sort, request.top).unwrap(), "{query}");
    }
}

/// Checks a query for the documents of a set, as hits of another index.
pub(super) fn check_hits(trial: &Trial<'_>, set: &Set, dataset: &Dataset, hits: &[DocId]) {
    let Trial { search, docs, .. } = *trial;
    let Ok(found) = search.doc_set(docs) else {
        assert!(matches!(set, Set::Bits(_, of) if *of > dataset.docs), "documents outside of their part");
        return;
    };
    let query = Query::hits(found);
    assert_eq!(search.count(&query).unwrap(), hits.len() as u64, "{query}");
    assert!(search.filter(&query).unwrap().iter().eq(trial.addresses(hits)), "{query}");
    if let Some((first, _)) = dataset.columns.first() {
        let request = SearchRequest::new().query(query).facets([Facet::of(&first.name)]);
        let facets = search.facets(docs, &request.facets).unwrap();
        assert_eq!(search.request(&request).unwrap().facets, facets, "{}", request.query);
    }
}
