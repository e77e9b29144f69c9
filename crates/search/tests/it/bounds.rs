//! Columns with wrong descriptions: full sorts by one with wrong bounds, and statistics of parts with wrong counts and sums.

use std::ops::RangeInclusive;
use std::sync::Arc;

use docvalues_column::{
    Bounds, Column, ColumnInfo, ColumnSource, Count, DocRange, Field, Kind, LogicalType, Part, Result,
    SortKey, Values,
};
use docvalues_format::file::kind::from_u64;
use docvalues_search::stats::{Stats, Sum};
use docvalues_search::{Docs, Error, Parts, Search};
use docvalues_testkit::model::MemNumeric;
use proptest::prelude::*;

/// Enough documents for a long run.
const DOCS: u32 = 5_000;

#[derive(Clone)]
struct Described {
    numbers: Arc<MemNumeric>,
    info: ColumnInfo,
}

impl Column for Described {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.numbers.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        self.numbers.values()
    }
}

impl ColumnSource for Described {
    fn docs(&self) -> u32 {
        DOCS
    }

    fn fields(&self) -> Result<Vec<Field>> {
        Ok(vec![self.info.field.clone()])
    }

    fn column(&self, _: &str) -> Result<Arc<dyn Column>> {
        Ok(Arc::new(self.clone()))
    }
}

/// Checks that the order is right, or that the error names a document with a number out of bounds.
fn check(numbers: &[Option<i64>], bounds: &RangeInclusive<i64>) {
    let field = Field::new("number", Kind::Numeric, LogicalType::I64);
    let column = MemNumeric::new(field, DOCS, numbers.to_vec());
    let info = ColumnInfo { bounds: Bounds::Exact(bounds.clone()), ..column.info().clone() };
    let source = Described { numbers: Arc::new(column), info };
    let lies = numbers.iter().flatten().any(|number| !bounds.contains(number));
    let up = SortKey::of("number");
    for key in [up.clone(), up.clone().descending(), up.missing_first()] {
        for threads in [1, 2] {
            match Search::new(&source).threads(threads).sorted(Docs::All, std::slice::from_ref(&key)) {
                Ok(sorted) => {
                    assert!(!lies, "{key:?}: no number is outside of {bounds:?}");
                    let mut expected: Vec<u32> = (0..DOCS).collect();
                    expected.sort_by_key(|doc| {
                        let number = numbers[*doc as usize];
                        let place = number.map(|n| if key.descending { -i128::from(n) } else { n.into() });
                        (place.is_none() != key.missing_first, place)
                    });
                    assert!(sorted.iter().map(|doc| doc.doc.get()).eq(expected), "{key:?} within {bounds:?}");
                }
                Err(Error::Value { field, doc, what }) => {
                    let number = numbers[doc as usize].unwrap();
                    assert!(!bounds.contains(&number), "{number} is within {bounds:?}");
                    assert_eq!((field.as_str(), what.contains("bounds")), ("number", true));
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_number_out_of_bounds_is_an_error_in_short_sorts() {
    let field = Field::new("number", Kind::Numeric, LogicalType::I64);
    let column = MemNumeric::new(field, DOCS, (0..i64::from(DOCS)).map(Some).collect());
    let info = ColumnInfo { bounds: Bounds::Exact(0..=99), ..column.info().clone() };
    let source = Described { numbers: Arc::new(column), info };
    let sorted = |docs: Docs<'_>| Search::new(&source).sorted(docs, &[SortKey::of("number").descending()]);
    assert_eq!(sorted(Docs::Range(90, 100)).unwrap()[0].doc.get(), 99);
    let refused = sorted(Docs::Range(90, 101)).unwrap_err();
    assert!(matches!(refused, Error::Value { doc: 100, .. }), "{refused}");
}

/// Damaged files may claim any counts and sums.
#[test]
fn wrong_counts_and_sums_do_not_overflow() {
    let stats = |parts: u32, logical, numbers: [i64; 2], (values, sum): (u64, i128)| {
        let field = Field::new("number", Kind::Numeric, logical);
        let column = MemNumeric::new(field, DOCS, numbers.map(Some).to_vec());
        let info = ColumnInfo { value_count: Count::Exact(values), sum: Some(sum), ..column.info().clone() };
        let part = Described { numbers: Arc::new(column), info };
        let parts = Parts::new((0..parts).map(|_| Part::new(part.clone())));
        let found = Search::over(&parts).stats(Docs::All, &Stats::of("number")).unwrap();
        (found.values, found.sum)
    };
    // Counts saturate.
    let found = stats(2, LogicalType::I64, [1, 2], (u64::MAX, 0));
    assert_eq!(found, (u64::MAX, Some(Sum::Integer(0))));
    // Values are read if sums do not fit: those of two parts, and that of numbers stored less by 2^63.
    let found = stats(2, LogicalType::I64, [1, 2], (2, i128::MAX));
    assert_eq!(found, (4, Some(Sum::Integer(6))));
    let found = stats(1, LogicalType::U64, [1, 2].map(from_u64), (u64::MAX, i128::MAX));
    assert_eq!(found, (2, Some(Sum::Integer(3))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_number_out_of_bounds_is_an_error(
        seed: u64,
        start in prop_oneof![Just(0), Just(-7), Just(i64::MIN), any::<i64>()],
        bits in prop_oneof![Just(0), Just(9), 31..35_u32, Just(63), Just(64)],
        off in prop_oneof![Just(0), Just(1), Just(i64::MAX), any::<i64>()],
        present in 1..9_u64,
    ) {
        let mut random = docvalues_testkit::rng::SplitMix64::new(seed);
        let span = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        let bounds = start..=start.saturating_add_unsigned(span);
        let span = bounds.end().abs_diff(start);
        let mut numbers: Vec<Option<i64>> = (0..DOCS)
            .map(|_| {
                let number = start.wrapping_add_unsigned(random.next_u64() % span.saturating_add(1));
                random.chance(present, 8).then_some(number)
            })
            .collect();
        check(&numbers, &bounds);
        // One is off, at either end.
        let at = random.below(DOCS.into()) as usize;
        for number in [bounds.end().saturating_add(off), start.saturating_sub(off)] {
            numbers[at] = Some(number);
            check(&numbers, &bounds);
        }
    }
}
