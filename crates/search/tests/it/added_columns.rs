//! [`Parts::with_column`]: a column beside those of the sources is read like any other, and all others are shared.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use docvalues_column::{
    Column, ColumnSource, DocAddress, DocId, Field, Kind, LiveDocs, LogicalType, Number, Part, Result,
    SortKey, TimestampMicros, Value,
};
use docvalues_format::file::kind::from_f64;
use docvalues_search::facet::{Facet, FacetOrder};
use docvalues_search::group::{Group, GroupOrder, Measure, Metric};
use docvalues_search::histogram::{Histogram, Step};
use docvalues_search::query::Comparison;
use docvalues_search::{Docs, PartChange, Parts, Query, Search};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::searches::check_searches_in_parts;
use docvalues_testkit::shapes::{Dataset, any_dataset, small_of_every_kind};
use proptest::prelude::*;

use crate::parts::{Damaged, part, source};

/// The set with a column of stored numbers.
fn with<N: Number>(parts: &Parts, name: &str, columns: &[ModelColumn]) -> Parts {
    let values = columns.iter().map(|column| {
        let ModelColumn::Numeric(slots) = column else { panic!("{column:?}") };
        let values = (0..).map(DocId::new).zip(slots);
        values.filter_map(|(doc, slot)| slot.map(|stored| (doc, N::from_stored(stored))))
    });
    parts.with_column(name, values).unwrap()
}

/// Whether the tests add a column to those of the sources.
fn is_added((field, _): &(Field, ModelColumn)) -> bool {
    use LogicalType::{F64, I64, TimestampMicros, U64};
    field.kind == Kind::Numeric && matches!(field.logical, F64 | I64 | TimestampMicros | U64)
}

/// Checks searches over parts that begin at these documents, where most columns of single numbers are added ones.
fn check_cut(dataset: &Dataset, cuts: impl IntoIterator<Item = u32>) {
    let mut starts: Vec<u32> = cuts.into_iter().map(|cut| cut % (dataset.docs + 1)).chain([0]).collect();
    starts.sort_unstable();
    let (added, rest): (Vec<_>, Vec<_>) = dataset.columns.iter().cloned().partition(is_added);
    let rest = Dataset { docs: dataset.docs, columns: rest };
    let parts = Parts::new(rest.cut(&starts).into_iter().map(|part| Part::new(part.source())));
    let parts = added.iter().fold(parts, |parts, (field, column)| {
        let ends = starts[1..].iter().copied().chain([dataset.docs]);
        let columns: Vec<_> = starts.iter().zip(ends).map(|(&start, end)| column.slice(start, end)).collect();
        match field.logical {
            LogicalType::F64 => with::<f64>(&parts, &field.name, &columns),
            LogicalType::U64 => with::<u64>(&parts, &field.name, &columns),
            LogicalType::TimestampMicros => with::<TimestampMicros>(&parts, &field.name, &columns),
            _ => with::<i64>(&parts, &field.name, &columns),
        }
    });
    check_searches_in_parts(&parts, &starts, dataset);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(8, 32), ..ProptestConfig::default() })]

    #[test]
    fn searches_of_any_shapes(dataset in any_dataset(3), cuts in prop::collection::vec(any::<u32>(), 0..5)) {
        check_cut(&dataset, cuts);
    }
}

#[test]
fn searches_of_every_type() {
    let Dataset { docs, columns } = small_of_every_kind();
    let (added, rest): (Vec<_>, Vec<_>) = columns.into_iter().partition(is_added);
    assert!(added.len() > 11, "{} columns", added.len());
    // Each beside one of the source. A sample has doubles and timestamps.
    let pairs = added.into_iter().zip(rest.into_iter().cycle());
    for (columns, cut) in pairs.skip(cases(7, 0)).step_by(cases(4, 1)).zip(1..) {
        let dataset = Dataset { docs, columns: vec![columns.0, columns.1] };
        check_cut(&dataset, [0, 1, docs / 3 + cut, docs]);
    }
}

/// A live document of a part.
struct Row {
    at: DocAddress,
    host: u8,
    price: f64,
    /// The score in halves.
    score: Option<u32>,
}

fn score(halves: u32) -> f64 {
    f64::from(halves) / 2.0
}

