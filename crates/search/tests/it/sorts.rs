//! Full sorts with enough documents for every kind of run.

use docvalues_column::{DocId, Field, Kind, LogicalType, SortKey};
use docvalues_format::file::kind::from_f64;
use docvalues_search::{Bitset, Docs};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::searches::check_sorted;
use docvalues_testkit::shapes::{Counts, Dataset, Numbers, Presence, Shape, Strings, Values};

/// Sizes around those of short runs, of parallel sorts, and of windows.
const SIZES: [u32; 6] = [4_095, 4_096, 4_097, 16_385, 32_769, 70_001];

/// A key in each direction, with missing values last and first.
pub(crate) fn by(name: &str) -> [SortKey; 4] {
    let up = SortKey::of(name);
    [up.clone(), up.clone().descending(), up.clone().missing_first(), up.descending().missing_first()]
}

fn numeric(columns: Vec<(&str, LogicalType, Vec<Option<i64>>)>) -> Dataset {
    let docs = u32::try_from(columns[0].2.len()).unwrap();
    let columns = columns.into_iter();
    let columns = columns.map(|(name, logical, slots)| {
        (Field::new(name, Kind::Numeric, logical), ModelColumn::Numeric(slots))
    });
    Dataset { docs, columns: columns.collect() }
}

#[test]
fn by_every_kind_of_column() {
    let mut all: Vec<Values> = Numbers::ALL.into_iter().map(Values::Numeric).collect();
    all.extend([
        Values::Sorted(Strings::FewDistinct),
        Values::Binary(Strings::FewDistinct),
        Values::SortedNumeric(Counts::ALL[2], Numbers::Doubles),
        Values::SortedNumeric(Counts::ALL[3], Numbers::FullRange),
        Values::SortedSet(Counts::ALL[1], Strings::FewDistinct),
    ]);
    for ((seed, values), docs) in (0..).zip(all).zip(SIZES.into_iter().cycle()) {
        for presence in [Presence::All, Presence::Random(700)] {
            let dataset = Dataset::of_shapes(docs, [Shape { docs, presence, values, seed }]);
            let source = dataset.source();
            for key in by(&dataset.columns[0].0.name) {
                check_sorted(&source, &dataset, Docs::All, &[key]);
            }
        }
    }
}

/// Long and short runs that are equal by one key are sorted by the next.
#[test]
fn by_several_keys() {
    for (turn, docs) in SIZES.into_iter().enumerate() {
        let shapes = [
            (Values::Numeric(Numbers::FewDistinct), Presence::Random(900)),
            (Values::Sorted(Strings::FewDistinct), Presence::Random(800)),
            (Values::Numeric(Numbers::SmallRange), Presence::All),
            (Values::Binary(Strings::FewDistinct), Presence::Random(800)),
            (Values::Numeric(Numbers::Prices), Presence::Random(990)),
        ];
        let shapes = shapes.map(|(values, presence)| Shape { docs, presence, values, seed: 5 });
        let dataset = Dataset::of_shapes(docs, shapes);
        let source = dataset.source();
        let names: Vec<&str> = dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect();
        let bits = Bitset::from_docs((0..docs).filter(|doc| doc % 9 != 4).map(DocId::new), docs);
        let list: Vec<DocId> = (docs / 9..docs).step_by(2).map(DocId::new).collect();
        // All in the full sweep; otherwise by turns.
        for first in (0..names.len()).skip(cases(turn % 2, 0)).step_by(cases(2, 1)) {
            let key = |at: usize| by(names[(first + at) % names.len()])[(first + 3 * at) % 4].clone();
            let keys: Vec<SortKey> = (0..4).map(key).collect();
            check_sorted(&source, &dataset, Docs::All, &keys[..2]);
            check_sorted(&source, &dataset, Docs::Bits(&bits), &keys);
            check_sorted(&source, &dataset, Docs::list(&list).unwrap(), &keys[..3]);
            check_sorted(&source, &dataset, Docs::Range(docs / 5, docs - 1), &keys[1..]);
        }
    }
}

