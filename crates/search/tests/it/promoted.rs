//! Columns in a wider kind or type follow the rules of columns.

use std::collections::BTreeSet;

use docvalues_column::{Field, LogicalType};
use docvalues_format::file::kind::{from_f64, from_u64};
use docvalues_search::widened;
use docvalues_testkit::conformance::{check_column, check_panics};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::shapes;

/// Checks `column`, of type `from`, in the kind of `wider` and of type `to`: it has the values of `wider`.
fn check(docs: u32, (column, from): (&ModelColumn, LogicalType), (wider, to): (&ModelColumn, LogicalType)) {
    let field = Field::new("it", wider.kind(), to);
    let found = widened(column.open(Field::new("it", column.kind(), from), docs), &field);
    check_column(&*found, &*wider.open(field, docs));
    check_panics(&*found);
}

/// A part of the small shapes, or all in the full sweep.
#[test]
fn columns_of_every_shape_in_a_wider_kind() {
    for shape in shapes::small().into_iter().step_by(cases(5, 1)) {
        let (column, logical) = (shape.column(), shape.values.logical());
        let wider = match &column {
            ModelColumn::Numeric(slots) => {
                vec![ModelColumn::SortedNumeric(slots.iter().map(|slot| Vec::from_iter(*slot)).collect())]
            }
            ModelColumn::Sorted(slots) => vec![
                ModelColumn::SortedSet(slots.iter().map(|slot| BTreeSet::from_iter(slot.clone())).collect()),
                ModelColumn::Binary(slots.clone()),
            ],
            _ => continue,
        };
        wider.iter().for_each(|wider| check(shape.docs, (&column, logical), (wider, logical)));
    }
}

#[test]
fn numbers_in_a_wider_type() {
    const DOCS: u32 = 300;
    use LogicalType::{F64, I64, TimestampMicros, TimestampMillis, TimestampNanos, U64};
    let times = |times: i64| [3, 0, -7, i64::MAX / times].map(|time| (time, time * times)).to_vec();
    let signed = [(3, 3.0), (0, 0.0), (-7, -7.0), (1 << 53, 2_f64.powi(53)), (i64::MIN, -(2_f64.powi(63)))];
    let unsigned = [(3_u64, 3.0), (0, 0.0), (1 << 53, 2_f64.powi(53)), (1 << 62, 2_f64.powi(62))];
    let types = [
        (I64, F64, signed.map(|(number, double)| (number, from_f64(double))).to_vec()),
        (U64, F64, unsigned.map(|(number, double)| (from_u64(number), from_f64(double))).to_vec()),
        (U64, I64, unsigned.map(|(number, _)| (from_u64(number), number.cast_signed())).to_vec()),
        (TimestampMillis, TimestampMicros, times(1_000)),
        (TimestampMillis, TimestampNanos, times(1_000_000)),
        (TimestampMicros, TimestampNanos, times(1_000)),
    ];
    for (from, to, numbers) in &types {
        let number = |at: u32| numbers[at as usize % numbers.len()];
        let one = |of: fn((i64, i64)) -> i64| {
            let slot = |doc: u32| (!doc.is_multiple_of(4)).then(|| of(number(doc)));
            ModelColumn::Numeric((0..DOCS).map(slot).collect())
        };
        let many = |some: u32, of: fn((i64, i64)) -> i64| {
            let list = |doc: u32| (0..some.min(doc % 4)).map(|at| of(number(doc + at))).collect();
            ModelColumn::SortedNumeric((0..DOCS).map(list).collect())
        };
        check(DOCS, (&one(|pair| pair.0), *from), (&one(|pair| pair.1), *to));
        check(DOCS, (&many(3, |pair| pair.0), *from), (&many(3, |pair| pair.1), *to));
        check(DOCS, (&one(|pair| pair.0), *from), (&many(1, |pair| pair.1), *to));
    }
}
