//! Histograms of a few documents in a column with distant bounds.

use docvalues_column::{DocId, Field, Kind, LogicalType, Value};
use docvalues_format::file::kind::from_f64;
use docvalues_search::facet::Facet;
use docvalues_search::group::{Measure, Metric};
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
    let why = ["would need more than 65536 buckets", "\"n\" has infinite values: use edges"];
    assert!(why.iter().any(|why| all.to_string().contains(why)), "{all}");
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
    check(&seconds, Step::every(Unit::Second), &[0, 2], Some(&[(1_000, 1), (2_000, 1)]));
}

/// The starts and counts of the buckets with values, and the number of values in none.
fn found(source: &MemSource, step: Step) -> (Vec<(i64, u64)>, u64) {
    let found = Search::new(source).histogram(Docs::All, &Histogram::of("n", step)).unwrap();
    let counted = found.buckets.iter().filter(|bucket| bucket.count > 0);
    (counted.map(|bucket| (bucket.from, bucket.count)).collect(), found.outside)
}

#[test]
fn every_calendar_unit_has_the_ends_of_every_type() {
    let units = [
        Unit::Second,
        Unit::Minute,
        Unit::Hour,
        Unit::Day,
        Unit::Week,
        Unit::Month,
        Unit::Quarter,
        Unit::Year,
    ];
    for (logical, per_day) in [
        (LogicalType::Date, 1),
        (LogicalType::TimestampMillis, 86_400_000),
        (LogicalType::TimestampMicros, 86_400_000_000),
        (LogicalType::TimestampNanos, 86_400_000_000_000),
    ] {
        // -9999-01-01 and 9999-12-31, the ends of some calendars, and the days beside them.
        let days = [-4_371_588, -4_371_587, -719_162, 2_932_896, 2_932_897];
        let of_days = days.into_iter().filter_map(|day: i64| day.checked_mul(per_day));
        let ends = [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX - 1, i64::MAX];
        for number in of_days.flat_map(|start| [start, start + per_day - 1]).chain(ends) {
            for unit in units.into_iter().skip(if per_day == 1 { 3 } else { 0 }) {
                let (buckets, outside) = found(&source(logical, &[number]), Step::every(unit));
                let [(from, 1)] = buckets[..] else { panic!("{logical:?} {unit:?} {number}: {buckets:?}") };
                let days = match unit {
                    Unit::Week => 7,
                    Unit::Month => 31,
                    Unit::Quarter => 92,
                    Unit::Year => 366,
                    _ => 1,
                };
                assert!(
                    from <= number && number.abs_diff(from) < days * per_day.unsigned_abs(),
                    "{unit:?} {number}"
                );
                assert_eq!(outside, 0, "{logical:?} {unit:?} {number}");
            }
        }
    }
}

#[test]
fn a_sentinel_at_an_end_of_the_calendar_is_in_a_bucket() {
    let nanos = source(LogicalType::TimestampNanos, &[i64::MIN, 1_357_020_000_000_000_000, i64::MAX]);
    for unit in [Unit::Week, Unit::Month, Unit::Quarter, Unit::Year] {
        let (buckets, outside) = found(&nanos, Step::every(unit));
        assert_eq!((buckets.len(), buckets[0], outside), (3, (i64::MIN, 1), 0), "{unit:?}");
    }
    let micros = source(LogicalType::TimestampMicros, &[1_357_020_000_000_000, 253_402_300_799_999_999]);
    let years = [(1_356_998_400_000_000, 1), (253_370_764_800_000_000, 1)];
    assert_eq!(found(&micros, Step::every(Unit::Year)), (years.to_vec(), 0));
    // Months of 8,000 years.
    check(&micros, Step::every(Unit::Month), &[0], Some(&[(1_356_998_400_000_000, 1)]));
    let millis = source(LogicalType::TimestampMillis, &[i64::MAX, 0]);
    check(&millis, Step::every(Unit::Year), &[1], Some(&[(0, 1)]));
}

#[test]
fn decimals_are_in_the_buckets_that_their_digits_name() {
    // Widths in thousandths.
    for (width, thousandths) in
        [(0.25, 250), (0.1, 100), (0.01, 10), (1e-3, 1), (0.3, 300), (0.005, 5), (7.0, 7_000), (1.1, 1_100)]
    {
        for first in [-3_000, 0, 1_000_000_007, -99_999_999_999_i64] {
            let decimals = first..first + 6_000;
            let double = |thousandths: i64| format!("{thousandths}e-3").parse::<f64>().unwrap();
            let numbers: Vec<i64> = decimals.clone().map(|number| from_f64(double(number))).collect();
            let mut expected: Vec<(i64, u64)> = Vec::new();
            for number in decimals {
                let from = from_f64(double(number.div_euclid(thousandths) * thousandths));
                match expected.last_mut() {
                    Some((last, count)) if *last == from => *count += 1,
                    _ => expected.push((from, 1)),
                }
            }
            let source = source(LogicalType::F64, &numbers);
            assert_eq!(found(&source, Step::Width(width)), (expected, 0), "{width} from {first}");
        }
    }
}

#[test]
fn a_facet_by_bucket_over_the_memory_limit_is_an_error() {
    let numbers = (0..20_000).map(Some).collect();
    let field = Field::new("n", Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(20_000, [(field, ModelColumn::Numeric(numbers))]);
    let histogram = Histogram::of("n", Step::Whole(10_000)).facet(Facet::of("n"));
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

/// A step that is chosen may be narrower than the distance of two doubles.
#[test]
fn buckets_of_close_doubles_have_different_starts() {
    let numbers = [1.0, 1.0_f64.next_up()].map(from_f64);
    let source = source(LogicalType::F64, &numbers);
    let field = Field::new("n", Kind::Numeric, LogicalType::F64);
    let auto = Step::auto(&field, numbers[0]..=numbers[1], None);
    let found = Search::new(&source).histogram(Docs::All, &Histogram::of("n", auto)).unwrap();
    let counts: Vec<_> = found.buckets.iter().map(|bucket| (bucket.from, bucket.count)).collect();
    assert_eq!(counts, [(numbers[0], 1), (numbers[1], 1)]);
}

#[test]
fn a_mean_of_days_is_a_day() {
    let source = source(LogicalType::Date, &[-3, -1, -1]);
    let years = Histogram::of("n", Step::every(Unit::Year)).metric(Metric::Mean("n".into()));
    let found = Search::new(&source).histogram(Docs::All, &years).unwrap();
    assert_eq!(found.buckets[0].metrics, [Some(Measure::Value(Value::of(LogicalType::Date, -2)))]);
}