/// Spans with a rank for each number, and longer ones.
#[test]
fn spans_around_the_number_of_ranks() {
    let mut rng = SplitMix64::new(3);
    let spans = (-6..3_i128).map(|more| (1 << 32) + more);
    let wide = [33, 34, 40, 63].map(|bits| 1 << bits);
    let whole = [(1 << 64) - 1, (1 << 64) - 2];
    for (turn, span) in spans.chain(wide).chain(whole).enumerate() {
        let all = [0, -1, -(1 << 31) - 7, i64::MIN.into(), i128::from(i64::MAX) - span];
        for least in all.into_iter().skip(cases(turn % 2, 0)).step_by(cases(2, 1)) {
            let Ok(least) = i64::try_from(least.max(i64::MIN.into())) else { continue };
            let Ok(greatest) = i64::try_from(i128::from(least) + span) else { continue };
            // Near one end, near the other, and at both.
            let mut value = || {
                let near = i64::try_from(rng.below(6)).unwrap();
                match rng.below(8) {
                    0 => least,
                    1 => greatest,
                    2 | 3 => least + near,
                    4 | 5 => greatest - near,
                    6 => least.wrapping_add_unsigned(rng.below(u64::try_from(span).unwrap())),
                    _ => least.midpoint(greatest) + near,
                }
            };
            let all: Vec<Option<i64>> = (0..9_000).map(|_| Some(value())).collect();
            let some = all.iter().map(|value| value.filter(|_| rng.chance(9, 10))).collect();
            let i64s = LogicalType::I64;
            let dataset = numeric(vec![("all", i64s, all), ("some", i64s, some)]);
            let source = dataset.source();
            for [all, some] in by("all").into_iter().zip(by("some")).map(<[_; 2]>::from) {
                check_sorted(&source, &dataset, Docs::All, std::slice::from_ref(&all));
                check_sorted(&source, &dataset, Docs::All, &[some, all]);
            }
        }
    }
}

/// Many documents that only finer ranks distinguish, at every level.
#[test]
fn dense_and_distant_numbers() {
    let mut rng = SplitMix64::new(4);
    let mut number = |doc: u32| {
        let bits = [0, 3, 20, 34, 40, 63][doc as usize * 6 / 60_000];
        let low = rng.next_u64() & ((1 << bits) - 1);
        if doc.is_multiple_of(2) { low.cast_signed() } else { i64::MIN + (low >> 1).cast_signed() }
    };
    let numbers: Vec<Option<i64>> = (0..60_000).map(|doc| Some(number(doc))).collect();
    let ties = (0..60_000).map(|doc| Some(doc % 3)).collect();
    let double = |number: &Option<i64>| match number.unwrap() % 11 {
        0 => Some(from_f64(f64::NAN)),
        1 => Some(from_f64(-0.0)),
        2 => Some(from_f64(0.0)),
        3 => Some(from_f64(-f64::NAN)),
        4 => None,
        low => Some(from_f64(low as f64 / 3.0)),
    };
    let doubles = numbers.iter().map(double).collect();
    let only = |value: f64| (0..60_000).map(|doc| (doc % 4 > 0).then_some(from_f64(value))).collect();
    let dataset = numeric(vec![
        ("number", LogicalType::I64, numbers),
        ("tie", LogicalType::I64, ties),
        ("double", LogicalType::F64, doubles),
        ("negative zero", LogicalType::F64, only(-0.0)),
        ("nan", LogicalType::F64, only(f64::NAN)),
        (
            "greatest",
            LogicalType::F64,
            (0..60_000).map(|doc| Some(from_f64([-f64::NAN, 1.5][doc % 2]))).collect(),
        ),
        ("nothing", LogicalType::I64, vec![None; 60_000]),
    ]);
    let source = dataset.source();
    let names: Vec<&str> = dataset.columns.iter().map(|(field, _)| field.name.as_str()).collect();
    for at in 0..names.len() {
        for [first, then] in
            by(names[at]).into_iter().zip(by(names[(at + 1) % names.len()])).map(<[_; 2]>::from)
        {
            check_sorted(&source, &dataset, Docs::All, std::slice::from_ref(&first));
            check_sorted(&source, &dataset, Docs::Range(9, 59_999), &[first, then]);
        }
    }
}

/// Their documents, one run after the other, begin and end as those of one run do.
#[test]
fn adjacent_short_runs() {
    let some = |numbers: [i64; 4]| numbers.map(Some).to_vec();
    let i64s = LogicalType::I64;
    let dataset = numeric(vec![("a", i64s, some([0, 1, 0, 1])), ("b", i64s, some([3, 1, 2, 0]))]);
    let keys = ["a", "b"].map(SortKey::of);
    check_sorted(&dataset.source(), &dataset, Docs::All, &keys);
}
