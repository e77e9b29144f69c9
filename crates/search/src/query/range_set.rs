//! Sets of values as sorted ranges, with union, intersection and complement. Conditions on one column become such
//! sets, and are merged.

use std::ops::RangeInclusive;

use docvalues_format::strings::successor;

/// A type with a least value.
pub(super) trait Minimum: Ord + Clone {
    /// The least value.
    const LEAST: Self;
}

impl Minimum for i64 {
    const LEAST: i64 = i64::MIN;
}

impl Minimum for Vec<u8> {
    const LEAST: Vec<u8> = Vec::new();
}

/// The end of a range, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End<T> {
    /// The range ends before this value.
    Before(T),
    /// The range has no end.
    Never,
}

/// A set of values: ascending, nonempty ranges with gaps between them.
///
/// Ranges are half-open, for numbers and byte strings alike. The successor of a byte string `x` is `x` followed by a
/// zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeSet<T>(Vec<(T, End<T>)>);

impl<T: Minimum> RangeSet<T> {
    /// The empty set.
    pub(super) fn none() -> RangeSet<T> {
        RangeSet(Vec::new())
    }

    /// The set of all values.
    pub(super) fn all() -> RangeSet<T> {
        RangeSet(vec![(T::LEAST, End::Never)])
    }

    /// The values from `low` to `end`.
    pub(super) fn one(low: T, end: End<T>) -> RangeSet<T> {
        RangeSet::of([(low, end)])
    }

    /// The union of ranges, which may overlap and be empty. O(n log n).
    pub(super) fn of(spans: impl IntoIterator<Item = (T, End<T>)>) -> RangeSet<T> {
        let mut spans: Vec<_> = spans.into_iter().filter(|(low, end)| is_below(low, end)).collect();
        spans.sort_unstable();
        let mut merged: Vec<(T, End<T>)> = Vec::with_capacity(spans.len());
        for (low, end) in spans {
            match merged.last_mut() {
                Some((_, last)) if *last == End::Never || *last >= End::Before(low.clone()) => {
                    if *last < end {
                        *last = end;
                    }
                }
                _ => merged.push((low, end)),
            }
        }
        RangeSet(merged)
    }

    /// The union. O(n log n).
    pub(super) fn union(self, other: RangeSet<T>) -> RangeSet<T> {
        RangeSet::of(self.0.into_iter().chain(other.0))
    }

    /// The intersection. O(n).
    pub(super) fn intersection(&self, other: &RangeSet<T>) -> RangeSet<T> {
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        let mut both = Vec::new();
        while let ([(low, end), rest_a @ ..], [(other_low, other_end), rest_b @ ..]) = (a, b) {
            let span = (low.max(other_low).clone(), end.min(other_end).clone());
            if is_below(&span.0, &span.1) {
                both.push(span);
            }
            if end < other_end {
                a = rest_a;
            } else {
                b = rest_b;
            }
        }
        RangeSet(both)
    }

    /// The complement. O(n).
    pub(super) fn complement(&self) -> RangeSet<T> {
        let mut others = Vec::new();
        let mut from = Some(T::LEAST);
        for (low, end) in &self.0 {
            others.extend(from.take().map(|from| (from, End::Before(low.clone()))));
            from = match end {
                End::Before(end) => Some(end.clone()),
                End::Never => None,
            };
        }
        others.extend(from.map(|from| (from, End::Never)));
        RangeSet::of(others)
    }

    /// The ranges.
    pub(super) fn list(&self) -> &[(T, End<T>)] {
        &self.0
    }

    /// The ranges, owned.
    pub(super) fn into_list(self) -> Vec<(T, End<T>)> {
        self.0
    }

    /// Whether the set is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn is_below<T: Ord>(low: &T, end: &End<T>) -> bool {
    match end {
        End::Before(end) => low < end,
        End::Never => true,
    }
}

impl RangeSet<i64> {
    /// The numbers of an inclusive range.
    pub(super) fn numbers(range: RangeInclusive<i64>) -> RangeSet<i64> {
        let (low, high) = range.into_inner();
        // The result is empty for an empty range, since no number is above the last one.
        RangeSet::one(low, high.checked_add(1).map_or(End::Never, End::Before))
    }

    /// The ranges, inclusive.
    pub(super) fn ranges(&self) -> impl ExactSizeIterator<Item = RangeInclusive<i64>> + '_ {
        self.0.iter().map(|(low, end)| match end {
            // A range is not empty, so there is a number before its end.
            End::Before(end) => *low..=end.saturating_sub(1),
            End::Never => *low..=i64::MAX,
        })
    }
}

impl RangeSet<Vec<u8>> {
    /// The byte strings that begin with `prefix`.
    pub(super) fn prefix(prefix: Vec<u8>) -> RangeSet<Vec<u8>> {
        let end = end_of_prefix(&prefix);
        RangeSet::one(prefix, end)
    }

    /// Whether the set has `value`. O(log n).
    pub(super) fn contains(&self, value: &[u8]) -> bool {
        let at = self.0.partition_point(|(low, _)| low.as_slice() <= value);
        at.checked_sub(1).is_some_and(|at| match &self.0[at].1 {
            End::Before(end) => value < end.as_slice(),
            End::Never => true,
        })
    }
}

/// The end of the range of byte strings that begin with `prefix`.
pub(super) fn end_of_prefix(prefix: &[u8]) -> End<Vec<u8>> {
    successor(prefix).map_or(End::Never, End::Before)
}

/// The successor of `value`: no byte string lies between.
pub(super) fn next(mut value: Vec<u8>) -> Vec<u8> {
    value.push(0);
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_spans() -> impl Strategy<Value = (Vec<(i64, i64)>, RangeSet<i64>)> {
        let ends = prop_oneof![-9..9_i64, Just(i64::MIN), Just(i64::MAX - 1), Just(i64::MAX)];
        let ranges = prop::collection::vec((ends.clone(), ends), 0..6);
        ranges.prop_map(|ranges| {
            let spans = RangeSet::of(
                ranges.iter().flat_map(|&(low, high)| RangeSet::numbers(low..=high).into_list()),
            );
            (ranges, spans)
        })
    }

    fn has(spans: &RangeSet<i64>, number: i64) -> bool {
        spans.ranges().any(|range| range.contains(&number))
    }

    proptest! {
        #[test]
        fn range_sets_behave_like_sets((ranges, a) in any_spans(), (_, b) in any_spans()) {
            let (both, any, others) = (a.intersection(&b), a.clone().union(b.clone()), a.complement());
            for number in (-10..10).chain([i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]) {
                let is_in = ranges.iter().any(|&(low, high)| (low..=high).contains(&number));
                prop_assert_eq!(has(&a, number), is_in, "{}", number);
                prop_assert_eq!(has(&both, number), has(&a, number) && has(&b, number));
                prop_assert_eq!(has(&any, number), has(&a, number) || has(&b, number));
                prop_assert_eq!(has(&others, number), !is_in);
            }
            for spans in [&a, &both, &any, &others] {
                prop_assert_eq!(&RangeSet::of(spans.clone().into_list()), spans, "spans are in order and apart");
            }
            prop_assert_eq!(others.complement(), a);
        }

        #[test]
        fn a_prefix_is_one_range(
            prefix in prop::collection::vec(prop_oneof![Just(0_u8), Just(7), Just(254), Just(255)], 0..4),
            value in prop::collection::vec(prop_oneof![Just(0_u8), Just(7), Just(8), Just(254), Just(255)], 0..6),
        ) {
            prop_assert_eq!(RangeSet::prefix(prefix.clone()).contains(&value), value.starts_with(&prefix));
        }
    }
}
