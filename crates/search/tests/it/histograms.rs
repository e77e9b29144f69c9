//! Histograms of a few documents in a column with distant bounds.

use docvalues_column::{DocId, Field, Kind, LogicalType};
use docvalues_format::file::kind::from_f64;
use docvalues_search::facet::Facet;
use docvalues_search::histogram::{Histogram, Step, Unit};
use docvalues_search::{Docs, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};

fn source(logical: LogicalType, numbers: &[i64]) -> MemSource {
    let column = ModelColumn::Numeric(numbers.iter().copied().map(Some).collect());
    let docs = u32::try_from(numbers.len()).unwrap();
    MemSource::new(docs, [(Field::new("n", Kind::Numeric, logical), column)])
}

#[track_caller]
fn check(source: &MemSource, step: Step, docs: &[u32], expected: Option<&[(i64, u64)]>) {
    let docs: Vec<DocId> = docs.iter().copied().map(DocId::new).collect();
    let histogram = Histogram::of("n", step);
    let all = Search::new(source).histogram(Docs::All, &histogram).unwrap_err();
    assert!(all.to_string().contains("would need more than 65536 buckets"), "{all}");
    let found = Search::new(source).histogram(Docs::list(&docs).unwrap(), &histogram);
    match expected {
        Some(expected) => {
            let ranges = found.unwrap().buckets;
            assert_eq!(ranges.iter().map(|r| (r.from, r.count)).collect::<Vec<_>>(), expected);
        }
        None => assert_eq!(found.unwrap_err().to_string(), all.to_string()),
    }
}

#[test]
fn a_width_beyond_doubles_is_exact() {
    let numbers = [(1 << 53) + 1, 1 << 53, -5];
    let source = source(LogicalType::I64, &numbers);
    let width = (1_u64 << 53) + 1;
    let histogram = Histogram::of("n", Step::Whole(width));
    let found = Search::new(&source).histogram(Docs::All, &histogram).unwrap();
    let counts: Vec<_> = found.buckets.iter().map(|range| (range.from, range.count)).collect();
    let width = width.cast_signed();
    assert_eq!(counts, [(-width, 1), (0, 1), (width, 1)]);
    let none = Histogram::of("n", Step::Whole(0));
    let error = Search::new(&source).histogram(Docs::All, &none).unwrap_err();
    assert!(error.to_string().contains("a whole number of at least 1 as bucket width"), "{error}");
}

#[test]
fn too_many_buckets_of_the_column_fall_back_to_those_of_the_documents() {
    let whole = source(LogicalType::I64, &[5, 1 << 60, 17, -3, i64::MIN]);
    check(&whole, Step::Width(10.0), &[0, 2, 3], Some(&[(-10, 1), (0, 1), (10, 1)]));
    check(&whole, Step::Width(10.0), &[1], Some(&[((1 << 60) / 10 * 10, 1)]));
    check(&whole, Step::Width(10.0), &[], Some(&[]));
    check(&whole, Step::Width(10.0), &[0, 1], None);
    let doubles = [0.5, f64::INFINITY, 1.5, f64::NAN, -0.0].map(from_f64);
    let doubles = source(LogicalType::F64, &doubles);
    check(&doubles, Step::Width(1.0), &[0, 2, 3, 4], Some(&[(from_f64(0.0), 2), (from_f64(1.0), 1)]));
    check(&doubles, Step::Width(1.0), &[0, 1], None);
    let seconds = source(LogicalType::TimestampMillis, &[1_500, 4_000_000_000_000, 2_000]);
    check(&seconds, Step::Every(Unit::Second), &[0, 2], Some(&[(1_000, 1), (2_000, 1)]));
}

#[test]
fn a_facet_by_bucket_over_the_memory_limit_is_an_error() {
    let numbers = (0..20_000).map(Some).collect();
    let field = Field::new("n", Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(20_000, [(field, ModelColumn::Numeric(numbers))]);
    let histogram = Histogram::of("n", Step::Whole(10_000)).facet(Facet::on("n"));
    for threads in [1, 2] {
        let search =
            |bytes| Search::new(&source).threads(threads).memory(bytes).histogram(Docs::All, &histogram);
        let error = search(65_536).unwrap_err().to_string();
        assert!(
            error.contains("the values of column \"n\" in each bucket take more than 65536 bytes"),
            "{error}"
        );
        let found = search(10_000_000).unwrap();
        let distinct = found.buckets.iter().map(|range| range.facet.as_ref().unwrap().distinct);
        assert!(distinct.eq([10_000, 10_000]));
    }
}