/// Parts that end around blocks of 65,536 documents, most of which have no score, and their live documents.
fn scored() -> (Parts, Vec<Row>) {
    const EDGES: [u32; 13] = [0, 1, 62, 63, 64, 65, 4_095, 4_096, 65_534, 65_535, 65_536, 65_537, 69_999];
    let mut rng = SplitMix64::new(3);
    let (mut parts, mut scores, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (part, docs) in [70_000, 0, 65_536, 200].into_iter().enumerate() {
        let (mut hosts, mut prices, mut of_part) = (Vec::new(), Vec::new(), Vec::new());
        let mut live = LiveDocs::all(docs);
        for doc in (0..docs).map(DocId::new) {
            let host = b'a' + rng.below(5) as u8;
            let price = score(1 + rng.below_u32(40));
            let halves = 1 + rng.below_u32(40);
            let halves = (EDGES.contains(&doc.get()) || rng.chance(1, 50)).then_some(halves);
            of_part.extend(halves.map(|halves| (doc, score(halves))));
            hosts.push(Some(vec![host]));
            prices.push(Some(from_f64(price)));
            if part != 3 && rng.chance(1, 7) {
                assert!(live.delete(doc));
            } else {
                rows.push(Row { at: DocAddress { part: part as u32, doc }, host, price, score: halves });
            }
        }
        let columns = [
            (Field::new("host", Kind::Sorted, LogicalType::Utf8), ModelColumn::Sorted(hosts)),
            (Field::new("price", Kind::Numeric, LogicalType::F64), ModelColumn::Numeric(prices)),
        ];
        parts.push(Part::new(MemSource::new(docs, columns)).live(live.into()));
        scores.push(of_part);
    }
    (Parts::new(parts).with_column("score", scores).unwrap(), rows)
}

#[test]
fn scores_of_few_documents_sort_filter_and_count() {
    let (parts, mut rows) = scored();
    let scores: Vec<u32> = rows.iter().filter_map(|row| row.score).collect();
    assert!(scores.len() > 1_000 && scores.len() < rows.len() / 20, "{} scores", scores.len());
    let mut counts = BTreeMap::<u32, u64>::new();
    scores.iter().for_each(|halves| *counts.entry(*halves).or_default() += 1);
    let missing = (rows.len() - scores.len()) as u64;
    for threads in [1, 3] {
        let search = Search::over(&parts).threads(threads);
        let addresses = |is_wanted: &dyn Fn(&Row) -> bool| {
            rows.iter().filter(|row| is_wanted(row)).map(|row| row.at).collect::<Vec<_>>()
        };
        let found = |query: &Query| search.filter(query).unwrap().iter().collect::<Vec<_>>();
        let range = Query::range("score", 7.0..12.5);
        assert_eq!(
            found(&range),
            addresses(&|row| row.score.is_some_and(|halves| (14..25).contains(&halves)))
        );
        assert_eq!(found(&Query::missing("score")), addresses(&|row| row.score.is_none()));
        let above = Query::compare("score", Comparison::Greater, "price");
        let is_above = |row: &Row| row.score.is_some_and(|halves| score(halves) > row.price);
        assert_eq!(found(&above), addresses(&is_above));

        let facet = Facet::of("score").order(FacetOrder::Value).top(usize::MAX);
        let found = search.facet(Docs::All, &facet).unwrap();
        let expected: Vec<_> =
            counts.iter().map(|(halves, count)| (Value::F64(score(*halves)), *count)).collect();
        assert_eq!((found.values, found.missing), (expected, missing));

        let found = search.histogram(Docs::All, &Histogram::of("score", Step::Width(0.5))).unwrap();
        let buckets: Vec<_> = found.buckets.iter().map(|bucket| (bucket.from, bucket.count)).collect();
        let (first, last) = (counts.keys().min().unwrap(), counts.keys().max().unwrap());
        let count = |halves: u32| counts.get(&halves).copied().unwrap_or_default();
        let expected: Vec<_> =
            (*first..=*last).map(|halves| (from_f64(score(halves)), count(halves))).collect();
        assert_eq!((buckets, found.missing), (expected, missing));
    }
    rows.sort_by_key(|row| (row.score.is_none(), Reverse(row.score), row.at));
    let best: Vec<DocAddress> = rows.iter().map(|row| row.at).collect();
    let keys = [SortKey::of("score").descending()];
    for threads in [1, 3] {
        let search = Search::over(&parts).threads(threads);
        for top in [1, 20, 1_000, scores.len() + 9] {
            assert_eq!(search.top(Docs::All, &keys, top).unwrap(), best[..top], "top {top}");
        }
        assert_eq!(search.sorted(Docs::All, &keys).unwrap(), best);
        let group = Group::of("host").order(GroupOrder::Value).metric(Metric::Max("score".into()));
        let groups = search.group(Docs::All, &group.sort(keys.clone()).docs(3)).unwrap().groups;
        assert_eq!(groups.len(), 5);
        for (host, group) in (b'a'..).zip(groups) {
            let rows: Vec<&Row> = rows.iter().filter(|row| row.host == host).collect();
            let max = rows[0].score.map(|halves| Measure::Value(Value::F64(score(halves))));
            assert_eq!(
                (group.values, group.count),
                (vec![Some(Value::Bytes(vec![host]))], rows.len() as u64)
            );
            assert_eq!(group.docs, rows[..3].iter().map(|row| row.at).collect::<Vec<_>>());
            assert_eq!(group.metrics, [max]);
        }
    }
}

/// A source that counts the columns that were opened.
struct Counted(MemSource, Arc<AtomicUsize>);

impl ColumnSource for Counted {
    fn docs(&self) -> u32 {
        self.0.docs()
    }

    fn fields(&self) -> Result<Vec<Field>> {
        self.0.fields()
    }

    fn column(&self, name: &str) -> Result<Arc<dyn Column>> {
        let column = self.0.column(name)?;
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(column)
    }
}

fn doc(doc: u32, value: f64) -> (DocId, f64) {
    (DocId::new(doc), value)
}

fn count(parts: &Parts, query: &Query) -> u64 {
    Search::over(parts).count(query).unwrap()
}

#[test]
fn other_columns_are_opened_once_for_all_sets() {
    let opened = Arc::new(AtomicUsize::new(0));
    let counted = |names: &[&str]| Part::new(Counted(source(names), opened.clone()));
    let parts = Parts::new([counted(&["cat", "ant"]), counted(&["cat", "bee"])]);
    for score in [1.5, 2.5] {
        let scored = parts.with_column("score", [vec![doc(1, score)], vec![]]).unwrap();
        let two =
            scored.with_column("rank", [vec![(DocId::new(0), 7_i64)], vec![(DocId::new(1), 9)]]).unwrap();
        for parts in [&scored, &two] {
            let facet = Search::over(parts).facet(Docs::All, &Facet::of("name")).unwrap();
            assert_eq!(facet.values[0], (Value::Bytes(b"cat".to_vec()), 2));
            assert_eq!(count(parts, &Query::eq("score", score)), 1);
        }
        assert_eq!(count(&two, &Query::range("rank", 8..)), 1);
        assert_eq!(two.term_memory("name").map(|memory| memory.terms), Some(3));
    }
    assert_eq!(opened.load(Ordering::Relaxed), 2, "the names of each part");
    assert_eq!(parts.term_memory("name").map(|memory| memory.terms), Some(3));
    assert!(Search::over(&parts).count(&Query::exists("score")).is_err());
}

#[test]
fn sets_made_of_one_with_a_column_have_its_values() {
    let parts = Parts::new([part(&["cat", "ant"]), part(&["cat", "bee"])]);
    let both = [1.5, 2.5].map(|score| {
        let scored = parts.with_column("score", [vec![doc(1, score)], vec![doc(0, 9.0)]]).unwrap();
        (score, scored)
    });
    for (score, scored) in &both {
        let value = Query::eq("score", *score);
        let more = scored.with(part(&["dog"]));
        assert_eq!(count(&more, &value), 1);
        assert_eq!(count(&more, &Query::missing("score")), 3);
        assert_eq!(count(&more.with_fields(Vec::<Field>::new()), &value), 1);
        let mut live = LiveDocs::all(2);
        assert!(live.delete(DocId::new(1)));
        assert_eq!(count(&scored.with_live(0, &live), &value), 0);
        assert_eq!(count(&scored.with_live(1, &live), &Query::exists("score")), 2);
        let second = scored.without(|part| part == 0);
        assert_eq!(count(&second, &Query::exists("score")), 1);
        let renamed = PartChange::Columns(0, part(&["dog", "dog"]), vec!["name".into()]);
        let renamed = scored.changed([renamed, PartChange::Kept(1)]);
        assert_eq!(count(&renamed, &Query::eq("name", "dog")), 2);
        assert_eq!(count(&renamed, &Query::exists("score")), 1);
        assert_eq!(count(scored, &Query::eq("name", "dog")), 0);
    }
    // No part at all: the column keeps its type.
    let none = Parts::new([]).with_column("score", Vec::<Vec<(DocId, f64)>>::new()).unwrap();
    let found = Search::over(&none).histogram(Docs::All, &Histogram::of("score", Step::Width(0.5))).unwrap();
    assert_eq!((found.field.logical, found.buckets.len()), (LogicalType::F64, 0));
}

#[test]
fn columns_that_do_not_fit_are_refused_by_name_and_part() {
    let parts = Parts::new([part(&["cat", "ant"]), part(&["bee"])]);
    let refused = |name: &str, values: &[Vec<(DocId, f64)>]| {
        let refused = parts.with_column(name, values.iter().cloned()).err().unwrap();
        assert!(matches!(refused, docvalues_search::Error::Request(_)), "{refused:?}");
        refused.to_string()
    };
    let none = [vec![], vec![]];
    assert_eq!(refused("name", &none), "column \"name\": expected a new name, found a column of part 0");
    assert_eq!(
        refused("score", &none[..1]),
        "column \"score\": expected values of 2 parts, found values of 1"
    );
    assert_eq!(
        refused("score", &[vec![], vec![doc(1, 0.5)]]),
        "column \"score\": expected ascending documents below 1 in part 1, found document 1"
    );
    assert_eq!(
        refused("score", &[vec![doc(1, 0.5), doc(1, 0.5)], vec![]]),
        "column \"score\": expected ascending documents below 2 in part 0, found document 1 after 1"
    );
    let declared = Field::new("price", Kind::Numeric, LogicalType::F64);
    let refused = parts.clone().with_fields([declared]).with_column("price", none.clone()).err().unwrap();
    assert_eq!(refused.to_string(), "column \"price\": expected a new name, found a declared field");
    let twice = parts.with_column("score", none.clone()).unwrap().with_column("score", none.clone());
    assert!(twice.is_err());
    let damaged = parts.with(Part::new(Damaged)).with_column("score", [vec![], vec![], vec![doc(0, 1.0)]]);
    let error = damaged.err().unwrap();
    assert_eq!((error.part(), error.to_string()), (Some(2), "damaged: bad bytes".to_owned()));
}
