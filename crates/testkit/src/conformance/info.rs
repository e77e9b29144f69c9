//! `ColumnInfo`: its counts, bounds and sum are those of the rows.

use docvalues_column::{Bounds, ColumnInfo, Count};

use super::expected::{Expected, Probe, bounds};

pub(super) fn check<T: Probe>(info: &ColumnInfo, expected: &Expected<T>) {
    let name = &expected.name;
    let rows = expected.all();
    let values: usize = if T::EMPTY_IS_VALUE { rows.len() } else { rows.iter().map(|row| row.len()).sum() };
    check_count(name, "with_value", info.with_value, rows.len() as u64);
    check_count(name, "value_count", info.value_count, values as u64);

    let numbers: Vec<i64> = rows.iter().flat_map(|row| T::numbers(row)).copied().collect();
    let found = bounds(&numbers);
    let is_right = match (&info.bounds, &found) {
        (Bounds::Exact(range), None) => has_numbers(info) && range.is_empty(),
        (Bounds::Exact(range), Some(found)) => range == found,
        (Bounds::Within(_), None) => has_numbers(info),
        (Bounds::Within(range), Some(found)) => range.contains(found.start()) && range.contains(found.end()),
        (Bounds::Unknown, _) => true,
    };
    assert!(is_right, "column \"{name}\": bounds: {:?}, but numbers are in {found:?}", info.bounds);

    let sum: i128 = numbers.iter().map(|number| i128::from(*number)).sum();
    let is_right = info.sum.is_none_or(|described| described == sum && has_numbers(info));
    assert!(is_right, "column \"{name}\": sum: {:?}, but numbers add up to {sum}", info.sum);
}

fn has_numbers(info: &ColumnInfo) -> bool {
    !info.kind().is_bytes()
}

fn check_count(name: &str, what: &str, described: Count, found: u64) {
    let is_right = match described {
        Count::Exact(count) => count == found,
        Count::AtMost(count) => count >= found,
    };
    assert!(is_right, "column \"{name}\": {what}: {described:?}, but there are {found}");
}
