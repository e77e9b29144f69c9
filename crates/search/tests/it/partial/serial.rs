//! Serialised results that are not valid.

use docvalues_column::{Field, Kind, LogicalType, Part, SortKey};
use docvalues_search::facet::Facet;
use docvalues_search::group::{Group, Metric};
use docvalues_search::histogram::{Histogram, Step};
use docvalues_search::partial::{PartialFacet, PartialGroups, PartialHistogram, PartialStats, PartialTop};
use docvalues_search::stats::Stats;
use docvalues_search::{Docs, Parts, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn parts() -> Parts {
    let field = |name: &str, kind, logical| Field::new(name, kind, logical);
    let numbers = ModelColumn::Numeric([7, 8, 9].map(Some).to_vec());
    let terms = ModelColumn::Sorted(["a", "b", "a"].map(|term| Some(term.as_bytes().to_vec())).to_vec());
    let columns = [
        (field("number", Kind::Numeric, LogicalType::I64), numbers),
        (field("term", Kind::Sorted, LogicalType::Utf8), terms),
    ];
    Parts::new([Part::new(MemSource::new(3, columns))])
}

/// The error for `partial` with the values at `places` of its JSON replaced.
fn refused<P: Serialize + DeserializeOwned>(partial: &P, places: &[(&str, Value)]) -> String {
    let mut json = serde_json::to_value(partial).unwrap();
    assert!(serde_json::from_value::<P>(json.clone()).is_ok());
    for (place, value) in places {
        let Some(to) = json.pointer_mut(place) else { panic!("no {place} in {json}") };
        *to = value.clone();
    }
    let Err(error) = serde_json::from_value::<P>(json) else { panic!("{places:?} were accepted") };
    error.to_string()
}

#[test]
fn invalid_facets_are_refused() {
    let parts = parts();
    let facet: PartialFacet = Search::over(&parts).partial_facet(Docs::All, &Facet::of("number")).unwrap();
    let values = |numbers: [i64; 2]| json!([[{"Number": numbers[0]}, 1], [{"Number": numbers[1]}, 1]]);
    let column = "partial result of column \"number\": expected";
    for numbers in [[8, 7], [7, 7]] {
        let error = refused(&facet, &[("/counts/values", values(numbers))]);
        assert_eq!(error, format!("{column} ascending values"));
    }
    let error = refused(&facet, &[("/counts/values", json!([[{"Bytes": [97]}, 1]]))]);
    assert_eq!(error, format!("{column} values of the column's type"));
    let error = refused(&facet, &[("/column/described", json!("Absent"))]);
    assert_eq!(error, format!("{column} values of the column's type"));
    assert_eq!(refused(&facet, &[("/column/field/1", json!("none"))]), "expected a kind, found \"none\"");
    assert_eq!(refused(&facet, &[("/column/field/2", json!("none"))]), "expected a type, found \"none\"");
}

#[test]
fn invalid_statistics_are_refused() {
    let parts = parts();
    let stats = Stats::of("number").percentiles([50.0]).distinct();
    let stats: PartialStats = Search::over(&parts).partial_stats(Docs::All, &stats).unwrap();
    let column = "partial result of column \"number\": expected";
    let error = refused(&stats, &[("/numbers/nans", json!(4))]);
    assert_eq!(error, format!("{column} at most as many NaNs as values"));
    let error = refused(&stats, &[("/counts", json!([[2, 1], [1, 1]]))]);
    assert_eq!(error, format!("{column} ascending numbers"));
    let error = refused(&stats, &[("/distinct", json!(null))]);
    assert_eq!(error, format!("{column} distinct values as requested"));
    let error = refused(&stats, &[("/stats/percentiles", json!([101_f64.to_bits()]))]);
    assert_eq!(error, "expected a percentile from 0 to 100, found 101");
    let error = refused(&stats, &[("/distinct/seen", json!({"Sketch": [1, 2, 3]}))]);
    assert_eq!(error, "expected a sketch of distinct values");
}

#[test]
fn invalid_groups_are_refused() {
    let parts = parts();
    let group = Group::of("term").metric(Metric::Sum("number".into())).docs(2);
    let group = group.sort([SortKey::of("number")]);
    let groups: PartialGroups = Search::over(&parts).partial_group(Docs::All, &group).unwrap();
    let column = "partial result of column \"term\": expected";
    let error = refused(&groups, &[("/groups/0/value", json!({"Bytes": [99]}))]);
    assert_eq!(error, format!("{column} ascending groups"));
    let error = refused(&groups, &[("/groups/0/count", json!(0))]);
    assert_eq!(error, format!("{column} values of the column's type"));
    for measures in [json!([]), json!([{"Least": 1}]), json!([{"Integers": [0, 1]}])] {
        let error = refused(&groups, &[("/groups/0/measures", measures)]);
        assert_eq!(error, format!("{column} measures of the requested metrics"));
    }
    // Another part than there is, another kind of value, no order, and too many.
    let docs = "/groups/0/docs";
    let doc = |number: u64, doc: u32| json!({"values": [{"Number": number}], "address": [0, doc]});
    for (place, value) in [
        ("/groups/0/docs/0/address/0", json!(1)),
        ("/groups/0/docs/0/values/0", json!({"Bytes": [1]})),
        ("/groups/0/docs/0/values", json!([])),
        (docs, json!([doc(2, 1), doc(1, 2)])),
        (docs, json!([doc(1, 0), doc(1, 1), doc(1, 2)])),
    ] {
        let error = refused(&groups, &[(place, value)]);
        assert_eq!(error, format!("{column} the best documents of each group in order"));
    }
    let error = refused(&groups, &[("/group/order", json!({"Metric": 1}))]);
    assert_eq!(error, "expected one of 1 metrics as order of groups, found metric 1");
    let error = refused(&groups, &[("/keys", json!([]))]);
    assert_eq!(error, format!("{column} a column for each metric and sort key"));

    let last = Metric::Last("term".into(), "number".into());
    let group = Group::of("term").metric(Metric::Percentile("number".into(), 50.0));
    let group = group.metric(Metric::Percentile("number".into(), 99.0)).metric(last);
    let group = group.metric(Metric::Distinct("number".into()));
    let groups: PartialGroups = Search::over(&parts).partial_group(Docs::All, &group).unwrap();
    for (metric, measure) in [
        (0, json!({"Numbers": []})),
        (0, json!({"Numbers": [[2, 1], [1, 1]]})),
        (0, json!({"Numbers": [[1, 0]]})),
        (0, json!({"Percentile": 1})),
        // The numbers are those of the first percentile.
        (1, json!({"Numbers": [[1, 1]]})),
        (2, json!({"ByKey": [true, [1, {"Number": 1}]]})),
        (2, json!({"ByKey": [false, [1, {"Bytes": [97]}]]})),
        (3, json!({"Values": [{"Number": 2}, {"Number": 1}]})),
        (3, json!({"Values": [{"Bytes": [97]}]})),
        (3, json!({"Distinct": 1})),
    ] {
        let error = refused(&groups, &[(&*format!("/groups/0/measures/{metric}"), measure)]);
        assert_eq!(error, format!("{column} measures of the requested metrics"));
    }
    let error = refused(&groups, &[("/group/metrics/0/Percentile/1", json!(f64::NAN.to_bits()))]);
    assert_eq!(error, "expected a percentile from 0 to 100, found NaN");
    let error = refused(&groups, &[("/keys", json!([]))]);
    assert_eq!(error, format!("{column} a column for each metric and sort key"));
}

#[test]
fn invalid_histograms_and_top_documents_are_refused() {
    let parts = parts();
    let search = Search::over(&parts);
    let histogram = Histogram::of("number", Step::Whole(1)).facet(Facet::of("term"));
    let histogram: PartialHistogram = search.partial_histogram(Docs::All, &histogram).unwrap();
    let column = "partial result of column \"number\": expected";
    let error = refused(&histogram, &[("/buckets/0/from", json!(8))]);
    assert_eq!(error, format!("{column} ascending buckets"));
    let error = refused(&histogram, &[("/buckets/0/facet", json!(null))]);
    assert_eq!(error, format!("{column} a facet of each bucket"));
    // A bucket between those that the step makes is found at the end.
    let mut json = serde_json::to_value(&histogram).unwrap();
    json["histogram"]["step"] = json!({"Whole": 2});
    let other: PartialHistogram = serde_json::from_value(json).unwrap();
    let error = other.finish().unwrap_err().to_string();
    assert_eq!(error, "column \"number\": expected the start of a bucket, found 7");

    let top: PartialTop = search.partial_top(Docs::All, &[SortKey::of("number")], 2).unwrap();
    let error = refused(&top, &[("/top", json!(1))]);
    assert_eq!(error, format!("{column} the first documents in order"));
    let error = refused(&top, &[("/keys/0/2", json!(true)), ("/docs/0/values/0", json!("Last"))]);
    assert_eq!(error, format!("{column} values of the sort keys"));
    // As many parts as there can be.
    let mut json = serde_json::to_value(&top).unwrap();
    json["parts"] = json!(u32::MAX);
    let many: PartialTop = serde_json::from_value(json).unwrap();
    let error = many.merge(top).unwrap_err().to_string();
    assert_eq!(error, "partial results of column \"number\": too many parts");
}

#[test]
fn lengths_beyond_the_input_are_errors() {
    let parts = parts();
    let facet = Search::over(&parts).partial_facet(Docs::All, &Facet::of("term")).unwrap();
    let bytes = postcard::to_stdvec(&facet).unwrap();
    for end in 0..bytes.len() {
        assert!(postcard::from_bytes::<PartialFacet>(&bytes[..end]).is_err(), "{end} bytes");
        // A length of 2^62, or a number in its place. Memory for that many items would be refused by an abort.
        let mut input = bytes[..end].to_vec();
        input.extend([255, 255, 255, 255, 255, 255, 255, 255, 63]);
        drop(postcard::from_bytes::<PartialFacet>(&input));
    }
}
