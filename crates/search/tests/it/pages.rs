//! Pages: documents after a position in a sort order.

use std::cmp::Ordering;

use docvalues_column::{DocAddress, DocId, Field, Kind, LogicalType, Part, SortKey, Value};
use docvalues_format::file::kind::from_f64;
use docvalues_search::sort::SortCursor;
use docvalues_search::{Docs, Parts, Search, SearchRequest};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::{Dataset, any_dataset};
use proptest::prelude::*;

use crate::sorts::by;

/// The documents cut into parts that begin at these documents.
fn cut(dataset: &Dataset, starts: &[u32]) -> Parts {
    Parts::new(dataset.cut(starts).into_iter().map(|part| Part::new(part.source())))
}

/// The position of the values alone.
fn without_document(position: &SortCursor) -> SortCursor {
    SortCursor::new(position.values().iter().cloned())
}

/// All pages of `size` documents, one after the other. `position` changes the position of a page's last document.
fn pages(
    search: &Search<'_>,
    keys: &[SortKey],
    size: usize,
    position: impl Fn(SortCursor) -> SortCursor,
) -> Vec<DocAddress> {
    let all = search.sorted(Docs::All, keys).unwrap().len();
    let mut found = search.top(Docs::All, keys, size).unwrap();
    while let Some(&last) = found.last() {
        let last = position(search.sort_cursor(keys, last).unwrap());
        let page = search.top_after(Docs::All, keys, &last, size).unwrap();
        assert!(page.len() <= size && found.len() + page.len() <= all, "{} documents too many", page.len());
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(20, 256)))]

    #[test]
    fn pages_make_the_full_sort(
        mut dataset in any_dataset(2),
        cuts in prop::collection::vec(any::<u32>(), 0..3),
        (share, seed) in (2..7_usize, any::<u64>()),
    ) {
        let mut unique: Vec<i64> = (0..i64::from(dataset.docs)).collect();
        SplitMix64::new(seed).shuffle(&mut unique);
        let field = Field::new("unique", Kind::Numeric, LogicalType::I64);
        dataset.columns.push((field, ModelColumn::Numeric(unique.into_iter().map(Some).collect())));
        let mut starts: Vec<u32> = cuts.into_iter().map(|cut| cut % (dataset.docs + 1)).chain([0]).collect();
        starts.sort_unstable();
        let (parts, source) = (cut(&dataset, &starts), dataset.source());
        let (search, merged) = (Search::over(&parts), Search::new(&source));
        let size = dataset.docs as usize / share + 1;
        for key in dataset.columns.iter().flat_map(|(field, _)| by(&field.name)) {
            let keys = [key.clone()];
            let expected = search.sorted(Docs::All, &keys).unwrap();
            prop_assert!(pages(&search, &keys, size, |last| last) == expected, "by {keys:?}");
            if key.column == "unique" {
                continue;
            }
            // With a unique key, values are enough, also after a merge.
            let keys = [key, SortKey::of("unique").descending()];
            let expected = search.sorted(Docs::All, &keys).unwrap();
            let found = pages(&search, &keys, size, |last| without_document(&last));
            prop_assert!(found == expected, "by {keys:?}");
            let place = |at: &DocAddress| starts[at.part as usize] + at.doc.get();
            for (end, &last) in expected.iter().enumerate().skip(size / 2).step_by(size) {
                let last = without_document(&search.sort_cursor(&keys, last).unwrap());
                let page = merged.top_after(Docs::All, &keys, &last, size).unwrap();
                let expected = expected[end + 1..].iter().take(size).map(place);
                prop_assert!(page.iter().map(|at| at.doc.get()).eq(expected), "after {end} by {keys:?}");
            }
        }
    }
}

#[test]
fn a_page_among_equal_values_visits_few_documents() {
    let docs = 300_000;
    let sizes = (0..docs).map(|doc| (doc % 7 != 0).then_some(i64::from(doc % 4))).collect();
    let field = Field::new("size", Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(docs, [(field, ModelColumn::Numeric(sizes))]);
    let search = Search::new(&source).threads(1);
    let up = SortKey::of("size");
    for (key, at) in [(&up, 100_000), (&up, 299_000), (&up.clone().descending(), 140_003)] {
        let keys = [key.clone()];
        let sorted = search.sorted(Docs::All, &keys).unwrap();
        let place = sorted.iter().position(|found| found.doc.get() >= at).unwrap();
        let last = search.sort_cursor(&keys, sorted[place]).unwrap();
        let answer = search.request(&SearchRequest::new().sort(keys.clone()).top(20).after(last)).unwrap();
        assert_eq!(answer.top, sorted[place + 1..][..20], "after {at} by {keys:?}");
        let visited = answer.top_profile.visited;
        assert!(visited < 9_000, "{visited} documents visited after {at} by {keys:?}");
    }
}

#[test]
fn a_page_may_follow_the_last_document() {
    let docs = 2_000;
    let sizes = (0..docs).map(|doc| Some(i64::from(doc % 4))).collect();
    let field = Field::new("size", Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(docs, [(field, ModelColumn::Numeric(sizes))]);
    let search = Search::new(&source);
    for key in by("size") {
        let keys = [key];
        let sorted = search.sorted(Docs::All, &keys).unwrap();
        let at = DocAddress { part: 0, doc: DocId::new(docs - 1) };
        let place = sorted.iter().position(|found| *found == at).unwrap();
        let last = search.sort_cursor(&keys, at).unwrap();
        let expected: Vec<_> = sorted[place + 1..].iter().copied().take(20).collect();
        let past = last.clone().at(DocAddress { part: 0, doc: DocId::new(docs + 5) });
        for last in [last, past] {
            assert_eq!(search.top_after(Docs::All, &keys, &last, 20).unwrap(), expected, "by {keys:?}");
        }
    }
}

#[test]
fn a_part_before_the_position_is_not_visited() {
    const DOCS: u32 = 900;
    let part = |first: i64| {
        let field = Field::new("size", Kind::Numeric, LogicalType::I64);
        let sizes = (first..first + i64::from(DOCS)).map(Some).collect();
        Part::new(MemSource::new(DOCS, [(field, ModelColumn::Numeric(sizes))]))
    };
    let parts = Parts::new([part(0), part(DOCS.into())]);
    let keys = [SortKey::of("size")];
    let last = SortCursor::new([Some(i64::from(DOCS - 1).into())]);
    let request = SearchRequest::new().sort(keys).top(20).after(last);
    let answer = Search::over(&parts).threads(1).request(&request).unwrap();
    let expected = (0..20).map(|doc| DocAddress { part: 1, doc: DocId::new(doc) });
    assert!(answer.top.iter().copied().eq(expected));
    assert_eq!(answer.top_profile.visited, u64::from(DOCS));
}

#[test]
fn a_page_among_documents_without_a_value_visits_few() {
    let docs = 300_000;
    let field = Field::new("size", Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(
        docs,
        [(field, ModelColumn::Numeric((0..docs).map(|doc| (doc < 9).then_some(1)).collect()))],
    );
    let search = Search::new(&source).threads(1);
    let keys = [SortKey::of("size")];
    let last = SortCursor::new([None]).at(DocAddress { part: 0, doc: DocId::new(200_000) });
    let answer = search.request(&SearchRequest::new().sort(keys).top(20).after(last)).unwrap();
    let found: Vec<u32> = answer.top.iter().map(|found| found.doc.get()).collect();
    assert_eq!(found, (200_001..200_021).collect::<Vec<_>>());
    let visited = answer.top_profile.visited;
    assert!(visited < 110_000, "{visited} documents visited");
}

#[test]
fn a_term_that_no_document_has_is_a_position() {
    const DOCS: u8 = 60;
    let term = |doc: u8| (!doc.is_multiple_of(5)).then(|| vec![b'b' + doc % 5 * 2]);
    let terms: Vec<Option<Vec<u8>>> = (0..DOCS).map(term).collect();
    let sets = terms.iter().map(|term| term.iter().cloned().collect()).collect();
    let numbers = (0..DOCS).map(|doc| Some(i64::from(doc))).collect();
    let strings = |name: &str, kind| Field::new(name, kind, LogicalType::Utf8);
    let dataset = Dataset {
        docs: DOCS.into(),
        columns: vec![
            (strings("sorted", Kind::Sorted), ModelColumn::Sorted(terms.clone())),
            (strings("set", Kind::SortedSet), ModelColumn::SortedSet(sets)),
            (strings("binary", Kind::Binary), ModelColumn::Binary(terms.clone())),
            (Field::new("number", Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(numbers)),
        ],
    };
    for starts in [&[0][..], &[0, 21]] {
        let parts = cut(&dataset, starts);
        let search = Search::over(&parts);
        for key in ["sorted", "set", "binary"].into_iter().flat_map(by) {
            let keys = [key.clone(), SortKey::of("number")];
            let all = search.sorted(Docs::All, &keys).unwrap();
            // The terms are d, f, h and j.
            for position in ["", "a", "d", "e", "i", "j", "ja", "k"] {
                let follows = |at: &&DocAddress| {
                    let doc = starts[at.part as usize] + at.doc.get();
                    let order = match &terms[doc as usize] {
                        None if key.missing_first => Ordering::Less,
                        None => Ordering::Greater,
                        Some(term) if key.descending => position.as_bytes().cmp(term),
                        Some(term) => term.as_slice().cmp(position.as_bytes()),
                    };
                    order.then(doc.cmp(&30)).is_gt()
                };
                let expected: Vec<DocAddress> = all.iter().filter(follows).copied().collect();
                let last = SortCursor::new([Some(position.into()), Some(30_i64.into())]);
                for size in [7, 60] {
                    let page = search.top_after(Docs::All, &keys, &last, size).unwrap();
                    assert_eq!(page, expected[..size.min(expected.len())], "after {position:?} by {keys:?}");
                }
            }
        }
    }
}

#[test]
fn a_position_of_another_type_is_refused_by_name() {
    let prices = ModelColumn::Numeric([1.5, 7.0, 9.25].map(|price| Some(from_f64(price))).to_vec());
    let names = ModelColumn::Sorted(["a", "b", "c"].map(|name| Some(name.as_bytes().to_vec())).to_vec());
    let columns = [
        (Field::new("price", Kind::Numeric, LogicalType::F64), prices),
        (Field::new("name", Kind::Sorted, LogicalType::Utf8), names),
    ];
    let source = MemSource::new(3, columns);
    let search = Search::new(&source);
    let keys = ["price", "name"].map(SortKey::of);
    let refused = |values: &[Value]| {
        let last = SortCursor::new(values.iter().cloned().map(Some));
        let request = SearchRequest::new().sort(keys.clone()).top(2).after(last.clone());
        let error = search.request(&request).unwrap_err().to_string();
        assert_eq!(error, search.top_after(Docs::All, &keys, &last, 2).unwrap_err().to_string());
        error
    };
    let of = |column: &str, expected: &str, found: &str| {
        format!("position in column \"{column}\": expected type {expected}, found {found}")
    };
    assert_eq!(refused(&[7_i64.into(), "b".into()]), of("price", "f64", "i64"));
    assert_eq!(refused(&["7".into(), "b".into()]), of("price", "f64", "bytes"));
    // Also after a term that no document has.
    assert_eq!(refused(&[7.0_f64.into(), 1_u64.into()]), of("name", "string", "u64"));
    assert_eq!(refused(&[7.0_f64.into()]), "expected a position of 2 values, found 1");
    let last = SortCursor::new([Some(7.0_f64.into()), Some("b".into())]);
    let page = search.top_after(Docs::All, &keys, &last, 2).unwrap();
    assert_eq!(page.iter().map(|at| at.doc.get()).collect::<Vec<_>>(), [2]);
}

#[cfg(feature = "serde")]
#[test]
fn positions_are_serialised() {
    use docvalues_column::{Date, DocId, TimestampMicros, TimestampMillis, TimestampNanos};

    let values: [Option<Value>; 11] = [
        Some((-7_i64).into()),
        Some(u64::MAX.into()),
        Some(f64::NAN.into()),
        Some((-0.0_f64).into()),
        Some(true.into()),
        Some(Date(20_000).into()),
        Some(TimestampMillis(-5).into()),
        Some(TimestampMicros(5).into()),
        Some(TimestampNanos(i64::MIN).into()),
        Some(Value::Bytes(vec![0, 255])),
        None,
    ];
    let of_values = SortCursor::new(values);
    let of_document = of_values.clone().at(DocAddress { part: 3, doc: DocId::new(u32::MAX) });
    assert_ne!(of_values, of_document);
    for position in [of_values, of_document, SortCursor::new([])] {
        let json = serde_json::to_string(&position).unwrap();
        assert_eq!(serde_json::from_str::<SortCursor>(&json).unwrap(), position, "{json}");
        let bytes = postcard::to_stdvec(&position).unwrap();
        assert_eq!(postcard::from_bytes::<SortCursor>(&bytes).unwrap(), position);
    }
    for name in ["string", "none"] {
        let json = format!(r#"{{"values": [{{"Number": ["{name}", 7]}}], "address": null}}"#);
        let error = serde_json::from_str::<SortCursor>(&json).unwrap_err().to_string();
        assert!(error.contains(&format!("expected a type of numbers, found \"{name}\"")), "{error}");
    }
}
